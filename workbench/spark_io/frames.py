"""DataFrames of Arrow tables, and the types of their columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = ["arrow_schema", "of_arrow"]

_IN_ARROW = {
    "bigint": pa.int64(),
    "binary": pa.binary(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "double": pa.float64(),
    "float": pa.float32(),
    "int": pa.int32(),
    "smallint": pa.int16(),
    "string": pa.string(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "tinyint": pa.int8(),
}
"""Types of Spark's as Arrow has them; Spark tells them of an empty table, in a tenth of a second."""


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


def arrow_schema(spark: SparkSession, schema: StructType) -> pa.Schema:
    """The columns of a DataFrame as Arrow has them; Spark is asked of types that are not plain.

    Parameters
    ----------
    spark
        A session.
    schema
        The columns as Spark has them.
    """
    kinds = [_IN_ARROW.get(each.dataType.simpleString()) for each in schema]
    if None in kinds:
        return spark.createDataFrame([], schema).toArrow().schema
    return pa.schema([pa.field(each.name, kind, each.nullable) for each, kind in zip(schema, kinds, strict=True)])
