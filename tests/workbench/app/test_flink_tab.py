"""The tab Flink of the page: what fares differently there, both stories of a row, what comes nearest."""

from __future__ import annotations

import pandas as pd

import workbench as wb

TUMBLING = {"Scenario": "orders_payments", "Events": 300, "Late": 0.3, "Kind": "Tumbling window join"}
SHORT = {"Watermark / first": "1 second", "Watermark / second": "1 second"}
LIST = "Both stories of"


def compared(page, **rules):
    run = page.meant()
    return wb.flink.compare(run, wb.flink.preview(run.join, run.left, run.right, **rules))


def shown(page):
    return pd.DataFrame(page.drawn["tables"]["rows"])


def test_what_fares_differently_is_drawn_and_listed(page):
    page.set(TUMBLING | SHORT)
    page.open("Flink")
    expected = compared(page)
    assert page.drawn["title"] == f"{len(expected.rows):,} rows differ between Spark and Flink"
    assert len(shown(page)) == len(expected.rows) > 0
    assert len(page.field(LIST).options) == 1 + min(200, len(expected.rows))
    page.set(
        {"Allowed lateness": "1 minute", "Watermark moves": "after each row", "A side is idle": "after 1 micro-batch"}
    )
    other = compared(page, allowed_lateness="1 minute", watermarks="row", idleness=1)
    assert len(shown(page)) == len(other.rows) != len(expected.rows)
    assert shown(page)["difference"].value_counts().to_dict() == other.rows["difference"].value_counts().to_dict()


def test_both_stories_of_the_row_that_is_picked(page):
    page.set(TUMBLING | SHORT)
    page.open("Flink")
    expected = compared(page)
    assert "Pick a row" in page.text("stories")
    place = int(expected.rows.index[0])
    page.pick(row_id=shown(page)["row_id"][0])
    for engine, result in (("spark", expected.here), ("flink", expected.there)):
        verdict = dict(result.why(place).facts)["verdict"]
        assert verdict in page.text("stories"), engine
    chosen = page.field(LIST).value
    assert chosen == shown(page)["row_id"][0]
    last = page.field(LIST).options[-1][1]
    page.set({LIST: page.field(LIST).options[-1][0]})
    assert page.field(LIST).value == last
    assert page.chart.params["picked"] == [last]
    page.open("Timeline")
    assert page.chart.params["picked"] == [last]


def test_the_nearest_settings_are_set_by_a_click(page):
    page.set(TUMBLING | SHORT)
    page.open("Flink")
    page.set({"Allowed lateness": "1 minute"})
    before = compared(page, allowed_lateness="1 minute")
    nearest = before.nearest()
    assert "On Spark, nearest is" in page.text("tuned")
    page.click("Set these on Spark")
    assert page.value("Watermark / first") == nearest.settings["left.watermark"]
    assert page.value("Watermark / second") == nearest.settings["right.watermark"]
    after = compared(page, allowed_lateness="1 minute")
    assert len(after.here.against(after.there)) == nearest.table["other_fate"].iloc[0] < nearest.now
    page.click("Undo the last change of a setting")
    assert page.value("Watermark / first") == "1 second"


def test_where_there_is_nothing_to_compare_it_says_so(page):
    page.set({"Scenario": "orders_prices"})
    page.open("Flink")
    assert "Flink's DataStream API has no as-of join" in page.text("tuned")
    assert "got" not in page.text("tuned")
    assert not page.usable(LIST)
    assert "Watermark moves" not in page.fields()
    page.set({"Scenario": "orders_payments"})
    assert "Allowed lateness" not in page.fields()
    page.set({"Kind": "Tumbling window join", "Allowed lateness": "soon"})
    assert "use a number with a unit" in page.text("tuned")
    page.set({"Allowed lateness": "2 seconds"})
    assert page.usable(LIST)


def test_the_stretch_that_is_shown_is_that_of_the_other_tabs(page):
    page.set(TUMBLING | SHORT)
    page.open("Flink")
    every = shown(page)
    low, high = sorted(every["time"].tolist())[:2]
    page.brush(low - 1, high + 1)
    assert len(shown(page)) < len(every)
    assert shown(page)["time"].between(low - 1, high + 1).all()
    page.open("Timeline")
    assert page.drawn["params"]["high"] < every["time"].max()
    page.open("Flink")
    page.click("Show all")
    assert len(shown(page)) == len(every)
