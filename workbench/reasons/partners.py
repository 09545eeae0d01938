"""What is known of each row's partners: whether its key came on the other side, how far off, and what had kept them."""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum

import numpy as np

from workbench.arrays import Flags, RowNumbers, Times
from workbench.errors import TooLargeError
from workbench.kinds import kind_of
from workbench.literals import SIDES, Side, Sides, other_side
from workbench.model import Shared, Simulation, complete
from workbench.model.ordering import along_keys, among, order
from workbench.reasons.labels import key_words
from workbench.streams import Stream, some_rows

__all__ = [
    "FAR",
    "KeyAcross",
    "evicted_apart",
    "had_partner",
    "kept_apart",
    "keys_across",
    "left_out",
    "nearest_distance",
]


class KeyAcross(IntEnum):
    """What is known of a row's key on the other side."""

    NEVER_CAME = 0
    CAME = 1
    LEFT_OUT = 2
    """Only in rows that the job takes out before the join."""
    UNTIMED = 3
    """Only in rows without an event time, which are not followed."""


FAR = np.iinfo(np.int64).min
"""The distance of a row from the nearest of its key, where there is none."""


def left_out(simulation: Simulation, side: Side) -> Flags:
    """Which rows of a side the job takes out before they reach the join."""
    facts = simulation.facts
    found = np.zeros(len(simulation.side(side)), dtype=bool)
    if facts.filtered is not None:
        found |= facts.filtered[side]
    if facts.gone is not None:
        found |= facts.gone[side].rows
    return found


def keys_across(simulation: Simulation, side: Side) -> RowNumbers:
    """For each row of a side what is known of its key on the other side: a `KeyAcross`."""
    other = other_side(side)
    keys = Sides(*simulation.outcome.keys)
    out = left_out(simulation, other)
    found = np.full(len(keys[side]), KeyAcross.NEVER_CAME)
    if untimed := simulation.facts.untimed.get(other):
        found[np.isin(key_words(simulation.side(side)), list(untimed))] = KeyAcross.UNTIMED
    if out.any():
        found[among(keys[side], keys[other][out])] = KeyAcross.LEFT_OUT
    found[among(keys[side], keys[other][~out])] = KeyAcross.CAME
    return found


def kept_apart(simulation: Simulation, unmatched: dict[Side, RowNumbers]) -> dict[Side, RowNumbers]:
    """Per side those of the rows without partner that have one if nothing is late, and no window closes too early."""
    if kind_of(simulation.join).merging:  # sessions close although a row on time would have gone on with them
        return _partnered(simulation, unmatched, unmatched)
    codes = Sides(*simulation.outcome.keys)
    asked = np.concatenate([codes[side][unmatched[side]] for side in SIDES])
    late = {side: mine.loc[mine["late"], "row"].to_numpy() for side, mine in simulation.outcome.assignments.items()}
    mates = {side: rows[among(codes[side][rows], asked)] for side, rows in late.items()}
    return _partnered(simulation, unmatched, mates)


def evicted_apart(simulation: Simulation, unmatched: dict[Side, RowNumbers]) -> dict[Side, RowNumbers]:
    """Per side those of the rows without partner that have one if none leaves the state before all of its have come."""
    if not simulation.facts.evicts_early:
        return _no_rows()
    return _partnered(simulation, unmatched, unmatched)


def had_partner(simulation: Simulation, chosen: dict[Side, RowNumbers]) -> dict[Side, RowNumbers]:
    """Per side those of some rows that have a partner if nothing is late."""
    return _partnered(simulation, chosen, chosen)


def _partnered(
    simulation: Simulation, chosen: dict[Side, RowNumbers], asked_of: dict[Side, RowNumbers]
) -> dict[Side, RowNumbers]:
    """Per side those of some rows that have a partner if nothing is late, sought among the keys of some rows."""
    codes = Sides(*simulation.outcome.keys)
    if not any(len(asked_of[side]) for side in SIDES):
        return _no_rows()
    asked = np.concatenate([codes[side][asked_of[side]] for side in SIDES])
    rows = {side: np.flatnonzero(among(codes[side], asked)) for side in SIDES}
    left, right = (_at_once(some_rows(simulation.side(side), rows[side])) for side in SIDES)
    try:
        everything = complete(simulation.join, left, right, Shared(left, right, rows=simulation.facts.of(rows)))
    except TooLargeError:
        return _no_rows()
    found = {}
    for side in SIDES:
        partnered, picked = np.zeros((2, len(codes[side])), dtype=bool)
        partnered[rows[side][everything.assignments[side].loc[lambda mine: mine["matched"], "row"]]] = True
        picked[chosen[side]] = True
        found[side] = np.flatnonzero(partnered & picked)
    return found


def _no_rows() -> dict[Side, RowNumbers]:
    return dict.fromkeys(SIDES, np.array([], dtype=np.int64))


def _at_once(stream: Stream) -> Stream:
    """A stream with all rows in one micro-batch: where nothing is late, it does not matter when rows arrive."""
    return replace(stream, arrival=np.zeros(len(stream), dtype=np.int64), batch_count=1, arrivals=None)


def nearest_distance(simulation: Simulation, side: Side, rows: RowNumbers) -> Times:
    """Signed time from each of some rows to the nearest of its key on the other side; the least number without one."""
    keys = Sides(*simulation.outcome.keys)
    other = other_side(side)
    rows = rows.astype(np.int64)
    times, theirs = simulation.side(side).event_times[rows], simulation.side(other).event_times
    distance: Times = np.full(len(rows), FAR)
    if not len(theirs):
        return distance
    mine_along, other_along = along_keys((keys[side][rows], times), (keys[other], theirs))
    asked, found = order(mine_along), order(other_along)
    after = np.empty(len(rows), dtype=np.int64)
    after[asked] = np.searchsorted(other_along[found], mine_along[asked], side="right")
    for step in (-1, 0):  # the one before or at the same time, which wins a tie, then the one after
        near = found[np.clip(after + step, 0, len(found) - 1)]
        apart = theirs[near] - times
        same = (keys[other][near] == keys[side][rows]) & (keys[side][rows] >= 0)
        nearer = same & ((distance == FAR) | (np.abs(apart) < np.abs(distance)))
        distance[nearer] = apart[nearer]
    return distance
