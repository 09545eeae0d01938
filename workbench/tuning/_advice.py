"""`advise`: what a recording and a join say of each other before anything is run, each with what would help."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

import numpy as np

from workbench import fixes, model, spark_versions, times
from workbench.arrays import Flags
from workbench.counts import counted, have
from workbench.errors import TooLargeError, wrong
from workbench.joins import Join, emission
from workbench.kinds import UNBOUNDED, kind_of
from workbench.literals import DELAYS, Policy, Setting, Side, Sides, other_side
from workbench.model import Outcome, RowFacts, Shared, Simulation
from workbench.reasons.judging import late_because
from workbench.reasons.labels import Labels, setting_value
from workbench.runs.arguments import check
from workbench.streams import SIDES, Stream, has_rows
from workbench.tuning import _checkpoints, spark_faults
from workbench.tuning._in_common import in_common
from workbench.tuning.short_delay import MUCH_LATE, delay_for, late_rows
from workbench.verdicts import SharedVerdict

_SECOND = 1_000_000
_SILENT = 3  # micro-batches in a row in which a side that sends nothing is called idle, if they are
_SILENT_SHARE = 0.2  # so large a part of all that the other side sends in
_NOT_BEGUN_SHARE = 0.5  # that part, of a silence at the start: many a side begins after the other
_HOURS = 3_600 * _SECOND  # the wait from which on nulls are called late
_YEAR = 365 * 86_400 * _SECOND
_DIVIDED = (950_000 * _SECOND, 2_000_000 * _SECOND)
"""Event times of the years 2000 to 2033, of which milliseconds were divided by 1,000 once too often."""
_NAMED = 3  # rows that are named one by one
_HEAVY = 0.5  # the share of the rows that a hundredth of the keys has when keys are called skewed


@dataclass(frozen=True)
class Advice:
    """One thing to know before a run.

    Attributes
    ----------
    problem
        What was found, with the figures in it.
    remedy
        What would help.
    setting, value
        The setting that would, as `Run.rows` names one in ``fix_setting`` (or ``policy``, ``slide``), and its value as
        text; None where no setting of the join would.
    example
        A script of plain PySpark that shows a fault of Spark's on the version that is asked for; None where nothing is
        Spark's fault.
    """

    problem: str
    remedy: str
    setting: Setting | None = None
    value: str | None = None
    example: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return f"{self.problem}: {self.remedy}"

    def apply(
        self, join: Join, left: Stream, right: Stream, policy: Policy = "min"
    ) -> tuple[Join, Stream, Stream, Policy]:
        """The join, streams and policy with the setting changed; as they were where no setting would help."""
        check(join, left, right, False, policy)
        if self.setting is None or self.value is None:
            return join, left, right, policy
        if self.setting not in fixes.settings(join):
            raise wrong("join", join, f"it has no {self.setting} to set; give the join that this advice is of")
        return fixes.apply_all({self.setting: self.value}, join, left, right, policy)


def advise(
    join: Join,
    left: Stream,
    right: Stream,
    *,
    policy: Policy = "min",
    spark_version: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> list[Advice]:
    """What to know of a join of two recorded streams before it is run.

    Parameters
    ----------
    join, left, right, policy
        As in `workbench.run`.
    spark_version
        The version of Spark that the join runs on, from 3.3 to 4.3, such as ``"3.5.3"`` or ``"4.1"``: which faults of
        Spark's own it meets there. None: that of the PySpark that is installed.
    checkpoint
        The checkpoint of an exported project that is to go on with this join and these streams: what of them has
        changed since, and whether its state survives that. None: there is none.

    Returns
    -------
    list of Advice
        Empty if nothing was found: events at or before 1970; a delay that is shorter than the disorder; a side that is
        idle and stalls everything; bounds far wider than the differences of the rows; a session gap below the usual
        distance of events; sliding windows of which each row is in many; few keys that have most rows; outer rows
        that wait for hours; faults of this version of Spark, with the ticket and the version that is without it.

    Raises
    ------
    ArgumentError
        If an argument is wrong.

    Examples
    --------
    >>> import generators
    >>> import workbench as wb
    >>> orders, payments = generators.generate("orders_payments", events=200, seed=7)
    >>> for each in wb.advise(wb.IntervalJoin("0 s", "15 s"), orders.with_watermark("0 s"), payments):
    ...     print(each.problem.split(",")[0])
    5 of 200 rows of orders are late (2.5%): it has no watermark delay for the disorder of these rows
    3 of 180 rows of payments are late (1.7%): its delay of 10 seconds is short for the disorder of these rows
    payments sends nothing for 3 micro-batches from micro-batch 7 on
    Spark 4.3.0 has a fault without a ticket
    >>> orders, payments = generators.generate("orders_payments", events=200, late=0.2, disorder=0.3, seed=7)
    >>> join = wb.IntervalJoin("0 s", "15 s", how="left")
    >>> [found] = [each for each in wb.advise(join, orders, payments, spark_version="3.5.3") if each.example]
    >>> print(found.problem.split(" (")[0])
    Spark 3.5.3 has SPARK-49829, by which it loses rows that expire in the micro-batch they arrive in
    >>> exec(found.example)  # doctest: +SKIP
    """
    left, right = check(join, left, right, True, policy)
    version = spark_versions.check("spark_version", spark_version, spark_versions.OLDEST_OF_FAULTS)
    simulation = Simulation(join, left, right, policy=policy, spark_version=version)
    changed = [] if checkpoint is None else [Advice(*each) for each in _checkpoints.changes(simulation, checkpoint)]
    return [*changed, *advised(simulation)]


def advised(simulation: Simulation) -> list[Advice]:
    """As `advise`, of a run, a preview or a job, with what is known of its rows beside their keys and times."""
    join, left, right, policy = simulation.join, simulation.left, simulation.right, simulation.policy
    version, shared = simulation.spark_version, Shared(left, right, rows=simulation.facts)
    streams = Sides(left, right)
    try:
        outcome = (
            model.simulate(join, left, right, policy=policy, shared=shared, spark=spark_versions.facts(version))
            if simulation.logged is None
            else simulation.outcome
        )
    except TooLargeError as error:
        problem, _, remedy = str(error).rpartition(": ")
        found = *_of_the_kind(join, streams, shared), *_skew(streams, shared)
        return [Advice(problem, remedy), *_before_1970(streams), *found]
    if not kind_of(join).drops_late:  # no watermark matters
        return [*_of_the_kind(join, streams, shared), *_skew(streams, shared)]
    idle = None if simulation.facts.unmarked else _idle(streams, policy)
    forgotten = simulation.forgotten
    silent = forgotten or (idle[0] if idle else None)
    case = spark_faults.Case(join, streams, policy, outcome, shared, silent, bool(forgotten))
    return [
        *_before_1970(streams),
        *_without_keys(streams, outcome),
        *_other_causes(simulation, streams, outcome),
        *_short_delays(_by_delay(simulation, streams, outcome), outcome, policy),
        *(Advice(*each) for each in in_common(simulation)),
        *_of_idleness(streams, idle, simulation.facts),
        *_not_missed(simulation, _of_the_kind(join, streams, shared)),
        *_skew(streams, shared),
        *_long_waits(join, streams),
        *_of_spark(case, version),
    ]


def _without_keys(streams: Sides[Stream], outcome: Outcome) -> Iterator[Advice]:
    for side, keys in Sides(*outcome.keys).items():
        stream, columns = streams[side], " and ".join(streams[side].key)
        if len(keys) and (keys < 0).all():
            yield Advice(
                f"no row of {stream.name} has a key: {columns} is null in each, and a null key matches no key",
                f"check how {columns} is read, such as the schema for JSON, or give another key",
            )


def _before_1970(streams: Sides[Stream]) -> Iterator[Advice]:
    for stream in streams.values():
        count = int((stream.event_times <= 0).sum())
        if count:
            yield Advice(
                f"{counted(count, 'row')} of {stream.name} {have(count)} an event time at or before 1970-01-01, where "
                "Spark starts every watermark, and would be dropped as late whatever the delay",
                f"correct the event times of {stream.name}, or shift them",
            )
    in_january = [_between(each, *_DIVIDED) for each in streams.values()]
    if all(in_january):
        names = " and ".join(each.name for each in streams.values())
        share = "all" if set(in_january) == {"all"} else "most"
        yield Advice(f"{share} event times of {names} are in January 1970", _divided(*streams.values()))
    in_1970 = streams.map(lambda each: _between(each, 0, _YEAR))
    for side, stream in streams.items():
        other = streams[other_side(side)]
        if in_1970[side] and not in_1970[other_side(side)] and other.event_times.max(initial=0) > _YEAR:
            yield Advice(
                f"{in_1970[side]} event times of {stream.name} are in 1970, and those of {other.name} are not",
                _divided(stream),
            )


def _between(stream: Stream, low: int, high: int) -> str:
    """Whether ``all`` or ``most`` event times of a stream lie between two moments; empty: neither."""
    inside = (stream.event_times > low) & (stream.event_times < high)
    if inside.sum() * 2 <= len(inside):
        return ""
    return "all" if inside.all() else "most"


def _divided(*streams: Stream) -> str:
    """What to do where the event times of streams are a thousandth of what they should be."""
    columns = " and ".join(dict.fromkeys(each.time for each in streams))
    return (
        f"were milliseconds divided by 1,000 once too often? make {columns} with timestamp_millis, or with "
        "timestamp_seconds of whole seconds"
    )


def _late_because(simulation: Simulation, outcome: Outcome, side: Side) -> tuple[int, int, int]:
    """How many rows of a side are late; of these, because of rows far ahead, and because of the policy ``max``."""
    because = late_because(simulation, outcome, side, np.arange(len(simulation.side(side))))
    ahead, policy = (because == each for each in (SharedVerdict.LATE_BEHIND_ROWS_AHEAD, SharedVerdict.LATE_BY_POLICY))
    return int((because != SharedVerdict.LATE_AT_EPOCH).sum()), int(ahead.sum()), int(policy.sum())


def _by_delay(simulation: Simulation, streams: Sides[Stream], outcome: Outcome) -> Mapping[Side, Stream]:
    """The streams whose rows are late for want of a delay, and not mainly for another cause."""
    found = {}
    for side, stream in streams.items():
        late, ahead, policy = _late_because(simulation, outcome, side)
        if 2 * max(ahead, policy) <= late:
            found[side] = stream
    return found


def _other_causes(simulation: Simulation, streams: Sides[Stream], outcome: Outcome) -> Iterator[Advice]:
    """Rows are late because a few rows are far ahead of all others, or because the query follows the faster side."""
    counts = [_late_because(simulation, outcome, side) for side in SIDES]
    late, ahead, policy = (sum(each) for each in zip(*counts, strict=True))
    if simulation.ahead is not None and ahead:
        rows = Labels(simulation, whole=False).labels(simulation.ahead.rows)
        named = ", ".join(rows[:_NAMED]) + (f" and {len(rows) - _NAMED:,} more" if len(rows) > _NAMED else "")
        gap = times.short(timedelta(microseconds=simulation.ahead.gap))
        yield Advice(
            f"{named} {'is' if len(rows) == 1 else 'are'} {gap} ahead of every other row and moved the watermark: "
            f"without {'it' if len(rows) == 1 else 'them'} {ahead:,} of the {late:,} late rows are on time",
            "leave such rows out before withWatermark, as with where(time <= current_timestamp() + INTERVAL 5 MINUTES)",
        )
    if 2 * policy > late:
        yield Advice(
            f"the watermark follows the faster side (policy max); with policy min {policy:,} of the {late:,} late rows "
            "are on time",
            "set the policy to min; a checkpoint keeps the policy, so start the query with a new one",
            "policy",
            "min",
        )


def _short_delays(streams: Mapping[Side, Stream], outcome: Outcome, policy: Policy) -> Iterator[Advice]:
    for side, stream in streams.items():
        late = int((late_rows(outcome, side)["end"] > 0).sum())
        if not len(stream) or late / len(stream) <= MUCH_LATE:
            continue
        delay = times.text(stream.watermark)
        short = "it has no watermark delay" if not stream.watermark else f"its delay of {delay} is short"
        problem = (
            f"{late:,} of {len(stream):,} rows of {stream.name} {'is' if late == 1 else 'are'} late "
            f"({late / len(stream):.1%}): {short} for the disorder of these rows"
        )
        needed = delay_for(outcome, streams, policy, side, MUCH_LATE * len(stream))
        if needed is None:
            continue
        value = times.text(needed.delay)
        words = setting_value(DELAYS[side], value)
        if needed.both:  # under "max" the other side's watermark passes them, too
            yield Advice(problem, f"a watermark delay of {words} on both streams {_kept(len(stream))}")
        else:
            yield Advice(
                problem, f"a watermark delay of {words} on {stream.name} {_kept(len(stream))}", DELAYS[side], value
            )


def _kept(count: int) -> str:
    """What a delay that makes less than one row in a thousand late keeps of so many."""
    return (
        "keeps all but one in a thousand of its rows" if count * MUCH_LATE >= 1 else f"keeps all {count:,} of its rows"
    )


def _idle(streams: Sides[Stream], policy: Policy) -> tuple[Side, int, int] | None:
    """The side that sends nothing for long, from which micro-batch on, and in how many of them the other side does."""
    if policy != "min":
        return None
    count = max(each.batch_count for each in streams.values())
    sending = {side: has_rows(each, count) for side, each in streams.items()}
    for side, other in (SIDES, SIDES[::-1]):
        begin, length = _longest(sending[side], sending[other])
        share = _SILENT_SHARE if sending[side][:begin].any() else _NOT_BEGUN_SHARE
        if length >= max(_SILENT, share * int(sending[other].sum())):
            return side, begin, length
    return None


def _of_idleness(streams: Sides[Stream], idle: tuple[Side, int, int] | None, facts: RowFacts) -> Iterator[Advice]:
    if idle is not None:
        side, begin, length = idle
        name, filtered = streams[side].name, facts.fails_from(side, streams[side], begin)
        silence = f"no row of {name} passes {facts.filters[side]}" if filtered else f"{name} sends nothing"
        because = ", and Spark filters its rows before they move its watermark" if filtered else ""
        yield Advice(
            f"{silence} for {length} micro-batches from micro-batch {begin} on, while "
            f"{streams[other_side(side)].name} goes on{because}: the watermark stands still, state grows and rows "
            "without partner wait",
            "follow the faster stream (policy max), which then drops what comes late from the idle one, or let its "
            f"source send a heartbeat row{' that passes the filter' if filtered else ''}",
            "policy",
            "max",
        )


def _longest(one: Flags, other: Flags) -> tuple[int, int]:
    """Where one side's longest silence begins, and in how many micro-batches of it the other side sends."""
    silent = np.flatnonzero(~one & other)
    if not len(silent):
        return 0, 0
    _, first, counts = np.unique(np.cumsum(one)[silent], return_index=True, return_counts=True)
    place = int(counts.argmax())
    return int(silent[first[place]]), int(counts[place])


