"""The watermark before and after every micro-batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import assert_never

import numpy as np

from workbench.arrays import Codes, RowNumbers, Times
from workbench.joins import Join
from workbench.kinds import MS, NEVER, kind_of
from workbench.literals import Policy, Side, other_side
from workbench.sources.arrow import AFTER_ALL, END_OF_INPUT
from workbench.streams import NOTHING, SIDES, Stream, moving
from workbench.times import micros

LONG_AGO = -(2**61)
"""A watermark, in microseconds, that no row is behind."""
DATA, FINISH, NO_DATA = "data", "finish", "no data"
END = END_OF_INPUT.value // 1000
ENDED = AFTER_ALL.value // 1000
"""A watermark, in microseconds, that is reached at the end of input only."""


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
    lag
        How much less than the newest time less the delay all watermarks are: a millisecond under Flink's rules.
    """

    kinds: list[str]
    eviction: Times
    late: Times
    newest: dict[Side, Times]
    own: dict[Side, Times]
    lag: int = 0

    def __len__(self) -> int:
        return len(self.kinds)

    @cached_property
    def late_by_slower(self) -> Times:
        """What `late` would be under the policy ``min``."""
        slower = np.minimum(*(self.own[side] for side in SIDES))
        return np.concatenate([[0], np.maximum.accumulate(np.maximum(slower, 0))])

    def least_delays(self, side: Side, index: RowNumbers, deadline: Times) -> Times:
        """The least delays of a side with which its own watermark after some micro-batches is below some times.

        Parameters
        ----------
        side
            The side whose delay may change.
        index
            Micro-batches; -1 is the time before the first, when the watermark is 1970-01-01.
        deadline
            Times in microseconds.

        Returns
        -------
        numpy.ndarray
            Microseconds, whole milliseconds; 0 where any delay does; `NEVER` where none does.

        Notes
        -----
        A watermark is the newest time less the delay, both in whole milliseconds. Invariant: with the delay that is
        given the watermark is below the deadline, and with a millisecond less it is not.

        Examples
        --------
        >>> newest = {"left": np.array([5_000_000]), "right": np.array([9_000_000])}
        >>> marks = Watermarks(["data"], np.array([0]), np.array([0]), newest, newest)
        >>> marks.least_delays("right", np.array([0, -1]), np.array([8_500_000, 8_500_000])).tolist()
        [501000, 0]
        """
        newest = np.maximum.accumulate(
            np.maximum(self.newest[side], 0)
        )  # a watermark never goes back, even over restarts
        then = np.where(index >= 0, newest[np.maximum(index, 0)], 0)
        needed = np.maximum(then - self.lag - (deadline - 1) // MS * MS, 0)
        return np.where(deadline > 0, needed, NEVER)

    def needed_delays(self, policy: Policy, side: Side, index: RowNumbers, deadline: Times) -> Times:
        """The least delays of a side with which the query's watermark is below some times, the other delay as it is.

        Parameters
        ----------
        policy
            How the query's watermark follows from those of both sides.
        side, index, deadline
            As in `least_delays`.

        Returns
        -------
        numpy.ndarray
            Microseconds; 0 where the watermark is below anyway; `NEVER` where the other side's is not, under ``max``.

        Examples
        --------
        >>> own = {"left": np.array([5_000_000]), "right": np.array([9_000_000])}
        >>> marks = Watermarks(["data"], np.array([9_000_000]), np.array([0]), own, own)
        >>> found = marks.needed_delays("max", "right", np.array([0, 0]), np.array([8_500_000, 5_000_000]))
        >>> int(found[0]), bool(found[1] == NEVER)  # the left watermark is not below 5 s
        (501000, True)
        """
        at = np.maximum(index, 0)
        query = np.where(index >= 0, self.eviction[at], 0)
        possible = (self.own[other_side(side)][at] < deadline) | (policy == "min")
        return np.where(query < deadline, 0, np.where(possible, self.least_delays(side, index, deadline), NEVER))


def query_watermark(policy: Policy, one: Times, other: Times) -> Times:
    """The query's watermark under a policy, from those of both sides.

    Examples
    --------
    >>> query_watermark("min", np.array([3, 5]), np.array([4, 4])).tolist()
    [3, 4]
    """
    match policy:
        case "min":
            return np.minimum(one, other)
        case "max":
            return np.maximum(one, other)
        case _:
            assert_never(policy)


def watermarks(
    join: Join,
    left: Stream,
    right: Stream,
    keys: tuple[Codes, Codes],
    finish: bool,
    policy: Policy,
    no_more_data: bool = True,
    restarts: Sequence[int] = (),
    unmarked: frozenset[Side] = frozenset(),
) -> Watermarks:
    """The watermarks of a run of `join`.

    Parameters
    ----------
    join, left, right, finish, policy
        As in `workbench.run`.
    keys
        As `key_codes` gives them.
    no_more_data
        Whether nothing follows the last micro-batch: then Spark adds one without data if the watermark has moved.
    restarts
        The micro-batches before which the query was started again, and Spark forgot the watermark of each side.
    unmarked
        The sides without a watermark, which the query's watermark does not heed. Of such a side `Watermarks.newest` is
        `NOTHING`, and `Watermarks.own` that of the other side, or 0.
    """
    count = max(left.batch_count, right.batch_count)
    kinds = [DATA] * count + [FINISH] * finish
    newest: dict[Side, Times] = {}
    own: dict[Side, Times] = {}
    for side, stream, key, filtered in zip(
        SIDES, (left, right), keys, kind_of(join).drops_null_keys(join), strict=True
    ):
        seen = np.full(len(kinds), NOTHING)
        moves = moving(stream, filtered)
        if side in unmarked:
            pass
        elif moves is None:
            some = key >= 0 if filtered else np.ones(len(key), dtype=bool)
            np.maximum.at(seen, stream.arrival[some], stream.event_times[some] // 1000 * 1000)
        else:
            batches = np.flatnonzero(moves > NOTHING)
            seen[batches] = moves[batches] // 1000 * 1000
        if finish and side not in unmarked:
            seen[-1] = END
        since = [np.maximum.accumulate(part) for part in np.split(seen, restarts)]
        newest[side] = np.concatenate([[NOTHING], *since])
        known = newest[side] > NOTHING
        own[side] = np.where(known, np.where(known, newest[side], 0) - micros(stream.watermark), 0)
    for side in unmarked:
        own[side] = own[other_side(side)]
    both = query_watermark(policy, own["left"], own["right"])
    eviction = np.maximum.accumulate(np.maximum(both, 0))  # Spark starts at 1970-01-01 and never goes back
    if no_more_data and eviction[-1] > eviction[-2]:
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


def end_of_input_is_enough(join: Join, left: Stream, right: Stream) -> bool:
    """Whether the end of the input, with its fixed event time, moves the watermark past every window and bound."""
    newest = max((int(each.event_times.max()) for each in (left, right) if len(each)), default=0)
    return newest + kind_of(join).reach(join) + max(micros(left.watermark), micros(right.watermark)) < END


def nothing_late(count: int) -> Watermarks:
    """The watermarks of a run in which nothing is late, and nothing is closed before the end of the input.

    Parameters
    ----------
    count
        How many micro-batches there are with data.
    """
    never = np.full(count + 2, LONG_AGO)
    eviction = np.append(never[:-1], END)
    sides: dict[Side, RowNumbers] = dict.fromkeys(SIDES, never)
    return Watermarks([*[DATA] * count, FINISH, NO_DATA], eviction, never, sides, sides)
