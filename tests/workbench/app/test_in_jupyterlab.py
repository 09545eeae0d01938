"""The app in real JupyterLab, in Debian's chromium: what a user does from the first cell on."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import nbformat
import pytest
from lab import CHROMIUM, lab, page, run_all

from workbench.app._fields import KINDS

pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")]

CELLS = ("%load_ext workbench", "%workbench", "threads = 0", "print('the kernel is', 'free')")


def notebook(folder: Path, *cells: str) -> str:
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in cells])
    book.metadata.kernelspec = {"display_name": "Python 3", "language": "python", "name": "python3"}
    nbformat.write(book, folder / "n.ipynb")
    return "n.ipynb"


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    home = tmp_path_factory.mktemp("lab")
    root = home / "root"
    root.mkdir()
    name = notebook(root, *CELLS)
    with lab(home, root) as address, page(address, name) as opened:
        run_all(opened)
        opened.wait_for_selector(".sjw-chart canvas", timeout=90_000)
        yield opened


def field(opened, label):
    return opened.locator(f".sjw .widget-inline-hbox:has(.widget-label:text-is('{label}')) input:visible").first


def choose(opened, label, option):
    row = opened.locator(f".sjw .widget-inline-hbox:has(.widget-label:text-is('{label}')) select:visible").first
    row.select_option(label=option)


def button(opened, words):
    return opened.locator(f".sjw button:has-text('{words}'):visible").first


def view(opened, name):
    opened.click(f".sjw-tabs button:text-is('{name}')")


def badge(opened, words, timeout=120_000):
    opened.wait_for_selector(f".sjw-badge:has-text('{words}')", timeout=timeout)


def title(opened, words):
    opened.wait_for_selector(f".sjw-chart-title:has-text('{words}'):visible", timeout=30_000)


def shown(opened, table):
    """The rows of a table that the chart on the page has been given."""
    return opened.evaluate(
        "name => [...document.querySelectorAll('.sjw-chart div')].find(each => each.view).view.data(name).length", table
    )


def signal(opened, name):
    script = "name => [...document.querySelectorAll('.sjw-chart div')].find(each => each.view).view.signal(name)"
    return opened.evaluate(script, name)


def execute(opened, number):
    """Run a cell, and give what it prints."""
    opened.locator(".jp-Notebook .jp-Cell").nth(number).locator(".jp-InputArea-editor").click()
    opened.evaluate("void window.jupyterapp.commands.execute('notebook:run-cell')")


def ask_kernel(opened, code):
    """What a piece of Python prints in the notebook's kernel, asked beside the notebook."""
    script = """async code => {
        const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
        const future = kernel.requestExecute({ code, store_history: false });
        let text = '';
        future.onIOPub = message => { if (message.header.msg_type === 'stream') text += message.content.text; };
        await future.done;
        return text.trim();
    }"""
    return opened.evaluate(script, code)


def test_it_opens_with_a_preview_of_what_the_join_does(opened):
    badge(opened, "a preview, worked out without Spark")
    title(opened, "Interval join on event time")
    assert shown(opened, "rows") > 200
    assert "matched" in opened.locator(".sjw-figures").inner_text()


def test_each_kind_of_join_is_set_and_previewed(opened):
    for kind in KINDS.values():
        choose(opened, "Kind", kind.label)
        words = kind.label.replace("Interval join", "Interval join on").replace(" window join", " window join on")
        title(opened, words)
        for each in kind.fields:
            assert field(opened, each.label).is_visible()
    assert opened.locator(".sjw select:disabled").count() >= 1  # a coGroup has no how
    choose(opened, "Kind", "Interval join")
    title(opened, "Interval join on event time")


def test_a_wrong_field_is_told_beside_it_and_disables_run(opened):
    run = button(opened, "Run on Spark")
    assert run.is_enabled()
    field(opened, "Upper bound").fill("soon")
    opened.wait_for_selector(".sjw-mark:has-text('use a number with a unit')", timeout=20_000)
    assert run.is_disabled()
    field(opened, "Upper bound").fill("20 seconds")
    opened.wait_for_selector(".sjw button:has-text('Run on Spark'):not([disabled])", timeout=20_000)


