"""Which rows are taken, by their keys: by one rule for streams and for opened jobs, which Spark goes by."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa

from workbench.arrays import RowNumbers, Times
from workbench.errors import ArgumentError, excerpt, wrong
from workbench.quoting import backticks
from workbench.spark_io.frames import of_arrow
from workbench.untyped import Argument, Value

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = [
    "ALL",
    "Choice",
    "Newest",
    "check_hashed",
    "checked",
    "micros_of",
    "newest_columns",
    "newest_in_each",
    "newest_of",
    "newest_rows",
    "newest_times",
    "with_width",
]

_MOST_KEYS = 10_000
_PARTS = 1_000_000
_EPOCH = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"
_ROW = "__row"
_NOTHING = -(2**63)
_UNSTEADY = ("decimal", "double", "float")
"""Types of which equal values may be written differently, so that their hashes differ."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_NESTED = ("struct<", "array<", "map<")
_NUMBERS = ("tinyint", "smallint", "int", "bigint", *_UNSTEADY)


@dataclass(frozen=True)
class Choice:
    """Which rows are taken, by their keys: the same on both sides.

    Attributes
    ----------
    keys
        Values of the key columns, a tuple each; None: all.
    sample
        The share of the keys that is taken, by a hash of the key.
    """

    keys: tuple[tuple[Value, ...], ...] | None = None
    sample: float = 1.0

    @property
    def takes_all(self) -> bool:
        """Whether all rows are taken."""
        return self.keys is None and self.sample >= 1

    def of(self, rows: DataFrame, key: Sequence[str]) -> DataFrame:
        """Those of some rows that are taken, by the names of their key columns."""
        return rows if self.takes_all else rows.where(self.condition(rows, key))

    def condition(self, rows: DataFrame, key: Sequence[str]) -> Column:
        """Whether a row is taken, by the names of its key columns.

        Raises
        ------
        ArgumentError
            If a key is none that its column can hold.
        """
        from pyspark.sql import functions as F  # when needed: PySpark is slow to import

        columns, found = [F.col(backticks(name)) for name in key], F.lit(True)
        if self.keys is not None:
            types = dict(rows.dtypes)
            kept = ([_as_kept(*each, types[each[1]]) for each in zip(one, key, strict=True)] for one in self.keys)
            found = found & _any(_equal(columns, each) for each in kept)
        if self.sample < 1:
            hashed = F.xxhash64(*[each.cast("string") for each in columns])
            found = found & (F.pmod(hashed, F.lit(_PARTS)) < round(self.sample * _PARTS))
        return found

    def taken(self, spark: SparkSession, table: pa.Table, key: Sequence[str]) -> RowNumbers:
        """The places of those rows of a table that are taken, in order, as Spark tells them."""
        asked = table.select(list(key)).append_column(_ROW, pa.array(np.arange(len(table))))
        rows = self.of(of_arrow(spark, asked), key).select(_ROW).toArrow()
        return np.sort(rows.column(_ROW).to_numpy())


ALL = Choice()


@dataclass(frozen=True, eq=False)
class Newest:
    """The newest event times of all rows, of which some were taken.

    Attributes
    ----------
    all
        Of each micro-batch, in microseconds since 1970-01-01 UTC; -2**63 where there were none.
    keyed
        The same, of the rows whose key is nowhere null.
    """

    all: Times
    keyed: Times


def checked(keys: Argument, sample: Argument) -> Choice:
    """A choice as users give it.

    Raises
    ------
    ArgumentError
        If it is none.
    """
    if isinstance(sample, bool) or not isinstance(sample, int | float) or not 0 < sample <= 1:
        raise wrong("sample", sample, "give the share of the keys as a number above 0, at most 1")
    if keys is None:
        return Choice(None, float(sample))
    if isinstance(keys, str | bytes | range) or not isinstance(
        keys, Sequence | Set | np.ndarray | pd.Series | pd.Index
    ):
        raise wrong("keys", keys, 'give a list of key values, such as keys=["o-17", "o-18"]')
    if not 0 < len(keys) <= _MOST_KEYS:
        raise wrong("keys", keys, f"give at least one key and {_MOST_KEYS:,} at most, or leave it out")
    listed = keys.tolist() if isinstance(keys, np.ndarray | pd.Series | pd.Index) else list(keys)
    return Choice(tuple(each if isinstance(each, tuple) else (each,) for each in listed), float(sample))


