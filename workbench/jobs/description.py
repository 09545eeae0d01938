"""``wb.describe``: the join in a streaming DataFrame that somebody else wrote."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from workbench.errors import wrong
from workbench.jobs import catalyst, conditions, groups, sides
from workbench.jobs.catalyst import Node
from workbench.jobs.conditions import Bound
from workbench.joins import How, IntervalJoin, Join, WindowJoin
from workbench.literals import SIDES, Side
from workbench.plan import how as how_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Description", "SideDescription", "describe"]

_NO_WATERMARK = "the {} side has no watermark: its rows are never dropped as late, and never leave the state"


@dataclass(frozen=True)
class SideDescription:
    """One side of a join.

    Attributes
    ----------
    name
        Its alias, or what its source is called; ``left`` or ``right`` where it has neither.
    key
        The column, or columns, that are equal to those of the other side. Empty where none was understood.
    time
        The column with the event time. Empty where there is no watermark.
    watermark
        The watermark delay, or None.
    columns
        The columns that enter the join.
    """

    name: str
    key: str | tuple[str, ...]
    time: str
    watermark: timedelta | None
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Description:
    """A join as a plan of Spark's says it. Made by `workbench.describe`.

    Attributes
    ----------
    join
        The join; None where it is none of the workbench's kinds, which `unknown` says.
    left, right
        Its sides.
    where
        What else the condition of the join says, as SQL; empty where it says nothing else.
    unknown
        What was not understood, a sentence each.
    notes
        What is understood, and may surprise.
    """

    join: Join | None
    left: SideDescription
    right: SideDescription
    where: str
    unknown: tuple[str, ...]
    notes: tuple[str, ...] = ()


def describe(joined: DataFrame) -> Description:
    """What join a streaming DataFrame is, whoever wrote it.

    It is read from the analysed plan, by what expressions mean: bounds may be written as ``BETWEEN``, with intervals on
    either side, as differences of times, as columns or SQL, strict or not.

    Parameters
    ----------
    joined
        A streaming DataFrame in which two streams are joined, of a session that is not Spark Connect's. Of several
        joins the last is described.

    Returns
    -------
    Description
        The join, both sides, what else its condition says, and what was not understood.

    Raises
    ------
    ArgumentError
        If it is no streaming DataFrame, or has no join of two streams.

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
    plan = _plan(joined)
    join, others, above = _join_of(plan)
    if join is None:
        return _of_groups(plan)
    left, right = (sides.read(child) for child in join.children[:2])
    inputs: dict[Side, sides.Input] = dict(zip(SIDES, (left, right), strict=True))
    unknown = [*_of_others(others), *(word for side in SIDES for word in _of_operators(side, inputs[side]))]
    parts = [part for each in catalyst.expressions(join, "condition") for part in conditions.conjuncts(each)]
    read = _Condition.of(parts, left, right)
    written, how = _how(join), _how(_join_of(catalyst.optimised(joined, plan))[0] or join)
    notes = []
    if written != how:
        words = f"a filter after the {written} join drops rows without a partner"
        notes.append(f"{words}, so Spark runs it as an {how} join")
    if how == "left" and any(_is_absent(each, read, right) for each in above):
        how = how_of.UNMATCHED
    if how == "inner":  # what is filtered right after it is part of its condition
        after = [part for each in above for part in conditions.conjuncts(each)]
        read = read.with_filters(after, left, right)
    if how is None:
        unknown.append(f"the join is a {join.java.joinType().sql()} join, which the workbench has no kind for")
    times = _times(inputs, read)
    found, more = _kind(how, inputs, read, times)
    described = [
        _side(side, inputs[side], [pair[place] for pair in read.keys], times[side]) for place, side in enumerate(SIDES)
    ]
    unknown += more
    if not read.keys:
        unknown.append("the condition has no equality of a column of one side with a column of the other")
    return Description(found, described[0], described[1], " AND ".join(read.rest), tuple(unknown), tuple(notes))


def _how(join: Node) -> How | None:
    return how_of.SPARK.get(str(join.fields["joinType"]["object"]).rpartition(".")[2].rstrip("$"))


