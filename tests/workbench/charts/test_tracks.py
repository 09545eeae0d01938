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


def some_unmatched(events=60):
    """A preview of an interval join with unmatched rows of several causes, and what kept each, by plain loops."""
    orders, payments = generators.generate("orders_payments", events=events, seed=2)
    payments = wb.Stream.from_pandas(payments.to_pandas()[::2], "payments", payments.key, payments.time)
    orders = wb.Stream.from_pandas(orders.to_pandas()[10:], "orders", orders.key, orders.time)
    run = wb.preview(wb.IntervalJoin("0 seconds", "3 seconds", how="full"), orders, payments)
    expected = {}
    for side, other in (("left", "right"), ("right", "left")):
        stream, across = run.side(side), run.side(other)
        theirs = list(zip(keys_of(across), across.event_times, strict=True))
        for row, (key, at) in enumerate(zip(keys_of(stream), stream.event_times, strict=True)):
            apart = [then - at for their, then in theirs if their == key]
            nearest = min(apart, key=abs) if apart else None
            words = "key" if nearest is None else "earlier" if nearest < 0 else "later"
            unmatched = run.rows["fate"][row + (side == "right") * len(run.left)] == "unmatched"
            expected[f"{side}-{row}"] = words if unmatched else ""
    return run, expected


def test_unmatched_rows_are_told_apart_by_what_kept_them_from_a_partner():
    run, expected = some_unmatched()
    assert {"key", "earlier", "later", ""} == {*expected.values()}
    drawing = run.charts.drawing("lanes")
    assert drawing.tables["rows"].set_index("row_id")["obstacle"].to_dict() == expected
    assert drawing.params["obstacles"] == ["key", "earlier", "later"]


@pytest.mark.parametrize("view", ["lanes", "tracks", "timeline", "arrival"])
def test_views_agree_on_what_kept_rows_from_a_partner(view):
    run, expected = some_unmatched()
    drawing = run.charts.drawing(view, reasons=False)
    assert drawing.tables["rows"].set_index("row_id")["obstacle"].to_dict() == expected
    assert png(drawing.chart().to_dict())


def test_of_many_rows_the_causes_are_counted():
    run = preview(events=20_000, rate=100, trigger="10 seconds")
    counted = run.charts.drawing("lanes").tables["counts"]
    unmatched = counted[counted["fate"] == "unmatched"]
    causes = run.causes[run.rows["fate"] == "unmatched"].value_counts()
    assert unmatched["rows"].sum() == causes.sum()
    assert unmatched.groupby("obstacle")["rows"].sum()["key"] == causes["its key never arrived on payments"]
    assert set(counted.loc[counted["fate"] != "unmatched", "obstacle"]) == {""}


def test_a_late_partner_and_a_condition_have_marks_of_their_own():
    run = wb.preview(
        wb.IntervalJoin("0 seconds", "5 seconds", how="left", where=wb.col("right_method") != "card"),
        *generators.generate("orders_payments", events=200, seed=7, late=0.1),
    )
    rows = run.charts.drawing("lanes").tables["rows"]
    told = rows.set_index("row_id")["obstacle"]
    causes = run.causes.set_axis(told.index)
    assert causes[told == "condition"].str.contains("satisfies").all()
    assert (causes.str.contains("satisfies") == (told == "condition")).all()
    assert set(causes[told == "late"]) == {"the watermark had passed it or its partner"}
