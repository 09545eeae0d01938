"""Rules that left rows meet: by event time, once nothing can change them any more, or by arrival, at once."""

from __future__ import annotations

from typing import cast

import numpy as np
import pandas as pd

from workbench.joins import Join, RulesJoin, emission
from workbench.kinds import Micros, Rules, kind_of
from workbench.literals import SIDES, Side
from workbench.model import _hash_join
from workbench.model._outcome import Outcome, on_time, rows_present
from workbench.model._outputs import Placed, of_pairs
from workbench.model._shared import Shared
from workbench.model._watermarks import ENDED, Watermarks
from workbench.spark_versions import SparkFacts

_LEFT, _RIGHT = SIDES


def by_event_time(
    join: Join, marks: Watermarks, sides: dict[Side, pd.DataFrame], shared: Shared, _: SparkFacts
) -> Outcome:
    """What comes out of rules by event time; arguments as in `workbench.model._operators.OperatorModel`.

    A left row is in state until the watermark has passed it; a version of a rule until it has passed the next one, or
    the version itself if that withdraws the rule.
    """
    left, right = sides[_LEFT], sides[_RIGHT]
    closes = np.maximum(left["batch"], np.searchsorted(marks.eviction, np.minimum(left["start"], ENDED))).to_numpy()
    here = np.flatnonzero(in_force_on_time(right))
    until, replaced_by = _rules(join).retained(join, right.iloc[here])
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


def by_arrival(
    join: Join, marks: Watermarks, sides: dict[Side, pd.DataFrame], shared: Shared, _: SparkFacts
) -> Outcome:
    """What comes out of rules by arrival; arguments as in `by_event_time`.

    Left rows are never in state; a version of a rule is until another of the rule arrives.
    """
    left, right = sides[_LEFT], sides[_RIGHT]
    here = np.flatnonzero(in_force_on_time(right))
    until, replaced_by = _rules(join).retained(join, right.iloc[here])
    arrived = right["batch"].to_numpy()
    until = np.where(replaced_by >= 0, arrived[here], until)
    leaves = arrived.copy()
    leaves[here] = np.minimum(np.maximum(arrived[here], until), len(marks))
    left["evicted_in"], right["evicted_in"] = left["batch"], leaves
    return _outcome(join, marks, sides, shared)


def candidates(join: Join, sides: dict[Side, pd.DataFrame]) -> tuple[Micros, Micros]:
    """Each left row with each rule in force for it of those that are on time, as places in the assignments."""
    here = {side: np.flatnonzero(in_force_on_time(sides[side])) for side in SIDES}
    one, other = _rules(join).in_force(join, *(sides[side].iloc[here[side]] for side in SIDES))
    return here[_LEFT][one], here[_RIGHT][other]


def rule_versions(join: Join, outcome: Outcome) -> pd.DataFrame:
    """The versions of rules that are in force for some rows, as right assignments with ``begin`` and ``until``.

    These are event times in microseconds, 2**62 without an end; by arrival, micro-batches.
    """
    mine = outcome.assignments[_RIGHT]
    mine = mine[in_force_on_time(mine)]
    places, begin, until = _rules(join).covered(join, mine)
    return mine.iloc[places].assign(begin=begin, until=until)


def in_force_on_time(mine: pd.DataFrame) -> Micros:
    """Which assignments reach the processor, and are no rules without a name."""
    named = (mine["rule"] >= 0).to_numpy() if "rule" in mine else True
    return on_time(mine) & (mine["key"] >= 0).to_numpy() & named


def _rules(join: Join) -> Rules:
    return cast(Rules, kind_of(join).rules)


def _outcome(join: Join, marks: Watermarks, sides: dict[Side, pd.DataFrame], shared: Shared) -> Outcome:
    """What comes out, of sides that are told in which micro-batch they are ``evicted_in``."""
    left, right = sides[_LEFT], sides[_RIGHT]
    one, other = candidates(join, sides)
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
    counted = _counted(cast(RulesJoin, join), sides, len(marks))
    return Outcome(
        marks, shared.keys_of(join), sides, outputs, _hash_join.no_groups(), np.zeros(len(marks), int), counted
    )


def _counted(join: RulesJoin, sides: dict[Side, pd.DataFrame], count: int) -> Micros:
    """How many rows Spark counts in state: those of rules once for each copy."""
    return rows_present(sides[_LEFT], count) + (join.copies or 1) * rows_present(sides[_RIGHT], count)


def dropped(join: Join, late: pd.DataFrame) -> pd.DataFrame:
    """The late rows that Spark counts as dropped: those of rules once for each copy."""
    copies = np.where(late["side"] == _RIGHT, cast(RulesJoin, join).copies or 1, 1)
    return late.loc[late.index.repeat(copies)]
