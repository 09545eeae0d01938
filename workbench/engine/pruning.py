"""Large runs take keys, times and row numbers through Spark only; what the join does not need is added by row number.

Spark would read, shuffle, hold in state and write each column of each row, though the workbench has them all at hand.
The text of the join is the same, and so are the watermarks, the late rows, the pairs, and which rows are in state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench import conditions
from workbench.arrays import Numbers
from workbench.engine import sink_reader
from workbench.joins import where_of
from workbench.kinds import HASH_JOIN, kind_of
from workbench.literals import SIDES, Side
from workbench.streams import ROW

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from workbench.model import Simulation

__all__ = ["MOST_WHOLE", "bytes_left_out", "columns", "narrowed", "pays", "widened", "widths"]

MOST_WHOLE = 200_000
"""Rows of both sides up to which a run takes all columns through Spark."""
_SAMPLE = 1_000
_WINDOW = ("window_start", "window_end")
_WORD = 8
"""Bytes of a field of an ``UnsafeRow``, and what its texts are rounded up to."""


def pays(simulation: Simulation) -> bool:
    """Whether a run is so large that it goes without the columns that its join does not need."""
    rows = len(simulation.left) + len(simulation.right)
    return rows > MOST_WHOLE and kind_of(simulation.join).operator is HASH_JOIN


def columns(simulation: Simulation, side: Side) -> list[str]:
    """The columns of a side that a run cannot go without."""
    stream, where = simulation.side(side), where_of(simulation.join)
    asked = set() if where is None else set(conditions.columns(where))
    needed = {*stream.key, stream.time, ROW}
    return [name for name in (*stream.columns, ROW) if name in needed or f"{side}_{name}" in asked]


def narrowed(joined: DataFrame) -> DataFrame:
    """What comes out of a join, as row numbers, and windows in microseconds since 1970-01-01 UTC."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    numbers = [f"{side}_{ROW}" for side in SIDES]
    windows = [F.unix_micros(name).alias(name) for name in _WINDOW if name in joined.columns]
    return joined.select(*[name for name in numbers if name in joined.columns], *windows)


def widened(raw: pa.Table, simulation: Simulation) -> pa.Table:
    """What `narrowed` left, read back, with all columns, as Spark would have written it."""
    found: dict[str, pa.ChunkedArray] = {}
    for side in SIDES:
        number = f"{side}_{ROW}"
        if number in raw.column_names:
            rows = simulation.numbered(side).take(raw.column(number))
            found |= {f"{side}_{name}": rows.column(name) for name in rows.column_names}
    windows = {name: raw.column(name).cast(pa.timestamp("us", "UTC")) for name in raw.column_names if name in _WINDOW}
    return sink_reader.as_spark_writes(pa.table(found | windows | {"batch": raw.column("batch")}))


def bytes_left_out(simulation: Simulation, side: Side) -> float:
    """How many bytes more an ``UnsafeRow`` of a side takes with all of its columns: the mean of 1,000 of its rows."""
    table = simulation.side(side).table.drop_columns([n for n in columns(simulation, side) if n != ROW])
    rows = np.linspace(0, max(table.num_rows - 1, 0), min(_SAMPLE, table.num_rows)).astype(np.int64)
    sample = table.take(rows)
    return float(widths(sample).mean()) if len(rows) else float(_WORD * sample.num_columns)


def widths(table: pa.Table) -> Numbers:
    """How many bytes the values of each row take in an ``UnsafeRow``; of nested values and decimals the mean."""
    total = np.zeros(table.num_rows)
    texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    for column in table.columns:
        kind = column.type
        total += _WORD
        if any(is_(kind) for is_ in texts):
            total += -(-pc.fill_null(pc.binary_length(column), 0).to_numpy() // _WORD) * _WORD
        elif pa.types.is_nested(kind) or pa.types.is_decimal(kind):
            total += column.nbytes / max(len(column), 1)
    return total
