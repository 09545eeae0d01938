"""The rows that come to a windowed aggregation in append mode: which are late for it, and when their group comes out.

A group comes out in the micro-batch whose watermark has passed the end of its window, and is made of the rows that were
not late in theirs. Session windows merge as rows arrive, as long as they are open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.jobs.clock import Clock, longs, of_batch
from workbench.model import close_sessions
from workbench.spark_io.frames import of_arrow

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["CLOSED_IN", "LATE", "in_sessions", "in_windows"]

LATE = "__late"
"""Whether a row came late to the aggregation."""
CLOSED_IN = "__closed_in"
"""The micro-batch in which the group of a row comes out; null of a row in none, and of one whose group is open."""
_KEY, _START, _END, _BATCH = "__key", "__start", "__end", "__batch"
_OPENED, _CLOSED = "__opened", "__closed"
"""When the session that a row merged into begins and ends."""


def in_windows(rows: DataFrame, window: str, *, batch: str, alive: Column, clock: Clock) -> DataFrame:
    """Rows with `LATE` and `CLOSED_IN`, of an aggregation by tumbling or sliding windows.

    Parameters
    ----------
    rows
        The rows, once for each window.
    window, batch
        The columns with a row's window, and with the number of its micro-batch.
    alive
        Whether a row comes to the aggregation.
    clock
        The watermarks.
    """
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    end = _micros(f"{window}.end")
    closed = F.size(F.filter(longs(clock.eviction), lambda mark: mark < end)) + clock.first
    late = _is_late(window, batch, alive, clock)
    is_out = alive & ~late & (closed < clock.first + len(clock.eviction))
    return rows.withColumn(LATE, late).withColumn(CLOSED_IN, F.when(is_out, closed.cast("long")))


def in_sessions(rows: DataFrame, window: str, *, batch: str, alive: Column, key: Column, clock: Clock) -> DataFrame:
    """Rows with `LATE` and `CLOSED_IN`, of an aggregation by session windows; their window is the merged one.

    Parameters
    ----------
    rows, window, batch, alive, clock
        As `in_windows` takes them; the window is that of the row alone, from its time to the end of the gap.
    key
        What is equal of rows that are grouped, beside their windows.
    """
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    late = _is_late(window, batch, alive, clock)
    rows = rows.withColumn(LATE, late).withColumn(_KEY, key)
    ends = {_START: _micros(f"{window}.start"), _END: _micros(f"{window}.end"), _BATCH: F.col(batch)}
    alone = rows.where(alive & ~F.col(LATE)).select(_KEY, *(each.alias(name) for name, each in ends.items()))
    merged = _merged(alone.distinct().toArrow(), clock)
    found = of_arrow(rows.sparkSession, merged)
    names = [name for name in rows.columns if name != _KEY]
    for name, each in ends.items():
        rows = rows.withColumn(name, each)
    rows = rows.join(F.broadcast(found), [_KEY, _START, _END, _BATCH], "left")
    kind = dict(rows.select(F.col(f"{window}.start").alias("start")).dtypes)["start"]
    start, end = (F.timestamp_micros(name).cast(kind) for name in (_OPENED, _CLOSED))
    whole = F.struct(start.alias("start"), end.alias("end"))
    rows = rows.withColumn(window, F.when(F.col(_OPENED).isNotNull(), whole).otherwise(F.col(window)))
    return rows.select(*names, F.when(alive & ~F.col(LATE), F.col(CLOSED_IN)).alias(CLOSED_IN))


def _is_late(window: str, batch: str, alive: Column, clock: Clock) -> Column:
    """Whether the window of a row has ended before its micro-batch; the arguments are those of `in_windows`."""
    return alive & (_micros(f"{window}.end") <= of_batch(clock.late, clock.first, batch))


def _merged(alone: pa.Table, clock: Clock) -> pa.Table:
    """Sessions of single rows with that which each merged into: when it opened, closed, and in which micro-batch."""
    codes = pc.dictionary_encode(alone.column(_KEY)).combine_chunks().indices
    start, end, batch = (alone.column(name).to_numpy().astype(np.int64) for name in (_START, _END, _BATCH))
    group, sessions, _ = close_sessions(
        codes.to_numpy().astype(np.int64), start, end, batch - clock.first, clock.eviction
    )
    closes = sessions["batch"].to_numpy()[group]
    closed_in = pa.array(closes + clock.first, pa.int64(), mask=closes == len(clock.eviction))
    for name, values in ((_OPENED, sessions["start"]), (_CLOSED, sessions["end"])):
        alone = alone.append_column(name, pa.array(values.to_numpy()[group], pa.int64()))
    return alone.append_column(CLOSED_IN, closed_in)


def _micros(time: str) -> Column:
    """A time in microseconds since 1970-01-01 UTC."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    return F.unix_micros(F.col(time).cast("timestamp"))
