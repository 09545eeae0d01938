"""``wb.describe``: the join in a streaming plan that somebody else wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from workbench.errors import ArgumentError, one_of, wrong
from workbench.jobs import (
    catalyst,
    conditions,
    explained,
    from_java,
    groups,
    numeric_times,
    plan_notes,
    refusals,
    sides,
)
from workbench.jobs.catalyst import Node
from workbench.jobs.conditions import Bound, Compared, Conjunct, Numbered
from workbench.jobs.description import Description, SideDescription
from workbench.jobs.explained import Explained
from workbench.jobs.groups import Groups
from workbench.joins import How, IntervalJoin, Join, WindowJoin, emission_of
from workbench.kinds import kind_of
from workbench.literals import SIDES, Side, Sides, other_side
from workbench.model import Numbers
from workbench.plan import how as how_of
from workbench.times import micros, precise
from workbench.untyped import JavaObject, SparkObject

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = [
    "NoJoinError",
    "Understood",
    "as_it_runs",
    "below",
    "check_streaming",
    "describe",
    "described",
    "join_in",
    "joins",
    "parts",
    "redefined",
    "understood",
    "windows_alone",
]

_FIXED_ZONES = ("UTC", "Etc/UTC", "GMT", "Z")
_DAY = 86_400_000_000
_ANY_TIME = 1_700_000_000_000  # milliseconds: whether a bound can be derived, not which
_WORDS = {
    "Join": "a join of its own below this one",
    "Union": "a union below the join, of which only the first branch is described",
}
_KEPT = "Spark derives no state watermark for the {} side from the condition as written, and keeps its rows forever: {}"
_NO_BOUND = "the join has no {} bound, so Spark keeps the rows of the {} side forever: add one, such as {}"
_COMPARE = "compare one event time with the other plus or minus an INTERVAL"
_WRITE_SPAN = "write {}, which says the same"
_NOT_IN_MONTHS = "write its INTERVAL in days, as months are of no fixed length"
_TIME_OF_WINDOW = (
    "compare window_time of the window, which has its watermark, rather than its start or end: "
    'make it with withColumn("time", F.window_time("window")) before the join'
)
_LITERALS = (
    "Spark reads a bound of such a join only where it is a time plus or minus an INTERVAL that is written out: "
    "write {}."
)
_UNDERIVED = frozenset({"SubtractTimestamps", "TimestampAdd"})
"""Expressions of a span between two times from which Spark derives no watermark, though their bound is understood."""
_IN_MONTHS = frozenset({"AddMonths", "AddMonthsBase", "TimestampAddYMInterval"})
_NO_WATERMARK = "the {} side has no watermark: its rows are never dropped as late"
_KEPT_WITHOUT = (
    "as the {} side has no watermark, rows of the {} side never leave the state{}: call withWatermark on both "
    "sides before the join"
)
_LATEST_FIRST = (
    "the files of {} are read with latestFirst: the newest come first and move the watermark, so that rows of older "
    "files are late; read them in order, or set a delay as long as the span of the older files"
)
_NO_JOIN = "a streaming DataFrame without a join of two streams"
_ON_WINDOW = (
    "the watermark of the {} side is set on {}, a window, which Spark does not read as a time: it stays at 1970-01-01 "
    "19:05:19 less the delay, so no row is late, and none leaves the state; call withWatermark on {} before window()"
)
_MOVED = (
    "Spark may run the semi join below the aggregation of the left side, on the rows that it aggregates, which depends "
    "on the size of a micro-batch: use an inner join with one row of the right side for each key and window"
)
_OF_SESSIONS = 'unite both streams with union, and group them by the key and session_window(time, "gap")'
_SESSIONS_UNMERGED = (
    "session windows are compared before they are merged, which is no join of sessions: rows pair only where their "
    f"event times are equal; {_OF_SESSIONS}"
)
_SESSIONS_EQUAL = f"sessions of the two sides are equal only where both begin and end at the same time: {_OF_SESSIONS}"
_WINDOW_FIRST = (
    "the windows are computed before withWatermark is called, so Spark knows no watermark of them, and keeps rows "
    "forever: call withWatermark before window()"
)
_WINDOW_OF_ANOTHER = (
    "the windows are of {0}, and the watermark of {1} is on {2}: Spark knows no watermark of the windows, and keeps "
    "rows forever; call withWatermark on {0}, or make the windows of {2}"
)
_WINDOW_ABOVE = (
    "an aggregation after the join drops pairs whose window the watermark has passed, and a join without bounds on the "
    "event times keeps rows in state forever: give it bounds"
)


class NoJoinError(ArgumentError):
    """A DataFrame in which no two streams are joined."""


@dataclass(frozen=True)
class Understood:
    """A join in a plan, with what its parts are in the plan.

    Attributes
    ----------
    description
        What it means.
    plan
        The whole plan.
    join
        The node of the join; of a join that is written as groups the union of its sides.
    inputs
        Both sides.
    keys
        The columns that are equal, left and right, by their ids.
    times
        The event time of each side as it enters the join, by its id; None where it is not known.
    marks
        The event time of each side where its watermark was set, by its id; None where there is no watermark.
    rest
        The parts of the join's condition that `Description.where` has.
    retention
        Of an interval join, per side how far behind the watermark, in microseconds, its rows leave the state; a side
        without one keeps them forever. None of other joins, and where the plan has several.
    groups
        Of a join that is written as groups, these.
    run
        The join as Spark runs it, after its optimizer; None where it was not found.
    evicts_with_data
        Whether rows leave the state in micro-batches with rows only: the condition names a frame before its
        withWatermark, and Spark puts the columns with a watermark in their place where it reads rows.
    by_calendar
        The parts of the condition whose bounds are counted by the clock of a zone in which clocks change.
    compared
        For each of `keys` how it is compared, where that is not as the columns are: left and right. Empty: all are.
    filters
        What the job asks of the rows of one side, after the join or in its condition, and Spark before it.
    numbers
        The bounds of event times that the condition compares as numbers; None: it has none that are understood.
    """

    description: Description
    plan: Node
    join: Node
    inputs: tuple[sides.Input, sides.Input]
    keys: tuple[tuple[int, int], ...]
    times: tuple[int | None, int | None]
    marks: tuple[int | None, int | None]
    rest: tuple[Node, ...] = ()
    retention: dict[Side, int] | None = None
    groups: Groups | None = None
    run: Node | None = None
    evicts_with_data: bool = False
    by_calendar: tuple[Node, ...] = ()
    compared: tuple[Compared | None, ...] = ()
    filters: tuple[Node, ...] = ()
    numbers: Numbers | None = None

    @property
    def described(self) -> tuple[SideDescription, SideDescription]:
        """What each side is in words: its name, key, time and delay."""
        return self.description.left, self.description.right

    @property
    def is_without_keys(self) -> bool:
        """Whether each row of a side may meet each of the other, as where only windows are equal."""
        return self.join.kind == "Join" and self.description.join is not None and not self.keys


def describe(joined: DataFrame, mode: str = "append") -> Description:
    """What join a streaming DataFrame is, whoever wrote it.

    It is read from the analysed plan, by what expressions mean: bounds may be written as ``BETWEEN``, with intervals on
    either side, as differences of times, as columns or SQL, strict or not.

    Parameters
    ----------
    joined
        A streaming DataFrame in which two streams are joined, or the ``Dataset`` of Java or Scala code. Of several
        joins the last is described. Of a session of Spark Connect it is what the DataFrame's ``explain`` prints that is
        read, which has strings without quotes;
        `Description.where` is then near to SQL only, no note says how long Spark keeps rows, and of a semi join the
        types of the right side's columns are not known where the condition compares them without a cast.
    mode
        The output mode it is to be written in: ``"append"``, ``"update"`` or ``"complete"``. Where Spark refuses the
        query, a note says which rule is broken, where, and what to write; not over Spark Connect.

    Returns
    -------
    Description
        The join, both sides, what else its condition says, and what was not understood.

    Raises
    ------
    ArgumentError
        If it is no streaming DataFrame, or has no join of two streams; of Spark Connect also if Spark cannot plan it.

    Examples
    --------
    >>> import workbench as wb
    >>> spark = wb.spark()
    >>> stream = spark.readStream.format("rate").load().withWatermark("timestamp", "5 seconds")
    >>> within = "a.value = b.value AND b.timestamp BETWEEN a.timestamp AND a.timestamp + INTERVAL 1 MINUTE"
    >>> from pyspark.sql import functions as F
    >>> wb.describe(stream.alias("a").join(stream.alias("b"), F.expr(within), "left")).join
    IntervalJoin(lower='0 seconds', upper='1 minute', how='left')
    """
    one_of("mode", mode, ("append", "update", "complete"))
    joined = from_java.in_python(joined)
    check_streaming(joined)
    if hasattr(joined, "_jdf"):
        spark, plan = joined.sparkSession, catalyst.analysed(joined)
        read = understood(spark, plan).description
        again = tuple(each for each in [redefined(plan)] if each and each not in read.unknown)
        remedy = _outer_remedy(read)
        refused = [*refusals.refused(spark, plan, mode, remedy)]
        told = remedy and any(remedy in each for each in refused)
        notes = [each for each in read.notes if not (told and each.endswith(remedy))]  # nothing is kept that is refused
        return replace(read, notes=(*notes, *again, *refused))
    found = explained.explained(joined)
    if found is None:
        raise catalyst.without_plan()
    return described(joined.sparkSession, found)


def described(spark: SparkObject, found: Explained) -> Description:
    """The description of a join that Spark Connect explains.

    Raises
    ------
    ArgumentError
        If there is none.
    """
    every = joins(found.plan)
    if every:
        optimised = [] if every[1:] or found.run is None else joins(found.run)
        read = _of_join(spark, found.plan, every[0], every[1:], optimised).description
    else:
        read = _of_groups(found.plan).description
    return replace(read, unknown=(*read.unknown, *found.unknown))


def understood(spark: SparkObject, plan: Node, *, run: Node | None = None) -> Understood:
    """The last join of two streams in an analysed plan.

    Parameters
    ----------
    spark, plan
        The session, and the plan.
    run
        Of a part of a plan the whole as Spark runs it, optimised; joins below it are then understood by themselves, and
        are nothing that is not understood.

    Raises
    ------
    ArgumentError
        If there is none.
    """
    every = joins(plan)
    if not every:
        return _of_groups(plan)
    if run is None:
        optimised = [] if every[1:] else joins(catalyst.optimised(spark, plan))
        return _of_join(spark, plan, every[0], every[1:], optimised)
    same = as_it_runs(every[0], run)
    found = _of_join(spark, plan, every[0], [], [] if same is None else [same])
    words = tuple(f"the {side} side has {_WORDS['Join']}" for side in SIDES)
    unknown = tuple(each for each in found.description.unknown if each not in words)
    return replace(found, description=replace(found.description, unknown=unknown))


def parts(plan: Node) -> list[Node]:
    """For each join of two streams in a plan the part of it that ends with this join, in the order that rows pass them.

    The last is the whole plan. Joins that are not all below the last one are left out.
    """
    join = join_in(plan)
    if join is None:
        return [plan]
    return [*(part for child in below(join) for part in parts(child)), plan]


def below(join: Node) -> list[Node]:
    """The inputs of a join in which streams are joined, too."""
    return [child for child in join.children if bool(child.java.isStreaming()) and joins(child)]


def _of_join(spark: SparkObject, plan: Node, join: Node, others: list[Node], optimised: list[Node]) -> Understood:
    left, right = (sides.read(child) for child in join.children[:2])
    inputs: Sides[sides.Input] = Sides(left, right)
    unknown = [*_of_others(others), *(word for side in SIDES for word in _of_operators(side, inputs[side]))]
    notes = []
    written = how_of.SPARK.get(_type(join))
    how = how_of.SPARK.get(_type(optimised[0])) if len(optimised) == 1 else written
    set_twice = [words for child in join.children if (words := redefined(child))]
    unknown += set_twice
    if how != written:
        words = f"a filter after the {written} join drops rows without a partner"
        notes.append(f"{words}, so what Spark runs is the {how} join")
    if how is None:
        unknown.append(f"the join is a {join.java.joinType().sql()} join, which the workbench has no kind for")
    found = [each for one in catalyst.expressions(join, "condition") for each in conditions.conjuncts(one)]
    above = _filters_above(plan, join)
    times, ambiguous = _times(inputs, [*found, *(above if how == "inner" else [])])
    unknown += ambiguous
    read = _Condition.of(found, inputs, times)
    absent = [side for side in SIDES if any(_is_absent(each, read, inputs, times, side) for each in above)]
    if how == "left" and absent == ["right"]:
        how = how_of.UNMATCHED
    elif absent:
        words = f"a filter after the {how} join keeps rows without a {' and a '.join(absent)} row only"
        unknown.append(f"{words}, which is not part of the description")
    if how == "inner":  # what is filtered right after it is part of its condition
        read = read.with_filters(_Condition.of(above, inputs, times))
    kind, more = _kind(how, inputs, read, times)
    if set_twice:
        kind = None
    if read.rest and not read.windows and None in _limits(inputs, read) and not hasattr(spark, "_jvm"):
        kind = None  # a bound may be in what a plan read from text does not say
    if how is not None and left.grouped is not None and emission_of(how).first_only:
        kind = None
        more.append(_MOVED)
    if _compares_windows(read, inputs):
        kind = None
        more.append(
            "the condition compares parts of windows: join on the windows themselves, as with w = w, by which rows "
            "leave the state; by the start or the end of a window none does"
        )
    more += _of_others_compared(read, inputs, times)
    if not read.keys:
        more.append("the condition has no equality of a column of one side with a column of the other")
    derived = len(optimised) == 1 and not read.windows and hasattr(spark, "_jvm")
    retention = _retention(spark, optimised[0], times) if derived else None
    groups_meet = any(map(partial(_are_windows_of_groups, inputs), read.keys))
    if kind is not None and (groups_meet or (read.windows and not kind_of(kind).windowed)):
        retention = dict.fromkeys(SIDES, 0)  # the window is a key
    notes += _of_state(inputs, retention, how, kind, _lacking(inputs, read, found, times))
    notes += _of_bounds_swapped(inputs, read, times)
    notes += _of_days(spark, read, found)
    notes += _of_window_days(spark, inputs, read)
    notes += _of_marked_windows(inputs)
    for side, child in zip(SIDES, join.children, strict=False):
        notes += plan_notes.of_duplicates(child, inputs[side].name or f"the {side} side")
    notes += plan_notes.of_duplicates_above(plan, join)
    notes += _of_windows_unmarked(inputs, read)
    if groups_meet and any(mine.grouped is not None and mine.grouped.size is None for mine in inputs.values()):
        notes.append(_SESSIONS_EQUAL)
    notes += _of_filters(above, join)
    notes += [_LATEST_FIRST.format(inputs[side].name or side) for side in SIDES if inputs[side].latest_first]
    if not read.bounds and not read.windows and any(node.kind == "Aggregate" for node in plan.walk()):
        notes += [_WINDOW_ABOVE] if _is_above(plan, join, "Aggregate") else []
    notes += [
        f"keys are compared as {' = '.join(str(each.java.sql()) for each in one.expressions)}"
        + (", and two nulls are equal" if one.nulls_meet else "")
        for one in read.compared.values()
        if not all(map(conditions.is_struct, one.expressions))
    ]
    edge = "start" if kind is not None and kind_of(kind).windowed else "end"
    described = [
        _side(side, inputs[side], [pair[place] for pair in read.keys], times[side], edge)
        for place, side in enumerate(SIDES)
    ]
    where = " AND ".join(str(each.java.sql()) for each in read.rest)
    numbers = None
    if kind is not None and not kind_of(kind).windowed:
        parts = [part for each in found for part in each.parts]
        numbers = _numbers(parts, join, inputs, times, described)
    if numbers is not None:
        kept = [] if retention is None else [side for side in SIDES if side not in retention]
        lost = {
            side: described[place].time
            for place, side in enumerate(SIDES)
            if _entering(inputs[side], times[side]) is None
        }
        notes.append(numeric_times.note(numbers, kept, lost))
        numbers = numbers if not read.bounds else replace(numbers, low=None, high=None)
    marks = [None if (mark := _mark(inputs[side], times[side])) is None else mark.time for side in SIDES]
    return Understood(
        Description(kind, described[0], described[1], where, tuple(unknown + more), tuple(notes)),
        plan,
        join,
        (left, right),
        tuple(read.keys),
        (_entering(left, times["left"]), _entering(right, times["right"])),
        (marks[0], marks[1]),
        () if kind is None else tuple(read.rest),
        retention,
        run=optimised[0] if len(optimised) == 1 else None,
        by_calendar=tuple(_by_calendar(spark, [*found, *(above if how == "inner" else [])], inputs, times)),
        evicts_with_data=bool(retention) and _names_the_frame_before(optimised[0]),
        compared=tuple(read.compared.get(pair) for pair in read.keys) if read.compared else (),
        numbers=numbers,
        filters=tuple(_asked_first([*(each for each in found if not _is_kept(each, how, join)), *above], join)),
    )


def _is_kept(condition: Conjunct, how: How | None, join: Node) -> bool:
    """Whether a part of a join's condition takes no row of a side out, as the join pads what fails it."""
    padded = () if how is None else emission_of(how).padded
    columns = catalyst.columns_in(condition.written)
    return any(columns <= _ids(join.children[SIDES.index(side)]) for side in padded)


