"""What may surprise in the condition of a join that is understood: a sentence each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.jobs import catalyst, conditions, numeric_times, sides, state_bounds
from workbench.jobs.catalyst import Node
from workbench.jobs.conditions import Conjunct
from workbench.jobs.join_conditions import Condition, are_windows_of_groups, bounds
from workbench.jobs.join_kinds import OF_SESSIONS
from workbench.joins import How, emission_of
from workbench.literals import SIDES

__all__ = [
    "asked_first",
    "is_kept",
    "of_absent_rows",
    "of_filters",
    "of_keys",
    "of_swapped_bounds",
    "of_windows",
    "other_times",
]

_ON_WINDOW = (
    "the watermark of the {} side is set on {}, a window, which Spark does not read as a time: it stays at 1970-01-01 "
    "19:05:19 less the delay, so no row is late, and none leaves the state; call withWatermark on {} before window()"
)
_SESSIONS_EQUAL = f"sessions of the two sides are equal only where both begin and end at the same time: {OF_SESSIONS}"
_WINDOW_FIRST = (
    "the windows are computed before withWatermark is called, so Spark knows no watermark of them, and keeps rows "
    "forever: call withWatermark before window()"
)
_WINDOW_OF_ANOTHER = (
    "the windows are of {0}, and the watermark of {1} is on {2}: Spark knows no watermark of the windows, and keeps "
    "rows forever; call withWatermark on {0}, or make the windows of {2}"
)


def of_swapped_bounds(read: Condition) -> Iterator[str]:
    """A note on bounds of which the lower one is above the upper."""
    lower, upper = read.limits
    named = read.named_times
    if lower is not None and upper is not None and lower[0] > upper[0] and named is not None:
        yield f"the bounds are swapped: write {numeric_times.in_intervals(named, upper, lower)}"


def of_absent_rows(read: Condition) -> Iterator[str]:
    """A note on a condition that asks for null in a column of a row that has a partner: no pair satisfies it."""
    for each in read.written:
        if any(read.keeps_absent(each, side) for side in SIDES):
            asked = str(each.written.java.sql()).replace("`", "")
            yield (
                f"{asked} stands in the condition of the join, which compares that column: no pair satisfies both, so "
                f"no row has a partner; to keep rows without a partner only, filter after the join, with .where"
            )


def of_keys(read: Condition) -> Iterator[str]:
    """A note on keys that are not compared as the columns are."""
    for one in read.compared.values():
        if not all(map(conditions.is_struct, one.expressions)):
            written = " = ".join(str(each.java.sql()) for each in one.expressions)
            yield f"keys are compared as {written}" + (", and two nulls are equal" if one.nulls_meet else "")


def of_windows(read: Condition) -> Iterator[str]:
    """Notes on watermarks that are set on a window, and on windows of which Spark knows no watermark."""
    for side, mine in read.inputs.items():
        for each in filter(mine.on_window, mine.watermarks):
            yield _ON_WINDOW.format(side, mine.computed.get(each.time) or "a window", mine.called(mine.marked(each)))
    yield from _of_windows_unmarked(read)
    if any(are_windows_of_groups(read.inputs, pair) for pair in read.keys) and any(
        mine.grouped is not None and mine.grouped.size is None for mine in read.inputs.values()
    ):
        yield _SESSIONS_EQUAL


def _of_windows_unmarked(read: Condition) -> Iterator[str]:
    """A note on windows that are compared, and of which Spark knows no watermark."""
    found = [
        (mine, mine.windows[mine.origin(pair[place])][1])
        for pair in read.keys
        for place, mine in enumerate(read.inputs.values())
        if mine.origin(pair[place]) in mine.windows and not are_windows_of_groups(read.inputs, pair)
    ]
    if not found:
        return
    for mine, time in found:
        if mine.watermarks and mine.watermark_of(time) is None:
            marked = mine.called(mine.marked(mine.watermarks[0]))
            yield _WINDOW_OF_ANOTHER.format(mine.called(time), mine.name or "its side", marked)
            return
    yield _WINDOW_FIRST


def other_times(read: Condition) -> Iterator[str]:
    """Which times the condition compares that have no watermark, where it has no bounds on those that have one."""
    if read.bounds or read.windows:
        return
    parts = [part for each in read.rest for one in conditions.conjuncts(each) for part in one.parts]
    limits = [limit for part in parts for limit in bounds(part, read.inputs)]
    compared = {each for limit in limits for each in (limit.later, limit.earlier)}
    for side in SIDES:
        mine, time = read.inputs[side], read.times[side]
        others = [mine.columns[each] for each in compared if each in mine.columns and mine.watermark_of(each) is None]
        if others and time is not None and mine.watermarks:
            marked, named = mine.called(time) or "another column", " and ".join(others)
            if mine.grouped is not None:
                yield (
                    f"the condition compares a part of {named} of the {side} side, a window, which has no watermark of "
                    f"its own: {state_bounds.TIME_OF_WINDOW}"
                )
                continue
            yield (
                f"the condition compares {named} of the {side} side, and its watermark is on {marked}: Spark bounds "
                f"the state by a column with a watermark only; set the watermark on {others[0]}, after it is computed, "
                f"in place of {marked}, or compare {marked}"
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


def of_filters(above: list[Conjunct], join: Node) -> Iterator[str]:
    """A note on filters after a join that compare columns of both sides."""
    one_sided = asked_first(above, join)
    for each in (one.written for one in above if one.written not in one_sided):
        if len(catalyst.columns_in(each)) > 1:
            yield (
                f"the filter {each.java.sql()} after the join removes pairs: fates are those of the join itself, so "
                "a row whose pairs are all removed is still matched"
            )


def asked_first(found: list[Conjunct], join: Node) -> list[Node]:
    """The parts of conditions that have columns of one side of a join only."""
    mine = [set(child.ids) for child in join.children]
    parts = [each.written for each in found]
    return [each for each in parts if (columns := catalyst.columns_in(each)) and any(columns <= side for side in mine)]


def is_kept(condition: Conjunct, how: How | None, join: Node) -> bool:
    """Whether a part of a join's condition takes no row of a side out, as the join pads what fails it."""
    padded = () if how is None else emission_of(how).padded
    columns = catalyst.columns_in(condition.written)
    return any(columns <= set(join.children[SIDES.index(side)].ids) for side in padded)