def test_undo_and_redo(opened):
    opened.wait_for_timeout(1000)
    field(opened, "Upper bound").fill("25 seconds")
    opened.wait_for_timeout(600)
    opened.click(".sjw-left button:has(.fa-undo)")
    opened.wait_for_function(
        "() => [...document.querySelectorAll('.sjw input')].some(each => each.value === '20 seconds')"
    )
    opened.click(".sjw-left button:has(.fa-repeat)")
    opened.wait_for_function(
        "() => [...document.querySelectorAll('.sjw input')].some(each => each.value === '25 seconds')"
    )
    field(opened, "Upper bound").fill("20 seconds")


def test_a_run_is_seen_in_every_view(opened):
    button(opened, "Run on Spark").click()
    badge(opened, "run 1, on Spark in")
    for name, words in (
        ("Arrival", "Arrival and watermark"),
        ("Watermarks", "Watermarks"),
        ("Late", "late row"),
        ("State", "State"),
        ("Unmatched", "near misses"),
        ("Timeline", "Interval join on event time"),
    ):
        view(opened, name)
        title(opened, words)
    view(opened, "Output")
    opened.wait_for_selector(".sjw table.dataTable tbody tr:visible", timeout=60_000)
    view(opened, "Windows")
    opened.wait_for_selector(".sjw-remark:has-text('an interval join has no windows'):visible", timeout=20_000)


def test_the_script_is_shown_copied_and_downloaded(opened):
    view(opened, "Script")
    opened.wait_for_selector(".sjw-code pre:has-text('def join_streams'):visible", timeout=20_000)
    opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button(opened, "Copy").click()
    opened.wait_for_selector(".sjw button:has-text('Copied')", timeout=5_000)
    copied = opened.evaluate("navigator.clipboard.readText()")
    assert "def join_streams" in copied
    assert "20 seconds" in copied
    with opened.expect_download() as download:
        button(opened, "Download").click()
    assert download.value.suggested_filename == "join.py"
    assert Path(download.value.path()).read_text() == copied
    button(opened, "Flink SQL").click()
    opened.wait_for_selector(".sjw-code pre:has-text('CREATE TABLE'):visible", timeout=20_000)
    with opened.expect_download() as download:
        button(opened, "Download").click()
    assert download.value.suggested_filename == "join.sql"
    button(opened, "Notebook cell").click()
    opened.wait_for_selector(".sjw-code pre:has-text('generators.generate'):visible", timeout=20_000)


def test_scrubbing_shows_the_run_come_about(opened):
    view(opened, "Timeline")
    title(opened, "Interval join on event time")
    for _ in range(4):
        opened.click(".sjw-scrubber button:has(.fa-step-backward)")
    opened.wait_for_selector(".sjw-moment:has-text('in state'):visible", timeout=20_000)
    opened.wait_for_timeout(1000)
    words = opened.locator(".sjw-moment").inner_text()
    assert re.match(r"micro-batch \d+: [\d,]+ \+ [\d,]+ rows came", words)
    batch = int(re.match(r"micro-batch (\d+)", words).group(1))
    assert signal(opened, "moment") == batch
    button(opened, "Whole run").click()
    opened.wait_for_selector(".sjw-moment:has-text('the whole run'):visible", timeout=20_000)


def test_playing_moves_by_itself_and_ends(opened):
    for _ in range(3):
        opened.click(".sjw-scrubber button:has(.fa-step-backward)")
    opened.wait_for_selector(".sjw-moment:has-text('in state'):visible", timeout=20_000)
    opened.click(".sjw-scrubber button:has(.fa-play)")
    opened.wait_for_selector(".sjw-moment:has-text('the whole run'):visible", timeout=20_000)


