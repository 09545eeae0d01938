"""What a job must have put out: the model's pairs through the user's own operators above the join; and what it did."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa

from workbench.arrays import RowNumbers
from workbench.errors import QueryError, WorkbenchError
from workbench.jobs import catalyst, entering, replay, sides, sinks
from workbench.jobs.catalyst import Node, listed
from workbench.jobs.checkpoint import Checkpoint
from workbench.jobs.sinks import NotComparable, Sink
from workbench.jobs.sources import BATCH, PLACE
from workbench.jobs.understanding import Understood
from workbench.joins import emission
from workbench.kinds import kind_of
from workbench.literals import SIDES, Sides
from workbench.model import Simulation
from workbench.quoting import backticks
from workbench.sources.key_choice import Choice
from workbench.spark_io.cause import spark_errors_as
from workbench.spark_io.frames import of_arrow
from workbench.untyped import Record, Value

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["BEFORE", "compare", "emitted", "origins", "pairs"]

_SPELLED_OUT = 5
_ABOVE = frozenset(
    {"EventTimeWatermark", "Filter", "Generate", "Join", "Project", "ResolvedHint", "SubqueryAlias", "View"}
)
"""Operators above a join, through which each row goes by itself, in the micro-batch in which it came."""
_OF_THE_MOMENT = frozenset(
    {"CurrentBatchTimestamp", "CurrentDate", "CurrentTime", "CurrentTimestamp", "LocalTimestamp", "Now"}
)
_TEXT, _WEIGHT = "__text", "__weight"
_PAIRS = 1 << 62
"""From which `PLACE` on a row is one that came out of a join, rather than one of a source."""
BEFORE = -2
"""The origin of a row that was in state before the first micro-batch that is kept."""


def compare(
    spark: SparkSession, simulation: Simulation, known: Understood, logs: Checkpoint, *, choice: Choice, sink: Sink
) -> Record:
    """The line of `Job.comparison` on what the job put out, or on why that cannot be compared."""
    what = "rows that the job put out"
    try:
        with spark_errors_as(QueryError):
            return _compared(spark, simulation, known, logs, choice, sink)
    except WorkbenchError as error:
        return {"what": what, "model": None, "spark": None, "differences": None, "examples": f"not compared: {error}"}


def _compared(
    spark: SparkSession, simulation: Simulation, known: Understood, logs: Checkpoint, choice: Choice, sink: Sink
) -> Record:
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    above = _Above.of(known, _given_columns(known))
    model = replay.replayed(spark, known.plan, {}, inner={known.join: pairs(spark, simulation, known)})
    attributes = known.plan.output
    ids = [int(each.exprId().id()) for each in attributes]
    names = [str(each.name()) for each in attributes]
    spark_rows = sinks.rows(spark, sink, logs, _schema(known.plan))
    there = spark_rows.frame.columns
    fit = [name for name in dict.fromkeys(names) if names.count(name) == 1 and name in there]
    unknown = [name for each, name in zip(ids, names, strict=True) if each in above.unknown]
    shared = [name for name in fit if name not in unknown]
    if not shared:
        raise NotComparable("it has no column of the job's output whose values are known")
    model = model.toDF(*(f"c{place}" for place in range(len(names))), BATCH, PLACE)
    model = model.select(*(F.col(f"c{names.index(name)}").alias(name) for name in fit), BATCH)
    rows = spark_rows.frame
    if not choice.takes_all:
        key = _key_of(above, known, simulation, dict(zip(ids, names, strict=True)), fit)
        rows = _taken(rows, key, choice)
    numbered = [BATCH] if spark_rows.numbered else []
    types = {each.name: each.dataType for each in _schema(known.plan).fields}
    one = _as_text(model, shared, numbered, types, spark_rows.cut)
    other = _as_text(rows, shared, numbered, types, spark_rows.cut)
    left_out = [name for name in dict.fromkeys(names) if name not in shared]
    words = f"rows that the job put out{', by micro-batch' if numbered else ''}, by their {', '.join(shared)}"
    words += f"; not compared: {', '.join(left_out)}" if left_out else ""
    words += f"; {spark_rows.about}" if spark_rows.about else ""
    return {"what": words} | _counted(one, other)


def _counted(model: DataFrame, rows: DataFrame) -> Record:
    """How many rows there are of each, how many of one that the other has not, and some of these."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    both = model.withColumn(_WEIGHT, F.lit(1)).union(rows.withColumn(_WEIGHT, F.lit(-1)))
    found = both.groupBy(_TEXT).agg(
        F.sum(F.when(F.col(_WEIGHT) > 0, 1).otherwise(0)).alias("m"),
        F.sum(F.when(F.col(_WEIGHT) < 0, 1).otherwise(0)).alias("s"),
    )
    [total] = found.agg(
        F.coalesce(F.sum("m"), F.lit(0)).alias("m"),
        F.coalesce(F.sum("s"), F.lit(0)).alias("s"),
        F.coalesce(F.sum(F.abs(F.col("m") - F.col("s"))), F.lit(0)).alias("d"),
    ).collect()
    words = []
    if total["d"]:
        for each in found.where("m <> s").orderBy(_TEXT).limit(_SPELLED_OUT).collect():
            words.append(f"{'model' if each['m'] > each['s'] else 'Spark'} only: {each[_TEXT]}")
    return {
        "model": int(total["m"]),
        "spark": int(total["s"]),
        "differences": int(total["d"]),
        "examples": "; ".join(words),
    }


