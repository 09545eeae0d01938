"""The rows that groups hold in state, from the lists in which they are collected; nothing is written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from workbench.arrays import Counts, RowNumbers
from workbench.errors import WorkbenchError
from workbench.jobs import entering, held
from workbench.jobs.group_lists import Collected
from workbench.jobs.groups import Groups
from workbench.jobs.sources import BATCH
from workbench.jobs.unsafe_rows import NotDecodable, entries
from workbench.joins import Join
from workbench.kinds import kind_of
from workbench.literals import SIDES
from workbench.spark_io.cause import spark_errors_as
from workbench.spark_io.frames import arrow_schema
from workbench.untyped import Value

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from workbench.jobs.checkpoint import Checkpoint
    from workbench.jobs.understanding import Understood
    from workbench.sources.key_choice import Choice

__all__ = ["HeldRows", "NotReadable", "rows"]

_SESSIONS = "sessionWindowStateStoreSaveExec"
_OPERATORS = (_SESSIONS, "stateStoreSave")
"""What Spark calls an aggregation in a checkpoint: of sessions, and of all else."""
_BUFFER = "buf"
"""What Spark calls a list in an aggregation's state."""
_END = "__end"
_LIST = "__list"


class NotReadable(WorkbenchError):  # noqa: N818 - it is caught, and becomes a sentence
    """Why the rows in groups cannot be read, as the end of a sentence."""


@dataclass(frozen=True)
class HeldRows:
    """The rows of a side that groups hold.

    Attributes
    ----------
    table
        The side's columns, null where groups do not collect them, with `BATCH`, and `START`: the start of the group's
        window, in microseconds since 1970-01-01 UTC.
    collected
        The names of the columns that are as the rows had them.
    in_sessions
        Whether the groups are sessions.
    has_times
        Whether the event times are those of the rows. If not, each is the start of its window; of sessions they are
        spread evenly over the session.
    """

    table: pa.Table
    collected: tuple[str, ...]
    in_sessions: bool
    has_times: bool


def rows(
    spark: SparkSession, known: Understood, place: int, *, logs: Checkpoint, batch: int, choice: Choice
) -> HeldRows:
    """The rows of a side that groups hold after a micro-batch, once for each window.

    Raises
    ------
    NotReadable
        If their state does not have them.
    QueryError
        If it cannot be read.
    """
    groups, join = known.groups, known.description.join
    if groups is None or join is None:
        raise NotReadable("the groups are not understood")
    lists = {number: each for number, each in enumerate(groups.lists) if each is not None}
    if not any(each.side == place for each in lists.values()):
        raise NotReadable(f"they collect no rows of the {SIDES[place]} side that are understood")
    shown = entering.columns(known, place)
    state, in_sessions = _state(spark, groups, shown.key, logs.address, batch)
    with spark_errors_as(held.unreadable(batch)):
        table = choice.of(state, shown.key).toArrow()
    decoded = {number: _decoded(table.column(f"{_LIST}{number}"), each) for number, each in lists.items()}
    counts = [
        _counts(len(table), [decoded[number] for number, each in lists.items() if each.side == side])
        for side in range(len(SIDES))
    ]
    group = np.repeat(np.arange(len(table)), counts[place])
    values: dict[int, Any] = {}
    for number, each in lists.items():
        if each.side == place:
            values |= _columns(each, decoded[number], counts[place])
    for pair, name in zip(known.keys, shown.key, strict=True):
        values[pair[place]] = table.column(name).take(group).to_pylist()
    starts, ends = (table.column(name).to_numpy() for name in (entering.START, _END))
    time = known.times[place]
    has_times = shown.with_time and time in values
    at = _spread(starts, ends - _reach(join), counts, place) if in_sessions else starts[group]
    types = _types(spark, known, place)
    names = dict(zip(shown.ids, shown.names, strict=False))
    filled = {name: pa.array(values.get(column, [None] * len(group)), types[column]) for column, name in names.items()}
    if not has_times:
        kind = types[time] if shown.with_time and time is not None else pa.timestamp("us", "UTC")
        filled[shown.time] = pa.array(at, pa.timestamp("us")).cast(kind)
    filled[BATCH] = pa.array(np.full(len(group), batch), pa.int64())
    filled[entering.START] = pa.array(starts[group], pa.int64())
    collected = tuple(name for column, name in names.items() if column in values)
    return HeldRows(pa.table(filled), collected, in_sessions, has_times)


