"""Wider bounds of interval joins."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from workbench.arrays import RowNumbers, Times
from workbench.builtin_kinds.interval.bounds import edges
from workbench.fixes.search import MS, NEVER, Search
from workbench.joins import IntervalJoin
from workbench.literals import Setting, Side
from workbench.model import on_time
from workbench.streams import SIDES

__all__ = ["bounds"]

_NEAREST = 4  # partners on each side of a row that are tried where some cannot meet it


def bounds(search: Search, join: IntervalJoin) -> pd.DataFrame:
    """Wider bounds, for rows that were on time and whose nearest partner on time is out of reach."""
    low, high = edges(join)
    reach_low, reach_high = low + join.lower_exclusive * search.tick, high - join.upper_exclusive * search.tick
    some_cannot = search.loses_expiring or search.simulation.where is not None or search.of_one_stream
    alive = {}
    for side in SIDES:
        assignments = search.outcome.assignments[side]
        alive[side] = on_time(assignments) & (search.key[side] >= 0)
    parts = []
    for side, partner in (SIDES, SIDES[::-1]):
        rows = np.flatnonzero(alive[side] & ~search.matched[side])
        for ahead, skip in product((True, False), range(_NEAREST if some_cannot else 1)):
            beyond_upper = ahead == (side == "left")
            reach = (reach_high if beyond_upper else reach_low) * (1 if side == "left" else -1)
            near = search.nearest(side, rows, np.flatnonzero(alive[partner]), reach, ahead=ahead, skip=skip)
            mine, theirs = rows[near >= 0], near[near >= 0]
            distance = (search.time[partner][theirs] - search.time[side][mine]) * (1 if side == "left" else -1)
            if search.of_one_stream:  # a row is no partner of itself, nor of one that is nearer the other way round
                away, mirrored = (np.maximum(reach_low - each, each - reach_high) for each in (distance, -distance))
                new = (theirs != mine) & (np.maximum(mirrored, 0) >= away)
                mine, theirs, distance = mine[new], theirs[new], distance[new]
            if beyond_upper:
                value = distance + join.upper_exclusive * search.tick
                parts.append(_bound(search, side, mine, "upper", value, value - high, theirs))
            else:
                value = distance - join.lower_exclusive * search.tick
                parts.append(_bound(search, side, mine, "lower", value, low - value, theirs))
    return pd.concat(parts, ignore_index=True)


def _bound(
    search: Search, side: Side, rows: RowNumbers, setting: Setting, value: Times, change: Times, partner: RowNumbers
) -> pd.DataFrame:
    if search.loses_expiring:
        one, other = (rows, partner) if side == "left" else (partner, rows)
        batch = search.batch["left"][one]
        mark = np.where(batch == search.batch["right"][other], search.outcome.marks.eviction[batch], 0)
        held = search.right_retention if setting == "upper" else -(value // MS) * MS
        lost = mark >= search.time["right"][other] + held
        value = np.where(lost, NEVER, value)
    return search.candidates(side, rows, setting, value=value, change=change, partner=partner)
