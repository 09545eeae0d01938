"""Flink's sessions: a row's own window merges with those of its key that are still held, and is late by the result."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from workbench.kinds import MS, Micros
from workbench.literals import SIDES, Side
from workbench.model._flink._firings import Firings

__all__ = ["replay"]


@dataclass
class _Session:
    """A session that is held: its span, the rows in it, and whether the timer at its end is still to fire."""

    start: int
    end: int
    rows: list[int] = field(default_factory=list)
    waits: bool = True


def replay(true: Micros, sides: Mapping[Side, pd.DataFrame], lateness: int) -> tuple[Firings, pd.DataFrame]:
    """The firings, and the sessions as they were at last; the rows of both sides are told ``group`` and ``late``.

    Parameters
    ----------
    true
        The watermark after each step.
    sides
        The assignments, each row in the window that it opens alone.
    lateness
        How long after their end sessions are held, in microseconds.
    """
    cut = len(sides["left"])
    key, start, end, batch, row = (
        np.concatenate([sides[side][name].to_numpy() for side in SIDES])
        for name in ("key", "start", "end", "batch", "row")
    )
    is_right = np.arange(len(key)) >= cut
    filtered = np.concatenate([sides[side]["filtered"].to_numpy() for side in SIDES])
    came = np.lexsort((row, is_right, batch))
    came = came[~filtered[came]]
    marks, keys, steps, begin, until = (each.tolist() for each in (true, key, batch, start, end))
    late, group = np.zeros(len(key), dtype=bool), np.full(len(key), -1)
    held: dict[int, list[_Session]] = {}
    fired: list[tuple[int, int, int, int, int, list[int]]] = []
    done: list[tuple[int, int, int, int]] = []

    def fire(session: _Session, of: int, step: int, rank: int) -> None:
        fired.append((step, rank, session.start, session.end, of, list(session.rows)))

    def advance(of: int, sessions: list[_Session], watermark: int) -> list[_Session]:
        """What is still held of a key's sessions at a watermark; those that it has passed have fired."""
        stay = []
        for session in sessions:
            if session.waits and session.end - MS <= watermark:
                session.waits = False
                fire(session, of, bisect_left(marks, session.end - MS), len(key))
            if session.end - MS + lateness <= watermark:
                group[session.rows] = len(done)
                closed = bisect_left(marks, session.end - MS + lateness)
                done.append((of, session.start, session.end, closed))
            else:
                stay.append(session)
        return stay

    for rank, place in enumerate(came.tolist()):
        of, step = keys[place], steps[place]
        watermark = marks[step - 1] if step else -(2**61)
        sessions = advance(of, held.get(of, []), watermark)
        begins, ends = begin[place], until[place]
        merged = _Session(begins, ends)
        apart = []
        for each in sessions:
            if each.start <= ends and begins <= each.end:
                merged.start, merged.end = min(merged.start, each.start), max(merged.end, each.end)
                merged.rows += each.rows
            else:
                apart.append(each)
        if merged.end - MS + lateness <= watermark:
            late[place] = True
            held[of] = sessions
            continue
        merged.rows.append(place)
        if merged.end - MS <= watermark:
            merged.waits = False
            fire(merged, of, step, rank)
        held[of] = [*apart, merged]
    for of, sessions in held.items():
        advance(of, sessions, marks[-1])
    for side, part in zip(SIDES, (slice(None, cut), slice(cut, None)), strict=True):
        sides[side]["late"], sides[side]["group"] = late[part], group[part]
    fired.sort(key=lambda each: each[:4])
    spans = [each[:5] for each in fired]
    table = pd.DataFrame(spans, columns=["batch", "rank", "start", "end", "key"], dtype=np.int64)
    firing = np.repeat(np.arange(len(fired)), [len(each[5]) for each in fired])
    inside = np.array([place for each in fired for place in each[5]], dtype=np.int64)
    groups = pd.DataFrame(done, columns=["key", "start", "end", "batch"], dtype=np.int64)
    for side, mine in sides.items():
        own = mine["group"].to_numpy()
        groups[side] = np.bincount(own[own >= 0], minlength=len(groups))
    return Firings.made(table.drop(columns="rank"), firing, is_right[inside], inside, cut), groups
