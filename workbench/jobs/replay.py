"""A part of a streaming plan over rows that are no stream: what its sources gave, through the user's own operators."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING

from workbench import schema
from workbench.errors import WorkbenchError
from workbench.jobs import jvm, late_for_aggregation, repeats
from workbench.jobs.catalyst import Node, delay_of, expressions, has_watermark, listed, seq
from workbench.jobs.clock import Clock, longs, of_batch, planned_at
from workbench.jobs.repeats import OF
from workbench.jobs.sources import BATCH, PLACE
from workbench.quoting import backticks
from workbench.sources.key_choice import micros_of
from workbench.untyped import JavaObject

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = [
    "IN_THE_WAY",
    "LEFT_AT",
    "MAPS",
    "REPEATS",
    "TIME",
    "NotReplayable",
    "Steps",
    "alias",
    "asks_for_the_file",
    "asks_the_clock",
    "below",
    "frame",
    "ids",
    "named",
    "not_followed",
    "renamed",
    "replayed",
    "time_of",
    "window_of",
]

_EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions"
_PASSES_ON = frozenset(
    {
        "ArrowEvalPython",
        "BatchEvalPython",
        "Filter",
        "Generate",
        "Join",
        "Repartition",
        "RepartitionByExpression",
        "RebalancePartitions",
        "ResolvedHint",
    }
    | {"Sample", "Sort", "SubqueryAlias", "Union", "View", "Window"}
)
"""Operators that give all columns of their input, or of their inputs, further."""
TIME = "__time"
"""The column with the event time of a row, as it was where its watermark is set."""
WINDOW = tuple(each.name for each in schema.WINDOW)
"""What the window of rows that come to an aggregation is called."""
LEFT_AT = "__left_at"
"""The column with the number of the step (`Steps`) that takes a row out; null of one that goes on."""
_TAKES_OUT = frozenset({"INNER", "CROSS", "LEFT SEMI", "LEFT ANTI"})
"""The joins of a stream with a table that do not give each row of the stream on."""
_EXPLODES = frozenset({"Explode", "PosExplode", "Inline"})
_CLOCKS = {"timestamp": "__now", "date": "__today", "timestamp_ntz": "__local_now"}
"""By type the column with the time of a row's micro-batch, which is what a query gets that asks its clock."""
_CARRIED = (BATCH, PLACE, TIME, LEFT_AT, OF, *_CLOCKS.values())
_REBUILT = frozenset({"EventTimeWatermark", "Expand", "Project"})
_PLACES = 2**54
"""Places of rows of one source are less than this."""
_MOST_BATCHES = 200
MAPS = {"MapInPandas": "mapInPandas", "PythonMapInArrow": "mapInArrow", "MapInArrow": "mapInArrow"}
"""The operators that run a function of Python over all rows, as users call them."""
_ASKS_THE_CLOCK = {
    "CurrentTimestamp": "timestamp", "Now": "timestamp", "CurrentDate": "date", "LocalTimestamp": "timestamp_ntz",
}  # fmt: skip
_ASKS_FOR_THE_FILE = ("InputFileName", "InputFileBlockStart", "InputFileBlockLength")
IN_THE_WAY = {
    "Aggregate": "an aggregation",
    "Deduplicate": "dropDuplicates",
    "DeduplicateWithinWatermark": "dropDuplicatesWithinWatermark",
}
"""Operators through which rows cannot be followed, as users call them."""


_PASSES, _GROUP = repeats.PASSES, "__group"
REPEATS = {name: IN_THE_WAY[name] for name in ("Deduplicate", "DeduplicateWithinWatermark")}
"""The operators that take out rows whose columns are those of another one, as users call them."""


def window_of(node: Node) -> int | None:
    """The id of the window by which an aggregation groups its rows; None: by none."""
    for each in expressions(node, "groupingExpressions"):
        if each.kind == "AttributeReference" and _is_window(each.java.dataType()):
            return each.id
    return None


def _is_window(kind: JavaObject) -> bool:
    return str(kind.typeName()) == "struct" and [str(each) for each in kind.fieldNames()] == ["start", "end"]


def not_followed(node: Node) -> str:
    """What an operator is called through which rows cannot be followed; empty: they can."""
    if node.kind == "Aggregate":
        if window_of(node) is None:
            return "an aggregation without a window of the event time"
        return ""
    if not node.children or node.kind in (*_REBUILT, *_PASSES_ON, *REPEATS, *MAPS):
        return ""
    return f"Spark's operator {node.kind}"


