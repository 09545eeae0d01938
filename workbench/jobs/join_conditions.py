"""What the condition of a join says: equal columns, equal windows, bounds of the event times, and the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from workbench.jobs import conditions, sides
from workbench.jobs.catalyst import Node
from workbench.jobs.conditions import Bound, Compared, Conjunct, Numbered
from workbench.literals import SIDES, Side, Sides, other_side

__all__ = ["Condition", "Limit", "Times", "are_windows_of_groups", "bounds", "read", "times"]

Times = Sides[int | None]
"""The event time of each side, by the id of its source's column; None where it is not known."""
_NULL_OF_NULL = frozenset(
    {"AttributeReference", "Literal", "Cast", "Lower", "Upper", "Substring"}
    | {"StringTrim", "StringTrimLeft", "StringTrimRight", "StringLPad", "StringRPad", "Add", "Subtract", "Multiply"}
)
"""Expressions that are null where their column is."""
Limit = tuple[int, bool]
"""A bound in microseconds, and whether it is exclusive."""


@dataclass(frozen=True)
class Condition:
    """What the condition of a join says of its two sides.

    Attributes
    ----------
    inputs
        Both sides.
    times
        The event time of each.
    written
        The parts of the condition, as they are written.
    keys, windows
        Pairs of equal columns and of equal windows of the event times, by their ids, that of the left side first.
    bounds
        The bounds of the event times.
    rest
        What else is written. It holds bounds of event times as numbers, too, as less than what these count is cut off.
    compared
        How a pair of `keys` is compared, where that is not as the columns are.
    numbered
        The bounds of event times that are compared as numbers.
    """

    inputs: Sides[sides.Input]
    times: Times
    written: tuple[Conjunct, ...] = ()
    keys: list[tuple[int, int]] = field(default_factory=list)
    windows: list[tuple[int, int]] = field(default_factory=list)
    bounds: list[Bound] = field(default_factory=list)
    rest: list[Node] = field(default_factory=list)
    compared: dict[tuple[int, int], Compared] = field(default_factory=dict)
    numbered: list[Numbered] = field(default_factory=list)

    @property
    def parts(self) -> list[Node]:
        """The parts of the condition that each say one thing."""
        return [part for each in self.written for part in each.parts]

    @property
    def operators(self) -> set[str]:
        """Spark's names of all expressions in the condition."""
        return {node.kind for part in self.parts for node in part.walk()}

    @property
    def limits(self) -> tuple[Limit | None, Limit | None]:
        """The tightest bounds of right time minus left time; None where there is none."""
        every = [*self.bounds, *(each.implied for each in self.numbered)]
        lower = [(each.micros, each.exclusive) for each in every if each.later in self.inputs["right"].columns]
        upper = [(-each.micros, each.exclusive) for each in every if each.later in self.inputs["left"].columns]
        tightest = min(upper, key=lambda each: (each[0], not each[1]), default=None)
        return max(lower, default=None), tightest

    @property
    def named_times(self) -> list[tuple[str, str]] | None:
        """What each side and its event time are called where it enters the join; None where one does not enter it."""
        entering = {side: mine.entering(self.times[side]) for side, mine in self.inputs.items()}
        named = [
            (self.inputs[side].name or side, self.inputs[side].columns[at])
            for side, at in entering.items()
            if at is not None
        ]
        return named if len(named) == len(SIDES) else None

    @property
    def compares_windows(self) -> bool:
        """Whether the condition has windows that are compared in another way than as equal."""
        parts = [node for each in self.rest for node in each.walk() if node.kind == "AttributeReference" and node.id]
        return any(
            part.id in mine.columns and mine.origin(part.id or 0) in mine.windows
            for part in parts
            for mine in self.inputs.values()
        )

    def with_filters(self, more: Condition) -> Condition:
        """With what a filter after the join says of both sides; what else it says is a filter of the join's output."""
        keys = [each for each in more.keys if each not in self.keys]
        return replace(
            self,
            keys=self.keys + keys,
            windows=self.windows + more.windows,
            bounds=self.bounds + more.bounds,
            compared={pair: each for pair, each in more.compared.items() if pair in keys} | self.compared,
        )

    def keeps_absent(self, condition: Conjunct, side: Side) -> bool:
        """Whether a filter after the join keeps rows without a partner on a side only: what a partner has is null."""
        mine, place = self.inputs[side], SIDES.index(side)
        pairs = [pair for pair in self.keys if pair not in self.compared or _is_null_of_null(self.compared[pair])]
        known = {mine.origin(pair[place]) for pair in (*pairs, *self.windows)}
        time = self.times[side]
        if time is not None and (self.bounds or self.windows):
            known.add(mine.origin(time))
        nulls = [part.children[0] for part in condition.parts if part.kind == "IsNull"]
        return any(each.id in mine.columns and mine.origin(each.id) in known for each in nulls if each.id is not None)

    def numbered_below(self, join: Node) -> tuple[list[Numbered], list[Side]]:
        """The bounds of the event times as numbers, also of columns that are made of them below the join.

        Beside each stands the side of the later of the two times.
        """
        below = (node for child in join.children for node in child.walk())
        meanings = {column: meaning for node in below for column, meaning in sides.defined(node)}
        origins = {
            side: mine.origin(time) for side, mine in self.inputs.items() if (time := self.times[side]) is not None
        }
        found: list[Numbered] = []
        later: list[Side] = []
        for part in self.parts:
            for each in conditions.numbered(conditions.replaced(part, meanings)):
                ends = [
                    next((side for side, mine in self.inputs.items() if mine.origin(number) == origins.get(side)), None)
                    for number in (each.written.later, each.written.earlier)
                ]
                if ends[0] is not None and ends[1] == other_side(ends[0]):
                    found.append(each)
                    later.append(ends[0])
        return found, later

    def _takes(self, part: Node) -> bool:
        """Take in what a part says; False if that is not understood."""
        limits = [each for each in bounds(part, self.inputs) if self.is_of_times(each)]
        self.numbered.extend(each for each in conditions.numbered(part) if self.is_of_times(each.written))
        if limits:
            self.bounds.extend(limits)
            return True
        pair = _pair(part, self.inputs)
        if pair is not None and self._are_windows(pair):
            self.windows.append(pair)
            return True
        if pair is not None and pair in self.keys:
            return True
        if pair is not None and not any(map(conditions.is_collated, part.children)):
            self.keys.append(pair)
            if any(map(conditions.is_struct, part.children)) and (structs := _compared(part, self.inputs)) is not None:
                self.compared[pair] = structs
            return True
        found = self._derived(part)
        if found is None:
            return False
        pair = (found.columns[0][0], found.columns[1][0])
        if pair in self.keys:
            return False
        self.keys.append(pair)
        self.compared[pair] = found
        return True

    def is_of_times(self, limit: Bound) -> bool:
        """Whether a bound is one of the two event times."""
        wanted = {mine.origin(self.times[side] or 0) for side, mine in self.inputs.items()}
        found = {
            mine.time_of(each)
            for mine in self.inputs.values()
            for each in (limit.later, limit.earlier)
            if each in mine.columns
        }
        return None not in self.times.values() and found == wanted

    def _are_windows(self, pair: tuple[int, int]) -> bool:
        """Whether two columns are windows of the event times, and Spark knows a watermark of either.

        It does where withWatermark comes before window(). Of sides without a watermark none is asked for.
        """
        columns = Sides(*pair)
        if not all(self._is_window(side, columns[side]) for side in SIDES):
            return False
        marked = any(mine.watermarks for mine in self.inputs.values())
        return not marked or any(columns[side] in mine.of_marks for side, mine in self.inputs.items())

    def _is_window(self, side: Side, column: int) -> bool:
        """Whether a column of a side is a window of its event time."""
        mine, time = self.inputs[side], self.times[side]
        found = mine.windows.get(mine.origin(column))
        if mine.grouped is not None:
            return mine.origin(column) == mine.grouped.window and mine.grouped.size is not None
        return found is not None and time is not None and mine.origin(found[1]) == mine.origin(time)

    def _derived(self, part: Node) -> Compared | None:
        """Expressions of columns of each side that are equal, that of the left side first; not of the event times."""
        found = _compared(part, self.inputs)
        if found is None:
            return None
        for side, columns in zip(SIDES, found.columns, strict=True):
            mine, time = self.inputs[side], self.times[side]
            origins = {mine.origin(each) for each in columns}
            of_time = time is not None and mine.origin(time) in origins
            if not set(columns) <= set(mine.columns) or of_time or origins & set(mine.windows):
                return None
        return found


