"""Arrow tables as Spark can read them, and back to the pandas types a user expects."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from workbench.arrays import Batches
from workbench.errors import DataError, check_whole, excerpt, wrong
from workbench.quoting import backticks
from workbench.sources.recorded_rows import MOST_BATCHES, Recorded
from workbench.untyped import Series

__all__ = [
    "AFTER_ALL",
    "END_OF_INPUT",
    "ddl",
    "in_zone",
    "key_class",
    "read",
    "spark_ready",
    "target",
    "to_pandas",
    "unreadable",
    "zero",
]

END_OF_INPUT = pd.Timestamp("2261-01-01")
"""The event time of the rows that close everything at the end of a finished run."""
AFTER_ALL = END_OF_INPUT - pd.Timedelta(days=36_500)
"""What a watermark passes at the end of a finished run only: a watermark delay is at most a hundred years."""

_YEARS = (-62_135_596_800, 253_402_300_800)  # the begin of year 1 and the end of 9999, in seconds since 1970

_KEY_CLASSES = (
    ("whole number", pa.types.is_integer),
    ("text", pa.types.is_string),
    ("timestamp", pa.types.is_timestamp),
    ("date", pa.types.is_date),
    ("true or false", pa.types.is_boolean),
    ("floating-point number", pa.types.is_floating),
    ("decimal", pa.types.is_decimal),
    ("binary", pa.types.is_binary),
)


def read(table: pa.Table, arrival: Any, batch_count: int | None) -> Recorded:
    """The rows of a table; see `workbench.Stream.from_arrow`."""
    if not isinstance(table, pa.Table):
        raise wrong("table", type(table).__name__, "give a pyarrow.Table, one row an event")
    batch = np.zeros(table.num_rows, dtype=np.int64) if arrival is None else _micro_batches(arrival, table.num_rows)
    if batch_count is not None:
        check_whole("batch_count", batch_count, "of micro-batches", most=MOST_BATCHES)
    return Recorded(table, batch, max(int(batch[-1]) + 1 if len(batch) else 1, batch_count or 1))


def _micro_batches(arrival: Any, rows: int) -> Batches:
    """The micro-batch of each row, checked."""
    remedy = "give one whole number a row, from 0, never falling"
    try:
        if len(arrival) != rows:  # first, as a range may be longer than memory
            raise wrong("arrival", arrival, remedy)
        batch = np.asarray(arrival)
    except (TypeError, ValueError, OverflowError):
        raise wrong("arrival", arrival, remedy) from None
    if batch.shape != (rows,) or (rows and batch.dtype.kind not in "iu"):
        raise wrong("arrival", arrival, remedy)
    if rows and (batch.min() < 0 or batch.max() >= MOST_BATCHES or (np.diff(batch.astype(np.int64)) < 0).any()):
        raise wrong("arrival", arrival, f"{remedy}, below {MOST_BATCHES:,}")
    return batch.astype(np.int64)


def spark_ready(table: pa.Table, name: str) -> tuple[pa.Table, dict[str, str | None]]:
    """The table in types Spark reads from Parquet, and the time zone each timestamp column came with.

    Raises
    ------
    DataError
        If a column has a type that Spark cannot read, or values beyond what Spark's type holds.
    """
    fields, columns = [], []
    zones: dict[str, str | None] = {}
    for column in table.schema:
        if pa.types.is_timestamp(column.type):
            zones[column.name] = column.type.tz
        kind = target(column.type)
        if kind is None:
            raise unreadable(column.name, name, column.type)
        fields.append(pa.field(column.name, kind))
        try:
            columns.append(_cast(table.column(column.name), kind))
        except (pa.ArrowInvalid, OverflowError) as error:
            raise DataError(
                f"frame: column {excerpt(column.name)} of {name} holds values that Spark's type for "
                f"{column.type} does not "
                f"({error}); change or leave them out"
            ) from None
    return pa.table(columns, schema=pa.schema(fields)), zones


def unreadable(column: str, name: str, kind: pa.DataType) -> DataError:
    """The error for a column of a type that Spark does not have."""
    return DataError(
        f"frame: column {excerpt(column)} of {name} has type {kind}, which Spark cannot read; "
        "leave it out or convert it, for example to text or whole numbers"
    )


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if column.type == kind:
        return column
    if pa.types.is_timestamp(column.type):
        return pa.chunked_array([_microseconds(column).cast(kind)])
    if pa.types.is_struct(column.type) or pa.types.is_list(column.type):
        return column.cast(kind, safe=False)  # times in it may be in nanoseconds
    return column.cast(kind)


def _microseconds(column: pa.ChunkedArray) -> pa.Array:
    """Timestamps as whole microseconds since 1970-01-01 UTC; finer ones are cut towards the past, as a clock shows it.

    Raises
    ------
    OverflowError
        If one lies beyond the years 1 to 9999, which are what Spark's and Python's timestamps hold.
    """
    whole = column.combine_chunks()
    whole = pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole
    missing = whole.is_null().to_numpy(zero_copy_only=False)
    values = whole.cast(pa.int64()).fill_null(0).to_numpy()
    per_second = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}[column.type.unit]
    low, high = (seconds * per_second for seconds in _YEARS)
    if len(values) and not low <= values.min() <= values.max() < high:
        raise OverflowError("a time beyond the years 1 to 9999")
    micros = values // 1_000 if per_second > 1_000_000 else values * (1_000_000 // per_second)
    return pa.array(micros, pa.int64(), mask=missing)


def target(kind: pa.DataType) -> pa.DataType | None:
    """The type that Spark reads for a type of Arrow's; None where it has none."""
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", "UTC")
    if pa.types.is_dictionary(kind):
        return target(kind.value_type)
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) or pa.types.is_null(kind):
        return pa.string()
    if pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind) or pa.types.is_binary_view(kind):
        return pa.binary()
    if pa.types.is_unsigned_integer(kind):
        return pa.int64()
    if pa.types.is_float16(kind):
        return pa.float32()
    if pa.types.is_date64(kind):
        return pa.date32()
    if pa.types.is_decimal(kind):
        return pa.decimal128(kind.precision, kind.scale) if kind.precision <= 38 and 0 <= kind.scale <= 38 else None
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        inner = target(kind.value_type)
        return None if inner is None else pa.list_(inner)
    if pa.types.is_struct(kind):
        inners = [(each.name, target(each.type)) for each in kind]
        return None if any(inner is None for _, inner in inners) or not inners else pa.struct(inners)
    good = any(test(kind) for _, test in _KEY_CLASSES)
    return kind if good else None


