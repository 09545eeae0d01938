"""The figures of a job's health, and which of them are beyond what is allowed."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd

from workbench import times
from workbench.arrays import Times
from workbench.errors import QueryError, wrong
from workbench.jobs import held
from workbench.jobs.job import Job
from workbench.literals import SIDES, Side, Sides, other_side
from workbench.model import NOTHING, Shared
from workbench.reasons.labels import key_words
from workbench.sources.key_choice import newest_times
from workbench.streams import batches_with_rows
from workbench.times import MICROSECOND
from workbench.tuning import spark_faults
from workbench.tuning.short_delay import MUCH_LATE, delay_for, late_rows
from workbench.untyped import Record, Value

__all__ = ["Crossed", "Health", "KnownFault", "Limits", "SideHealth", "crossed", "figures"]

_LONG_IDLE = 3  # micro-batches without rows from which on a side is idle for a fault of Spark's


@dataclass(frozen=True)
class SideHealth:
    """The figures of one side.

    Attributes
    ----------
    name
        What the side is called.
    rows
        How many rows came. None: they cannot be read any more.
    late_rows, late_share
        How many of them were late for all of their windows, and which share of `rows` that is. None: not known.
    frequent_key, frequent_key_share
        The key that most rows have, as text, and its share of the rows whose key is not null. The share is None where
        the key was not understood, or only some keys were read.
    needed_delay
        The least watermark delay of this side with which no more of its rows are late than
        `Health.allowed_late_share`. None: no more are, or no delay does.
    delay_on_both
        Whether the other side needs that delay, too.
    causes
        How many rows were not matched, by cause, as `Job.causes` has them; empty where the join was not understood.
    """

    name: str
    rows: int | None
    late_rows: int | None
    late_share: float | None
    frequent_key: str | None
    frequent_key_share: float | None
    needed_delay: timedelta | None = None
    delay_on_both: bool = False
    causes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class KnownFault:
    """A fault of Spark's own that the join meets.

    Attributes
    ----------
    fault
        Its ticket, or that it has none.
    problem
        What it does to this job.
    remedy
        The versions that do not have it, and what else helps.
    """

    fault: str
    problem: str
    remedy: str


@dataclass(frozen=True)
class Health:
    """The figures of a job over the micro-batches that its checkpoint keeps.

    Attributes
    ----------
    join
        The join, as `workbench.describe` gives it; None: not understood.
    where
        What it asks for beside equal keys and times, as SQL. Empty: nothing.
    spark_version
        The version of Spark that reads the checkpoint, which `faults` are of.
    first_micro_batch, last_micro_batch
        Spark's numbers of the first and the last one that has ended and is kept.
    allowed_late_share
        Which share of a side's rows may be late, by `Limits`, or one in a thousand.
    left, right
        The sides. Rows that were in state before the second micro-batch that is kept, where earlier ones are not, are
        not counted.
    wait
        The longest time from the event time of a row without partner until it left the state, or until now where it is
        still there; what the time is at a micro-batch is the newest event time that has come. None: no row waited, or
        the join was not understood.
    watermark_lag
        The most that a watermark was behind the newest event time that had come. None: there is no watermark yet.
    state_rows
        How many rows are in state after the last micro-batch, of all keys, counted by Spark; of joins that are written
        as groups how many groups. None: it cannot be read.
    state_growth
        By how much the mean of the rows in state of the later half of the micro-batches is above that of the earlier
        half, as a share of it. None: not known, or there is nothing to compare.
    idle_side
        The side that had no rows in the last micro-batches, while the other one had. None: neither.
    idle_micro_batches
        In how many micro-batches at the end that is so. None: not known.
    faults
        The known faults of this version of Spark that the join meets.
    missing
        What could not be read any more, a sentence each.
    unknown
        What was not understood of the join, a sentence each.
    mismatch
        In what the figures may be wrong, as the model of the join differs from what the job left behind. Empty: it does
        not.
    """

    join: str | None
    where: str
    spark_version: str
    first_micro_batch: int
    last_micro_batch: int
    allowed_late_share: float
    left: SideHealth
    right: SideHealth
    wait: timedelta | None
    watermark_lag: timedelta | None
    state_rows: int | None
    state_growth: float | None
    idle_side: Side | None
    idle_micro_batches: int | None
    faults: tuple[KnownFault, ...]
    missing: tuple[str, ...]
    unknown: tuple[str, ...]
    mismatch: str = ""

    def side(self, name: Side) -> SideHealth:
        """The figures of a side, ``"left"`` or ``"right"``."""
        return self.left if name == "left" else self.right


def figures(job: Job, limits: Limits | None = None) -> Health:
    """The figures of a job.

    Parameters
    ----------
    job
        What `workbench.open_job` gave.
    limits
        What the figures may be at most, by which the delays are that they would take.

    Raises
    ------
    TooLargeError
        If there are more pairs or windows than are computed.
    """
    allowed = MUCH_LATE if limits is None or limits.max_late_share is None else limits.max_late_share
    idle_side, idle = _idle(job)
    state, words = _state_rows(job)
    numbers = [each.number for each in job.checkpoint.batches]
    return Health(
        join=repr(job.join) if job.is_understood else None,
        where=job.where,
        spark_version=job.simulation.spark_version,
        first_micro_batch=numbers[0],
        last_micro_batch=numbers[-1],
        allowed_late_share=allowed,
        left=_side(job, "left", allowed),
        right=_side(job, "right", allowed),
        wait=_wait(job),
        watermark_lag=_watermark_lag(job),
        state_rows=state,
        state_growth=_growth([int(each) for each in job.batches["state_rows"]]) if job.is_understood else None,
        idle_side=idle_side,
        idle_micro_batches=idle,
        faults=_faults(job, idle_side if idle is not None and idle >= _LONG_IDLE else None),
        missing=(*job.missing, *words),
        unknown=job.unknown,
        mismatch=job.mismatch,
    )


def _came(job: Job, side: Side) -> Any:
    """Which rows of a side came, rather than being in state before."""
    arrival = job.side(side).arrival
    return arrival > 0 if job.simulation.first else np.ones(len(arrival), dtype=bool)


def _is_read(job: Job, side: Side) -> bool:
    """Whether it is known which rows of a side came: of none that came, none may be missing."""
    return bool(_came(job, side).any()) or (job.side(side).newest is not None and not job.missing)


def _side(job: Job, side: Side, allowed: float) -> SideHealth:
    stream, came = job.side(side), _came(job, side)
    if not _is_read(job, side):
        return SideHealth(stream.name, None, None, None, None, None)
    late = late_rows(job.outcome, side)
    late = late[came[late["row"].to_numpy()]]
    rows, late_count = int(came.sum()), len(late)
    key, share = _frequent_key(job, side, came)
    late_share = late_count / rows if rows else 0.0
    needed = None
    if late_share > allowed:
        most = allowed * rows - int((late["end"] <= 0).sum())  # without those that are late whatever the delay
        needed = delay_for(job.outcome, Sides(job.left, job.right), job.policy, side, most)
    delay, both = (None, False) if needed is None else (needed.delay, needed.both)
    return SideHealth(stream.name, rows, late_count, late_share, key, share, delay, both, _causes(job, side, came))


def _causes(job: Job, side: Side, came: Any) -> dict[str, int]:
    """How many rows of a side were not matched, by cause, most first."""
    if not job.is_understood:
        return {}
    lost = came & (job.simulation.fates[side]["fate"].to_numpy() != "matched")
    counts = pd.Series(job.reasons.causes(side)[lost], dtype=object).value_counts()
    return {str(cause): int(count) for cause, count in counts.items()}


def _frequent_key(job: Job, side: Side, came: Any) -> tuple[str | None, float | None]:
    keys = job.outcome.keys[SIDES.index(side)]
    rows = np.flatnonzero(came & (keys >= 0))
    if not job.choice.takes_all or not job.known.keys:
        return None, None
    if not len(rows):
        return None, 0.0
    counts = np.bincount(keys[rows])
    most = int(counts.argmax())
    one = rows[keys[rows] == most][:1]
    return str(key_words(job.side(side), one)[0]), float(counts[most] / len(rows))


def _timed(job: Job) -> list[Side]:
    """The sides that have an event time."""
    known = zip(SIDES, job.known.times, job.known.described, strict=True)
    return [side for side, time, described in known if time is not None or described.time]


def _newest(job: Job) -> Times:
    """For each micro-batch the newest event time of either side that had come by its end.

    A side that has none is shown at the times of its micro-batches, which are no event times.
    """
    found = np.full(len(job.checkpoint.batches), NOTHING, dtype=np.int64)
    for side in _timed(job):
        stream = job.side(side)
        own = stream.newest
        if own is None:
            own = newest_times(len(found), stream.arrival, stream.event_times)
        np.maximum(found, own, out=found)
    return np.maximum.accumulate(found)


def _wait(job: Job) -> timedelta | None:
    if not job.is_understood:
        return None
    newest, longest = _newest(job), -1
    for side in _timed(job):
        fates = job.simulation.fates[side]
        waiting = fates["fate"].isin(["unmatched", "pending"]).to_numpy()
        until = newest[np.minimum(fates["evicted_in"].to_numpy()[waiting], len(newest) - 1)]
        waits = (until - job.side(side).event_times[waiting])[until > NOTHING]
        longest = max(longest, int(waits.max(initial=-1)))
    return None if longest < 0 else longest * MICROSECOND


def _watermark_lag(job: Job) -> timedelta | None:
    newest, marks = _newest(job), job.outcome.marks.eviction
    known = (marks > 0) & (newest > NOTHING)
    return int((newest - marks)[known].max()) * MICROSECOND if known.any() else None


def _state_rows(job: Job) -> tuple[int | None, tuple[str, ...]]:
    try:
        logs = job.checkpoint
        operator = logs.operators.get(job.known.join)
        return held.count(job.spark, logs.address, logs.batches[-1].number, operator=operator), ()
    except QueryError as error:
        return None, (str(error),)


def _growth(state: list[int]) -> float | None:
    half = len(state) // 2
    earlier, later = sum(state[:half]), sum(state[len(state) - half :])
    if earlier == later and half:
        return 0.0
    return (later - earlier) / earlier if earlier else None


def _idle(job: Job) -> tuple[Side | None, int | None]:
    if not all(_is_read(job, side) for side in SIDES):
        return None, None
    came = {side: np.unique(batches_with_rows(job.side(side))) for side in SIDES}
    for side in SIDES:
        own, others = came[side], came[other_side(side)]
        idle = int((others > (own[-1] if len(own) else -1)).sum())
        if idle:
            return side, idle
    return None, 0


def _faults(job: Job, idle: Side | None) -> tuple[KnownFault, ...]:
    if not job.is_understood:
        return ()
    left, right = job.left, job.right
    shared = Shared(left, right, keys=job.outcome.keys, rows=job.simulation.facts)
    streams: Sides[Any] = Sides(left, right)
    forgotten = job.simulation.forgotten
    case = spark_faults.Case(job.join, streams, job.policy, job.outcome, shared, forgotten or idle, bool(forgotten))
    met = spark_faults.met(case, job.simulation.spark_version)
    return tuple(KnownFault(str(fault), problem, fault.remedy) for fault, problem in met)


@dataclass(frozen=True)
class Limits:
    """What the figures of a job may be at most; None: anything.

    Attributes
    ----------
    max_late_share
        Of `SideHealth.late_share` of either side.
    max_wait
        Of `Health.wait`: a time span.
    max_state_rows
        Of `Health.state_rows`.
    max_state_growth
        Of `Health.state_growth`.
    max_idle
        Of `Health.idle_micro_batches`.
    max_skew
        Of `SideHealth.frequent_key_share` of either side.

    Raises
    ------
    ArgumentError
        If one is no such figure.
    """

    max_late_share: float | None = None
    max_wait: times.Span | None = None
    max_state_rows: int | None = None
    max_state_growth: float | None = None
    max_idle: int | None = None
    max_skew: float | None = None

    def __post_init__(self) -> None:
        for name in ("max_late_share", "max_skew"):
            _check_number(name, getattr(self, name), 1, "give a share from 0 to 1, such as 0.01")
        _check_number("max_state_growth", self.max_state_growth, None, "give a share of 0 or more, such as 0.2")
        for name in ("max_state_rows", "max_idle"):
            got = getattr(self, name)
            if got is not None and (isinstance(got, bool) or not isinstance(got, int) or got < 0):
                raise wrong(name, got, "give a whole number, 0 or more")
        if self.max_wait is not None:
            object.__setattr__(self, "max_wait", times.delay(self.max_wait, "max_wait"))

    @property
    def given(self) -> Record:
        """Those that are set, by name."""
        found = {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}
        return {name: limit for name, limit in found.items() if limit is not None}


def _check_number(name: str, got: Value, most: float | None, remedy: str) -> None:
    if got is None:
        return
    if isinstance(got, bool) or not isinstance(got, int | float) or not 0 <= got < math.inf or got > (most or got):
        raise wrong(name, got, remedy)


@dataclass(frozen=True)
class Crossed:
    """A limit that a figure is above, or that cannot be judged as the figure is not known.

    Attributes
    ----------
    limit
        The name in `Limits`.
    side
        Of which side the figure is; None: of the job.
    allowed, found
        The limit and the figure, time spans in seconds; `found` is None where it is not known.
    text
        The same in words.
    """

    limit: str
    side: Side | None
    allowed: float
    found: float | None
    text: str

    @property
    def above(self) -> float | None:
        """By how much the figure is above the limit; None: it is not known."""
        return None if self.found is None else self.found - self.allowed


def crossed(health: Health, limits: Limits) -> tuple[Crossed, ...]:
    """The limits that figures are above. A figure that is not known is not fine: its limit counts as crossed.

    Parameters
    ----------
    health
        What `figures` gave.
    limits
        What is allowed. A figure that equals its limit is fine.
    """
    found = []
    for name, allowed in limits.given.items():
        for side, figure, what in _judged(health, name):
            if figure is None:
                text = f"{what} is not known, so that it cannot be compared with {_in_words(name, allowed)}"
            elif figure > allowed:
                by = _in_words(name, figure - allowed, difference=True)
                text = f"{what} is {_in_words(name, figure)}, which is {by} above {_in_words(name, allowed)}"
            else:
                continue
            found.append(Crossed(name, side, _plain(allowed), None if figure is None else _plain(figure), text))
    return tuple(found)


def _judged(health: Health, name: str) -> list[tuple[Side | None, Any, str]]:
    """The figures that a limit is of: of which side, how much, and what it is."""
    both: list[tuple[Side, SideHealth]] = [(side, health.side(side)) for side in SIDES]
    match name:
        case "max_late_share":
            return [(side, each.late_share, f"the share of late rows of {each.name}") for side, each in both]
        case "max_skew":
            what = "the share of the most frequent key"
            return [(side, each.frequent_key_share, f"{what} of {each.name}") for side, each in both]
        case "max_wait":
            none_waited = health.wait is None and health.join is not None
            wait = timedelta(0) if none_waited else health.wait
            return [(None, wait, "the wait of rows without partner")]
        case "max_state_rows":
            return [(None, health.state_rows, "the number of rows in state")]
        case "max_state_growth":
            return [(None, health.state_growth, "the growth of the state")]
        case _:
            idle = health.idle_side
            whose = f" without rows of {health.side(idle).name}" if idle else " without rows of one side"
            return [(None, health.idle_micro_batches, f"the number of micro-batches at the end{whose}")]


def _in_words(name: str, figure: Value, difference: bool = False) -> str:
    if isinstance(figure, timedelta):
        return times.short(figure)
    if name in ("max_state_rows", "max_idle"):
        return f"{figure:,}"
    return f"{100 * figure:.4g}" + (" percentage points" if difference else "%")


def _plain(figure: Value) -> float:
    return figure.total_seconds() if isinstance(figure, timedelta) else figure
