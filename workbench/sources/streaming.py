"""What a streaming DataFrame brings in a while."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from workbench.errors import ArgumentError, DataError, excerpt, wrong
from workbench.sources import name_checks
from workbench.sources.key_choice import Choice, Newest, check_hashed, newest_rows
from workbench.sources.recorded_rows import Recorded
from workbench.spark_io.cause import spark_errors_as
from workbench.spark_io.scratch import Scratch
from workbench.spark_io.stopping import stop_queries
from workbench.untyped import SparkObject

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["check_collation", "read"]


_POLL = 0.05  # seconds
_BINARY = "UTF8_BINARY"


def check_collation(frame: SparkObject, key: object, name: str) -> None:
    """Refuse key columns whose collation finds texts equal that differ: recorded rows are compared byte by byte.

    Raises
    ------
    ArgumentError
        If a key column of a Spark DataFrame has such a collation.
    """
    keys = [key] if isinstance(key, str) else key if isinstance(key, list | tuple) else []
    for column in frame.schema.fields:
        collation = getattr(column.dataType, "collation", None) or _BINARY
        if column.name in keys and collation != _BINARY:
            raise ArgumentError(
                f"key: got column {excerpt(column.name)} of {name}, whose collation is {collation}; recorded keys are "
                "compared byte by byte, so make equal keys the same first, with lower(…) for instance"
            )


def read(frame: DataFrame, name: str, key: Sequence[str], time: str, *, seconds: float, choice: Choice) -> Recorded:
    """The rows that a query brings in so many seconds, and their micro-batches; see `Stream.from_streaming`."""
    if getattr(frame, "isStreaming", False) is not True or not hasattr(frame, "writeStream"):
        raise wrong("frame", type(frame).__name__, "give a DataFrame of spark.readStream")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= 3_600:
        raise wrong("seconds", seconds, "use a number of seconds above 0, at most 3600")
    check_collation(frame, key, name)
    name_checks.check_roles(frame.columns, key, time, name)
    if not choice.takes_all:
        _check_hashes(frame, key, choice)
    found = _micro_batches(frame, float(seconds), key, time, choice)
    if not found:
        raise DataError(f"frame: it brought no rows in {seconds:g} seconds; record for longer, with seconds=…")
    arrival = np.repeat(np.arange(len(found)), [each.rows.num_rows for each in found])
    newest = Newest(*(np.array(each, dtype=np.int64) for each in zip(*(each.newest for each in found), strict=True)))
    table = pa.concat_tables([each.rows for each in found])
    return Recorded(table, arrival, len(found), newest=None if choice.takes_all else newest)


def _check_hashes(frame: DataFrame, key: Sequence[str], choice: Choice) -> None:
    """Refuse to sample by keys that may be hashed otherwise elsewhere."""
    types = [(name, kind) for name, kind in frame.dtypes if name in key]
    check_hashed(choice, types)
    zone = frame.sparkSession.conf.get("spark.sql.session.timeZone")
    for name, kind in types:
        if choice.sample < 1 and kind == "timestamp" and zone not in ("UTC", "Etc/UTC", "GMT", "Z"):
            raise ArgumentError(
                f"sample: got {choice.sample}; key column {excerpt(name)} holds timestamps, which the "
                "session hashes as "
                f"texts in its time zone {zone}: set spark.sql.session.timeZone to UTC first"
            )


@dataclass(frozen=True)
class _MicroBatch:
    """Rows of a micro-batch that are taken, how many there were, and the newest event times of all and with a key."""

    rows: pa.Table
    count: int
    newest: tuple[int, int]


def _taken(rows: DataFrame, key: Sequence[str], time: str, choice: Choice) -> _MicroBatch:
    if choice.takes_all:
        table = rows.toArrow()
        return _MicroBatch(table, table.num_rows, (0, 0))
    rows = rows.persist()  # else they are asked of the source twice
    try:
        count, *newest = newest_rows(rows, key, time)
        return _MicroBatch(choice.of(rows, key).toArrow(), count, (newest[0], newest[1]))
    finally:
        rows.unpersist()


def _micro_batches(
    frame: DataFrame, seconds: float, key: Sequence[str], time_column: str, choice: Choice
) -> list[_MicroBatch]:
    """What a query brings in so many seconds, for each micro-batch with rows."""
    tables: dict[int, _MicroBatch] = {}

    def keep(rows: DataFrame, number: int) -> None:
        tables[number] = _taken(rows, key, time_column, choice)

    scratch, name = Scratch(), f"stream-join-workbench-{uuid.uuid4()}"
    try:
        with spark_errors_as("the streaming DataFrame failed"):
            writer = frame.writeStream.foreachBatch(keep).queryName(name)
            query = writer.option("checkpointLocation", scratch.address).start()
            end = time.monotonic() + seconds
            while query.isActive and time.monotonic() < end:
                time.sleep(_POLL)
            if (failure := query.exception()) is not None:
                raise failure
    finally:
        stop_queries(frame.sparkSession, name)
        scratch.remove()
    return [tables[number] for number in sorted(tables) if tables[number].count]
