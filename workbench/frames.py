"""Streams of DataFrames that say nothing of arrival: pandas, Arrow or Spark tables of a notebook."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from workbench.errors import check_whole, wrong
from workbench.sources import Format, Malformed
from workbench.sources.profile import profile
from workbench.sources.streaming import check_collation
from workbench.streams import MOST_BATCHES, Stream, check_stream
from workbench.times import ZERO, Span
from workbench.untyped import Namespace, SparkObject, Value

__all__ = [
    "BATCH",
    "batch_column",
    "columns",
    "from_files",
    "guess",
    "joinable",
    "sample",
    "sliced",
    "stream",
    "to_pandas",
]

BATCH = "batch"
"""The column that, if it is there and holds whole numbers, says in which micro-batch a row arrives."""


def stream(
    frame: SparkObject,
    name: str,
    key: str | Sequence[str],
    time: str,
    watermark: Span = ZERO,
    *,
    batch: str | None = None,
    arrival: str | None = None,
    trigger: Span | None = None,
) -> Stream:
    """A stream of a table, its rows in the order they have there.

    Parameters
    ----------
    frame
        A pandas DataFrame, or what gives one with ``toPandas()`` or ``to_pandas()``: a Spark DataFrame (not a
        streaming one), an Arrow table.
    name, key, time, watermark
        As in `Stream.from_pandas`.
    batch
        The column of whole numbers that says in which micro-batch a row arrives; None: ``batch``, if it is there.
    arrival, trigger
        As in `Stream.from_pandas`; they count in place of a column ``batch``.

    Raises
    ------
    ArgumentError, DataError
        As in `Stream.from_pandas`, or if `frame` is no table.
    """
    if hasattr(frame, "toArrow"):
        check_collation(frame, key, name)
    table = to_pandas(frame)
    if batch is None and arrival is None and trigger is None:
        batch = batch_column(table)
    return Stream.from_pandas(table, name, key, time, watermark, batch=batch, arrival=arrival, trigger=trigger)


def batch_column(frame: pd.DataFrame) -> str | None:
    """The column of a frame that says in which micro-batch a row arrives; None: it has none.

    Parameters
    ----------
    frame
        A pandas DataFrame.

    Raises
    ------
    ArgumentError
        If it is none.
    """
    if not isinstance(frame, pd.DataFrame):
        raise wrong("frame", type(frame).__name__, "give a pandas DataFrame")
    is_batch = BATCH in frame and (pd.api.types.is_integer_dtype(frame[BATCH].dtype) or not len(frame))
    return BATCH if is_batch else None


def from_files(
    path: str | os.PathLike[str],
    format: Format = "parquet",  # noqa: A002 - Spark's word
    *,
    time: str | None = None,
    options: dict[str, str] | None = None,
    malformed: Malformed = "fail",
    batch: str | None = None,
) -> pd.DataFrame:
    """The rows of a folder of files as a pandas frame, to change them before they are a stream.

    Spark reads them as `Stream.from_files` does, in the order in which its file source takes them.

    Parameters
    ----------
    path, format, options, malformed
        As in `Stream.from_files`.
    time
        The column with the event time, which is read as time where it is text; None: text stays text.
    batch
        The name of a column to add, with the number of the micro-batch: each file is one. None: there is none.

    Raises
    ------
    ArgumentError, DataError
        As `Stream.from_files`, or if the files have a column of the name `batch`.
    """
    from workbench.sources import arrow, files  # when needed: `import workbench` is to be quick

    for argument, name in (("time", time), ("batch", batch)):
        if name is not None and (not isinstance(name, str) or not name):
            raise wrong(argument, name, "use the name of a column, or None")
    found = files.read(path, time or "", format=format, schema=None, max_files=1, options=options, malformed=malformed)
    table, zones = arrow.spark_ready(found.table, os.fspath(path))
    frame = arrow.to_pandas(table, zones | {name: zone for name, zone in found.zones.items() if name in zones})
    if batch is not None:
        if batch in frame:
            raise wrong("batch", batch, "the files have a column of that name; give another")
        frame[batch] = found.arrival
    return frame


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
    check_stream("left", left)
    check_stream("right", right)
    check_whole("batches", batches, "of micro-batches", most=MOST_BATCHES)
    clocks = [np.maximum.accumulate(each.event_times) for each in (left, right)]
    full = [each for each in clocks if len(each)]
    first = min((int(each[0]) for each in full), default=0)
    length = max((int(each[-1]) for each in full), default=0) - first + 1
    starts = first + np.array([-(-number * length // batches) for number in range(batches)], dtype=np.int64)
    one, other = (
        replace(each, arrival=np.searchsorted(starts, clock, side="right") - 1, batch_count=batches, arrivals=None)
        for each, clock in zip((left, right), clocks, strict=True)
    )
    return one, other


def joinable(namespace: Namespace) -> list[str]:
    """The names of a notebook's Streams and tables."""
    if not isinstance(namespace, dict):
        raise wrong("namespace", namespace, "give a dict of names to values, such as globals()")
    return [
        name
        for name, value in list(namespace.items())
        if isinstance(name, str) and name[:1] != "_" and (isinstance(value, Stream) or _is_table(value))
    ]


