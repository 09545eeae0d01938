"""Stopping queries, those too whose start was interrupted, and whatever else runs."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from workbench import process

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["stop", "stop_queries", "stop_query"]


_LONGEST, _POLL = 60, 0.02  # seconds


def stop() -> None:
    """Stop whatever the workbench runs, in pages, live or by `run`, and wait until nothing of it runs.

    Pages stay open; a `run` that is stopped raises `QueryError`. Queries of others, in the same Spark session too, are
    left alone.

    Examples
    --------
    >>> import workbench as wb
    >>> wb.stop()  # nothing runs: nothing to do
    """
    for page in list(process.pages):
        page.stop()
    process.end_live_queries()
    for query, spark in list(process.queries.items()):
        process.stopped.add(query)
        stop_query(query, spark)


def stop_query(query: StreamingQuery, spark: SparkSession) -> None:
    """Stop a query of a session, and wait until nothing of it runs, which Spark's own ``stop()`` does not.

    After ``spark.sql.streaming.stopTimeout``, on a machine under load, ``stop()`` raises, and the query, which then no
    longer calls itself active, is still at its last micro-batch. And tasks of a query that has ended are told to end,
    but not waited for: one that opens a state store would make the checkpoint's folder again after its removal.
    """
    with suppress(Exception):
        query.stop()
    with suppress(Exception):  # raises what ended the query
        query.awaitTermination(_LONGEST)
    process.queries.pop(query, None)
    with suppress(Exception):  # Spark Connect tells nothing of tasks
        _await_tasks(spark.sparkContext, str(query.runId))


def _await_tasks(context: SparkContext, group: str) -> None:
    """Wait until no job of a group runs, then until no task of its stages does; a query's jobs have its run's name.

    How many tasks of a stage run is written down with delay while the stage runs, and at once when its job has ended.
    """
    until, tracker = time.monotonic() + _LONGEST, context.statusTracker()
    context._jsc.sc().listenerBus().waitUntilEmpty()  # the tracker learns from it which tasks have begun
    jobs = set(tracker.getJobIdsForGroup(group))
    stages: set[int] = set()
    while (jobs or stages) and time.monotonic() < until:
        known = {job: tracker.getJobInfo(job) for job in jobs}
        stages |= {int(stage) for info in known.values() if info is not None for stage in info.stageIds}
        jobs = {job for job, info in known.items() if info is not None and info.status == "RUNNING"}
        if not jobs:
            counts = {stage: tracker.getStageInfo(stage) for stage in stages}
            stages = {stage for stage, info in counts.items() if info is not None and info.numActiveTasks}
        time.sleep(_POLL if jobs or stages else 0)


def stop_queries(spark: SparkSession, name: str | None = None) -> None:
    """Stop what runs in a session.

    A query is known to Spark before its ``start()`` gives it back, so an interrupt (the notebook's stop button) between
    the two leaves one that no variable holds.

    Parameters
    ----------
    spark
        The session.
    name
        Only the queries of this name; None: all of the session.
    """
    with suppress(Exception):  # where Spark's JVM is gone nothing runs
        for query in spark.streams.active:
            if name is None or query.name == name:
                stop_query(query, spark)
