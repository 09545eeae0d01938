"""What a streaming DataFrame brings in a while."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from workbench.engine.cause import cause
from workbench.engine.scratch import Scratch
from workbench.engine.stopping import stop_queries
from workbench.errors import ArgumentError, DataError, QueryError, wrong
from workbench.sources.recorded import Recorded

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["check_collation", "read"]


_POLL = 0.05  # seconds
_BINARY = "UTF8_BINARY"


def check_collation(frame: Any, key: object, name: str) -> None:
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
                f"key: got column {column.name!r} of {name}, whose collation is {collation}; recorded keys are "
                "compared byte by byte, so make equal keys the same first, with lower(…) for instance"
            )


def read(frame: DataFrame, name: str, key: object, seconds: float) -> Recorded:
    """The rows that a query brings in so many seconds, and their micro-batches; see `Stream.from_streaming`."""
    if getattr(frame, "isStreaming", False) is not True or not hasattr(frame, "writeStream"):
        raise wrong("frame", type(frame).__name__, "give a DataFrame of spark.readStream")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= 3_600:
        raise wrong("seconds", seconds, "use a number of seconds above 0, at most 3600")
    check_collation(frame, key, name)
    found = _micro_batches(frame, float(seconds))
    if not found:
        raise DataError(f"frame: it brought no rows in {seconds:g} seconds; record for longer, with seconds=…")
    arrival = np.repeat(np.arange(len(found)), [each.num_rows for each in found])
    return Recorded(pa.concat_tables(found), arrival, len(found))


def _micro_batches(frame: DataFrame, seconds: float) -> list[pa.Table]:
    """What a query brings in so many seconds, one table a micro-batch with rows."""
    from pyspark.errors import PySparkException

    tables: dict[int, pa.Table] = {}

    def keep(rows: DataFrame, number: int) -> None:
        tables[number] = rows.toArrow()

    scratch, name = Scratch(), f"stream-join-workbench-{uuid.uuid4()}"
    failure: Exception | None = None
    try:
        writer = frame.writeStream.foreachBatch(keep).queryName(name)
        query = writer.option("checkpointLocation", scratch.address).start()
        end = time.monotonic() + seconds
        while query.isActive and time.monotonic() < end:
            time.sleep(_POLL)
        failure = query.exception()
    except PySparkException as error:
        failure = error
    finally:
        stop_queries(frame.sparkSession, name)
        scratch.remove()
    if failure is not None:
        raise QueryError(f"the streaming DataFrame failed: {cause(failure)}", str(failure))
    return [tables[number] for number in sorted(tables) if tables[number].num_rows]
