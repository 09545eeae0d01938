"""One input of a join: what it is called, its event time and watermark, its windows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from workbench.jobs import conditions
from workbench.jobs.catalyst import Node, expressions, has_watermark, listed, span, value
from workbench.times import micros
from workbench.windows import Session, Sliding, Tumbling, Window

__all__ = ["Grouped", "Input", "Watermark", "defined", "edges", "name", "read"]


@dataclass(frozen=True)
class Watermark:
    """A watermark of an input: the id of its event time where it was set, and the delay."""

    time: int
    delay: timedelta | None


@dataclass(frozen=True)
class Grouped:
    """An aggregation of an input: the column that is the window of each of its rows, and how long that is, in µs.

    Session windows have no size (None).
    """

    window: int
    size: int | None


@dataclass(frozen=True)
class Input:
    """One input of a join as the plan has it.

    Attributes
    ----------
    name
        Its alias, or its table, topic or folder; empty where it has none of these.
    columns
        The names of the columns that enter the join, by id.
    watermarks
        Its watermarks.
    origins
        For each column that is another one under a new name, the id of that one.
    windows
        The window of each column that is one, and the id of the event time that it is of.
    names
        The name of each column of its sources, by id.
    computed
        The name of each column that is computed below the join, by id.
    times
        The columns that enter the join and are times, in order.
    nulls
        The columns that are null in each row.
    sessions
        The columns that are session windows of single rows, which are not merged yet.
    operators
        What else changes rows below the join and keeps state, or that this does not read: names of Spark's operators.
    of_marks
        The columns that enter the join and have a watermark, as Spark knows it; of a plan read from text all.
    grouped
        The aggregation by windows that its rows come from; None: they are rows of its sources.
    latest_first
        Whether a source of files reads the newest first.
    edges
        The columns that are the start or the end of the window of `grouped`, or a time that is as far from these in
        each row, and how far after the end, in µs.
    """

    name: str
    columns: dict[int, str]
    watermarks: tuple[Watermark, ...]
    origins: dict[int, int]
    windows: dict[int, tuple[Window, int]]
    names: dict[int, str]
    computed: dict[int, str]
    times: tuple[int, ...]
    nulls: frozenset[int]
    sessions: frozenset[int]
    operators: tuple[str, ...]
    of_marks: frozenset[int] = frozenset()
    grouped: Grouped | None = None
    latest_first: bool = False
    edges: Mapping[int, int] = field(default_factory=dict)

    def lineage(self, column: int) -> Iterator[int]:
        """The ids of a column: its own, and those that it had before it was renamed."""
        yield column
        while column in self.origins:
            column = self.origins[column]
            yield column

    def origin(self, column: int) -> int:
        """The id that a column had before it was renamed."""
        return _origin(column, self.origins)

    def time_of(self, column: int) -> int:
        """The event time that a column stands for: of an edge of an aggregation's window that window."""
        origin = self.origin(column)
        return origin if self.grouped is None or origin not in self.edges else self.grouped.window

    def name_of(self, column: int) -> str | None:
        """What a column was called in its source; None of one that was computed."""
        return self.names.get(self.origin(column))

    def called(self, column: int) -> str:
        """What a column is called where it is computed, or in its source."""
        origin = self.origin(column)
        return self.names.get(origin) or self.computed.get(origin, "")

    def is_null(self, column: int) -> bool:
        """Whether a column is null in each row."""
        return self.origin(column) in self.nulls

    def watermark_of(self, column: int) -> Watermark | None:
        """The watermark of an event time, whatever it was called when it was set."""
        return next((each for each in self.watermarks if self.marked(each) == self.origin(column)), None)

    def marked(self, mark: Watermark) -> int:
        """The event time that a watermark is of: of one that is set on a window, the time of the window."""
        origin = self.origin(mark.time)
        return self.origin(self.windows[origin][1]) if origin in self.windows else origin

    def on_window(self, mark: Watermark) -> bool:
        """Whether a watermark is set on a window."""
        return self.origin(mark.time) in self.windows

    def mark_of(self, time: int | None) -> Watermark | None:
        """The watermark of the event time of a join; of an aggregate that of the time of its window."""
        if self.grouped is not None:
            return self.watermark_of(self.windows[self.grouped.window][1])
        return None if time is None else self.watermark_of(time)

    def entering(self, time: int | None) -> int | None:
        """The id by which a time enters the join; None where it does not, and of an aggregate, which has a window."""
        if time is None or self.grouped is not None:
            return None
        return next((each for each in self.columns if self.origin(each) == self.origin(time)), None)


_KNOWN = frozenset(
    {"EventTimeWatermark", "Expand", "Filter", "Project", "SubqueryAlias", "View", "ResolvedHint"}
    | {"StreamingRelation", "StreamingRelationV2", "StreamingExecutionRelation", "LogicalRelation"}
    | {"Deduplicate", "DeduplicateWithinWatermark", "Generate", "Repartition", "RepartitionByExpression"}
    | {"RebalancePartitions", "MapInPandas", "MapInArrow", "PythonMapInArrow"}
)
"""Operators after which a join is what it is without them: they give rows on, or other rows in their place."""


