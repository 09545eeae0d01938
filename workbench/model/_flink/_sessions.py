"""Flink's sessions: a row's own window merges with those of its key that are still held, and is late by the result.

Most sessions are as the definition has them: no part of them ends before the next row is there. These are found with
NumPy; the others are replayed row by row. Invariant: both give the same for a session that both could take.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from workbench.arrays import Batches, Codes, Counts, RowNumbers, Times
from workbench.kinds import MS
from workbench.literals import SIDES, Side, Sides
from workbench.model._flink._firings import Firings
from workbench.model._watermarks import LONG_AGO
from workbench.model.ordering import along_keys, order

__all__ = ["replay"]


@dataclass
class _Session:
    """A session that is held: its span, the rows in it, and whether the timer at its end is still to fire."""

    start: int
    end: int
    rows: list[int] = field(default_factory=list)
    waits: bool = True


def replay(true: Times, sides: Mapping[Side, pd.DataFrame], lateness: int) -> tuple[Firings, pd.DataFrame]:
    """The firings, and the sessions as they were at last; the rows of both sides are told ``group`` and ``late``.

    Parameters
    ----------
    true
        The watermark after each step.
    sides
        The assignments, each row in the window that it opens alone.
    lateness
        How long after their end sessions are held, in microseconds.

    Examples
    --------
    A gap of 10 s. Of the rows at 1 s and 9 s one session is made, which ends at 19 s.

    >>> def side(time):
    ...     columns = {"key": 0, "start": [time], "end": time + 10_000_000, "batch": 0, "row": 0}
    ...     return pd.DataFrame(columns | {"filtered": False})
    >>> _, sessions = replay(np.array([8, 60]) * 1_000_000, {"left": side(1_000_000), "right": side(9_000_000)}, 0)
    >>> sessions[["start", "end", "batch", "left", "right"]].to_numpy().tolist()
    [[1000000, 19000000, 1, 1, 1]]
    """
    cut = len(sides["left"])
    rows = pd.concat(
        [sides[side][["key", "start", "end", "batch", "row", "filtered"]] for side in SIDES], ignore_index=True
    )
    is_right = np.arange(len(rows)) >= cut
    usual = _Usual.of(rows, np.append(LONG_AGO, true)[rows["batch"]])
    came = np.lexsort((rows["row"], is_right, rows["batch"]))
    others = np.ones(len(rows), dtype=bool)
    others[usual.places] = False
    replayed = _Replay(rows, true, lateness)
    replayed.run(came[(others & ~rows["filtered"].to_numpy())[came]].tolist())
    fired, inside, sizes = replayed.firings()
    first = usual.fired(true)
    table = np.concatenate([first, fired])
    ranked = np.lexsort(table[:, ::-1].T)
    number = np.empty(len(table), dtype=np.int64)
    number[ranked] = np.arange(len(table))
    firing = number[np.repeat(np.arange(len(table)), np.concatenate([usual.sizes, sizes]))]
    inside = np.concatenate([usual.places, inside])
    in_order = np.argsort(firing, kind="stable")
    firing, inside = firing[in_order], inside[in_order]
    late, group = replayed.late, replayed.group + len(first) * (replayed.group >= 0)
    group[usual.places] = np.repeat(np.arange(len(first)), usual.sizes)
    for side, part in Sides(slice(None, cut), slice(cut, None)).items():
        sides[side]["late"], sides[side]["group"] = late[part], group[part]
    done = np.concatenate([usual.done(true, lateness), np.array(replayed.done, dtype=np.int64).reshape(-1, 4)])
    groups = pd.DataFrame(done, columns=["key", "start", "end", "batch"])
    for side, mine in sides.items():
        own = mine["group"].to_numpy()
        groups[side] = np.bincount(own[own >= 0], minlength=len(groups))
    spans = pd.DataFrame(table[ranked], columns=["batch", "rank", "start", "end", "key"]).drop(columns="rank")
    return Firings.made(spans, firing, is_right[inside], inside, cut), groups


@dataclass(frozen=True, eq=False)
class _Usual:
    """Sessions that are as the definition has them: each fires once, and no row of them is late.

    Attributes
    ----------
    places
        Their rows, session by session, in order of time.
    sizes
        How many rows each of them has.
    key, start, end
        Of each session.
    last
        What comes after the number of any row, by which firings of one step are ordered.
    """

    places: RowNumbers
    sizes: Counts
    key: Codes
    start: Times
    end: Times
    last: int

    @classmethod
    def of(cls, rows: pd.DataFrame, before: Times) -> _Usual:
        """Those among some rows, given the watermark that stands as each row comes.

        A session is one of them if each of its rows comes before the watermark ends the row's own window, and that of
        the row before it in time: then no part of it can fire, or leave, before the rest has come.
        """
        places = np.flatnonzero(~rows["filtered"].to_numpy())
        key, start = (rows[name].to_numpy()[places] for name in ("key", "start"))
        places = places[order(along_keys((key, start))[0])]
        key, start, end = (rows[name].to_numpy()[places] for name in ("key", "start", "end"))
        mark = before[places]
        goes_on = np.zeros(len(places), dtype=bool)
        goes_on[1:] = (key[1:] == key[:-1]) & (start[1:] <= end[:-1])
        disturbed = mark >= end - MS
        disturbed[1:] |= goes_on[1:] & (mark[1:] >= end[:-1] - MS)
        session = np.cumsum(~goes_on) - 1
        good = np.bincount(session, disturbed, minlength=int(session[-1]) + 1 if len(session) else 0) == 0
        chosen = good[session]
        begins, ends = (
            np.flatnonzero(~goes_on)[good],
            np.append(np.flatnonzero(~goes_on)[1:], len(places))[: len(good)][good],
        )
        return cls(places[chosen], ends - begins, key[begins], start[begins], end[ends - 1], len(rows))

    def fired(self, true: Times) -> Batches:
        """One row a session: the step in which it fires, its place in the order of that step, its span, its key."""
        step = np.searchsorted(true, self.end - MS)
        return np.column_stack([step, np.full(len(step), self.last), self.start, self.end, self.key])

    def done(self, true: Times, lateness: int) -> Batches:
        """One row a session: its key, its span, the step after which it is no longer held."""
        return np.column_stack([self.key, self.start, self.end, np.searchsorted(true, self.end - MS + lateness)])


class _Replay:
    """Flink's operator, row by row.

    Parameters
    ----------
    rows
        ``key``, ``start``, ``end``, ``batch`` of all rows.
    true
        The watermark after each step.
    lateness
        How long after their end sessions are held, in microseconds.

    Attributes
    ----------
    late
        Which rows are late.
    group
        For each row the session in ``done`` that it was in at last; -1 if in none.
    done
        Key, start, end of each session, and the step after which it is no longer held.
    """

    def __init__(self, rows: pd.DataFrame, true: Times, lateness: int) -> None:
        self._keys, self._begin, self._until, self._steps = (
            rows[name].tolist() for name in ("key", "start", "end", "batch")
        )
        self._marks, self._lateness = true.tolist(), lateness
        self.late, self.group = np.zeros(len(rows), dtype=bool), np.full(len(rows), -1)
        self.done: list[tuple[int, int, int, int]] = []
        self._fired: list[tuple[int, int, int, int, int, list[int]]] = []

    def run(self, came: list[int]) -> None:
        """Take rows in, in their order, and then the last watermark."""
        marks, lateness = self._marks, self._lateness
        held: dict[int, list[_Session]] = {}
        for rank, place in enumerate(came):
            of, step = self._keys[place], self._steps[place]
            watermark = marks[step - 1] if step else LONG_AGO
            sessions = self._advance(of, held.get(of, []), watermark)
            begins, ends = self._begin[place], self._until[place]
            merged = _Session(begins, ends)
            apart = []
            for each in sessions:
                if each.start <= ends and begins <= each.end:
                    merged.start, merged.end = min(merged.start, each.start), max(merged.end, each.end)
                    merged.rows += each.rows
                else:
                    apart.append(each)
            if merged.end - MS + lateness <= watermark:
                self.late[place] = True
                held[of] = sessions
                continue
            merged.rows.append(place)
            if merged.end - MS <= watermark:
                merged.waits = False
                self._fire(merged, of, step, rank)
            held[of] = [*apart, merged]
        for of, sessions in held.items():
            self._advance(of, sessions, marks[-1])

    def firings(self) -> tuple[RowNumbers, RowNumbers, RowNumbers]:
        """As `_Usual.fired`; the rows of each firing, and how many it has."""
        table = np.array([each[:5] for each in self._fired], dtype=np.int64).reshape(-1, 5)
        inside = np.array([place for each in self._fired for place in each[5]], dtype=np.int64)
        return table, inside, np.array([len(each[5]) for each in self._fired], dtype=np.int64)

    def _fire(self, session: _Session, of: int, step: int, rank: int) -> None:
        self._fired.append((step, rank, session.start, session.end, of, list(session.rows)))

    def _advance(self, of: int, sessions: list[_Session], watermark: int) -> list[_Session]:
        """What is still held of a key's sessions at a watermark; those that it has passed have fired."""
        stay = []
        for session in sessions:
            if session.waits and session.end - MS <= watermark:
                session.waits = False
                self._fire(session, of, bisect_left(self._marks, session.end - MS), len(self._keys))
            if session.end - MS + self._lateness <= watermark:
                self.group[session.rows] = len(self.done)
                closed = bisect_left(self._marks, session.end - MS + self._lateness)
                self.done.append((of, session.start, session.end, closed))
            else:
                stay.append(session)
        return stay
