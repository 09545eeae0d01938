"""The model verified against Spark: by hand-picked traps, and by recordings that Hypothesis makes."""

from __future__ import annotations

import pytest
import strategies
from helpers import expected, met, same_output, stream

import generators
import workbench as wb
from workbench import model

T = 1_767_225_600  # seconds: 2026-01-01
JOINS = [
    wb.IntervalJoin("0 seconds", "15 seconds", how="left"),
    wb.WindowJoin(wb.Tumbling("10 seconds"), how="full"),
    wb.WindowJoin(wb.Sliding("10 seconds", "5 seconds")),
    wb.WindowJoin(wb.Session("5 seconds"), how="left"),
    wb.CoGroup(wb.Tumbling("10 seconds")),
    wb.CoGroup(wb.Session("5 seconds")),
]


def verified(run):
    comparison = run.compare()
    assert not comparison["differences"].any(), comparison[comparison["differences"] > 0].to_string()
    return run


@strategies.in_parts(20, 3, case=strategies.cases())
@pytest.mark.usefixtures("spark")
def test_model_and_spark_agree(case):
    run = verified(case.run())
    same_output(wb.preview(case.join, *case.streams(), finish=case.finish, policy=case.policy), run)


@pytest.mark.parametrize("join", JOINS, ids=repr)
@pytest.mark.parametrize("policy", ["min", "max"])
def test_generated_streams_agree(spark, join, policy):
    left, right = generators.generate(
        "orders_payments", events=150, rate=4, late=0.1, duplicates=0.1, idle=("right", 0.4, 0.7), seed=11
    )
    run = verified(wb.run(join, left, right, policy=policy))
    assert len(run.late) > 0


def case(join, left, right, delays=("0 s", "0 s"), **more):
    return verified(wb.run(join, stream(left, "l", delays[0]), stream(right, "r", delays[1]), **more))


def test_late_is_judged_by_the_watermark_of_the_batch_before(spark):
    # W(2) = 23 s but W(1) = 5 s: an event at 3 s in window [0 s, 10 s) arriving in batch 2 is still joined
    left = [("a", T + 5, 0), ("a", T + 23, 1), ("a", T + 3, 2)]
    right = [("a", T + 5, 0), ("a", T + 23, 1), ("a", T + 4, 2)]
    run = case(wb.WindowJoin(wb.Tumbling("10 s")), left, right)
    assert len(run.late) == 0
    assert set(run.rows["fate"]) == {"matched"}


def test_a_row_exactly_at_the_watermark_is_late(spark):
    left = [("a", T + 10, 0), ("a", T + 11, 1), ("a", T + 10, 2), ("a", T + 10.000001, 2)]
    run = case(wb.IntervalJoin("0 s", "1 s"), left, [("a", T + 10, 0), ("a", T + 11, 1)])
    assert run.late["n"].tolist() == [2]
    assert run.late["behind"].dt.total_seconds().tolist() == [0]
    assert "exactly at the watermark" in run.rows["reason"][2]


def test_a_semi_join_misses_a_partner_in_the_batch_that_closes_the_window(spark):
    left, right = [("a", T + 20, 0), ("b", T + 1, 1)], [("a", T + 20, 0), ("b", T + 1, 1)]
    delays = ("1 s", "1 s")
    for how, fate in (("inner", "matched"), ("semi", "unmatched")):
        run = case(wb.WindowJoin(wb.Tumbling("2 s"), how=how), left, right, delays)
        assert run.rows["fate"].tolist()[1] == fate
    assert "Spark's left semi join loses such a row" in run.rows["reason"][1]


@pytest.mark.parametrize(
    ("lower", "upper", "found"),
    [("-100 s", "10 s", True), ("-10 s", "100 s", False), ("-10 s", "10 s", False), ("-100 s", "100 s", True)],
)
def test_a_semi_join_misses_a_partner_that_expires_in_its_micro_batch(spark, lower, upper, found):
    """It is the right row's expiry that decides: Spark stores all left rows."""
    rows = [("a", T + 100, 0), ("x", T + 50, 1)]
    run = case(wb.IntervalJoin(lower, upper, how="semi"), rows, rows)
    assert run.mismatches.empty
    assert run.rows["fate"].tolist()[:2] == ["matched", "matched" if found else "unmatched"]


