"""The app in real JupyterLab, in Debian's chromium: what a user does from the first cell on."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from lab import CHROMIUM, lab, page, run_all

pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")]


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
    name = notebook(root, "%load_ext workbench", "%workbench")
    with lab(home, root) as address, page(address, name) as opened:
        run_all(opened)
        opened.wait_for_selector(".sjw", timeout=90_000)
        yield opened


def field(opened, label):
    return opened.locator(f".sjw .widget-inline-hbox:has(.widget-label:text-is('{label}')) input")


def test_a_wrong_field_is_told_beside_it_and_disables_run(opened):
    run = opened.locator(".sjw button:has-text('Run on Spark')")
    assert run.is_enabled()
    field(opened, "Upper bound").fill("soon")
    opened.wait_for_selector(".sjw-mark:has-text('use a number with a unit')", timeout=20_000)
    assert run.is_disabled()
    field(opened, "Upper bound").fill("20 seconds")
    opened.wait_for_function("() => ![...document.querySelectorAll('.sjw button')][0].disabled", timeout=20_000)


def test_a_run_is_seen_in_every_tab(opened):
    opened.click(".sjw button:has-text('Run on Spark')")
    opened.wait_for_selector(".sjw .widget-html:has-text('run on Spark in')", timeout=120_000)
    opened.wait_for_selector(".sjw .vega-embed .marks", timeout=60_000)
    drawn = ".sjw .vega-embed .marks path[aria-roledescription='point'], .sjw .vega-embed .marks .mark-symbol path"
    assert opened.locator(drawn).count() > 100
    for view, title in (("Late", "late rows"), ("State", "State"), ("Timeline", "Interval join on event time")):
        opened.click(f".sjw .widget-toggle-buttons button:has-text('{view}')")
        opened.wait_for_selector(f".sjw .vega-embed .marks text:has-text('{title}')", timeout=30_000)
    opened.click(".sjw .lm-TabBar-tab:has-text('Output')")
    opened.wait_for_selector(".sjw table.dataTable tbody tr:visible", timeout=60_000)
    opened.click(".sjw .lm-TabBar-tab:has-text('Script')")
    opened.wait_for_selector(".sjw pre:has-text('def join_streams'):visible", timeout=20_000)
    assert "20 seconds" in opened.locator(".sjw pre:has-text('def join_streams')").first.inner_text()


def test_nothing_is_clipped(opened):
    clipped = opened.evaluate(
        """() => [...document.querySelectorAll('.sjw .widget-label, .sjw .lm-TabBar-tabLabel, .sjw button')]
            .filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0).map(e => e.textContent)"""
    )
    assert clipped == []