def with_width(choice: Choice, width: int) -> Choice:
    """A choice, if each of its keys has as many parts as there are key columns.

    Raises
    ------
    ArgumentError
        If one has not.
    """
    for each in choice.keys or ():
        if len(each) != width:
            words = "a value" if width == 1 else f"a tuple of {width} values"
            raise wrong("keys", each, f"the key has {width} column{'s' * (width > 1)}: give {words} for each key")
    return choice


def check_hashed(choice: Choice, types: Sequence[tuple[str, str]]) -> None:
    """Refuse to sample by key columns (their names and Spark's types) whose hash may differ on the other side.

    Raises
    ------
    ArgumentError
        If equal values of such a type can be written differently.
    """
    for name, kind in types:
        if choice.sample < 1 and kind.startswith(_UNSTEADY):
            raise ArgumentError(
                f"sample: got {choice.sample}; key column {excerpt(name)} holds {kind} values, of "
                "which equal ones may have "
                "different hashes on both sides: give keys=[…], or a key of text or whole numbers"
            )


def newest_of(batches: int, arrival: Any, times: Any, keyed: Any) -> Newest:
    """The newest event times of rows whose micro-batches, event times and whether they have a key are given."""
    return Newest(newest_times(batches, arrival, times), newest_times(batches, arrival[keyed], times[keyed]))


def newest_times(batches: int, arrival: Any, times: Any) -> Times:
    """The newest event time of each micro-batch in microseconds, -2**63 of one without rows."""
    found = np.full(batches, _NOTHING, dtype=np.int64)
    np.maximum.at(found, arrival, times)
    return found


def newest_in_each(arrival: Any, times: Any) -> RowNumbers:
    """The place of the newest row of each micro-batch that has rows, in order of micro-batch; the last of several."""
    order = np.lexsort([times, arrival])
    return order[np.flatnonzero(np.diff(arrival[order], append=-1))]


def newest_columns(rows: DataFrame, key: Sequence[str], time: str) -> list[Column]:
    """Aggregates of Spark's: how many rows there are, and the newest event time of all and of those with a key."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    column, zoneless = backticks(time), dict(rows.dtypes)[time] == "timestamp_ntz"
    return [
        F.count("*").alias("count"),
        F.coalesce(F.expr(micros_of(f"max({column})", zoneless)), F.lit(_NOTHING)).alias("all"),
        F.coalesce(F.expr(micros_of(f"max({column}) FILTER (WHERE {_keyed(key)})", zoneless)), F.lit(_NOTHING)).alias(
            "keyed"
        ),
    ]


def newest_rows(rows: DataFrame, key: Sequence[str], time: str) -> tuple[int, int, int]:
    """How many rows there are, and the newest event time of all and of those whose key is nowhere null."""
    found = rows.agg(*newest_columns(rows, key, time)).first()
    assert found is not None  # noqa: S101 - an aggregate without groups is one row
    return int(found[0]), int(found[1]), int(found[2])


def _keyed(key: Sequence[str]) -> str:
    return " AND ".join(f"{backticks(name)} IS NOT NULL" for name in key)


def micros_of(column: str, zoneless: bool) -> str:
    """SQL of an event time, given as SQL, in microseconds since 1970-01-01 UTC."""
    return f"timestampdiff(MICROSECOND, {_EPOCH}, {column})" if zoneless else f"unix_micros({column})"


def _as_kept(value: Value, name: str, kind: str) -> Value:
    """A key as its column keeps it: one key may stand for a number on one side and for its text on the other.

    Raises
    ------
    ArgumentError
        If the column can hold no such value: Spark would fail at the first row, in words of a cast.
    """
    is_number = isinstance(value, Number) and not isinstance(value, bool)
    if kind.startswith(_NESTED):
        words = f"key column {excerpt(name)} holds {kind.partition('<')[0]} values, of which none can be given"
        raise wrong("keys", value, f"{words}: leave it out")
    if is_number and kind == "string":
        return str(value)
    if isinstance(value, str) and kind.partition("(")[0] in _NUMBERS and not _NUMBER.fullmatch(value.strip()):
        raise wrong("keys", value, f"key column {excerpt(name)} holds numbers: give numbers")
    return value


def _equal(columns: Sequence[Column], values: Sequence[Value]) -> Column:
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    found = F.lit(True)
    for column, value in zip(columns, values, strict=True):
        found = found & column.eqNullSafe(F.lit(value))
    return found


def _any(conditions: Any) -> Column:
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    found = F.lit(False)
    for each in conditions:
        found = found | each
    return found
