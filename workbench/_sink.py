"""What Spark's file sink wrote, with the micro-batch of every row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from workbench import _arrow, _logs
from workbench.joins import CoGroup, Join
from workbench.streams import ROW, Stream


class Reader:
    """All that a query has written so far; what was read once is not read again.

    Parameters
    ----------
    output
        The sink's folder.
    """

    def __init__(self, output: Path) -> None:
        self._output = output
        self._read: set[str] = set()
        self._tables: dict[Path, tuple[int, pa.Table]] = {}

    def read(self, batches: int | None = None) -> pa.Table:
        """All rows the sink committed, or those of the first so many micro-batches, and column ``batch``."""
        for number, path, _ in _logs.entries(self._output / "_spark_metadata", self._read):
            if path not in self._tables:
                self._tables[path] = number, pq.ParquetFile(path).read()
        return _ordered(
            [
                table.append_column("batch", pa.array(np.full(table.num_rows, number), pa.int64()))
                for number, table in self._tables.values()
                if batches is None or number < batches
            ]
        )


def _ordered(tables: list[pa.Table]) -> pa.Table:
    table = pa.concat_tables(tables)
    order = [
        (name, "ascending")
        for name in ("batch", f"left_{ROW}", f"right_{ROW}", "window_start")
        if name in table.column_names
    ]
    return table.sort_by(order)


def frame(raw: pa.Table, join: Join, left: Stream, right: Stream) -> pd.DataFrame:
    """The output as users see it: without row numbers, timestamps in the zones they came in."""
    window_zone = left.zones.get(left.time)
    zones: dict[str, str | None] = {"window_start": window_zone, "window_end": window_zone}
    if isinstance(join, CoGroup):
        zones |= {key: left.zones.get(key) for key in left.key}
        columns = [*left.key, "window_start", "window_end", "left", "right", "batch"]
        plain = _arrow.to_pandas(raw.drop(["left", "right"]), zones)
        plain["left"] = _dicts(raw.column("left"), left)
        plain["right"] = _dicts(raw.column("right"), right)
        return plain[columns]
    for prefix, stream in (("left_", left), ("right_", right)):
        zones |= {prefix + name: zone for name, zone in stream.zones.items()}
    return _arrow.to_pandas(
        raw.drop([name for name in (f"left_{ROW}", f"right_{ROW}") if name in raw.column_names]), zones
    )


def _dicts(lists: pa.ChunkedArray, stream: Stream) -> pd.Series:
    """Lists of rows as lists of dicts, in order of arrival."""
    import pyarrow.compute as pc

    rows = pc.list_flatten(lists)
    if isinstance(rows, pa.ChunkedArray):
        rows = rows.combine_chunks()
    numbers = rows.field(ROW).to_numpy(zero_copy_only=False)
    values = _arrow.to_pandas(stream.table.take(pa.array(numbers)), stream.zones).astype(object)
    values = values.where(values.notna(), None)
    dicts = values.to_dict("records")
    lengths = pc.list_value_length(lists).to_numpy()
    groups: list[list[dict[str, object]]] = []
    begin = 0
    for length in lengths:
        order = np.argsort(numbers[begin : begin + length], kind="stable")
        groups.append([dicts[begin + place] for place in order])
        begin += int(length)
    return pd.Series(groups, dtype=object)