def _by_sessions(node: Node) -> bool:
    """Whether an aggregation is one by session windows."""
    return any(
        each.kind == "AttributeReference" and bool(each.java.metadata().contains("spark.sessionWindow"))
        for each in expressions(node, "groupingExpressions")
    )


class NotReplayable(WorkbenchError):  # noqa: N818 - caught where it is turned into a sentence
    """A plan has an operator through which rows cannot be followed."""


@dataclass
class Steps:
    """The operators of a plan that take rows out, in words, in the order in which they were met.

    Rows are given on by them and marked in `LEFT_AT`, so that each can be told where it left.

    Attributes
    ----------
    words
        The words of each, with a gap (`workbench.jobs.repeats`) where they name another row.
    of_others
        Whether rows have `OF`, too.
    """

    words: list[str] = field(default_factory=list)
    of_others: bool = False

    def number(self, words: str) -> int:
        """The number of a step, which is new."""
        self.words.append(words)
        return len(self.words) - 1


def asks_the_clock(plan: Node) -> bool:
    """Whether a plan has an expression such as ``current_timestamp()``."""
    return _has_any(plan, _ASKS_THE_CLOCK)


def asks_for_the_file(plan: Node) -> bool:
    """Whether a plan has an expression such as ``input_file_name()``, which rows in memory cannot answer."""
    return _has_any(plan, _ASKS_FOR_THE_FILE)


def _has_any(plan: Node, expressions: Iterable[str]) -> bool:
    text = str(plan.java.toJSON())
    return any(f'.{name}"' in text for name in expressions)


def time_of(watermark: int) -> str:
    """The column of the rows that come out of a join with an event time, by its id where its watermark is set."""
    return f"{TIME}_{watermark}"


def replayed(
    spark: SparkSession,
    plan: Node,
    sources: Mapping[frozenset[int], DataFrame],
    time: int | None = None,
    inner: Mapping[Node, DataFrame] | None = None,
    *,
    steps: Steps | None = None,
    clock: Clock | None = None,
) -> DataFrame:
    """What a part of a plan gives for rows that its sources gave.

    Parameters
    ----------
    spark
        A session that is not Spark Connect's.
    plan
        The part, analysed or optimised.
    sources
        The rows of each source, by the ids of its columns. They have the columns of the source, in order, and `BATCH`
        and `PLACE`.
    time
        The id of an event time where its watermark is set, which is to be carried along; None: none is.
    inner
        Nodes of the plan whose rows are given, as those of a source are, in place of their sources; None: none. They
        have the event times of the watermarks below them in `time_of`.
    steps
        Takes the words of the operators that take rows out; these rows are then given, too. None: they are not.
    clock
        The times and watermarks of the micro-batches, for a plan that asks its clock, or aggregates. None: it may not.

    Returns
    -------
    pyspark.sql.DataFrame
        The columns of the part, in order, and `BATCH` and `PLACE`; and `TIME`, if it was asked for; and `LEFT_AT` with
        `steps`.

    Raises
    ------
    NotReplayable
        If there is an operator that is not understood, or a source that is not given.
    """
    return frame(spark, _Plans.of(spark, plan, sources, time=time, inner=inner, steps=steps, clock=clock).whole(plan))


def below(
    spark: SparkSession,
    plan: Node,
    sources: Mapping[frozenset[int], DataFrame],
    inner: Mapping[Node, DataFrame],
    clock: Clock,
) -> tuple[DataFrame, Steps]:
    """The rows that come to the aggregation of a part of a plan, and the steps that take some out before it.

    Parameters
    ----------
    spark, plan, sources, inner, clock
        As `replayed` takes them; the plan has one windowed aggregation.

    Returns
    -------
    rows
        The columns of the aggregation's input, the window as ``window_start`` and ``window_end``; `BATCH`, `LEFT_AT`,
        `OF` where rows are told of others, `workbench.jobs.late_for_aggregation.LATE` and ``CLOSED_IN``, and `PLACE`,
        which is that of the row that is made of them.
    steps
        The steps.

    Raises
    ------
    NotReplayable
        If there is an operator that is not understood, or a source that is not given.
    """
    steps = Steps()
    plans = _Plans.of(spark, plan, sources, inner=inner, steps=steps, clock=clock)
    node = next(each for each in plan.walk() if each.kind == "Aggregate" and bool(each.java.isStreaming()))
    return plans.below(node), steps


