"""When the micro-batches of a job ran, and under which watermarks: what its rows are told by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.arrays import Times
from workbench.jobs.sources import BATCH

if TYPE_CHECKING:
    from pyspark.sql import Column

__all__ = ["Clock", "longs", "of_batch", "planned_at"]


@dataclass(frozen=True, eq=False)
class Clock:
    """When the micro-batches of a job ran, one value for each.

    Attributes
    ----------
    first
        Spark's number of the first.
    started
        When each was planned, in milliseconds since 1970-01-01 UTC.
    eviction, late
        The watermark that closes windows in each, and the one that late rows are judged by, in microseconds.
    """

    first: int
    started: Sequence[int]
    eviction: Times
    late: Times


def of_batch(values: Sequence[int] | Times, first: int, batch: str) -> Column:
    """For each row the value of its micro-batch, of values from a first micro-batch on; null beyond these."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    return F.get(longs(values), (F.col(batch) - first).cast("int"))


def planned_at(clock: Clock) -> Column:
    """When the micro-batch of a row was planned."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    return F.timestamp_millis(of_batch(clock.started, clock.first, BATCH))


def longs(values: Sequence[int] | Times) -> Column:
    """An array of whole numbers."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    return F.array(*(F.lit(int(each)).cast("long") for each in values))
