"""``wb.open_job``: a query that somebody else wrote and ran, from its plan and its checkpoint."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from workbench import session
from workbench.errors import ArgumentError, QueryError, wrong
from workbench.jobs import (
    above,
    catalyst,
    chain_watermarks,
    entering,
    event_log,
    from_java,
    held,
    leaving,
    not_followed,
    replay,
    reported,
    residual,
    restarts,
    side_streams,
    sinks,
    sources,
    understanding,
)
from workbench.jobs import checkpoint as checkpoints
from workbench.jobs.aggregated_sides import SAME_AGGREGATES, Aggregates
from workbench.jobs.catalyst import Node
from workbench.jobs.chain import Chain
from workbench.jobs.checkpoint import Checkpoint
from workbench.jobs.clock import Clock
from workbench.jobs.in_memory import Written
from workbench.jobs.job import Job
from workbench.jobs.other_settings import Settings, Supposed
from workbench.jobs.understanding import Understood
from workbench.joins import Join, emission
from workbench.kinds import AGGREGATION, HASH_JOIN, kind_of
from workbench.literals import SIDES, Side, Sides
from workbench.model import LONG_AGO, Logged, RowFacts, Simulation
from workbench.sources.key_choice import ALL, Choice, checked, with_width
from workbench.spark_io.cause import spark_errors_as
from workbench.streams import Stream
from workbench.times import micros
from workbench.untyped import Argument, JavaObject, SparkObject, Value

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["execution_of", "given", "is_query", "open_job", "open_own", "operators_of", "session_of"]

_TRIES = 3
_CLOCK_CHANGE = 2 * 3_600_000_000
"""By how much clocks change at most, in microseconds."""
_ONE_WATERMARK = "spark.sql.streaming.statefulOperator.allowMultiple"
_WITHOUT_ROWS = "spark.sql.streaming.noDataMicroBatches.enabled"
_OF_ANOTHER = "it is the checkpoint of another query; give the DataFrame that this one runs"
_OTHER_KEY = "compare windows of event times, or open a join below it with join=…"


def open_job(
    joined: DataFrame | StreamingQuery,
    checkpoint: str | os.PathLike[str] | None = None,
    *,
    join: int | None = None,
    keys: Sequence[Value] | None = None,
    sample: float = 1.0,
    progress: Sequence[Value] | str | os.PathLike[str] | None = None,
    output: str | os.PathLike[str] | DataFrame | None = None,
) -> Job | Chain:
    """Open a job that runs, or ran: what became of each row of the micro-batches that its checkpoint still has.

    Nothing is written, and no lock is held: the query may go on meanwhile.

    Parameters
    ----------
    joined
        The streaming DataFrame that the job runs, as its own code makes it, or the ``Dataset`` that Java or Scala code
        returned; or a query of this session.
    checkpoint
        The folder that is its ``checkpointLocation``, as Spark finds it; of a query of this session it is known.
    join
        Of a plan with several joins of streams, which one, counted from 0 in the order that rows pass them; None: all
        of them, as a `Chain`.
    keys
        Only rows with these keys: values of the key column, or tuples of values of several. Of several joins, the keys
        of the one that `join` names.
    sample
        Only the rows of this share of the keys, such as 0.001, the same on both sides. Watermarks are those of all
        rows, so that the fates of these are what they are among all.
    progress
        What Spark reported while the job ran, to verify the drop counters, too: reports as ``query.recentProgress`` or
        a listener gives them, or a file with one in JSON on each line; or Spark's event log: its file, or the folder
        of its parts, compressed or not, on any file system that the session knows. Of a query of this session those it
        still has are taken.
    output
        What the job put out, to verify that, too: the folder that Spark's file sink wrote (Parquet, ORC, JSON, CSV), a
        Delta table's, or a DataFrame of its rows, with the micro-batch of each in a column ``batch_id`` where that is
        known.

    Returns
    -------
    Job or Chain
        The fates and reasons of its rows, its late rows, state, micro-batches and charts; of several joins a `Chain`,
        which has a `Job` for each.

    Raises
    ------
    ArgumentError
        If there is no checkpoint, or it is that of another query; if `joined` is no streaming DataFrame, or joins no
        two streams.
    DataError
        If the checkpoint has a form that is not known.
    QueryError
        If Spark fails to read it.
    TooLargeError
        If there are too many rows to take into memory.
    """
    return _opened(joined, checkpoint, join=join, keys=keys, sample=sample, progress=progress, output=output)


def open_own(joined: DataFrame, checkpoint: str, progress: Sequence[Value], written: Written) -> Job | Chain:
    """Open what this process has just run: it is not asked of Spark whether the checkpoint is that of the DataFrame.

    Rows of the files that this process has written are not read again.
    """
    return _opened(joined, checkpoint, progress=progress, written=written)


def _opened(
    joined: Argument,
    checkpoint: Argument,
    *,
    join: int | None = None,
    keys: Sequence[Value] | None = None,
    sample: float = 1.0,
    progress: Argument = None,
    output: Argument = None,
    written: Written | None = None,
) -> Job | Chain:
    joined = from_java.in_python(joined)
    choice, sink = checked(keys, sample), sinks.given(output)
    in_parts = event_log.is_event_log(progress)
    reports = [] if in_parts else reported.listed(progress)
    spark, plan, address = given(joined, checkpoint)
    if progress is None:
        reports = reported.listed(joined.recentProgress if is_query(joined) else None)
    elif in_parts:
        reports = reported.listed(event_log.reports(spark, progress))
    parts = understanding.parts(plan)
    numbers = _which(join, parts, choice)
    if sink is not None and numbers[-1] < len(parts) - 1:
        raise ArgumentError("output: it has the rows of the last join; give join=" + str(len(parts) - 1))
    _check_set_once(spark, plan)
    run = catalyst.optimised(spark, plan)
    known = [understanding.understood(spark, parts[number], run=run if len(parts) > 1 else None) for number in numbers]
    sinks.check_there(spark, sink)
    leaves = sources.leaves(plan)
    choice = _with_arity(choice, known[-1])
    logs = _committed(checkpoints.read(spark, address, own=written is not None))
    if len(parts) > 1:
        logs = replace(logs, operators=operators_of(spark, plan, address))

    def attempt(logs: Checkpoint) -> tuple[list[Job], tuple[str, ...]]:
        if written is None:
            _check_fits(spark, known, logs, leaves)
        return _opened_once(spark, known, run, logs, leaves, choice, written=written)

    found = None
    for later in range(1, _TRIES):
        try:
            found = attempt(logs)
            break
        except QueryError:  # the query may have gone on, and Spark deleted the first micro-batch that was kept
            now = replace(_committed(checkpoints.read(spark, address)), operators=logs.operators)
            if now.batches[0].number == logs.batches[0].number and _has_state(spark, now):
                raise
            logs = _from(now, later)
    jobs, unopened = attempt(logs) if found is None else found
    if sink is not None and unopened:
        raise ArgumentError(f"output: it has the rows of the last join, and {'; '.join(unopened)}; leave output out")
    reports_by_number = reported.of(logs.query, reports)
    jobs = [
        replace(each, reports=reported.of_operator(reports_by_number, logs.operators, each.known.join)) for each in jobs
    ]
    jobs[-1] = replace(jobs[-1], sink=sink)
    if len(known) == 1:
        return jobs[0]
    fewer = replace(logs, batches=jobs[0].checkpoint.batches)

    def simulated(supposed: Supposed) -> tuple[Job, ...]:
        return tuple(_opened_once(spark, known, run, fewer, leaves, choice, supposed, written)[0])

    return Chain(tuple(jobs), simulated, unopened)


def _check_set_once(spark: SparkSession, plan: Node) -> None:
    """Refuse a plan that sets a watermark on a stream that has one: after the join only where Spark refuses it, too."""
    below = [child for join in understanding.joins(plan) for child in join.children]
    for part in [plan] if _is_set(spark, _ONE_WATERMARK) else below:
        if words := understanding.redefined(part):
            raise ArgumentError(f"joined: {words}")


def _which(join: Argument, parts: Sequence[Node], choice: Choice) -> Sequence[int]:
    """The numbers of the joins that are opened."""
    last = len(parts) - 1
    if join is None and last and not choice.takes_all:
        name, given = ("keys", choice.keys) if choice.keys is not None else ("sample", choice.sample)
        words = f"it chooses by the key of one join, and the plan has {last + 1} joins of streams"
        raise wrong(name, given, f"{words}: give join=0 to {last}, too")
    if join is None:
        return range(last + 1)
    if isinstance(join, bool) or not isinstance(join, int) or not 0 <= join <= last:
        raise wrong("join", join, f"the plan has {last + 1} joins of streams: give a number from 0 to {last}")
    return [join]


def operators_of(spark: SparkSession, plan: Node, address: str) -> dict[Node, int]:
    """Spark's number of each join of a plan: it counts its stateful operators from the last one on."""
    joins = understanding.joins(plan)
    numbers = [number for number, name in held.operators(spark, address) if name == held.HASH_JOIN]
    if len(numbers) != len(joins):
        words = f"its state is that of {len(numbers)} joins, and joined has {len(joins)}: it is that of another query"
        raise wrong("checkpoint", address, f"{words}; give the DataFrame that this one runs")
    return dict(zip(joins, numbers, strict=True))