def test_a_click_on_an_event_picks_it_everywhere(opened):
    place = opened.evaluate(
        """() => {
            const box = [...document.querySelectorAll('.sjw-chart div')].find(each => each.view);
            const rows = box.view.data('rows').filter(each => each.fate === 'unmatched');
            const canvas = box.querySelector('canvas').getBoundingClientRect();
            const origin = box.view.origin();
            for (const row of rows) {
                const x = canvas.x + box.view.padding().left + origin[0] + box.view.scale('x')(row.time);
                const y = canvas.y + box.view.padding().top + origin[1] + box.view.scale('y')(row.y);
                const alone = box.view.data('rows').every(each => each === row ||
                    Math.hypot(box.view.scale('x')(each.time) - box.view.scale('x')(row.time),
                               box.view.scale('y')(each.y) - box.view.scale('y')(row.y)) > 12);
                if (alone) return { x, y, id: row.row_id };
            }
        }"""
    )
    opened.mouse.click(place["x"], place["y"])
    opened.wait_for_selector(".sjw-story pre:has-text('verdict'):visible", timeout=20_000)
    assert signal(opened, "picked") == [place["id"]]
    story = opened.locator(".sjw-story").inner_text()
    view(opened, "Unmatched")
    opened.wait_for_selector(".sjw table.dataTable:visible", timeout=30_000)
    assert opened.locator(".sjw-story").inner_text() == story
    view(opened, "Arrival")
    title(opened, "Arrival and watermark")
    opened.wait_for_timeout(500)
    assert signal(opened, "picked") == [place["id"]]
    view(opened, "Unmatched")
    other = opened.locator(".sjw table.dataTable tbody tr:visible:not(.selected)").first
    other.click()
    opened.wait_for_function("before => document.querySelector('.sjw-story').innerText !== before", arg=story)


def test_two_runs_are_compared(opened):
    field(opened, "Upper bound").fill("3 seconds")
    opened.wait_for_selector(".sjw-since:has-text('upper 20 seconds → 3 seconds')", timeout=20_000)
    assert opened.locator(".sjw-figures i").count() >= 2
    button(opened, "Run on Spark").click()
    badge(opened, "run 2, on Spark in")
    view(opened, "Runs")
    opened.wait_for_selector(".sjw-compare tr.sjw-differs:has-text('upper'):visible", timeout=20_000)
    assert "rows have another fate" in opened.locator(".sjw-table:visible").inner_text()
    opened.locator(".sjw select:visible").filter(has_text="1 · IntervalJoin").first.select_option(index=1)
    button(opened, "Go back to it").click()
    badge(opened, "run 1, on Spark in")
    assert field(opened, "Upper bound").input_value() == "20 seconds"


def test_going_live_pausing_and_stopping(opened):
    view(opened, "Timeline")
    button(opened, "Go live").click()
    badge(opened, "backpressure")
    before = shown(opened, "rows")
    opened.wait_for_function(
        "before => [...document.querySelectorAll('.sjw-chart div')].find(each => each.view).view.data('rows').length > before",
        arg=before, timeout=30_000,
    )  # fmt: skip
    view(opened, "Live")
    title(opened, "Live")
    execute(opened, 3)
    opened.wait_for_selector(".jp-OutputArea-output:has-text('the kernel is free')", timeout=5_000)
    button(opened, "Pause").click()
    badge(opened, "paused", 5_000)
    button(opened, "Resume").click()
    begun = time.monotonic()
    button(opened, "Stop").click()
    badge(opened, "live, stopped", 10_000)
    assert time.monotonic() - begun < 2.5
    button(opened, "Keep as recording").click()
    badge(opened, "a preview")
    assert "live_impressions" in opened.locator(".sjw-left").inner_text()
    choose(opened, "From", "a scenario")
    badge(opened, "a preview")


def test_an_error_in_spark_is_one_sentence_and_the_page_recovers(opened):
    code = "import workbench.query as q, workbench as wb; q.kept = q.compiled\ndef bad(code): raise RuntimeError('the state store is gone')\nq.compiled = bad"
    ask_kernel(opened, code)
    button(opened, "Run on Spark").click()
    badge(opened, "failed")
    assert "the state store is gone" in opened.locator(".sjw-trouble").inner_text()
    ask_kernel(opened, "q.compiled = q.kept")
    button(opened, "Run on Spark").click()
    badge(opened, "run 3, on Spark in")
    assert opened.locator(".sjw-trouble").inner_text().strip() == ""