def _state(spark: SparkSession, groups: Groups, key: Sequence[str], address: str, batch: int) -> tuple[DataFrame, bool]:
    """Groups in state: their keys, `START` and `_END`, the bytes of their lists; and whether they are sessions."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    found = [(number, name) for number, name in held.operators(spark, address) if name in _OPERATORS]
    if len(found) != 1:
        raise NotReadable(f"the checkpoint has the state of {len(found)} aggregations")
    [(operator, name)] = found
    in_sessions = name == _SESSIONS
    state = held.reader(spark, batch, operatorId=operator).load(address)
    parts = ["value"] if in_sessions else ["key", "value"]
    named = [each.name for part in parts for each in held.fields(state, part)]
    flat = state.select(*(held.numbered(state, part) for part in parts)).select(*(f"{part}.*" for part in parts))
    flat, width = flat.toDF(*(f"c{number}" for number in range(len(named)))), len(groups.grouped)
    buffers = [number for number, each in enumerate(named) if number >= width and each == _BUFFER]
    if len(buffers) != len(groups.lists):
        raise NotReadable(f"their state has {len(buffers)} lists, and joined collects {len(groups.lists)}")
    window = f"c{groups.grouped.index('window')}"
    shown = [F.col(f"c{groups.grouped.index(place)}").alias(name) for place, name in enumerate(key)]
    shown += [
        F.unix_micros(f"{window}.{edge}").alias(name) for edge, name in (("start", entering.START), ("end", _END))
    ]
    shown += [F.col(f"c{number}").alias(f"{_LIST}{place}") for place, number in enumerate(buffers)]
    return flat.select(*shown), in_sessions


def _decoded(held_lists: pa.ChunkedArray, each: Collected) -> list[list[Value]]:
    try:
        return [entries(data, _kind(each)) for data in held_lists.to_pylist()]
    except NotDecodable as error:
        raise NotReadable(f"a list has values of type {error}") from None


def _kind(each: Collected) -> Any:
    from pyspark.sql.types import DataType  # when needed: PySpark is slow to import

    return DataType.fromDDL(each.kind)


def _counts(groups: int, lists: list[list[list[Value]]]) -> Counts:
    """How many rows of a side each group has: as many as the longest list, as lists leave nulls out."""
    lengths = [[len(each) for each in one] for one in lists]
    return np.max(lengths, axis=0).astype(np.int64) if lengths and groups else np.zeros(groups, dtype=np.int64)


def _columns(each: Collected, decoded: list[list[Value]], counts: Counts) -> Iterator[tuple[int, list[Value]]]:
    """The columns of a list's entries; none where nulls were left out, as then nobody knows which rows had them."""
    if [len(one) for one in decoded] != counts.tolist():
        return
    values = [entry for one in decoded for entry in one]
    if each.column is not None:
        kind = _kind(each)
        yield each.column, [_named(value, kind) for value in values]
    for place, column in enumerate(each.fields):
        if column is not None:
            yield column, [value[place] for value in values]


def _named(value: Value, kind: Value) -> Any:
    """A value as Arrow takes it: structs with the names of their fields."""
    if value is None:
        return None
    if kind.typeName() == "array":
        return [_named(each, kind.elementType) for each in value]
    if kind.typeName() == "struct":
        return {each.name: _named(one, each.dataType) for each, one in zip(kind.fields, value, strict=True)}
    return value


def _reach(join: Join) -> int:
    """How long after a row's time its session ends, if no other row comes."""
    [window] = kind_of(join).assign(join, np.zeros(1, dtype=np.int64)).to_dict("records")
    return int(window["end"] - window["start"])


def _spread(first: RowNumbers, last: RowNumbers, counts: list[Counts], place: int) -> RowNumbers:
    """Times of a side's rows between the first and the last of their session, no two further apart than they were."""
    total, before = sum(counts), counts[0] if place else np.zeros_like(counts[0])
    group = np.repeat(np.arange(len(first)), counts[place])
    number = np.arange(len(group)) - np.repeat(np.cumsum(counts[place]) - counts[place], counts[place]) + before[group]
    steps = np.maximum(total - 1, 1)[group]
    return first[group] + (last - first)[group] * number // steps


def _types(spark: SparkSession, known: Understood, place: int) -> dict[int, pa.DataType]:
    """The types of a side's columns in Arrow, by id."""
    from pyspark.sql.types import StructField, StructType  # when needed: PySpark is slow to import

    schema = StructType.fromJson(json.loads(known.join.children[place].java.schema().json()))
    schema = StructType([StructField(f"c{number}", each.dataType) for number, each in enumerate(schema.fields)])
    return dict(zip(known.inputs[place].columns, arrow_schema(spark, schema).types, strict=True))