def _is_absent(condition: Node, read: _Condition, right: sides.Input) -> bool:
    """Whether a filter after a left join keeps rows without a partner only: what each partner has is null."""
    never_null = {pair[1] for pair in (*read.keys, *read.windows)}
    never_null |= {right.windows[right.origin(pair[1])][1] for pair in read.windows}
    never_null |= {each for limit in read.bounds for each in (limit.later, limit.earlier) if each in right.columns}
    known = {right.origin(each) for each in never_null}
    nulls = [part.children[0].id for part in conditions.conjuncts(condition) if part.kind == "IsNull"]
    return any(each in right.columns and right.origin(each) in known for each in nulls if each is not None)


def _plan(joined: Any) -> Node:
    if not getattr(joined, "isStreaming", False):
        given = "a DataFrame that is not streaming" if hasattr(joined, "isStreaming") else joined
        raise wrong("joined", given, "give a streaming DataFrame in which two streams are joined")
    if not hasattr(joined, "_jdf"):
        raise wrong(
            "joined", "a DataFrame of Spark Connect", "its plan is not to be had; give one of a classic session"
        )
    return catalyst.analysed(joined)


def _of_groups(plan: Node) -> Description:
    """The description of a join that is written as groups of a union."""
    found = groups.read(plan)
    if found is None:
        raise wrong("joined", "a streaming DataFrame without a join of two streams", "give what their join returns")
    described = []
    unknown = [word for side, mine in zip(SIDES, found.inputs, strict=True) for word in _of_operators(side, mine)]
    unknown += found.unknown
    for place, (side, mine) in enumerate(zip(SIDES, found.inputs, strict=True)):
        time = found.times[place]
        names = tuple(mine.name_of(pair[place]) or mine.columns[pair[place]] for pair in found.keys)
        mark = None if time is None else mine.watermark_of(time)
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
    return Description(found.join, described[0], described[1], "", tuple(unknown))


def _join_of(plan: Node) -> tuple[Node | None, list[Node], list[Node]]:
    """The last join of two streams in a plan, those before it, and the conditions of filters right after it."""
    joins = [
        node
        for node in plan.walk()
        if node.kind == "Join" and all(bool(child.java.isStreaming()) for child in node.children)
    ]
    if not joins:
        return None, [], []
    return joins[0], joins[1:], list(_filters_above(plan, joins[0]))


def _filters_above(plan: Node, join: Node) -> Iterator[Node]:
    node = plan
    while node is not join:
        if node.kind not in ("Filter", "Project", "SubqueryAlias"):
            return
        if node.kind == "Filter":
            yield from catalyst.expressions(node, "condition")
        [node] = node.children


def _of_others(joins: list[Node]) -> Iterator[str]:
    if joins:
        yield f"{len(joins)} more of its joins are below this one: describe what they return to see them"


def _of_operators(side: Side, found: sides.Input) -> Iterator[str]:
    for each in found.operators:
        if each != "Join":
            yield f"the {side} side has Spark's operator {each} below the join, which is not understood"


@dataclass(frozen=True)
class _Condition:
    """What a condition says: pairs of equal columns (by id), of equal windows, bounds of times, and the rest as SQL."""

    keys: list[tuple[int, int]]
    windows: list[tuple[int, int]]
    bounds: list[Bound]
    rest: list[str]

    @classmethod
    def of(cls, parts: list[Node], left: sides.Input, right: sides.Input) -> _Condition:
        keys, windows, bounds, rest = [], [], [], []
        for part in parts:
            pair = _pair(part, left, right)
            limits = [each for each in conditions.bounds(part) if _is_across(each, left, right)]
            if pair and left.origin(pair[0]) in left.windows and right.origin(pair[1]) in right.windows:
                windows.append(pair)
            elif limits:
                bounds += limits
            elif pair:
                keys.append(pair)
            else:
                rest.append(str(part.java.sql()))
        return cls(keys, windows, bounds, rest)

    def with_filters(self, parts: list[Node], left: sides.Input, right: sides.Input) -> _Condition:
        """With what a filter after the join says of both sides; what else it says is a filter of the join's output."""
        more = self.of(parts, left, right)
        return _Condition(self.keys + more.keys, self.windows + more.windows, self.bounds + more.bounds, self.rest)