def _asked_first(found: list[Conjunct], join: Node) -> list[Node]:
    """The parts of conditions that have columns of one side of a join only."""
    mine = [_ids(child) for child in join.children]
    parts = [each.written for each in found]
    return [each for each in parts if (columns := catalyst.columns_in(each)) and any(columns <= side for side in mine)]


def _of_filters(above: list[Conjunct], join: Node) -> Iterator[str]:
    """A note on filters after a join that compare columns of both sides."""
    one_sided = _asked_first(above, join)
    for each in (one.written for one in above if one.written not in one_sided):
        if len(catalyst.columns_in(each)) > 1:
            yield (
                f"the filter {each.java.sql()} after the join removes pairs: fates are those of the join itself, so "
                "a row whose pairs are all removed is still matched"
            )


def redefined(plan: Node) -> str:
    """What is said of a plan that sets a second watermark on a stream, which Spark refuses; empty: it does not."""
    for node in _watermarks(plan):
        below = next((each for child in node.children for each in _watermarks(child)), None)
        if below is not None:
            first, again = (_watermark_in_words(each) for each in (below, node))
            return (
                f"withWatermark is called on {first} and again on {again}, which Spark refuses as soon as the "
                "watermark moves, and late rows may be judged by either: call it once per stream"
            )
    return ""


