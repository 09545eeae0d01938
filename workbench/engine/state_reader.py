"""What Spark held in state, read back from the checkpoint by its state data source."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import pandas as pd
import pyarrow as pa

from workbench.engine.execution import Execution
from workbench.kinds import AGGREGATION, CLOSEST_PAIR, HASH_JOIN, Operator, RowsInLists, RowsInMaps, kind_of
from workbench.literals import Side, Sides
from workbench.model import Simulation
from workbench.quoting import backticks
from workbench.streams import ROW, SIDES
from workbench.untyped import Value

__all__ = ["held", "held_after", "timers"]

_TOGETHER = 16  # micro-batches in one query: Spark takes its time to plan a long one


def held(simulation: Simulation, execution: Execution, batch: int) -> pd.DataFrame:
    """Columns ``side``, ``row``, and ``start`` and ``end`` of the window (microseconds; 0 without windows)."""
    return held_after(simulation, execution, [batch]).drop(columns="batch")


def held_after(simulation: Simulation, execution: Execution, batches: Sequence[int]) -> pd.DataFrame:
    """As `held`, after several micro-batches, with column ``batch`` in front; read together, which is quicker."""
    parts = []
    for place in range(0, len(batches), _TOGETHER):
        some = batches[place : place + _TOGETHER]
        parts += _held(simulation, execution, some)
    return pd.concat(parts).sort_values(["batch", "side", "row", "start"], ignore_index=True)


def _held(simulation: Simulation, execution: Execution, batches: Sequence[int]) -> list[pd.DataFrame]:
    operator = kind_of(simulation.join).operator
    match operator.state:
        case RowsInMaps(variables):
            return _in_maps(simulation, execution, batches, dict(variables))
        case RowsInLists(variable):
            return _in_lists(simulation, execution, batches, variable)
    return _READERS[operator](simulation, execution, batches)


def timers(simulation: Simulation, execution: Execution, batch: int) -> pd.DataFrame:
    """The timers of a processor after a micro-batch: the left key's columns, and ``fires_at`` (milliseconds)."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    names = simulation.left.key if simulation.keyed else ("copy",)
    keys = [F.col(f"key.key_{place}").alias(f"key_{place}") for place in range(len(names))]
    state = _states(execution, [batch], readRegisteredTimers="true")
    found: pd.DataFrame = state.select(*keys, F.col("expiration_timestamp_ms").alias("fires_at")).toPandas()
    return found.sort_values("fires_at", kind="stable", ignore_index=True).set_axis([*names, "fires_at"], axis=1)


def _states(execution: Execution, batches: Sequence[int], **options: str) -> Any:
    """What was in state after each of some micro-batches, with column ``batch``."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    spark, place = execution.at_hand()
    reader, folder = spark.read.format("statestore").options(**options), f"{place.address}/checkpoint"
    states = [reader.option("batchId", batch).load(folder).withColumn("batch", F.lit(batch)) for batch in batches]
    return reduce(lambda one, other: one.union(other), states)


def _sides(simulation: Simulation, execution: Execution, batches: Sequence[int]) -> list[pd.DataFrame]:
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    numbered, guessed = [], []
    for side in SIDES:
        state = _states(execution, batches, joinSide=side)
        kept = state.select("value.*").columns
        window = next((name for name in ("window", "other_window") if name in kept), None)
        spans = [F.unix_micros(f"value.{window}.{edge}").alias(edge) for edge in ("start", "end")] if window else []
        if f"{side}_{ROW}" in kept:
            columns = spans or [F.lit(0).cast("long").alias(edge) for edge in ("start", "end")]
            numbers = F.col(f"value.{side}_{ROW}").alias("row")
            numbered.append(state.select("batch", F.lit(side).alias("side"), numbers, *columns))
        else:
            rows = _guess(simulation, side, state, kept, spans)
            guessed.append((rows if window else rows.assign(start=0, end=0)).assign(side=side))
    read = [_together(numbered)] if numbered else []
    return [each[["batch", "side", "row", "start", "end"]] for each in (*read, *guessed)]


def _guess(simulation: Simulation, side: Side, state: Any, kept: list[str], columns: list[Value]) -> pd.DataFrame:
    """Rows of a side whose numbers Spark left out, as semi joins do: they are identified by key and time, or window.

    Rows that agree in these enter and leave state together, so which of them arrived on time settles which are held.
    """
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    stream = simulation.side(side)
    names = [name for name in (*stream.key, stream.time) if f"{side}_{name}" in kept]
    values = [F.col(f"value.{backticks(f'{side}_{name}')}").alias(f"at_{n}") for n, name in enumerate(names)]
    on = [f"at_{n}" for n in range(len(names))] + (["start", "end"] if columns else [])
    held = _hashable(state.select(F.col("batch").alias("held"), *values, *columns).toArrow()).drop_duplicates()
    assignments = simulation.outcome.assignments[side]
    assignments = assignments[~assignments["late"] & ~assignments["filtered"]]
    rows = (
        _hashable(stream.table.select(names))
        .iloc[assignments["row"]]
        .reset_index(drop=True)
        .set_axis(on[: len(names)], axis=1)
    )
    for name in ("row", "batch", "start", "end"):
        rows[name] = assignments[name].to_numpy()
    found = rows.merge(held, on=on)
    found = found[found["batch"] <= found["held"]].drop(columns="batch").rename(columns={"held": "batch"})
    return found[["batch", "row", "start", "end"]]


def _hashable(table: pa.Table) -> pd.DataFrame:
    """A frame whose texts are bytes: pandas compares texts up to their first NUL only."""
    texts = (pa.types.is_string, pa.types.is_large_string)
    columns = [each.cast(pa.binary()) if any(is_(each.type) for is_ in texts) else each for each in table.columns]
    return pa.table(columns, names=table.column_names).to_pandas()


def _groups(simulation: Simulation, execution: Execution, batches: Sequence[int]) -> list[pd.DataFrame]:
    """State of groups holds each side's rows as one binary value: Spark's unsafe rows."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    state = _numbered(_states(execution, batches))
    kinds = dict(state.dtypes)
    window = next(name for name, kind in kinds.items() if kind == "struct<start:timestamp,end:timestamp>")
    binaries = [name for name, kind in kinds.items() if kind == "binary" and name.startswith("value")]
    lists = binaries[-2:]  # the keys before them may be binary, too
    table = state.select(
        "batch",
        *[F.unix_micros(f"{window}.{edge}").alias(edge) for edge in ("start", "end")],
        *[F.col(name).alias(side) for side, name in Sides(*lists).items()],
    ).toPandas()
    found: dict[str, list[Value]] = {"batch": [], "side": [], "row": [], "start": [], "end": []}
    for batch, start, end, *values in table.itertuples(index=False):
        for side, value in Sides(*values).items():
            for row in _row_numbers(bytes(value), len(simulation.side(side).columns)):
                for name, cell in zip(found, (batch, side, row, start, end), strict=True):
                    found[name].append(cell)
    return [pd.DataFrame(found).astype({"batch": "int64", "row": "int64", "start": "int64", "end": "int64"})]


