"""The main view: what its tracks show is what the run's tables say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import generators
import workbench as wb
from workbench.charts.renderer import png

JOIN = wb.IntervalJoin("0 seconds", "15 seconds")
TRIGGER = {"trigger": "2 seconds", "late": 0.1}


def preview(join=JOIN, events=200, **settings):
    return wb.preview(join, *generators.generate("orders_payments", events=events, **(TRIGGER | settings)))


def places(run, axis):
    """Per side the place of each row, as the chart has it."""
    return {
        side: {
            "event time": stream.event_times / 1000,
            "arrival time": stream.arrivals.at / 1000,
            "micro-batch": stream.arrival,
        }[axis]
        for side, stream in (("left", run.left), ("right", run.right))
    }


@pytest.mark.parametrize("axis", ["event time", "arrival time", "micro-batch"])
@pytest.mark.parametrize(
    "join", [JOIN, wb.WindowJoin(wb.Tumbling("10 seconds")), wb.CoGroup(wb.Session("3 seconds"))], ids=repr
)
def test_rows_lie_where_they_are_on_each_axis(join, axis):
    run = preview(join)
    drawing = run.charts.drawing("tracks", axis=axis)
    rows = drawing.tables["rows"]
    assert len(rows) == len(run.rows)
    for side, expected in places(run, axis).items():
        shown = rows.loc[rows["side"] == side, "x"].to_numpy()
        np.testing.assert_allclose(np.floor(shown) if axis == "micro-batch" else shown, expected, rtol=0, atol=0.01)
        assert (shown >= drawing.params["low"]).all()
        assert (shown <= drawing.params["high"]).all()
    assert png(drawing.chart().to_dict())


def test_the_watermark_lag_is_that_behind_the_newest_row():
    run = preview()
    lag = run.charts.drawing("tracks").tables["lag"]
    batches = run.batches.set_index("batch")
    newest = {}
    for batch in range(run.micro_batches):
        moments = [each.event_times[each.arrival <= batch] for each in (run.left, run.right)]
        newest[batch] = max(each.max() for each in moments if len(each))
    query = lag[lag["stream"] == "the query"]
    assert len(query) > 3
    for each in query.itertuples():
        stood = batches["watermark"][each.batch].value // 1000
        assert each.behind == pytest.approx((newest[each.batch] - stood) / 1e6)
    assert (lag["watermark"] > pd.Timestamp("2000-01-01")).all()  # none before it has begun


def test_state_and_late_rows_are_those_of_the_run():
    run = preview()
    tables = run.charts.drawing("tracks").tables
    held = tables["held"].groupby("batch")["rows"].sum()
    assert held.to_dict() == run.batches.set_index("batch")["state_rows"].loc[held.index].to_dict()
    late = run.late
    assert sorted(tables["late"]["behind"]) == pytest.approx(sorted(late["behind"].dt.total_seconds()))
    assert sum(tables["strip"]["rows"]) == len(run.rows)


@pytest.mark.parametrize(
    ("axis", "between"),
    [
        ("event time", ("2026-01-01 09:00:05", "2026-01-01 09:00:09")),
        ("micro-batch", (2.3, 4.6)),
    ],
)
def test_a_stretch_is_shown_as_it_was_chosen(axis, between):
    run = preview()
    drawing = run.charts.drawing("tracks", axis=axis, between=between)
    rows = drawing.tables["rows"]
    if axis == "micro-batch":  # whole micro-batches
        assert (drawing.params["low"], drawing.params["high"]) == (2, 5)
        assert set(rows["batch"]) == {2, 3, 4}
        return
    low, high = (pd.Timestamp(each) for each in between)
    assert (drawing.params["low"], drawing.params["high"]) == (low.value / 1e6, high.value / 1e6)
    assert len(rows) == run.rows["ordered_at"].fillna(run.rows["paid_at"]).between(low, high).sum() > 0
    assert drawing.params["first"] < drawing.params["low"] < drawing.params["high"] < drawing.params["last"]


def test_of_many_rows_counts_are_shown_on_each_axis():
    run = preview(events=20_000, rate=100, trigger="10 seconds")
    for axis in run.charts.axes:
        drawing = run.charts.drawing("tracks", axis=axis)
        assert drawing.aggregated
        assert drawing.tables["counts"]["rows"].sum() == len(run.rows)
        assert len(drawing.tables["late"]) < 1_000
        assert png(drawing.chart().to_dict())


def test_an_axis_that_there_is_not_is_refused():
    run = wb.preview(JOIN, *generators.generate("orders_payments", events=20))
    assert run.charts.axes == ("event time", "micro-batch")
    with pytest.raises(wb.ArgumentError, match="axis: got 'arrival time'; these streams have no times of arrival"):
        run.charts.tracks(axis="arrival time")
    with pytest.raises(wb.ArgumentError, match="axis: got 'speed'; use one of 'event time'"):
        run.charts.tracks(axis="speed")
    with pytest.raises(wb.ArgumentError, match="axis: got 'micro-batch'; late is shown on"):
        run.charts.drawing("late", axis="micro-batch")
    with pytest.raises(wb.ArgumentError, match="between: got 'soon'; give two numbers of micro-batches"):
        run.charts.tracks(axis="micro-batch", between="soon")


def test_streams_without_rows_are_drawn():
    left, right = generators.generate("orders_payments", events=20)
    empty = [wb.Stream.from_pandas(each.to_pandas().iloc[:0], each.name, each.key, each.time) for each in (left, right)]
    for sides in (empty, [left, empty[1]]):
        run = wb.preview(JOIN, *sides)
        for axis in run.charts.axes:
            assert png(run.charts.tracks(axis=axis).to_dict())


def keys_of(stream):
    return stream.to_pandas()[next(iter(stream.key))]


def test_rows_whose_key_is_on_one_stream_only_are_hollow():
    orders, payments = generators.generate("orders_payments", events=60, seed=2)
    payments = wb.Stream.from_pandas(payments.to_pandas()[::2], "payments", payments.key, payments.time)
    orders = wb.Stream.from_pandas(orders.to_pandas()[10:], "orders", orders.key, orders.time)
    run = wb.preview(wb.IntervalJoin("0 seconds", "3 seconds", how="full"), orders, payments)
    drawn = run.charts.drawing("lanes").tables["rows"].set_index("row_id")["alone"]
    keys = {side: set(keys_of(run.side(side))) for side in ("left", "right")}
    for side, other in (("left", "right"), ("right", "left")):
        stream = run.side(side)
        expected = ~keys_of(stream).isin(keys[other])
        assert 0 < expected.sum() < len(expected)
        assert drawn[[f"{side}-{row}" for row in range(len(stream))]].tolist() == expected.tolist()
