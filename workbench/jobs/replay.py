"""A part of a streaming plan over rows that are no stream: what its sources gave, through the user's own operators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.jobs.catalyst import Node, expressions, listed, seq
from workbench.jobs.sources import BATCH, PLACE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["IN_THE_WAY", "TIME", "NotReplayable", "alias", "frame", "ids", "renamed", "replayed"]

_PASSES_ON = frozenset(
    {"Filter", "Generate", "Join", "ResolvedHint", "Sample", "SubqueryAlias", "Union", "View", "Window"}
)
"""Operators that give all columns of their input, or of their inputs, further."""
TIME = "__time"
"""The column with the event time of a row, as it was where its watermark is set."""
_CARRIED = (BATCH, PLACE, TIME)
IN_THE_WAY = {
    "Aggregate": "an aggregation",
    "Deduplicate": "dropDuplicates",
    "DeduplicateWithinWatermark": "dropDuplicatesWithinWatermark",
}
"""Operators through which rows cannot be followed, as users call them."""


class NotReplayable(Exception):  # noqa: N818 - caught where it is turned into a sentence
    """A plan has an operator through which rows cannot be followed."""


def replayed(
    spark: SparkSession,
    plan: Node,
    sources: Mapping[frozenset[int], DataFrame],
    time: int | None = None,
    inner: Mapping[Node, DataFrame] | None = None,
) -> DataFrame:
    """What a part of a plan gives for rows that its sources gave.

    Parameters
    ----------
    spark
        A session that is not Spark Connect's.
    plan
        The part, analysed or optimised.
    sources
        The rows of each source, by the ids of its columns. They have the columns of the source, in order, and `BATCH`
        and `PLACE`.
    time
        The id of an event time where its watermark is set, which is to be carried along; None: none is.
    inner
        Nodes of the plan whose rows are given, as those of a source are, in place of their sources; None: none.

    Returns
    -------
    pyspark.sql.DataFrame
        The columns of the part, in order, and `BATCH` and `PLACE`; and `TIME`, if it was asked for.

    Raises
    ------
    NotReplayable
        If there is an operator that is not understood, or a source that is not given.
    """
    return frame(spark, _Plans(spark, sources, time, {} if inner is None else inner).rebuilt(plan))


def frame(spark: SparkSession, plan: Any) -> DataFrame:
    """A plan as a DataFrame."""
    from pyspark.sql import DataFrame

    java: Any = spark._jvm
    return DataFrame(java.org.apache.spark.sql.classic.Dataset.ofRows(spark._jsparkSession, plan), spark)


@dataclass(frozen=True)
class _Plans:
    """Plans with other inputs."""

    spark: Any
    sources: Mapping[frozenset[int], DataFrame]
    time: int | None
    inner: Mapping[Node, DataFrame]

    def rebuilt(self, node: Node) -> Any:
        """A node over what its sources gave."""
        if not bool(node.java.isStreaming()):
            return node.java
        if not node.children or node in self.inner:
            return self._source(node)
        children = [self.rebuilt(child) for child in node.children]
        if node.kind == "EventTimeWatermark":
            return self._timed(node, children[0])
        if node.kind == "Project":
            return self._logical.Project(self._with(node.java.projectList(), self._carried(children[0])), children[0])
        if node.kind == "Expand":
            carried = self._carried(children[0])
            lists = [self._with(each, carried) for each in listed(node.java.projections())]
            return self._logical.Expand(self._seq(lists), self._with(node.java.output(), carried), children[0])
        if node.kind in _PASSES_ON:
            return self._in_order(node, node.java.withNewChildren(self._seq(children)))
        named = IN_THE_WAY.get(node.kind, f"Spark's operator {node.kind}")
        raise NotReplayable(f"{named}, through which rows cannot be followed")

    def _timed(self, node: Node, made: Any) -> Any:
        """The input of a watermark, with its event time once more if that is asked for."""
        [time] = expressions(node, "eventTime")
        if self.time is None or time.id != self.time:
            return made
        java = self.spark._jvm
        new = java.org.apache.spark.sql.catalyst.expressions.NamedExpression.newExprId()
        found = next(each for each in listed(made.output()) if int(each.exprId().id()) == self.time)
        return self._logical.Project(self._seq([*listed(made.output()), renamed(java, found, TIME, new)]), made)

    def _in_order(self, node: Node, made: Any) -> Any:
        """A node with the columns it had, in order, and those that are carried."""
        given = listed(made.output())
        carried = self._carried(made)
        if [each.exprId() for each in given[-len(carried) :]] == [each.exprId() for each in carried]:
            return made
        wanted = [each.exprId() for each in listed(node.java.output())]
        columns = [next(each for each in given if each.exprId().equals(one)) for one in wanted]
        return self._logical.Project(self._seq([*columns, *carried]), made)

    def _source(self, node: Node) -> Any:
        found = self.inner.get(node, self.sources.get(ids(node)))
        if found is None:
            raise NotReplayable(f"a source whose rows cannot be read again ({node.java.simpleString(3)[:80]})")
        plan: Any = found._jdf.queryExecution().analyzed()
        given, wanted = listed(plan.output()), listed(node.java.output())
        aliases = [alias(self.spark._jvm, one, other) for one, other in zip(given, wanted, strict=False)]
        return self._logical.Project(self._seq([*aliases, *given[len(wanted) :]]), plan)

    def _carried(self, plan: Any) -> list[Any]:
        found = {each.name(): each for each in listed(plan.output())}
        if BATCH not in found or PLACE not in found:
            raise NotReplayable("an operator that does not give its input's columns further")
        return [found[name] for name in _CARRIED if name in found]

    def _with(self, given: Any, more: list[Any]) -> Any:
        return self._seq([*listed(given), *more])

    @property
    def _logical(self) -> Any:
        return self.spark._jvm.org.apache.spark.sql.catalyst.plans.logical

    def _seq(self, values: list[Any]) -> Any:
        return seq(self.spark._jvm, values)


def alias(java: Any, column: Any, other: Any) -> Any:
    """A column under the name and the id of another one."""
    return renamed(java, column, other.name(), other.exprId())


def renamed(java: Any, column: Any, name: str, identity: Any) -> Any:
    """A column under a name and an id."""
    none = java.scala.Option.empty()
    return java.org.apache.spark.sql.catalyst.expressions.Alias(
        column, name, identity, seq(java, []), none, seq(java, [])
    )


def ids(node: Node) -> frozenset[int]:
    """The ids of a node's columns."""
    return frozenset(int(each.exprId().id()) for each in listed(node.java.output()))
