"""What Spark held in state, read back from the checkpoint by its state data source."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import pandas as pd

from workbench import _tables
from workbench.joins import CoGroup, IntervalJoin
from workbench.streams import ROW, SIDES
from workbench.windows import Session

if TYPE_CHECKING:
    from workbench.results import Run


def read(run: Run, batch: int) -> pd.DataFrame:
    """The table of `Run.state`."""
    found = held(run, batch)
    zone = run.zone
    parts = []
    for side in SIDES:
        mine = found[found["side"] == side]
        rows = _tables.plain_rows(run, side).drop(columns="batch").iloc[mine["row"]].reset_index(drop=True)
        if run.windowed:
            for name in ("start", "end"):
                rows[f"window_{name}"] = _tables.moments(mine[name], zone)
        parts.append(rows)
    return _tables.stack(parts)


def held(run: Run, batch: int) -> pd.DataFrame:
    """Columns ``side``, ``row``, and ``start`` and ``end`` of the window (microseconds; 0 without windows)."""
    return _groups(run, batch) if grouped(run) else _sides(run, batch)


def sessions(run: Run) -> bool:
    """Whether the join has session windows."""
    return not isinstance(run.join, IntervalJoin) and isinstance(run.join.window, Session)


def grouped(run: Run) -> bool:
    """Whether Spark does the join as an aggregation of both sides together."""
    return isinstance(run.join, CoGroup) or sessions(run)


def _reader(run: Run, batch: int) -> Any:
    assert run.spark is not None  # noqa: S101 - a run that ended has a session
    return run.spark.read.format("statestore").option("batchId", batch)


def _sides(run: Run, batch: int) -> pd.DataFrame:
    found = pd.concat([_side(run, batch, side) for side in SIDES], ignore_index=True)
    return found.sort_values(["side", "row", "start"], ignore_index=True)


def _side(run: Run, batch: int, side: str) -> pd.DataFrame:
    from pyspark.sql import functions as F

    state = _reader(run, batch).option("joinSide", side).load(str(run.folder / "checkpoint"))
    kept = state.select("value.*").columns
    window = next((name for name in ("window", "other_window") if name in kept), None)
    columns = [F.unix_micros(f"value.{window}.{edge}").alias(edge) for edge in ("start", "end")] if window else []
    if f"{side}_{ROW}" in kept:
        found = state.select(F.col(f"value.{side}_{ROW}").alias("row"), *columns).toPandas()
    else:
        found = _guess(run, batch, side, state, kept, columns)
    if not window:
        found["start"] = found["end"] = 0
    found.insert(0, "side", side)
    return found


def _guess(run: Run, batch: int, side: str, state: Any, kept: list[str], columns: list[Any]) -> pd.DataFrame:
    """Rows of a side whose numbers Spark left out, as semi joins do: they are told by key and time, or window.

    Rows that agree in these enter and leave state together, so which of them arrived on time settles which are held.
    """
    from pyspark.sql import functions as F

    stream = run.side(side)
    names = [name for name in (*stream.key, stream.time) if f"{side}_{name}" in kept]
    arrow = state.select(
        *[F.col(f"value.`{side}_{name.replace('`', '``')}`").alias(name) for name in names], *columns
    ).toArrow()
    held = arrow.to_pandas().drop_duplicates()
    copies = run.outcome.copies[side]
    copies = copies[~copies["late"] & ~copies["filtered"] & (copies["batch"] <= batch)]
    rows = stream.table.select(names).to_pandas().iloc[copies["row"]].reset_index(drop=True)
    on = [*names, *(["start", "end"] if columns else [])]
    rows["row"] = copies["row"].to_numpy()
    if columns:
        rows["start"], rows["end"] = copies["start"].to_numpy(), copies["end"].to_numpy()
    return rows.merge(held, on=on)[["row", *(["start", "end"] if columns else [])]]


def _groups(run: Run, batch: int) -> pd.DataFrame:
    """State of groups holds each side's rows as one binary value: Spark's unsafe rows."""
    from pyspark.sql import functions as F

    state = _numbered(_reader(run, batch).load(str(run.folder / "checkpoint")))
    kinds = dict(state.dtypes)
    window = next(name for name, kind in kinds.items() if kind == "struct<start:timestamp,end:timestamp>")
    lists = [name for name, kind in kinds.items() if kind == "binary" and name.startswith("value")]
    table = state.select(
        *[F.unix_micros(f"{window}.{edge}").alias(edge) for edge in ("start", "end")],
        *[F.col(name).alias(side) for side, name in zip(SIDES, lists, strict=True)],
    ).toPandas()
    found: dict[str, list[Any]] = {"side": [], "row": [], "start": [], "end": []}
    for start, end, *values in table.itertuples(index=False):
        for side, value in zip(SIDES, values, strict=True):
            for row in _row_numbers(bytes(value), len(run.side(side).columns)):
                for name, cell in zip(found, (side, row, start, end), strict=True):
                    found[name].append(cell)
    frame = pd.DataFrame(found).astype({"row": "int64", "start": "int64", "end": "int64"})
    return frame.sort_values(["side", "row", "start"], ignore_index=True)


def _numbered(state: Any) -> Any:
    """The columns of key and value as ``key_0``, …, ``value_0``, …: Spark calls both lists of a session ``buf``."""
    from pyspark.sql import functions as F

    columns = []
    for part in ("key", "value"):
        fields = state.schema[part].dataType.fields
        names = [f"{part}_{place}" for place in range(len(fields))]
        kinds = ", ".join(f"{name}: {each.dataType.simpleString()}" for name, each in zip(names, fields, strict=True))
        columns.append(F.col(part).cast(f"struct<{kinds}>").alias(part))
    return state.select(*columns).select("key.*", "value.*")


def _row_numbers(buffer: bytes, place: int) -> list[int]:
    """Row numbers in a collected list: an UnsafeRow of one UnsafeArrayData of UnsafeRows, little-endian.

    Layout: https://spark.apache.org/docs/latest/api/java/org/apache/spark/sql/catalyst/expressions/UnsafeRow.html

    Parameters
    ----------
    buffer
        The list as Spark's ``collect_list`` keeps it.
    place
        Which field of the rows is the row number.
    """
    (offset_and_size,) = struct.unpack_from("<q", buffer, 8)
    array = offset_and_size >> 32
    (count,) = struct.unpack_from("<q", buffer, array)
    slots = array + 8 + (count + 63) // 64 * 8
    numbers = []
    for slot in struct.unpack_from(f"<{count}q", buffer, slots):
        row = array + (slot >> 32)
        (number,) = struct.unpack_from("<q", buffer, row + (place + 1 + 63) // 64 * 8 + place * 8)
        numbers.append(int(number))
    return numbers
