"""A pandas frame as recorded rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from workbench.arrays import Batches
from workbench.errors import ArgumentError, DataError, excerpt, wrong
from workbench.sources import name_checks
from workbench.sources.recorded_rows import MOST_BATCHES, Recorded
from workbench.untyped import Series

__all__ = ["read"]


def read(frame: pd.DataFrame, name: str, key: str | Sequence[str], time: str, batch: str | None) -> Recorded:
    """The rows of a frame; see `workbench.Stream.from_pandas`."""
    if not isinstance(frame, pd.DataFrame):
        package = type(frame).__module__.partition(".")[0]
        named = type(frame).__name__ if package == "builtins" else f"a {type(frame).__name__} of {package}"
        ways = [way for way in ("to_pandas", "toPandas") if hasattr(frame, way)]
        raise wrong(
            "frame", named, f"give a pandas DataFrame, one row an event{f': frame.{ways[0]}()' if ways else ''}"
        )
    if isinstance(time, str) and time not in frame.columns and time == frame.index.name:
        raise wrong("time", time, "it is the frame's index, which is no column: give frame.reset_index()")
    name_checks.check_columns([*frame.columns], name)
    if batch is None:
        arrival = np.zeros(len(frame), dtype=np.int64)
    else:
        name_checks.check_column("batch", batch, list(frame.columns), name)
        name_checks.check_column("time", time, list(frame.columns), name)
        arrival = _arrival(frame[batch], batch, name)
        if batch in (time, *name_checks.key_columns(key)):
            raise wrong("batch", batch, f"it is also used as key or time of {name}; use a column of its own")
        order = np.argsort(arrival, kind="stable")
        frame, arrival = frame.iloc[order].drop(columns=batch), arrival[order]
    return Recorded(_table(frame, name), arrival, int(arrival[-1]) + 1 if len(arrival) else 1)


def _table(frame: pd.DataFrame, name: str) -> pa.Table:
    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except UnicodeError as error:
        raise DataError(f"frame: {name} holds text that is no Unicode ({error}); correct it") from None
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise DataError(
            f"frame: a column of {name} holds values of several types, or of none that Arrow has "
            f"({'; '.join(map(str, error.args))}); give each column one type"
        ) from None


def _arrival(column: Series, batch: str, name: str) -> Batches:
    if not len(column):  # a column without values has no type to speak of
        return np.zeros(0, dtype=np.int64)
    if not pd.api.types.is_integer_dtype(column.dtype) or column.isna().any():
        raise ArgumentError(
            f"batch: got column {excerpt(batch)} of {name}, which holds {column.dtype} values; "
            "use a column of whole numbers, 0 for the first micro-batch, none missing"
        )
    low, high = int(column.min()), int(column.max())
    if low < 0 or high >= MOST_BATCHES:
        bad = low if low < 0 else high
        raise ArgumentError(
            f"batch: got micro-batch {bad} in column {excerpt(batch)} of {name}; number them from 0, "
            f"below {MOST_BATCHES:,}"
        )
    arrival: Batches = column.to_numpy(dtype=np.int64)
    return arrival
