"""A notebook that is opened without its kernel shows its charts and what the page showed."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from IPython.display import display
from IPython.utils.capture import capture_output
from lab import CHROMIUM, lab, notebook, page, run_all, saved, settings
from nbclient import NotebookClient
from page import Page, wait_for
from pictures import pixels

import generators
import workbench as wb
from workbench.app import close_all

VEGA_LITE = "application/vnd.vegalite.v5+json"
RUN = """
import generators, workbench as wb
orders, payments = generators.generate("orders_payments", events=60, seed=5)
run = wb.preview(wb.IntervalJoin("0 seconds", "15 seconds", how="left"), orders, payments)
"""
ERROR = "Error displaying widget"
TESTS = Path(__file__).parents[2]


CHANGE_AND_WAIT = f"""
import sys, time
sys.path.insert(0, {str(TESTS)!r})
from IPython.display import DisplayHandle
from page import Page
from workbench.app import current

kept, update = [], DisplayHandle.update

def recorded(handle, bundle, **options):
    update(handle, bundle, **options)
    kept.append(repr(bundle))

DisplayHandle.update = recorded
Page(current()).set({{"Upper bound": "3 seconds"}})
deadline = time.monotonic() + 180
while not all(any(word in bundle for bundle in kept) for word in ("<td>3 s</td>", "image/png")):
    assert time.monotonic() < deadline
    time.sleep(0.1)
"""  # in one cell: between two cells nbclient reads nothing of what a thread of the kernel sends


@pytest.mark.slow
def test_without_a_browser_the_page_is_kept_too(tmp_path):
    """As of `jupyter nbconvert --execute`: the picture is drawn by the kernel, since nothing else does."""
    book = notebook("%load_ext workbench", RUN, "%workbench orders payments", CHANGE_AND_WAIT)
    NotebookClient(book, timeout=240, store_widget_state=False).execute()
    view, words, picture = book.cells[2].outputs
    assert "application/vnd.jupyter.widget-view+json" in view["data"]
    streams = generators.generate("orders_payments", events=60, seed=5)
    expected = wb.preview(wb.IntervalJoin("0 seconds", "3 seconds"), *streams)
    text = words["data"]["text/html"]
    assert "<th>upper bound</th><td>3 s</td>" in text
    counts = dict(
        zip(
            re.findall(r"<th>(.*?)</th>", text.split("<table>")[1]),
            re.findall(r"<td>(.*?)</td>", text.split("<table>")[1]),
            strict=True,
        )
    )
    assert counts["rows out"] == f"{expected.batches['output_rows'].sum():,}"
    assert "on event time" in text
    assert min(pixels(picture["data"]["image/png"])) > 150


def test_what_a_page_says_is_text_in_a_saved_notebook(shell):
    evil = "<img src=x onerror=alert(1)>"
    left, right = generators.generate("orders_payments", events=5)
    frame, other = left.to_pandas().drop(columns="batch"), right.to_pandas().drop(columns="batch")
    opened = Page(
        wb.Stream.from_pandas(frame, evil, left.key, left.time),
        wb.Stream.from_pandas(other, "payments", right.key, right.time),
    )
    opened.wait()
    with capture_output() as captured:
        display(opened.app)

        def texts():
            return [each.data["text/html"] for each in captured.outputs if "text/html" in each.data]

        wait_for(lambda: "Preview (simulated)" in texts()[-1])
        assert "&lt;img" in texts()[-1]
        opened.set({"Watermark / first": evil})
        wait_for(lambda: "shown for the previous settings" in texts()[-1])
        close_all()
    assert not [text for text in texts() if "<img" in text]


def test_a_front_end_without_ipywidgets_says_so_in_a_sentence(shell):
    opened = Page()
    told = opened.app._repr_html_()
    assert "which this front end does not show: open it in JupyterLab" in told
    with capture_output() as captured:
        display(opened.app)
    assert not any("does not show" in str(each.data) for each in captured.outputs)  # IPython asks for the page
    close_all()


def test_where_there_are_no_tabs_the_page_comes_in_the_cell(shell):
    opened = Page()
    opened.wait()
    view = "application/vnd.jupyter.widget-view+json"
    with capture_output() as captured:
        opened.app.display_in_tab()
        said, *_ = (each.data for each in captured.outputs)
        assert "in the tab “Workbench”" in said["text/html"]
        wait_for(lambda: any(view in each.data for each in captured.outputs), 30)
        close_all()


CELLS = (
    "%load_ext workbench",
    RUN,
    "run.charts.timeline()",
    "run.why(3)",
    "%workbench",
)
CHARTS, PAGE = (2, 3), 4


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A notebook that was run and saved in JupyterLab, its kernel gone; with what the page had shown."""
    home = tmp_path_factory.mktemp("lab")
    root = home / "root"
    root.mkdir()
    saved(root, "n.ipynb", *CELLS)
    with lab(home, root) as address:
        with page(address, "n.ipynb") as opened:
            badge = ".sjw-badge:has-text('Preview')"
            run_all(opened, lambda: opened.wait_for_selector(badge, timeout=120_000))
            settings(opened)
            choice = ".sjw .widget-inline-hbox:has(.widget-label:text-is('Scenario')) select:visible"
            opened.locator(choice).select_option(label="orders_payments")
            opened.wait_for_selector(".sjw-chart-subtitle:has-text('342 matched')", timeout=60_000)
            opened.wait_for_selector(".sjw-band:has-text('171')")
            # the summary and the picture have come when the notebook's own copy has them
            opened.wait_for_function(
                f"""() => {{
                    const cell = window.jupyterapp.shell.currentWidget.content.widgets[{PAGE}].model.toJSON();
                    const data = cell.outputs.map(each => each.data ?? {{}});
                    return data.some(each => String(each['text/html'] ?? '').includes('342 matched'))
                        && data.some(each => each['image/png']);
                }}""",
                timeout=60_000,
            )
            opened.wait_for_function("() => !document.querySelector('[class^=sjw-saved]')?.offsetParent")
            opened.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
            opened.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
        yield address, root


