"""Fates, reasons, and fixes that are applied and run again."""

from __future__ import annotations

import pytest
import strategies
from helpers import stream
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import generators
import workbench as wb
from workbench import fixes, model
from workbench.explain import Story
from workbench.results import Run

T = 1_767_225_600  # seconds: 2026-01-01


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=strategies.cases())
def test_every_fix_matches_its_row_in_the_model(case):
    left, right = case.streams()
    run = Run(case.join, left, right, case.finish, case.policy)
    for side, told in Story(run).told.items():
        for row, each in enumerate(told.itertuples()):
            assert each.reason
            if each.fix_setting is None:
                continue
            assert each.fate in ("late", "unmatched", "pending")
            changed = fixes.apply(each.fix_setting, each.fix_value, case.join, left, right, case.finish)
            copies = model.work_out(*changed, case.policy).copies[side]
            assert copies.loc[copies["row"] == row, "matched"].any(), (side, row, each)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=strategies.cases(), chosen=st.sets(st.integers(0, 60), max_size=6))
def test_a_few_rows_are_told_of_as_all_are(case, chosen):
    left, right = case.streams()
    run = Run(case.join, left, right, case.finish, case.policy)
    rows = sorted(row for row in chosen if row < len(left) + len(right))
    some, every = run.tell(rows), run.rows.loc[rows]
    names = ["side", "batch", "fate", "reason", "fix_setting", "fix_value"]
    assert list(some.index) == rows
    assert some[names].astype(object).equals(every[names].astype(object))


JOINS = [
    wb.IntervalJoin("0 seconds", "5 seconds", how="left"),
    wb.IntervalJoin("1 second", "4 seconds", how="full", lower_exclusive=True, upper_exclusive=True),
    wb.WindowJoin(wb.Tumbling("6 seconds")),
    wb.WindowJoin(wb.Sliding("4 seconds", "3 seconds"), how="semi"),
    wb.WindowJoin(wb.Session("3 seconds")),
    wb.CoGroup(wb.Sliding("3 seconds", "5 seconds")),
]


@pytest.mark.parametrize("join", JOINS, ids=repr)
@pytest.mark.parametrize("finish", [True, False])
def test_fixes_run_again_on_spark_match_their_rows(spark, join, finish):
    left, right = generators.generate(
        "orders_payments", events=30, rate=3, late=0.25, late_by="8 s", batches=6, watermark="2 s", seed=4
    )
    run = wb.run(join, left, right, finish=finish)
    asked = run.rows.dropna(subset="fix_setting").drop_duplicates("fix_setting")
    assert len(asked)
    for row, setting, value in zip(asked.index, asked["fix_setting"], asked["fix_value"], strict=True):
        again = wb.run(*fixes.apply(setting, value, join, left, right, finish))
        assert again.rows.loc[row, "fate"] == "matched", (row, setting, value)


def told(join, left, right, delays=("0 s", "0 s"), **more):
    return wb.run(join, stream(left, "orders", delays[0]), stream(right, "payments", delays[1]), **more).rows


def test_reasons_in_words(spark):
    left = [("a", T, 0), ("b", T + 1, 0), ("z", T + 31, 1), ("far", T + 40, 2), (None, T + 40, 2), ("p", T + 41, 2)]
    right = [("a", T + 3, 0), ("z", T + 31, 1), ("far", T + 46.3, 2), ("p", T + 29, 3)]
    rows = told(wb.IntervalJoin("0 s", "5 s", how="left"), left, right)
    assert rows["reason"].tolist() == [
        "joined with 1 row of payments, first in micro-batch 0",
        "no partner: key b never came on payments; it comes out padded in micro-batch 2",
        "joined with 1 row of payments, first in micro-batch 1",
        "near miss: the nearest partner is n 2, 1.3 s beyond the upper bound; it comes out padded in micro-batch 5",
        "its key is null, and a null key equals nothing; it comes out with nulls for the other side, in micro-batch 5",
        "no partner on time in reach; it comes out padded in micro-batch 5",
        "joined with 1 row of orders, first in micro-batch 0",
        "joined with 1 row of orders, first in micro-batch 1",
        "near miss: the nearest partner is n 3, 1.3 s beyond the upper bound",
        "late by 2 s: it arrived in micro-batch 3, when the watermark stood at 00:00:31; a watermark delay of 2.001 s on "
        "orders would have kept it, though it has no partner in reach",
    ]
    assert rows[["fix_setting", "fix_value"]].dropna().to_numpy().tolist() == [["upper", "6300 milliseconds"]] * 2