def _has_state(spark: SparkSession, logs: Checkpoint) -> bool:
    """Whether what was in state after the first micro-batch of the logs is there; stores keep less than logs do."""
    first = logs.batches[0].number
    if not first or len(logs.batches) == 1:
        return True
    try:
        held.count(spark, logs.address, first)
    except QueryError:
        return False
    return True


def _from(logs: Checkpoint, place: int) -> Checkpoint:
    """The logs without their first micro-batches, which are the next to be deleted."""
    return replace(logs, batches=logs.batches[min(place, len(logs.batches) - 1) :])


def _opened_once(
    spark: SparkSession,
    known: Sequence[Understood],
    run: Node,
    logs: Checkpoint,
    leaves: Sequence[Node],
    choice: Choice,
    supposed: Supposed | None = None,
    written: Written | None = None,
) -> tuple[list[Job], tuple[str, ...]]:
    """The joins of a job as far as their rows can be followed, and a sentence on each of the others."""
    opened: dict[Node, Job] = {}
    with spark_errors_as("the job cannot be opened"):
        plan = known[-1].plan
        if written is not None and replay.asks_for_the_file(plan):
            written = None
        given = sources.taken(spark, logs, leaves, catalyst.zone(plan), written)
        taken = dict(zip(leaves, given, strict=True))
        for number, each in enumerate(known):
            settings = None if supposed is None else supposed.of(number)
            try:
                opened[each.plan] = _of_taken(spark, each, run, logs, taken, choice, opened, settings)
            except not_followed.NotFollowedError as error:
                if not number:
                    raise
                after = range(number + 1, len(known))
                more = (f"join {other} is not opened, as join {number} is not" for other in after)
                return list(opened.values()), (f"join {number} is not opened: {_reason(error)}", *more)
    return list(opened.values()), ()


