"""What is given to open: a query of this session, or a DataFrame and a checkpoint."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeGuard

from workbench.errors import QueryError, wrong
from workbench.jobs import catalyst, understanding
from workbench.jobs.catalyst import Node
from workbench.untyped import JavaObject, SparkObject, Value

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["execution_of", "given", "is_query"]


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


def execution_of(query: SparkObject) -> Any:
    """Spark's ``StreamExecution`` of a query of a classic session."""
    java = query._jsq
    return java.streamingQuery() if java.getClass().getSimpleName() == "StreamingQueryWrapper" else java


def _session_of(query: SparkObject) -> SparkSession:
    """The session that a query runs in."""
    from pyspark import SparkContext  # when needed: PySpark is slow to import
    from pyspark.sql import SparkSession

    context: JavaObject = SparkContext._active_spark_context  # a thread may have no active session
    return SparkSession(context, query._jsq.sparkSession())


def _of_query(query: SparkObject, checkpoint: Value) -> tuple[SparkSession, Node, str]:
    if not hasattr(query, "_jsq"):
        raise wrong("joined", "a query of Spark Connect", "give its DataFrame in a classic session, and checkpoint=…")
    if checkpoint is not None:
        raise wrong("checkpoint", checkpoint, "a query knows its own: leave it out")
    execution, spark = execution_of(query), _session_of(query)
    return spark, catalyst.tree(spark, _plan_of(execution)), str(execution.resolvedCheckpointRoot()).rstrip("/")


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


def _address(checkpoint: Value) -> str:
    try:
        address = os.fspath(checkpoint)
    except TypeError:
        address = None
    if not isinstance(address, str) or not address.strip() or "\0" in address:
        raise wrong("checkpoint", checkpoint, "give a folder as text or a path")
    return address.rstrip("/")
