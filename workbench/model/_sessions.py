"""Sessions in their order of arrival: they merge while they are open, and close when the watermark passes them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.arrays import Batches, Codes, RowNumbers, Times
from workbench.model.ordering import along_keys, numbered, order


def close_sessions(
    key: Codes, start: Times, end: Times, batch: Batches, eviction: Times
) -> tuple[RowNumbers, pd.DataFrame, RowNumbers]:
    """The session of each row.

    Parameters
    ----------
    key, start, end, batch
        Of each row: its key, the session it opens alone, and the micro-batch it arrives in. None of them late.
    eviction
        The watermark of each micro-batch that closes sessions.

    Returns
    -------
    group
        For each row its session, a place in the frame.
    sessions
        Columns ``start``, ``end``, ``batch``: the micro-batch in which it closes, or the number of micro-batches.
    still_open
        How many sessions are open after each micro-batch.
    """
    count = len(eviction)
    arrived = order(batch)
    edges = np.searchsorted(batch[arrived], np.arange(count + 1))
    first, last = along_keys((key, start), (key, end))
    end = end.copy()
    # every row begins as a session of its own; `into` says which other one it has merged into
    into = np.arange(len(key))
    closed = np.full(len(key), count)
    live, named = np.array([], dtype=np.int64), np.zeros(int(key.max(initial=0)) + 1, dtype=bool)
    still_open = np.zeros(count, dtype=np.int64)
    for number in range(count):
        new = arrived[edges[number] : edges[number + 1]]
        if len(new):
            named[key[new]] = True
            touched = named[key[live]]
            named[key[new]] = False
            merging = np.concatenate([live[touched], new])
            merging = merging[order(first[merging])]
            reach = np.maximum.accumulate(last[merging])
            fresh = np.append(True, first[merging[1:]] > reach[:-1])
            heads, follows = merging[fresh], np.flatnonzero(~fresh)
            head, follower = heads[np.cumsum(fresh)[follows] - 1], merging[follows]
            into[follower] = head
            np.maximum.at(last, head, last[follower])
            np.maximum.at(end, head, end[follower])
            live = np.concatenate([live[~touched], heads])
        done = end[live] <= eviction[number]
        closed[live[done]] = number
        live = live[~done]
        still_open[number] = len(live)
    root = into.copy()
    while not np.array_equal(root, into[root]):
        root = into[root]
    group, heads = numbered(root)
    sessions = {"start": start[heads], "end": end[heads], "batch": closed[heads]}
    return group, pd.DataFrame(sessions, copy=False), still_open
