"""The causes of rows' fates, held against their reasons."""

from __future__ import annotations

import numpy as np
import pytest
import strategies

import generators
import workbench as wb
from workbench.literals import SIDES, other_side
from workbench.model import complete
from workbench.reasons.partners import had_partner, nearest_distance

JOINS = (
    wb.IntervalJoin("0 seconds", "2 seconds"),
    wb.IntervalJoin("0 seconds", "2 seconds", how="full"),
    wb.WindowJoin(wb.Tumbling("5 seconds")),
    wb.WindowJoin(wb.Sliding("2 seconds", "5 seconds"), how="left"),
    wb.WindowJoin(wb.Session("2 seconds")),
    wb.CoGroup(wb.Tumbling("5 seconds")),
)
WORDS = {
    "its key never arrived on": "never arrived on",
    "late, and its key never arrived on": "never arrived on",
    "late,": "late ",
    "its key is null": "its key is null",
    "in the gap between two windows": "gap between two windows",
    "the upper bound excludes the nearest row of its key": (
        "beyond the upper bound",
        "no partner within the bounds was on time",
    ),
    "the lower bound excludes the nearest row of its key": (
        "beyond the lower bound",
        "no partner within the bounds was on time",
    ),
    "still waiting": "waiting: ",
    "matched rows of": ("joined with", "in a group with"),
}


@pytest.mark.parametrize("finish", [True, False])
@pytest.mark.parametrize("join", JOINS, ids=repr)
def test_a_cause_is_what_the_reason_says(join, finish):
    sides = generators.generate("orders_payments", events=150, late=0.15, disorder=0.3, seed=4)
    run = wb.preview(join, *sides, finish=finish)
    rows, causes = run.rows, run.causes
    assert list(causes.index) == list(rows.index)
    assert causes.str.len().gt(0).all()
    fates = {"matched": "matched", "late": "late", "pending": "still", "null_key": "its key is null"}
    for cause, fate, reason in zip(causes, rows["fate"], rows["reason"], strict=True):
        assert cause.startswith(fates.get(fate, ""))
        words = next((words for begin, words in WORDS.items() if cause.startswith(begin)), "")
        assert any(each in reason for each in ([words] if isinstance(words, str) else words)), (cause, reason)
    assert causes.value_counts().sum() == len(rows)


def test_a_late_row_with_a_partner_is_told_from_one_without():
    run = wb.preview(JOINS[0], *generators.generate("orders_payments", events=300, late=0.2, seed=4))
    late = run.causes[run.rows["fate"] == "late"]
    assert late.nunique() >= 2
    whole = [each.with_watermark("1 hour") for each in (run.left, run.right)]
    kept = wb.preview(run.join, *whole).rows["fate"]
    for cause, fate in zip(late, kept[late.index], strict=True):
        assert (fate == "matched") == cause.startswith("late, and would have matched")


def test_what_is_handed_out_is_the_users_own():
    run = wb.preview(JOINS[0], *generators.generate("orders_payments", events=20))
    run.causes[:] = "mine"
    assert "mine" not in set(run.causes)
    assert set(run.keys) == set(run.rows["order_id"])


@strategies.in_parts(2, 60, case=strategies.cases())
def test_the_nearest_row_of_a_key_is_found(case):
    """Against every row of the key, one by one; of two as far away the earlier one."""
    simulation = wb.preview(case.join, *case.streams()).simulation
    for side, keys in zip(SIDES, (simulation.outcome.keys, simulation.outcome.keys[::-1]), strict=True):
        mine, theirs = (simulation.side(each).event_times.tolist() for each in (side, other_side(side)))
        rows = np.arange(len(mine))[::-1]
        expected = []
        for row in rows.tolist():
            apart = [at - mine[row] for at, key in zip(theirs, keys[1], strict=True) if key == keys[0][row] >= 0]
            expected.append(min(apart, key=lambda each: (abs(each), each), default=np.iinfo(np.int64).min))
        assert nearest_distance(simulation, side, rows).tolist() == expected


@strategies.in_parts(2, 60, case=strategies.cases())
def test_when_rows_arrive_does_not_matter_where_nothing_is_late(case):
    streams = case.streams()
    preview = wb.preview(case.join, *streams)
    every = {side: np.arange(len(stream)) for side, stream in zip(SIDES, streams, strict=True)}
    whole = complete(case.join, *streams)
    for side, found in had_partner(preview.simulation, every).items():
        mine = whole.assignments[side]
        assert found.tolist() == sorted(set(mine["row"][mine["matched"]]))
