"""Edges that users and engines get wrong, one by one."""

from __future__ import annotations

import pandas as pd
import pytest
from helpers import actual, expected, stream

import workbench as wb

T = 1_767_225_600  # seconds: 2026-01-01


def pairs(run):
    out = run.output
    return sorted(zip(out["left_n"], out["right_n"], strict=True))


def test_an_event_on_a_windows_edge_is_in_the_later_window(spark):
    run = wb.run(
        wb.WindowJoin(wb.Tumbling("10 s")), stream([("a", T + 10)]), stream([("a", T + 9.999999), ("a", T + 10)])
    )
    assert pairs(run) == [(0, 1)]
    assert run.output["window_start"][0] == pd.Timestamp(T + 10, unit="s")


@pytest.mark.parametrize(("distance", "together"), [(5, True), (5.000001, False)])
def test_two_events_one_gap_apart_are_one_session(spark, distance, together):
    run = wb.run(wb.WindowJoin(wb.Session("5 s")), stream([("a", T)]), stream([("a", T + distance)]))
    assert len(run.output) == together


def test_sides_merge_each_others_sessions(spark):
    # each left row alone would be a session of its own; the right row bridges them
    left, right = stream([("a", T), ("a", T + 8)]), stream([("a", T + 4)])
    run = wb.run(wb.WindowJoin(wb.Session("5 s")), left, right)
    assert pairs(run) == [(0, 0), (1, 0)]
    assert run.output["window_end"].nunique() == 1


def test_several_key_columns_of_different_names(spark):
    times = pd.to_datetime([T, T, T], unit="s")
    left = pd.DataFrame({"a": ["x", "x", None], "b": [1, 2, 1], "t": times})
    right = pd.DataFrame({"u": times, "one": ["x", "x", None], "two": [1, 3, 1]})
    sides = (
        wb.Stream.from_pandas(left, "left", key=["a", "b"], time="t"),
        wb.Stream.from_pandas(right, "right", key=["one", "two"], time="u"),
    )
    for join in (wb.IntervalJoin("0 s", "0 s"), wb.WindowJoin(wb.Session("1 s"))):
        out = wb.run(join, *sides).output
        assert out[["left_a", "left_b", "right_one", "right_two"]].to_numpy().tolist() == [["x", 1, "x", 1]]
    groups = wb.run(wb.CoGroup(wb.Tumbling("1 s")), *sides).output
    assert sorted(zip(groups["a"], groups["b"], strict=True)) == [("x", 1), ("x", 2), ("x", 3)]


@pytest.mark.parametrize(
    "join",
    [
        wb.IntervalJoin("-1 s", "1 s", how="full"),
        wb.WindowJoin(wb.Tumbling("10 s"), how="full"),
        wb.WindowJoin(wb.Session("2 s"), how="full"),
        wb.CoGroup(wb.Sliding("10 s", "5 s")),
    ],
    ids=repr,
)
@pytest.mark.parametrize("empty", ["left", "right", "both"])
def test_an_empty_side(spark, join, empty):
    rows = [("a", T, 0), ("b", T + 3, 2), (None, T, 2)]
    sides = [stream([] if empty in (side, "both") else rows, side) for side in ("left", "right")]
    run = wb.run(join, *sides)
    assert actual(run) == expected(join, *sides)
    assert len(run.rows) == sum(map(len, sides))
    assert len(run.late) == 0


def test_empty_micro_batches_change_nothing(spark):
    join = wb.WindowJoin(wb.Tumbling("10 s"), how="left")
    left = stream([("a", T, 0), ("b", T + 4, 4), ("a", T + 20, 5)])
    right = stream([("a", T + 1, 1), ("b", T + 5, 5)])
    run = wb.run(join, left, right)
    assert actual(run) == expected(join, left, right)
    assert run.batches["left_rows"].tolist()[:6] == [1, 0, 0, 0, 1, 1]


def test_rows_at_or_before_1970_are_said_to_be_late(spark):
    left = stream([("a", -5), ("a", 0), ("a", 0.000001)])
    right = stream([("a", 0.000001)])
    run = wb.run(wb.IntervalJoin("-10 s", "10 s"), left, right)
    assert pairs(run) == [(2, 0)]
    assert run.rows["fate"].tolist() == ["late", "late", "matched", "matched"]
    assert run.late["n"].tolist() == [0, 1]
    assert run.rows["reason"][:2].str.contains("1970-01-01").all()


