"""Joins written as groups: a union of two streams, grouped by key and window, as session joins and coGroups are.

Spark joins no session windows, so such a join is an aggregation that collects both sides' rows; where both lists are
exploded again, it is a window join, else a coGroup.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from workbench.jobs import group_lists, sides
from workbench.jobs.catalyst import Node, expressions, value
from workbench.jobs.conditions import conjuncts
from workbench.jobs.group_lists import Collected
from workbench.jobs.sides import Input, Watermark
from workbench.joins import CoGroup, How, Join, WindowJoin
from workbench.plan import how as how_of
from workbench.windows import Window

__all__ = ["Groups", "read"]

_SOME = {("GreaterThan", 0, False), ("GreaterThanOrEqual", 1, False), ("EqualTo", 0, True)}
_NONE = {("EqualTo", 0, False), ("LessThan", 1, False), ("LessThanOrEqual", 0, False)}
"""Comparisons of the number of a group's rows that say that there are some, or none; True where they are negated."""


@dataclass(frozen=True)
class Groups:
    """A join as groups of a union.

    Attributes
    ----------
    join
        The coGroup or window join; None where the groups have no window that is understood.
    inputs
        Both sides.
    keys
        The columns that the rows are grouped by, for each side by the ids in it.
    times
        The event time of each side, by its id; None where it is not understood.
    marks
        The watermark of each side: its own, or the one that the union has.
    unknown
        What was not understood, a sentence each.
    union
        The node that has both sides.
    grouped
        By what the rows are grouped, in order: the place of a key in `keys`, or ``window``, or None of anything else.
    lists
        What the groups collect, in the order in which their state has it; None of what is not understood.
    """

    join: Join | None
    inputs: tuple[Input, Input]
    keys: list[tuple[int, int]]
    times: tuple[int | None, int | None]
    marks: tuple[Watermark | None, Watermark | None]
    unknown: list[str]
    union: Node
    grouped: tuple[int | Literal["window"] | None, ...]
    lists: tuple[Collected | None, ...]


def read(plan: Node) -> Groups | None:
    """The last aggregation of a union of two streams in a plan; None if there is none."""
    for node in plan.walk():
        union = _union_below(node) if node.kind == "Aggregate" and _collects(node) else None
        if union is not None:
            return _groups(plan, node, union)
    return None


def _collects(aggregate: Node) -> bool:
    """Whether rows are collected: a sum or a count of both streams is no join."""
    found = expressions(aggregate, "aggregateExpressions")
    return any(part.kind in ("CollectList", "CollectSet") for each in found for part in each.walk())


def _union_below(aggregate: Node) -> Node | None:
    [node] = aggregate.children
    while node.kind in ("Project", "Filter", "SubqueryAlias", "Expand", "EventTimeWatermark"):
        [node] = node.children
    streams = [child for child in node.children if bool(child.java.isStreaming())]
    return node if node.kind == "Union" and len(streams) == len(node.children) == 2 else None


def _groups(plan: Node, aggregate: Node, union: Node) -> Groups:
    above = sides.read(aggregate.children[0])
    inputs = sides.read(union.children[0]), sides.read(union.children[1])
    places = {column: place for place, column in enumerate(inputs[0].columns)}
    window: tuple[Window, int] | None = None
    keys: list[tuple[int, int]] = []
    unknown: list[str] = []
    grouped: list[int | Literal["window"] | None] = []
    for group in expressions(aggregate, "groupingExpressions"):
        grouped.append(None)
        if group.id is None:
            unknown.append(f"rows are also grouped by {group.name or group.kind}, which is not understood")
            continue
        column = group.id
        found = next((above.windows[each] for each in above.lineage(column) if each in above.windows), None)
        if found and window is None:
            window = found
            grouped[-1] = "window"
            continue
        pair = _pair(_place(above, column, places), inputs)
        if pair is not None and _is_key(pair, inputs):
            grouped[-1] = len(keys)
            keys.append(pair)
        elif not (group.name and _handles_nulls(union, group.name)):
            unknown.append(f"rows are also grouped by {group.name or group.kind}, which is not understood")
    join: Join | None = None
    times: tuple[int | None, int | None] = (None, None)
    if window is None:
        unknown.append("rows are grouped by no window that is understood")
    else:
        pair = _pair(_place(above, window[1], places), inputs)
        times = pair or _times_below(window[1], inputs)
        how = _exploded(plan, aggregate, inputs)
        join = CoGroup(window[0]) if how is None else WindowJoin(window[0], how)
    shared = None if window is None else above.watermark_of(window[1])
    marks = [
        (None if time is None else mine.watermark_of(time)) or shared for mine, time in zip(inputs, times, strict=True)
    ]
    lists = group_lists.read(aggregate, union, above, inputs)
    return Groups(join, inputs, keys, times, (marks[0], marks[1]), unknown, union, tuple(grouped), lists)