def _watermarks(plan: Node) -> list[Node]:
    """The watermarks of the streams in a plan."""
    return [each for each in plan.walk() if each.kind == "EventTimeWatermark" and bool(each.java.isStreaming())]


def _watermark_in_words(node: Node) -> str:
    [time] = catalyst.expressions(node, "eventTime")
    delay = catalyst.span(node.java.delay())
    return time.name if delay is None else f"{time.name} (by {precise(timedelta(microseconds=delay))})"


def _of_state(
    inputs: Sides[sides.Input],
    retention: dict[Side, int] | None,
    how: How | None,
    kind: Join | None,
    lacking: Mapping[Side, _Lacking],
) -> Iterator[str]:
    """Notes on rows that never leave the state, and what Spark lacks to let them go."""
    kept = [] if retention is None else [side for side in SIDES if side not in retention]
    unmarked = [side for side in SIDES if not inputs[side].watermarks]
    padded = f", and those that the {how} join pads never come out" if how in ("left", "right", "full") else ""
    if len(unmarked) == 1 and kept:
        yield _KEPT_WITHOUT.format(unmarked[0], " and of the ".join(f"{side}" for side in kept), padded)
        yield from (lacking[side].words for side in kept if lacking[side].is_bound)
    elif kind and not unmarked:
        yield from (lacking[side].words for side in kept)