def _reason(error: ArgumentError) -> str:
    """Why a join is not opened, without the argument and what to do."""
    words = str(error).partition(": ")[2]
    return words.partition(f"; {_OTHER_KEY}")[0].partition("; open ")[0]


def _with_arity(choice: Choice, known: Understood) -> Choice:
    """The choice, if there is a key to choose by, and each value has as many parts as it has columns."""
    width = len(known.keys)
    if not choice.takes_all and not width:
        given = "sample" if choice.keys is None else "keys"
        raise ArgumentError(f"{given}: the join's key columns could not be analyzed, so no keys can be chosen")
    return with_width(choice, width)


def given(joined: SparkObject, checkpoint: Value) -> tuple[SparkSession, Node, str]:
    """The session, the plan, and the checkpoint's address, of the arguments of `open_job`."""
    if is_query(joined):
        return _of_query(joined, checkpoint)
    understanding.check_streaming(joined, "give a query of this session, or the streaming DataFrame of a job")
    plan = catalyst.analysed(joined)
    if checkpoint is None:
        raise wrong("checkpoint", None, "give the folder that is the query's checkpointLocation")
    return joined.sparkSession, plan, _address(checkpoint)


def is_query(joined: SparkObject) -> TypeGuard[StreamingQuery]:
    """Whether something is a streaming query: a DataFrame of Spark Connect has an attribute for any name."""
    return hasattr(type(joined), "recentProgress")


