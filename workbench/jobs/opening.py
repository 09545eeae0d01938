"""``wb.open_job``: a query that somebody else wrote and ran, from its plan and its checkpoint."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.errors import ArgumentError, QueryError, wrong
from workbench.jobs import (
    catalyst,
    checkpoint_fits,
    event_log,
    from_java,
    given_query,
    not_followed,
    plan_joins,
    plan_notes,
    replay,
    replayed_join,
    reported,
    sinks,
    sources,
    understanding,
)
from workbench.jobs import checkpoint as checkpoints
from workbench.jobs.catalyst import Node
from workbench.jobs.chain import Chain
from workbench.jobs.checkpoint import Checkpoint
from workbench.jobs.in_memory import Written
from workbench.jobs.job import Job
from workbench.jobs.other_settings import Supposed
from workbench.jobs.replayed_join import Recorded
from workbench.jobs.understanding import Understood
from workbench.sources.key_choice import Choice, checked, with_width
from workbench.spark_io.cause import spark_errors_as
from workbench.untyped import Argument, Value

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["open_job", "open_own"]

_TRIES = 3


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
        Of a plan with several joins of streams, which one, counted from 0 in the order that rows pass them, those of a
        union one after the other; None: all of them, as a `Chain`.
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
    spark, plan, address = given_query.given(joined, checkpoint)
    leaves, plan = sources.leaves(plan), plan_joins.in_order_of_run(spark, plan)
    if progress is None:
        reports = reported.listed(joined.recentProgress if given_query.is_query(joined) else None)
    elif in_parts:
        reports = reported.listed(event_log.reports(spark, progress))
    parts = plan_joins.parts(plan)
    of_union = len(plan_joins.branches(plan)) > 1
    numbers = _which(join, parts, choice)
    if sink is not None and of_union:
        raise ArgumentError("output: it has the rows of several joins, which a union brings together; leave it out")
    if sink is not None and numbers[-1] < len(parts) - 1:
        raise ArgumentError("output: it has the rows of the last join; give join=" + str(len(parts) - 1))
    _check_set_once(spark, plan)
    run = catalyst.optimised(spark, plan)
    known = [understanding.understood(spark, parts[number], run=run if len(parts) > 1 else None) for number in numbers]
    sinks.check_there(spark, sink)
    choice = _with_arity(choice, known[-1])
    logs = checkpoint_fits.committed(checkpoints.read(spark, address, own=written is not None))
    if len(parts) > 1:
        logs = replace(logs, operators=checkpoint_fits.operators_of(spark, plan, address))

    def attempt(logs: Checkpoint) -> tuple[list[Job], tuple[str, ...]]:
        if written is None:
            checkpoint_fits.check_fits(spark, known, logs, leaves)
        return _opened_once(spark, known, run, logs, leaves, choice, written=written)

    found = None
    for tries in range(1, _TRIES):
        try:
            found = attempt(logs)
            break
        except QueryError:  # the query may have gone on, and Spark deleted the first micro-batch that was kept
            now = replace(checkpoint_fits.committed(checkpoints.read(spark, address)), operators=logs.operators)
            if now.batches[0].number == logs.batches[0].number and checkpoint_fits.has_state(spark, now):
                raise
            logs = checkpoint_fits.later(now, tries)
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
    below = [child for join in plan_joins.joins(plan) for child in join.children]
    for part in [plan] if replayed_join.allows_multiple_operators(spark) else below:
        if words := plan_notes.redefined(part):
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
        recorded = Recorded(spark, run, logs, dict(zip(leaves, given, strict=True)), choice)
        for number, each in enumerate(known):
            settings = None if supposed is None else supposed.of(number)
            try:
                opened[each.plan] = replayed_join.replayed(recorded, each, opened, settings)
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
    return words.partition(f"; {replayed_join.OTHER_KEY}")[0].partition("; open ")[0]


def _with_arity(choice: Choice, known: Understood) -> Choice:
    """The choice, if there is a key to choose by, and each value has as many parts as it has columns."""
    width = len(known.keys)
    if not choice.takes_all and not width:
        given = "sample" if choice.keys is None else "keys"
        raise ArgumentError(f"{given}: the join's key columns could not be analyzed, so no keys can be chosen")
    return with_width(choice, width)