def _numbered(state: Any) -> Any:
    """The columns of key and value as ``key_0``, …, ``value_0``, …: Spark calls both lists of a session ``buf``."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import
    from pyspark.sql.types import StructField, StructType

    columns = []
    for part in ("key", "value"):
        fields = state.schema[part].dataType.fields
        renamed = [StructField(f"{part}_{place}", each.dataType) for place, each in enumerate(fields)]
        columns.append(F.col(part).cast(StructType(renamed)).alias(part))  # as text, timestamp may mean timestamp_ntz
    return state.select("batch", *columns).select("batch", "key.*", "value.*")


def _pairs(simulation: Simulation, execution: Execution, batches: Sequence[int]) -> list[pd.DataFrame]:
    """Rows in the state of a hash join, and left rows that are only in the aggregation after it any more."""
    states = {side: _states(execution, batches, operatorId="1", joinSide=side) for side in SIDES}
    found = [_of(side, f"value.{side}.{side}_{ROW}", state) for side, state in states.items()]
    found.append(_of("left", f"value.first.left_{ROW}", _states(execution, batches, operatorId="0")))
    return [_together(found).drop_duplicates()]


def _in_lists(
    simulation: Simulation, execution: Execution, batches: Sequence[int], variable: str
) -> list[pd.DataFrame]:
    """Rows in the state variable of a processor that holds all of a key in one value."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    state = _states(execution, batches, stateVarName=variable)
    found = []
    for side in SIDES:
        rows = state.select("batch", F.explode(f"value.{side}_rows").alias("kept"))
        found.append(_of(side, f"kept.{side}_{len(simulation.side(side).columns)}", rows))
    return [_together(found)]


def _in_maps(
    simulation: Simulation, execution: Execution, batches: Sequence[int], names: Mapping[Side, str]
) -> list[pd.DataFrame]:
    """Rows in the state variables of these names, each once, however many copies there are of it."""
    states = {side: _states(execution, batches, stateVarName=name) for side, name in names.items()}
    numbers = {side: f"user_map_value.{side}_{len(simulation.side(side).columns)}" for side in SIDES}
    return [_together([_of(side, numbers[side], state) for side, state in states.items()]).drop_duplicates()]


def _of(side: Side, number: str, state: Any) -> Any:
    """The rows of a side in a state, whose row numbers are in a field of it."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    none = [F.lit(0).cast("long").alias(edge) for edge in ("start", "end")]
    return state.select("batch", F.lit(side).alias("side"), F.col(number).alias("row"), *none)


def _together(parts: Sequence[Value]) -> pd.DataFrame:
    """Frames of Spark's as one of pandas, in one query: each takes its time to plan."""
    found: pd.DataFrame = reduce(lambda one, other: one.union(other), parts).toPandas()
    return found


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


_READERS: Mapping[Operator, Callable[[Simulation, Execution, Sequence[int]], list[pd.DataFrame]]] = {
    HASH_JOIN: _sides,
    AGGREGATION: _groups,
    CLOSEST_PAIR: _pairs,
}
