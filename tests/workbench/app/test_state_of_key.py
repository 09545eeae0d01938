"""The page steps through the state of one key."""

from __future__ import annotations

import re

import pytest
from page import Page


@pytest.fixture
def page():
    opened = Page()
    opened.wait()
    opened.set({"Scenario": "orders_payments", "Events": 120, "Keys": "5", "Upper bound": "5 seconds"})
    opened.open("Keys")
    yield opened
    opened.close()


def told(page):
    return page.text("steps")


def step(page, number):
    slider = next(each for each in page.widgets() if str(getattr(each, "tooltip", "")).startswith("The changes of"))
    slider.value = number
    page.wait()
    return slider


def test_each_step_says_what_happens_and_what_is_held(page):
    run, key = page.meant(), page.field("Key").value
    changes = run.state_changes(key)
    assert key == run.charts.drawing("keys").tables["held"]["of_key"].iloc[0]
    for number in (1, 2, len(changes) // 2, len(changes)):
        slider = step(page, number)
        text, change = told(page), changes.iloc[number - 1]
        assert f"Step {number} of {len(changes)} · micro-batch {change['batch']} ·" in text
        held = int(change["left"] + change["right"])
        assert ("until" in text) == bool(held)
        assert ("Nothing of the key is in state" in text) == (held == 0)
        if held:
            assert f"In state: {change['left']} of orders and {change['right']} of payments" in text
    assert slider.max == len(changes)


def test_a_click_on_a_key_goes_to_it_and_a_step_picks_its_row(page):
    run = page.meant()
    other = run.charts.drawing("keys").tables["held"]["of_key"].unique()[1]
    page.click_mark(of_key=other)
    assert page.field("Key").value == other
    changes = run.state_changes(other)
    assert f"Step 1 of {len(changes)}" in told(page)
    step(page, 2)
    row = changes.iloc[1]["order_id" if changes.iloc[1]["side"] == "left" else "payment_id"]
    assert str(row) in page.html("story")


def test_a_key_that_is_not_there_is_said(page):
    page.set({"Key": "nobody <b>"})
    assert told(page).strip() == "No row has the key 'nobody <b>'."
    assert re.search("nobody &lt;b&gt;", page.html("steps"))


@pytest.mark.parametrize(
    ("settings", "later"),
    [
        ({"Kind": "Interval join"}, False),
        ({"Kind": "Session window join"}, True),
        ({"Kind": "As-of join, however far"}, True),
        ({"Kind": "As-of join, within a tolerance"}, False),
    ],
)
def test_where_later_rows_decide_until_when_a_row_is_held_it_says_so(page, settings, later):
    page.set(settings)
    page.wait()
    assert "until" in told(page)
    assert ("until (later rows decide)" in told(page)) == later


def test_where_nothing_is_in_state_the_table_says_where_something_was(page):
    page.open("State")
    assert page.note.endswith("0 rows; no row is in state then: step to another micro-batch")


def lifetimes(page):
    return page.text("lifetimes")


def test_a_time_to_live_says_what_it_costs_on_either_clock(page):
    page.set({"Kind": "As-of join, however far"})
    assert lifetimes(page) == (
        "What holds rows of payments in state is the key: its latest row stays until another takes its place."
    )
    page.set({"Direction": "forward"})
    assert lifetimes(page) == "What holds rows of payments in state is the watermark."
    page.set({"Direction": "backward"})
    page.set({"Time to live": "2 seconds", "Micro-batch every": "1 s"})
    run = page.meant()
    partners, expired = run.time_to_live("2 seconds", "1 s"), run.expired("2 seconds", "1 s")
    for clock, name in (("by_event_time", "Event time"), ("by_processing_time", "Processing time")):
        counts = [(partners[clock] == fate).sum() for fate in ("the same", "another", "none")]
        assert f"{name}{''.join(map(str, counts))}{expired[clock].notna().sum()}" in lifetimes(page)
    changed = partners[partners[["by_event_time", "by_processing_time"]].ne("the same").any(axis=1)]
    assert run.rows["payment_id"][changed["partner"].iloc[0]] in lifetimes(page)
    assert f"and {len(changed) - 8} rows more" in lifetimes(page)
    page.set({"Time to live": "soon <b>"})
    assert "ttl: got 'soon <b>'" in lifetimes(page)
    page.set({"Kind": "Interval join"})
    with pytest.raises(AssertionError, match="no field 'Time to live'"):
        page.field("Time to live")
