"""What would have given rows of an as-of join a partner: longer watermark delays, a wider tolerance."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from workbench import times
from workbench.arrays import Flags, RowNumbers, Times
from workbench.builtin_kinds.as_of import partner_choice
from workbench.fixes import delays as longer_delays
from workbench.fixes.search import COLUMNS, MS, Search
from workbench.joins import AsOfJoin
from workbench.literals import SIDES, Side, Sides
from workbench.model import on_time

__all__ = ["delays", "tolerance"]


def delays(search: Search, join: AsOfJoin, certain_at: Callable[[AsOfJoin, Times, Times], Times]) -> pd.DataFrame:
    """Longer delays, for left rows whose partner were another if nothing came late, and for these partners.

    Parameters
    ----------
    search, join
        The rows of a run, and its join.
    certain_at
        Gives the watermark from which on pairs are certain, of the join and their event times.
    """
    one, other = _partners(search, join, {side: np.ones(len(search.assignments[side]), dtype=bool) for side in SIDES})
    if join.tolerance is not None:
        near = np.abs(_apart(search, one, other)) <= times.micros(join.tolerance)
        one, other = one[near], other[near]
    times_of = (search.assignments[side]["start"].to_numpy()[place] for side, place in Sides(one, other).items())
    return longer_delays(search, (one, other), certain_at(join, *times_of))


def tolerance(search: Search, join: AsOfJoin) -> pd.DataFrame:
    """A wider tolerance, for rows on time whose nearest partner on time is farther away."""
    if join.tolerance is None:
        return pd.DataFrame(columns=COLUMNS)
    one, other = _partners(search, join, {side: on_time(search.assignments[side]) for side in SIDES})
    far = np.abs(_apart(search, one, other))
    allowed = times.micros(join.tolerance)
    time = search.assignments["left"]["end"].to_numpy()[one]
    last = int(search.outcome.marks.eviction[-1])
    reached = (time + far + MS <= last) & (time + allowed <= last)  # else it waits now, or would
    parts, places = [], {"left": one, "right": other}
    for side, partner in (SIDES, SIDES[::-1]):
        rows, theirs = (_rows(search, each, places[each]) for each in (side, partner))
        lost = (far > allowed) & ~search.matched[side][rows] & reached
        found = {"value": far[lost], "change": far[lost] - allowed, "partner": theirs[lost]}
        parts.append(search.candidates(side, rows[lost], "tolerance", **found))
    return pd.concat(parts, ignore_index=True)


def _partners(search: Search, join: AsOfJoin, among: dict[Side, Flags]) -> tuple[RowNumbers, RowNumbers]:
    """Left rows and their partners, however far, among some assignments, as places of these."""
    places = {side: np.flatnonzero(among[side] & (search.assignments[side]["key"] >= 0).to_numpy()) for side in SIDES}
    left, right = (search.assignments[side][["key", "start"]].iloc[places[side]] for side in SIDES)
    picked = partner_choice.partners(join, left, right)[0]
    some = picked >= 0
    return places["left"][some], places["right"][picked[some]]


def _apart(search: Search, one: RowNumbers, other: RowNumbers) -> Times:
    start = {side: search.assignments[side]["start"].to_numpy() for side in SIDES}
    apart: Times = start["right"][other] - start["left"][one]
    return apart


def _rows(search: Search, side: Side, places: RowNumbers) -> RowNumbers:
    rows: RowNumbers = search.assignments[side]["row"].to_numpy()[places]
    return rows