def test_times_before_1970_fall_into_floored_windows(spark):
    # seen in the definition only: Spark drops them as late, each for its own window
    run = wb.run(wb.WindowJoin(wb.Tumbling("10 s")), stream([("a", -3)]), stream([("a", 5)]))
    assert run.late[["window_start", "window_end"]].iloc[0].tolist() == [
        pd.Timestamp("1969-12-31 23:59:50"),
        pd.Timestamp("1970-01-01"),
    ]


def test_late_rows_are_dropped_as_spark_counts_them(spark):
    # the watermark of micro-batch 2 was 100 s - 0: the row at 95 s comes behind it
    left = stream([("a", T + 100, 0), ("a", T + 101, 1), ("a", T + 95, 2), ("a", T + 102, 3)])
    right = stream([("a", T + 100, 0), ("a", T + 101, 1), ("a", T + 102, 3)])
    run = wb.run(wb.IntervalJoin("-10 s", "10 s"), left, right)
    assert run.late[["side", "batch", "n"]].to_numpy().tolist() == [["left", 2, 2]]
    assert run.late["watermark"][0] == pd.Timestamp(T + 100, unit="s")
    assert run.late["behind"][0] == pd.Timedelta("5 s")
    assert run.batches["late_rows"].sum() == run.batches["dropped"].sum() == 1
    assert run.rows["fate"].tolist() == ["matched", "matched", "late", "matched", "matched", "matched", "matched"]


def test_a_row_late_for_one_window_is_on_time_for_another(spark):
    join = wb.WindowJoin(wb.Sliding("10 s", "5 s"))
    left = stream([("a", T + 20, 0), ("a", T + 21, 1), ("a", T + 16, 2)])
    right = stream([("a", T + 20, 0), ("a", T + 21, 1), ("a", T + 16, 1)])
    run = wb.run(join, left, right)
    assert run.late["window_start"].tolist() == [pd.Timestamp(T + 10, unit="s")]
    assert run.rows["fate"].tolist()[2] == "matched"


def test_unfinished_runs_leave_rows_in_state(spark):
    join = wb.IntervalJoin("0 s", "10 s", how="left")
    left = stream([("a", T, 0), ("b", T + 50, 1)])
    right = stream([("a", T + 1, 0), ("c", T + 50, 1)])
    run = wb.run(join, left, right, finish=False)
    assert run.rows["fate"].tolist() == ["matched", "pending", "matched", "pending"]
    last = int(run.batches["batch"].iloc[-1])
    assert run.state(last)[["side", "key"]].to_numpy().tolist() == [["left", "b"], ["right", "c"]]
    assert run.state(0)["key"].tolist() == ["a", "a"]
    assert wb.run(join, left, right).rows["fate"].tolist() == ["matched", "unmatched", "matched", "unmatched"]


@pytest.mark.parametrize(
    "join",
    [
        wb.WindowJoin(wb.Tumbling("10 s"), how="semi"),
        wb.WindowJoin(wb.Sliding("10 s", "5 s"), how="full"),
        wb.WindowJoin(wb.Session("10 s"), how="left"),
        wb.IntervalJoin("0 s", "5 s", how="anti"),
    ],
    ids=repr,
)
def test_state_holds_rows_until_the_watermark_passes(spark, join):
    left = stream([("a", T + 1, 0), ("b", T + 2, 0), ("a", T + 60, 1), ("a", T + 61, 2)])
    right = stream([("a", T + 1, 0), ("a", T + 60, 1), ("a", T + 62, 2)])
    run = wb.run(join, left, right)
    first = run.state(0)
    held = set(first.loc[first["side"] == "left", "n"])
    assert held == ({1} if join.how == "semi" else {0, 1})  # a semi join is done with a row once it has matched
    later = run.state(2)
    assert not held & set(later.loc[later["side"] == "left", "n"])
    with pytest.raises(wb.ArgumentError, match="batch: got 99"):
        run.state(99)
