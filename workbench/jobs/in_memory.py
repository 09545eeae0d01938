"""Files of a source whose rows this process still has, as it wrote them itself: nothing is listed or read again.

Which micro-batch took a file in is what the log of the source says, as of files that are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pyarrow as pa

from workbench.jobs.addresses import spelled
from workbench.spark_io.frames import of_arrow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = ["Written", "rows"]

_REBASE = "spark.sql.parquet.datetimeRebaseModeInRead"
"""Where this is ``LEGACY``, Spark reads other dates of centuries ago than were written."""


@dataclass(frozen=True)
class Written:
    """Files that were written and are not changed.

    Attributes
    ----------
    tables
        Their rows, by the address of the file as `spelled` gives it, no character escaped.
    """

    tables: Mapping[str, pa.Table]

    @classmethod
    def of(cls, tables: Mapping[str, pa.Table]) -> Written:
        """Of files by their addresses, however these are spelled."""
        return cls({spelled(unquote(each)): table for each, table in tables.items()})


def rows(
    spark: SparkSession, schema: StructType, batches: Mapping[str, int], written: Written, names: tuple[str, str]
) -> DataFrame | None:
    """The rows of some files, in the order of their micro-batches.

    Parameters
    ----------
    spark
        A session that is not Spark Connect's.
    schema
        The columns of the source.
    batches
        The micro-batch of each file, by its address as a log of Spark's has it.
    written
        The files that are in memory.
    names
        What the columns are called with a row's micro-batch, and with its place among all rows.

    Returns
    -------
    pyspark.sql.DataFrame or None
        The columns of the source and these two. None: they have to be read, as a file is not in memory, or has other
        columns.
    """
    from pyspark.sql.types import LongType, StructField, StructType  # when needed: PySpark is slow to import

    order = sorted(batches, key=lambda each: batches[each])
    tables = [written.tables.get(spelled(unquote(each))) for each in order]
    found = [each for each in tables if each is not None]
    if not found or len(found) < len(tables) or any(each.column_names != schema.names for each in found):
        return None
    if str(spark.conf.get(_REBASE)).upper() == "LEGACY":
        return None
    numbers = [number for file, each in zip(order, found, strict=True) for number in [batches[file]] * each.num_rows]
    table = pa.concat_tables(found)
    for name, values in zip(names, (numbers, range(table.num_rows)), strict=True):
        table = table.append_column(name, pa.array(values, pa.int64()))
    more = [StructField(name, LongType()) for name in names]
    rows = of_arrow(spark, table, StructType([*schema.fields, *more]))
    return rows.coalesce(1)  # they are few, and what asks for them needs no shuffle then