def _of_bounds_swapped(inputs: Sides[sides.Input], read: _Condition, times: dict[Side, int | None]) -> Iterator[str]:
    """A note on bounds of which the lower one is above the upper."""
    lower, upper = _limits(inputs, read)
    named = _named_times(inputs, times)
    if lower is not None and upper is not None and lower[0] > upper[0] and named is not None:
        yield f"the bounds are swapped: write {numeric_times.in_intervals(named, upper, lower)}"


class _Lacking(NamedTuple):
    """What Spark lacks to let the rows of a side go, as a sentence, and whether that is a bound of the event times."""

    words: str
    is_bound: bool


def _lacking(
    inputs: Sides[sides.Input], read: _Condition, found: Sequence[Conjunct], times: dict[Side, int | None]
) -> dict[Side, _Lacking]:
    """Per side what Spark lacks if its rows never leave the state: a bound, or another way of writing the condition."""
    lower, upper = _limits(inputs, read)
    without: dict[Side, _Lacking] = {}
    remedy = _remedy(inputs, read, found, times)
    named = _named_times(inputs, times)
    for side in SIDES:
        without[side] = _Lacking(_KEPT.format(side, remedy), False)
        missing = lower is None if side == "right" else upper is None
        if missing and (lower, upper) != (None, None) and named is not None:
            left, right = (".".join(each) for each in named)
            word, sign = ("lower", ">= {} -") if side == "right" else ("upper", "<= {} +")
            words = _NO_BOUND.format(word, side, f"{right} {sign.format(left)} INTERVAL 10 MINUTES")
            without[side] = _Lacking(words, True)
    return without


def _named_times(inputs: Sides[sides.Input], times: dict[Side, int | None]) -> list[tuple[str, str]] | None:
    """What each side and its event time are called where it enters the join; None where one does not enter it."""
    entering = {side: _entering(mine, times[side]) for side, mine in inputs.items()}
    named = [(inputs[side].name or side, inputs[side].columns[at]) for side, at in entering.items() if at is not None]
    return named if len(named) == len(SIDES) else None


def _remedy(
    inputs: Sides[sides.Input], read: _Condition, found: Sequence[Conjunct], times: dict[Side, int | None]
) -> str:
    """How a condition is to be written for Spark to derive a watermark from it, where another way is not enough."""
    kinds = {node.kind for each in found for part in each.parts for node in part.walk()}
    lower, upper = _limits(inputs, read)
    whole = lower is not None and upper is not None and not read.numbered
    if whole and any(mine.grouped is not None for mine in inputs.values()):
        return _TIME_OF_WINDOW
    if whole and kinds & _UNDERIVED and (named := _named_times(inputs, times)) is not None:
        return _WRITE_SPAN.format(numeric_times.in_intervals(named, lower, upper))
    return _NOT_IN_MONTHS if kinds & _IN_MONTHS else _COMPARE


def _compares_windows(read: _Condition, inputs: Sides[sides.Input]) -> bool:
    """Whether the condition has windows that are compared in another way than as equal."""
    parts = [node for each in read.rest for node in each.walk() if node.kind == "AttributeReference" and node.id]
    return any(
        part.id in mine.columns and mine.origin(part.id or 0) in mine.windows
        for part in parts
        for mine in inputs.values()
    )


def _are_windows_of_groups(inputs: Sides[sides.Input], pair: tuple[int, int]) -> bool:
    """Whether two columns are the windows of aggregations."""
    both = zip(inputs.values(), pair, strict=True)
    return all(mine.grouped is not None and mine.origin(each) == mine.grouped.window for mine, each in both)


def _of_others_compared(read: _Condition, inputs: Sides[sides.Input], times: dict[Side, int | None]) -> Iterator[str]:
    """Which times the condition compares that have no watermark, where it has no bounds on those that have one."""
    if read.bounds or read.windows:
        return
    parts = [part for each in read.rest for one in conditions.conjuncts(each) for part in one.parts]
    limits = [limit for part in parts for limit in _bounds(part, inputs)]
    compared = {each for limit in limits for each in (limit.later, limit.earlier)}
    for side in SIDES:
        mine, time = inputs[side], times[side]
        others = [mine.columns[each] for each in compared if each in mine.columns and mine.watermark_of(each) is None]
        if others and time is not None and mine.watermarks:
            marked, named = mine.called(time) or "another column", " and ".join(others)
            yield (
                f"the condition compares {named} of the {side} side, and its watermark is on {marked}: Spark bounds "
                f"the state by a column with a watermark only; call withWatermark on {others[0]}, after it is "
                f"computed, or compare {marked}"
            )
        elif time is not None and mine.watermarks and (field := _field_of_time(parts, mine)):
            yield (
                f"the condition compares {field} of the {side} side, a field, and its watermark is on "
                f"{mine.called(time) or 'another column'}: Spark bounds the state by a column with a watermark only; "
                f"compare {mine.called(time) or 'that column'}"
            )


def _field_of_time(parts: Sequence[Node], mine: sides.Input) -> str:
    """The first field of a struct of a side, a time, that a condition has; empty without one."""
    fields = (node for part in parts for node in part.walk() if node.kind == "GetStructField")
    of_side = (node for node in fields if catalyst.columns_in(node) <= set(mine.columns))
    times = (node for node in of_side if "Timestamp" in str(node.java.dataType().getClass().getSimpleName()))
    return next((str(node.java.sql()).replace("`", "") for node in times), "")


