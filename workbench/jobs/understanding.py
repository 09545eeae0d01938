"""``wb.describe``: the join in a streaming plan that somebody else wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from workbench.errors import ArgumentError, one_of, wrong
from workbench.jobs import (
    calendar_days,
    catalyst,
    condition_notes,
    conditions,
    explained,
    from_java,
    groups,
    join_conditions,
    join_kinds,
    numeric_times,
    plan_joins,
    plan_notes,
    refusals,
    sides,
    state_bounds,
)
from workbench.jobs.catalyst import Node
from workbench.jobs.conditions import Compared, Conjunct
from workbench.jobs.description import Description, SideDescription
from workbench.jobs.explained import Explained
from workbench.jobs.groups import Groups
from workbench.jobs.join_conditions import Condition
from workbench.jobs.state_bounds import Lacking
from workbench.joins import How, Join, emission_of
from workbench.kinds import kind_of
from workbench.literals import SIDES, Side, Sides
from workbench.model import Numbers
from workbench.plan import how as how_of
from workbench.untyped import SparkObject

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["NoJoinError", "Understood", "check_streaming", "describe", "described", "understood"]

_WORDS = {
    "Join": "a join of its own below this one",
    "Union": "a union below the join, of which only the first branch is described",
}
_LATEST_FIRST = (
    "the files of {} are read with latestFirst: the newest come first and move the watermark, so that rows of older "
    "files are late; read them in order, or set a delay as long as the span of the older files"
)
_NO_JOIN = "a streaming DataFrame without a join of two streams"
_MOVED = (
    "Spark may run the semi join below the aggregation of the left side, on the rows that it aggregates, which depends "
    "on the size of a micro-batch: use an inner join with one row of the right side for each key and window"
)
_PARTS_OF_WINDOWS = (
    "the condition compares parts of windows: join on the windows themselves, as with w = w, by which rows leave the "
    "state; by the start or the end of a window none does"
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
    lacking
        What Spark lacks to let the rows of a side leave the state, by side; of a join of the workbench's kinds whose
        sides both have a watermark.
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
    lacking: Mapping[Side, Lacking] = field(default_factory=dict)

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
        known = understood(spark, plan)
        read = known.description
        again = tuple(each for each in [plan_notes.redefined(plan)] if each and each not in read.unknown)
        remedy = state_bounds.condition_in_literals(Sides(*known.described), read.join, known.lacking)
        refused = [*refusals.refused(spark, plan, mode, remedy)]
        told = remedy and any(remedy in each for each in refused)
        kept = {each.words for each in known.lacking.values() if told and not each.is_bound}
        notes = [each for each in read.notes if each not in kept]  # nothing is kept that is refused
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
    every = plan_joins.joins(found.plan)
    if every:
        optimised = [] if every[1:] or found.run is None else plan_joins.joins(found.run)
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
    every = plan_joins.joins(plan)
    if not every:
        return _of_groups(plan)
    if run is None:
        optimised = [] if every[1:] else plan_joins.joins(catalyst.optimised(spark, plan))
        return _of_join(spark, plan, every[0], every[1:], optimised)
    same = plan_joins.as_it_runs(every[0], run)
    found = _of_join(spark, plan, every[0], [], [] if same is None else [same])
    words = tuple(f"the {side} side has {_WORDS['Join']}" for side in SIDES)
    unknown = tuple(each for each in found.description.unknown if each not in words)
    return replace(found, description=replace(found.description, unknown=unknown))


def _of_join(spark: SparkObject, plan: Node, join: Node, others: list[Node], optimised: list[Node]) -> Understood:
    """The description of a join, from the plan as it is written and, where there is one, as Spark runs it."""
    inputs: Sides[sides.Input] = Sides(*(sides.read(child) for child in join.children[:2]))
    run = optimised[0] if len(optimised) == 1 else None
    unknown = [*_of_others(others), *(word for side in SIDES for word in _of_operators(side, inputs[side]))]
    notes = []
    written = how_of.SPARK.get(plan_joins.type_of(join))
    how = written if run is None else how_of.SPARK.get(plan_joins.type_of(run))
    set_twice = [words for child in join.children if (words := plan_notes.redefined(child))]
    unknown += set_twice
    if how != written:
        words = f"a filter after the {written} join drops rows without a partner"
        notes.append(f"{words}, so what Spark runs is the {how} join")
    if how is None:
        unknown.append(f"the join is a {join.java.joinType().sql()} join, which the workbench has no kind for")
    found = [each for one in catalyst.expressions(join, "condition") for each in conditions.conjuncts(one)]
    above = plan_joins.filters_above(plan, join)
    part_of_it = above if how == "inner" else []  # what is filtered right after an inner join is part of its condition
    times, ambiguous = join_conditions.times(inputs, [*found, *part_of_it])
    unknown += ambiguous
    read = join_conditions.read(found, inputs, times)
    absent = [side for side in SIDES if any(read.keeps_absent(each, side) for each in above)]
    if how == "left" and absent == ["right"]:
        how = how_of.UNMATCHED
    elif absent:
        words = f"a filter after the {how} join keeps rows without a {' and a '.join(absent)} row only"
        unknown.append(f"{words}, which is not part of the description")
    if part_of_it:
        read = read.with_filters(join_conditions.read(above, inputs, times))
    kind, of_kind = _kind(spark, how, read)
    unknown += of_kind
    kind = None if set_twice else kind
    retention = _retention(spark, run, kind, read)
    kept = [] if retention is None else [side for side in SIDES if side not in retention]
    without = {side: each for side, each in state_bounds.lacking(read).items() if side in kept}
    notes += state_bounds.of_state(read, without, how, kind)
    notes += _notes(spark, plan, join, read, above)
    edge = "start" if kind is not None and kind_of(kind).windowed else "end"
    described = Sides.of(
        lambda side: _side(side, inputs[side], [pair[SIDES.index(side)] for pair in read.keys], times[side], edge)
    )
    entering = Sides.of(lambda side: inputs[side].entering(times[side]))
    marks = Sides.of(lambda side: inputs[side].mark_of(times[side]))
    numbers = None
    if kind is not None and not kind_of(kind).windowed:
        numbers = numeric_times.bounds(*read.numbered_below(join), list(described.values()))
    if numbers is not None:
        lost = {side: described[side].time for side in SIDES if entering[side] is None}
        notes.append(numeric_times.note(numbers, kept, lost))
        numbers = numbers if not read.bounds else replace(numbers, low=None, high=None)
    where = " AND ".join(str(each.java.sql()) for each in read.rest)
    return Understood(
        Description(kind, described.left, described.right, where, tuple(unknown), tuple(notes)),
        plan,
        join,
        (inputs.left, inputs.right),
        tuple(read.keys),
        (entering.left, entering.right),
        (None if marks.left is None else marks.left.time, None if marks.right is None else marks.right.time),
        () if kind is None else tuple(read.rest),
        retention,
        run=run,
        by_calendar=tuple(calendar_days.bounding(spark, read, [*found, *part_of_it])),
        evicts_with_data=run is not None and bool(retention) and state_bounds.names_the_frame_before(run),
        compared=tuple(read.compared.get(pair) for pair in read.keys) if read.compared else (),
        numbers=numbers,
        filters=tuple(
            condition_notes.asked_first(
                [*(each for each in found if not condition_notes.is_kept(each, how, join)), *above], join
            )
        ),
        lacking=without if kind is not None and all(mine.watermarks for mine in inputs.values()) else {},
    )


def _kind(spark: SparkObject, how: How | None, read: Condition) -> tuple[Join | None, list[str]]:
    """The join, if it is one of the workbench's kinds and a run of it is, too, and what is not understood of it."""
    kind, unknown = join_kinds.kind(how, read)
    if read.rest and not read.windows and None in read.limits and not hasattr(spark, "_jvm"):
        kind = None  # a bound may be in what a plan read from text does not say
    if how is not None and read.inputs.left.grouped is not None and emission_of(how).first_only:
        kind = None
        unknown.append(_MOVED)
    if read.compares_windows:
        kind = None
        unknown.append(_PARTS_OF_WINDOWS)
    unknown += condition_notes.other_times(read)
    if not read.keys:
        unknown.append("the condition has no equality of a column of one side with a column of the other")
    return kind, unknown


