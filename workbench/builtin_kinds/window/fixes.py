"""Other tumbling and sliding windows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from workbench import times
from workbench.arrays import Counts, RowNumbers, Times
from workbench.fixes.search import COLUMNS, MS, NEVER, Search
from workbench.literals import Side, other_side
from workbench.streams import SIDES
from workbench.windows import Sliding, Tumbling

__all__ = ["windows"]

_NEAREST = 4  # partners on each side of a row that are looked at
_SIZES = 20_000  # whole milliseconds above a tumbling window's size that are tried


def windows(search: Search, window: Tumbling | Sliding) -> pd.DataFrame:
    """Other windows, for rows whose nearest partner is in none of theirs."""
    marks = search.outcome.marks
    offset = times.micros(window.offset)
    parts = []
    for side, rows, partner, nearest in _neighbours(search):
        other = other_side(side)
        moments = search.time[side][rows], search.time[other][partner]
        first, last = np.minimum(*moments), np.maximum(*moments)
        arrived = search.batch[side][rows], search.batch[other][partner]
        mark = np.maximum(*(search.judged_by(each) for each in arrived))
        if search.semi:
            mark = np.where(arrived[0] == arrived[1], marks.eviction[arrived[0]], mark)
        closing = np.full(len(rows), marks.eviction[-1] if search.waits else NEVER)
        if isinstance(window, Sliding):
            start = first - (first - offset) % times.micros(window.slide)
            least = np.maximum(last - start + 1, mark - start + 1)
            size = -(-least // MS) * MS
            value = np.where(start + size <= closing, size, NEVER)
            parts.append(
                search.candidates(
                    side, rows, "size", value=value, change=value - times.micros(window.size), partner=partner
                )
            )
            continue
        size = times.micros(window.size)
        edge = last - (last - offset) % size  # the start of the later one's window
        shifts = _shifts(first, last, edge, size, mark, closing)
        for shift in shifts:
            apart = (edge > first) & (shift < NEVER) & (shift > -NEVER)
            value = np.where(apart, offset + shift, NEVER)
            parts.append(search.candidates(side, rows, "offset", value=value, change=np.abs(shift), partner=partner))
        if nearest:
            sizes = _sizes(first - offset, last - offset, size, mark - offset, closing - offset)
            parts.append(search.candidates(side, rows, "size", value=sizes, change=sizes - size, partner=partner))
    found = pd.concat(parts, ignore_index=True)
    # shifting every window is the smaller change in kind, too: a size is asked for where no shift does
    shifted = found.loc[found["setting"] == "offset", ["side", "row"]].drop_duplicates().assign(shifted=True)
    found = found.merge(shifted, on=["side", "row"], how="left")
    return found[(found["setting"] != "size") | found["shifted"].isna() | isinstance(window, Sliding)][COLUMNS]


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
    """The least size in whole milliseconds with which both times share a tumbling window still open."""
    found = np.full(len(first), NEVER)
    left = np.arange(len(first))
    tried = np.maximum(np.maximum(last, mark - 1) - first, size) // MS * MS + MS
    for _ in range(_SIZES):
        start = first // tried * tried
        good = (last < start + tried) & (start + tried > mark) & (start + tried <= closing)
        found[left[good]] = tried[good]
        left, tried, first, last, mark, closing = (
            each[~good] for each in (left, tried + MS, first, last, mark, closing)
        )
        if not len(left):
            break
    return found
