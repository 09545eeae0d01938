"""The watermark before and after every micro-batch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench._arrow import END_OF_INPUT
from workbench.joins import CoGroup, IntervalJoin, Join, WindowJoin
from workbench.model._definition import Micros
from workbench.streams import SIDES, Stream
from workbench.times import micros
from workbench.windows import Session

DATA, FINISH, NO_DATA = "data", "finish", "no data"
_END = END_OF_INPUT.value // 1000
NOTHING = np.iinfo(np.int64).min
"""A side's newest event time before it has seen a row."""


@dataclass(frozen=True)
class Watermarks:
    """The watermarks of a run. All times in microseconds; arrays with one value a micro-batch.

    Attributes
    ----------
    kinds
        ``data``, ``finish`` (the end of input) or ``no data`` (Spark adds it when the watermark has moved).
    eviction
        The watermark that closes windows and evicts state: Spark's ``progress["eventTime"]["watermark"]``.
    late
        The one that late rows are judged by: that of the micro-batch before.
    newest
        Per side the newest event time that went into ``eviction``, in whole milliseconds, as Spark keeps it; `NOTHING`
        before the first row.
    own
        Per side its own watermark: the newest time less its delay, or 0 (1970-01-01) before its first row.
    """

    kinds: list[str]
    eviction: Micros
    late: Micros
    newest: dict[str, Micros]
    own: dict[str, Micros]

    def __len__(self) -> int:
        return len(self.kinds)


def dropped_null_keys(join: Join) -> tuple[bool, bool]:
    """Whether rows with a null key are filtered out before the watermark sees them, on the left and on the right.

    Spark pushes "key is not null" below the watermark wherever a row without key cannot be in the result.
    """
    if isinstance(join, CoGroup) or join.how in ("inner", "semi"):
        return True, True
    if isinstance(join, WindowJoin) and isinstance(join.window, Session):
        return False, False
    return join.how == "right", join.how in ("left", "anti")


def watermarks(
    join: Join,
    left: Stream,
    right: Stream,
    keys: tuple[Micros, Micros],
    finish: bool,
    policy: str,
    alone: bool = True,
) -> Watermarks:
    """The watermarks of a run of `join`.

    Parameters
    ----------
    join, left, right, finish, policy
        As in `workbench.run`.
    keys
        As `key_codes` gives them.
    alone
        Whether nothing follows the last micro-batch: then Spark adds one without data if the watermark has moved.
    """
    count = max(left.batch_count, right.batch_count)
    kinds = [DATA] * count + [FINISH] * finish
    newest, own = {}, {}
    for side, stream, key, filtered in zip(SIDES, (left, right), keys, dropped_null_keys(join), strict=True):
        seen = np.full(len(kinds), NOTHING)
        moving = key >= 0 if filtered else np.ones(len(key), dtype=bool)
        np.maximum.at(seen, stream.arrival[moving], stream.event_times[moving] // 1000 * 1000)
        if finish:
            seen[-1] = _END
        newest[side] = np.maximum.accumulate(np.concatenate([[NOTHING], seen]))
        known = newest[side] > NOTHING
        own[side] = np.where(known, np.where(known, newest[side], 0) - micros(stream.watermark), 0)
    chosen = np.minimum(own["left"], own["right"]) if policy == "min" else np.maximum(own["left"], own["right"])
    eviction = np.maximum.accumulate(np.maximum(chosen, 0))  # Spark starts at 1970-01-01 and never goes back
    if alone and eviction[-1] > eviction[-2]:
        kinds = [*kinds, NO_DATA]
    length = len(kinds)
    late = np.concatenate([[0], eviction[: length - 1]])
    cut = {side: (newest[side][:length], own[side][:length]) for side in SIDES}
    return Watermarks(
        kinds,
        eviction[:length],
        late,
        {side: each[0] for side, each in cut.items()},
        {side: each[1] for side, each in cut.items()},
    )


def nothing_late(count: int) -> Watermarks:
    """The watermarks of a run in which nothing is late, and nothing is closed before the end of the input.

    Parameters
    ----------
    count
        How many micro-batches there are with data.
    """
    never = np.full(count + 2, -(2**61))
    eviction = np.append(never[:-1], _END)
    sides = dict.fromkeys(SIDES, never)
    return Watermarks([*[DATA] * count, FINISH, NO_DATA], eviction, never, sides, sides)


def eviction_thresholds(join: Join, marks: Watermarks) -> tuple[Micros, Micros]:
    """Per side and micro-batch: what is at or before this time, by event time or window end, leaves the state.

    In an interval join Spark solves each bound for the watermark, in milliseconds: a left row waits until no right row
    can come that is within its upper bound; a right row, until no left row can come whose lower bound it is within.
    """
    if not isinstance(join, IntervalJoin):
        return marks.eviction, marks.eviction
    left = np.trunc((marks.eviction - micros(join.upper)) / 1000).astype(np.int64) - (not join.upper_exclusive)
    right = np.trunc((marks.eviction + micros(join.lower)) / 1000).astype(np.int64) - (not join.lower_exclusive)
    return left * 1000, right * 1000