def _pair(part: Node, left: sides.Input, right: sides.Input) -> tuple[int, int] | None:
    """The ids of two columns that are equal, that of the left side first."""
    equal = conditions.equality(part)
    if equal is None or equal[0].id is None or equal[1].id is None:
        return None
    one, other = equal[0].id, equal[1].id
    if one in left.columns and other in right.columns:
        return one, other
    return (other, one) if other in left.columns and one in right.columns else None


def _is_across(limit: Bound, left: sides.Input, right: sides.Input) -> bool:
    places = {limit.later, limit.earlier}
    return len(places & left.columns.keys()) == 1 and len(places & right.columns.keys()) == 1


def _times(inputs: dict[Side, sides.Input], read: _Condition) -> dict[Side, int | None]:
    """The event time of each side: of its windows, of its bounds, else the one with a watermark."""
    found: dict[Side, int | None] = {}
    for place, side in enumerate(SIDES):
        mine = inputs[side]
        of_windows = [mine.windows[mine.origin(pair[place])][1] for pair in read.windows]
        of_bounds = [each for limit in read.bounds for each in (limit.later, limit.earlier) if each in mine.columns]
        marked = [each for each in mine.columns if mine.watermark_of(each)]
        candidates = [*of_windows, *of_bounds, *marked]
        known = [each for each in candidates if mine.watermark_of(each)]
        found[side] = next(iter(known or candidates), None)
    return found


def _side(side: Side, mine: sides.Input, keys: list[int], time: int | None) -> SideDescription:
    names = tuple(mine.columns[each] for each in keys)
    mark = None if time is None else mine.watermark_of(time)
    entering = [
        name for each, name in mine.columns.items() if time is not None and mine.origin(each) == mine.origin(time)
    ]
    return SideDescription(
        mine.name or side,
        names[0] if len(names) == 1 else names,
        entering[0] if entering else "",
        mark.delay if mark else None,
        tuple(mine.columns.values()),
    )


def _kind(
    how: How | None, inputs: dict[Side, sides.Input], read: _Condition, times: dict[Side, int | None]
) -> tuple[Join | None, list[str]]:
    """The join, if it is one of the workbench's kinds, and why it is not."""
    unknown = [
        _NO_WATERMARK.format(side)
        for side in SIDES
        if times[side] is None or inputs[side].watermark_of(times[side] or 0) is None
    ]
    if read.windows:
        left, right = (
            inputs[side].windows[inputs[side].origin(read.windows[0][place])] for place, side in enumerate(SIDES)
        )
        if left[0] != right[0]:
            return None, [*unknown, f"the windows of the sides differ: {left[0]} and {right[0]}"]
        if read.bounds:
            return None, [*unknown, "the condition has bounds on the event times beside equal windows"]
        return (None if how is None else WindowJoin(left[0], how)), unknown
    lower, upper = _limits(inputs, read)
    if lower is None or upper is None:
        missing = "lower and no upper" if lower is None and upper is None else "lower" if lower is None else "upper"
        words = f"the condition has no {missing} bound on the difference of the event times"
        return None, [*unknown, f"{words}: Spark keeps rows for which a partner may still come for ever"]
    if lower > upper:
        return None, [*unknown, "the lower bound is above the upper: no pair meets the condition"]
    if how is None:
        return None, unknown
    return IntervalJoin(timedelta(microseconds=lower), timedelta(microseconds=upper), how=how), unknown


def _limits(inputs: dict[Side, sides.Input], read: _Condition) -> tuple[int | None, int | None]:
    """The tightest bounds of right time minus left time, in microseconds."""
    lower = [each.micros for each in read.bounds if each.later in inputs["right"].columns]
    upper = [-each.micros for each in read.bounds if each.later in inputs["left"].columns]
    return max(lower, default=None), min(upper, default=None)