def read(written: Sequence[Conjunct], inputs: Sides[sides.Input], times: Times) -> Condition:
    """What a condition says.

    Parameters
    ----------
    written
        Its parts.
    inputs, times
        Both sides, and the event time of each.
    """
    found = Condition(inputs, times, tuple(written))
    for each in written:
        understood = [found._takes(part) for part in each.parts]
        if not all(understood):
            found.rest.append(each.written)
    return found


def times(inputs: Sides[sides.Input], written: Sequence[Conjunct]) -> tuple[Times, list[str]]:
    """The event time of each side, the one with a watermark, and what is not understood of them.

    Of a side without watermarks it is the only time that is compared with one of the other side; where none is, the
    first column that is a time, as no fate depends on it then.
    """
    parts = [part for each in written for part in each.parts]
    limits = [limit for part in parts for limit in bounds(part, inputs)]
    pairs = [Sides(*pair) for part in parts if (pair := _pair(part, inputs))]
    unknown: list[str] = []

    def of(side: Side) -> int | None:
        mine = inputs[side]
        if mine.grouped is not None:
            return mine.grouped.window
        marked = [mine.marked(each) for each in mine.watermarks]
        compared = [each for limit in limits for each in (limit.later, limit.earlier) if each in mine.columns]
        windows = [mine.windows.get(mine.origin(pair[side])) for pair in pairs]
        of_windows = [window[1] for window in windows if window is not None]
        used = list(dict.fromkeys(mine.origin(each) for each in (*compared, *of_windows)))
        candidates = [each for each in used if each in marked] if marked else used
        if len(candidates) > 1:
            unknown.append(f"the condition compares several event times of the {side} side")
            return None
        others = marked or [mine.origin(each) for each in mine.times]
        return next(iter([*candidates, *others]), None)

    return Sides.of(of), unknown


