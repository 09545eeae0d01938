"""What a new user meets: examples, what to do on an empty page, help at figures, all wrong fields, what takes long."""

from __future__ import annotations

import gc
import re
import threading

import ipywidgets as widgets
import pandas as pd
import pytest
from page import Page

import workbench as wb
from workbench.app import close_all
from workbench.runs import running
from workbench.runs.summary import FIGURES

EXAMPLES = [
    ("Late data", "Tracks", "late", "Red crosses are late rows"),
    ("Idle side", "Watermarks", "peak state", "While payments are silent"),
    ("Near misses", "Unmatched", "unmatched", "Many orders have no partner"),
]


@pytest.mark.parametrize(("label", "tab", "figure", "words"), EXAMPLES)
def test_an_example_is_one_click_and_shows_what_it_says(page, label, tab, figure, words):
    page.set({"Scenario": "orders_payments"})
    plain = page.figures
    page.set({"Scenario": "impressions_clicks", "Events": 30, "Kind": "Session window join", "Gap": "1 second"})
    page.click(label)
    assert page.tab == tab
    assert page.badge == "Preview (simulated)"
    assert any(words in each for each in page.notes())
    assert page.value("Scenario") == "orders_payments"
    assert page.value("Events") == 200
    assert page.value("Kind") == "Interval join"
    assert page.figures[figure] > 1.2 * plain[figure]


@pytest.mark.parametrize("change", [{"Scenario": "transfers"}, {"Kind": "Tumbling window join"}, {"From": "files"}])
def test_what_an_example_says_goes_when_the_page_is_set_to_something_else(page, change):
    page.click("Near misses")
    page.set({"Upper bound": "15 seconds"})
    assert any(
        "Many orders have no partner" in each and "The settings differ from the example" in each
        for each in page.notes()
    )
    page.set({"Upper bound": "4 seconds"})
    assert not any("The settings differ" in each for each in page.notes())
    page.set(change)
    assert not any("Many orders have no partner" in each for each in page.notes())


def test_what_an_example_says_to_try_helps(page):
    page.click("Near misses")
    before = page.figures["unmatched"]
    page.set({"Upper bound": "15 seconds"})
    assert page.figures["unmatched"] < before / 2
    page.click("Idle side")
    before = page.figures["peak state"]
    page.set({"Follows": "faster side (max)"})
    assert page.figures["peak state"] < before


def test_a_step_back_leads_from_an_example_to_what_was_before(page):
    page.set({"Events": 30})
    page.click("Late data")
    page.click("Undo the last change of a setting")
    assert page.value("Events") == 30
    assert page.value("Scenario") != "orders_payments"


def test_a_page_with_nothing_to_show_says_how_to_begin():
    frame = pd.DataFrame({"k": ["a"], "t": ["soon"]})
    page = Page("one", "two", namespace={"one": frame, "two": frame})
    page.wait()
    assert "Three steps to the first picture" in page.text("begin")
    page.click("Late data")
    assert page.badge == "Preview (simulated)"
    assert not [each for each in page.widgets() if "sjw-begin" in getattr(each, "_dom_classes", ())]


def test_every_figure_is_explained_in_one_sentence(page):
    assert {each["help"] for each in page.band["figures"]} == {FIGURES["rows out"], FIGURES["peak state"]}
    assert all(words.endswith(".") for words in FIGURES.values())


@pytest.mark.parametrize("scenario", ["transfers", "page_views_searches", "orders_prices", "orders_payments"])
def test_the_peak_state_is_counted_as_the_chart_of_the_state_counts(page, scenario):
    page.set({"Scenario": scenario})
    held = page.meant().charts.drawing("state").tables["held"]
    figure = page.band["figures"][1]
    assert (figure["unit"], figure["name"]) == ("rows", "in state at most")
    assert figure["value"] == held.groupby("batch")["rows"].sum().max()


def test_every_wrong_field_is_marked(page):
    page.set({"Lower bound": "soon", "Upper bound": "later", "Watermark / first": "x"})
    assert page.mark("Lower bound") and page.mark("Upper bound") and page.mark("Watermark / first")
    page.set({"Kind": "Sliding window join", "Size": "0 seconds", "Slide": "-1 seconds"})
    assert page.mark("Size") and page.mark("Slide")
    assert page.button("Run on Spark").disabled


