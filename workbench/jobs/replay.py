"""A part of a streaming plan over rows that are no stream: what its sources gave, through the user's own operators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.jobs.catalyst import Node
from workbench.jobs.sources import BATCH, PLACE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["NotReplayable", "frame", "replayed"]

_PASSES_ON = frozenset(
    {"Filter", "Generate", "Join", "ResolvedHint", "Sample", "SubqueryAlias", "Union", "View", "Window"}
)
"""Operators that give all columns of their input, or of their inputs, further."""
_CARRIED = (BATCH, PLACE)


class NotReplayable(Exception):  # noqa: N818 - caught where it is turned into a sentence
    """A plan has an operator through which rows cannot be followed."""


def replayed(spark: SparkSession, plan: Node, sources: Mapping[frozenset[int], DataFrame]) -> DataFrame:
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

    Returns
    -------
    pyspark.sql.DataFrame
        The columns of the part, in order, and `BATCH` and `PLACE`.

    Raises
    ------
    NotReplayable
        If there is an operator that is not understood, or a source that is not given.
    """
    made = _Plans(spark, sources).rebuilt(plan)
    return frame(spark, made)


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

    def rebuilt(self, node: Node) -> Any:
        """A node over what its sources gave."""
        if not bool(node.java.isStreaming()):
            return node.java
        if not node.children:
            return self._source(node)
        children = [self.rebuilt(child) for child in node.children]
        if node.kind == "EventTimeWatermark":
            return children[0]
        if node.kind == "Project":
            return self._logical.Project(self._with(node.java.projectList(), self._carried(children[0])), children[0])
        if node.kind == "Expand":
            carried = self._carried(children[0])
            lists = [self._with(each, carried) for each in self._listed(node.java.projections())]
            return self._logical.Expand(self._seq(lists), self._with(node.java.output(), carried), children[0])
        if node.kind in _PASSES_ON:
            return node.java.withNewChildren(self._seq(children))
        raise NotReplayable(f"Spark's operator {node.kind}, through which rows cannot be followed")

    def _source(self, node: Node) -> Any:
        found = self.sources.get(_ids(node))
        if found is None:
            raise NotReplayable(f"a source whose rows cannot be read again ({node.java.simpleString(3)[:80]})")
        plan: Any = found._jdf.queryExecution().analyzed()
        given, wanted = self._listed(plan.output()), self._listed(node.java.output())
        aliases = [
            self._expressions.Alias(one, other.name(), other.exprId(), self._seq([]), self._none, self._seq([]))
            for one, other in zip(given, wanted, strict=False)
        ]
        return self._logical.Project(self._seq([*aliases, *given[len(wanted) :]]), plan)

    def _carried(self, plan: Any) -> list[Any]:
        found = {each.name(): each for each in self._listed(plan.output())}
        if not all(name in found for name in _CARRIED):
            raise NotReplayable("an operator that does not give its input's columns further")
        return [found[name] for name in _CARRIED]

    def _with(self, seq: Any, more: list[Any]) -> Any:
        return self._seq([*self._listed(seq), *more])

    @property
    def _logical(self) -> Any:
        return self.spark._jvm.org.apache.spark.sql.catalyst.plans.logical

    @property
    def _expressions(self) -> Any:
        return self.spark._jvm.org.apache.spark.sql.catalyst.expressions

    @property
    def _none(self) -> Any:
        return self.spark._jvm.scala.Option.empty()

    def _seq(self, values: list[Any]) -> Any:
        java = self.spark._jvm
        found = java.java.util.ArrayList()
        for each in values:
            found.add(each)
        return java.scala.jdk.javaapi.CollectionConverters.asScala(found).toList()

    @staticmethod
    def _listed(seq: Any) -> list[Any]:
        return [seq.apply(place) for place in range(int(seq.size()))]


def _ids(node: Node) -> frozenset[int]:
    output = node.java.output()
    return frozenset(int(output.apply(place).exprId().id()) for place in range(int(output.size())))