def _of_marked_windows(inputs: Sides[sides.Input]) -> Iterator[str]:
    """A note on watermarks that are set on a window."""
    for side, mine in inputs.items():
        for each in filter(mine.on_window, mine.watermarks):
            yield _ON_WINDOW.format(side, mine.computed.get(each.time) or "a window", mine.called(mine.marked(each)))


def _of_windows_unmarked(inputs: Sides[sides.Input], read: _Condition) -> Iterator[str]:
    """A note on windows that are compared, and of which Spark knows no watermark."""
    found = [
        (mine, mine.windows[mine.origin(pair[place])][1])
        for pair in read.keys
        for place, mine in enumerate(inputs.values())
        if mine.origin(pair[place]) in mine.windows and not _are_windows_of_groups(inputs, pair)
    ]
    if not found:
        return
    for mine, time in found:
        if mine.watermarks and mine.watermark_of(time) is None:
            marked = mine.called(mine.marked(mine.watermarks[0]))
            yield _WINDOW_OF_ANOTHER.format(mine.called(time), mine.name or "its side", marked)
            return
    yield _WINDOW_FIRST


def _of_window_days(spark: SparkObject, inputs: Sides[sides.Input], read: _Condition) -> Iterator[str]:
    """A note on windows that begin at no midnight of the session's zone."""
    for pair in read.windows[:1]:
        yield from plan_notes.of_windows(inputs["left"].windows[inputs["left"].origin(pair[0])][0], _zone(spark))


def _is_above(plan: Node, join: Node, kind: str) -> bool:
    """Whether there is an operator between a join and the end of a plan."""
    node = plan
    while node is not join:
        if node.kind == kind:
            return True
        below = [child for child in node.children if any(each is join for each in child.walk())]
        if not below:
            return False
        node = below[0]
    return False


def as_it_runs(join: Node, run: Node) -> Node | None:
    """A join in the plan that Spark runs, whose inputs have columns of the same; None where there is none such."""
    every = joins(run)
    if len(every) == 1:
        return every[0]
    ids = [_ids(child) for child in join.children]
    same = (each for each in every if all(_ids(one) <= other for one, other in zip(each.children, ids, strict=True)))
    return next(same, None)


def _ids(node: Node) -> set[int]:
    return set(node.ids)


def _mark(mine: sides.Input, time: int | None) -> sides.Watermark | None:
    if mine.grouped is not None:
        return mine.watermark_of(mine.windows[mine.grouped.window][1])
    return None if time is None else mine.watermark_of(time)


def _entering(mine: sides.Input, time: int | None) -> int | None:
    """The id by which a time enters a join; None where it does not, and of an aggregate, which has a window for it."""
    if time is None or mine.grouped is not None:
        return None
    return next((each for each in mine.columns if mine.origin(each) == mine.origin(time)), None)


def _type(join: Node) -> str:
    return str(join.fields["joinType"]["object"]).rpartition(".")[2].rstrip("$")


def _is_absent(
    condition: Conjunct, read: _Condition, inputs: Sides[sides.Input], times: dict[Side, int | None], side: Side
) -> bool:
    """Whether a filter after a join keeps rows without a partner on a side only: what each partner has is null."""
    mine, place = inputs[side], SIDES.index(side)
    known = {mine.origin(pair[place]) for pair in (*read.keys, *read.windows)}
    time = times[side]
    if time is not None and (read.bounds or read.windows):
        known.add(mine.origin(time))
    nulls = [part.children[0] for part in condition.parts if part.kind == "IsNull"]
    return any(each.id in mine.columns and mine.origin(each.id) in known for each in nulls if each.id is not None)


def _retention(spark: SparkObject, join: Node, times: dict[Side, int | None]) -> dict[Side, int]:
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


def _by_calendar(
    spark: SparkObject, found: list[Conjunct], inputs: Sides[sides.Input], times: dict[Side, int | None]
) -> list[Node]:
    """The conjuncts with bounds of the event times, if Spark counts one by the clock of a zone where clocks change.

    All of them, as pairs are looked for within bounds that are wider by what clocks change, on either end.
    """
    if not _changes_clocks(_zone(spark, found)):
        return []
    left, right = (inputs[side] for side in SIDES)
    bounding, counted = [], False
    for each in found:
        limits = [one for part in each.parts for one in _bounds(part, inputs) if _is_of(one, left, right, times)]
        kinds = {node.kind for part in each.parts for node in part.walk()}
        counted |= bool(limits) and ("SubtractTimestamps" in kinds or any(abs(one.micros) >= _DAY for one in limits))
        bounding += [each.written] if limits else []
    return bounding if counted else []


def _zone(spark: SparkObject, found: Sequence[Conjunct] = ()) -> str:
    """The time zone by which Spark counts days: that of the session when a condition was written, or that of now."""
    zones = (part.fields.get("timeZoneId") for each in found for part in each.written.walk())
    return str(next(filter(None, zones), "")) or str(spark.conf.get("spark.sql.session.timeZone"))


def _changes_clocks(zone: str) -> bool:
    """Whether a time zone is one in which a day may have another length than 24 hours."""
    return zone not in _FIXED_ZONES and zone[0] not in "+-"


def _names_the_frame_before(join: Node) -> bool:
    """Whether a condition has a column that has a watermark as it was before that was set."""
    columns = [each for child in join.children for each in child.output]
    marked = {int(each.exprId().id()) for each in columns if catalyst.has_watermark(each)}
    parts = (part for one in catalyst.expressions(join, "condition") for part in one.walk())
    return any(part.id in marked and not catalyst.has_watermark(part.java) for part in parts)


def _with_attributes(java: JavaObject, expression: JavaObject, attributes: dict[int, Any]) -> Any:
    """An expression over the columns that enter a join, with what these know of their watermarks."""
    if str(expression.getClass().getSimpleName()) == "AttributeReference":
        return attributes.get(int(expression.exprId().id()), expression)
    children = catalyst.listed(expression.children())
    if not children:
        return expression
    made = [_with_attributes(java, each, attributes) for each in children]
    return expression.withNewChildren(catalyst.seq(java, made))


def _of_days(spark: SparkObject, read: _Condition, found: list[Conjunct]) -> Iterator[str]:
    """A note on days that are not 24 hours long."""
    zone = _zone(spark, found)
    if not _changes_clocks(zone):
        return
    kinds = {node.kind for each in found for part in each.parts for node in part.walk()}
    if any(abs(each.micros) >= _DAY for each in read.bounds) or (read.bounds and "SubtractTimestamps" in kinds):
        yield (
            f"the session's time zone is {zone}: where clocks change, Spark computes days and differences of times by "
            "the clock, and the description by elapsed hours"
        )


