"""The styles of tables in a narrow page, without JupyterLab: what matters is in view, and no heading is cut."""

from __future__ import annotations

from pathlib import Path

import itables
import lab
import pytest
from itables import javascript
from page import Page

import generators
import workbench as wb
from workbench.app import close_all

CSS = (Path(wb.__file__).parent / "app" / "app.css").read_text()
RUN = wb.preview(wb.IntervalJoin("0 s", "15 s"), *generators.generate("orders_payments", events=100, late=0.1))
WIDTH = 660
"""Of the views, in a window of 1,000 pixels with JupyterLab's list of files."""


@pytest.fixture
def shown():
    """Opens a piece of HTML as wide as the views of a narrow page."""
    with lab.chromium() as browser:
        opened = browser.new_page(viewport={"width": 1000, "height": 800})

        def show(head, body):
            views = f'<div class="sjw"><div class="sjw-views" style="width: {WIDTH}px">{body}</div></div>'
            page = f'<!DOCTYPE html><html><head>{head}<style>{CSS}</style></head><body style="font: 13px sans-serif">'
            opened.set_content(f"{page}{views}</body></html>")
            return opened

        yield show


@pytest.mark.browser
def test_what_a_row_would_match_with_is_in_view(shown):
    rows = RUN.rows[RUN.rows["fate"] != "matched"]
    first = rows[["side", "batch", "fate", "reason"]].assign(side="impressions", fix="a watermark delay of 10.1 s on a")
    names = ["stream", "micro-batch", "fate", "reason", "would match with"]
    frame = first.set_axis(names, axis=1).join(rows[["order_id", "ordered_at", "customer"]])
    bundle = Path(itables.__file__).parent / "html" / "dt_bundle.js"
    words = [{"className": f"sjw-words{more}", "targets": [at]} for at, more in ((4, " sjw-longest"), (5, ""))]
    table = itables.to_html_datatable(
        frame, connected=False, allow_html=False, showIndex=True, paging=False, scrollY="320px", columnDefs=words
    )
    opened = shown(javascript.generate_init_offline_itables_html(bundle), f'<div class="sjw-table">{table}</div>')
    opened.wait_for_selector(".dt-scroll-body td.sjw-words")
    place = opened.evaluate(
        """() => {
            const box = (name) => [...document.querySelectorAll('.dt-scroll-head th')].find((each) => each.textContent === name).getBoundingClientRect();
            const { width, right } = box('would match with'), end = document.querySelector('.sjw-table').getBoundingClientRect().right;
            return { width, right, end, reason: box('reason').width };
        }"""
    )
    assert place["width"] >= 140
    assert place["reason"] >= 1.4 * place["width"]  # its sentences are the longer ones
    assert place["right"] <= place["end"]


@pytest.mark.browser
def test_the_answer_of_a_tuning_has_whole_headings(shown):
    page = Page()
    try:
        page.set({"Scenario": "orders_payments", "Events": 100, "Late": 0.2})
        page.open("Tune")
        told = page.html("tuned")
    finally:
        close_all()
    box = f'<div class="sjw-tuned"><div class="widget-html-content">{told}</div></div>'
    opened = shown("", f'<div class="sjw-answered" style="display: flex">{box}<button>Apply</button></div>')
    sizes = opened.evaluate(
        "(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth])(document.querySelector('.sjw-beside'))"
    )
    assert sizes[0] <= sizes[1] + 1
    assert "of the complete result" in opened.inner_text(".sjw-beside")