def read(plan: Node) -> Input:
    """An input of a join."""
    nodes = list(_streaming(plan))
    origins: dict[int, int] = {}
    windows: dict[int, tuple[Window, int]] = {}
    nulls, sessions = set(), set()
    for node in nodes:
        for column, meaning in defined(node):
            if meaning.kind == "AttributeReference" and meaning.id is not None:
                origins[column] = meaning.id
            elif found := _window(meaning):
                windows[column] = found
            elif found := _session(meaning):
                windows[column] = found
                sessions.add(column)
            elif _is_null(meaning):
                nulls.add(column)
    for node in nodes:
        if node.kind == "Expand":
            windows |= _sliding(node)
    grouped = _grouped(nodes, windows, origins)
    known = _KNOWN if grouped is None else _KNOWN | {"Aggregate"}
    unions = [node for node in nodes if node.kind == "Union"]
    if all(map(_branches_agree, unions)):
        known |= {"Union"}
    nulls -= {column for node in unions for column in _some_not_null(node)}
    marks = [(each, span(each.java.delay())) for each in nodes if each.kind == "EventTimeWatermark"]
    return Input(
        name(plan),
        _columns(plan),
        tuple(
            Watermark(time.id, None if delay is None else timedelta(microseconds=delay))
            for each, delay in marks
            for time in expressions(each, "eventTime")
            if time.id is not None
        ),
        origins,
        windows,
        {column: name for each in nodes if not each.children for column, name in _columns(each).items()},
        {column: name for each in reversed(nodes) if each.children for column, name in _columns(each).items()},
        tuple(_times(plan)),
        frozenset(nulls),
        frozenset(sessions),
        tuple(dict.fromkeys(each.kind for each in nodes if each.kind not in known and not _is_with_a_table(each))),
        _of_marks(plan),
        grouped,
        any(map(_reads_latest_first, nodes)),
        {} if grouped is None else edges(nodes, origins, grouped),
    )


def _origin(column: int, origins: Mapping[int, int]) -> int:
    """The id that a column had before it was renamed."""
    while column in origins:
        column = origins[column]
    return column


def _is_with_a_table(node: Node) -> bool:
    """Whether a node joins a stream with a table that is none."""
    return node.kind == "Join" and not all(bool(child.java.isStreaming()) for child in node.children)


def _branches(union: Node) -> list[tuple[Input, list[int]]]:
    """The branches of a union, and the columns of each in order."""
    return [(read(child), list(_columns(child))) for child in union.children]


def _branches_agree(union: Node) -> bool:
    """Whether what is said of the first branch of a union is so of all: watermarks and windows, column by column."""

    def said(mine: Input, column: int) -> tuple[timedelta | None, bool, Window | None]:
        mark, window = mine.watermark_of(column), mine.windows.get(mine.origin(column))
        return None if mark is None else mark.delay, mark is None, None if window is None else window[0]

    found = [[said(mine, each) for each in columns] for mine, columns in _branches(union)]
    grouped = any(mine.grouped is not None or mine.operators for mine, _ in _branches(union))
    return not grouped and all(each == found[0] for each in found)


def _some_not_null(union: Node) -> set[int]:
    """The columns of a union, by their ids before they were renamed, that are not null in each of its branches."""
    (first, columns), *others = _branches(union)
    return {
        first.origin(column)
        for place, column in enumerate(columns)
        if not all(mine.is_null(ids[place]) for mine, ids in others)
    }


def edges(nodes: Iterable[Node], origins: Mapping[int, int], grouped: Grouped) -> dict[int, int]:
    """The columns that are an edge of the window of an aggregation, and how far after its end each is, in µs."""
    found: dict[int, int] = {}
    for node in nodes:
        for column, meaning in defined(node):
            linear = conditions.linear(meaning)
            if linear is None or list(linear.times.values()) != [1]:
                continue
            [number] = linear.times
            if number >= 0:
                continue
            window, ordinal = conditions.of_field(number)
            if _origin(window, origins) == grouped.window and (ordinal or grouped.size is not None):
                found[column] = linear.micros - (0 if ordinal else grouped.size or 0)
    return found


def _grouped(
    nodes: list[Node], windows: Mapping[int, tuple[Window, int]], origins: Mapping[int, int]
) -> Grouped | None:
    """The only aggregation of an input, if it is one by windows of an event time."""
    found = [node for node in nodes if node.kind == "Aggregate"]
    if len(found) != 1:
        return None
    for each in expressions(found[0], "groupingExpressions"):
        column = None if each.id is None else _origin(each.id, origins)
        if column is not None and column in windows:
            size = getattr(windows[column][0], "size", None)  # which session windows do not have
            return Grouped(column, None if size is None else micros(size))
    return None


