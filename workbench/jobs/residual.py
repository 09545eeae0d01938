"""What a join asks for beside equal keys and times, asked of Spark itself for each pair that could meet."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from workbench.arrays import Flags, RowNumbers
from workbench.errors import QueryError
from workbench.jobs import entering, replay
from workbench.jobs.catalyst import Node, listed, seq
from workbench.jobs.conditions import is_collated, is_struct
from workbench.jobs.entering import Columns
from workbench.jobs.understanding import Understood
from workbench.literals import SIDES
from workbench.model import Failed, value_in_words
from workbench.spark_io.cause import spark_errors_as
from workbench.spark_io.frames import of_arrow
from workbench.untyped import JavaObject

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = ["Residual", "compared"]

_NUMBERS = ("__left_row", "__right_row")


class Residual:
    """Which pairs of rows satisfy the rest of a join's condition; each pair is asked of Spark once.

    Parameters
    ----------
    spark
        A session that is not Spark Connect's.
    known
        The join.
    shown
        The columns of the tables, left and right.
    tables
        The rows of both sides.
    parts
        The parts of the condition.
    """

    def __init__(
        self,
        spark: SparkSession,
        known: Understood,
        shown: tuple[Columns, Columns],
        tables: tuple[pa.Table, pa.Table],
        parts: Sequence[Node],
    ) -> None:
        self._spark, self._known, self._shown, self._tables = spark, known, shown, tables
        self._parts = parts
        self._asked = np.array([], dtype=np.int64)
        self._satisfied = np.array([], dtype=bool)

    @property
    def spark(self) -> SparkSession:
        """The session that is asked."""
        return self._spark

    @property
    def text(self) -> str:
        """The condition as SQL."""
        return " AND ".join(str(each.java.sql()) for each in self._parts)

    def __call__(self, left: RowNumbers, right: RowNumbers) -> Flags:
        """Which of some pairs of rows, given by their numbers, satisfy it."""
        width = max(self._tables[1].num_rows, 1)
        pairs = left.astype(np.int64) * width + right
        new = np.setdiff1d(pairs, self._asked)
        if len(new):
            self._ask(new)
        places = np.searchsorted(self._asked, pairs)
        found: Flags = self._satisfied[places] if len(pairs) else np.array([], dtype=bool)
        return found

    def failed(self, left: RowNumbers, right: RowNumbers) -> list[list[Failed]]:
        """For each of some pairs the parts of it that the pair does not satisfy."""
        found = [list[Failed]() for _ in left]
        for part in self._apart:
            for place in np.flatnonzero(~part(left, right)).tolist():
                found[place].append(Failed(part.text, part.values(int(left[place]), int(right[place]))))
        return found

    @cached_property
    def _apart(self) -> list[Residual]:
        """Its parts, each as a condition of its own."""
        if len(self._parts) == 1:
            return [self]
        return [Residual(self._spark, self._known, self._shown, self._tables, [each]) for each in self._parts]

    def values(self, left: int, right: int) -> tuple[tuple[str, str], ...]:
        """The columns that the condition has, as it writes them, and what a pair has in each, in words."""
        written = {node.id: str(node.java.sql()) for each in self._parts for node in each.walk() if node.id is not None}
        found = []
        for column, name in written.items():
            for shown, table, row in zip(self._shown, self._tables, (left, right), strict=True):
                if column in shown.ids:
                    value = table.column(shown.names[shown.ids.index(column)])[row].as_py()
                    found.append((name.replace("`", ""), value_in_words(value)))
        return tuple(found)

    def unfit(self, place: int) -> Flags:
        """Which rows of a side fail what the condition says of that side alone."""
        parts = self._parts_of(place)
        rows = np.arange(self._tables[place].num_rows)
        if not parts:
            return np.zeros(len(rows), dtype=bool)
        with spark_errors_as(self._not_asked):
            fit = self._filtered(self._side(place, rows), parts).select(_NUMBERS[place]).toArrow()
        found: Flags = ~np.isin(rows, fit.column(0).to_numpy())
        return found

    def text_of(self, place: int) -> str:
        """What the condition says of a side alone, as SQL; empty: nothing."""
        return " AND ".join(str(each.java.sql()) for each in self._parts_of(place))

    def _parts_of(self, place: int) -> list[Node]:
        mine = set(self._known.join.children[place].ids)
        return [each for each in self._parts if _columns_of([each]) and _columns_of([each]) <= mine]

    def _not_asked(self, why: str) -> QueryError:
        return QueryError(f"Spark could not evaluate {self.text}: {why}")

    def _ask(self, pairs: RowNumbers) -> None:
        width = max(self._tables[1].num_rows, 1)
        rows = [np.unique(pairs // width), np.unique(pairs % width)]
        with spark_errors_as(self._not_asked):
            asked = of_arrow(self._spark, pa.table([pairs // width, pairs % width], names=list(_NUMBERS)))
            for place in range(len(SIDES)):
                asked = asked.join(self._side(place, rows[place]), _NUMBERS[place])
            satisfied = self._filtered(asked, self._parts).select(*_NUMBERS).toArrow()
        kept = satisfied.column(0).to_numpy() * width + satisfied.column(1).to_numpy()
        asked_all = np.concatenate([self._asked, pairs])
        order = np.argsort(asked_all)
        self._satisfied = np.concatenate([self._satisfied, np.isin(pairs, kept)])[order]
        self._asked = asked_all[order]

    def _side(self, place: int, rows: RowNumbers) -> DataFrame:
        """Some rows of a side with their numbers and the columns that the condition has."""
        table = self._tables[place].take(rows)
        plan = _under_ids(self._spark, self._known, place, self._shown[place], table, rows, _columns_of(self._parts))
        return replay.frame(self._spark, plan)

    def _filtered(self, asked: DataFrame, parts: Sequence[Node]) -> DataFrame:
        java: JavaObject = self._spark._jvm
        plan: JavaObject = asked._jdf.queryExecution().analyzed()
        for each in parts:
            plan = java.org.apache.spark.sql.catalyst.plans.logical.Filter(each.java, plan)
        return replay.frame(self._spark, plan)


def compared(spark: SparkSession, known: Understood, place: int, shown: Columns, table: pa.Table) -> pa.Table | None:
    """The values by which the keys of a side are compared, asked of Spark; None: they are the key columns' own.

    Of keys of which two nulls are equal they are texts, so that null is one of them. Of a join without keys, as on
    windows only, they are all the same.
    """
    if known.is_without_keys:
        return pa.table({"k": pa.nulls(table.num_rows, pa.int64()).fill_null(0)})
    if not known.compared:
        return None
    java: JavaObject = spark._jvm
    pairs = [each[place] for each in known.keys]
    wanted = {*pairs, *(column for one in known.compared if one is not None for column in one.columns[place])}
    plan = _under_ids(spark, known, place, shown, table, np.arange(table.num_rows), wanted)
    attributes = {int(each.exprId().id()): each for each in listed(plan.output())}
    number = next(each for each in listed(plan.output()) if each.name() == _NUMBERS[place])
    named, columns = [], []
    for at, (column, one) in enumerate(zip(pairs, known.compared, strict=True)):
        expression, text = attributes[column], f"k{at}"
        if one is not None:
            expression = one.expressions[place].java
            if is_collated(one.expressions[place]):
                expression = java.org.apache.spark.sql.catalyst.expressions.CollationKey(expression)
                text = f"hex({text})"
            if is_struct(one.expressions[place]):
                options = ", ".join(
                    "'" + each.replace("'", r"\'") + "'" for pair in entering.AS_JSON.items() for each in pair
                )
                text = f"to_json({text}, map({options}))"
            if one.nulls_meet:
                text = f"coalesce(concat('=', cast({text} as string)), 'null')"
        named.append(replay.named(java, expression, f"k{at}"))
        columns.append(f"{text} AS k{at}")
    project = java.org.apache.spark.sql.catalyst.plans.logical.Project(seq(java, [*named, number]), plan)
    frame = replay.frame(spark, project)
    with spark_errors_as(f"Spark could not evaluate the keys of the {SIDES[place]} side"):
        found: pa.Table = frame.selectExpr(*columns, _NUMBERS[place]).sort(_NUMBERS[place]).toArrow()
    return found.drop_columns([_NUMBERS[place]])


def _under_ids(
    spark: SparkSession,
    known: Understood,
    place: int,
    shown: Columns,
    table: pa.Table,
    numbers: RowNumbers,
    wanted: set[int],
) -> Any:
    """A plan of the rows of a side with some columns under the ids that the join knows them by, and their numbers."""
    java: JavaObject = spark._jvm
    attributes = dict(zip(known.join.children[place].ids, known.join.children[place].output, strict=True))
    columns = [each for each in shown.ids if each in wanted]
    names = [f"c{each}" for each in columns]
    values = [table.column(shown.names[shown.ids.index(each)]) for each in columns]
    numbered = pa.table([*values, pa.array(numbers, pa.int64())], names=[*names, _NUMBERS[place]])
    types = [str(attributes[each].dataType().sql()) for each in columns]
    given = [column.type for column in values]
    typed = [_typed(*each).alias(each[0]) for each in zip(names, types, given, strict=True)]
    frame = of_arrow(spark, numbered).select(*typed, _NUMBERS[place])
    plan: JavaObject = frame._jdf.queryExecution().analyzed()
    *given, number = listed(plan.output())
    aliases = [replay.alias(java, one, attributes[each]) for one, each in zip(given, columns, strict=True)]
    return java.org.apache.spark.sql.catalyst.plans.logical.Project(seq(java, [*aliases, number]), plan)


def _typed(name: str, kind: str, given: pa.DataType) -> Column:
    """A column as the job has it; nested ones of types that streams do not have are JSON here."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    column = F.col(name)
    nested = kind.startswith(("ARRAY<", "MAP<", "STRUCT<", "VARIANT"))
    if not nested or not (pa.types.is_string(given) or pa.types.is_large_string(given)):
        return column.cast(kind)
    return F.parse_json(column) if kind == "VARIANT" else F.from_json(column, kind, entering.AS_JSON)


def _columns_of(parts: Sequence[Node]) -> set[int]:
    """The ids of the columns in some conditions."""
    found = (part.id for each in parts for part in each.walk() if part.kind == "AttributeReference")
    return {each for each in found if each is not None}
