"""DataFrames of Arrow tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = ["of_arrow"]


def of_arrow(spark: SparkSession, table: pa.Table, schema: StructType | None = None) -> DataFrame:
    """A DataFrame with the rows of a table, all of them.

    Spark takes two chunks without rows, one after the other, for the end of a table, and says nothing of the rows that
    follow. A table is such a one when most of its rows were filtered out.

    Parameters
    ----------
    spark
        A session.
    table
        The rows.
    schema
        The types that Spark gives the columns; None: those that follow from Arrow's.
    """
    whole = table.combine_chunks()
    return spark.createDataFrame(whole) if schema is None else spark.createDataFrame(whole, schema)