def test_two_changes_that_come_before_a_preview_are_two_steps_back(page, monkeypatch):
    go_on, preview = threading.Event(), running.preview

    def slow(*arguments, **options):
        go_on.wait(60)
        return preview(*arguments, **options)

    monkeypatch.setattr(running, "preview", slow)
    for values in ({"Upper bound": "20 seconds"}, {"How": "inner"}, {"Watermark / first": "3 seconds"}):
        page.change(values)
    go_on.set()
    page.wait()
    seen = []
    for _ in range(3):
        page.click("Undo the last change of a setting")
        seen.append(tuple(page.value(each) for each in ("Upper bound", "How", "Watermark / first")))
    assert seen == [
        ("20 seconds", "inner", "10 seconds"),
        ("20 seconds", "left", "10 seconds"),
        ("30 seconds", "left", "10 seconds"),
    ]


def test_a_preview_that_takes_long_is_asked_about_with_the_number(page):
    page.set({"Kind": "Sliding window join", "Size": "60 seconds", "Slide": "5 milliseconds"})
    assert "Preview anyway" in page.buttons()
    assert any(letter.isdigit() for letter in page.trouble)
    assert page.stale
    assert not page.button("Run on Spark").disabled
    page.click("Preview anyway")
    assert page.badge == "Preview (simulated)"
    assert "Preview anyway" not in page.buttons()


def test_a_point_of_a_tuning_sets_the_delays_and_nothing_else(page):
    page.set({"Scenario": "orders_payments", "Late": 0.2, "Trigger interval": "2 seconds"})
    page.open("Tune")
    of, before = page.meant(), page.state()
    table = wb.tune(of.join, of.left, of.right).table
    assert len(page.drawn["tables"]["settings"]["kept"]) == len(table)
    place = int((table["left.watermark"] != table["left.watermark"][0]).to_numpy().argmax())
    page.pick(place=place)
    for number, side in enumerate(("left", "right")):
        assert page.field(f"Watermark / {('first', 'second')[number]}").value == table[f"{side}.watermark"][place]
    changed = [one[0] for one, other in zip(before, page.state(), strict=True) if one != other]
    assert 1 <= len(changed) <= 2
    assert page.value("Trigger interval") == "2 seconds"


def test_a_key_shows_its_rows_in_state_over_time(page):
    page.set({"Scenario": "orders_payments"})
    run = wb.preview(*(getattr(page.meant(), each) for each in ("join", "left", "right")))
    row = int(run.fates["left"].index[run.fates["left"]["fate"] == "matched"][0])
    page.pick(row_id=f"left-{row}")
    page.click("All rows of this key")
    html = page.html("story")
    told = [(int(count), int(batch)) for count, batch in re.findall(r'title="(\d+) after micro-batch (\d+)"', html)]
    key = run.keys.iloc[row]
    for count, batch in told:
        held = 0
        for side, first in (("left", 0), ("right", len(run.left))):
            assigned = run.outcome.assignments[side]
            mine = assigned[assigned["held"] & (run.keys.to_numpy()[assigned["row"] + first] == key)]
            held += int(((mine["batch"] <= batch) & (mine["evicted_in"] > batch)).sum())
        assert count == held
    assert max(count for count, _ in told) >= 1
    assert told[0][0] == 0 or told[0][1] == 0
    inside = [batch for count, batch in told if count]
    assert f"in state after micro-batches {min(inside)} to {max(inside)}, at most" in html


def test_what_is_said_of_a_row_of_a_key_is_when_it_was_in_state(page):
    page.set({"Scenario": "orders_payments", "Late": 0.3})
    run = wb.preview(*(getattr(page.meant(), each) for each in ("join", "left", "right")))
    fates = run.fates["left"]
    shared = run.keys[: len(run.left)].isin(run.keys[len(run.left) :]).to_numpy()  # else there is no button
    for fate in ("late", "matched"):
        row = int(fates.index[(fates["fate"] == fate) & shared][0])
        page.pick(row_id=f"left-{row}")
        page.click("All rows of this key")
        told = dict(zip(_ids_of_key(run, row), re.findall(r"<td>([^<]*)</td></tr>", page.html("story")), strict=True))
        for side in ("left", "right"):
            assigned = run.outcome.assignments[side]
            for each in assigned[assigned["row"].isin([at for of, at in told if of == side])].itertuples():
                words = told[side, each.row]
                stays = each.evicted_in >= len(run.outcome.marks)
                span = f"{each.batch} on" if stays else f"{each.batch} to {each.evicted_in - 1}"
                assert words == (span if each.held else "never")


def _ids_of_key(run, row):
    """The rows of a left row's key, as the page lists them: by event time."""
    codes = dict(zip(("left", "right"), run.outcome.keys, strict=True))
    found = [(side, int(at)) for side in codes for at in (codes[side] == codes["left"][row]).nonzero()[0]]
    return sorted(found, key=lambda each: run.side(each[0]).event_times[each[1]])