def _retention(spark: SparkObject, run: Node | None, kind: Join | None, read: Condition) -> dict[Side, int] | None:
    """How far behind the watermark rows of each side leave the state; None where that is not asked of Spark."""
    windows_meet = any(join_conditions.are_windows_of_groups(read.inputs, pair) for pair in read.keys)
    if kind is not None and (windows_meet or (read.windows and not kind_of(kind).windowed)):
        return dict.fromkeys(SIDES, 0)  # the window is a key
    if run is None or read.windows or not hasattr(spark, "_jvm"):
        return None
    return state_bounds.retention(spark, run, read.times)


def _notes(spark: SparkObject, plan: Node, join: Node, read: Condition, above: list[Conjunct]) -> Iterator[str]:
    """What may surprise in a join and around it."""
    yield from condition_notes.of_swapped_bounds(read)
    yield from condition_notes.of_absent_rows(read)
    yield from calendar_days.of_days(spark, read)
    yield from calendar_days.of_windows(spark, read)
    for side, child in zip(SIDES, join.children, strict=False):
        yield from plan_notes.of_duplicates(child, read.inputs[side].name or f"the {side} side")
    yield from plan_notes.of_duplicates_above(plan, join)
    yield from plan_notes.of_limits_above(plan, join)
    yield from condition_notes.of_windows(read)
    yield from condition_notes.of_filters(above, join)
    for side, mine in read.inputs.items():
        if mine.latest_first:
            yield _LATEST_FIRST.format(mine.name or side)
    if not read.bounds and not read.windows and plan_joins.is_above(plan, join, "Aggregate"):
        yield _WINDOW_ABOVE
    yield from condition_notes.of_keys(read)


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
            unknown.append(join_kinds.NO_WATERMARK.format(side))
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
    times = [mine.entering(time) for mine, time in zip(found.inputs, found.times, strict=True)]
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


def _side(side: Side, mine: sides.Input, keys: list[int], time: int | None, edge: str) -> SideDescription:
    names = tuple(mine.columns[each] for each in keys)
    mark, entering = mine.mark_of(time), mine.entering(time)
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
