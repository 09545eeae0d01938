"""Which rows are late, by the watermark of the micro-batch before; the others are given to the join's operator.

What the operator makes of them (which meet, what is held, what comes out when) is in a module for each of Spark's.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.arrays import Counts
from workbench.joins import Join
from workbench.kinds import kind_of
from workbench.literals import SIDES, Policy, Sides
from workbench.model._outcome import Outcome
from workbench.model._shared import Shared
from workbench.model._watermarks import Watermarks, nothing_late, watermarks
from workbench.model.operators import model_of
from workbench.spark_versions import SparkFacts, here
from workbench.streams import Stream


def simulate(
    join: Join,
    left: Stream,
    right: Stream,
    *,
    finish: bool = True,
    policy: Policy = "min",
    no_more_data: bool = True,
    shared: Shared | None = None,
    spark: SparkFacts | None = None,
) -> Outcome:
    """What a run of these recorded streams must give.

    Parameters
    ----------
    join, left, right, finish, policy
        As in `workbench.run`.
    no_more_data
        As in `watermarks`.
    shared
        What runs of these rows under other settings have found out already.
    spark
        The version of Spark that the model stands for; None: the one that is installed.
    """
    shared = Shared(left, right) if shared is None else shared
    marks = watermarks(join, left, right, shared.keys_of(join), finish, policy, no_more_data)
    return judge_and_join(join, marks, shared, spark or here())


def complete(join: Join, left: Stream, right: Stream, shared: Shared | None = None) -> Outcome:
    """What comes out of these streams with nothing dropped as late, not even what lies before 1970.

    Parameters
    ----------
    join, left, right, shared
        As in `simulate`.
    """
    shared = Shared(left, right) if shared is None else shared
    return judge_and_join(join, nothing_late(max(left.batch_count, right.batch_count)), shared, here())


def judge_and_join(join: Join, marks: Watermarks, shared: Shared, spark: SparkFacts) -> Outcome:
    """Judge each row of `shared` late or on time under these watermarks, and join those that are on time.

    A row may be in several windows; it is late for those that end at or before the watermark. In a join without windows
    a row's ``end`` is its event time.
    """
    sides, facts = {}, shared.rows.under(join)
    for side, filtered in Sides(*(kind_of(join).drops_null_keys(join))).items():
        mine = shared.assignments(join, side).copy(deep=False)
        row, key, end, batch = (mine[name].to_numpy() for name in ("row", "key", "end", "batch"))
        gone = facts.filtered[side][row] if facts.filtered is not None else (key < 0) & filtered
        if facts.gone is not None:
            gone = gone | facts.gone[side].rows[row]
        mark, drops_late = marks.late[batch], kind_of(join).drops_late and side not in facts.never_late
        mine["filtered"], mine["watermark"] = gone, mark
        mine["late"] = (end <= mark) & ~gone if drops_late else np.zeros(len(mine), dtype=bool)
        sides[side] = mine
    return model_of(join).replay(join, marks, sides, shared, spark)


def drop_counts(join: Join, outcome: Outcome) -> Counts:
    """How many late rows Spark counts in each micro-batch (``numRowsDroppedByWatermark``)."""
    columns = ["batch", "key", "start"]
    parts = [outcome.assignments[side][columns][outcome.assignments[side]["late"]].assign(side=side) for side in SIDES]
    counted = model_of(join).dropped(join, pd.concat(parts, ignore_index=True))
    return np.bincount(counted["batch"], minlength=len(outcome.marks))