def _of_the_kind(join: Join, streams: Sides[Stream], shared: Shared) -> Iterator[Advice]:
    try:
        found = list(kind_of(join).advice(join, streams, shared))
    except TooLargeError:  # which is reported already
        return
    yield from (Advice(*each) for each in found)


def _not_missed(simulation: Simulation, found: Iterator[Advice]) -> Iterator[Advice]:
    """Advice to narrow a bound, but where rows miss their partner by it."""
    some = list(found)
    if any(each.setting in ("lower", "upper") for each in some):
        missed = set(fixes.fixes(simulation)["setting"])
        some = [each for each in some if each.setting not in missed]
    yield from some


def _skew(streams: Sides[Stream], shared: Shared) -> Iterator[Advice]:
    for stream, keys in zip(streams.values(), shared.keys, strict=True):
        sizes = np.sort(np.bincount(keys[keys >= 0]))[::-1]
        sizes = sizes[sizes > 0]
        top = max(1, len(sizes) // 100)
        if len(sizes) >= 20 and sizes[:top].sum() / sizes.sum() >= _HEAVY:
            share = sizes[:top].sum() / sizes.sum()
            words = f"one key of {len(sizes):,} has" if top == 1 else f"{top:,} keys of {len(sizes):,} have"
            yield Advice(
                f"{words} {share:.0%} of the rows of {stream.name}, and as much of its state, which one task must hold",
                "filter such keys, or salt them: add a small random number to the key on one side, and each of these "
                "numbers on the other",
            )


def _long_waits(join: Join, streams: Sides[Stream]) -> Iterator[Advice]:
    kind = kind_of(join)
    if kind.grouped or not emission(join).padded:
        return
    delay = max(times.micros(each.watermark) for each in streams.values())
    reach = max(kind.waits(join, "left"), kind.waits(join, "right"), 0)
    if reach < UNBOUNDED and delay + reach >= _HOURS:
        wait = times.short(timedelta(microseconds=delay + reach))
        waiting = " and ".join(streams[side].name for side in SIDES if side in emission(join).padded)
        yield Advice(
            f"rows without partner come out {wait} after they happened, or later: the watermark delay and the "
            f"{'window' if kind.windowed else 'bounds'} add up",
            f"shorten the larger of the two; to have unmatched rows at once, write {waiting} to the sink without the "
            "join, too, and let the joined row of the same key overwrite each",
        )


def _of_spark(case: spark_faults.Case, version: str) -> Iterator[Advice]:
    for fault, problem in spark_faults.met(case, version):
        yield Advice(f"Spark {version} has {fault}, by which {problem}", fault.remedy, example=fault.source())
