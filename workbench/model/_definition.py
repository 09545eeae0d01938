"""What a join's definition says of recorded rows, whatever their order of arrival: copies, keys, matches, windows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from workbench import times
from workbench.joins import IntervalJoin, Join, WindowJoin
from workbench.streams import Stream
from workbench.windows import Session, Sliding, Tumbling, grid

Micros = np.ndarray[Any, Any]
"""Event times in microseconds since 1970-01-01 UTC, as 64-bit integers."""


def copies(join: Join, moments: Micros) -> pd.DataFrame:
    """What each row is to the watermark: itself in an interval join, one copy for each of its windows in the others.

    A session's copy is the window the row opens alone, ``[t, t + gap)``.

    Returns
    -------
    pandas.DataFrame
        Columns ``row``, ``start``, ``end`` (microseconds; in an interval join both are the event time). The copy is
        late when ``end`` is at or before the watermark. In order of row, then start.
    """
    everyone = np.arange(len(moments))
    if isinstance(join, IntervalJoin):
        return pd.DataFrame({"row": everyone, "start": moments, "end": moments})
    window = join.window
    if isinstance(window, Session):
        return pd.DataFrame({"row": everyone, "start": moments, "end": moments + times.micros(window.gap)})
    size, slide, offset = map(times.micros, grid(window))
    last = moments - np.mod(moments - offset, slide)
    most = -(-size // slide)
    starts = last[:, None] - slide * np.arange(most)[::-1][None, :]
    rows = np.broadcast_to(everyone[:, None], starts.shape)
    inside = starts + size > moments[:, None]
    start = starts[inside]
    return pd.DataFrame({"row": rows[inside], "start": start, "end": start + size})


def key_codes(left: Stream, right: Stream) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The keys of both sides as whole numbers, equal where the keys are; below 0 where a column is null."""
    sides = []
    for stream in (left, right):
        frame = stream.table.select(list(stream.key)).to_pandas(integer_object_nulls=True)
        sides.append(frame.set_axis(range(frame.shape[1]), axis=1))
    both = pd.concat(sides, ignore_index=True)
    missing = both.isna().any(axis=1).to_numpy()
    codes = np.zeros(len(both), dtype=np.int64)
    for column in both:
        part, values = pd.factorize(both[column])
        codes = pd.factorize(codes * (len(values) + 1) + part)[0]
    codes[missing] = -1 - codes[missing]
    return codes[: len(left)], codes[len(left) :]


def windows(window: Tumbling | Sliding, left: Stream, right: Stream) -> pd.DataFrame:
    """The windows that hold a row of either side, each once, in order: columns ``start``, ``end`` (microseconds)."""
    spans = pd.concat([copies(WindowJoin(window), each.event_times) for each in (left, right)], ignore_index=True)
    return spans[["start", "end"]].drop_duplicates("start").sort_values("start", ignore_index=True)


def matches(join: WindowJoin | IntervalJoin, left: pd.DataFrame, right: pd.DataFrame) -> tuple[Micros, Micros]:
    """The pairs of an interval join or of tumbling or sliding windows, whatever was late, as places in the two frames.

    Parameters
    ----------
    join
        The join.
    left, right
        Columns ``key`` (code, below 0 for none), ``start`` (the window's, or the event time).
    """
    if isinstance(join, IntervalJoin):
        low = times.micros(join.lower) + join.lower_exclusive
        high = times.micros(join.upper) - join.upper_exclusive
    else:
        low = high = 0  # partners are in the same window: it starts at the same time
    return _within(
        left["key"].to_numpy(), left["start"].to_numpy(), right["key"].to_numpy(), right["start"].to_numpy(), low, high
    )


def _within(
    left_key: Micros, left: Micros, right_key: Micros, right: Micros, low: int, high: int
) -> tuple[Micros, Micros]:
    """Places of all pairs of one key with ``left + low <= right <= left + high``."""
    instants, rank = np.unique(right, return_inverse=True)
    # one sorted axis: the right side's instants, once for each key
    width = len(instants) + 1
    right_order = np.lexsort((rank, right_key))
    axis = right_key[right_order] * width + rank[right_order]
    first = left_key * width + np.searchsorted(instants, left + low, side="left")
    last = left_key * width + np.searchsorted(instants, left + high, side="right")
    # looked up in the axis' own order: several times as fast, because memory is read from end to end
    order = np.argsort(first)
    begin, end = np.empty((2, len(left)), dtype=np.int64)
    begin[order] = np.searchsorted(axis, first[order])
    end[order] = np.searchsorted(axis, last[order])
    count = np.where(left_key >= 0, np.maximum(end - begin, 0), 0)
    one = np.repeat(np.arange(len(count)), count)
    offset = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    return one, right_order[np.repeat(begin, count) + offset]