def test_a_late_row_that_nothing_matches_has_a_button_that_keeps_it(page):
    page.set({"Scenario": "orders_payments", "Late": 0.3})
    run = wb.preview(*(getattr(page.meant(), each) for each in ("join", "left", "right")))
    lost = run.rows[(run.rows["fate"] == "late") & run.rows["fix_setting"].isna()]
    lost = lost[lost["reason"].str.contains("would have kept it, but")]
    index = int(lost.index[0])
    page.pick(row_id=f"left-{index}" if index < len(run.left) else f"right-{index - len(run.left)}")
    (words,) = [each for each in page.buttons() if each.startswith("Set a watermark delay")]
    page.click(words)
    assert page.meant().rows["fate"].iloc[index] != "late"


def open_widgets():
    """How many widgets have a line to the browser."""
    return sum(isinstance(each, widgets.Widget) and each.comm is not None for each in gc.get_objects())


def test_a_closed_page_leaves_hardly_a_widget(page):
    close_all()
    before = open_widgets()
    opened = Page()
    opened.wait()
    opened.set({"From": "files"})
    opened.open("Script")
    assert open_widgets() > before + 400
    close_all()
    assert open_widgets() < before + 40


def test_what_a_fix_changed_is_marked_until_something_else_is_changed(page):
    page.set({"Scenario": "orders_payments", "Events": 100, "Late": 0.2})
    page.open("Tune")
    page.press("Apply")
    page.wait()
    marked = [page.mark(f"Watermark / {place}") for place in ("first", "second")]
    assert "was 10 seconds; Ctrl+Z takes it back" in marked
    page.press("Undo the last change of a setting")
    page.wait()
    assert not any(page.mark(f"Watermark / {place}") for place in ("first", "second"))
    page.press("Redo it")
    page.wait()
    assert [page.mark(f"Watermark / {place}") for place in ("first", "second")] == marked
    page.set({"Events": 110})
    assert not any(page.mark(f"Watermark / {place}") for place in ("first", "second"))


def test_a_condition_is_typed_as_one_says_it(page):
    page.set({"Scenario": "orders_payments"})
    page.set({"Where": "right_paid < left_amount and left_city != 'Rome'"})
    condition = "(wb.col('right_paid') < wb.col('left_amount')) & (wb.col('left_city') != 'Rome')"
    assert repr(page.meant().join.where) == condition
    page.set({"Where": condition.replace("'Rome'", "'Bath'")})
    assert repr(page.meant().join.where) == condition.replace("'Rome'", "'Bath'")
    page.set({"Where": "right_paid < left_amount\n  and left_city != 'Rome'\n"})
    assert repr(page.meant().join.where) == condition
    page.set({"Where": "left_amount >"})
    assert "compare columns, such as amount > 5 and status == 'declined'" in page.mark("Where")
    page.set({"Where": "amount > 5"})
    assert "there is no column 'amount'; there are left_" in page.mark("Where")


def test_a_kind_is_introduced_where_it_is_chosen(page):
    for kind, words in {"Session window join": "follow each other within the gap", "Pattern": "within a time"}.items():
        page.set({"Kind": kind})
        assert words in page.text("introduction")
        assert "<svg" in page.html("introduction")


def test_a_fix_says_what_it_changed_until_something_else_is_changed(page):
    page.set({"Scenario": "orders_payments", "Events": 100, "Late": 0.2})
    page.open("Tune")
    before = page.figures["matched"]
    page.press("Apply")
    page.wait()
    by = page.figures["matched"] - before
    assert by > 0
    told = " ".join(page.notes())
    assert re.search(rf"Applied: a watermark delay of \S+ s on \w+.*: \+{by} matched, ", told)
    page.set({"Events": 110})
    assert "Applied" not in " ".join(page.notes())


def test_the_row_that_a_fix_matched_stays_picked_though_its_cause_was_filtered_by(page):
    page.set({"Scenario": "orders_payments", "Events": 100, "Upper bound": "4 seconds", "Late": 0.0})
    cause = next(each["cause"] for each in page.band["sides"][0]["causes"] if "upper bound" in each["cause"])
    page.filter("left", "unmatched", cause)
    row = page.chart.params["picked"][0]
    page.pick(row_id=row)
    fix = next(each for each in page.buttons() if each.startswith("Set "))
    page.click(fix)
    assert page.chart.params["picked"] == [row]
    assert "matched" in page.text("story")
    assert not next(each for each in page.widgets() if each.has_trait("shown")).chosen
    assert f"Applied: {fix.removeprefix('Set ')}: +" in " ".join(page.notes())


def test_delays_of_a_scenario_before_are_not_those_of_the_next(page):
    page.set({"Scenario": "orders_payments"})
    page.set({"Watermark / first": "25 seconds", "close every window at the end": False})
    page.set({"Scenario": "transfers"})
    assert page.value("Watermark / first") == "10 seconds"
    assert page.value("close every window at the end")
