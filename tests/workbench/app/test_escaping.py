"""Names, columns, keys and values come from shared files and topics: none of them runs in the page."""

from __future__ import annotations

import json
from pathlib import Path

import ipywidgets as widgets
import pandas as pd
import pytest
from lab import CHROMIUM, lab, page, run_all, saved, settings
from lab import view as view_of
from page import Page
from playwright.sync_api import expect

import workbench as wb
from workbench import charts
from workbench.app import close_all

EVIL = '<img src=x onerror="window.__ran=(window.__ran||0)+1">'


def evil_frames():
    """Two tables whose keys, values and names of columns are all markup, with every fate among their rows."""
    start = pd.Timestamp("2026-01-01 10:00")
    left = pd.DataFrame(
        {
            f"key {EVIL}": [f"{EVIL}{n % 7}" for n in range(30)],
            f"at {EVIL}": [start + pd.Timedelta(seconds=n - (40 if n == 20 else 0)) for n in range(30)],
            f"value {EVIL}": [f"{EVIL} v{n}" for n in range(30)],
            "image": [EVIL] * 30,
            "batch": [n // 5 for n in range(30)],
        }
    )
    right = left.iloc[::2].rename(columns={f"at {EVIL}": f"then {EVIL}"})
    return left, right


EVIL_STREAMS = """
import pandas as pd, workbench as wb
from test_escaping import EVIL, evil_frames
left, right = evil_frames()
one = wb.Stream.from_pandas(left, EVIL, f"key {EVIL}", f"at {EVIL}", "1 second", batch="batch")
other = wb.Stream.from_pandas(right, EVIL + "2", f"key {EVIL}", f"then {EVIL}", "1 second", batch="batch")
globals()[EVIL] = left
"""


def test_no_value_of_the_page_holds_a_name_as_markup(spark):
    """Without a browser: what every widget of the page is given, in every view, after two runs."""
    space = {}
    exec(EVIL_STREAMS, space)
    opened = Page("one", "other", namespace=space)
    opened.wait()
    raw, seen = [], 0

    def look():
        nonlocal seen
        opened.wait(120)
        for each in opened.widgets(hidden=True):
            if isinstance(each, widgets.HTML):
                seen += "&lt;img" in each.value
                if "<img" in each.value:
                    raw.append(each.value)

    opened.set({"Kind": "Interval join"})
    for upper in ("5 seconds", "9 seconds"):
        opened.set({"Upper bound": upper})
        opened.press("Run on Spark")
        look()
    opened.set({"Kind": "Tumbling window join"})
    opened.open("Windows")
    opened.pick(window=opened.drawn["tables"]["rows"]["window"][0])
    assert "are picked" in opened.text("story")
    for tab in opened.tabs:
        opened.open(tab)
        look()
    opened.open("Timeline")
    opened.pick(row_id="left-20")
    look()
    opened.set({"Watermark / first": EVIL})
    look()
    assert raw == []
    assert seen > 20
    close_all()


CELLS = (
    "%load_ext workbench",
    f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); sys.path.insert(0, {str(Path(__file__).parents[2])!r})\n"
    + EVIL_STREAMS,
    "%workbench one other",
)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    home = tmp_path_factory.mktemp("lab")
    root = home / "root"
    root.mkdir()
    with lab(home, root) as address:
        yield address, root


OWN_TABS = ("Output", "Script", "Tune", "Flink", "Runs")
WITH_CHART = {view.tab for view in charts.views()} - {"Windows"} | {"Tune", "Flink"}
WITH_TABLE = {view.tab for view in charts.views() if view.tab and view.listed is not None} | {"Output"}


def nothing_ran(opened):
    opened.wait_for_timeout(300)  # an image that fails to load tells of it a moment later
    assert opened.evaluate("window.__ran") is None
    made = "document.querySelectorAll('.jp-OutputArea img[onerror], #vg-tooltip-element img[onerror]').length"
    assert opened.evaluate(made) == 0


def settled(opened):
    """Return where the chart is, once it has stayed there for half a second."""
    last = None
    for _ in range(120):
        box = opened.evaluate("""() => {
            const shown = [...document.querySelectorAll('.sjw-chart canvas')].filter((each) => each.offsetParent);
            if (shown.length === 0) return null;
            const { x, y, width, height } = shown[0].getBoundingClientRect();
            return { x, y, width, height };
        }""")
        if box is not None and box == last:
            return box
        last = box
        opened.wait_for_timeout(500)
    raise AssertionError("no chart that stays where it is")


def hover(opened):
    """Move over the chart, so that tooltips of many marks are shown."""
    box = settled(opened)
    seen = 0
    for across in range(4, 40):
        for down in (0.2, 0.35, 0.5, 0.65, 0.8):
            opened.mouse.move(box["x"] + box["width"] * across / 44, box["y"] + box["height"] * down)
            seen += opened.locator("#vg-tooltip-element.visible").count()
    return seen