def _outer_remedy(read: Description) -> str:
    """What to write where Spark reads no bound of an outer join that has one; empty where that is not known."""
    if any(each.endswith(_TIME_OF_WINDOW) for each in read.notes):
        return _TIME_OF_WINDOW
    written = _in_literals(read)
    return _LITERALS.format(written) if written else ""


def _in_literals(read: Description) -> str:
    """Both bounds of a join on sides with watermarks, as a condition that Spark reads; empty where one is not known."""
    both = Sides(read.left, read.right)
    known = {} if read.join is None else kind_of(read.join).arguments(read.join)
    if None in (known.get("lower"), known.get("upper"), *(each.watermark for each in both.values())):
        return ""
    names = [(each.name or side, each.time) for side, each in both.items()]
    bounds = [(micros(known[name]), bool(known[f"{name}_exclusive"])) for name in ("lower", "upper")]
    return numeric_times.in_intervals(names, bounds[0], bounds[1])


def check_streaming(
    joined: SparkObject, remedy: str = "give a streaming DataFrame in which two streams are joined"
) -> None:
    """Check that it is a streaming DataFrame.

    Parameters
    ----------
    joined
        What was given.
    remedy
        What would work instead.

    Raises
    ------
    ArgumentError
        If it is not.
    """
    if not getattr(joined, "isStreaming", False):
        given = "a DataFrame that is not streaming" if hasattr(joined, "isStreaming") else joined
        if isinstance(joined, str) and len(joined.split()) > 1:  # and no name of a query
            remedy += "; of SQL text spark.sql(…) makes one"
        elif callable(joined):
            remedy += "; of a function that makes one, what it returns"
        raise wrong("joined", given, remedy)


def _of_groups(plan: Node) -> Understood:
    """The description of a join that is written as groups of a union."""
    found = groups.read(plan)
    if found is None:
        given, remedy = plan_notes.of_static(plan) or (_NO_JOIN, "give what their join returns")
        raise NoJoinError(str(wrong("joined", given, remedy)))
    described = []
    unknown = [word for side, mine in Sides(*found.inputs).items() for word in _of_operators(side, mine)]
    unknown += found.unknown
    for place, (side, mine) in enumerate(zip(SIDES, found.inputs, strict=True)):
        time = found.times[place]
        names = tuple(mine.name_of(pair[place]) or mine.columns[pair[place]] for pair in found.keys)
        mark = found.marks[place]
        if mark is None:
            unknown.append(_NO_WATERMARK.format(side))
        described.append(
            SideDescription(
                mine.name or side,
                names[0] if len(names) == 1 else names,
                "" if time is None else mine.name_of(time) or mine.columns.get(time, ""),
                mark.delay if mark else None,
                tuple(mine.columns.values()),
            )
        )
    if not found.keys:
        unknown.append("rows are grouped by no column that both sides have")
    left, right = found.inputs
    times = [_entering(mine, time) for mine, time in zip(found.inputs, found.times, strict=True)]
    return Understood(
        Description(found.join, described[0], described[1], "", tuple(unknown)),
        plan,
        found.union,
        (left, right),
        tuple(found.keys),
        (times[0], times[1]),
        (
            None if found.marks[0] is None else found.marks[0].time,
            None if found.marks[1] is None else found.marks[1].time,
        ),
        groups=found,
    )


def join_in(plan: Node) -> Node | None:
    """The last join of two streams in a plan; None if there is none."""
    return next(iter(joins(plan)), None)


def joins(plan: Node) -> list[Node]:
    """The joins of two streams in a plan, the last one first."""
    found = [node for node in plan.walk() if node.kind == "Join"]
    return [node for node in found if all(bool(child.java.isStreaming()) for child in node.children)]


def _filters_above(plan: Node, join: Node) -> list[Conjunct]:
    """What the filters after a join say, in terms of the columns that the join gives."""
    nodes, node = [], plan
    while node is not join:
        if node.kind not in ("Filter", "Project", "SubqueryAlias", "View"):
            return []
        nodes.append(node)
        [node] = node.children
    meanings = {column: meaning for each in nodes for column, meaning in sides.defined(each)}
    found = [each for one in nodes if one.kind == "Filter" for each in catalyst.expressions(one, "condition")]
    parts = [each for one in found for each in conditions.conjuncts(one)]
    return [Conjunct(each.written, tuple(conditions.replaced(part, meanings) for part in each.parts)) for each in parts]


def _of_others(joins: list[Node]) -> Iterator[str]:
    if joins:
        number = "another join" if len(joins) == 1 else f"{len(joins)} other joins"
        yield f"the plan has {number} of two streams: describe the DataFrame that joins them to see more"


def _of_operators(side: Side, found: sides.Input) -> Iterator[str]:
    for each in found.operators:
        what = _WORDS.get(each, f"Spark's operator {each} below the join, which is not understood")
        yield f"the {side} side has {what}"
    if any(each.delay is None for each in found.watermarks):
        yield f"the {side} side has a watermark delay in months, which are not equally long"