def _address(checkpoint: Value) -> str:
    try:
        address = os.fspath(checkpoint)
    except TypeError:
        address = None
    if not isinstance(address, str) or not address.strip() or "\0" in address:
        raise wrong("checkpoint", checkpoint, "give a folder as text or a path")
    return address.rstrip("/")


def _of_query(query: SparkObject, checkpoint: Value) -> tuple[SparkSession, Node, str]:
    if not hasattr(query, "_jsq"):
        raise wrong("joined", "a query of Spark Connect", "give its DataFrame in a classic session, and checkpoint=…")
    if checkpoint is not None:
        raise wrong("checkpoint", checkpoint, "a query knows its own: leave it out")
    execution, spark = execution_of(query), session_of(query)
    return spark, catalyst.tree(spark, _plan_of(execution)), str(execution.resolvedCheckpointRoot()).rstrip("/")


def execution_of(query: SparkObject) -> Any:
    """Spark's ``StreamExecution`` of a query of a classic session."""
    java = query._jsq
    return java.streamingQuery() if java.getClass().getSimpleName() == "StreamingQueryWrapper" else java


def session_of(query: SparkObject) -> SparkSession:
    """The session that a query runs in."""
    from pyspark import SparkContext  # when needed: PySpark is slow to import
    from pyspark.sql import SparkSession

    context: JavaObject = SparkContext._active_spark_context  # a thread may have no active session
    return SparkSession(context, query._jsq.sparkSession())


def _plan_of(execution: JavaObject) -> Any:
    """The analysed plan that a query was started with."""
    kind = execution.getClass()
    while kind is not None:
        for each in kind.getDeclaredFields():
            if each.getName().rpartition("$")[2] in ("plan", "analyzedPlan"):
                each.setAccessible(True)
                found = each.get(execution)
                return found.inputQuery() if hasattr(found, "inputQuery") else found
        kind = kind.getSuperclass()
    raise QueryError("the plan of this query cannot be read: give its DataFrame, and checkpoint=…", "")


def _committed(logs: Checkpoint) -> Checkpoint:
    """The logs of the micro-batches that have ended."""
    ended = tuple(each for each in logs.batches if each.committed)
    if not ended:
        remedy = "no micro-batch of it has ended; wait for the first, or see why the query failed"
        raise wrong("checkpoint", logs.address, remedy)
    return replace(logs, batches=ended)


def _check_fits(spark: SparkSession, joins: Sequence[Understood], logs: Checkpoint, leaves: Sequence[Node]) -> None:
    """Refuse the checkpoint of another query."""
    count, of_logs = len(leaves), len(logs.batches[-1].offsets)
    if count != of_logs:
        raise wrong(
            "checkpoint", logs.address, f"it has offsets of {of_logs} sources, and joined reads {count}: {_OF_ANOTHER}"
        )
    operators = held.operators(spark, logs.address)
    for each in joins:
        _check_state_fits(spark, each, logs, operators)


