"""The tab Tune speaks of the same things as the rest of the page."""

from __future__ import annotations

import re

import pytest


@pytest.mark.parametrize(
    "kind",
    ["Interval join", "Sliding window join", "Session window join", "coGroup, tumbling windows", "Pattern",
     "As-of join, within a tolerance"],
)  # fmt: skip
def test_its_rows_in_state_are_those_of_the_band(page, kind):
    page.set({"Scenario": "orders_prices", "Events": 60, "Kind": kind, "close every window at the end": False})
    page.open("Tune")
    now = re.search(r"<td>now</td>.*?</tr>", page.html("tuned"))[0]
    cells = re.findall(r"<td>(.*?)</td>", now)
    assert int(cells[-2].replace(",", "")) == page.figures["peak state"]


def test_it_leaves_a_delay_as_it_is_where_none_is_no_better(page):
    assert page.value("Scenario") == "impressions_clicks"
    page.open("Tune")
    before = page.value("Watermark / first")
    assert "a watermark delay of 10 s on impressions, a watermark delay of 33.099 s on clicks" in page.text("tuned")
    page.press("Apply")
    page.wait()
    assert page.value("Watermark / first") == before
    assert "as it is now, a watermark delay of 10 s on impressions" in page.text("tuned")


def test_what_keeps_most_within_a_limit_can_be_applied(page):
    page.open("Tune")
    page.set({"Keep at least, %": "100", "Rows in state, at most": "150"})
    words = page.text("tuned")
    assert "no setting keeps 100.00% with at most 150 rows in state; a watermark delay of " in words
    assert "keeps most" in words
    delays = page.value("Watermark / first"), page.value("Watermark / second")
    page.press("Apply")
    page.wait()
    assert (page.value("Watermark / first"), page.value("Watermark / second")) != delays
    assert page.text("tuned") == words
    assert page.figures["peak state"] <= 150