@dataclass(frozen=True)
class _Condition:
    """What a condition says: pairs of equal columns (by id), of equal windows, bounds of times, and the rest.

    The rest holds bounds of event times as numbers, too, as less than what these count is cut off.
    """

    keys: list[tuple[int, int]]
    windows: list[tuple[int, int]]
    bounds: list[Bound]
    rest: list[Node]
    compared: dict[tuple[int, int], Compared]
    numbered: list[Numbered] = field(default_factory=list)

    @classmethod
    def of(cls, found: list[Conjunct], inputs: Sides[sides.Input], times: dict[Side, int | None]) -> _Condition:
        left, right = (inputs[side] for side in SIDES)
        read = cls([], [], [], [], {})
        for each in found:
            understood = [read.take(part, left, right, times) for part in each.parts]
            if not all(understood):
                read.rest.append(each.written)
        return read

    def take(self, part: Node, left: sides.Input, right: sides.Input, times: dict[Side, int | None]) -> bool:
        """Take in what a part says, if it is understood."""
        inputs = Sides(left, right)
        limits = [each for each in _bounds(part, inputs) if _is_of(each, left, right, times)]
        pair = _pair(part, left, right)
        self.numbered.extend(each for each in conditions.numbered(part) if _is_of(each.written, left, right, times))
        if limits:
            self.bounds.extend(limits)
        elif (
            pair
            and _is_window(pair[0], left, times["left"])
            and _is_window(pair[1], right, times["right"])
            and _has_a_watermark(pair, left, right)
        ):
            self.windows.append(pair)
        elif pair and pair not in self.keys and not any(map(conditions.is_collated, part.children)):
            self.keys.append(pair)
            if any(map(conditions.is_struct, part.children)) and (structs := _derived_of(part, left)) is not None:
                self.compared[pair] = structs
        elif pair and pair not in self.keys:
            pair = None
        if limits or pair:
            return True
        found = _derived(part, left, right, times)
        if found is None:
            return False
        pair = (found.columns[0][0], found.columns[1][0])
        if pair in self.keys:
            return False
        self.keys.append(pair)
        self.compared[pair] = found
        return True

    def with_filters(self, more: _Condition) -> _Condition:
        """With what a filter after the join says of both sides; what else it says is a filter of the join's output."""
        keys = [each for each in more.keys if each not in self.keys]
        compared = {pair: each for pair, each in more.compared.items() if pair in keys} | self.compared
        windows, bounds = self.windows + more.windows, self.bounds + more.bounds
        return _Condition(self.keys + keys, windows, bounds, self.rest, compared, self.numbered)


def _numbers(
    parts: Sequence[Node],
    join: Node,
    inputs: Sides[sides.Input],
    times: dict[Side, int | None],
    described: Sequence[SideDescription],
) -> Numbers | None:
    """The bounds of the event times as numbers, also of columns that are made of them below the join."""
    below = (node for child in join.children for node in child.walk())
    meanings = {column: meaning for node in below for column, meaning in sides.defined(node)}
    found: list[Numbered] = []
    later: list[Side] = []
    for part in parts:
        for each in conditions.numbered(conditions.replaced(part, meanings)):
            ends = [
                next((side for side, mine in inputs.items() if mine.origin(number) == _origin(mine, times[side])), None)
                for number in (each.written.later, each.written.earlier)
            ]
            if ends[0] is not None and ends[1] == other_side(ends[0]):
                found.append(each)
                later.append(ends[0])
    return numeric_times.bounds(found, later, described)


def _origin(mine: sides.Input, time: int | None) -> int | None:
    return None if time is None else mine.origin(time)


def _bounds(part: Node, inputs: Sides[sides.Input]) -> list[Bound]:
    """The bounds that a part of a condition says; the start and the end of an aggregate's window are its event time."""
    return [_of_end(_of_end(each, inputs, "later"), inputs, "earlier") for each in conditions.bounds(part)]


def _of_end(limit: Bound, inputs: Sides[sides.Input], which: Literal["later", "earlier"]) -> Bound:
    """A bound of the end of a window in place of its start."""
    number = getattr(limit, which)
    for mine in inputs.values():
        if number in mine.columns and mine.grouped is not None and mine.origin(number) in mine.edges:
            after = mine.edges[mine.origin(number)]
            return replace(limit, micros=limit.micros + (after if which == "earlier" else -after))
    if number >= 0:
        return limit
    column, ordinal = conditions.of_field(number)
    for mine in inputs.values():
        if column in mine.columns and mine.grouped is not None and mine.origin(column) == mine.grouped.window:
            size = 0 if ordinal else mine.grouped.size
            if size is None:  # of session windows only the end is the event time
                return limit
            if which == "later":
                return replace(limit, later=column, micros=limit.micros + size)
            return replace(limit, earlier=column, micros=limit.micros - size)
    return limit


def _is_of(limit: Bound, left: sides.Input, right: sides.Input, times: dict[Side, int | None]) -> bool:
    """Whether a bound is one of the two event times."""
    wanted = {times["left"], times["right"]}
    found = {
        mine.time_of(each) for mine in (left, right) for each in (limit.later, limit.earlier) if each in mine.columns
    }
    return None not in wanted and found == {left.origin(times["left"] or 0), right.origin(times["right"] or 0)}


def _is_window(column: int, mine: sides.Input, time: int | None) -> bool:
    """Whether a column is a window of the event time."""
    found = mine.windows.get(mine.origin(column))
    if mine.grouped is not None:
        return mine.origin(column) == mine.grouped.window and mine.grouped.size is not None
    return found is not None and time is not None and mine.origin(found[1]) == mine.origin(time)


def _has_a_watermark(pair: tuple[int, int], left: sides.Input, right: sides.Input) -> bool:
    """Whether Spark knows a watermark of either of two windows, as it does where withWatermark comes before window().

    Of sides without a watermark none is asked for.
    """
    if not left.watermarks and not right.watermarks:
        return True
    return any(column in mine.of_marks for column, mine in zip(pair, (left, right), strict=True))


def _pair(part: Node, left: sides.Input, right: sides.Input) -> tuple[int, int] | None:
    """The ids of two columns that are equal, that of the left side first."""
    equal = conditions.equality(part)
    if equal is None or equal[0].id is None or equal[1].id is None:
        return None
    one, other = equal[0].id, equal[1].id
    if one in left.columns and other in right.columns:
        return one, other
    return (other, one) if other in left.columns and one in right.columns else None


def _derived(part: Node, left: sides.Input, right: sides.Input, times: dict[Side, int | None]) -> Compared | None:
    """Expressions of columns of each side that are equal, that of the left side first; not of the event times."""
    found = _derived_of(part, left)
    if found is None:
        return None
    for mine, columns, time in zip((left, right), found.columns, times.values(), strict=True):
        origins = {mine.origin(each) for each in columns}
        of_time = time is not None and mine.origin(time) in origins
        if not set(columns) <= set(mine.columns) or of_time or origins & set(mine.windows):
            return None
    return found


def _derived_of(part: Node, left: sides.Input) -> Compared | None:
    """Expressions of columns of each side that are equal, that of the left side first."""
    found = conditions.compared(part)
    if found is None or set(found.columns[0]) <= set(left.columns):
        return found
    return replace(found, columns=found.columns[::-1], expressions=found.expressions[::-1])