@pytest.mark.parametrize("version", ["4.0", "4.1", "4.2", "4.3"])
def test_the_semi_join_of_each_version(version):
    rows = [("a", T + 100, 0), ("x", T + 50, 1)]
    streams = [stream(rows, name) for name in ("left", "right")]
    seen = wb.preview(wb.IntervalJoin("-10 s", "10 s", how="semi"), *streams, spark_version=version)
    assert len(seen.output) == (2 if version < "4.2" else 1)
    held = seen.batches["state_rows"].iloc[0]
    assert held == (2 if version < "4.2" else 1)


def test_rows_with_a_null_key_share_a_session_of_one_side_and_time_only(spark):
    rows = [("a", T, 0), (None, T + 10, 0), (None, T + 10, 0), (None, T + 11, 0)]
    for how in ("left", "full", "anti"):
        run = case(wb.WindowJoin(wb.Session("5 s"), how=how), rows, rows[:3])
        assert run.rows["fate"].tolist().count("null_key") == 5


def test_a_late_event_that_touches_a_live_session_is_dropped(spark):
    left = [("a", T + 10, 0), ("a", T + 14, 0), ("z", T + 17, 1), ("z", T + 18, 2), ("a", T + 11, 3)]
    right = [("a", T + 12, 0), ("z", T + 17, 1), ("z", T + 18, 2)]
    run = case(wb.WindowJoin(wb.Session("5 s")), left, right)
    assert run.late["n"].tolist() == [4]


def test_a_session_that_has_closed_takes_no_more_rows(spark):
    # one gap apart, but the first has closed: the second opens its own session
    left = [("a", T, 0), ("z", T + 6, 1), ("z", T + 7, 2), ("a", T + 5, 3)]
    right = [("a", T + 1, 0), ("z", T + 6, 1), ("z", T + 7, 2)]
    delays = ("0 s", "0 s")
    run = case(wb.WindowJoin(wb.Session("5 s"), how="left"), left, right, delays)
    assert run.rows["fate"].tolist()[3] == "unmatched"


def test_an_idle_side_holds_the_watermark_back(spark):
    left = [("a", T + 10 * n, n) for n in range(6)]
    run = case(wb.WindowJoin(wb.Tumbling("10 s"), how="left"), left, [("b", T, 0)], finish=False)
    assert set(run.rows["fate"]) == {"pending"}
    assert "; r, idle since micro-batch 1, holds it back" in run.rows["reason"][1]


@strategies.in_parts(4, 50, case=strategies.cases())
def test_nothing_late_is_the_definition_whatever_the_order_of_arrival(case):
    case = type(case)(case.join, case.left, case.right, (10**8, 10**8), case.batches, True, "min")
    sides = case.streams()
    outcome = model.simulate(case.join, *sides)
    if isinstance(case.join, wb.CoGroup):
        groups = [(group.start, group.end) for group in outcome.groups.itertuples()]
        for mine in outcome.assignments.values():
            groups = [(*group, sorted(mine.loc[mine["group"] == number, "row"])) for number, group in enumerate(groups)]
        assert sorted(groups) == sorted(group[1:] for group in expected(case.join, *sides))
        return
    inner = type(case.join)(**{**vars(case.join), "how": "inner"})
    spans = [] if isinstance(case.join, wb.IntervalJoin | wb.AsOfJoin) else ["start", "end"]
    pairs = met(outcome if case.join.how != "semi" else model.simulate(inner, *sides))
    found = sorted(map(tuple, pairs[["left", "right", *spans]].to_numpy().tolist()))
    assert found == sorted(expected(inner, *sides))