def arrived(opened):
    """Wait for the page and its first chart."""
    opened.wait_for_selector(".sjw-badge:has-text('Preview')", timeout=120_000)
    opened.wait_for_selector(".sjw-chart canvas", timeout=60_000)


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
def test_nothing_runs_in_the_browser(address):
    address, root = address
    with page(address, saved(root, "evil.ipynb", *CELLS)) as opened:
        run_all(opened, lambda: arrived(opened))
        settings(opened)
        tips = 0
        for upper in ("5 seconds", "9 seconds"):
            bound = ".sjw .widget-inline-hbox:has(.widget-label:text-is('Upper bound')) input:visible"
            opened.locator(bound).fill(upper)
            opened.wait_for_selector(".sjw button:has-text('Run on Spark'):not([disabled])", timeout=60_000)
            number = 1 if upper == "5 seconds" else 2
            if number == 2:
                opened.wait_for_selector(f".sjw-since:has-text('→ {upper.replace(' seconds', ' s')}')", timeout=60_000)
            opened.locator(".sjw button:has-text('Run on Spark')").click()
            opened.wait_for_selector(f".sjw-badge:has-text('run {number}, on Spark')", timeout=180_000)
        for tab in (*(view.tab for view in charts.views() if view.tab and not view.of_windows), *OWN_TABS):
            view_of(opened, tab)
            if tab in WITH_CHART:
                tips += hover(opened)
            if tab in WITH_TABLE:
                opened.wait_for_selector(".sjw table.dataTable tbody tr:visible", timeout=60_000)
                rows = opened.locator(".sjw table.dataTable tbody tr:visible")
                rows.nth(0).click()
                rows.nth(1).click()
                opened.wait_for_selector(".sjw-story:visible", timeout=60_000)
            if tab == "Runs":
                opened.wait_for_selector(".sjw-compare:visible tr.sjw-differs", timeout=60_000)
                expect(opened.locator(".sjw-compare")).to_contain_text(EVIL)
            for text in ("Flink SQL", "Flink DataStream", "Test", "Notebook cell") if tab == "Script" else ():
                opened.click(f".sjw button:text-is('{text}')")
                opened.wait_for_timeout(400)
            nothing_ran(opened)
        assert tips > 10
        kind = ".sjw .widget-inline-hbox:has(.widget-label:text-is('Kind')) select:visible"
        opened.locator(kind).select_option(label="Tumbling window join")
        view_of(opened, "Windows")
        opened.wait_for_selector(".sjw-chart-title:has-text('Tumbling window join'):visible", timeout=60_000)
        opened.evaluate("""() => {
            window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.requestExecute({ code: `
from page import Page
from workbench.app import current
Page(current()).click_mark(window=1)
` }); }""")
        opened.wait_for_selector(".sjw-story:has-text('are picked'):visible", timeout=60_000)
        delays = ".sjw-heading:has-text('Watermark') ~ .widget-text input:visible"
        opened.locator(delays).first.fill(EVIL)
        opened.wait_for_selector(".sjw-mark.sjw-said:has-text('img src=x')", timeout=60_000)
        opened.wait_for_selector(".sjw-trouble:has-text('img src=x')", timeout=60_000)
        nothing_ran(opened)


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
def test_nothing_runs_from_the_outputs_of_cells(address):
    address, root = address
    cells = (
        *CELLS[:2],
        "run = wb.preview(wb.IntervalJoin('0 s', '5 s', how='full'), one, other)\nrun.charts.timeline()",
        "run.why(3)",
        "run.rows.head()",
        "wb.advise(run.join, one, other)",
        "tuning = wb.tune(run.join, one, other); tuning.best(0.9)",
        "run",
        "wb.Stream.from_pandas(left, EVIL, EVIL, EVIL)",
    )
    with page(address, saved(root, "cells.ipynb", *cells)) as opened:
        error = ".jp-OutputArea-output:has-text('ArgumentError')"
        run_all(opened, lambda: opened.wait_for_selector(error, timeout=120_000))
        opened.wait_for_selector(".jp-OutputArea-output canvas, .jp-OutputArea-output svg", timeout=60_000)
        nothing_ran(opened)


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
def test_a_page_that_opens_with_an_error_shows_no_views(address):
    address, root = address
    code = (
        "import pandas as pd, workbench as wb\nat = pd.date_range('2026-01-01', periods=3, freq='s')\n"
        "a = pd.DataFrame({'k': ['x', 'y', 'z'], 'at': at}); b = pd.DataFrame({'k': [1, 2, 3], 'at': at})"
    )
    with page(address, saved(root, "wrong.ipynb", "%load_ext workbench", code, "%workbench a b")) as opened:
        empty = ".sjw-badge:has-text('nothing to show yet')"
        run_all(opened, lambda: opened.wait_for_selector(empty, timeout=120_000))
        expect(opened.locator(".sjw-trouble")).not_to_be_empty()
        expect(opened.locator(".sjw-views:visible")).to_have_count(0)
        for words in ("Run on Spark", "Go live"):
            expect(opened.locator(f".sjw button:has-text('{words}')")).to_be_disabled()


def test_the_texts_that_are_looked_for_are_in_every_place():
    left, right = evil_frames()
    for frame in (left, right):
        names = [name for name in frame.columns if name not in ("batch", "image")]
        assert all(EVIL in name for name in names)
        assert all(EVIL in str(text) for text in frame[f"value {EVIL}"])
    assert json.loads(json.dumps(EVIL)) == EVIL
    run = wb.preview(
        wb.IntervalJoin("0 s", "5 s", how="full"),
        wb.Stream.from_pandas(left, EVIL, f"key {EVIL}", f"at {EVIL}", "1 second", batch="batch"),
        wb.Stream.from_pandas(right, EVIL + "2", f"key {EVIL}", f"then {EVIL}", "1 second", batch="batch"),
    )
    assert {"matched", "unmatched", "late"} <= set(run.rows["fate"])