def _times(inputs: Sides[sides.Input], found: list[Conjunct]) -> tuple[dict[Side, int | None], list[str]]:
    """The event time of each side, by the id of its source's column: the one with a watermark.

    Of a side without watermarks it is the only time that is compared with one of the other side; where none is, the
    first column that is a time, as no fate depends on it then.
    """
    times: dict[Side, int | None] = {}
    unknown = []
    limits = [limit for each in found for part in each.parts for limit in _bounds(part, inputs)]
    for place, side in enumerate(SIDES):
        mine = inputs[side]
        if mine.grouped is not None:
            times[side] = mine.grouped.window
            continue
        marked = [mine.marked(each) for each in mine.watermarks]
        compared = [each for limit in limits for each in (limit.later, limit.earlier) if each in mine.columns]
        of_windows = [
            mine.windows[mine.origin(pair[place])][1]
            for each in found
            for part in each.parts
            if (pair := _pair(part, inputs["left"], inputs["right"])) and mine.origin(pair[place]) in mine.windows
        ]
        used = list(dict.fromkeys(mine.origin(each) for each in (*compared, *of_windows)))
        candidates = [each for each in used if each in marked] if marked else used
        if len(candidates) > 1:
            unknown.append(f"the condition compares several event times of the {side} side")
        others = marked or [mine.origin(each) for each in mine.times]
        times[side] = candidates[0] if len(candidates) == 1 else None if candidates else next(iter(others), None)
    return times, unknown


def _side(side: Side, mine: sides.Input, keys: list[int], time: int | None, edge: str) -> SideDescription:
    names = tuple(mine.columns[each] for each in keys)
    mark, entering = _mark(mine, time), _entering(mine, time)
    named = mine.columns[entering] if entering is not None else "" if time is None else mine.called(time)
    if mine.grouped is not None:
        window = next((each for each in mine.columns if mine.origin(each) == mine.grouped.window), None)
        named = f"{mine.columns.get(window or 0, 'window')}_{edge}"
    return SideDescription(
        mine.name or side,
        names[0] if len(names) == 1 else names,
        named,
        mark.delay if mark else None,
        tuple(mine.columns.values()),
    )


def _kind(
    how: How | None, inputs: Sides[sides.Input], read: _Condition, times: dict[Side, int | None]
) -> tuple[Join | None, list[str]]:
    """The join, if it is one of the workbench's kinds, and why it is not."""
    unknown = [_NO_WATERMARK.format(side) for side in SIDES if not inputs[side].watermarks]
    if read.windows:
        return _of_windows(how, inputs, read, unknown)
    if any(_are_windows_of_groups(inputs, pair) for pair in read.keys):
        return _of_equal_windows(how, read, unknown)
    if alone := windows_alone(inputs, read.keys):
        return None, [*unknown, *alone]
    lower, upper = _limits(inputs, read)
    if lower is not None and upper is not None and lower[0] > upper[0]:
        return None, [*unknown, "the lower bound is above the upper: no pair meets the condition"]
    if lower is None or upper is None:
        missing = "lower and no upper" if lower is upper else "lower" if lower is None else "upper"
        words = f"the condition has no {missing} bound on the difference of the event times"
        unknown.append(f"{words} that is understood" if read.rest else words)
    if how is None:
        return None, unknown
    low, high = (None if each is None else timedelta(microseconds=each[0]) for each in (lower, upper))
    exclusive = (lower is not None and lower[1], upper is not None and upper[1])
    return IntervalJoin(low, high, how, *exclusive), unknown


def windows_alone(inputs: Sides[sides.Input], keys: Sequence[tuple[int, int]]) -> list[str]:
    """Which window with a watermark is compared with what is not known to be one: Spark bounds the state by it."""
    found: list[str] = []
    for pair in keys:
        columns = Sides(*pair)
        timed = {side: inputs[side].windows.get(inputs[side].origin(each)) for side, each in columns.items()}
        found += [
            f"{inputs[side].columns[columns[side]]} of the {side} side, a window of the event time, is compared with "
            f"{inputs[other_side(side)].columns[columns[other_side(side)]]} of the {other_side(side)}, which is not "
            "known to be one"
            for side, window in timed.items()
            if window is not None
            and timed[other_side(side)] is None
            and inputs[side].watermark_of(window[1]) is not None
        ]
    return found


def _of_equal_windows(how: How | None, read: _Condition, unknown: list[str]) -> tuple[Join | None, list[str]]:
    """A join of groups whose windows are equal, and so their event times, which are the ends of these."""
    if read.bounds:
        return None, [*unknown, _BOUNDS_BESIDE]
    return None if how is None else IntervalJoin("0 seconds", "0 seconds", how), unknown


def _of_windows(
    how: How | None, inputs: Sides[sides.Input], read: _Condition, unknown: list[str]
) -> tuple[Join | None, list[str]]:
    found = [
        [inputs[side].windows[inputs[side].origin(pair[place])][0] for place, side in enumerate(SIDES)]
        for pair in read.windows
    ]
    if any(left != right for left, right in found):
        return None, [*unknown, f"the windows of the sides differ: {found[0][0]} and {found[0][1]}"]
    if len({repr(left) for left, _ in found}) > 1:
        return None, [*unknown, f"the condition has windows of two kinds: {found[0][0]} and {found[1][0]}"]
    window = found[0][0]
    if any(inputs["left"].origin(pair[0]) in inputs["left"].sessions for pair in read.windows):
        return None, [*unknown, _SESSIONS_UNMERGED]
    if read.bounds:
        return None, [*unknown, _BOUNDS_BESIDE]
    if how is None:
        return None, unknown
    join = WindowJoin(window, how)
    aggregated = [side for side in SIDES if inputs[side].grouped is not None]
    if not aggregated or len(kind_of(join).assign(join, np.zeros(1, dtype=np.int64))) == 1:
        return join, unknown
    if len(aggregated) == len(SIDES):
        return _of_equal_windows(how, read, unknown)
    return None, [*unknown, f"rows of the {aggregated[0]} side have one window each, the others several"]


_BOUNDS_BESIDE = "the condition has bounds on the event times beside equal windows"
_Limit = tuple[int, bool] | None
"""A bound in microseconds, and whether it is exclusive; None: there is none."""


def _limits(inputs: Sides[sides.Input], read: _Condition) -> tuple[_Limit, _Limit]:
    """The tightest bounds of right time minus left time."""
    every = [*read.bounds, *(each.implied for each in read.numbered)]
    lower = [(each.micros, each.exclusive) for each in every if each.later in inputs["right"].columns]
    upper = [(-each.micros, each.exclusive) for each in every if each.later in inputs["left"].columns]
    tightest = min(upper, key=lambda each: (each[0], not each[1]), default=None)
    return max(lower, default=None), tightest