def test_a_click_on_a_point_of_the_tuning_takes_its_setting(opened):
    view(opened, "Tune")
    title(opened, "What is kept, and what it costs")
    opened.wait_for_selector(".sjw-tuned:has-text('To keep 99.9 %'):visible", timeout=20_000)
    place = opened.evaluate(
        """() => {
            const box = [...document.querySelectorAll('.sjw-chart div')].find(each => each.view);
            const rows = box.view.data('settings');
            const best = rows.reduce((one, other) => (other.kept > one.kept ? other : one));
            const canvas = box.querySelector('canvas').getBoundingClientRect();
            return {
                x: canvas.x + box.view.padding().left + box.view.origin()[0] + box.view.scale('x')(best.state_peak),
                y: canvas.y + box.view.padding().top + box.view.origin()[1] + box.view.scale('y')(best.kept),
            };
        }"""
    )
    opened.mouse.click(place["x"], place["y"])
    opened.wait_for_selector(".sjw-since:has-text('delay of')", timeout=20_000)
    badge(opened, "a preview")


@pytest.mark.parametrize("name", ["Timeline", "Unmatched", "Script", "Tune", "Runs"])
def test_nothing_is_clipped(opened, name):
    view(opened, name)
    opened.wait_for_timeout(500)
    clipped = opened.evaluate(
        """() => [...document.querySelectorAll('.sjw .widget-label, .sjw-tabs button, .sjw-head button, .sjw-left button')]
            .filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0).map(e => e.textContent)"""
    )
    assert clipped == []


def test_a_narrow_window_puts_the_settings_above(opened):
    opened.set_viewport_size({"width": 760, "height": 1000})
    try:
        opened.wait_for_function(
            """() => document.querySelector('.sjw-left').getBoundingClientRect().bottom
                <= document.querySelector('.sjw-right').getBoundingClientRect().top + 1"""
        )
        view(opened, "Timeline")
        opened.wait_for_function(
            """() => { const canvas = document.querySelector('.sjw-chart canvas').getBoundingClientRect();
                const right = document.querySelector('.sjw').getBoundingClientRect().right;
                return canvas.width > 250 && canvas.right <= right + 1; }"""
        )
    finally:
        opened.set_viewport_size({"width": 1440, "height": 1100})


def test_the_keyboard_is_enough(opened):
    field(opened, "Upper bound").focus()
    opened.keyboard.press("Control+A")
    opened.keyboard.type("12 seconds")
    opened.wait_for_selector(".sjw-since:has-text('12 seconds')", timeout=20_000)
    reached = set()
    for _ in range(60):
        opened.keyboard.press("Tab")
        reached.add(opened.evaluate("document.activeElement.textContent.trim() || document.activeElement.title"))
    assert {"Run on Spark", "Timeline", "Script", "Whole run"} <= reached


def test_running_the_cell_again_leaves_nothing_of_the_page_before(opened):
    button(opened, "Go live").click()
    badge(opened, "backpressure")
    execute(opened, 1)
    opened.wait_for_function(
        "() => [...document.querySelectorAll('.sjw-badge')].every(each => each.innerText.includes('a preview'))",
        timeout=60_000,
    )
    code = (
        "import threading, glob, json, workbench as wb; "
        "print(json.dumps([len(wb.spark().streams.active), "
        "sorted(each.name for each in threading.enumerate() if each.name.startswith('stream-join'))]))"
    )
    queries, threads = json.loads(ask_kernel(opened, code))
    assert queries == 0
    assert set(threads) <= {"stream-join-workbench-drawing"}


def test_deleting_the_cell_stops_its_query(opened):
    button(opened, "Go live").click()
    badge(opened, "backpressure")
    opened.locator(".jp-Notebook .jp-Cell").nth(1).locator(".jp-InputArea-editor").click()
    opened.keyboard.press("Escape")
    opened.evaluate("void window.jupyterapp.commands.execute('notebook:delete-cell')")
    for _ in range(20):
        opened.wait_for_timeout(1_000)
        if ask_kernel(opened, "print(len(wb.spark().streams.active))") == "0":
            return
    pytest.fail("the query of a page that is gone still runs")
