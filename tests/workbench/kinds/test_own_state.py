"""A kind of join from elsewhere with state, reasons and a panel of its own: it is registered, and nothing else is touched."""

from __future__ import annotations

import pandas as pd
import pytest
from first_partner import FirstPartner, FirstPartnerJoin
from helpers import stream
from page import Page, wait_for

import workbench as wb
from workbench.app import close_all
from workbench.kinds import register, unregister

START = 1_767_225_600  # seconds: 2026-01-01
ORDERS = [("a", 0, 0), ("b", 5, 0), ("a", 9, 1), ("b", 3, 2), ("c", 12, 2), (None, 13, 2)]
PAYMENTS = [("a", 7, 0), ("a", 2, 0), ("b", 4, 1), ("b", 1, 2), ("d", 9, 2)]
MET = [(0, 1), (2, 1), (3, 2)]
"""By loops: order 1 comes before the first payment of b, which is payment 2."""


@pytest.fixture
def first_partner():
    register(FirstPartner())
    yield
    unregister("first_partner")


def panel_of(page):
    """What the kind's panel says on the page."""
    return [each.value for each in page.widgets() if "The first partner of each key" in str(getattr(each, "value", ""))]


def sides():
    named = (("orders", ORDERS), ("payments", PAYMENTS))
    return [stream([(key, START + at, batch) for key, at, batch in rows], name, "1 s") for name, rows in named]


def numbers(output):
    return sorted(zip(output["left_n"].tolist(), output["right_n"].tolist(), strict=True))


def test_it_runs_on_spark_as_its_model_says(spark, first_partner):
    run = wb.run(FirstPartnerJoin(), *sides())
    assert numbers(run.output) == MET
    assert run.mismatch == ""
    held = run.state(2)
    assert sorted(held["n"]) == [1, 2, 4]  # read back from the state store
    assert held["leaves_at"].isna().all()
    rows = run.rows.set_index(["side", "n"])
    assert rows.loc[("left", 2), "fate"] == "matched"
    assert rows.loc[("right", 4), "fate"] == "pending"


def test_it_gives_its_own_reasons(first_partner):
    preview = wb.preview(FirstPartnerJoin(), *sides())
    assert numbers(preview.output) == MET
    rows = preview.rows.set_index(["side", "n"])
    assert rows.loc[("right", 0), "reason"] == "another row of its key came first"
    assert rows.loc[("left", 1), "reason"] == "no row of its key had come by then"
    assert "may still meet it" in rows.loc[("right", 4), "reason"]
    assert pd.isna(rows.loc[("left", 1), "fix_setting"])


def test_a_time_to_live_is_refused_in_a_line(first_partner):
    with pytest.raises(wb.ArgumentError, match="whose first partners stay forever"):
        wb.preview(FirstPartnerJoin(), *sides()).time_to_live("1 hour")


def test_its_panel_is_on_the_page_while_a_query_of_it_runs(spark, first_partner):
    page = Page()
    try:
        page.set({"Events": 30, "Kind": "First-partner join"})
        assert not panel_of(page)
        page.press("Go live")
        page.look_at("Throughput")
        wait_for(lambda: panel_of(page))
        page.press("Stop")
        wait_for(lambda: not panel_of(page))
    finally:
        close_all()
