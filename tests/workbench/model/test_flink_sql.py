"""What the model makes of Flink SQL's interval joins, held to their operator row by row."""

from __future__ import annotations

import numpy as np
import strategies
from flink_sql_operator import Operator
from hypothesis import assume
from hypothesis import strategies as st

import workbench as wb
from workbench.joins import how_of
from workbench.kinds import kind_of
from workbench.literals import SIDES


@strategies.in_parts(
    4,
    200,
    case=strategies.cases(of=strategies.intervals()),
    watermarks=st.sampled_from(["micro-batch", "row"]),
    idleness=st.sampled_from([None, 1, 2]),
)
def test_arrays_do_as_the_operator_does_row_by_row(case, watermarks, idleness):
    """`test_flink_rules.py` holds some to real Flink; here are far more, with rows that are overdue in the caches."""
    assume(how_of(case.join) in ("left", "right", "full", "anti"))
    try:
        preview = wb.flink.preview(case.join, *case.streams(), watermarks=watermarks, idleness=idleness)
    except wb.ArgumentError:
        assume(False)
    low, high = kind_of(case.join).bounds(case.join)
    assume(-(-low // 1000) <= high // 1000)
    outcome = preview.outcome
    operator = Operator(-(-low // 1000), high // 1000, outcome.assignments)
    operator.run(np.append(outcome.marks.eviction[:-1], 2**61))
    assert {side: outcome.assignments[side]["evicted_in"].tolist() for side in SIDES} == {
        side: operator.removed[side].tolist() for side in SIDES
    }
    table, first = outcome.outputs.table, [outcome.outputs.first(side) for side in SIDES]
    met = np.column_stack([*first, table["batch"]])[table["matched"].to_numpy()]
    if how_of(case.join) != "anti":
        assert sorted(map(tuple, met.tolist())) == sorted(zip(*(each.tolist() for each in operator.met()), strict=True))
    assert [sorted(set(each[each >= 0])) for each in (met[:, 0], met[:, 1])] == [
        sorted(set(each.tolist())) for each in operator.met()[:2]
    ]
