"""The pages that one drags: what they show is what the workbench says, each control moves its chart, each number follows."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import lab
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))

import explanations  # noqa: E402 - scripts beside the pages
from explanations import EXPLANATIONS, FATES  # noqa: E402

PAGES = sorted(EXPLANATIONS)


@pytest.mark.parametrize("name", PAGES)
def test_a_position_is_what_the_workbench_says(name):
    explanation = EXPLANATIONS[name]
    shown = explanation.at(*explanation.start())
    assert len(explanation.positions()) <= 120  # a page is quick to make, and to load
    matched = {place for pair in shown.rows.pairs for place in pair}
    assert {place for place, row in enumerate(shown.rows.rows) if FATES[row.fate] == "matched"} >= matched
    assert all(row.reason for row in shown.rows.rows)
    assert {each.control for each in shown.handles} <= {each.name for each in explanation.controls}


@pytest.mark.parametrize("name", PAGES)
def test_each_control_changes_a_figure_and_each_figure_changes(name):
    explanation = EXPLANATIONS[name]
    found = {values: explanation.at(*values).figures for values in explanation.positions()}
    for figure in found[explanation.start()]:
        assert len({each[figure] for each in found.values()}) > 1, figure
    for place, control in enumerate(explanation.controls):
        others = {}
        for values, figures in found.items():
            others.setdefault(values[:place] + values[place + 1 :], set()).add(tuple(figures.values()))
        assert any(len(each) > 1 for each in others.values()), control.name


def test_rows_are_those_of_a_run():
    run = explanations.joined(explanations.PAID)
    drawn = explanations.drawn(run)
    assert [FATES[row.fate] for row in drawn.rows] == run.rows["fate"].tolist()
    assert [row.reason for row in drawn.rows] == run.rows["reason"].tolist()
    assert list(drawn.state) == run.batches["state_rows"].tolist()
    both = run.output.dropna(subset=["right_key"])
    pairs = [(drawn.rows[one].key, drawn.rows[other].key) for one, other in drawn.pairs]
    assert sorted(pairs) == sorted(zip(both["left_key"], both["right_key"], strict=True))
    alone = run.output[run.output["right_key"].isna()].set_index("left_key")["batch"]
    assert {
        row.key: row.out for row in drawn.rows if row.side == 0 and FATES[row.fate] == "unmatched"
    } == alone.to_dict()


def test_every_row_that_is_held_is_in_state():
    drawn = explanations.drawn(explanations.joined(explanations.PAID))
    for batch, count in enumerate(drawn.state):
        assert sum(row.batch <= batch < row.leaves for row in drawn.rows) == count


def test_a_new_checkpoint_loses_what_the_old_one_held():
    same, new = (explanations.restart(4, each) for each in ("the same checkpoint", "a new checkpoint"))
    assert same.figures["lost"] == "0 pairs" and new.figures["lost"] == "2 pairs"
    assert new.rows.state[3] == same.rows.state[3] > new.rows.state[4]
    assert new.rows.row(0, "g").reason.startswith("forgotten")
    assert "micro-batch 4" in new.rows.row(0, "h").reason  # as the query counts them


@pytest.fixture(scope="module")
def browser():
    with lab.chromium() as opened:
        yield opened


@pytest.fixture
def opened(site, browser):
    """Opens an explanation's page; a fault of its script fails the test."""
    window, faults = browser.new_context(viewport={"width": 1280, "height": 1000}), []

    def page(name):
        found = window.new_page()
        found.on("pageerror", lambda error: faults.append(str(error)))
        found.goto((site / "explore" / f"{name}.html").as_uri())
        found.wait_for_selector(".explore svg .glyph", state="attached")
        return found

    yield page
    window.close()
    assert not faults


def position(page):
    """The data of the position that a page shows."""
    data = json.loads(page.locator(".explore script").text_content())
    place = 0
    for control in data["controls"]:
        inputs = page.locator(f'[name="{control["name"]}"]')
        is_choice = inputs.first.get_attribute("type") == "radio"
        value = page.locator(f'[name="{control["name"]}"]:checked').input_value() if is_choice else inputs.input_value()
        place = place * len(control["values"]) + int(value)
    return data, data["positions"][place]


