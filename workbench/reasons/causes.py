"""Why rows have no partner, in a few words each: what the sentences of `Run.rows` are grouped by."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from workbench.errors import TooLargeError
from workbench.kinds import kind_of, part_of
from workbench.literals import SIDES, Side, other_side
from workbench.model import Micros, Shared, Simulation, complete
from workbench.model.ordering import along_keys, among, order
from workbench.reasons import partners
from workbench.reasons.own import CauseMasks, OwnReasons
from workbench.streams import Stream, some_rows

__all__ = ["causes", "had_partner", "kept_apart", "nearest_distance"]

_FAR = np.iinfo(np.int64).min


def causes(simulation: Simulation) -> dict[Side, np.ndarray[Any, Any]]:
    """Per side the cause of every row's fate, in a few words that many rows share."""
    fates = {side: simulation.fates[side]["fate"].to_numpy() for side in SIDES}
    passed = kept_apart(simulation, {side: np.flatnonzero(fates[side] == "unmatched") for side in SIDES})
    met = had_partner(simulation, {side: np.flatnonzero(fates[side] == "late") for side in SIDES})
    return {side: _of_side(simulation, side, passed[side], met[side]) for side in SIDES}


def _of_side(simulation: Simulation, side: Side, passed: Micros, met: Micros) -> np.ndarray[Any, Any]:
    kind, table = kind_of(simulation.join), simulation.fates[side]
    fate, windows = table["fate"].to_numpy(), table["all"].to_numpy()
    other = simulation.side(other_side(side)).name
    across = partners.keys_across(simulation, side)
    known = across == partners.CAME
    found = np.where(fate == "matched", f"met rows of {other}", "").astype(object)
    found[fate == "null_key"] = "its key is null"
    found[fate == "pending"] = "still waiting when the recording ended"
    late, unmatched = fate == "late", fate == "unmatched"
    found[late] = f"late, and no row of {other} in reach"
    absent = {
        partners.NEVER: f"its key never came on {other}",
        partners.LEFT_OUT: f"its key came on {other} only in rows that the job takes out",
        partners.UNTIMED: f"its key came on {other} without an event time, or with one in the far future",
    }
    for code, words in absent.items():
        found[late & (across == code)] = f"late, and {words}"
    found[met] = f"late, and would have met a row of {other}"
    found[unmatched] = f"no row of {other} in reach was on time"
    away = np.flatnonzero(unmatched & known)
    distance = nearest_distance(simulation, side, away)
    near = distance != _FAR
    found[away[near]] = kind.missed(simulation.join, distance[near] * (1 if side == "left" else -1))
    for code, words in absent.items():
        found[unmatched & (across == code)] = words
    where, refused = simulation.where, simulation.refused[side] > 0
    if where is not None:
        found[unmatched & refused] = f"no row of {other} in reach satisfies {where.text}"
    if (own := part_of(simulation.join, OwnReasons)) is not None:
        would_meet = np.zeros(len(found), dtype=bool)
        would_meet[met] = True
        own.causes(simulation, side, CauseMasks(fate == "matched", late, unmatched, would_meet, known, refused), found)
    found[passed] = f"the watermark had passed it, or its row of {other}"
    found[unmatched & (windows == 0)] = "in the gap between two windows"
    found[unmatched & partners.left_out(simulation, side)] = "left out by the job's filters"
    return found


def kept_apart(simulation: Simulation, unmatched: dict[Side, Micros]) -> dict[Side, Micros]:
    """Per side those of the rows without partner that have one if nothing is late, and no window closes too early."""
    late = {side: mine.loc[mine["late"], "row"].to_numpy() for side, mine in simulation.outcome.assignments.items()}
    # a late row is the only reason, but for sessions, which close although a row on time would have gone on with them
    return _partnered(simulation, unmatched, unmatched if kind_of(simulation.join).merging else late)


def had_partner(simulation: Simulation, chosen: dict[Side, Micros]) -> dict[Side, Micros]:
    """Per side those of some rows that have a partner if nothing is late."""
    return _partnered(simulation, chosen, chosen)


def _partnered(simulation: Simulation, chosen: dict[Side, Micros], asked_of: dict[Side, Micros]) -> dict[Side, Micros]:
    """Per side those of some rows that have a partner if nothing is late, sought among the keys of some rows."""
    codes = dict(zip(SIDES, simulation.outcome.keys, strict=True))
    if not any(len(asked_of[side]) for side in SIDES):
        return dict.fromkeys(SIDES, np.array([], dtype=np.int64))
    asked = np.concatenate([codes[side][asked_of[side]] for side in SIDES])
    rows = {side: np.flatnonzero(among(codes[side], asked)) for side in SIDES}
    left, right = (_at_once(some_rows(simulation.side(side), rows[side])) for side in SIDES)
    try:
        everything = complete(simulation.join, left, right, Shared(left, right, rows=simulation.facts.of(rows)))
    except TooLargeError:
        return dict.fromkeys(SIDES, np.array([], dtype=np.int64))
    found = {}
    for side in SIDES:
        partnered, picked = np.zeros((2, len(codes[side])), dtype=bool)
        partnered[rows[side][everything.assignments[side].loc[lambda mine: mine["matched"], "row"]]] = True
        picked[chosen[side]] = True
        found[side] = np.flatnonzero(partnered & picked)
    return found


def _at_once(stream: Stream) -> Stream:
    """A stream with all rows in one micro-batch: where nothing is late, it does not matter when rows arrive."""
    return replace(stream, arrival=np.zeros(len(stream), dtype=np.int64), batch_count=1, arrivals=None)


def nearest_distance(simulation: Simulation, side: Side, rows: Micros) -> Micros:
    """Signed time from each of some rows to the nearest of its key on the other side; the least number without one."""
    keys = dict(zip(SIDES, simulation.outcome.keys, strict=True))
    other = other_side(side)
    rows = rows.astype(np.int64)
    times, theirs = simulation.side(side).event_times[rows], simulation.side(other).event_times
    distance: Micros = np.full(len(rows), _FAR)
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
        nearer = same & ((distance == _FAR) | (np.abs(apart) < np.abs(distance)))
        distance[nearer] = apart[nearer]
    return distance
