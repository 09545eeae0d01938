"""Flink's ``TimeIntervalJoin`` with a rowtime, row by row, as it is written: what the model's arrays are held to."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from workbench.arrays import Batches, RowNumbers, Times
from workbench.kinds import MS
from workbench.literals import SIDES, Side, other_side

_ENDED = 2**60
"""A watermark, in milliseconds, that is that of the end of the input."""


@dataclass
class _Cache:
    """The rows of one side and key by time, and the time at which a timer removes the first of them; None: no timer."""

    rows: dict[int, list[int]] = field(default_factory=dict)
    timer: int | None = None


class Operator:
    """Flink's operator, row by row; all times in milliseconds.

    Parameters
    ----------
    low, high
        The bounds, both inclusive.
    sides
        The assignments.
    """

    def __init__(self, low: int, high: int, sides: Mapping[Side, pd.DataFrame]) -> None:
        self.reach: dict[Side, int] = {"left": high, "right": -low}
        """How far after a row of a side its last partner lies."""
        self._sides = sides
        self._times = {side: (sides[side]["start"].to_numpy() // MS).tolist() for side in SIDES}
        self._keys = {side: sides[side]["key"].tolist() for side in SIDES}
        self._caches: dict[Side, dict[int, _Cache]] = {"left": {}, "right": {}}
        self._expired: dict[Side, int] = dict.fromkeys(SIDES, 0)
        """Up to which times a side's caches have been cleaned: of all keys, as of the last that was."""
        self._met = {side: np.zeros(len(sides[side]), dtype=bool) for side in SIDES}
        self.removed = {side: sides[side]["batch"].to_numpy().copy() for side in SIDES}
        self._alone: dict[Side, list[tuple[int, int]]] = {"left": [], "right": []}
        self._pairs: list[tuple[int, int, int]] = []
        self._timers: list[tuple[int, int]] = []

    def run(self, true: Times) -> None:
        """Take all rows in, and the watermark after each step."""
        batch = np.concatenate([self._sides[side]["batch"].to_numpy() for side in SIDES])
        row = np.concatenate([self._sides[side]["row"].to_numpy() for side in SIDES])
        cut = len(self._sides["left"])
        came = np.lexsort((row, np.arange(len(row)) >= cut, batch)).tolist()
        steps, place, watermark = batch.tolist(), 0, -_ENDED
        for step, mark in enumerate((true // MS).tolist()):
            while place < len(came) and steps[came[place]] == step:
                each = came[place]
                self._take("left" if each < cut else "right", each - cut * (each >= cut), step, max(watermark, 0))
                place += 1
            if mark > watermark:
                watermark = mark
                while self._timers and self._timers[0][0] <= watermark:
                    self._fire(*heapq.heappop(self._timers), step, max(watermark, 0))

    def met(self) -> tuple[RowNumbers, RowNumbers, Batches]:
        """The pairs, as places in the assignments, and the step in which each comes out."""
        found = np.array(self._pairs, dtype=np.int64).reshape(-1, 3)
        return found[:, 0], found[:, 1], found[:, 2]

    def alone(self, side: Side) -> tuple[RowNumbers, Batches]:
        """The rows of a side that come out without partner, and when."""
        found = np.array(self._alone[side], dtype=np.int64).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    def _take(self, side: Side, place: int, step: int, now: int) -> None:
        other, time, key = other_side(side), self._times[side][place], self._keys[side][place]
        first, last = time - self.reach[other], time + self.reach[side]
        if self._expired[other] < last:
            self._expired[other] = self._expires(other, now)
            cache = self._caches[other].get(key)
            for at in list(cache.rows) if cache else ():
                if first <= at <= last and key >= 0:
                    for partner in cache.rows[at]:  # type: ignore[union-attr]  # there is one
                        pair = (place, partner) if side == "left" else (partner, place)
                        self._pairs.append((*pair, step))
                        self._met[side][place] = self._met[other][partner] = True
                if at <= self._expired[other]:
                    self._remove(other, cache.rows.pop(at), step)  # type: ignore[union-attr]
        if now < last:
            cache = self._caches[side].setdefault(key, _Cache())
            cache.rows.setdefault(time, []).append(place)
            if cache.timer is None:
                self._set(side, key, cache, time)
        else:
            self._remove(side, [place], step)

    def _expires(self, side: Side, now: int) -> int:
        """Up to which time rows of a side can meet nothing any more."""
        return now if now >= _ENDED else now - self.reach[side] - 1

    def _set(self, side: Side, key: int, cache: _Cache, time: int) -> None:
        cache.timer = time + self.reach[side] + 1
        heapq.heappush(self._timers, (cache.timer, key))

    def _fire(self, timer: int, key: int, step: int, now: int) -> None:
        for side in SIDES[::-1]:
            cache = self._caches[side].get(key)
            if cache is None or cache.timer != timer:
                continue
            self._expired[side] = self._expires(side, now)
            for at in [each for each in cache.rows if each <= self._expired[side]]:
                self._remove(side, cache.rows.pop(at), step)
            if cache.rows:
                self._set(side, key, cache, min(cache.rows))
            else:
                del self._caches[side][key]

    def _remove(self, side: Side, places: list[int], step: int) -> None:
        for place in places:
            self.removed[side][place] = step
            if not self._met[side][place]:
                self._alone[side].append((place, step))
