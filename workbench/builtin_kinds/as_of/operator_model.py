"""Joins that give each left row one right row, chosen when nothing can change the choice any more.

`_by_pairs`: Spark's hash join makes all pairs in reach, and its aggregation keeps one of each left row.
`_by_processor`: a processor in Python has both sides in state.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.arrays import Batches, Counts, RowNumbers
from workbench.builtin_kinds.as_of import partner_choice
from workbench.joins import AsOfJoin, emission
from workbench.literals import SIDES, Side
from workbench.model import OperatorModel
from workbench.model.operators import (
    ENDED,
    Outcome,
    Placed,
    Shared,
    Watermarks,
    dropped,
    evicted_up_to,
    keys_present,
    met,
    no_groups,
    of_pairs,
    on_time,
    present,
    rows_present,
)
from workbench.spark_versions import SparkFacts

__all__ = ["BY_PAIRS", "BY_PROCESSOR", "versions"]

_LEFT, _RIGHT = SIDES


def _by_pairs(
    join: AsOfJoin, marks: Watermarks, sides: dict[Side, pd.DataFrame], shared: Shared, spark: SparkFacts
) -> Outcome:
    """What comes out of a hash join and an aggregation; arguments as in `workbench.model.OperatorModel`.

    A group is open from a left row's first pair, or from when it comes out of the join without one, until the
    watermark that the join passes on has passed the row: the lower of those by which its two sides are evicted.
    """
    left, right = sides[_LEFT], sides[_RIGHT]
    one, other, met_in = met(join, marks, sides, shared, spark)
    alive = on_time(left)
    times = left["start"].to_numpy()[one], right["start"].to_numpy()[other]
    near = partner_choice.in_reach(join, *times)
    one, other, met_in = one[near], other[near], met_in[near]
    times = times[0][near], times[1][near]
    begin, leaves = left["batch"].to_numpy(), left["evicted_in"].to_numpy()
    passed_on = np.maximum.accumulate(np.minimum(*evicted_up_to(join, marks, shared)))
    closes = np.maximum(begin, np.searchsorted(passed_on, left["end"]))
    picked = partner_choice.nearest_pairs(join, one, times[0], other, times[1])
    partner = np.full(len(left), -1)
    partner[one[picked]] = other[picked]
    opens = np.full(len(left), len(marks))
    np.minimum.at(opens, one, met_in)
    if emission(join).padded:
        opens[partner < 0] = leaves[partner < 0]
    grouped = alive & (opens < len(marks))
    in_groups = present(opens[grouped], closes[grouped], len(marks))
    in_join = [rows_present(each, len(marks)) for each in (left, right)]
    left["evicted_in"] = np.where(grouped, np.maximum(leaves, closes), leaves)
    return _outcome(join, marks, sides, shared, (partner, closes), in_join[0] + in_join[1] + in_groups)


def _by_processor(
    join: AsOfJoin, marks: Watermarks, sides: dict[Side, pd.DataFrame], shared: Shared, _: SparkFacts
) -> Outcome:
    """What comes out of a processor with both sides in state; arguments as in `_by_pairs`.

    A left row is in state until its partner is known; a right row until a later one has taken its place for all left
    rows that can still come.
    """
    left, right = sides[_LEFT], sides[_RIGHT]
    here = {side: np.flatnonzero(on_time(sides[side]) & (sides[side]["key"] >= 0).to_numpy()) for side in SIDES}
    known = {side: sides[side][["key", "start"]].iloc[here[side]] for side in SIDES}
    partner, due = np.full(len(left), -1), np.full(len(left), ENDED)
    picked, due[here[_LEFT]] = partner_choice.partners(join, known[_LEFT], known[_RIGHT])
    partner[here[_LEFT][picked >= 0]] = here[_RIGHT][picked[picked >= 0]]
    keyless = np.flatnonzero((left["key"] < 0).to_numpy())  # they have a group of their own, without right rows
    due[keyless] = partner_choice.partners(join, left[["key", "start"]].iloc[keyless], known[_RIGHT].iloc[:0])[1]
    closes = np.maximum(left["batch"], np.searchsorted(marks.eviction, np.minimum(due, ENDED))).to_numpy()
    arrived = right["batch"].to_numpy()
    until, replaced_by = partner_choice.retained(join, known[_RIGHT])
    gone = np.searchsorted(marks.eviction, np.minimum(until, ENDED))
    overwritten = replaced_by >= 0
    gone[overwritten] = np.minimum(gone, arrived[here[_RIGHT]][replaced_by])[overwritten]
    leaves = arrived.copy()
    leaves[here[_RIGHT]] = np.maximum(leaves[here[_RIGHT]], gone)
    left["evicted_in"], right["evicted_in"] = closes, leaves
    left["leaves_at"], right["leaves_at"] = due, np.full(len(right), 0)
    right.loc[right.index[here[_RIGHT]], "leaves_at"] = until
    for mine in sides.values():
        mine["group"] = np.full(len(mine), -1, dtype=np.int8)
    held = [mine.loc[on_time(mine), ["key", "batch", "evicted_in"]] for mine in sides.values()]
    counted = keys_present(pd.concat(held, ignore_index=True), len(marks))
    return _outcome(join, marks, sides, shared, (partner, closes), counted)


def _outcome(
    join: AsOfJoin,
    marks: Watermarks,
    sides: dict[Side, pd.DataFrame],
    shared: Shared,
    chosen: tuple[RowNumbers, RowNumbers],
    counted: Counts,
) -> Outcome:
    """What comes out of left rows with these partners, -1 for none, in these micro-batches."""
    partner, closes = chosen
    left = sides[_LEFT]
    out = on_time(left) & (closes < len(marks))
    paired, alone = np.flatnonzero(out & (partner >= 0)), np.flatnonzero(out & (partner < 0))
    places = {_LEFT: paired, _RIGHT: partner[paired]}
    for side, place in places.items():
        matched = np.zeros(len(sides[side]), dtype=bool)
        matched[place] = True
        sides[side]["matched"] = matched
        sides[side]["waits"] = False
        sides[side]["held"] = on_time(sides[side]) & (sides[side]["evicted_in"] > sides[side]["batch"])
    still = np.flatnonzero(on_time(left) & (partner >= 0) & (closes >= len(marks)))
    sides[_RIGHT].loc[sides[_RIGHT].index[partner[still]], "waits"] = True
    emits = emission(join)
    padded = {_LEFT: _placed({_LEFT: alone}, closes[alone])} if emits.padded else {}
    rows = {side: sides[side]["row"].to_numpy() for side in SIDES}
    outputs = of_pairs(emits, rows, _placed(places, closes[paired]), padded)
    return Outcome(marks, shared.keys, sides, outputs, no_groups(), np.zeros(len(marks), int), counted)


def _placed(assignments: dict[Side, RowNumbers], batch: Batches) -> Placed:
    none = np.zeros(len(batch), dtype=np.int64)
    return Placed(assignments, none, none, batch)


def versions(join: AsOfJoin, outcome: Outcome) -> pd.DataFrame:
    """The right rows of a join that gives a left row one of them, and which left rows each is for.

    Returns
    -------
    pandas.DataFrame
        The assignments of right rows that are on time, but for those that another row at the same time replaces, in
        order of key and time, with ``begin`` and ``until``: between which event times left rows have it as their
        partner, in microseconds; 2**62 below and above 0 where there is no end.
    """
    mine = outcome.assignments[_RIGHT]
    mine = mine[on_time(mine) & (mine["key"] >= 0).to_numpy()]
    mine = mine.iloc[np.lexsort((mine["start"], mine["key"]))]
    mine = mine[~mine.duplicated(["key", "start"], keep="last")]
    begin, until = partner_choice.covered(join, mine)
    return mine.assign(begin=begin, until=until)


BY_PAIRS = OperatorModel(_by_pairs, dropped)
BY_PROCESSOR = OperatorModel(_by_processor, dropped)
