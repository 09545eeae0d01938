"""Whether a checkpoint is that of the query that is given, and what of it is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.counts import counted
from workbench.errors import QueryError, wrong
from workbench.jobs import entering, held, plan_joins
from workbench.jobs.catalyst import Node
from workbench.jobs.checkpoint import Checkpoint
from workbench.jobs.understanding import Understood
from workbench.kinds import AGGREGATION, kind_of
from workbench.literals import SIDES
from workbench.untyped import JavaObject

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["check_fits", "committed", "has_state", "later", "operators_of"]

_OF_ANOTHER = "it is the checkpoint of another query; give the DataFrame that this one runs"


def operators_of(spark: SparkSession, plan: Node, address: str) -> dict[Node, int]:
    """Spark's number of each join of a plan: it counts its stateful operators from the last one on."""
    joins = plan_joins.joins(plan)
    numbers = [number for number, name in held.operators(spark, address) if name == held.HASH_JOIN]
    if len(numbers) != len(joins):
        words = f"its state is that of {len(numbers)} joins, and joined has {len(joins)}: it is that of another query"
        raise wrong("checkpoint", address, f"{words}; give the DataFrame that this one runs")
    return dict(zip(joins, numbers, strict=True))


def check_fits(spark: SparkSession, joins: Sequence[Understood], logs: Checkpoint, leaves: Sequence[Node]) -> None:
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
        width = held.key_width(spark, logs.address, logs.batches[-1].number, operator=operator)
        if (compared := _key_width(spark, known)) not in (None, width):
            words = f"it has state by {counted(width, 'key column')}, and joined compares {compared}"
            raise wrong("checkpoint", logs.address, f"{words}: {_OF_ANOTHER}")
        for place, side in enumerate(SIDES):
            rows = held.joined_rows(spark, logs.address, logs.batches[-1].number, side, operator=operator)
            entering.kept_columns(known, place, rows.columns[:-1])


def _key_width(spark: SparkSession, known: Understood) -> int | None:
    """How many columns of both sides Spark compares as equal in a join; None where it finds none."""
    if known.run is None:
        return None
    java: JavaObject = spark._jvm
    found = java.org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys.unapply(known.run.java)
    return None if found.isEmpty() else int(found.get()._2().length())


def has_state(spark: SparkSession, logs: Checkpoint) -> bool:
    """Whether what was in state after the first micro-batch of the logs is there; stores keep less than logs do."""
    first = logs.batches[0].number
    if not first or len(logs.batches) == 1:
        return True
    try:
        held.count(spark, logs.address, first)
    except QueryError:
        return False
    return True


def committed(logs: Checkpoint) -> Checkpoint:
    """The logs of the micro-batches that have ended."""
    ended = tuple(each for each in logs.batches if each.committed)
    if not ended:
        remedy = "no micro-batch of it has ended; wait for the first, or see why the query failed"
        raise wrong("checkpoint", logs.address, remedy)
    return replace(logs, batches=ended)


def later(logs: Checkpoint, place: int) -> Checkpoint:
    """The logs without their first micro-batches, which are the next to be deleted."""
    return replace(logs, batches=logs.batches[min(place, len(logs.batches) - 1) :])
