"""Streams of DataFrames that say nothing of arrival: pandas, Arrow or Spark tables of a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from workbench.errors import wrong
from workbench.streams import Stream
from workbench.times import ZERO, Span

BATCH = "batch"
"""The column that, if it is there and holds whole numbers, says in which micro-batch a row arrives."""


def stream(frame: Any, name: str, key: str | Sequence[str], time: str, watermark: Span = ZERO) -> Stream:
    """A stream of a table, its rows in the order they have there.

    Parameters
    ----------
    frame
        A pandas DataFrame, or what gives one with ``toPandas()`` or ``to_pandas()``: a Spark DataFrame (not a
        streaming one), an Arrow table.
    name, key, time, watermark
        As in `Stream.from_pandas`. A column ``batch`` of whole numbers is the micro-batch.

    Raises
    ------
    ArgumentError, DataError
        As in `Stream.from_pandas`, or if `frame` is no table.
    """
    import pandas as pd

    table = _pandas(frame)
    batch = BATCH if BATCH in table and pd.api.types.is_integer_dtype(table[BATCH].dtype) else None
    return Stream.from_pandas(table, name, key, time, watermark, batch)


def sliced(left: Stream, right: Stream, batches: int = 10) -> tuple[Stream, Stream]:
    """Two streams that say nothing of micro-batches, as if their rows had come by event time.

    Each row arrives at the newest event time of its side so far, so rows stay in their order; that time, from the first
    to the last of both sides, is cut into equal micro-batches.

    Parameters
    ----------
    left, right
        The streams.
    batches
        How many micro-batches to make.
    """
    import numpy as np

    if isinstance(batches, bool) or not isinstance(batches, int) or batches < 1:
        raise wrong("batches", batches, "use a whole number of micro-batches, 1 or more")
    clocks = [np.maximum.accumulate(each.event_times) for each in (left, right)]
    full = [each for each in clocks if len(each)]
    first = min((int(each[0]) for each in full), default=0)
    length = max((int(each[-1]) for each in full), default=0) - first + 1
    one, other = (
        replace(each, arrival=(clock - first) * batches // length, batch_count=batches)
        for each, clock in zip((left, right), clocks, strict=True)
    )
    return one, other


def joinable(namespace: dict[str, Any]) -> list[str]:
    """The names of a notebook's Streams and tables."""
    return [
        name
        for name, value in list(namespace.items())
        if name[:1] != "_" and (isinstance(value, Stream) or _is_table(value))
    ]


def columns(frame: Any) -> list[str]:
    """The names of a table's columns."""
    names = getattr(frame, "column_names", None)
    return [str(name) for name in (frame.columns if names is None else names)]


def guess(frame: Any, other: Any = None) -> tuple[str, str]:
    """The likely key and event-time columns: the first of times; the first other column that both tables have.

    Parameters
    ----------
    frame, other
        A table, and what it is to be joined with: another, a Stream, or None.
    """
    names = columns(frame)
    times = [name for name in names if _is_time(frame, name)]
    theirs = list(other.key) if isinstance(other, Stream) else (columns(other) if _is_table(other) else [])
    shared = [name for name in names if name in theirs and name not in times and name != BATCH]
    rest = [name for name in names if name not in times and name != BATCH]
    return (shared or rest or [""])[0], (times or [""])[0]


def _is_table(value: Any) -> bool:
    kinds = {f"{kind.__module__.split('.')[0]}.{kind.__name__}" for kind in type(value).__mro__}
    return bool(kinds & {"pandas.DataFrame", "pyspark.DataFrame", "pyarrow.Table"}) and not getattr(
        value, "isStreaming", False
    )


def _is_time(frame: Any, name: str) -> bool:
    if hasattr(frame, "dtypes") and isinstance(frame.dtypes, list):  # a Spark DataFrame
        return str(dict(frame.dtypes)[name]).startswith("timestamp")
    kind = frame.schema.field(name).type if hasattr(frame, "schema") else frame[name].dtype
    return str(kind).startswith(("timestamp", "datetime64"))


def _pandas(frame: Any) -> Any:
    import pandas as pd

    if isinstance(frame, pd.DataFrame):
        return frame
    if not _is_table(frame):
        raise wrong("frame", type(frame).__name__, "give a pandas DataFrame, a Spark DataFrame or an Arrow table")
    return frame.toArrow().to_pandas() if hasattr(frame, "toArrow") else frame.to_pandas()