def frame(spark: SparkSession, plan: JavaObject) -> DataFrame:
    """A plan as a DataFrame."""
    from pyspark.sql import DataFrame  # when needed: PySpark is slow to import

    made = jvm.static(spark._jvm, "org.apache.spark.sql.classic.Dataset", "ofRows")
    return DataFrame(made(spark._jsparkSession, plan), spark)


@dataclass(frozen=True)
class _Plans:
    """Plans with other inputs."""

    spark: JavaObject
    sources: Mapping[frozenset[int], DataFrame]
    time: int | None
    inner: Mapping[Node, DataFrame]
    steps: Steps | None
    clock: Clock | None
    asks: bool
    leaves: tuple[Node, ...]

    @classmethod
    def of(
        cls,
        spark: SparkSession,
        plan: Node,
        sources: Mapping[frozenset[int], DataFrame],
        *,
        time: int | None = None,
        inner: Mapping[Node, DataFrame] | None,
        steps: Steps | None,
        clock: Clock | None,
    ) -> _Plans:
        """As the arguments of `replayed`."""
        if steps is not None:
            steps.of_others = any(node.kind in REPEATS for node in plan.walk() if bool(node.java.isStreaming()))
        leaves = tuple(node for node in plan.walk() if bool(node.java.isStreaming()) and (not node.children))
        asks = asks_the_clock(plan) and clock is not None
        return cls(spark, sources, time, {} if inner is None else inner, steps, clock, asks, leaves)

    def below(self, node: Node) -> DataFrame:
        """The rows that come to an aggregation, as `below` gives them."""
        from pyspark.sql import functions as F  # when needed: PySpark is slow to import

        window, clock = window_of(node), self.clock
        if window is None or clock is None:
            raise NotReplayable("an aggregation without a window of the event time")
        made = self.rebuilt(node.children[0])
        rows, groups = self._grouped(node, made, window, clock)
        plan, more = self._as_before(made, rows)
        closed = next(each for each in more if each.name() == late_for_aggregation.CLOSED_IN)
        place = named(self.spark._jvm, self._hash([*groups, closed]), PLACE)
        columns = [each for each in listed(plan.output()) if each.name() != PLACE]
        whole = frame(self.spark, self._project([*columns, place], plan))
        names, at = [], ""
        for each in columns:
            name = str(each.name())
            while name in names or (name in WINDOW and int(each.exprId().id()) != window):
                name += "_"
            names.append(name)
            at = name if int(each.exprId().id()) == window else at
        edges = [
            F.col(f"{backticks(at)}.{edge}").alias(name) for edge, name in zip(("start", "end"), WINDOW, strict=True)
        ]
        return whole.toDF(*names, PLACE).select(*edges, *(backticks(name) for name in (*names, PLACE) if name != at))

    def whole(self, node: Node) -> JavaObject:
        """A plan over what its sources gave, with its own columns and what was asked for."""
        made = self.rebuilt(node)
        carried = [each for each in self._carried(made) if each.name() not in _CLOCKS.values()]
        return self._project([*self._wanted(node, made), *carried], made)

    def rebuilt(self, node: Node) -> JavaObject:
        """A node over what its sources gave."""
        if not bool(node.java.isStreaming()):
            return node.java
        if not node.children or node in self.inner:
            return self._source(node)
        children = [self.rebuilt(child) for child in node.children]
        if node.kind == "EventTimeWatermark":
            return self._timed(node, children[0])
        if node.kind == "Project":
            carried = self._carried(children[0])
            columns = [self._timed_by(each, carried) for each in listed(node.java.projectList())]
            return self._project([*columns, *carried], children[0])
        if node.kind == "Filter":
            condition = self._timed_by(node.java.condition(), self._carried(children[0]))
            if self.steps is None:
                return self._logical("Filter")(condition, children[0])
            passes = frame(self.spark, self._kept(children[0], condition))
            return self._marked(children[0], passes, f"the filter {node.java.condition().sql()}")
        if node.kind in REPEATS and self.steps is not None and self.clock is not None:
            return self._first_of_each(node, children[0], self.clock)
        if node.kind == "Join" and self.steps is not None:
            return self._joined_with_a_table(node, children)
        if node.kind == "Generate" and self.steps is not None:
            return self._exploded(node, children[0])
        if node.kind == "Aggregate" and self.clock is not None and (window := window_of(node)) is not None:
            return self._aggregated(node, children[0], window, self.clock)
        if node.kind in MAPS and self.clock is not None:
            return self._mapped(node, children[0])
        if node.kind == "Union":
            return self._united(node, children)
        if node.kind == "Expand":
            carried = self._carried(children[0])
            lists = [self._with(each, carried) for each in listed(node.java.projections())]
            return self._logical("Expand")(self._seq(lists), self._with(node.java.output(), carried), children[0])
        if node.kind in _PASSES_ON:
            return self._in_order(node, node.java.withNewChildren(self._seq(children)))
        named = IN_THE_WAY.get(node.kind, f"Spark's operator {node.kind}")
        raise NotReplayable(f"{named}, through which rows cannot be followed")

    def _timed(self, node: Node, made: JavaObject) -> JavaObject:
        """The input of a watermark, with its event time once more if that is asked for."""
        [time] = expressions(node, "eventTime")
        if self.time is None or time.id != self.time:
            return made
        java = self.spark._jvm
        found = next(each for each in listed(made.output()) if int(each.exprId().id()) == self.time)
        return self._project([*listed(made.output()), named(java, found, TIME)], made)

    def _in_order(self, node: Node, made: JavaObject) -> JavaObject:
        """A node with the columns it had, in order, and those that are carried."""
        given = listed(made.output())
        carried = self._carried(made)
        if [each.exprId() for each in given[-len(carried) :]] == [each.exprId() for each in carried]:
            return made
        return self._project([*self._wanted(node, made), *carried], made)

    def _wanted(self, node: Node, made: JavaObject) -> list[JavaObject]:
        """The columns of a node in what was made of it."""
        given, wanted = listed(made.output()), [each.exprId() for each in node.output]
        return [next(each for each in given if each.exprId().equals(one)) for one in wanted]

    def _source(self, node: Node) -> JavaObject:
        from pyspark.sql import functions as F  # when needed: PySpark is slow to import

        found = self.inner.get(node, self.sources.get(ids(node)))
        if found is None:
            raise NotReplayable(f"a source whose rows cannot be read again ({_shown(node)})")
        if node in self.inner:
            found = self._with_its_time(found)
        place = next((at for at, each in enumerate(self.leaves) if each is node), 0)
        if place:  # places of rows of several sources are apart, and follow the sources
            found = found.withColumn(PLACE, F.col(PLACE) + place * _PLACES)
        return self._under_ids(self._carrying(found), node)

    def _with_its_time(self, pairs: DataFrame) -> DataFrame:
        """What comes out of a join below, with the event time that is asked for, whose watermark is set below it."""
        from pyspark.sql import functions as F  # when needed: PySpark is slow to import

        there = [name for name in pairs.columns if name.startswith(f"{TIME}_")]
        rows = pairs.drop(*there)
        if self.time is None:
            return rows
        if time_of(self.time) not in there:
            raise NotReplayable("a join by sliding windows, each of whose rows is of one window only")
        return pairs.select(*map(backticks, rows.columns), F.col(time_of(self.time)).alias(TIME))

    def _carrying(self, rows: DataFrame, batch: Column | None = None, place: Column | None = None) -> DataFrame:
        """Rows with all that is carried along, which `BATCH` and `PLACE` begin; given, or there already."""
        if batch is not None and place is not None:
            rows = rows.select("*", batch.alias(BATCH), place.alias(PLACE))
        if self.steps is not None:
            of = [f"CAST(NULL AS STRING) AS {OF}"] if self.steps.of_others else []
            rows = rows.selectExpr("*", f"CAST(NULL AS INT) AS {LEFT_AT}", *of)
        if self.asks and self.clock is not None:
            now = planned_at(self.clock)
            for kind, name in _CLOCKS.items():
                rows = rows.withColumn(name, now.cast(kind))
        return rows

    def _under_ids(self, rows: DataFrame, node: Node) -> JavaObject:
        """Rows as a plan with the columns of a node, under their ids, and those that are carried along."""
        plan: JavaObject = rows._jdf.queryExecution().analyzed()
        given, wanted = listed(plan.output()), node.output
        if str(given[len(wanted)].name()) != BATCH:  # columns go by their place: another one would be taken for it
            raise NotReplayable(f"a source that gives other columns than are asked of it ({_shown(node)})")
        aliases = [alias(self.spark._jvm, one, other) for one, other in zip(given, wanted, strict=False)]
        return self._project([*aliases, *given[len(wanted) :]], plan)

    def _kept(self, made: JavaObject, condition: JavaObject) -> JavaObject:
        """A plan with one column more, `_PASSES`: whether a condition holds of each row."""
        passes = named(self.spark._jvm, condition, _PASSES)
        return self._project([*listed(made.output()), passes], made)

    def _marked(self, made: JavaObject, passes: DataFrame, words: str) -> JavaObject:
        """A plan whose rows are marked in `LEFT_AT` where `_PASSES` does not hold, if they are not yet."""
        from pyspark.sql import functions as F  # when needed: PySpark is slow to import

        if self.steps is None:
            raise ValueError("rows are marked only where steps are asked for")
        number = self.steps.number(words)
        outputs = listed(made.output())
        place = [str(each.name()) for each in outputs].index(LEFT_AT)
        names = [f"c{at}" for at in range(len(outputs))]
        frame_ = passes.toDF(*names, _PASSES)
        goes = F.col(names[place]).isNull() & ~F.coalesce(F.col(_PASSES), F.lit(False))
        marked = frame_.withColumn(names[place], F.when(goes, F.lit(number)).otherwise(F.col(names[place])))
        plan: JavaObject = marked.select(*names)._jdf.queryExecution().analyzed()
        aliases = [
            alias(self.spark._jvm, one, other) for one, other in zip(listed(plan.output()), outputs, strict=True)
        ]
        return self._project(aliases, plan)

    def _first_of_each(self, node: Node, made: JavaObject, clock: Clock) -> JavaObject:
        """``dropDuplicates``: the first row with equal columns goes on, by its micro-batch and place.

        Late rows are dropped by it, and are the first of none.
        """
        from pyspark.sql import functions as F  # when needed: PySpark is slow to import

        outputs, called = listed(made.output()), REPEATS[node.kind]
        names = [f"c{at}" for at in range(len(outputs))]
        own = [pair for pair in zip(outputs, names, strict=True) if str(pair[0].name()) not in _CARRIED]
        before = dict(zip(node.children[0].ids, node.children[0].output, strict=True))
        own = [(before[int(each.exprId().id())], name) for each, name in own]  # which know their watermarks
        marks = [pair for pair in own if has_watermark(pair[0])]
        times = marks or [pair for pair in own if str(pair[0].dataType().typeName()).startswith("timestamp")]
        time = _in_micros(*times[0]) if len(times) == 1 else None
        if node.kind == "DeduplicateWithinWatermark" and (time is None or not marks):
            raise NotReplayable(f"{called} of rows with several watermarks, through which rows cannot be followed")
        if marks and time is not None:
            late = of_batch(clock.late, clock.first, _named(outputs, names, BATCH))
            rows = frame(self.spark, made).toDF(*names)
            passes = rows.withColumn(_PASSES, F.coalesce(F.expr(time) > late, F.lit(True)))
            made = self._marked(made, passes, f"{called}, to which it came late,")
            outputs = listed(made.output())
        keys = {int(each.exprId().id()) for each in listed(node.java.keys())}
        equal = [(each, name) for each, name in zip(outputs, names, strict=True) if int(each.exprId().id()) in keys]
        expires = None
        if node.kind == "DeduplicateWithinWatermark":
            expires = F.coalesce(F.expr(str(time)), F.lit(0)) + delay_of(marks[0][0])
        elif marks and time is not None and marks[0][1] in (name for _, name in equal):
            expires = F.expr(time)
        found = repeats.marked(
            frame(self.spark, made).toDF(*names),
            [name for _, name in equal],
            names={
                "batch": _named(outputs, names, BATCH),
                "place": _named(outputs, names, PLACE),
                "left_at": _named(outputs, names, LEFT_AT),
            },
            time=time,
            expires=expires,
            evictions=longs(clock.eviction),
            first=clock.first,
        )
        of = _named(outputs, names, OF)
        found = found.withColumn(of, F.coalesce(F.col(of), F.col(OF))).drop(OF)
        return self._marked(made, found, repeats.words_of(called, [str(each.name()) for each, _ in equal]))

    def _mapped(self, node: Node, made: JavaObject) -> JavaObject:
        """``mapInPandas`` or ``mapInArrow``: the function is asked for the rows of each micro-batch by themselves.

        Nothing of a row is carried through it, so that rows that were taken out before are not given on.
        """
        from pyspark.sql import functions as F  # when needed: PySpark is slow to import

        if self.time is not None and any(each.name() == TIME for each in listed(made.output())):
            raise NotReplayable(f"{MAPS[node.kind]} above withWatermark, through which event times cannot be followed")
        rows = frame(self.spark, made)
        names = [f"c{at}" for at in range(len(rows.columns))]
        by = {str(each.name()): name for each, name in zip(listed(made.output()), names, strict=True)}
        rows = rows.toDF(*names)
        if LEFT_AT in by:
            rows = rows.where(F.col(by[LEFT_AT]).isNull())
        batches = sorted(each[0] for each in rows.select(by[BATCH]).distinct().collect())
        if len(batches) > _MOST_BATCHES:
            raise NotReplayable(f"{MAPS[node.kind]}, which is not asked again for {len(batches):,} micro-batches")
        wanted = node.children[0].output
        parts = []
        for batch in batches:
            plan = rows.where(F.col(by[BATCH]) == batch).select(*names[: len(wanted)])._jdf.queryExecution().analyzed()
            given = listed(plan.output())
            aliases = [alias(self.spark._jvm, one, other) for one, other in zip(given, wanted, strict=True)]
            below = self._project(aliases, plan)
            asked = frame(self.spark, node.java.withNewChildren(self._seq([below])))
            parts.append(self._carrying(asked, F.lit(batch).cast("long"), F.monotonically_increasing_id()))
        if not parts:
            from pyspark.sql.types import StructType  # when needed: PySpark is slow to import

            schema = StructType.fromJson(json.loads(node.java.schema().json()))
            parts.append(
                self._carrying(
                    frame(self.spark, made).sparkSession.createDataFrame([], schema),
                    *(F.lit(0).cast("long") for _ in range(2)),
                )
            )
        return self._under_ids(reduce(lambda one, other: one.union(other), parts), node)

    def _united(self, node: Node, children: list[JavaObject]) -> JavaObject:
        """A union: its branches carry the same columns along, in the same order."""
        carried = [[str(each.name()) for each in self._carried(child)] for child in children]
        if any(each != carried[0] for each in carried):
            raise NotReplayable("a union of branches with other watermarks, through which rows cannot be followed")
        ordered = [
            self._project([*self._wanted(part, child), *self._carried(child)], child)
            for part, child in zip(node.children, children, strict=True)
        ]
        return self._in_order(node, node.java.withNewChildren(self._seq(ordered)))

    def _aggregated(self, node: Node, made: JavaObject, window: int, clock: Clock) -> JavaObject:
        """A windowed aggregation in append mode: a row for each group that a watermark has closed."""
        from pyspark.sql import functions as F  # when needed: PySpark is slow to import

        rows, groups = self._grouped(node, made, window, clock)
        outputs = listed(made.output())
        rows = rows.where(F.col(late_for_aggregation.CLOSED_IN).isNotNull()).drop(late_for_aggregation.LATE)
        below, [closed] = self._as_before(made, rows)
        given_on = [self._timed_by(each, self._carried(made)) for each in listed(node.java.aggregateExpressions())]
        java, catalyst = self.spark._jvm, self.spark._jvm.org.apache.spark.sql.catalyst.expressions
        more = [named(java, closed, BATCH), named(java, self._hash([*groups, closed]), PLACE)]
        if self.time is not None:
            of_window = next(each for each in outputs if int(each.exprId().id()) == window)
            more.append(named(java, catalyst.GetStructField(of_window, 1, java.scala.Option.empty()), TIME))
        literal = getattr(getattr(catalyst, "Literal$"), "MODULE$")
        for each in outputs:
            if str(each.name()) in (LEFT_AT, OF):
                more.append(named(java, literal.create(None, each.dataType()), str(each.name())))
        return self._aggregate([*groups, closed], [*given_on, *more], below)

    def _grouped(self, node: Node, made: JavaObject, window: int, clock: Clock) -> tuple[DataFrame, list[JavaObject]]:
        """The rows that come to an aggregation, with what `aggregating` says of them; and by what they are grouped."""
        from pyspark.sql import functions as F  # when needed: PySpark is slow to import

        groups = [self._timed_by(each, self._carried(made)) for each in listed(node.java.groupingExpressions())]
        numbers = [each.id for each in expressions(node, "groupingExpressions")]
        others = [each for each, number in zip(groups, numbers, strict=True) if number != window]
        whole = made
        if _by_sessions(node):
            key = named(self.spark._jvm, self._hash(others), _GROUP)
            whole = self._project([*listed(made.output()), key], made)
        outputs = listed(whole.output())
        names = [f"c{at}" for at in range(len(outputs))]
        by = {str(each.name()): name for each, name in zip(outputs, names, strict=True)}
        at = next(name for each, name in zip(outputs, names, strict=True) if int(each.exprId().id()) == window)
        alive = F.col(by[LEFT_AT]).isNull() if LEFT_AT in by else F.lit(True)
        rows = frame(self.spark, whole).toDF(*names)
        if not _by_sessions(node):
            return late_for_aggregation.in_windows(rows, at, batch=by[BATCH], alive=alive, clock=clock), groups
        key_name = F.col(by[_GROUP])
        found = late_for_aggregation.in_sessions(rows, at, batch=by[BATCH], alive=alive, key=key_name, clock=clock)
        return found.drop(by[_GROUP]), groups

    def _as_before(self, made: JavaObject, rows: DataFrame) -> tuple[JavaObject, list[JavaObject]]:
        """Rows of a plan with more columns, as a plan that begins with the columns it had; and the others."""
        plan = rows._jdf.queryExecution().analyzed()
        given, before = listed(plan.output()), listed(made.output())
        more = given[len(before) :]
        aliases = [alias(self.spark._jvm, one, other) for one, other in zip(given, before, strict=False)]
        return self._project([*aliases, *more], plan), more

    def _hash(self, values: list[JavaObject]) -> JavaObject:
        return jvm.new(self.spark._jvm, f"{_EXPRESSIONS}.XxHash64")(self._seq(values), 42)

    def _aggregate(self, groups: list[JavaObject], given_on: list[JavaObject], below: JavaObject) -> JavaObject:
        name = "org.apache.spark.sql.catalyst.plans.logical.Aggregate"
        [constructor] = self.spark._jvm.java.lang.Class.forName(name).getConstructors()
        more = [self.spark._jvm.scala.Option.empty()] * (constructor.getParameterCount() - 3)  # a hint, from 4.0 on
        return self._logical("Aggregate")(self._seq(groups), self._seq(given_on), below, *more)

    def _joined_with_a_table(self, node: Node, children: list[JavaObject]) -> JavaObject:
        """A join of a stream with a table: a row of the stream without one of the table's is given on, and marked."""
        streaming = [bool(child.java.isStreaming()) for child in node.children]
        kind = str(node.java.joinType().sql())
        if all(streaming) or kind not in _TAKES_OUT:
            return self._in_order(node, node.java.withNewChildren(self._seq(children)))
        catalyst = self.spark._jvm.org.apache.spark.sql.catalyst
        true = named(self.spark._jvm, catalyst.expressions.Literal.TrueLiteral(), _PASSES)
        condition = self._timed_by(node.java.condition(), self._carried(children[streaming.index(True)]))
        if kind in ("LEFT SEMI", "LEFT ANTI"):
            there, plans = true.toAttribute(), children
            how = catalyst.plans.ExistenceJoin(there)
            passes = catalyst.expressions.Not(there) if kind == "LEFT ANTI" else there
        else:
            table = streaming.index(False)
            plans = list(children)
            plans[table] = self._project([*listed(children[table].output()), true], children[table])
            how = getattr(getattr(catalyst.plans, "LeftOuter$" if table else "RightOuter$"), "MODULE$")
            passes = catalyst.expressions.IsNotNull(true.toAttribute())
        made = self._logical("Join")(*plans, how, condition, node.java.hint())
        kept = self._project([*self._wanted(node, made), *self._carried(made)], made)
        whether = named(self.spark._jvm, passes, _PASSES)
        marked = self._project([*listed(kept.output()), whether], made)
        table_name = _table_of(node.children[streaming.index(False)])
        which = "a row" if kind == "LEFT ANTI" else "no row"
        words = f"the {kind.lower()} join with {table_name} ({which} of which fits)"
        return self._marked(kept, frame(self.spark, marked), words)

    def _exploded(self, node: Node, made: JavaObject) -> JavaObject:
        """``explode``: a row without elements is given on, and marked; a marked one is given on once."""
        generator, expressions_ = node.java.generator(), self.spark._jvm.org.apache.spark.sql.catalyst.expressions
        if str(generator.getClass().getSimpleName()) not in _EXPLODES:
            return self._in_order(node, node.java.withNewChildren(self._seq([made])))
        values = self._timed_by(listed(generator.children())[0], self._carried(made))
        literal = getattr(getattr(expressions_, "Literal$"), "MODULE$")
        if not node.java.outer():
            some = expressions_.GreaterThan(expressions_.Size(values, False), literal.apply(0))
            words = f"the explode of {values.sql()} (null or without an element)"
            made = self._marked(made, frame(self.spark, self._kept(made, some)), words)
        left_at = next(each for each in self._carried(made) if each.name() == LEFT_AT)
        none = literal.create(None, values.dataType())
        once = generator.withNewChildren(self._seq([expressions_.If(expressions_.IsNull(left_at), values, none)]))
        output = node.java.generatorOutput()
        plan = self._logical("Generate")(once, self._seq([]), True, node.java.qualifier(), output, made)
        return self._in_order(node, plan)

    def _timed_by(self, expression: JavaObject, carried: list[JavaObject]) -> JavaObject:
        """An expression whose ``current_timestamp()`` and the like are the time of the row's micro-batch."""
        if not self.asks:
            return expression
        asked = _ASKS_THE_CLOCK.get(str(expression.getClass().getSimpleName()))
        if asked is not None:
            return next(each for each in carried if each.name() == _CLOCKS[asked])
        children = listed(expression.children())
        if not children:
            return expression
        return expression.withNewChildren(self._seq([self._timed_by(each, carried) for each in children]))

    def _carried(self, plan: JavaObject) -> list[JavaObject]:
        found = {each.name(): each for each in listed(plan.output())}
        if BATCH not in found or PLACE not in found:
            raise NotReplayable("an operator that does not give its input's columns further")
        return [found[name] for name in _CARRIED if name in found]

    def _with(self, given: JavaObject, more: list[JavaObject]) -> JavaObject:
        return self._seq([*listed(given), *more])

    def _logical(self, name: str) -> JavaObject:
        """An operator of Spark's plans, by its name."""
        return jvm.new(self.spark._jvm, f"org.apache.spark.sql.catalyst.plans.logical.{name}")

    def _project(self, columns: list[JavaObject], below: JavaObject) -> JavaObject:
        return self._logical("Project")(self._seq(columns), below)

    def _seq(self, values: list[JavaObject]) -> JavaObject:
        return seq(self.spark._jvm, values)


