"""Fates and reasons."""

from __future__ import annotations

import pytest
import strategies
from helpers import stream
from hypothesis import strategies as st

import generators
import workbench as wb
from workbench.model import Simulation
from workbench.runs.preview import Preview

T = 1_767_225_600  # seconds: 2026-01-01


@strategies.in_parts(10, 10, case=strategies.cases(), chosen=st.sets(st.integers(0, 60), max_size=6))
def test_a_few_rows_are_explained_as_all_are(case, chosen):
    left, right = case.streams()
    run = Preview(Simulation(case.join, left, right, case.finish, case.policy))
    rows = sorted(row for row in chosen if row < len(left) + len(right))
    some, every = run.explain(rows), run.rows.loc[rows]
    names = ["side", "batch", "fate", "reason", "fix_setting", "fix_value"]
    assert list(some.index) == rows
    assert some[names].astype(object).equals(every[names].astype(object))


def explained(join, left, right, delays=("0 s", "0 s"), **more):
    return wb.preview(join, stream(left, "orders", delays[0]), stream(right, "payments", delays[1]), **more).rows


def test_reasons_in_words():
    left = [("a", T, 0), ("b", T + 1, 0), ("z", T + 31, 1), ("far", T + 40, 2), (None, T + 40, 2), ("p", T + 41, 2)]
    right = [("a", T + 3, 0), ("z", T + 31, 1), ("far", T + 46.3, 2), ("p", T + 29, 3)]
    rows = explained(wb.IntervalJoin("0 s", "5 s", how="left"), left, right)
    assert rows["reason"].tolist() == [
        "joined with 1 row of payments, first in micro-batch 0",
        "no partner: key b never arrived on payments; it is written with nulls in micro-batch 2",
        "joined with 1 row of payments, first in micro-batch 1",
        "near miss: the nearest partner is n 2, 1.3 s beyond the upper bound; it is written with nulls in micro-batch 5",
        "its key is null, and a null key matches no key; it is written with nulls in micro-batch 5",
        "no partner within the bounds was on time; it is written with nulls in micro-batch 5",
        "joined with 1 row of orders, first in micro-batch 0",
        "joined with 1 row of orders, first in micro-batch 1",
        "near miss: the nearest partner is n 3, 1.3 s beyond the upper bound",
        "late by 2 s: it arrived in micro-batch 3, when the watermark for late rows stood at 00:00:31; a watermark "
        "delay of 2.001 s on orders would have kept it (policy min: the query's watermark is the lower of those of orders and payments), but "
        "it has no partner within the bounds",
    ]
    assert rows[["fix_setting", "fix_value"]].dropna().to_numpy().tolist() == [["upper", "6.3 seconds"]] * 2


def test_an_anti_join_pads_nothing():
    left = [("b", T, 0), (None, T, 0), ("a", T + 40, 1), ("a", T + 50, 2)]
    rows = explained(wb.IntervalJoin("0 s", "5 s", how="anti"), left, [("a", T + 40, 1), ("a", T + 50, 2)])
    assert rows["reason"][:2].tolist() == [
        "no partner: key b never arrived on payments; it is written in micro-batch 2",
        "its key is null, and a null key matches no key; it is written in micro-batch 2",
    ]


def test_late_by_so_much_and_the_delay_that_would_have_kept_it():
    left = [("z", T + 31, 0), ("z", T + 32, 1), ("k", T + 26.8, 2)]
    right = [("z", T + 31, 0), ("z", T + 32, 1), ("k", T + 28, 0)]
    rows = explained(wb.IntervalJoin("0 s", "5 s"), left, right, ("1 s", "0 s"))
    assert rows["reason"][2] == (
        "late by 3.2 s: it arrived in micro-batch 2, when the watermark for late rows stood at 00:00:30; a watermark "
        "delay of 4.201 s on orders would have kept it, and matched it with n 2"
    )
    assert rows["reason"][4] == (
        "its partner n 2 came too late and was dropped; a watermark delay of 4.201 s on orders would have kept both"
    )
    assert rows.loc[[2, 4], "fate"].tolist() == ["late", "unmatched"]
    found = rows.loc[[2, 4], ["fix_setting", "fix_value"]].to_numpy().tolist()
    assert found == [["left.watermark", "4.201 seconds"]] * 2


