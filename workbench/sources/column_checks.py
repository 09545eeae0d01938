"""Checks of what the columns of a stream hold, once they are read; those of their names are in `name_checks`."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from workbench.errors import ArgumentError, DataError, excerpt
from workbench.sources.arrow import END_OF_INPUT, key_class

__all__ = ["check_key", "check_newest", "check_same_keys", "check_time"]


def check_time(table: pa.Table, time: str, name: str) -> None:
    """Check that the event-time column holds timestamps, none missing, none beyond what can be shown."""
    column = table.column(time)
    if not pa.types.is_timestamp(column.type):
        raise ArgumentError(
            f"time: got column {excerpt(time)} of {name}, which holds {key_class(column.type) or column.type} values; "
            "use a timestamp column (pandas.to_datetime makes one)"
        )
    if column.null_count:
        raise DataError(
            f"time: column {excerpt(time)} of {name} is missing in {column.null_count:,} of {len(column):,} rows; "
            "a row without event time can be in no window: leave these rows out or fill them"
        )
    if len(column):
        check_newest(pc.max(column).cast(pa.int64()).as_py(), time, name)


def check_newest(newest: int, time: str, name: str) -> None:
    """Check that the newest event time, in microseconds since 1970-01-01 UTC, is not beyond what can be shown."""
    if newest >= END_OF_INPUT.value // 1000:
        raise DataError(
            f"time: column {excerpt(time)} of {name} goes beyond {END_OF_INPUT.date()}; use earlier event times"
        )


def check_key(table: pa.Table, key: str, name: str) -> None:
    """Check that a key column has a type that can be compared."""
    kind = table.schema.field(key).type
    if key_class(kind) is None:
        raise ArgumentError(
            f"key: got column {excerpt(key)} of {name}, which holds {kind} values; use text, numbers or dates"
        )


def check_same_keys(left: Any, right: Any) -> None:
    """Check that the key columns of two streams pair up, in number and type."""
    if len(left.key) != len(right.key):
        raise ArgumentError(
            f"key: got {list(left.key)} on {left.name} and {list(right.key)} on {right.name}; "
            "give both sides the same number of key columns, in the same order"
        )
    for mine, theirs in zip(left.key, right.key, strict=True):
        kinds = [side.table.schema.field(key).type for side, key in ((left, mine), (right, theirs))]
        if key_class(kinds[0]) != key_class(kinds[1]):
            raise ArgumentError(
                f"key: got {excerpt(mine)} of {left.name}, which holds {key_class(kinds[0])} values, and "
                f"{excerpt(theirs)} of "
                f"{right.name}, which holds {key_class(kinds[1])} values; convert one so that both have the same type"
            )