def _reads_latest_first(node: Node) -> bool:
    """Whether a node is a source of files that reads the newest first."""
    if node.kind != "StreamingRelation" or not hasattr(node.java, "dataSource"):  # as of a plan read from text
        return False
    found = node.java.dataSource().options()
    names = (str(each) for each in listed(found.keys().toSeq()))
    return any(name.lower() == "latestfirst" and str(found.apply(name)).lower() == "true" for name in names)


def _streaming(node: Node) -> Iterator[Node]:
    """The nodes of a plan, without those of tables that are no streams."""
    yield node
    for child in node.children:
        if bool(child.java.isStreaming()):
            yield from _streaming(child)


def defined(node: Node) -> Iterator[tuple[int, Node]]:
    """Columns that a projection or an aggregation defines, and as what."""
    if node.kind == "Project":
        found = expressions(node, "projectList")
    elif node.kind == "Aggregate":
        found = expressions(node, "aggregateExpressions")
    else:
        return
    for each in found:
        if each.kind == "Alias" and each.id is not None:
            yield each.id, each.children[0]


def _is_null(meaning: Node) -> bool:
    while meaning.kind == "Cast":
        [meaning] = meaning.children
    return meaning.kind == "Literal" and meaning.fields.get("value") is None


def _is_window(meaning: Node) -> bool:
    """Whether an expression is a struct of a start and an end."""
    names = [each.fields.get("value") for each in meaning.children[::2]]
    return meaning.kind == "CreateNamedStruct" and len(meaning.children) == 4 and names == ["start", "end"]


def _window(meaning: Node) -> tuple[Window, int] | None:
    """A window of Spark's, which it writes as arithmetic: its size, slide and offset, and the time that it is of."""
    if not _is_window(meaning):
        return None
    remainders = [each for each in meaning.walk() if each.kind == "Remainder"]
    times = {each.id for each in meaning.walk() if each.kind == "AttributeReference"}
    ends = [each for each in meaning.children[3].walk() if each.kind == "Add"]
    if len(times) != 1:
        return None
    if not remainders:
        return None
    bases = [each.children[0].kind for each in remainders[0].walk() if each.kind == "PreciseTimestampConversion"]
    if not ends or bases != ["AttributeReference"]:  # such as a window of a time that was shifted
        return None
    shifted, slide = remainders[0].children[0], value(remainders[0].children[1])
    offset, size = value(shifted.children[1]) if shifted.kind == "Subtract" else 0, value(ends[0].children[1])
    [time] = times
    if slide is None or size is None or offset is None or time is None:
        return None
    length, step, shift = (timedelta(microseconds=each) for each in (size, slide, offset))
    return (Tumbling(length, shift) if size == slide else Sliding(length, step, shift)), time


def _session(meaning: Node) -> tuple[Window, int] | None:
    """A session window before sessions are merged: from a row's time to its time and the gap."""
    if not _is_window(meaning):
        return None
    start, end = (conditions.linear(each) for each in meaning.children[1::2])
    if (
        start is None
        or end is None
        or len(start.times) != 1
        or start.micros
        or end.times != start.times
        or end.micros <= 0
    ):
        return None
    return Session(timedelta(microseconds=end.micros)), next(iter(start.times))


def _sliding(node: Node) -> dict[int, tuple[Window, int]]:
    """The windows that an Expand puts each row into."""
    output, first = expressions(node, "output"), expressions(node, "projections", 0)
    found = zip(output, map(_window, first), strict=True)
    return {column.id: window for column, window in found if window and column.id is not None}


def _columns(plan: Node) -> dict[int, str]:
    return {number: str(each.name()) for number, each in zip(plan.ids, plan.output, strict=True)}


def _of_marks(plan: Node) -> frozenset[int]:
    """The columns of a plan that have a watermark."""
    found = zip(plan.ids, plan.output, strict=True)
    return frozenset(number for number, each in found if not hasattr(each, "metadata") or has_watermark(each))


def _times(plan: Node) -> Iterator[int]:
    """The columns of a plan that are times, in order."""
    for each in plan.output:
        if not hasattr(each, "dataType"):  # as of a plan read from text
            return
        if str(each.dataType().typeName()) in ("timestamp", "timestamp_ntz"):
            yield int(each.exprId().id())


def name(plan: Node) -> str:
    """The alias that is nearest to the join; else what the source is called."""
    for node in plan.walk():
        if node.kind == "SubqueryAlias":
            return str(node.java.alias())
        if node.kind == "Join" and all(bool(child.java.isStreaming()) for child in node.children):
            return "_".join(filter(None, map(name, node.children)))
        if node.kind == "StreamingRelationV2":
            options = node.java.extraOptions()
            return str(options.get("subscribe") or options.get("path") or "").rstrip("/").rpartition("/")[2]
        if node.kind == "StreamingRelation":  # such as FileSource[/data/orders]
            found = re.search(r"([^/\[\]]+)/?\]+$", str(node.java.sourceName()))
            return found[1] if found else ""
    return ""