def _shown(node: Node) -> str:
    """An operator in the words of Spark's plans, cut off."""
    return str(node.java.simpleString(3))[:80]


def _named(outputs: Sequence[JavaObject], names: Sequence[str], wanted: str) -> str:
    """What a column of a plan is called in a frame whose columns have these names."""
    return next(name for each, name in zip(outputs, names, strict=True) if str(each.name()) == wanted)


def _in_micros(column: JavaObject, name: str) -> str:
    """SQL of an event time, or of the end of a window, in microseconds, by the name of its column."""
    kind = str(column.dataType().typeName())
    if kind == "struct":
        return micros_of(f"{name}.end", False)
    return micros_of(name, kind == "timestamp_ntz")


def _table_of(plan: Node) -> str:
    """What a table is called: its alias, or its columns."""
    alias_ = next((node for node in plan.walk() if node.kind == "SubqueryAlias"), None)
    if alias_ is not None:
        return f"the table {alias_.java.alias()}"
    return f"the table of {', '.join(str(each.name()) for each in plan.output)}"


def alias(java: JavaObject, column: JavaObject, other: JavaObject) -> JavaObject:
    """A column under the name and the id of another one."""
    return renamed(java, column, other.name(), other.exprId())


def named(java: JavaObject, column: JavaObject, name: str) -> JavaObject:
    """An expression as a new column."""
    new_id = jvm.static(java, f"{_EXPRESSIONS}.NamedExpression", "newExprId")
    return renamed(java, column, name, new_id())


def renamed(java: JavaObject, column: JavaObject, name: str, identity: JavaObject) -> JavaObject:
    """A column under a name and an id."""
    none, empty = jvm.static(java, "scala.Option", "empty")(), seq(java, [])
    return jvm.new(java, f"{_EXPRESSIONS}.Alias")(column, name, identity, empty, none, empty)


def ids(node: Node) -> frozenset[int]:
    """The ids of a node's columns."""
    return frozenset(node.ids)