def check(page):
    """Each number of the text, and each row of the table, is that of the position."""
    data, shown = position(page)
    for output in page.locator("[data-figure]").all():
        assert output.text_content() == shown["figures"][output.get_attribute("data-figure")]
    reasons = page.locator(".explore tbody td:last-child").all_text_contents()
    assert reasons == [data["reasons"][row[7]] for row in shown["rows"]]
    assert page.locator(".explore svg:first-of-type .key").count() == len(shown["rows"])


@pytest.mark.browser
@pytest.mark.parametrize("name", PAGES)
def test_each_control_moves_its_chart_and_each_number_follows(opened, name):
    page = opened(name)
    check(page)
    for control in EXPLANATIONS[name].controls:
        drawings = {page.locator(".explore > svg").inner_html()}
        inputs = page.locator(f'[name="{control.name}"]')
        if inputs.first.get_attribute("type") == "radio":
            inputs.last.check()
            check(page)
        else:
            inputs.focus()
            for key in ("Home", "End"):
                page.keyboard.press(key)
                check(page)
                value = control.values[0 if key == "Home" else -1]
                assert inputs.get_attribute("aria-valuetext") == control.shown(value)
                shown = page.locator(f'label [data-control="{control.name}"]').text_content()
                assert shown == control.shown(value)
                drawings.add(page.locator(".explore > svg").inner_html())
        drawings.add(page.locator(".explore > svg").inner_html())
        assert len(drawings) > 1


@pytest.mark.browser
@pytest.mark.parametrize("name", [name for name in PAGES if EXPLANATIONS[name].at(*EXPLANATIONS[name].start()).handles])
def test_what_has_a_handle_is_dragged(opened, name):
    page = opened(name)
    explanation = EXPLANATIONS[name]
    for place, handle in enumerate(explanation.at(*explanation.start()).handles):
        slider = page.locator(f'[name="{handle.control}"]')
        before = slider.input_value()
        grip = page.locator(".explore .grip-area").nth(place)
        grip.scroll_into_view_if_needed()
        box = grip.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x - 60, y + 60, steps=4)
        page.mouse.up()
        assert slider.input_value() != before
        check(page)


@pytest.mark.browser
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_of_one_piece_and_fits_a_phone(opened, site, name):
    text = (site / "explore" / f"{name}.html").read_text()
    assert (
        len(text) + sum((site / "_static" / each).stat().st_size for each in ("explore.js", "explore.css")) < 1_500_000
    )
    assert not re.search(r'<(?:script|link|img)[^>]+(?:src|href)="https?:', text)
    page = opened(name)
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.browser
@pytest.mark.parametrize("name", PAGES)
def test_a_screen_reader_has_each_control_and_the_answer(opened, name):
    page = opened(name)
    rules = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        result = Axe().run(page, context=".explore", options=rules).response
        assert len(result["passes"]) > 10
        assert not [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in result["violations"]]
    for control in EXPLANATIONS[name].controls:
        is_choice = page.locator(f'[name="{control.name}"]').first.get_attribute("type") == "radio"
        named = page.get_by_role("group" if is_choice else "slider", name=control.label)
        expect(named).to_have_count(1)
    answer = page.locator(".explore [aria-live]")
    expect(answer).to_have_count(1)
    assert answer.locator("[data-figure]").count()
    told = page.locator("[data-figure]").evaluate_all("all => all.map(each => each.dataset.figure)")
    assert {*told} == {*EXPLANATIONS[name].at(*EXPLANATIONS[name].start()).figures}


@pytest.mark.parametrize("name", PAGES)
def test_without_a_script_the_text_has_the_figures_of_the_first_position(site, name):
    text = (site / "explore" / f"{name}.html").read_text()
    figures = EXPLANATIONS[name].at(*EXPLANATIONS[name].start()).figures
    found = re.findall(r'<span class="explore-figure" data-figure="(\w+)">([^<]*)</span>', text)
    assert found
    assert all(shown == str(figures[figure]) for figure, shown in found)
