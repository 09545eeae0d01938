"""What Spark would refuse of a streaming plan, before it is started."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench.errors import ArgumentError, QueryError
from workbench.jobs import catalyst
from workbench.jobs.catalyst import Node
from workbench.spark_io.cause import spark_errors_as
from workbench.spark_io.explaining import Explanation, explain, in_one
from workbench.spark_io.known_errors import OUTER_WITHOUT_BOUNDS
from workbench.untyped import JavaObject, SparkObject

__all__ = ["refused"]

_CHECKS = "spark.sql.streaming.unsupportedOperationCheck"
_SEVERAL = "spark.sql.streaming.statefulOperator.allowMultiple"
_STATEFUL = ("Aggregate", "Join", "Deduplicate", "DeduplicateWithinWatermark", "FlatMapGroupsInPandasWithState")


def refused(spark: SparkObject, plan: Node, mode: str, remedy: str = "") -> Iterator[str]:
    """What Spark refuses when a query is started, or else in its first micro-batch, a sentence each.

    Parameters
    ----------
    spark, plan
        A session with a JVM, and the analysed plan.
    mode
        The output mode.
    remedy
        What to write where an outer join lacks a bound that Spark reads; empty: what `explain` says.
    """
    start = _at_start(spark, plan, mode)
    if start is not None:
        if remedy and start.rule == OUTER_WITHOUT_BOUNDS.rule:
            start = replace(start, remedy=remedy)
        yield f"Spark refuses to start this query in {mode} mode: {in_one(start)}"
        return
    for each in _in_the_first_batch(spark, plan):
        yield f"Spark ends this query in its first micro-batch: {in_one(each)}"


def _at_start(spark: SparkObject, plan: Node, mode: str) -> Explanation | None:
    """What Spark's own check says, as a query's start asks it."""
    if spark.conf.get(_CHECKS) != "true":
        return None
    checker = spark._jvm.org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker
    modes = spark._jvm.org.apache.spark.sql.streaming.OutputMode
    try:
        with spark_errors_as(QueryError):
            checker.checkForStreaming(plan.java, getattr(modes, mode.capitalize())())
    except QueryError as error:
        return explain(error)
    return None


def _in_the_first_batch(spark: SparkObject, plan: Node) -> Iterator[Explanation]:
    """What Spark finds where it makes operators of a plan."""
    try:
        run = catalyst.optimised(spark, plan)
    except ArgumentError as error:
        yield explain(error)
        return
    keys = spark._jvm.org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
    for node in run.walk():
        if node.kind not in _STATEFUL or not all(bool(each.java.isStreaming()) for each in node.children):
            continue
        if node.kind == "Join" and bool(keys.unapply(node.java).isEmpty()):
            yield explain(
                f"Stream-stream join without equality predicate is not supported;\n{node.java.simpleString(100)}"
            )
        several = next((each for each in _watermarked(node) if len(each) > 1), [])
        if several and spark.conf.get(_SEVERAL) == "true":
            names = ", ".join(str(each.name()) for each in several)
            yield explain(f"More than one event time columns are available; event time columns: ({names})")
            return  # Spark names the first, too


def _watermarked(node: Node) -> Iterator[list[JavaObject]]:
    """The columns with a watermark that an operator asks for late rows by, of each of its inputs."""
    if node.kind == "Aggregate":
        inputs = [[each.java for each in catalyst.expressions(node, "groupingExpressions") if each.id is not None]]
    else:
        inputs = [list(each.output) for each in node.children]
    for columns in inputs:
        yield [each for each in columns if catalyst.has_watermark(each)]