def columns(frame: SparkObject) -> list[str]:
    """The names of a table's columns."""
    _check_table(frame)
    names = getattr(frame, "column_names", None)
    return [str(name) for name in (frame.columns if names is None else names)]


def guess(frame: SparkObject, other: Any = None) -> tuple[str, str]:
    """The likely key and event-time columns, by names, types and the values that both tables have.

    Parameters
    ----------
    frame, other
        A table, and what it is to be joined with: another, a Stream, or None.
    """
    theirs = sample(other) if isinstance(other, Stream) or _is_table(other) else None
    found = profile(sample(frame), theirs)
    time = found.time if found.time and found[found.time].kind == "time" else ""
    return next((each for each in found.keys if each not in (time, BATCH)), ""), time


def sample(frame: SparkObject, rows: int = 5_000) -> Any:
    """Some rows of a table as a pandas frame: the first ones of a Spark DataFrame, else from all of it.

    Parameters
    ----------
    frame
        A table, or a Stream, of which only the key columns are taken.
    rows
        How many, at most.
    """
    check_whole("rows", rows, "of rows")
    if isinstance(frame, Stream):
        frame = frame.table.select(list(frame.key))
    _check_table(frame)
    if hasattr(frame, "toArrow"):
        return frame.limit(rows).toArrow().to_pandas(date_as_object=True)
    places = np.linspace(0, max(len(frame) - 1, 0), min(rows, len(frame))).astype(int)
    return frame.iloc[places] if hasattr(frame, "iloc") else frame.take(places).to_pandas()


def to_pandas(frame: SparkObject) -> Any:
    """A table as a pandas frame; one that is pandas' own as it is.

    Parameters
    ----------
    frame
        A pandas DataFrame, a Spark DataFrame (not a streaming one) or an Arrow table.

    Raises
    ------
    ArgumentError
        If it is none of these.
    """
    _check_table(frame)
    if isinstance(frame, pd.DataFrame):
        return frame
    return frame.toArrow().to_pandas() if hasattr(frame, "toArrow") else frame.to_pandas()


def _is_table(value: Value) -> bool:
    kinds = {f"{kind.__module__.split('.')[0]}.{kind.__name__}" for kind in type(value).__mro__}
    return bool(kinds & {"pandas.DataFrame", "pyspark.DataFrame", "pyarrow.Table"}) and not getattr(
        value, "isStreaming", False
    )


def _check_table(frame: object) -> None:
    if not _is_table(frame):
        raise wrong("frame", type(frame).__name__, "give a pandas DataFrame, a Spark DataFrame or an Arrow table")
