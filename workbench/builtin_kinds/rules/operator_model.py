"""Rules that left rows meet: by event time, once nothing can change them any more, or by arrival, at once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from workbench.arrays import Counts, Flags, RowNumbers
from workbench.builtin_kinds.rules import in_force
from workbench.builtin_kinds.rules.versions import Met, versions_of
from workbench.joins import RulesJoin, emission
from workbench.kinds import NEVER
from workbench.literals import SIDES, Side
from workbench.model import Meeting, OperatorModel
from workbench.model.operators import (
    ENDED,
    Outcome,
    Placed,
    Shared,
    Watermarks,
    no_groups,
    of_pairs,
    on_time,
    rows_present,
)
from workbench.spark_versions import SparkFacts

__all__ = ["BY_ARRIVAL", "BY_EVENT_TIME", "MEETING", "in_force_on_time", "versions"]

_LEFT, _RIGHT = SIDES


def _by_event_time(
    join: RulesJoin, marks: Watermarks, sides: dict[Side, pd.DataFrame], shared: Shared, _: SparkFacts
) -> Outcome:
    """What comes out of rules by event time; arguments as in `workbench.model.OperatorModel`.

    A left row is in state until the watermark has passed it; a version of a rule until it has passed the next one, or
    the version itself if that withdraws the rule.
    """
    left, right = sides[_LEFT], sides[_RIGHT]
    closes = np.maximum(left["batch"], np.searchsorted(marks.eviction, np.minimum(left["start"], ENDED))).to_numpy()
    here = np.flatnonzero(in_force_on_time(right))
    until, replaced_by = in_force.retained(join, right.iloc[here])
    arrived = right["batch"].to_numpy()
    gone = np.searchsorted(marks.eviction, np.minimum(until, ENDED))
    overwritten = replaced_by >= 0
    gone[overwritten] = np.minimum(gone, arrived[here][replaced_by])[overwritten]
    leaves = arrived.copy()
    leaves[here] = np.maximum(arrived[here], gone)
    left["evicted_in"], right["evicted_in"] = closes, leaves
    left["leaves_at"], right["leaves_at"] = left["start"], np.full(len(right), 0)
    right.loc[right.index[here], "leaves_at"] = until
    return _outcome(join, marks, sides, shared)


def _by_arrival(
    join: RulesJoin, marks: Watermarks, sides: dict[Side, pd.DataFrame], shared: Shared, _: SparkFacts
) -> Outcome:
    """What comes out of rules by arrival; arguments as in `_by_event_time`.

    Left rows are never in state; a version of a rule is until another of the rule arrives.
    """
    left, right = sides[_LEFT], sides[_RIGHT]
    here = np.flatnonzero(in_force_on_time(right))
    until, replaced_by = in_force.retained(join, right.iloc[here])
    arrived = right["batch"].to_numpy()
    until = np.where(replaced_by >= 0, arrived[here], until)
    leaves = arrived.copy()
    leaves[here] = np.minimum(np.maximum(arrived[here], until), len(marks))
    left["evicted_in"], right["evicted_in"] = left["batch"], leaves
    left["leaves_at"], right["leaves_at"] = left["start"], np.full(len(right), NEVER)  # no watermark evicts a rule
    return _outcome(join, marks, sides, shared)


def _candidates(join: RulesJoin, sides: Mapping[Side, pd.DataFrame]) -> tuple[RowNumbers, RowNumbers]:
    """Each left row with each rule in force for it of those that are on time, as places in the assignments."""
    here = {side: np.flatnonzero(in_force_on_time(sides[side])) for side in SIDES}
    one, other = in_force.in_force(join, *(sides[side].iloc[here[side]] for side in SIDES))
    return here[_LEFT][one], here[_RIGHT][other]


def versions(join: RulesJoin, outcome: Outcome) -> pd.DataFrame:
    """The versions of rules that are in force for some rows, as right assignments with ``begin`` and ``until``.

    These are event times in microseconds, 2**62 without an end; by arrival, micro-batches.
    """
    mine = outcome.assignments[_RIGHT]
    mine = mine[in_force_on_time(mine)]
    places, begin, until = in_force.covered(join, mine)
    return mine.iloc[places].assign(begin=begin, until=until)


def in_force_on_time(mine: pd.DataFrame) -> Flags:
    """Which assignments reach the processor, and are no rules without a name."""
    named = (mine["rule"] >= 0).to_numpy() if "rule" in mine else True
    return on_time(mine) & (mine["key"] >= 0).to_numpy() & named


def _outcome(join: RulesJoin, marks: Watermarks, sides: dict[Side, pd.DataFrame], shared: Shared) -> Outcome:
    """What comes out, of sides that are told in which micro-batch they are ``evicted_in``."""
    left, right = sides[_LEFT], sides[_RIGHT]
    one, other = _candidates(join, sides)
    where = shared.where(join)
    if where is not None:
        met = where(left["row"].to_numpy()[one], right["row"].to_numpy()[other])
        one, other = one[met], other[met]
    batch = left["evicted_in"].to_numpy()[one]
    out = batch < len(marks)
    pairs = {_LEFT: one[out], _RIGHT: other[out]}
    for side, mine in sides.items():
        matched, alive = np.zeros(len(mine), dtype=bool), on_time(mine)
        matched[pairs[side]] = True
        mine["matched"], mine["waits"] = matched, False
        mine["held"] = alive & (mine["evicted_in"] > mine["batch"])
        mine["group"] = np.full(len(mine), -1, dtype=np.int8)
    right.loc[right.index[other[~out]], "waits"] = True
    rows = {side: sides[side]["row"].to_numpy() for side in SIDES}
    none = np.zeros(int(out.sum()), dtype=np.int64)
    outputs = of_pairs(emission(join), rows, Placed(pairs, none, none, batch[out]), {})
    counted = _counted(join, sides, len(marks))
    return Outcome(marks, shared.keys_of(join), sides, outputs, no_groups(), np.zeros(len(marks), int), counted)


def _counted(join: RulesJoin, sides: dict[Side, pd.DataFrame], count: int) -> Counts:
    """How many rows Spark counts in state: those of rules once for each copy."""
    return rows_present(sides[_LEFT], count) + (join.copies or 1) * rows_present(sides[_RIGHT], count)


def _dropped(join: RulesJoin, late: pd.DataFrame) -> pd.DataFrame:
    """The late rows that Spark counts as dropped: those of rules once for each copy."""
    copies = np.where(late["side"] == _RIGHT, join.copies or 1, 1)
    return late.loc[late.index.repeat(copies)]


BY_EVENT_TIME = OperatorModel(_by_event_time, _dropped)
BY_ARRIVAL = OperatorModel(_by_arrival, _dropped)
MEETING = Meeting(versions_of, in_force.in_force, _candidates, Met)
