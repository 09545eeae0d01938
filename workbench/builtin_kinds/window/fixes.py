"""Other tumbling and sliding windows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from workbench import times
from workbench.arrays import Counts, RowNumbers, Times
from workbench.fixes.search import MS, NEVER, Search
from workbench.literals import Side, other_side
from workbench.streams import SIDES
from workbench.windows import Sliding, Tumbling

__all__ = ["windows"]

_NEAREST = 4  # partners on each side of a row that are looked at
_SIZES = 20_000  # sizes above a tumbling window's own that are tried
_MINUTE = 60_000 * MS
_AT_ONCE = 500_000  # sizes that are tried at once, of all rows


def windows(search: Search, window: Tumbling | Sliding) -> pd.DataFrame:
    """Other windows, for rows whose nearest partner is in none of theirs."""
    offset, size = times.micros(window.offset), times.micros(window.size)
    parts, shifted = [], {side: np.zeros(len(search.time[side]), dtype=bool) for side in SIDES}
    beside = list(_neighbours(search))
    for side, rows, partner, _ in beside:
        first, last, mark, closing = _open(search, side, rows, partner)
        if isinstance(window, Sliding):
            start = first - (first - offset) % times.micros(window.slide)
            least = np.maximum(last - start + 1, mark - start + 1)
            enough = -(-least // MS) * MS
            value = np.where(start + enough <= closing, enough, NEVER)
            parts.append(search.candidates(side, rows, "size", value=value, change=value - size, partner=partner))
            continue
        edge = last - (last - offset) % size  # the start of the later one's window
        for shift in _shifts(first, last, edge, size, mark, closing):
            apart = (edge > first) & (shift < NEVER) & (shift > -NEVER)
            value = np.where(apart, offset + shift, NEVER)
            parts.append(search.candidates(side, rows, "offset", value=value, change=np.abs(shift), partner=partner))
            shifted[side][parts[-1]["row"]] = True
    if isinstance(window, Tumbling):
        # shifting every window is the smaller change in kind, too: a size is asked for where no shift does
        for side, rows, partner, nearest in beside:
            if nearest:
                rows, partner = (each[~shifted[side][rows]] for each in (rows, partner))
                first, last, mark, closing = _open(search, side, rows, partner)
                value = _sizes(first - offset, last - offset, size, mark - offset, closing - offset)
                parts.append(search.candidates(side, rows, "size", value=value, change=value - size, partner=partner))
    return pd.concat(parts, ignore_index=True)


def _open(search: Search, side: Side, rows: RowNumbers, partner: RowNumbers) -> tuple[Times, Times, Times, Times]:
    """Of pairs of rows the earlier and the later time, and between which times a window that holds both has to end."""
    marks, other = search.outcome.marks, other_side(side)
    moments = search.time[side][rows], search.time[other][partner]
    arrived = search.batch[side][rows], search.batch[other][partner]
    mark = np.maximum(*(search.judged_by(each) for each in arrived))
    if search.loses_expiring:
        mark = np.where(arrived[0] == arrived[1], marks.eviction[arrived[0]], mark)
    closing = np.full(len(rows), marks.eviction[-1] if search.waits else NEVER)
    return np.minimum(*moments), np.maximum(*moments), mark, closing


def _neighbours(search: Search) -> Iterator[tuple[Side, RowNumbers, RowNumbers, bool]]:
    """Rows without partner with near rows of their key on the other side, and whether these are the nearest."""
    for side, partner in (SIDES, SIDES[::-1]):
        rows = np.flatnonzero(~search.matched[side] & (search.key[side] >= 0))
        partners = np.flatnonzero(search.key[partner] >= 0)
        for ahead in (True, False):
            for skip in range(_NEAREST):
                near = search.nearest(side, rows, partners, -1 if ahead else 0, ahead=ahead, skip=skip)
                yield side, rows[near >= 0], near[near >= 0], skip == 0


def _shifts(first: Times, last: Times, edge: Times, size: int, mark: Times, closing: Times) -> tuple[Times, Times]:
    """How far to shift tumbling windows, to the right and to the left, so that both times share one still open."""
    right = np.maximum(last - edge + 1, mark - edge + 1)
    rounded = -(-right // MS) * MS
    most = first - edge + size
    right = np.where(rounded <= most, rounded, right)
    right = np.where((right <= most) & (right > 0) & (edge + right <= closing), right, NEVER)
    left = edge - first
    inside = (first + size > last) & (first + size > mark) & (first + size <= closing)
    return right, np.where(inside, -left, -NEVER)


def _sizes(first: Times, last: Times, size: int, mark: Times, closing: Times) -> Counts:
    """The least size with which both times share a tumbling window still open: in whole milliseconds, or seconds."""
    found = np.full(len(first), NEVER)
    left = np.arange(len(first))
    above = np.maximum(np.maximum(last, mark - 1) - first, size)
    unit = np.where(above < _MINUTE, MS, 1000 * MS)  # nobody sets a window of hours to a millisecond
    least = above // unit * unit + unit
    ends_after, step, many = np.maximum(last + 1, mark + 1), 0, 1
    while len(left) and step < _SIZES:
        many = min(2 * many, _SIZES - step, max(1, _AT_ONCE // len(left)))
        tried = least[left, None] + np.arange(step, step + many) * unit[left, None]
        end = (first[left, None] // tried + 1) * tried
        good = (end >= ends_after[left, None]) & (end <= closing[left, None])
        some = good.any(axis=1)
        found[left[some]] = tried[some, good[some].argmax(axis=1)]
        left, step = left[~some], step + many
    return found
