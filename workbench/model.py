"""What a join's definition says, worked out from recorded rows with NumPy and pandas, without Spark."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from workbench import times
from workbench.joins import CoGroup, IntervalJoin, Join, WindowJoin
from workbench.streams import Stream
from workbench.windows import Session, Sliding

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
    size = times.micros(window.size)
    slide = times.micros(window.slide) if isinstance(window, Sliding) else size
    last = moments - np.mod(moments - times.micros(window.offset), slide)
    most = -(-size // slide)
    starts = last[:, None] - slide * np.arange(most)[::-1][None, :]
    rows = np.broadcast_to(everyone[:, None], starts.shape)
    inside = starts + size > moments[:, None]
    start = starts[inside]
    return pd.DataFrame({"row": rows[inside], "start": start, "end": start + size})


def key_codes(left: Stream, right: Stream) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The keys of both sides as whole numbers, equal where the keys are; -1 where a key column is null."""
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
    codes[missing] = -1
    return codes[: len(left)], codes[len(left) :]


def pairs(join: Join, left: Stream, right: Stream) -> pd.DataFrame:
    """Every pair of the complete result, as the definition has it, with nothing late.

    Returns
    -------
    pandas.DataFrame
        Columns ``left``, ``right`` (row numbers), ``start``, ``end`` (the window's, microseconds; 0 without windows).
    """
    codes = key_codes(left, right)
    moments = (left.event_times, right.event_times)
    if isinstance(join, IntervalJoin):
        return _interval_pairs(join, codes, moments)
    sides = []
    windows = (
        _sessions(codes, moments, times.micros(join.window.gap))
        if isinstance(join.window, Session)
        else [copies(join, each) for each in moments]
    )
    for side, code, window in zip(("left", "right"), codes, windows, strict=True):
        named = window.rename(columns={"row": side})
        named["key"] = code[window["row"]]
        sides.append(named[named["key"] >= 0])
    merged = sides[0].merge(sides[1], on=["key", "start", "end"])
    return merged[["left", "right", "start", "end"]]


def windows(join: WindowJoin | CoGroup, left: Stream, right: Stream) -> pd.DataFrame:
    """The windows that hold a row of either side, each once; a session once for its key.

    Returns
    -------
    pandas.DataFrame
        Columns ``start``, ``end`` (microseconds), ``first`` (a row in it, counted through left and then right).
    """
    moments = (left.event_times, right.event_times)
    if isinstance(join.window, Session):
        codes = key_codes(left, right)
        sides = _sessions(codes, moments, times.micros(join.window.gap))
        same = ["start", "key"]
    else:
        codes = None
        sides = [copies(join, each) for each in moments]
        same = ["start"]
    spans = pd.concat([sides[0], sides[1].assign(row=sides[1]["row"] + len(left))], ignore_index=True)
    if codes is not None:
        spans["key"] = np.concatenate(codes)
        spans = spans[spans["key"] >= 0]
    spans = spans.drop_duplicates(same).sort_values("start", ignore_index=True)
    return spans.rename(columns={"row": "first"})[["start", "end", "first"]]


def _sessions(codes: tuple[Micros, Micros], moments: tuple[Micros, Micros], gap: int) -> list[pd.DataFrame]:
    """Each row's session, both sides merged: columns ``row``, ``start``, ``end``, one frame a side."""
    code, moment = np.concatenate(codes), np.concatenate(moments)
    order = np.lexsort((moment, code))
    code, moment = code[order], moment[order]
    new = np.ones(len(code), dtype=bool)
    new[1:] = (code[1:] != code[:-1]) | (moment[1:] - moment[:-1] > gap)
    session = np.cumsum(new) - 1
    first = np.flatnonzero(new)
    last = np.append(first[1:], len(code)) - 1
    start, end = np.empty(len(code), np.int64), np.empty(len(code), np.int64)
    if len(code):
        start[order], end[order] = moment[first][session], (moment[last] + gap)[session]
    cut = len(codes[0])
    return [
        pd.DataFrame({"row": np.arange(len(part)), "start": part, "end": end[begin : begin + len(part)]})
        for part, begin in ((start[:cut], 0), (start[cut:], cut))
    ]


def _interval_pairs(join: IntervalJoin, codes: tuple[Micros, Micros], moments: tuple[Micros, Micros]) -> pd.DataFrame:
    lower = times.micros(join.lower) + join.lower_exclusive
    upper = times.micros(join.upper) - join.upper_exclusive
    order = np.lexsort((moments[1], codes[1]))
    # one sorted axis: keys one after the other, far enough apart that no interval reaches the next key
    base = min(int(each.min(initial=0)) for each in moments) - abs(lower) - abs(upper)
    reach = max(int(each.max(initial=0)) for each in moments) + abs(lower) + abs(upper) - base + 1
    axis = codes[1][order].astype(object) if reach * (int(codes[1].max(initial=0)) + 2) >= 2**63 else codes[1][order]
    right_axis = axis * reach + (moments[1][order] - base)
    left_axis = codes[0].astype(right_axis.dtype) * reach + (moments[0] - base)
    begin = np.searchsorted(right_axis, left_axis + lower, side="left")
    end = np.searchsorted(right_axis, left_axis + upper, side="right")
    count = np.where(codes[0] >= 0, np.maximum(end - begin, 0), 0)
    left_rows = np.repeat(np.arange(len(count)), count)
    offset = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    right_rows = order[np.repeat(begin, count) + offset]
    return pd.DataFrame({"left": left_rows, "right": right_rows, "start": 0, "end": 0})
