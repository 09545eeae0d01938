"""Arrow tables as Spark can read them, and back to the pandas types a user expects."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from workbench.errors import ArgumentError, DataError

END_OF_INPUT = pd.Timestamp("2261-01-01")
"""The event time of the rows that close everything at the end of a finished run."""

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


def spark_ready(table: pa.Table, name: str) -> tuple[pa.Table, dict[str, str | None]]:
    """The table in types Spark reads from Parquet, and the time zone each timestamp column came with.

    Raises
    ------
    DataError
        If a column has a type that Spark cannot read.
    """
    fields, columns = [], []
    zones: dict[str, str | None] = {}
    for column in table.schema:
        if pa.types.is_timestamp(column.type):
            zones[column.name] = column.type.tz
        target = _target(column.type)
        if target is None:
            raise DataError(
                f"frame: column {column.name!r} of {name} has type {column.type}, which Spark cannot read; "
                "leave it out or convert it, for example to text or whole numbers"
            )
        fields.append(pa.field(column.name, target))
        columns.append(_cast(table.column(column.name), target))
    return pa.table(columns, schema=pa.schema(fields)), zones


def _cast(column: pa.ChunkedArray, target: pa.DataType) -> pa.ChunkedArray:
    if column.type == target:
        return column
    if pa.types.is_timestamp(column.type):
        if column.type.unit == "ns":  # towards the past, as a clock shows it, before 1970 too
            column = pc.floor_temporal(column, unit="microsecond")
        return column.cast(pa.timestamp("us", column.type.tz), safe=False).cast(pa.int64()).cast(target)
    return column.cast(target)


def _target(kind: pa.DataType) -> pa.DataType | None:
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", "UTC")
    if pa.types.is_dictionary(kind):
        return _target(kind.value_type)
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) or pa.types.is_null(kind):
        return pa.string()
    if pa.types.is_large_binary(kind):
        return pa.binary()
    if pa.types.is_unsigned_integer(kind):
        return pa.int64()
    if pa.types.is_float16(kind):
        return pa.float32()
    if pa.types.is_date64(kind):
        return pa.date32()
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        inner = _target(kind.value_type)
        return None if inner is None else pa.list_(inner)
    if pa.types.is_struct(kind):
        inners = [(each.name, _target(each.type)) for each in kind]
        return None if any(inner is None for _, inner in inners) or not inners else pa.struct(inners)
    good = any(test(kind) for _, test in _KEY_CLASSES)
    return kind if good else None


def check_time(table: pa.Table, time: str, name: str) -> None:
    """Check that the event-time column holds timestamps, none missing, none beyond what can be shown."""
    column = table.column(time)
    if not pa.types.is_timestamp(column.type):
        raise ArgumentError(
            f"time: got column {time!r} of {name}, which holds {_class(column.type)} values; "
            "use a timestamp column (pandas.to_datetime makes one)"
        )
    if column.null_count:
        raise DataError(
            f"time: column {time!r} of {name} is missing in {column.null_count:,} of {len(column):,} rows; "
            "a row without event time can be in no window: leave these rows out or fill them"
        )
    if len(column) and pc.max(column).as_py() >= END_OF_INPUT.tz_localize("UTC"):
        raise DataError(f"time: column {time!r} of {name} goes beyond {END_OF_INPUT.date()}; use earlier event times")


def check_key(table: pa.Table, key: str, name: str) -> None:
    """Check that a key column has a type that can be compared."""
    kind = table.schema.field(key).type
    if _class(kind) is None:
        raise ArgumentError(f"key: got column {key!r} of {name}, which holds {kind} values; use text, numbers or dates")


def check_same_keys(left: Any, right: Any) -> None:
    """Check that the key columns of two streams pair up, in number and type."""
    if len(left.key) != len(right.key):
        raise ArgumentError(
            f"key: got {list(left.key)} on {left.name} and {list(right.key)} on {right.name}; "
            "give both sides the same number of key columns, in the same order"
        )
    for mine, theirs in zip(left.key, right.key, strict=True):
        kinds = [side.table.schema.field(key).type for side, key in ((left, mine), (right, theirs))]
        if _class(kinds[0]) != _class(kinds[1]):
            raise ArgumentError(
                f"key: got {mine!r} of {left.name}, which holds {_class(kinds[0])} values, and {theirs!r} of "
                f"{right.name}, which holds {_class(kinds[1])} values; convert one so that both have the same type"
            )


def _class(kind: pa.DataType) -> str | None:
    return next((words for words, test in _KEY_CLASSES if test(kind)), None)


def zero(kind: pa.DataType) -> pa.Scalar:
    """Some value of a key's type that is not null."""
    if pa.types.is_string(kind):
        return pa.scalar("", kind)
    if pa.types.is_binary(kind):
        return pa.scalar(b"", kind)
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


def in_zone(values: pd.Series[Any], zone: str | None) -> pd.Series[Any]:
    """Timestamps in a zone, or naive and in UTC where the zone is None."""
    if values.dt.tz is None:
        values = values.dt.tz_localize("UTC")
    return values.dt.tz_localize(None) if zone is None and values.dt.tz is not None else values.dt.tz_convert(zone)