def test_waiting_and_who_holds_it_back():
    left = [("a", T + 50, 0), ("b", T + 62, 1), ("b", T + 75, 2)]
    rows = explained(wb.CoGroup(wb.Tumbling("60 s")), left, [("a", T + 42, 0)], finish=False)
    assert rows["reason"][0] == (
        "waiting: its window ends at 00:01:00; the watermark stands at 00:00:42; payments, idle since micro-batch 1, "
        "holds it back"
    )
    assert (rows["fix_setting"][0], rows["fix_value"][0]) == ("finish", True)


def test_late_for_some_windows_and_on_time_for_others():
    left = [("a", T + 20, 0), ("a", T + 21, 1), ("a", T + 16, 2)]
    right = [("a", T + 20, 0), ("a", T + 21, 1), ("a", T + 16, 1)]
    rows = explained(wb.WindowJoin(wb.Sliding("10 s", "5 s")), left, right)
    assert rows["reason"][2].endswith("it was late for 1 of its 2 windows")


def test_the_gap_between_windows():
    rows = explained(wb.WindowJoin(wb.Sliding("2 s", "10 s")), [("a", T + 5)], [("a", T + 1)])
    assert rows["reason"][0].startswith("it falls in the gap between two windows; near miss")
    assert (rows["fix_setting"][0], rows["fix_value"][0]) == ("size", "5.001 seconds")


def test_why_tells_the_whole_story(monkeypatch):
    orders, payments = generators.generate("orders_payments", events=60, rate=4, late=0.1, seed=7)
    run = wb.preview(wb.IntervalJoin("0 s", "6 s", how="left"), orders, payments)
    row = int(run.rows.index[run.rows["fate"] == "late"][0])
    story = run.why(row)
    for words in ("event time", "arrival     micro-batch", "bounds", "candidates", "verdict     late by", "fix  "):
        assert words in repr(story)
    assert story.chart.to_dict()["layer"]
    other = wb.preview(wb.CoGroup(wb.Sliding("10 s", "5 s")), orders, payments)
    assert "window      [" in other.why(len(orders)).text
    other = wb.preview(wb.WindowJoin(wb.Session("5 s")), orders, payments)
    assert "session     [" in other.why(len(orders)).text
    assert " of orders, 1 of payments" in other.why(len(orders)).text
    shown = []
    monkeypatch.setattr("workbench.runs.why.display", lambda each, **_: shown.append(each))
    story._ipython_display_()
    assert shown == [{"text/plain": story.text}, story.chart]
    for wrong in (-1, len(run.rows), "3", True, 1.0):
        with pytest.raises(wb.ArgumentError, match="row: got"):
            run.why(wrong)


def test_a_delay_of_the_other_stream_is_told_with_why_it_matters():
    """The query's watermark is that of payments, so the least delay that keeps a late order is on payments."""
    left = [("a", T + 90, 0), ("z", T + 90, 1), ("b", T + 30, 2)]
    right = [("a", T + 60, 0), ("b", T + 31, 0)]
    rows = explained(wb.IntervalJoin("0 s", "5 s"), left, right)
    why = "(policy min: the query's watermark is the lower of those of orders and payments)"
    late = rows[rows["fate"] == "late"]
    assert late["n"].tolist() == [2]
    assert f"s on payments would have kept it {why}, and matched it with" in late["reason"].iloc[0]
    partner = rows[(rows["side"] == "right") & (rows["n"] == 1)]
    assert f"s on payments would have kept both {why}" in partner["reason"].iloc[0]
