"""Sessions in their order of arrival: they merge while they are open, and close when the watermark passes them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.kinds import Micros
from workbench.model._watermarks import Watermarks


def close_sessions(
    key: Micros, start: Micros, end: Micros, batch: Micros, marks: Watermarks
) -> tuple[Micros, pd.DataFrame, Micros]:
    """The session of each row.

    Parameters
    ----------
    key, start, end, batch
        Of each row: its key, the session it opens alone, and the micro-batch it arrives in. None of them late.
    marks
        The watermarks.

    Returns
    -------
    group
        For each row its session, a place in the frame.
    sessions
        Columns ``start``, ``end``, ``batch``: the micro-batch in which it closes, or the number of micro-batches.
    still_open
        How many sessions are open after each micro-batch.
    """
    count = len(marks)
    order = np.argsort(batch, kind="stable")
    edges = np.searchsorted(batch[order], np.arange(count + 1))
    # every row begins as a session of its own; `into` says which other one it has merged into
    into = np.arange(len(key))
    closed = np.full(len(key), count)
    start, end = start.copy(), end.copy()
    live = np.array([], dtype=np.int64)
    still_open = np.zeros(count, dtype=np.int64)
    for number in range(count):
        new = order[edges[number] : edges[number + 1]]
        if len(new):
            touched = np.isin(key[live], key[new])
            merging = np.concatenate([live[touched], new])
            merging = merging[np.lexsort((start[merging], key[merging]))]
            heads, which = _merge(key[merging], start[merging], end[merging])
            into[merging] = merging[heads][which]
            np.maximum.at(end, into[merging], end[merging])
            live = np.concatenate([live[~touched], merging[heads]])
        done = end[live] <= marks.eviction[number]
        closed[live[done]] = number
        live = live[~done]
        still_open[number] = len(live)
    root = into.copy()
    while not np.array_equal(root, into[root]):
        root = into[root]
    heads, group = np.unique(root, return_inverse=True)
    return group, pd.DataFrame({"start": start[heads], "end": end[heads], "batch": closed[heads]}), still_open


def _merge(key: Micros, start: Micros, end: Micros) -> tuple[Micros, Micros]:
    """Which of the sessions, sorted by key and start, begin a merged one, and the merged one that each belongs to."""
    instants, rank = np.unique(end, return_inverse=True)
    codes = np.unique(key, return_inverse=True)[1] * len(instants)
    reach = instants[np.maximum.accumulate(codes + rank) - codes]
    fresh = np.ones(len(key), dtype=bool)
    fresh[1:] = (key[1:] != key[:-1]) | (start[1:] > reach[:-1])
    return np.flatnonzero(fresh), np.cumsum(fresh) - 1