def test_late_by_so_much_and_the_delay_that_would_have_kept_it(spark):
    left = [("z", T + 31, 0), ("z", T + 32, 1), ("k", T + 26.8, 2)]
    right = [("z", T + 31, 0), ("z", T + 32, 1), ("k", T + 28, 0)]
    rows = told(wb.IntervalJoin("0 s", "5 s"), left, right, ("1 s", "0 s"))
    assert rows["reason"][2] == (
        "late by 3.2 s: it arrived in micro-batch 2, when the watermark stood at 00:00:30; a watermark delay of 4.201 s "
        "on orders would have kept it, and matched it with n 2"
    )
    assert rows["reason"][4] == (
        "its partner n 2 came too late and was dropped; a watermark delay of 4.201 s on orders would have kept the two"
    )
    assert rows.loc[[2, 4], "fate"].tolist() == ["late", "unmatched"]
    found = rows.loc[[2, 4], ["fix_setting", "fix_value"]].to_numpy().tolist()
    assert found == [["left.watermark", "4201 milliseconds"]] * 2


def test_waiting_and_who_holds_it_back(spark):
    left = [("a", T + 50, 0), ("b", T + 62, 1), ("b", T + 75, 2)]
    rows = told(wb.CoGroup(wb.Tumbling("60 s")), left, [("a", T + 42, 0)], finish=False)
    assert rows["reason"][0] == (
        "waiting: its window ends at 00:01:00, the watermark stands at 00:00:42 and is held back by payments, "
        "idle since micro-batch 1"
    )
    assert (rows["fix_setting"][0], rows["fix_value"][0]) == ("finish", True)


def test_late_for_some_windows_and_on_time_for_others(spark):
    left = [("a", T + 20, 0), ("a", T + 21, 1), ("a", T + 16, 2)]
    right = [("a", T + 20, 0), ("a", T + 21, 1), ("a", T + 16, 1)]
    rows = told(wb.WindowJoin(wb.Sliding("10 s", "5 s")), left, right)
    assert rows["reason"][2].endswith("it was late for 1 of its 2 windows")


def test_the_gap_between_windows(spark):
    rows = told(wb.WindowJoin(wb.Sliding("2 s", "10 s")), [("a", T + 5)], [("a", T + 1)])
    assert rows["reason"][0].startswith("it lies in the gap between two windows, and in none of them; near miss")
    assert (rows["fix_setting"][0], rows["fix_value"][0]) == ("size", "5001 milliseconds")


def test_why_tells_the_whole_story(spark, monkeypatch):
    orders, payments = generators.generate("orders_payments", events=60, rate=4, late=0.1, seed=7)
    run = wb.run(wb.IntervalJoin("0 s", "6 s", how="left"), orders, payments)
    row = int(run.rows.index[run.rows["fate"] == "late"][0])
    told = run.why(row)
    for words in ("event time", "arrival     micro-batch", "in reach", "candidates", "verdict     late by", "fix  "):
        assert words in repr(told)
    assert told.chart.to_dict()["layer"]
    for join in (wb.WindowJoin(wb.Session("5 s")), wb.CoGroup(wb.Sliding("10 s", "5 s"))):
        other = wb.run(join, orders, payments)
        assert "window      [" in other.why(len(orders)).text
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda each, **_: shown.append(each))
    told._ipython_display_()
    assert shown == [{"text/plain": told.text}, told.chart]
    for wrong in (-1, len(run.rows), "3", True, 1.0):
        with pytest.raises(wb.ArgumentError, match="row: got"):
            run.why(wrong)