def ddl(kind: Any) -> str:
    """A type of Spark's as its SQL writes it; the names of fields may hold anything."""
    name = kind.typeName()
    if name == "struct":
        fields = ", ".join(f"{backticks(each.name)}: {ddl(each.dataType)}" for each in kind.fields)
        return f"struct<{fields}>"
    if name == "array":
        return f"array<{ddl(kind.elementType)}>"
    if name == "map":
        return f"map<{ddl(kind.keyType)}, {ddl(kind.valueType)}>"
    return "timestamp" if name == "timestamp_ntz" else str(kind.simpleString())


def key_class(kind: pa.DataType) -> str | None:
    """In words what keys of a type are compared as, such as ``text``; None for a type whose values are not compared."""
    return next((words for words, test in _KEY_CLASSES if test(kind)), None)


def zero(kind: pa.DataType) -> pa.Scalar:
    """Some value of a key's type that is not null."""
    if pa.types.is_string(kind):
        return pa.scalar("", kind)
    if pa.types.is_binary(kind):
        return pa.scalar(b"", kind)
    if pa.types.is_decimal(kind):
        return pa.scalar(Decimal(0), kind)
    integer = pa.int32() if pa.types.is_date32(kind) else pa.int64()
    return pa.scalar(0, integer).cast(kind)


def to_pandas(table: pa.Table, zones: dict[str, str | None]) -> pd.DataFrame:
    """A frame in which whole numbers stay whole where some are missing, and timestamps have their zone again."""
    frame = table.to_pandas(integer_object_nulls=True, date_as_object=True)
    for column in table.schema:
        name, values = column.name, frame[column.name]
        if pa.types.is_integer(column.type) and table.column(name).null_count:
            frame[name] = values.astype("Int64")
        elif pa.types.is_boolean(column.type) and table.column(name).null_count:
            frame[name] = values.astype("boolean")
        elif pa.types.is_timestamp(column.type):
            frame[name] = in_zone(values, zones.get(name))
    return frame


def in_zone(values: Series, zone: str | None) -> Series:
    """Timestamps in a zone, or naive and in UTC where the zone is None."""
    if values.dt.tz is None:
        values = values.dt.tz_localize("UTC")
    return values.dt.tz_localize(None) if zone is None and values.dt.tz is not None else values.dt.tz_convert(zone)