def are_windows_of_groups(inputs: Sides[sides.Input], pair: tuple[int, int]) -> bool:
    """Whether two columns are the windows of aggregations."""
    both = zip(inputs.values(), pair, strict=True)
    return all(mine.grouped is not None and mine.origin(each) == mine.grouped.window for mine, each in both)


def bounds(part: Node, inputs: Sides[sides.Input]) -> list[Bound]:
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


def _pair(part: Node, inputs: Sides[sides.Input]) -> tuple[int, int] | None:
    """The ids of two columns that are equal, that of the left side first."""
    equal = conditions.equality(part)
    if equal is None or equal[0].id is None or equal[1].id is None:
        return None
    left, right = (mine.columns for mine in inputs.values())
    one, other = equal[0].id, equal[1].id
    if one in left and other in right:
        return one, other
    return (other, one) if other in left and one in right else None


def _is_null_of_null(found: Compared) -> bool:
    """Whether a row whose column is null meets none."""
    kinds = {node.kind for each in found.expressions for node in each.walk()}
    return not found.nulls_meet and kinds <= _NULL_OF_NULL


def _compared(part: Node, inputs: Sides[sides.Input]) -> Compared | None:
    """Expressions of columns of each side that are equal, that of the left side first."""
    found = conditions.compared(part)
    if found is None or set(found.columns[0]) <= set(inputs["left"].columns):
        return found
    return replace(found, columns=found.columns[::-1], expressions=found.expressions[::-1])
