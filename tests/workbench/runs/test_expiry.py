"""A time to live in event time is a tolerance; in processing time it depends on when the job ran."""

from __future__ import annotations

import helpers
import numpy as np
import pandas as pd
import pytest
import strategies
from hypothesis import strategies as st

import workbench as wb
from workbench.engine import query
from workbench.errors import ArgumentError


def stream(rows, name):
    return helpers.stream([(key, 1_767_225_600 + t, batch) for key, t, batch in rows], name)


def names(table, preview):
    return (
        [preview.rows["n"][place] for place in table["partner"]] if "n" in preview.rows else table["partner"].tolist()
    )


def test_a_pause_loses_partners_in_processing_time_only():
    """The order's price is a minute older; the job stood still for an hour between the two."""
    orders, prices = [("a", 60, 360), ("a", 900, 361)], [("a", 0, 0), ("a", 890, 361)]
    preview = wb.preview(wb.AsOfJoin(how="left"), stream(orders, "orders"), stream(prices, "prices"))
    table = preview.time_to_live("10 minutes", trigger="10 seconds")
    assert table["apart"].tolist() == [pd.Timedelta("60 s"), pd.Timedelta("10 s")]
    assert table["in_state"].iloc[0] >= pd.Timedelta("1 h")
    assert table["by_event_time"].tolist() == ["the same", "the same"]
    assert table["by_processing_time"].tolist() == ["none", "the same"]
    expired = preview.expired("10 minutes", trigger="10 seconds")
    assert expired.index.tolist() == [2]  # the first price
    assert expired["by_event_time"].isna().tolist() == [True]  # the second one takes its place before
    assert expired["by_processing_time"].tolist() == [60]
    assert expired[["lost_by_event_time", "lost_by_processing_time"]].to_numpy().tolist() == [[0, 1]]


def test_an_older_version_that_came_later_takes_the_place():
    orders = [("a", 60, 100), ("a", 1000, 101)]
    prices = [("a", 50, 0), ("a", 40, 95), ("a", 999, 101)]
    sides = stream(orders, "orders"), stream(prices, "prices")
    preview = wb.preview(wb.AsOfJoin(), *(each.with_watermark("1 minute") for each in sides))
    table = preview.time_to_live("2 minutes", trigger="10 seconds")
    assert table["by_processing_time"].tolist() == ["another", "the same"]


def test_a_version_that_has_left_state_takes_no_place():
    """The older price went when the later one took its place, long before that one expired."""
    moving = [("z", 20 + each, each) for each in range(2, 10)] + [("z", 300, 10), ("z", 400, 11)]
    orders = [("a", 1, 0), *moving[:7], ("a", 100, 9), *moving[8:]]
    prices = [("a", 10, 0), ("a", 5, 1), *moving]
    sides = stream(orders, "orders"), stream(prices, "prices")
    preview = wb.preview(wb.AsOfJoin(how="left"), *(each.with_watermark("8 s") for each in sides))
    table = preview.time_to_live("10.5 s", trigger="1 s")
    assert table[table["key"] == "a"]["by_processing_time"].tolist() == ["none"]


@strategies.in_parts(
    2, 15, case=strategies.cases(of=strategies.as_of_joins), seconds=st.integers(1, 20), interval=st.integers(1, 10)
)
def test_in_event_time_it_is_a_tolerance(case, seconds, interval):
    from dataclasses import replace

    join = replace(case.join, tolerance=None)
    preview = wb.preview(join, *case.streams(), finish=True, policy=case.policy)
    table = preview.time_to_live(f"{seconds} seconds", trigger=f"{interval} seconds")
    bounded = wb.preview(
        replace(join, tolerance=f"{seconds} seconds"), *case.streams(), finish=True, policy=case.policy
    )
    expired = preview.expired(f"{seconds} seconds", trigger=f"{interval} seconds")
    for clock in ("by_event_time", "by_processing_time"):
        lost = table.loc[table[clock] != "the same", "partner"].value_counts()
        assert lost.to_dict() == expired.loc[expired[f"lost_{clock}"] > 0, f"lost_{clock}"].to_dict()
    kept = (table["by_event_time"] == "the same").sum()
    assert kept == bounded.outcome.outputs.table["matched"].sum()
    assert len(table) == preview.outcome.outputs.table["matched"].sum()
    for_ever = preview.time_to_live("100000 hours", trigger=f"{interval} seconds")
    assert (for_ever["by_processing_time"] == "the same").all()
    assert preview.expired("100000 hours", trigger=f"{interval} seconds")["by_processing_time"].isna().all()
    assert np.all(for_ever["in_state"] >= pd.Timedelta(0))


def test_times_of_arrival_are_taken_where_they_are_known():
    def side(name, moments, arrived):
        frame = pd.DataFrame({"k": "a", "t": pd.to_datetime(moments), "at": pd.to_datetime(arrived)})
        return wb.Stream.from_pandas(frame, name, key="k", time="t", arrival="at", trigger="1 minute")

    orders = side("orders", ["2026-01-01 10:05"], ["2026-01-01 12:00:30"])
    prices = side("prices", ["2026-01-01 10:00"], ["2026-01-01 10:00:10"])
    table = wb.preview(wb.AsOfJoin(), orders, prices).time_to_live("1 hour")
    assert table["in_state"].iloc[0] == pd.Timedelta("2 h 2 min")  # with the micro-batches that end the input
    assert table["by_processing_time"].tolist() == ["none"]


def test_wrong_arguments_are_named():
    sides = stream([("a", 0, 0)], "orders"), stream([("a", 0, 0)], "prices")
    with pytest.raises(
        ArgumentError, match=r"join: got IntervalJoin.* needs no time to live, because the watermark evicts"
    ):
        wb.preview(wb.IntervalJoin("0 s", "1 s"), *sides).time_to_live("1 hour")
    preview = wb.preview(wb.AsOfJoin(), *sides)
    with pytest.raises(ArgumentError, match="trigger: got None; when rows arrived is not known"):
        preview.time_to_live("1 hour")
    pattern = wb.Pattern(wb.step("a", side="left"), wb.followed_by("b", side="right"), within="1 minute")
    with pytest.raises(ArgumentError, match="whose partial matches last as long as its within says"):
        wb.preview(pattern, *sides).expired("1 hour", "1 s")
    with pytest.raises(ArgumentError, match="ttl: got '0 seconds'"):
        preview.time_to_live("0 seconds", "1 s")


def test_spark_has_no_time_to_live_beside_event_time_timers(spark, monkeypatch):
    """Which is why an as-of join on Spark has none as a setting."""
    render = query.plan_of

    def with_ttl(*arguments):
        text = render(*arguments)
        assert '("kept", kept_schema)' in text
        return text.replace('("kept", kept_schema)', '("kept", kept_schema, 1000)')

    monkeypatch.setattr(query, "plan_of", with_ttl)
    with pytest.raises(wb.QueryError, match="STATEFUL_PROCESSOR_INCORRECT_TIME_MODE_TO_ASSIGN_TTL"):
        wb.run(wb.AsOfJoin(), stream([("a", 1, 0)], "orders"), stream([("a", 0, 0)], "prices"))
