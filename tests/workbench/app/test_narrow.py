"""The styles of tables in a narrow page, without JupyterLab: what matters is in view, and no heading is cut."""

from __future__ import annotations

from pathlib import Path

import itables
import lab
import pytest
from itables import javascript

import generators
import workbench as wb
from workbench import charts
from workbench.app._answer import answer
from workbench.app._listing import Query, listing
from workbench.app._looks import LOOKS, wrapped
from workbench.app.html import html
from workbench.reasons.labels import Labels

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
    view = next(each for each in charts.views() if each.tab == "Unmatched")
    rows = listing(RUN, view, None, every=False)
    frame, _ = rows.page(rows.places(Query(), rows.asked(Query())))
    bundle = Path(itables.__file__).parent / "html" / "dt_bundle.js"
    looks = LOOKS | wrapped(frame, ("reason", "would match with"))
    table = itables.to_html_datatable(frame, connected=False, allow_html=False, **looks)
    opened = shown(javascript.generate_init_offline_itables_html(bundle), f'<div class="sjw-table">{table}</div>')
    opened.wait_for_selector(".dt-scroll-body td.sjw-words")
    place = opened.evaluate(
        """() => {
            const head = [...document.querySelectorAll('.dt-scroll-head th')].find((each) => each.textContent === 'would match with');
            const box = head.getBoundingClientRect();
            return { width: box.width, right: box.right, end: document.querySelector('.sjw-table').getBoundingClientRect().right };
        }"""
    )
    assert place["width"] >= 150
    assert place["right"] <= place["end"]


@pytest.mark.browser
def test_the_answer_of_a_tuning_has_whole_headings(shown):
    tuning = wb.tune(RUN.join, RUN.left, RUN.right)
    asked = {"keep": "99.9", "rows": "", "time": ""}
    told = answer(tuning, tuning.best(0.999), asked, Labels(RUN.simulation, whole=False).setting)
    box = html('<div class="sjw-tuned"><div class="widget-html-content">{}</div></div>', told)
    answered = html('<div class="sjw-answered" style="display: flex">{}<button>Apply</button></div>', box)
    opened = shown("", answered)
    sizes = opened.evaluate(
        "(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth])(document.querySelector('.sjw-beside'))"
    )
    assert sizes[0] <= sizes[1] + 1
    assert "of the complete result" in opened.inner_text(".sjw-beside")
