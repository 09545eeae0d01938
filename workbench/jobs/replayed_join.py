"""One join of a job, simulated on the rows that came to it, under the watermarks of its logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from workbench import session
from workbench.arrays import Times
from workbench.jobs import (
    above,
    catalyst,
    chain_watermarks,
    entering,
    join_kinds,
    leaving,
    not_followed,
    plan_joins,
    replay,
    residual,
    restarts,
    side_streams,
    sources,
    understanding,
)
from workbench.jobs.aggregated_sides import SAME_AGGREGATES, Aggregates
from workbench.jobs.catalyst import Node
from workbench.jobs.checkpoint import Checkpoint
from workbench.jobs.clock import Clock
from workbench.jobs.job import Job
from workbench.jobs.other_settings import Settings
from workbench.jobs.side_streams import SideRows
from workbench.jobs.understanding import Understood
from workbench.joins import Join, emission
from workbench.kinds import HASH_JOIN, kind_of
from workbench.literals import SIDES, Side, Sides
from workbench.model import LONG_AGO, Logged, RowFacts, Simulation
from workbench.sources.key_choice import ALL, Choice
from workbench.streams import Stream
from workbench.times import micros

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["OTHER_KEY", "Recorded", "allows_multiple_operators", "replayed"]

OTHER_KEY = "compare windows of event times, or open a join below it with join=…"
_CLOCK_CHANGE = 2 * 3_600_000_000
"""By how much clocks change at most, in microseconds."""
_ONE_WATERMARK = "spark.sql.streaming.statefulOperator.allowMultiple"
_WITHOUT_ROWS = "spark.sql.streaming.noDataMicroBatches.enabled"


@dataclass(frozen=True)
class Recorded:
    """What there is of a job, by which its joins are simulated.

    Attributes
    ----------
    spark, run
        The session, and the plan that Spark runs.
    logs
        The logs of the micro-batches.
    taken
        The rows of each source in the plan.
    choice
        Which keys are taken.
    """

    spark: SparkSession
    run: Node
    logs: Checkpoint
    taken: Mapping[Node, sources.Taken]
    choice: Choice

    @cached_property
    def rows(self) -> dict[frozenset[int], DataFrame]:
        """The rows of the sources that could be read, by the ids of their columns."""
        return {replay.ids(leaf): each.rows for leaf, each in self.taken.items() if each.rows is not None}

    @property
    def missing(self) -> list[str]:
        """What is missing of the logs and the sources, a sentence each."""
        gap = [self.logs.gap] if self.logs.gap else []
        return [*gap, *(words for each in self.taken.values() for words in each.missing)]

    @property
    def unread(self) -> list[str]:
        """Why sources could not be read."""
        return [words for each in self.taken.values() if each.rows is None for words in each.missing]


@dataclass(frozen=True)
class _Followed:
    """The rows of both sides, the newest event time of each in each micro-batch, and what is missing of them."""

    rows: Sides[SideRows]
    newest: Sides[Times | None]
    missing: list[str]


def replayed(
    recorded: Recorded, known: Understood, opened: Mapping[Node, Job], settings: Settings | None = None
) -> Job:
    """A join of a job, with the fates of its rows.

    Parameters
    ----------
    recorded, known
        What there is of the job, and the join.
    opened
        The joins below it that have been opened, by the part of the plan that ends with each.
    settings
        Other settings than the job's, under which it is simulated.

    Raises
    ------
    NotFollowedError
        If its rows cannot be followed, or it is not known which are late.
    """
    own, spark, logs = known.description.join, recorded.spark, recorded.logs
    if settings is not None:
        known = replace(known, description=settings.described(known.description))
    if alone := join_kinds.windows_alone(Sides(*known.inputs), known.keys):
        raise not_followed.NotFollowedError(
            f"joined: {'; '.join(alone)}, so which rows are late is not known; {OTHER_KEY}"
        )
    before = {
        part: opened[part]
        if part in opened
        else replayed(replace(recorded, choice=ALL), understanding.understood(spark, part, run=recorded.run), opened)
        for part in (plan_joins.below(known.join) if known.join.kind == "Join" else ())
    }
    inner = {each.known.join: leaving.pairs(spark, each.simulation, each.known) for each in before.values()}
    known = not_followed.in_part(known, tuple(inner))
    missing = [*recorded.missing, *(words for each in before.values() for words in each.missing)]
    if settings is not None and any(each.grouped is not None for each in known.inputs):
        missing.append(SAME_AGGREGATES)
    clock = _clock(recorded, before, settings)
    clocks = Sides(*(_clock(recorded, _below(before, child), settings) for child in known.join.children[: len(SIDES)]))
    followed = _followed(recorded, known, before, inner, clock, clocks)
    shown = Sides(entering.columns(known, 0), entering.columns(known, 1))
    streams = Sides.of(
        lambda side: side_streams.stream(
            spark,
            known,
            SIDES.index(side),
            followed.rows[side],
            shown=shown[side],
            count=len(logs.batches),
            newest=followed.newest[side],
        )
    )
    join = known.description.join or side_streams.STAND_IN
    policy = logs.policy if settings is None else settings.policy
    joined = [side for side, child in zip(SIDES, known.join.children, strict=False) if child in before]
    facts = replace(_facts(recorded, join, known, followed.rows, shown), join=own)
    if known.description.join == own and allows_multiple_operators(spark):  # else one watermark judges all rows
        facts = replace(facts, above=above.aggregation(known, clock.eviction, from_start=not clock.first))
    of_chain_by_max = bool(logs.operators) and policy == "max"
    facts = replace(facts, undelayed=frozenset(SIDES if of_chain_by_max else joined) | facts.unmarked)
    delays = _delays(known)
    came = {side: int(clock.eviction[0]) + delay for side, delay in delays.items()} if clock.first else {}
    restarted = () if before or _unmarked(known) or settings is not None else _restarts(streams, delays, logs)
    following = logs.next_watermark if settings is None else int(settings.marks[-1])
    with_empty = _is_set(spark, _WITHOUT_ROWS)
    logged = Logged(
        clock.first, facts, clock.eviction, clock.late, came, restarted, None if before else following, with_empty
    )
    version = session.version_of(spark)
    simulation = Simulation(join, streams.left, streams.right, False, policy, False, version, logged)
    places = followed.rows.map(lambda rows: rows.places)
    return Job(
        simulation,
        known,
        logs,
        spark,
        tuple(dict.fromkeys([*missing, *followed.missing])),
        recorded.choice,
        origins={side: leaving.origins(places[side], len(followed.rows[side].arrival)) for side in joined},
        aggregates={
            side: Aggregates(spark, known.join.children[place], recorded.rows, inner, clocks[side], places[side])
            for place, side in enumerate(SIDES)
            if known.inputs[place].grouped is not None
        },
        is_supposed=settings is not None,
    )


def allows_multiple_operators(spark: SparkSession) -> bool:
    """Whether a query may have several stateful operators: late rows are then judged by the watermark before."""
    return _is_set(spark, _ONE_WATERMARK)


def _is_set(spark: SparkSession, setting: str) -> bool:
    """Whether a setting that is true by default is true in a session."""
    return str(spark.conf.get(setting, "true")).lower() == "true"


def _delays(known: Understood) -> Sides[int]:
    """The watermark delays, in microseconds; 0 where there is none."""
    return Sides(*known.described).map(lambda each: micros(each.watermark or timedelta(0)))


def _below(before: Mapping[Node, Job], part: Node) -> dict[Node, Job]:
    """The joins in a part of the plan: an operator on the other side does not heed the watermark that they pass on."""
    return {part: before[part]} if part in before else {}


def _clock(recorded: Recorded, before: Mapping[Node, Job], settings: Settings | None) -> Clock:
    """When the micro-batches ran, and under which watermarks: those of the logs, or of other settings."""
    batches = recorded.logs.batches
    logged = np.array([each.watermark for each in batches], dtype=np.int64) if settings is None else settings.marks[:-1]
    passed = [mark for each in before.values() if (mark := chain_watermarks.passed_on(each)) is not None]
    marks = np.minimum.reduce([logged, *passed])
    late = np.concatenate([[0], marks[:-1]]) if allows_multiple_operators(recorded.spark) else marks.copy()
    if batches[0].number:
        late[0] = LONG_AGO
    return Clock(batches[0].number, [each.started for each in batches], marks, late)


def _followed(
    recorded: Recorded,
    known: Understood,
    before: Mapping[Node, Job],
    inner: Mapping[Node, DataFrame],
    clock: Clock,
    clocks: Sides[Clock],
) -> _Followed:
    """The rows of both sides as they entered the join, each under the watermark of the operators below it."""
    # of a side that asks the clock an optimised plan has the time of now
    on_clock = [replay.asks_the_clock(child) for child in known.join.children]
    of_join = known.join.kind == "Join" and not any(on_clock)
    run_join = plan_joins.as_it_runs(known.join, recorded.run) if of_join else None
    # Spark pushes no filter through a column of the clock, whose value in a query is not the same each time
    wholes = [known.plan if each else recorded.run for each in on_clock]
    seen = Sides(*entering.newest(recorded.spark, wholes, known.marks, recorded.rows, clock))
    delays = _delays(known)
    made, newest, missing = [], [], []
    for place, side in enumerate(SIDES):
        times = seen[side]
        if times is not None and recorded.choice.takes_all:
            entering.check_size(sum(number for _, number in times.values()), side)
        marked = known.marks[place] is not None
        newest.append(side_streams.newest(times, recorded.logs, clock.eviction, delays[side]) if marked else None)
        rows, words = side_streams.rows(
            recorded.spark,
            known,
            place,
            logs=recorded.logs,
            by_ids=recorded.rows,
            choice=recorded.choice,
            run_join=None if known.join.children[place] in before else run_join,
            unread=recorded.unread,
            inner=inner,
            clock=clocks[side],
        )
        made.append(rows)
        missing += words
    return _Followed(Sides(*made), Sides(*newest), missing)


def _restarts(streams: Sides[Stream], delays: Sides[int], logs: Checkpoint) -> tuple[int, ...]:
    """The micro-batches, counted from the first, before which the query was started again."""
    seen = [restarts.newest_of(each, len(logs.batches)) for each in streams.values()]
    return restarts.restarts(seen, list(delays.values()), logs.watermarks, logs.policy)


def _facts(
    recorded: Recorded, join: Join, known: Understood, rows: Sides[SideRows], shown: Sides[entering.Columns]
) -> RowFacts:
    """What is known of the rows beside their keys and times."""
    tables = rows.left.table, rows.right.table

    def asked(parts: Sequence[Node]) -> residual.Residual:
        return residual.Residual(recorded.spark, known, (shown.left, shown.right), tables, parts)

    facts = _row_facts(join, known, rows, asked(known.rest))
    if known.by_calendar:
        facts = replace(facts, exact=asked(known.by_calendar), slack=_CLOCK_CHANGE)
    if facts.filtered is not None and known.filters:
        facts = _with_filters(facts, asked(known.filters))
    watermarks = sum(node.kind == "EventTimeWatermark" for node in recorded.run.walk())
    shared = entering.is_one_watermark([recorded.run] * len(SIDES), known.marks)
    return replace(facts, beside_others=watermarks > len(SIDES), of_one_watermark=shared)


def _row_facts(join: Join, known: Understood, made: Sides[side_streams.SideRows], where: residual.Residual) -> RowFacts:
    """What is known of the rows beside their keys and times."""
    filtered = {side: each.filtered for side, each in made.items() if each.filtered is not None}
    none = {side: np.zeros(len(each.arrival), dtype=bool) for side, each in made.items()}
    gone = {side: each.gone for side, each in made.items()}
    padded = emission(join).padded
    unfit = {side: where.unfit(place) if side in padded else none[side] for place, side in enumerate(SIDES)}
    is_join = known.join.kind == "Join"
    return RowFacts(
        where if known.rest else None,
        {side: each.met for side, each in made.items()},
        filtered if len(filtered) == len(SIDES) else None,
        unfit if is_join and kind_of(join).operator is HASH_JOIN else None,
        nulls_meet=is_join and (len(padded) == len(SIDES) or len(filtered) == len(SIDES)),  # those that reach the join
        retention=known.retention,
        evicts_with_data=known.evicts_with_data,
        join=known.description.join,
        gone=gone if any(each.rows.any() for each in gone.values()) else None,
        untimed={side: each.untimed for side, each in made.items()},
        required={side: each.required for side, each in made.items()},
        aggregated=any(each.grouped is not None for each in known.inputs),
        unmarked=_unmarked(known),
        never_late=_never_late(known) | _unmarked(known),
        is_stand_in=known.description.join is None,
        numbers=known.numbers,
        of_one_source=is_join and sources.are_same(where.spark, *known.join.children[: len(SIDES)]),
    )


def _with_filters(facts: RowFacts, filters: residual.Residual) -> RowFacts:
    """The facts of rows, with what the job asks of one side that Spark asks before the join."""
    failing = {side: filters.unfit(place) for place, side in enumerate(SIDES)}
    words = {side: text for place, side in enumerate(SIDES) if (text := filters.text_of(place))}
    return replace(facts, failing=failing, filters=words)


def _never_late(known: Understood) -> frozenset[Side]:
    """The sides of which no column with a watermark enters the join that Spark runs, so that it drops no late row."""
    if known.run is None or known.join.kind != "Join":
        return frozenset()
    outputs = {side: child.output for side, child in Sides(*known.run.children).items()}
    return frozenset(side for side, columns in outputs.items() if not any(map(catalyst.has_watermark, columns)))


def _unmarked(known: Understood) -> frozenset[Side]:
    """The sides without a watermark."""
    return frozenset(side for side, mark in Sides(*known.marks).items() if mark is None)
