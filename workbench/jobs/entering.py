"""The rows of each side as they entered a job's join, micro-batch by micro-batch, and what it held before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrays import Batches, RowNumbers
from workbench.errors import ArgumentError, QueryError, TooLargeError, excerpt
from workbench.jobs import conditions, held, repeats, replay, sides
from workbench.jobs.catalyst import Node, columns_in, expressions, name_of_watermark
from workbench.jobs.checkpoint import LATEST, Checkpoint
from workbench.jobs.clock import Clock, planned_at
from workbench.jobs.repeats import OF
from workbench.jobs.sources import BATCH, PLACE
from workbench.jobs.understanding import Understood
from workbench.joins import Join
from workbench.kinds import kind_of
from workbench.literals import SIDES, Side
from workbench.quoting import backticks
from workbench.sources.key_choice import Choice, micros_of
from workbench.spark_io.cause import spark_errors_as
from workbench.streams import NOTHING
from workbench.untyped import Value

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = [
    "AS_JSON",
    "MOST_ROWS",
    "START",
    "Columns",
    "Entered",
    "Held",
    "arrival",
    "check_size",
    "columns",
    "compares_times",
    "each_once",
    "edge_of_window",
    "entered",
    "held_before",
    "in_arrow",
    "is_one_watermark",
    "kept_columns",
    "named_by_id",
    "needed",
    "newest",
    "none",
    "survivors",
    "to_arrow",
]

MOST_ROWS = 5_000_000
"""Rows of a side that are taken into memory at most."""
START = "__start"
"""The start of the window for which a row is in state, in microseconds since 1970-01-01 UTC; null without windows."""
_PLAIN = frozenset(
    {"binary", "boolean", "byte", "char", "date", "decimal", "double", "float", "integer", "long", "short", "string"}
    | {"timestamp", "timestamp_ntz", "varchar"}
)
"""The types of Spark's that streams have columns of, beside lists and structs of them."""
_NESTED = frozenset({"array", "map", "struct", "variant"})
AS_JSON = {"ignoreNullFields": "false", "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}
"""How columns of types that streams do not have become JSON: no field and no part of a second is lost."""
_OF_WINDOWS = 68_719_476_000
"""What Spark takes as the time of a window on which a watermark is set: where its struct lies in the row, in µs."""
_UNREADABLE = "the rows of the job's sources cannot be read"
_KEEP_ROWS = frozenset({"EventTimeWatermark", "Filter", "Project", "SubqueryAlias", "View"})
"""Operators that drop no rows but by a condition."""


@dataclass(frozen=True)
class Columns:
    """The columns of a side that are shown.

    Attributes
    ----------
    ids
        Their ids, in order, as they enter the join; its windows are left out, which the workbench computes itself.
    names
        What each is called; one name is that of one column.
    key
        The names of the key columns.
    time
        The name of the event time.
    with_time
        Whether the event time enters the join; if not, as where only its window does, it is the last name, without id.
        A side without any has the time at which the micro-batch was planned.
    """

    ids: tuple[int, ...]
    names: tuple[str, ...]
    key: tuple[str, ...]
    time: str
    with_time: bool


@dataclass(frozen=True)
class Held:
    """Rows of a side that a join held in state.

    Attributes
    ----------
    table
        Their columns, `BATCH`, `workbench.jobs.held.MATCHED` and `START`; what Spark did not keep is null.
    columns
        What they are; without the event time where Spark did not keep it, and the start of the window stands for it.
    untimed
        How many more there are that have no event time, or one that is later than `LATEST`.
    """

    table: pa.Table
    columns: Columns
    untimed: int


def columns(known: Understood, place: int) -> Columns:
    """The columns of a side, left (0) or right (1).

    Raises
    ------
    ArgumentError
        If it has no event time.
    """
    mine, time = known.inputs[place], known.times[place]
    own = mine.grouped is not None  # then each row has one window, which is not computed here
    keys = {pair[place] for pair in known.keys}
    shown = {
        each: name
        for each, name in mine.columns.items()
        if own or each in keys or mine.origin(each) not in mine.windows
    }
    names: dict[int, str] = {}
    for each, name in shown.items():
        while name in names.values():
            name += "_"
        names[each] = name
    key = tuple(names[pair[place]] for pair in known.keys)
    if time is not None:
        return Columns(tuple(names), tuple(names.values()), key, names[time], True)
    apart = known.description.left.time if place == 0 else known.description.right.time
    if not apart and not compares_times(known):
        apart = "planned_at"
    if not apart or (known.marks[place] is None and compares_times(known)):
        raise ArgumentError(f"joined: no event time was found on the {SIDES[place]} side")
    while apart in names.values():
        apart += "_"
    return Columns(tuple(names), (*names.values(), apart), key, apart, False)


@dataclass(frozen=True)
class Entered:
    """The rows of a side that came to the join, in order, and those that left on the way.

    Attributes
    ----------
    table
        Their columns, `BATCH` (Spark's numbers) and `PLACE`.
    left_at
        For each the number of the step that took it out, and -1 where it came to the join.
    steps
        The steps, in words.
    untimed
        Those without an event time: the columns of the table.
    beyond
        Those whose event time lies after `LATEST`, which no stream holds: the columns of the table.
    """

    table: pa.Table
    left_at: RowNumbers
    steps: tuple[str, ...]
    untimed: pa.Table
    beyond: pa.Table


def entered(
    spark: SparkSession,
    known: Understood,
    place: int,
    sources: Mapping[frozenset[int], DataFrame],
    choice: Choice,
    *,
    inner: Mapping[Node, DataFrame] | None = None,
    clock: Clock | None = None,
) -> Entered:
    """The rows of a side that its plan gives to the join, and those that its filters take out.

    Of a plan that fails on the rows that a filter takes out, those that come to the join only.

    Raises
    ------
    NotReplayable
        If they cannot be followed through the plan.
    QueryError
        If Spark fails to read them.
    """
    steps = replay.Steps()
    try:
        with spark_errors_as(_UNREADABLE):
            table = _entered(spark, known, place, sources, choice, inner, clock, steps)
    except QueryError:  # an operator above a filter may fail on what that takes out
        steps = replay.Steps()
        table = _entered(spark, known, place, sources, choice, inner, clock, None)
    came, untimed, beyond = _by_time(table, columns(known, place).time)
    if replay.LEFT_AT not in table.column_names:
        return Entered(came, np.full(came.num_rows, -1), (), untimed, beyond)
    left_at = came.column(replay.LEFT_AT).fill_null(-1).to_numpy().astype(np.int64)
    apart = (each.filter(pc.is_null(each.column(replay.LEFT_AT))) for each in (untimed, beyond))
    words = tuple(steps.words)
    if steps.of_others:
        times = came.column(columns(known, place).time).cast(pa.int64()).to_pylist()
        own = list(zip(times, came.column(BATCH).to_pylist(), strict=True))
        left_at, words = repeats.told(left_at, words, came.column(OF).to_pylist(), own)
    extra = [name for name in (replay.LEFT_AT, OF) if name in came.column_names]
    came, untimed, beyond = (each.drop_columns(extra) for each in (came, *apart))
    return Entered(came, left_at, words, untimed, beyond)


def none(spark: SparkSession, known: Understood, place: int) -> pa.Table:
    """The columns of a side and `BATCH`, and no row."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    mine = columns(known, place)
    types = dict(zip(known.inputs[place].columns, _fields(known, place), strict=True))
    shown = [
        F.lit(None).cast(str(types[each].dataType().sql())).alias(name)
        for each, name in zip(mine.ids, mine.names, strict=False)
    ]
    if not mine.with_time:
        shown.append(F.lit(None).cast("timestamp").alias(mine.time))
    return to_arrow(spark.range(0).select(*shown, F.col("id").alias(BATCH)))


def _by_time(table: pa.Table, time: str) -> tuple[pa.Table, pa.Table, pa.Table]:
    """The rows of a table whose time a stream holds, those without one, and those whose time is later than `LATEST`."""
    valid = pc.is_valid(table.column(time))
    later = pc.fill_null(pc.greater(pc.cast(table.column(time), pa.int64()), LATEST), False)
    return table.filter(pc.and_not(valid, later)), table.filter(pc.invert(valid)), table.filter(later)


def _entered(
    spark: SparkSession,
    known: Understood,
    place: int,
    sources: Mapping[frozenset[int], DataFrame],
    choice: Choice,
    inner: Mapping[Node, DataFrame] | None,
    clock: Clock | None,
    steps: replay.Steps | None,
) -> pa.Table:
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    mine = columns(known, place)
    time = None if mine.with_time else known.marks[place]
    rows = replay.replayed(spark, known.join.children[place], sources, time, inner, steps=steps, clock=clock)
    every = tuple(known.inputs[place].columns)
    timed = [] if mine.with_time or time is None else [replay.TIME]
    carried = [BATCH, PLACE, *timed, *([] if steps is None else [replay.LEFT_AT])]
    of = [OF] if steps is not None and steps.of_others else []
    carried += of
    rows = rows.toDF(*(f"c{each}" for each in every), *carried)
    if any(node.kind == "Expand" for node in known.join.children[place].walk()):  # a row for each of its windows
        rows = rows.dropDuplicates([BATCH, PLACE])
    shown: list[str | Column] = [
        f"c{each} AS {backticks(name)}" for each, name in zip(mine.ids, mine.names, strict=False)
    ]
    if not mine.with_time and time is None and clock is not None:
        shown.append(planned_at(clock).alias(mine.time))
    elif not mine.with_time:
        time_ = F.col(replay.TIME)
        if dict(rows.dtypes)[replay.TIME].startswith("struct"):  # a window, which is where its watermark is set
            time_ = F.col(f"{replay.TIME}.start")
        elif known.inputs[place].grouped is not None and edge_of_window(known) == "start":
            time_ = F.timestamp_micros(F.unix_micros(time_) - _size(known, place))
        shown.append(time_.alias(mine.time))
    if mine.with_time and clock is not None and not compares_times(known):
        at = mine.names.index(mine.time)
        shown[at] = F.coalesce(F.col(f"c{mine.ids[at]}"), planned_at(clock)).alias(mine.time)
    with_steps = [] if steps is None or not steps.words else [replay.LEFT_AT]
    rows = _selected(rows, [*shown, BATCH, PLACE, *with_steps, *of])
    return to_arrow(choice.of(rows, mine.key).sort(BATCH, PLACE))


def _selected(rows: DataFrame, columns: Sequence[str | Column]) -> DataFrame:
    """Some columns of rows, each a column of Spark's or SQL: SQL asks the JVM once, a column several times."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    texts = [each for each in columns if isinstance(each, str)]
    if len(texts) == len(columns):
        return rows.selectExpr(*texts)
    return rows.select(*(F.expr(each) if isinstance(each, str) else each for each in columns))


def survivors(
    spark: SparkSession,
    known: Understood,
    place: int,
    optimised: Node,
    *,
    sources: Mapping[frozenset[int], DataFrame],
    choice: Choice,
    clock: Clock | None = None,
) -> pa.Table | None:
    """`BATCH` and `PLACE` of the rows that filters let through, which Spark pushes below the join, and the watermark.

    Parameters
    ----------
    spark, known, place, sources, choice, clock
        As in `entered`.
    optimised
        The join in the plan that Spark runs.
    """
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    side = optimised.children[place]
    ids = list(side.ids)
    try:
        rows = _that_come(spark, side, sources, clock).toDF(*(f"c{each}" for each in ids), BATCH, PLACE)
    except replay.NotReplayable:
        return None
    keys = [pair[place] for pair in known.keys]
    if all(each in ids for each in keys):
        names = [f"c{each}" for each in keys]
        rows = choice.of(rows, names)
    with spark_errors_as(_UNREADABLE):
        return rows.select(F.col(BATCH), F.col(PLACE)).distinct().toArrow()


def _that_come(
    spark: SparkSession, plan: Node, sources: Mapping[frozenset[int], DataFrame], clock: Clock | None
) -> DataFrame:
    """The columns of a plan, `BATCH` and `PLACE`, of the rows that no operator of it takes out."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    steps = replay.Steps() if any(each.kind in replay.REPEATS for each in plan.walk()) else None
    rows = replay.replayed(spark, plan, sources, steps=steps, clock=clock)
    if steps is None:
        return rows
    names = [f"c{at}" for at in range(len(rows.columns) - 4)]
    rows = rows.toDF(*names, BATCH, PLACE, replay.LEFT_AT, OF)
    return rows.where(F.col(replay.LEFT_AT).isNull()).drop(replay.LEFT_AT, OF)


def needed(known: Understood, place: int, optimised: Node) -> list[str] | None:
    """The columns of a side that must not be null, if filters which Spark pushes below the join ask for nothing else.

    Returns
    -------
    list or None
        Their names; empty where no filter is pushed. None: there is more, so that `survivors` has to be asked.
    """
    mine, shown = known.inputs[place], columns(known, place)
    types = dict(zip(mine.columns, _fields(known, place), strict=True))
    names = {
        one: name
        for each, name in zip(shown.ids, shown.names, strict=False)
        if str(types[each].dataType().typeName()).partition("(")[0] in _PLAIN
        for one in mine.lineage(each)
    }
    found = []
    for node in optimised.children[place].walk():
        if node.children and node.kind not in _KEEP_ROWS:
            return None
        for each in expressions(node, "condition") if node.kind == "Filter" else []:
            for part in (one for conjunct in conditions.conjuncts(each) for one in conjunct.parts):
                column = part.children[0].id if part.kind == "IsNotNull" else None
                if column is None or column not in names:
                    return None
                found.append(names[column])
    return list(dict.fromkeys(found))


def held_before(
    spark: SparkSession, known: Understood, place: int, *, logs: Checkpoint, batch: int, choice: Choice
) -> Held:
    """The rows of a side that a join held after a micro-batch, once for each window that they are in.

    Spark keeps what is used above the join, so that the event time may not be among it. Of a window join the start of
    the window stands for it then; of a join that compares no times, the time of the micro-batch.
    """
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    mine, side, edges = columns(known, place), SIDES[place], known.inputs[place].edges
    rows = held.joined_rows(spark, logs.address, batch, side, operator=logs.operators.get(known.join))
    in_state = rows.columns[:-1]
    kept = kept_columns(known, place, in_state)
    rows = rows.toDF(*named_by_id(kept), held.MATCHED)
    other_name = _under_another_name(known, place, kept)
    if mine.with_time and known.times[place] not in kept and other_name is None:
        mine = replace(mine, with_time=False)
    types = dict(zip(known.inputs[place].columns, _fields(known, place), strict=True))
    shown = []
    windows = (f"c{each}" for each in kept if each is not None and _is_window(known, place, each))
    window = next(windows, None)
    edge = edge_of_window(known) if known.inputs[place].grouped is not None else "start"  # which is in the same windows
    stands_in = F.lit(None) if window is None else F.col(f"{window}.{edge}")
    at_edge = next((each for each in kept if each is not None and known.inputs[place].origin(each) in edges), None)
    after_end = None if at_edge is None else (f"c{at_edge}", edges[known.inputs[place].origin(at_edge)])
    if after_end is None:
        after_end = _edge_taken_out(known, place, in_state)
    if window is None and after_end is not None:
        shift = -after_end[1] - (_size(known, place) if edge == "start" else 0)
        stands_in = F.timestamp_micros(F.unix_micros(after_end[0]) + shift)
    stands_in = stands_in if other_name is None else F.col(f"c{other_name}")
    started = F.timestamp_millis(
        F.lit(next(each.started for each in logs.batches if each.number == batch)).cast("long")
    )
    compared = compares_times(known)
    if window is None and after_end is None and other_name is None and not mine.with_time and not compared:
        stands_in = started
    for each, name in zip(mine.ids, mine.names, strict=False):
        column = stands_in if name == mine.time else F.lit(None)
        column = F.col(f"c{each}") if each in kept else column.cast(str(types[each].dataType().sql()))
        column = F.coalesce(column, started) if name == mine.time and not compared else column
        shown.append(column.alias(name))
    if len(mine.names) > len(mine.ids):
        shown.append(stands_in.cast("timestamp").alias(mine.time))
    start = F.lit(None).cast("long") if window is None else F.unix_micros(f"{window}.start")
    number = F.lit(batch).cast("long").alias(BATCH)
    chosen = choice.of(rows.select(*shown, number, held.MATCHED, start.alias(START)), mine.key)
    if window is None and after_end is None and not mine.with_time and compared:
        return Held(to_arrow(chosen.limit(0)), mine, chosen.count())
    table = to_arrow(chosen)
    timed, _, _ = _by_time(table, mine.time)
    return Held(timed, mine, table.num_rows - timed.num_rows)


def _edge_taken_out(known: Understood, place: int, names: Sequence[str]) -> tuple[str, int] | None:
    """The column in state that is an end of an aggregate's window, and how far after its end it is, in µs.

    Spark takes ``window.end`` out below the join where that is all of the window that is used. The column is called as
    `named_by_id` calls it, of the names of the columns in state.
    """
    mine, run = known.inputs[place], known.run
    if mine.grouped is None or run is None:
        return None
    side = run.children[place]
    called = {str(each.name()): int(each.exprId().id()) for each in side.output}
    found = sides.edges(side.walk(), mine.origins, mine.grouped)
    taken = ((f"x{at}", found[called[name]]) for at, name in enumerate(names) if called.get(name) in found)
    return next(taken, None)


def _is_window(known: Understood, place: int, column: int) -> bool:
    """Whether a column of a side is a window of its event time."""
    mine = known.inputs[place]
    return mine.origin(column) in mine.windows


def compares_times(known: Understood) -> bool:
    """Whether which rows meet depends on their event times."""
    join = known.description.join
    if join is None or kind_of(join).windowed or kind_of(join).limits(join):
        return True
    asked = {column for each in known.rest for column in columns_in(each)}
    asked |= {each for pair in known.keys for each in pair}
    for mine, time in zip(known.inputs, known.times, strict=True):
        if time is not None and any(mine.origin(each) == mine.origin(time) for each in asked if each in mine.columns):
            return True
    return False


def edge_of_window(known: Understood) -> str:
    """Which end of its window is the event time of an aggregate: where windows are joined, one that is within it."""
    join = known.description.join
    return "start" if join is not None and kind_of(join).windowed else "end"


def _size(known: Understood, place: int) -> int:
    """How long the windows of an aggregated side are, in microseconds."""
    grouped = known.inputs[place].grouped
    return 0 if grouped is None or grouped.size is None else grouped.size


def _under_another_name(known: Understood, place: int, kept: Sequence[int | None]) -> int | None:
    """The column in state that is the event time under another name, where Spark keeps only that; None: none is."""
    mine, time = known.inputs[place], known.times[place]
    if time is None or time in kept:
        return None
    return next((each for each in kept if each is not None and mine.origin(each) == mine.origin(time)), None)


def each_once(join: Join, mine: Columns, rows: pa.Table) -> pa.Table:
    """The rows of `held_before`, each once, where a join puts a row into state once for each of its windows.

    Rows whose kept columns are equal are told apart by how many of them are in each window: each is in all windows
    that hold the start of its latest one, but for those that have left the state.
    """
    kind = kind_of(join)
    if not kind.windowed or not rows.num_rows:
        return rows.drop_columns([START])
    starts = np.unique(rows.column(START).to_numpy())
    spans = kind.assign(join, starts)
    if len(spans) == len(starts):
        return rows.drop_columns([START])
    windows = {int(starts[row]): set(each["start"]) for row, each in spans.groupby("row")}
    names = [name for name in mine.names if mine.with_time or name != mine.time]
    values = [pd.Series(rows.column(name).to_pylist(), dtype=object).astype(str) for name in names]
    table = pd.DataFrame({"group": 0, "start": rows.column(START).to_numpy()})
    if values:
        table["group"] = pd.concat(values, axis=1, keys=range(len(values))).groupby(list(range(len(values)))).ngroup()
    kept: list[int] = []
    for _, mates in table.groupby("group"):
        latest: list[int] = []
        for start, places in sorted(mates.groupby("start").groups.items(), reverse=True):
            later = sum(start in windows[each] for each in latest)
            new = list(places)[later:]
            latest += [int(start)] * len(new)
            kept += [int(each) for each in new]
    return rows.take(np.array(sorted(kept), dtype=np.int64)).drop_columns([START])


def _fields(known: Understood, place: int) -> list[Value]:
    return list(known.join.children[place].java.schema().fields())


def kept_columns(known: Understood, place: int, names: Sequence[str]) -> list[int | None]:
    """The ids of the columns that are in state, by their names; None of one that Spark computes below the join.

    Spark takes a field of a struct out below the join where that is all that is used above it.

    Raises
    ------
    ArgumentError
        If a name is none of the side's columns: then the state is that of another query.
    """
    mine = known.inputs[place]
    left = list(mine.columns.items())
    found: list[int | None] = []
    run = () if known.run is None else known.run.children[place].output
    computed = {str(each.name()) for each in run if int(each.exprId().id()) not in mine.columns}
    for name in names:
        match = next((each for each in left if each[1] == name), None)
        if match is None and name == "window":  # as Spark calls it where it is renamed afterwards
            match = next((each for each in left if mine.origin(each[0]) in mine.windows), None)
        if match is None and name in computed:
            found.append(None)
            continue
        if match is None:
            raise ArgumentError(
                f"checkpoint: the state of its {SIDES[place]} side has a column {excerpt(name)}, "
                f"which the {SIDES[place]} "
                "side of joined has not: it is the checkpoint of another query; give the DataFrame that this one runs"
            )
        left.remove(match)
        found.append(match[0])
    return found


def named_by_id(ids: Sequence[int | None]) -> list[str]:
    """Names of the columns that `kept_columns` gives: ``c`` and the id; those without one are apart from them."""
    return [f"x{at}" if each is None else f"c{each}" for at, each in enumerate(ids)]


def to_arrow(rows: DataFrame) -> pa.Table:
    """Rows in Arrow, columns of types that streams do not have as JSON."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    fields = rows.schema.fields
    if not all(in_arrow(each.dataType) for each in fields):
        rows = rows.select(
            *(
                F.col(backticks(each.name))
                if in_arrow(each.dataType)
                else _as_text(backticks(each.name), each.dataType).alias(each.name)
                for each in fields
            )
        )
    with spark_errors_as(_UNREADABLE):
        return rows.toArrow()


def _as_text(column: str, kind: Value) -> Column:
    """A column of a type that streams do not have as text: JSON, or what Spark prints, as of an interval."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    if kind.typeName() not in _NESTED:
        return F.col(column).cast("string")
    return F.to_json(column, AS_JSON)


def in_arrow(kind: Value) -> bool:
    """Whether streams have columns of a type of Spark's."""
    name = kind.typeName()
    if name == "array":
        return in_arrow(kind.elementType)
    if name == "struct":
        return bool(kind.fields) and all(in_arrow(each.dataType) for each in kind.fields)
    return name in _PLAIN


def newest(
    spark: SparkSession,
    optimised: Sequence[Node],
    times: Sequence[int | None],
    sources: Mapping[frozenset[int], DataFrame],
    clock: Clock | None = None,
) -> list[dict[int, tuple[int, int]] | None]:
    """For each micro-batch (Spark's number) the newest event time where a watermark is set, and how many rows came.

    Of two sides that have one watermark it is the newest of both.

    Parameters
    ----------
    spark
        The session.
    optimised
        For each side the whole plan as Spark runs it, in which filters may have been pushed below the watermark.
    times
        For each side the id of the event time.
    sources, clock
        As `workbench.jobs.replay.replayed` takes them.

    Returns
    -------
    list of dict or None
        For each side microseconds since 1970-01-01 UTC, or `NOTHING`, and a count; None where the rows cannot be
        followed.
    """
    asked = [
        _newest(spark, plan, time, sources, clock, place)
        for place, (plan, time) in enumerate(zip(optimised, times, strict=True))
    ]
    rows = {place: each for place, each in enumerate(asked) if each is not None}
    found: dict[int, dict[int, tuple[int, int]]] = {place: {} for place in rows}
    if rows:
        with spark_errors_as(_UNREADABLE):  # of both sides in one query
            seen = reduce(lambda one, other: one.unionByName(other), rows.values()).collect()
        for each in seen:
            newest_time = NOTHING if each["newest"] is None else int(each["newest"])
            found[each["side"]][each[BATCH]] = newest_time, int(each["n"])
    seen_by_side = [found.get(place) for place in range(len(asked))]
    return _of_both(*seen_by_side) if is_one_watermark(optimised, times) else seen_by_side


def _newest(
    spark: SparkSession,
    optimised: Node,
    time: int | None,
    sources: Mapping[frozenset[int], DataFrame],
    clock: Clock | None,
    place: int,
) -> DataFrame | None:
    """For each micro-batch ``newest`` and ``n``, as `newest` gives them of one side, and the ``side``."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    node = _watermark_of(optimised, time)
    if node is None or time is None:
        return None
    ids = list(node.children[0].ids)
    try:
        rows = _that_come(spark, node.children[0], sources, clock).toDF(*(f"c{each}" for each in ids), BATCH, PLACE)
    except replay.NotReplayable:
        return None
    kind = dict(rows.dtypes)[f"c{time}"]
    newest_time = micros_of(f"max(c{time})", kind == "timestamp_ntz")
    if kind.startswith("struct"):
        newest_time = str(_OF_WINDOWS)
    told = (f"{newest_time} AS newest", "count(*) AS n", f"{place} AS side")
    return rows.groupBy(BATCH).agg(*map(F.expr, told))


def _watermark_of(optimised: Node, time: int | None) -> Node | None:
    """The operator that sets the watermark of an event time."""
    marks = (each for each in optimised.walk() if each.kind == "EventTimeWatermark")
    return next((each for each in marks if any(one.id == time for one in expressions(each, "eventTime"))), None)


def is_one_watermark(optimised: Sequence[Node], times: Sequence[int | None]) -> bool:
    """Whether both sides come from one ``withWatermark``, so that the newest row of either moves the watermark of both.

    Spark keeps a watermark by the name of its operator; versions that number the operators keep one of each side.
    """
    nodes = [_watermark_of(plan, time) for plan, time in zip(optimised, times, strict=True)]
    names = {None if node is None else name_of_watermark(node.java) for node in nodes}
    return len(names) == 1 and not names & {None, ""}


def _of_both(
    left: dict[int, tuple[int, int]] | None, right: dict[int, tuple[int, int]] | None
) -> list[dict[int, tuple[int, int]] | None]:
    """What `newest` gives of two sides that have one watermark."""
    if left is None or right is None:
        return [left, right]
    nothing = (NOTHING, 0)
    both = {batch: max(left.get(batch, nothing)[0], right.get(batch, nothing)[0]) for batch in left.keys() | right}
    return [{batch: (time, side.get(batch, nothing)[1]) for batch, time in both.items()} for side in (left, right)]


def check_size(count: int, side: Side) -> None:
    """Refuse to take more rows into memory than `MOST_ROWS`."""
    if count > MOST_ROWS:
        raise TooLargeError(
            f"joined: the kept micro-batches have {count:,} rows of the {side} side, of which {MOST_ROWS:,} at most "
            "are taken: give some keys=[…], or sample=0.001 for a thousandth of the keys",
            count,
        )


def arrival(table: pa.Table, first: int) -> Batches:
    """The micro-batch of each row, counted from the first one."""
    found: Batches = table.column(BATCH).to_numpy() - first
    return found
