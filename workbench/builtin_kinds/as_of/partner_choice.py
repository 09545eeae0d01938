"""Which right row is the partner of each left row in an as-of join, and until when it can change."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.arrays import Codes, Flags, RowNumbers, Times
from workbench.joins import AsOfJoin
from workbench.kinds import NEVER
from workbench.model.ordering import along_keys, order
from workbench.times import micros

__all__ = ["covered", "in_reach", "nearest_pairs", "partners", "retained", "rows_kept"]

_FACES = (("backward", -1), ("forward", 1))


def partners(join: AsOfJoin, left: pd.DataFrame, right: pd.DataFrame) -> tuple[Times, Times]:
    """The partner of each left row among some right rows, and from when on nothing can change it.

    Parameters
    ----------
    join
        The join; its tolerance is not looked at.
    left, right
        Columns ``key`` (code, 0 or more), ``start`` (the event time, in microseconds), in order of arrival.

    Returns
    -------
    picked
        The place of the partner; -1 where there is none.
    known_at
        The watermark, in microseconds, from which on that is certain, of right rows that are on time; 2**62: never.
    """
    time, times = left["start"].to_numpy(), right["start"].to_numpy()
    before, after = _around(left, right, join.allow_exact)
    known = np.where(after >= 0, _at(times, after), NEVER)
    match join.direction:
        case "backward":
            return before, time
        case "forward":
            return after, np.maximum(known, time)
    nearer = (after >= 0) & ((before < 0) | (_at(times, after) - time < time - _at(times, before)))
    known = np.where(before >= 0, np.minimum(known, 2 * time - _at(times, before)), known)
    return np.where(nearer, after, before), np.maximum(known, time)


def retained(join: AsOfJoin, right: pd.DataFrame) -> tuple[Times, Times]:
    """Until when a right row may still be a partner.

    Parameters
    ----------
    join, right
        As in `partners`.

    Returns
    -------
    until
        For each right row the watermark, in microseconds, from which on it is no partner of any row that can still
        come; 2**62: never.
    replaced_by
        The place of the right row at the same event time that replaces it when it arrives; -1 where there is none.
    """
    key, time = right["key"].to_numpy(), right["start"].to_numpy()
    places = order(along_keys((key, time))[0])
    key, time = key[places], time[places]
    begins = np.flatnonzero(np.append(True, (key[1:] != key[:-1]) | (time[1:] != time[:-1]))[: len(places)])
    instant = np.searchsorted(begins, np.arange(len(places)), side="right") - 1
    until = np.empty(len(places), dtype=np.int64)
    until[places] = time if join.direction == "forward" else _next(key[begins], time[begins], rows_kept(join))[instant]
    replaced_by = np.full(len(places), -1)
    again = np.flatnonzero(instant[1:] == instant[:-1])
    replaced_by[places[again]] = places[again + 1]
    return until, replaced_by


def covered(join: AsOfJoin, right: pd.DataFrame) -> tuple[Times, Times]:
    """From when until when left rows have each right row as their partner.

    Parameters
    ----------
    join
        The join.
    right
        Columns ``key``, ``start``, in order of key and time, no two of one key at the same time.

    Returns
    -------
    begin, end
        Event times in microseconds; 2**62 below and above 0 where there is no end.
    """
    key, time = right["key"].to_numpy(), right["start"].to_numpy()
    far = NEVER if join.tolerance is None else np.int64(micros(join.tolerance))
    begin, end = (time if join.direction == side else time + sign * far for side, sign in _FACES)
    if len(time) > 1:
        apart = np.diff(time)
        reach = {"backward": apart, "forward": apart, "nearest": apart // 2}[join.direction]
        same = key[1:] == key[:-1]
        begin[1:] = np.where(same, np.maximum(begin[1:], time[1:] - reach), begin[1:])
        end[:-1] = np.where(same, np.minimum(end[:-1], time[:-1] + reach), end[:-1])
    return begin, end


def rows_kept(join: AsOfJoin) -> int:
    """How many of the right rows that the watermark has passed are kept, the latest ones.

    A left row that waits for a nearer one needs the last before it, which is the last but one where a right row at its
    own time is no partner.
    """
    return 2 if join.direction == "nearest" and not join.allow_exact else 1


def _next(key: Codes, time: Times, steps: int) -> Times:
    """Of instants in order of key and time that of the same key so many steps later; `NEVER` where there is none."""
    found = np.full(len(key), NEVER)
    found[:-steps] = np.where(key[steps:] == key[:-steps], time[steps:], NEVER)
    return found


def nearest_pairs(join: AsOfJoin, one: RowNumbers, left: Times, other: RowNumbers, right: Times) -> RowNumbers:
    """The places, among some pairs, of those of a left row and its partner.

    Parameters
    ----------
    join
        The join.
    one, other
        The rows of each pair, numbered in order of arrival.
    left, right
        Their event times.
    """
    apart = right - left
    ranked = np.lexsort((other, apart <= 0, -np.abs(apart), one))
    last = np.ones(len(one), dtype=bool)
    last[:-1] = one[ranked][1:] != one[ranked][:-1]
    return ranked[last]


def in_reach(join: AsOfJoin, left: Times, right: Times) -> Flags:
    """Which of some pairs within the tolerance, given as their event times, may be partners."""
    return (left != right) | join.allow_exact


def _around(left: pd.DataFrame, right: pd.DataFrame, exact: bool) -> tuple[RowNumbers, RowNumbers]:
    """The places of the right rows just before and just after each left row; -1 where there is none."""
    none = np.full(len(left), -1)
    if not (len(left) and len(right)):
        return none, none
    keys = left["key"].to_numpy(), right["key"].to_numpy()
    mine, axis = along_keys(*((key, rows["start"].to_numpy()) for key, rows in zip(keys, (left, right), strict=True)))
    places = order(axis)
    axis = axis[places]
    last = np.searchsorted(axis, mine, side="right" if exact else "left") - 1
    first = np.searchsorted(axis, mine, side="left" if exact else "right")
    first = np.where(first < len(axis), np.searchsorted(axis, _at(axis, first), side="right") - 1, -1)
    found = []
    for at in (last, first):
        place = np.where(at >= 0, places[at], -1)
        found.append(np.where((place >= 0) & (keys[1][place] == keys[0]), place, -1))
    return found[0], found[1]


def _at(values: Times, places: RowNumbers) -> Times:
    """Values at places, those beyond the ends taken from the end."""
    if not len(values):
        return np.zeros(len(places), dtype=np.int64)
    return values[np.clip(places, 0, len(values) - 1)]