def _place(above: Input, column: int, places: dict[int, int]) -> int | None:
    """Which column of the union a column above it is."""
    return next((places[each] for each in above.lineage(column) if each in places), None)


def _pair(place: int | None, inputs: tuple[Input, Input]) -> tuple[int, int] | None:
    if place is None:
        return None
    left, right = (list(each.columns) for each in inputs)
    return left[place], right[place]


def _is_key(pair: tuple[int, int], inputs: tuple[Input, Input]) -> bool:
    """Whether both sides have a column of their own there, and not an expression."""
    return all(each.name_of(column) is not None for each, column in zip(inputs, pair, strict=True))


def _times_below(time: int, inputs: tuple[Input, Input]) -> tuple[int | None, int | None]:
    """The event times, where each side has its windows already."""
    of = [next((each for _, each in one.windows.values()), None) for one in inputs]
    return (of[0], of[1]) if time == of[0] else (None, of[1])


def _handles_nulls(union: Node, name: str) -> bool:
    """Whether a column only keeps rows with a null key apart: null equals nothing, but groups with null."""
    meanings = [
        meaning
        for child in union.children
        for node in child.walk()
        if node.kind == "Project"
        for meaning in expressions(node, "projectList")
        if meaning.kind == "Alias" and meaning.name == name and meaning.children[0].kind != "AttributeReference"
    ]
    return len(meanings) == 2 and all(
        each.children[0].kind == "CaseWhen" and any(part.kind == "IsNull" for part in each.walk()) for each in meanings
    )


def _exploded(plan: Node, aggregate: Node, inputs: tuple[Input, Input]) -> How | None:
    """By the lists that are exploded above the groups, how the sides are joined; None where they stay lists."""
    lists = {}
    for each in expressions(aggregate, "aggregateExpressions"):
        listed = [part for part in each.walk() if part.kind == "CollectList"]
        attributes = [part.id for one in listed for part in one.walk() if part.kind == "AttributeReference"]
        if each.kind == "Alias" and each.id is not None and len(attributes) == 1:
            lists[each.id] = attributes[0]
    kept: dict[int, bool] = {}
    above = []
    for node in plan.walk():
        if node is aggregate:
            break
        if node.kind == "Filter":
            above.append(node)
        if node.kind == "Generate":
            [generator] = expressions(node, "generator")
            exploded = [part.id for part in generator.walk() if part.kind == "AttributeReference"]
            column = next((lists[each] for each in exploded if each is not None and each in lists), None)
            if column is not None and column in inputs[0].columns:
                side = 1 if inputs[0].is_null(column) else 0
                kept[side] = bool(node.fields.get("outer"))
    if kept.keys() == {0}:
        others = {column for column, one in lists.items() if one is not None and inputs[0].is_null(one)}
        return next((how for node in above for how in _filtered(node, others)), None)
    return how_of.KEPT[kept[0], kept[1]] if kept.keys() == {0, 1} else None


def _filtered(node: Node, others: set[int]) -> Iterator[How]:
    """What a filter by the number of right rows keeps: left rows that have some, or that have none."""
    for part in (part for one in expressions(node, "condition") for each in conjuncts(one) for part in each.parts):
        inner, negated = (part.children[0], True) if part.kind == "Not" else (part, False)
        sizes = [each for each in inner.children if each.kind == "Size" and each.children[0].id in others]
        limits = [value(each) for each in inner.children if each not in sizes]
        if len(sizes) == len(limits) == 1 and inner.children[0] is sizes[0]:
            if (inner.kind, limits[0], negated) in _SOME:
                yield how_of.MATCHED
            elif (inner.kind, limits[0], negated) in _NONE:
                yield how_of.UNMATCHED