def of_cell(opened, number, script):
    """What a script gives of a cell's outputs, the cell scrolled to."""
    opened.evaluate(
        "n => window.jupyterapp.shell.currentWidget.content.scrollToItem(n, 'start')",
        number,
    )
    return opened.locator(".jp-Notebook .jp-Cell").nth(number).locator(".jp-Cell-outputWrapper").evaluate(script)


@pytest.fixture
def browser():
    from lab import ARGUMENTS
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened.new_page(viewport={"width": 1440, "height": 1100})
        opened.close()


def reopen(browser, address, name):
    browser.goto(f"{address}/lab/workspaces/{name.split('.')[0]}again/tree/{name}?reset")
    browser.wait_for_selector(".jp-Notebook .jp-Cell", timeout=180_000)
    browser.wait_for_function("() => window.jupyterapp?.shell.currentWidget?.sessionContext?.isReady", timeout=180_000)


def tells_of_a_mark(opened, chart):
    """Whether the chart is alive: a mark under the mouse tells of itself."""
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    for down in range(25, 90, 4):
        for across in range(10, 60):
            opened.mouse.move(box["x"] + box["width"] * across / 100, box["y"] + box["height"] * down / 100)
        if opened.locator("#vg-tooltip-element").count():  # made by the first tooltip
            return True
    return False


def check_page(opened, number):
    """The page's summary and picture are to be seen, and nothing of the widget that is gone."""
    deadline = time.monotonic() + 30
    while not of_cell(opened, number, "each => [...each.querySelectorAll('img')].some(img => img.naturalWidth > 200)"):
        assert time.monotonic() < deadline
        opened.wait_for_timeout(200)
    text = of_cell(opened, number, "each => each.innerText")
    assert ERROR not in text
    assert "342" in text
    assert "15 s" in text
    assert "Interval join on event time" in text


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
def test_what_is_saved_carries_what_is_needed_without_a_kernel(book):
    _, root = book
    book = nbformat.read(root / "n.ipynb", as_version=4)
    for number in CHARTS:
        assert any({VEGA_LITE, "image/png"} <= set(each.get("data", {})) for each in book.cells[number].outputs)
    assert "widgets" not in book.metadata
    assert (root / "n.ipynb").stat().st_size < 1_000_000


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
def test_jupyterlab_shows_charts_and_page_without_the_kernel(book, browser):
    address, _ = book
    reopen(browser, address, "n.ipynb")
    for number in CHARTS:
        browser.evaluate("n => window.jupyterapp.shell.currentWidget.content.scrollToItem(n, 'start')", number)
        chart = browser.locator(".jp-Notebook .jp-Cell").nth(number).locator("canvas")
        chart.wait_for(timeout=60_000)
        assert ERROR not in of_cell(browser, number, "each => each.innerText")
        if number == CHARTS[0]:
            assert tells_of_a_mark(browser, chart)
    check_page(browser, PAGE)


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
def test_a_notebook_of_somebody_else_shows_them_too(book, browser):
    """JupyterLab does not trust it, and takes style and scripts out of its outputs."""
    address, root = book
    book = nbformat.read(root / "n.ipynb", as_version=4)
    book.cells.insert(0, nbformat.v4.new_markdown_cell("from elsewhere"))
    nbformat.write(book, root / "other.ipynb")
    reopen(browser, address, "other.ipynb")
    for number in CHARTS:
        browser.evaluate("n => window.jupyterapp.shell.currentWidget.content.scrollToItem(n, 'start')", number + 1)
        browser.locator(".jp-Notebook .jp-Cell").nth(number + 1).locator("canvas").wait_for(timeout=60_000)
    check_page(browser, PAGE + 1)


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
def test_nbconvert_shows_them_too(book, browser):
    _, root = book
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "n.ipynb"]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    browser.goto((root / "n.html").as_uri())
    widths = browser.evaluate("() => [...document.querySelectorAll('img')].map(each => each.naturalWidth)")
    assert len(widths) == len(CHARTS) + 1
    assert min(widths) > 200
    text = browser.evaluate("document.body.innerText")
    assert ERROR not in text
    assert "342" in text
    assert "Interval join on event time" in text
