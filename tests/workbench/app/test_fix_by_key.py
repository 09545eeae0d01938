"""The page's own keys: what they do is said before a row is picked, and each says why it does nothing."""

from __future__ import annotations

import itertools

import pandas as pd
import pytest
from page import Page

import workbench as wb
from workbench.literals import RowId

_COUNT = itertools.count(1)


def press(page, key):
    browser = next(each for each in page.widgets(hidden=True) if each.has_trait("pressed"))
    browser.pressed = {"key": key, "count": next(_COUNT)}
    page.wait()


def pick(page, side, row):
    page.pick(row_id=str(RowId(side, row)))


def stream(name, rows):
    frame = pd.DataFrame(rows, columns=["key", "at"])
    frame["at"] = pd.to_datetime("2026-01-01 " + frame["at"], utc=True)
    return wb.Stream.from_pandas(frame, name=name, key="key", time="at", watermark="10 seconds")


@pytest.fixture
def page():
    """Of the left rows the first is matched, the second misses the bound, and the third has a key of its own."""
    opened = Page(
        stream("orders", [("a", "09:00:00"), ("b", "09:00:00"), ("c", "09:00:00")]),
        stream("payments", [("a", "09:00:05"), ("b", "09:00:55")]),
    )
    opened.wait()
    opened.set({"Upper bound": "30 seconds"})
    return opened


def test_the_keys_are_said_before_a_row_is_picked(page):
    assert page.note.endswith("pick one to see it in all views, or press n for the next that was not matched")
    press(page, "n")
    assert "next row that was not matched" in page.text("keys")
    met = Page(stream("orders", [("a", "09:00:00")]), stream("payments", [("a", "09:00:05")]))
    met.wait()
    assert met.note.endswith("pick one to see it in all views")


def test_only_a_row_with_a_fix_is_said_to_have_one(page):
    pick(page, "left", 1)
    assert "apply the fix" in page.text("keys")
    for row in (0, 2):
        pick(page, "left", row)
        assert "next row that was not matched" in page.text("keys")
        assert "fix" not in page.text("keys")


def test_where_there_is_no_fix_its_key_says_why(page):
    for row, words in (
        (0, "this row is matched: there is nothing to fix"),
        (2, "no change of one setting would have matched this row"),
    ):
        pick(page, "left", row)
        assert page.text("effect") == ""
        press(page, "f")
        assert page.text("effect") == words
    pick(page, "left", 1)
    press(page, "f")
    assert page.figures["matched"] == 4


def test_the_key_of_a_fix_asks_for_a_row(page):
    press(page, "f")
    assert page.text("effect") == "a fix is of one row: pick one"
