"""A join with more pairs than the model makes: the page gives the number, and Spark may run it."""

from __future__ import annotations

import pandas as pd
import pytest
from page import Page

import workbench as wb
from workbench import model
from workbench.kinds import kinds
from workbench.runs.result import Result


def hot(rows, name):
    at = pd.Timestamp("2026-01-01 10:00")
    return wb.Stream.from_pandas(pd.DataFrame({"k": ["hot"] * rows, "t": [at] * rows}), name, "k", "t")


def test_the_page_offers_to_run_it_on_spark(spark, monkeypatch):
    # ten million pairs are more than a test has time for
    monkeypatch.setitem(model.check_size.__globals__, "MOST", 10)
    page = Page(hot(4, "orders"), hot(5, "payments"))
    try:
        page.wait()
        assert "this join makes 20 pairs, 20 of them of key 'hot'" in page.trouble
        assert "or leave that key out; a run on Spark makes them all" in page.trouble
        assert not page.button("Run on Spark").disabled
        with pytest.warns(UserWarning, match="has no reasons: this join makes 20 pairs"):
            page.run()
        assert page.app.run is not None
        assert "run 1, on Spark in" in page.badge
        assert not page.stale
        assert "has no reasons: this join makes 20 pairs" in page.trouble
        assert len(page.app.run.output) == 20
        assert page.figures["rows out"] == 20
        page.open("Output")
        assert "20 rows" in page.note
        for tab in page.tabs:
            page.open(tab)
            assert page.badge.startswith("run 1, on Spark in")
        assert not page.button("Run on Spark").disabled
    finally:
        page.close()


def test_partial_matches_of_a_hot_key_that_pile_up_are_told(monkeypatch):
    """Two thousand sign-ins that wait meet each of ten thousand rows: minutes, in which the page would stand still."""
    monkeypatch.setitem(model.check_size.__globals__, "MOST", 1_000)
    page = Page(hot(60, "orders"), hot(60, "payments"))
    try:
        page.set({"Kind": kinds()["pattern"].label})
        page.set({"Steps": "wb.step('a', side='left'), wb.followed_by('b', side='right').times(99)"})
        assert page.trouble.startswith("partial matches of this pattern meet 1,0")
        assert "of key 'hot'; the model makes 1,000 at most: set a shorter within or a skip strategy" in page.trouble
        assert page.usable("Run on Spark")
    finally:
        page.close()


def test_nothing_is_said_to_be_of_settings_before_where_nothing_is_shown(monkeypatch):
    monkeypatch.setitem(model.check_size.__globals__, "MOST", 10)
    page = Page(hot(4, "orders"), hot(5, "payments"))
    try:
        page.wait()
        assert page.tabs == ()
        assert page.badge == "nothing to show yet"
        assert not page.stale
        assert not page.usable("Report")
    finally:
        page.close()


def test_what_is_too_large_leaves_what_was_shown_before(monkeypatch):
    monkeypatch.setitem(model.check_size.__globals__, "MOST", 10)
    few, many = hot(1, "orders"), hot(20, "payments")
    namespace = {"few": few, "more": hot(2, "more"), "many": many}
    page = Page("few", "more", namespace=namespace)
    try:
        page.wait()
        shown = page.figures
        page.set({"Right": "many"})
        assert "this join makes 20 pairs" in page.trouble
        assert page.badge == "shown for the previous settings"
        assert page.stale
        assert page.figures == shown
        assert "wb" in page.cell()
        assert "many" not in page.cell()
        page.open("Output")
        assert "2 rows" in page.note
    finally:
        page.close()


def test_what_cannot_be_drawn_is_not_said_to_be_below(monkeypatch):
    monkeypatch.setattr(Result, "charts", property(lambda _: 1 / 0))
    page = Page(hot(1, "orders"), hot(1, "payments"))
    try:
        page.wait()
        assert "ZeroDivisionError" in page.trouble
        assert page.badge == "nothing to show yet"
        assert not page.stale
    finally:
        page.close()
