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