def _as_text(rows: DataFrame, names: list[str], numbered: list[str], types: Record, cut: bool) -> DataFrame:
    """Rows as JSON, alike whether values come from the plan or from files."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    places = "SSS" if cut else "SSSSSS"
    options = {
        "ignoreNullFields": "false",
        "timestampFormat": f"yyyy-MM-dd'T'HH:mm:ss.{places}XXX",
        "timestampNTZFormat": f"yyyy-MM-dd'T'HH:mm:ss.{places}",
        "timeZone": "UTC",
    }
    columns = [F.col(backticks(name)).cast(types[name]).alias(name) for name in names]
    number = [F.col(name).alias("micro-batch") for name in numbered]
    return rows.select(F.to_json(F.struct(*number, *columns), options).alias(_TEXT))


def _schema(node: Node) -> Any:
    from pyspark.sql.types import StructType  # when needed: PySpark is slow to import

    return StructType.fromJson(json.loads(node.java.schema().json()))


def _given_columns(known: Understood) -> dict[int, tuple[int, str]]:
    """The columns of the join whose values are known: by id their side and name, of a window no name."""
    found: dict[int, tuple[int, str]] = {}
    join = known.description.join
    windowed = join is not None and kind_of(join).windowed  # else a window is of its side, as any column
    for place in range(len(SIDES)):
        mine, shown = known.inputs[place], entering.columns(known, place)
        types = dict(zip(mine.columns, _schema(known.join.children[place]).fields, strict=True))
        for each, name in zip(shown.ids, shown.names, strict=False):
            if entering.in_arrow(types[each].dataType):
                found[each] = place, name
        windows = [each for each in mine.columns if mine.origin(each) in mine.windows]
        if windowed and len({mine.origin(each) for each in windows}) == 1:
            found |= dict.fromkeys(windows, (place, ""))
    return found


def pairs(spark: SparkSession, simulation: Simulation, known: Understood) -> DataFrame:
    """What comes out of the join by the model, in the join's own columns, those that are not known null.

    With `BATCH` and `PLACE`, so that it stands for the join where a plan is replayed, and with the event times of its
    watermarks in `workbench.jobs.replay.time_of`, but where a row comes out once for each of several windows.
    """
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    out = emitted(simulation)
    given = _given_columns(known)
    columns: Record = {}
    shown = []
    for each in known.join.output:
        number, kind = int(each.exprId().id()), str(each.dataType().sql())
        name = f"c{number}"
        if number not in given:
            shown.append(F.lit(None).cast(kind).alias(name))
            continue
        place, column = given[number]
        rows = out[SIDES[place]].to_numpy()
        if column:
            values = simulation.side(SIDES[place]).table.column(column)
            columns[name] = _as_spark_has_it(values.take(pa.array(rows, pa.int64(), mask=rows < 0)), kind)
            shown.append(F.col(name).cast(kind).alias(name))
        else:
            zone = None if "NTZ" in kind else "UTC"
            for edge in ("start", "end"):
                values = pa.array(out[edge].to_numpy(), pa.int64(), mask=rows < 0)
                columns[f"{name}_{edge}"] = values.cast(pa.timestamp("us", zone))
            window = F.struct(*(F.col(f"{name}_{edge}").alias(edge) for edge in ("start", "end"))).cast(kind)
            shown.append(F.when(F.col(f"{name}_start").isNotNull(), window).alias(name))
    columns[BATCH] = pa.array(out["batch"].to_numpy().astype(np.int64))
    columns[PLACE] = pa.array(_PAIRS + np.arange(len(out)))
    times: Record = {}
    if not any(simulation.outcome.assignments[side]["row"].duplicated().any() for side in SIDES):
        for side, mark in Sides(*known.marks).items():
            if mark is not None:
                rows = out[side].to_numpy()
                moments = pa.array(simulation.side(side).event_times, pa.int64())
                moments = moments.take(pa.array(rows, pa.int64(), mask=rows < 0))
                times[replay.time_of(mark)] = moments.cast(pa.timestamp("us", "UTC"))
    columns |= times
    frame = of_arrow(spark, pa.table(columns))
    return frame.select(*shown, BATCH, PLACE, *times)


def emitted(simulation: Simulation) -> pd.DataFrame:
    """The rows that come out of a join by the model, in the order in which `origins` numbers them.

    Columns as in `workbench.model.Outputs.emitted`, with Spark's numbers of the micro-batches. Those that came out
    before the first micro-batch that is kept, and in it, are not known.
    """
    out = simulation.outcome.outputs.emitted(emission(simulation.join).sides)
    out["batch"] += simulation.first
    return out[out["batch"] > simulation.first].reset_index(drop=True) if simulation.first else out


def origins(places: RowNumbers, count: int) -> RowNumbers:
    """Of the rows of a side of a join above another one, the row of `emitted` that each is.

    Parameters
    ----------
    places
        The `PLACE` of those that were read again.
    count
        How many there are; the first are those that were in state before the first micro-batch that is kept.

    Returns
    -------
    numpy.ndarray
        -1 of a row that comes from a source, `BEFORE` of one that was in state before.
    """
    held = np.full(count - len(places), BEFORE, dtype=np.int64)
    return np.concatenate([held, np.where(places >= _PAIRS, places - _PAIRS, -1)])


def _as_spark_has_it(values: Any, kind: str) -> Any:
    """Times with or without a zone as Spark's type has them, so that no session's zone shifts them."""
    if not pa.types.is_timestamp(values.type):
        return values
    if kind == "TIMESTAMP_NTZ":
        return values.cast(pa.timestamp("us"))
    return values if values.type.tz else values.cast(pa.timestamp("us", "UTC"))


@dataclass(frozen=True)
class _Above:
    """The operators above a join: what they make of its columns.

    Attributes
    ----------
    unknown
        The ids of columns whose values are not known: of other types, or other at each moment.
    origins
        For each column that is one of the join's under a new name, the id of that one.
    coalesced
        For each column that is the first of two of the join's that is not null, their ids.
    """

    unknown: frozenset[int]
    origins: dict[int, int]
    coalesced: dict[int, frozenset[int]]

    @classmethod
    def of(cls, known: Understood, given: dict[int, Any]) -> _Above:
        if known.join.kind != "Join":
            raise NotComparable("the join is written as groups, whose rows are told apart above it")
        output = replay.ids(known.join)
        unknown = {each for each in output if each not in given}
        origins = {each: each for each in output}
        coalesced: dict[int, frozenset[int]] = {}
        for node in reversed(list(_path(known.plan, known.join))):
            if node.kind not in _ABOVE:
                named = replay.IN_THE_WAY.get(node.kind, f"Spark's operator {node.kind}")
                raise NotComparable(f"above the join there is {named}, of which the model says nothing")
            if node.kind == "Project":
                for column, meaning in sides.defined(node):
                    used = {origins.get(each.id, each.id) for each in meaning.walk() if each.id is not None}
                    if _is_of_the_moment(meaning) or any(each in unknown for each in used):
                        unknown.add(column)
                    elif meaning.kind == "AttributeReference" and meaning.id in origins:
                        origins[column] = origins[meaning.id]
                    elif meaning.kind == "AttributeReference" and meaning.id in coalesced:
                        coalesced[column] = coalesced[meaning.id]
                    elif meaning.kind == "Coalesce" and all(each.id in origins for each in meaning.children):
                        coalesced[column] = frozenset(
                            origins[each.id] for each in meaning.children if each.id is not None
                        )
            elif node.kind in ("Filter", "Generate", "Join"):
                cls._check_decided(node, unknown)
        return cls(frozenset(unknown), origins, coalesced)

    @staticmethod
    def _check_decided(node: Node, unknown: set[int]) -> None:
        """Refuse an operator that lets rows through by what is not known."""
        used = {int(each.exprId().id()) for each in _references(node)}
        expressions = listed(node.java.expressions())
        if used & unknown or not all(bool(each.deterministic()) for each in expressions):
            raise NotComparable(f"above the join there is a {node.kind.lower()} by columns whose values are not known")
        condition = catalyst.expressions(node, "condition") if node.kind == "Filter" else []
        if any(_is_of_the_moment(each) for each in condition):
            raise NotComparable("above the join there is a filter by the time of day")


def _references(node: Node) -> Iterator[Value]:
    for each in listed(node.java.expressions()):
        yield from listed(each.references().toSeq())


def _is_of_the_moment(meaning: Node) -> bool:
    return any(each.kind in _OF_THE_MOMENT for each in meaning.walk()) or not bool(meaning.java.deterministic())


def _path(plan: Node, join: Node) -> Iterator[Node]:
    """The operators from the top of a plan down to the join, without the join."""
    node = plan
    while node is not join:
        yield node
        streaming = [each for each in node.children if bool(each.java.isStreaming())]
        if len(streaming) != 1:
            raise NotComparable(f"above the join there is Spark's operator {node.kind} of several streams")
        [node] = streaming


def _key_of(
    above: _Above, known: Understood, simulation: Simulation, names: dict[int, str], fit: list[str]
) -> list[tuple[str, ...]]:
    """For each part of the key the output's columns that tell it: the first of them that is not null."""
    wanted = [SIDES.index(side) for side in emission(simulation.join).padded] or [0, 1]
    alone = not emission(simulation.join).padded
    found: list[tuple[str, ...]] = []
    for pair in known.keys:
        of_side = {
            place: name
            for column, name in names.items()
            for place in range(len(SIDES))
            if name in fit and column in above.origins and above.origins[column] == pair[place]
        }
        both = next(
            (names[column] for column, ids in above.coalesced.items() if ids == set(pair) and names.get(column) in fit),
            None,
        )
        if alone and of_side:
            found.append((next(iter(of_side.values())),))
        elif both is not None:
            found.append((both,))
        elif all(place in of_side for place in wanted):
            found.append(tuple(of_side[place] for place in wanted))
        else:
            raise NotComparable("some keys are taken, and the key is not among its columns")
    return found


def _taken(rows: DataFrame, key: list[tuple[str, ...]], choice: Choice) -> DataFrame:
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    parts = [f"__key_{place}" for place in range(len(key))]
    for part, columns in zip(parts, key, strict=True):
        rows = rows.withColumn(part, F.coalesce(*(F.col(backticks(each)) for each in columns)))
    return choice.of(rows, parts).drop(*parts)
