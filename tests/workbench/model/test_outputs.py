"""Outputs and their members: what a pair, a padded row and a group have in common."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import strategies

import generators
import workbench as wb
from workbench.engine import sink_reader
from workbench.joins import emission
from workbench.streams import SIDES


@strategies.in_parts(4, 40, case=strategies.cases())
def test_what_spark_would_write_has_the_outputs_and_members_of_the_model(case):
    seen = wb.preview(case.join, *case.streams(), finish=case.finish, policy=case.policy)
    sides = emission(case.join).sides
    mine, written = seen.outcome.outputs, sink_reader.outputs(seen.raw_output, case.join)
    columns = ["left", "right", "start", "end", "batch", "further"]
    facts = [
        each.sort_values(columns, ignore_index=True)
        for each in (mine.emitted(sides)[columns], written.emitted()[columns])
    ]
    pd.testing.assert_frame_equal(*facts, check_dtype=False)
    assert len(written) == mine.table["emitted"].sum()


@strategies.in_parts(4, 40, case=strategies.cases())
def test_members_say_which_assignment_of_which_row(case):
    outcome = wb.preview(case.join, *case.streams(), finish=case.finish, policy=case.policy).outcome
    outputs, members = outcome.outputs, outcome.outputs.members
    assert members[["side", "output", "row"]].apply(tuple, axis=1).is_monotonic_increasing
    assert (sum(outputs.counts(side) for side in SIDES) > 0).all()
    both = np.minimum(*(outputs.counts(side) for side in SIDES)) > 0
    assert not (outputs.table["matched"] & ~both).any()
    for side in SIDES:
        mine, assignments = outputs.of(side), outcome.assignments[side]
        taken = assignments.iloc[mine["assignment"]]
        assert (taken["row"].to_numpy() == mine["row"].to_numpy()).all()
        assert not (taken["late"] | taken["filtered"]).any()
        out = outputs.table.iloc[mine["output"]]
        assert (out["batch"].to_numpy() >= taken["batch"].to_numpy()).all()
        assert set(np.flatnonzero(assignments["matched"])) == set(mine["assignment"][out["matched"].to_numpy()])


def test_a_group_is_as_many_lines_as_its_larger_side_has():
    t = pd.Timestamp("2026-01-01 10:00")
    times = lambda *seconds: [t + pd.Timedelta(seconds=each) for each in seconds]  # noqa: E731
    left = wb.Stream.from_pandas(pd.DataFrame({"k": [1, 1, 1], "t": times(0, 1, 2)}), "l", key="k", time="t")
    right = wb.Stream.from_pandas(pd.DataFrame({"k": [1, 2], "t": times(3, 4)}), "r", key="k", time="t")
    outputs = wb.preview(wb.CoGroup(wb.Tumbling("10 s")), left, right).outcome.outputs
    assert outputs.emitted()[["output", "left", "right"]].to_numpy().tolist() == [
        [0, 0, 0],
        [0, 1, -1],
        [0, 2, -1],
        [1, -1, 1],
    ]
    assert outputs.pairs() == 3


def test_the_same_rows_in_other_groups_are_told_apart():
    def groups(*both):
        lists = {
            side: pa.array([[{"__row": row} for row in one[place]] for one in both]) for place, side in enumerate(SIDES)
        }
        kind = pa.list_(pa.struct({"__row": pa.int64()}))
        spans = {
            "window_start": pa.array([0, 0], pa.timestamp("us")),
            "window_end": pa.array([9, 9], pa.timestamp("us")),
        }
        table = pa.table({side: each.cast(kind) for side, each in lists.items()} | spans | {"batch": [1, 1]})
        return sink_reader.outputs(table, wb.CoGroup(wb.Tumbling("10 s"))).emitted().drop(columns="output")

    one, other = groups(([0, 1], [5]), ([2], [])), groups(([0], [5]), ([1, 2], []))
    assert not one.equals(other)
    without = [each.drop(columns="further").sort_values(["left", "right"], ignore_index=True) for each in (one, other)]
    pd.testing.assert_frame_equal(*without)


def test_matches_of_a_pattern_have_the_members_of_the_model():
    left, right = generators.generate("user_actions", events=200, seed=7)
    steps = [wb.step("a", side="left"), wb.followed_by("b", side="right").times(1, 2)]
    seen = wb.preview(wb.Pattern(*steps, within="30 seconds"), left, right)
    mine, written = seen.outcome.outputs, sink_reader.outputs(seen.raw_output, seen.join)
    assert len(mine) == len(written) > 100
    columns = ["side", "row", "step", "place"]
    counted = [each.members[columns].value_counts().sort_index() for each in (mine, written)]
    pd.testing.assert_series_equal(*counted, check_index_type=False)
    assert written.table["waited_for"].isna().sum() == written.table["matched"].sum() == len(seen.output)
    assert len(seen.timed_out) == len(written) - len(seen.output)
