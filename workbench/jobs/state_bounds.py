"""By which bounds Spark lets rows of a join leave its state, and what a condition lacks where it lets none go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.jobs import catalyst, conditions, numeric_times
from workbench.jobs.catalyst import Node
from workbench.jobs.description import SideDescription
from workbench.jobs.join_conditions import Condition, Times
from workbench.joins import How, Join
from workbench.kinds import kind_of
from workbench.literals import SIDES, Side, Sides
from workbench.times import micros
from workbench.untyped import JavaObject, SparkObject

__all__ = [
    "TIME_OF_WINDOW",
    "Lacking",
    "condition_in_literals",
    "lacking",
    "names_the_frame_before",
    "of_state",
    "retention",
]

_ANY_TIME = 1_700_000_000_000  # milliseconds: whether a bound can be derived, not which
_KEPT = "Spark derives no state watermark for the {} side from the condition as written, and keeps its rows forever: {}"
_NO_BOUND = "the join has no {} bound, so Spark keeps the rows of the {} side forever: add one, such as {}"
_COMPARE = "compare one event time with the other plus or minus an INTERVAL"
_WRITE_SPAN = "write {}, which says the same"
_NOT_IN_MONTHS = "write its INTERVAL in days, as months are of no fixed length"
TIME_OF_WINDOW = (
    "compare window_time of the window, which has its watermark, rather than its start or end: "
    'make it with withColumn("time", F.window_time("window")) before the join'
)
_LITERALS = (
    "Spark reads a bound of such a join only where it is a time plus or minus an INTERVAL that is written out: "
    "write {}."
)
_KEPT_WITHOUT = (
    "as the {} side has no watermark, rows of the {} side never leave the state{}: call withWatermark on both "
    "sides before the join{}"
)
_AND_COMPARE = f", and {_COMPARE}: without a bound rows stay in state forever, whatever the watermarks"
_UNDERIVED = frozenset({"SubtractTimestamps", "TimestampAdd"})
"""Expressions of a span between two times from which Spark derives no watermark, though their bound is understood."""
_IN_MONTHS = frozenset({"AddMonths", "AddMonthsBase", "TimestampAddYMInterval"})


@dataclass(frozen=True)
class Lacking:
    """What Spark lacks to let the rows of a side go.

    Attributes
    ----------
    words
        The sentence that says it.
    remedy
        What to write in place of the condition as it is written; empty where it is a bound that is missing.
    """

    words: str
    remedy: str = ""

    @property
    def is_bound(self) -> bool:
        """Whether a bound of the event times is missing."""
        return not self.remedy


def retention(spark: SparkObject, join: Node, times: Times) -> dict[Side, int]:
    """How far behind the watermark rows leave the state, by side, as Spark derives it from how the join is written."""
    java = spark._jvm
    helper = java.org.apache.spark.sql.catalyst.analysis.StreamingJoinHelper
    now, condition = java.scala.Some(_ANY_TIME), join.java.condition()
    parts = [
        part
        for one in catalyst.expressions(join, "condition")
        for each in conditions.conjuncts(one)
        for part in each.parts
    ]
    equal = [conditions.equality(part) for part in parts]
    marked = {
        int(each.exprId().id()) for child in join.children for each in child.output if catalyst.has_watermark(each)
    }
    asked = {frozenset({pair[0].id, pair[1].id}) for pair in equal if pair is not None}
    if marked and any(ids == set(times.values()) or ids <= marked for ids in asked):
        return dict.fromkeys(SIDES, 0)  # the event time is a key; of an aggregate it is the time of its window
    outputs = [child.java.outputSet() for child in join.children]
    given = [child.output for child in join.children]
    if not condition.isEmpty():  # it may name the columns of a frame before its withWatermark, which have the same ids
        attributes = {int(each.exprId().id()): each for columns in given for each in columns}
        condition = java.scala.Some(_with_attributes(java, condition.get(), attributes))
    found: dict[Side, int] = {}
    for side, mine, other, columns in zip(SIDES, outputs, outputs[::-1], given, strict=True):
        if not any(map(catalyst.has_watermark, columns)):
            continue
        threshold = helper.getStateValueWatermark(mine, other, condition, now)
        if not threshold.isEmpty():
            found[side] = (_ANY_TIME - int(threshold.get())) * 1_000
    return found


def names_the_frame_before(join: Node) -> bool:
    """Whether a condition has a column that has a watermark as it was before that was set."""
    columns = [each for child in join.children for each in child.output]
    marked = {int(each.exprId().id()) for each in columns if catalyst.has_watermark(each)}
    parts = (part for one in catalyst.expressions(join, "condition") for part in one.walk())
    return any(part.id in marked and not catalyst.has_watermark(part.java) for part in parts)


def of_state(read: Condition, without: Mapping[Side, Lacking], how: How | None, kind: Join | None) -> Iterator[str]:
    """Notes on rows that never leave the state, and what Spark lacks to let them go.

    Parameters
    ----------
    read
        The condition.
    without
        What Spark lacks, by side: those whose rows never leave the state.
    how, kind
        How the join treats rows without a partner, and which join it is, if it is one of the workbench's.
    """
    unmarked = [side for side in SIDES if not read.inputs[side].watermarks]
    padded = f", and those that the {how} join pads never come out" if how in ("left", "right", "full") else ""
    if len(unmarked) == 1 and without:
        bounded = read.windows or read.numbered or read.limits != (None, None)
        more = "" if bounded else _AND_COMPARE
        yield _KEPT_WITHOUT.format(unmarked[0], " and of the ".join(without), padded, more)
        yield from (each.words for each in without.values() if each.is_bound)
    elif kind and not unmarked:
        yield from (each.words for each in without.values())


def lacking(read: Condition) -> dict[Side, Lacking]:
    """Per side what Spark lacks if its rows never leave the state: a bound, or another way of writing the condition."""
    lower, upper = read.limits
    without: dict[Side, Lacking] = {}
    remedy = _remedy(read)
    named = read.named_times
    for side in SIDES:
        without[side] = Lacking(_KEPT.format(side, remedy), remedy)
        missing = lower is None if side == "right" else upper is None
        if missing and (lower, upper) != (None, None) and named is not None:
            left, right = (".".join(each) for each in named)
            word, sign = ("lower", ">= {} -") if side == "right" else ("upper", "<= {} +")
            without[side] = Lacking(_NO_BOUND.format(word, side, f"{right} {sign.format(left)} INTERVAL 10 MINUTES"))
    return without


def _remedy(read: Condition) -> str:
    """How a condition is to be written for Spark to derive a watermark from it, where another way is not enough."""
    lower, upper = read.limits
    whole = lower is not None and upper is not None and not read.numbered
    if whole and any(mine.grouped is not None for mine in read.inputs.values()):
        return TIME_OF_WINDOW
    if whole and read.operators & _UNDERIVED and (named := read.named_times) is not None:
        return _WRITE_SPAN.format(numeric_times.in_intervals(named, lower, upper))
    return _NOT_IN_MONTHS if read.operators & _IN_MONTHS else _COMPARE


def condition_in_literals(both: Sides[SideDescription], join: Join | None, notes: Mapping[Side, Lacking]) -> str:
    """What to write where Spark reads no bound of an outer join that has one; empty where that is not known.

    Parameters
    ----------
    both, join
        The sides, and the join, if it is one of the workbench's.
    notes
        What Spark lacks of the sides whose rows never leave the state.
    """
    if any(each.remedy == TIME_OF_WINDOW for each in notes.values()):
        return TIME_OF_WINDOW
    known = {} if join is None else kind_of(join).arguments(join)
    if None in (known.get("lower"), known.get("upper"), *(each.watermark for each in both.values())):
        return ""
    names = [(each.name or side, each.time) for side, each in both.items()]
    bounds = [(micros(known[name]), bool(known[f"{name}_exclusive"])) for name in ("lower", "upper")]
    return _LITERALS.format(numeric_times.in_intervals(names, bounds[0], bounds[1]))


def _with_attributes(java: JavaObject, expression: JavaObject, attributes: dict[int, Any]) -> Any:
    """An expression over the columns that enter a join, with what these know of their watermarks."""
    if str(expression.getClass().getSimpleName()) == "AttributeReference":
        return attributes.get(int(expression.exprId().id()), expression)
    children = catalyst.listed(expression.children())
    if not children:
        return expression
    made = [_with_attributes(java, each, attributes) for each in children]
    return expression.withNewChildren(catalyst.seq(java, made))
