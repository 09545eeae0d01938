"""Spark's symmetric hash join of two streams.

A micro-batch's left rows meet the right rows in state, its right rows then meet all left rows in state and of the same
micro-batch; last, what the watermark has passed leaves the state, and the rows of an outer side that met nobody come
out padded. The rules are those of ``StreamingSymmetricHashJoinExec``, in the version that is asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from workbench.arrays import RowNumbers, Times
from workbench.joins import Join, emission
from workbench.kinds import kind_of
from workbench.literals import SIDES, Side, Sides
from workbench.model._outcome import Outcome, on_time
from workbench.model._outputs import Placed, of_pairs
from workbench.model._shared import Shared
from workbench.model._watermarks import Watermarks
from workbench.spark_versions import SparkFacts
from workbench.streams import NOTHING, has_rows


def replay(
    join: Join, marks: Watermarks, sides: dict[Side, pd.DataFrame], shared: Shared, spark: SparkFacts
) -> Outcome:
    """What comes out of a stream-stream join; arguments as in `workbench.model.operators.OperatorModel`."""
    count, kind, emits = len(marks), kind_of(join), emission(join)
    one, other, batch = met(join, marks, sides, shared, spark)
    at = {
        side: {name: sides[side][name].to_numpy() for name in ("row", "batch", "evicted_in", "start", "end")}
        for side in SIDES
    }
    alive = {side: on_time(sides[side]) for side in SIDES}
    spans = {side: _spans(at[side], kind.windowed) for side in SIDES}
    pairs = Placed({"left": one, "right": other}, spans["left"][0][one], spans["left"][1][one], batch)
    for side, place in Sides(one, other).items():
        matched = np.zeros(len(sides[side]), dtype=bool)
        matched[place] = True
        if shared.rows.met is not None:
            matched |= shared.rows.met[side][sides[side]["row"].to_numpy()]
        sides[side]["matched"] = matched
        kept = alive[side] & ~_at_once(join, side, sides[side], shared)
        if emits.first_only and side == "left":  # done with a row that has met another
            leaves = sides[side]["evicted_in"].to_numpy().copy()
            done = np.full(len(one), True)
            if not spark.semi_join_frees_matched:
                done = at["right"]["batch"][other] < at["left"]["batch"][one]
            np.minimum.at(leaves, one[done], batch[done])
            sides[side]["evicted_in"] = leaves
        sides[side]["held"] = kept & (sides[side]["evicted_in"] > sides[side]["batch"])
    padded = {}
    for side in emits.padded:
        mine = sides[side]
        at_once = _at_once(join, side, mine, shared)
        batch = np.where(at_once, mine["batch"], mine["evicted_in"])
        stored = at_once | (mine["evicted_in"] > mine["batch"]) | (not spark.loses_expiring)
        unmatched = np.flatnonzero(alive[side] & ~mine["matched"] & stored & (batch < count))
        padded[side] = Placed({side: unmatched}, spans[side][0][unmatched], spans[side][1][unmatched], batch[unmatched])
    outputs = of_pairs(emits, {side: at[side]["row"] for side in SIDES}, pairs, padded)
    return Outcome(marks, shared.keys, sides, outputs, no_groups(), np.zeros(count, int))


def met(
    join: Join, marks: Watermarks, sides: dict[Side, pd.DataFrame], shared: Shared, spark: SparkFacts
) -> tuple[RowNumbers, RowNumbers, RowNumbers]:
    """The pairs that meet, as places in the assignments, and in which micro-batch.

    The assignments of both sides are told in which micro-batch they are ``evicted_in``, and that they are in no
    ``group``.
    """
    one, other = shared.matches(join)  # first, as it takes most memory
    for side, threshold in Sides(*evicted_up_to(join, marks, shared)).items():
        mine = sides[side]
        batch, end = (mine[name].to_numpy() for name in ("batch", "end"))
        mine["evicted_in"] = np.maximum(batch, np.searchsorted(np.maximum.accumulate(threshold), end))
        mine["group"] = np.full(len(mine), -1, dtype=np.int8)
    at = {side: {name: sides[side][name].to_numpy() for name in ("batch", "evicted_in")} for side in SIDES}
    alive = {side: on_time(sides[side]) for side in SIDES}
    arrived = at["left"]["batch"][one], at["right"]["batch"][other]
    met = alive["left"][one] & alive["right"][other]
    met &= (arrived[0] >= arrived[1]) | (at["left"]["evicted_in"][one] >= arrived[1])
    met &= (arrived[1] >= arrived[0]) | (at["right"]["evicted_in"][other] >= arrived[0])
    if spark.loses_expiring:
        met &= (arrived[0] != arrived[1]) | (at["left"]["evicted_in"][one] > arrived[0])
    if emission(join).first_only and spark.semi_join_loses_expiring:
        met &= (arrived[0] != arrived[1]) | (at["right"]["evicted_in"][other] > arrived[1])
    return one[met], other[met], np.maximum(*arrived)[met]


def evicted_up_to(join: Join, marks: Watermarks, shared: Shared) -> tuple[Times, Times]:
    """Up to which times rows of the left and of the right side have left the state after each micro-batch."""
    retention = shared.rows.under(join).retention
    if retention is None:
        return kind_of(join).evicted_up_to(join, marks.eviction)
    never = np.full(len(marks), NOTHING)
    eviction = marks.eviction
    if shared.rows.under(join).evicts_with_data:
        came = np.zeros(len(marks), dtype=bool)
        for stream in shared.streams:
            came |= has_rows(stream, len(marks))
        eviction = np.maximum.accumulate(np.where(came, eviction, 0))
    left, right = (eviction - retention[side] if side in retention else never for side in SIDES)
    return left, right


def _spans(assignments: dict[str, Times], windowed: bool) -> tuple[Times, Times]:
    """The window of each assignment; without windows zeros."""
    if windowed:
        return assignments["start"], assignments["end"]
    none = np.zeros(len(assignments["row"]), dtype=np.int64)
    return none, none


def _at_once(join: Join, side: Side, mine: pd.DataFrame, shared: Shared) -> Any:
    """Rows that Spark pads on arrival and never keeps.

    A full outer join needs the condition that the left key is not null (Spark would pair two null keys); rows that fail
    a condition on their side alone are padded at once.
    """
    unfit = shared.rows.under(join).unfit
    if unfit is not None:
        return unfit[side][mine["row"].to_numpy()]
    return (mine["key"] < 0) & (side == "left" and len(emission(join).padded) == len(SIDES))


def no_groups() -> pd.DataFrame:
    return pd.DataFrame(
        {name: np.array([], dtype=np.int64) for name in ("key", "start", "end", "batch", "left", "right")}
    )


def dropped(join: Join, late: pd.DataFrame) -> pd.DataFrame:
    """The late rows that Spark counts as dropped: each, once for each window."""
    return late
