"""When a query was started again, and with which delay, as the watermarks of its logs tell it.

A checkpoint keeps the query's watermark, and not that of each side: after a restart a side counts as 1970 until it has
rows again, and the watermark stands still though both sides have had newer rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.arrays import Times
from workbench.literals import SIDES, Policy, Side
from workbench.model import query_watermark
from workbench.sources.key_choice import newest_times
from workbench.streams import NOTHING, Stream

__all__ = ["OtherDelay", "newest_of", "other_delay", "restarts"]

_BACK = 200
"""How many micro-batches before the first watermark that does not fit the query may have been started again."""
_MOVES = 5
"""From how many moves of the watermark since then a delay is read: any of them can be held back by the other side."""


@dataclass(frozen=True)
class OtherDelay:
    """A watermark delay in microseconds that a side, or None: both, had since a micro-batch, or before it."""

    batch: int
    side: Side | None
    delay: int
    since: bool


def newest_of(stream: Stream, count: int) -> Times:
    """The newest event time of each of so many micro-batches, in microseconds; `NOTHING` where there was no row."""
    return newest_times(count, stream.arrival, stream.event_times) if stream.newest is None else stream.newest


def restarts(seen: Sequence[Times], delays: Sequence[int], logged: Sequence[int], policy: Policy) -> tuple[int, ...]:
    """The micro-batches before which the query was started again.

    Parameters
    ----------
    seen
        Per side the newest event time of each micro-batch, in microseconds; `NOTHING` where it had no rows.
    delays
        Per side its watermark delay, in microseconds.
    logged
        The watermark of each micro-batch, and last of the one that would follow, as far as that is known.
    policy
        Which of two watermarks is the query's.

    Returns
    -------
    tuple of int
        Empty where the watermarks follow from the rows without a restart, and where no restart explains them. Each
        restart is the last that explains the next watermark.

    Examples
    --------
    The left side had a row of 100 s in the first micro-batch, the right side one of 20 s, and later one of 90 s, so
    that without a restart the watermark would be 90 s.

    >>> second = 1_000_000
    >>> left, right = [100 * second, NOTHING, NOTHING], [20 * second, NOTHING, 90 * second]
    >>> restarts([np.array(left), np.array(right)], [0, 0], [0, 20 * second, 20 * second, 20 * second], "min")
    (2,)
    """
    found: list[int] = []
    for batch in range(1, len(logged)):
        begin = found[-1] if found else 0
        before = logged[batch - 1]
        if _after(seen, delays, before, policy, begin, batch) <= logged[batch]:
            continue
        later = range(batch - 1, begin, -1)
        explains = (at for at in later if _after(seen, delays, before, policy, at, batch) == logged[batch])
        restart = next(explains, None)
        if restart is None:
            return ()
        found.append(restart)
    return tuple(found)


def other_delay(
    seen: Sequence[Times], delays: Sequence[int], logged: Sequence[int], policy: Policy
) -> OtherDelay | None:
    """The delay of one side, or of both, that the query had before or since a start, if it explains all watermarks.

    Parameters
    ----------
    seen, delays, logged, policy
        As `restarts` takes them, where it explains nothing.

    Returns
    -------
    OtherDelay or None
        None, too, where a single move of the watermark tells of the delay, since any delay would explain that.

    Examples
    --------
    >>> second = 1_000_000
    >>> rows = np.array([100, 110, 120, 130]) * second
    >>> other_delay([rows, rows], [0, 0], [0, 100 * second, 110 * second, 105 * second, 115 * second], "min")
    >>> other_delay([rows, rows], [0, 0], [0, 85 * second, 95 * second, 120 * second, 130 * second], "min")
    OtherDelay(batch=2, side='left', delay=15000000, since=False)
    """
    marks = np.array(logged)
    one_side: list[tuple[Side | None, tuple[int, ...]]] = [(side, (place,)) for place, side in enumerate(SIDES)]
    both_sides: list[tuple[Side | None, tuple[int, ...]]] = [(None, (0, 1))] if delays[0] == delays[1] else []

    def fitting(used: Sequence[int], begin: int) -> int:
        """The first watermark that a query does not have that was started with a micro-batch, and not again."""
        found = np.concatenate([marks[begin : begin + 1], _since(seen, used, int(marks[begin]), policy, begin)])
        good = found[: len(marks) - begin] == marks[begin:]
        return len(marks) if good.all() else begin + int(np.argmin(good))

    def others(begin: int) -> Iterator[tuple[Side | None, int, Sequence[int]]]:
        """Delays that explain one of the first moves of the watermark since a micro-batch."""
        moved = np.flatnonzero(np.diff(marks[begin:]))[:_MOVES] + begin + 1
        for ways in (one_side, both_sides):
            for at, (side, places) in itertools.product(moved.tolist(), ways):
                ends = [np.asarray(seen[place][begin:at].max(initial=NOTHING)) for place in places]
                newest = int(query_watermark(policy, ends[0], ends[-1]))
                delay = newest // 1_000 * 1_000 - int(marks[at])
                if newest > NOTHING and delay >= 0 and delay != delays[places[0]]:
                    yield side, delay, [delay if number in places else each for number, each in enumerate(delays)]

    def moves(begin: int, end: int) -> int:
        return int(np.count_nonzero(np.diff(marks[begin:end])))

    first = fitting(delays, 0)
    if first == len(marks):
        return None
    for begin in range(first - 1, max(-1, first - 1 - _BACK), -1):
        for side, delay, used in others(begin):
            if fitting(used, begin) == len(marks) and moves(begin, len(marks)) > 1:
                return OtherDelay(begin, side, delay, since=True)
    for side, delay, used in others(0):
        end = fitting(used, 0)
        for begin in range(end - 1, max(0, end - 1 - _BACK), -1):
            if fitting(delays, begin) == len(marks) and moves(0, begin + 1) > 1:
                return OtherDelay(begin, side, delay, since=False)
    return None


def _since(seen: Sequence[Times], delays: Sequence[int], before: int, policy: Policy, begin: int) -> Times:
    """The watermarks after each micro-batch of a query that was started with one of them, without another restart."""
    own = []
    for times, delay in zip(seen, delays, strict=True):
        newest = np.maximum.accumulate(times[begin:])
        own.append(np.where(newest > NOTHING, np.where(newest > NOTHING, newest, 0) // 1_000 * 1_000 - delay, 0))
    return np.maximum(np.maximum.accumulate(query_watermark(policy, *own)), before)


def _after(seen: Sequence[Times], delays: Sequence[int], before: int, policy: Policy, begin: int, end: int) -> int:
    """The watermark after some micro-batches, of a query that was started with the first of them."""
    return int(_since([times[:end] for times in seen], delays, before, policy, begin)[-1])
