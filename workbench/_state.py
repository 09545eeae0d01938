"""What Spark held in state, read back from the checkpoint by its state data source."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import pandas as pd

from workbench import _tables
from workbench.joins import CoGroup, IntervalJoin
from workbench.streams import ROW, SIDES
from workbench.windows import Session

if TYPE_CHECKING:
    from workbench.results import Run

_TOGETHER = 16  # micro-batches in one query: Spark takes its time to plan a long one


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
    return held_after(run, [batch]).drop(columns="batch")


def held_after(run: Run, batches: Sequence[int]) -> pd.DataFrame:
    """As `held`, after several micro-batches, with column ``batch`` in front; read together, which is quicker."""
    parts = []
    for place in range(0, len(batches), _TOGETHER):
        some = batches[place : place + _TOGETHER]
        parts += [_groups(run, some)] if grouped(run) else [_side(run, some, side) for side in SIDES]
    return pd.concat(parts).sort_values(["batch", "side", "row", "start"], ignore_index=True)


def sessions(run: Run) -> bool:
    """Whether the join has session windows."""
    return not isinstance(run.join, IntervalJoin) and isinstance(run.join.window, Session)


def grouped(run: Run) -> bool:
    """Whether Spark does the join as an aggregation of both sides together."""
    return isinstance(run.join, CoGroup) or sessions(run)


def _states(run: Run, batches: Sequence[int], **options: str) -> Any:
    """What was in state after each of some micro-batches, with column ``batch``."""
    from pyspark.sql import functions as F

    assert run.spark is not None  # noqa: S101 - a run that ended has a session
    reader = run.spark.read.format("statestore").options(**options)
    folder = str(run.folder / "checkpoint")
    states = [reader.option("batchId", batch).load(folder).withColumn("batch", F.lit(batch)) for batch in batches]
    return reduce(lambda one, other: one.union(other), states)


def _side(run: Run, batches: Sequence[int], side: str) -> pd.DataFrame:
    from pyspark.sql import functions as F

    state = _states(run, batches, joinSide=side)
    kept = state.select("value.*").columns
    window = next((name for name in ("window", "other_window") if name in kept), None)
    columns = [F.unix_micros(f"value.{window}.{edge}").alias(edge) for edge in ("start", "end")] if window else []
    if f"{side}_{ROW}" in kept:
        found = state.select("batch", F.col(f"value.{side}_{ROW}").alias("row"), *columns).toPandas()
    else:
        found = _guess(run, side, state, kept, columns)
    if not window:
        found["start"] = found["end"] = 0
    return found.assign(side=side)[["batch", "side", "row", "start", "end"]]


def _guess(run: Run, side: str, state: Any, kept: list[str], columns: list[Any]) -> pd.DataFrame:
    """Rows of a side whose numbers Spark left out, as semi joins do: they are told by key and time, or window.

    Rows that agree in these enter and leave state together, so which of them arrived on time settles which are held.
    """
    from pyspark.sql import functions as F

    stream = run.side(side)
    names = [name for name in (*stream.key, stream.time) if f"{side}_{name}" in kept]
    values = [F.col(f"value.`{side}_{name.replace('`', '``')}`").alias(f"at_{n}") for n, name in enumerate(names)]
    on = [f"at_{n}" for n in range(len(names))] + (["start", "end"] if columns else [])
    held = state.select(F.col("batch").alias("held"), *values, *columns).toArrow().to_pandas().drop_duplicates()
    copies = run.outcome.copies[side]
    copies = copies[~copies["late"] & ~copies["filtered"]]
    rows = (
        stream.table.select(names)
        .to_pandas()
        .iloc[copies["row"]]
        .reset_index(drop=True)
        .set_axis(on[: len(names)], axis=1)
    )
    for name in ("row", "batch", "start", "end"):
        rows[name] = copies[name].to_numpy()
    found = rows.merge(held, on=on)
    found = found[found["batch"] <= found["held"]].drop(columns="batch").rename(columns={"held": "batch"})
    return found[["batch", "row", "start", "end"]]


def _groups(run: Run, batches: Sequence[int]) -> pd.DataFrame:
    """State of groups holds each side's rows as one binary value: Spark's unsafe rows."""
    from pyspark.sql import functions as F

    state = _numbered(_states(run, batches))
    kinds = dict(state.dtypes)
    window = next(name for name, kind in kinds.items() if kind == "struct<start:timestamp,end:timestamp>")
    lists = [name for name, kind in kinds.items() if kind == "binary" and name.startswith("value")]
    table = state.select(
        "batch",
        *[F.unix_micros(f"{window}.{edge}").alias(edge) for edge in ("start", "end")],
        *[F.col(name).alias(side) for side, name in zip(SIDES, lists, strict=True)],
    ).toPandas()
    found: dict[str, list[Any]] = {"batch": [], "side": [], "row": [], "start": [], "end": []}
    for batch, start, end, *values in table.itertuples(index=False):
        for side, value in zip(SIDES, values, strict=True):
            for row in _row_numbers(bytes(value), len(run.side(side).columns)):
                for name, cell in zip(found, (batch, side, row, start, end), strict=True):
                    found[name].append(cell)
    return pd.DataFrame(found).astype({"batch": "int64", "row": "int64", "start": "int64", "end": "int64"})


def _numbered(state: Any) -> Any:
    """The columns of key and value as ``key_0``, …, ``value_0``, …: Spark calls both lists of a session ``buf``."""
    from pyspark.sql import functions as F

    columns = []
    for part in ("key", "value"):
        fields = state.schema[part].dataType.fields
        names = [f"{part}_{place}" for place in range(len(fields))]
        kinds = ", ".join(f"{name}: {each.dataType.simpleString()}" for name, each in zip(names, fields, strict=True))
        columns.append(F.col(part).cast(f"struct<{kinds}>").alias(part))
    return state.select("batch", *columns).select("batch", "key.*", "value.*")


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
