"""Rows whose event times are far ahead of all others, which alone move the watermark."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.arrays import RowNumbers
from workbench.literals import SIDES, Side, Sides
from workbench.streams import Stream

__all__ = ["Ahead", "ahead"]

_SHARE = 0.02
"""The share of the rows that may be ahead; a row of each side in any case."""
_TIMES = 10
"""How many times as far ahead as all others are apart."""
_LEAST = 60_000_000
"""How far ahead they are at least, in microseconds."""


@dataclass(frozen=True)
class Ahead:
    """Rows that are far ahead of all others.

    Attributes
    ----------
    rows
        Per side their numbers.
    gap
        How far ahead of the newest other row, in microseconds.
    """

    rows: dict[Side, RowNumbers]
    gap: int


def ahead(left: Stream, right: Stream) -> Ahead | None:
    """The few rows that are ahead of all others by ten times what these are apart; None where there are none such.

    Examples
    --------
    >>> from workbench.streams import Stream
    >>> import pandas as pd
    >>> times = pd.to_datetime(["2026-01-01 10:00", "2026-01-02 10:00", "2026-01-01 10:02"])
    >>> frame = pd.DataFrame({"k": ["a", "z", "b"], "t": times, "batch": [0, 1, 2]})
    >>> stream = Stream.from_pandas(frame, "orders", "k", "t", batch="batch")
    >>> found = ahead(stream, stream)
    >>> found.rows["left"].tolist(), found.gap // 60_000_000
    ([1], 1438)
    """
    streams = Sides(left, right)
    times = np.concatenate([stream.event_times for stream in streams.values()])
    few = max(len(SIDES), int(_SHARE * len(times)))
    if len(times) <= few + 1:
        return None
    last = np.sort(np.partition(times, -few - 1)[-few - 1 :])
    gaps = np.diff(last)
    newest, gap = int(last[gaps.argmax()]), int(gaps.max())
    if gap < max(_LEAST, _TIMES * (newest - int(times.min()))):
        return None
    return Ahead({side: np.flatnonzero(stream.event_times > newest) for side, stream in streams.items()}, gap)
