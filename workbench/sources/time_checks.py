"""Checks of the event times of a stream."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from workbench.errors import ArgumentError, DataError, excerpt
from workbench.sources.arrow import END_OF_INPUT, key_class

__all__ = ["check_newest", "check_time"]


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