def _check_state_fits(
    spark: SparkSession, known: Understood, logs: Checkpoint, operators: Sequence[tuple[int, str]]
) -> None:
    """Refuse a checkpoint whose state is not that of a join."""
    kind = None if known.description.join is None else kind_of(known.description.join).operator
    names = {name for _, name in operators}
    if names and known.join.kind == "Join" and held.HASH_JOIN not in names:
        raise wrong(
            "checkpoint", logs.address, f"its state is that of {', '.join(sorted(names))}, of no join: {_OF_ANOTHER}"
        )
    if kind is AGGREGATION and held.HASH_JOIN in names:
        raise wrong("checkpoint", logs.address, f"its state is that of a join of two streams: {_OF_ANOTHER}")
    if names and known.join.kind == "Join":
        number = logs.operators.get(known.join)
        operator = held.only_join(operators) if number is None else number
        for place, side in enumerate(SIDES):
            rows = held.joined_rows(spark, logs.address, logs.batches[-1].number, side, operator=operator)
            entering.kept_columns(known, place, rows.columns[:-1])


def _of_taken(
    spark: SparkSession,
    known: Understood,
    run: Node,
    logs: Checkpoint,
    taken: Mapping[Node, sources.Taken],
    choice: Choice,
    opened: Mapping[Node, Job],
    settings: Settings | None = None,
) -> Job:
    """A join of a job whose sources gave these rows, in the plan that Spark runs; those below it are opened before.

    Those of them that have been opened are given, by the part of the plan that ends with each. Under other settings
    than the job's the join is simulated under these.
    """
    own = known.description.join
    if settings is not None:
        known = replace(known, description=settings.described(known.description))
    missing = [logs.gap] if logs.gap else []
    if alone := understanding.windows_alone(Sides(*known.inputs), known.keys):
        raise not_followed.NotFollowedError(
            f"joined: {'; '.join(alone)}, so which rows are late is not known; {_OTHER_KEY}"
        )
    missing += [words for each in taken.values() for words in each.missing]
    unread = [words for each in taken.values() if each.rows is None for words in each.missing]
    by_ids = {replay.ids(leaf): each.rows for leaf, each in taken.items() if each.rows is not None}
    before = {
        part: opened[part]
        if part in opened
        else _of_taken(spark, understanding.understood(spark, part, run=run), run, logs, taken, ALL, opened)
        for part in (understanding.below(known.join) if known.join.kind == "Join" else ())
    }
    inner = {each.known.join: leaving.pairs(spark, each.simulation, each.known) for each in before.values()}
    known = not_followed.in_part(known, tuple(inner))
    missing += [words for each in before.values() for words in each.missing]
    if settings is not None and any(each.grouped is not None for each in known.inputs):
        missing.append(SAME_AGGREGATES)
    first, from_start = logs.batches[0].number, logs.batches[0].number == 0
    count = len(logs.batches)
    logged_marks = np.array([each.watermark for each in logs.batches], dtype=np.int64)
    if settings is not None:
        logged_marks = settings.marks[:-1]
    passed = [mark for each in before.values() if (mark := chain_watermarks.passed_on(each)) is not None]
    marks = np.minimum.reduce([logged_marks, *passed])
    late = marks.copy() if not _is_set(spark, _ONE_WATERMARK) else np.concatenate([[0], marks[:-1]])
    if not from_start:
        late[0] = LONG_AGO
    clock = Clock(first, [each.started for each in logs.batches], marks.tolist(), late.tolist())
    # of a side that asks the clock an optimised plan has the time of now
    on_clock = [replay.asks_the_clock(child) for child in known.join.children]
    run_join = None if known.join.kind != "Join" or any(on_clock) else understanding.as_it_runs(known.join, run)
    made, newest = [], []
    # Spark pushes no filter through a column of the clock, whose value in a query is not the same each time
    wholes = [known.plan if each else run for each in on_clock]
    for place, (side, seen) in enumerate(
        zip(SIDES, entering.newest(spark, wholes, known.marks, by_ids, clock), strict=True)
    ):
        if seen is not None and choice.takes_all:
            entering.check_size(sum(number for _, number in seen.values()), side)
        delay = micros(known.described[place].watermark or timedelta(0))
        newest.append(side_streams.newest(seen, logs, marks, delay) if known.marks[place] is not None else None)
        plain = None if known.join.children[place] in before else run_join
        rows, words = side_streams.rows(
            spark,
            known,
            place,
            logs=logs,
            by_ids=by_ids,
            choice=choice,
            run_join=plain,
            unread=unread,
            inner=inner,
            clock=clock,
        )
        made.append(rows)
        missing += words
    shown = entering.columns(known, 0), entering.columns(known, 1)
    streams = [
        side_streams.stream(spark, known, place, made[place], shown=shown[place], count=count, newest=newest[place])
        for place in range(len(SIDES))
    ]
    of_sides = Sides(*made)
    tables = made[0].table, made[1].table
    version = session.version_of(spark)
    join = known.description.join or side_streams.STAND_IN
    where = residual.Residual(spark, known, shown, tables, known.rest)
    exact = residual.Residual(spark, known, shown, tables, known.by_calendar) if known.by_calendar else None
    facts = replace(
        _row_facts(join, known, of_sides, where), exact=exact, slack=_CLOCK_CHANGE if exact else 0, join=own
    )
    if known.description.join == own and _is_set(spark, _ONE_WATERMARK):  # else one watermark judges all rows
        facts = replace(facts, above=above.aggregation(known, marks, from_start=from_start))
    if facts.filtered is not None and known.filters:
        facts = _with_filters(facts, residual.Residual(spark, known, shown, tables, known.filters))
    delays = [micros(each.watermark or timedelta(0)) for each in known.described]
    came = {side: int(marks[0]) + delay for side, delay in Sides(*delays).items()} if first else {}
    again = () if before or _unmarked(known) or settings is not None else _restarts(streams, delays, logs)
    following = logs.next_watermark if settings is None else int(settings.marks[-1])
    after = None if before else following
    policy = logs.policy if settings is None else settings.policy
    joined = [side for side, child in zip(SIDES, known.join.children, strict=False) if child in before]
    of_chain_by_max = bool(logs.operators) and policy == "max"
    facts = replace(facts, undelayed=frozenset(SIDES if of_chain_by_max else joined) | facts.unmarked)
    watermarks = sum(node.kind == "EventTimeWatermark" for node in run.walk())
    facts = replace(facts, beside_others=watermarks > len(SIDES))
    logged = Logged(first, facts, marks, late, came, again, after, _is_set(spark, _WITHOUT_ROWS))
    simulation = Simulation(join, streams[0], streams[1], False, policy, False, version, logged)
    origins = {side: leaving.origins(of_sides[side].places, len(of_sides[side].arrival)) for side in joined}
    aggregates = {
        side: Aggregates(spark, known.join.children[place], by_ids, inner, clock, of_sides[side].places)
        for place, side in enumerate(SIDES)
        if known.inputs[place].grouped is not None
    }
    return Job(
        simulation,
        known,
        logs,
        spark,
        tuple(dict.fromkeys(missing)),
        choice,
        origins=origins,
        aggregates=aggregates,
        is_supposed=settings is not None,
    )


def _is_set(spark: SparkSession, setting: str) -> bool:
    """Whether a setting that is true by default is true in a session."""
    return str(spark.conf.get(setting, "true")).lower() == "true"


def _restarts(streams: Sequence[Stream], delays: Sequence[int], logs: Checkpoint) -> tuple[int, ...]:
    """The micro-batches, counted from the first, before which the query was started again."""
    seen = [restarts.newest_of(each, len(logs.batches)) for each in streams]
    return restarts.restarts(seen, delays, logs.watermarks, logs.policy)


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
