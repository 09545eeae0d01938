"""Which of the workbench's joins a condition is, and why it is none."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import numpy as np

from workbench.jobs import sides
from workbench.jobs.join_conditions import Condition, are_windows_of_groups
from workbench.joins import How, IntervalJoin, Join, WindowJoin
from workbench.kinds import kind_of
from workbench.literals import SIDES, Sides, other_side

__all__ = ["NO_WATERMARK", "OF_SESSIONS", "kind", "windows_alone"]

NO_WATERMARK = "the {} side has no watermark: its rows are never dropped as late"
OF_SESSIONS = 'unite both streams with union, and group them by the key and session_window(time, "gap")'
_SESSIONS_UNMERGED = (
    "session windows are compared before they are merged, which is no join of sessions: rows pair only where their "
    f"event times are equal; {OF_SESSIONS}"
)
_BOUNDS_BESIDE = "the condition has bounds on the event times beside equal windows"


def kind(how: How | None, read: Condition) -> tuple[Join | None, list[str]]:
    """The join, if it is one of the workbench's kinds, and why it is not."""
    inputs = read.inputs
    unknown = [NO_WATERMARK.format(side) for side in SIDES if not inputs[side].watermarks]
    if read.windows:
        return _of_windows(how, read, unknown)
    if any(are_windows_of_groups(inputs, pair) for pair in read.keys):
        return _of_equal_windows(how, read, unknown)
    if alone := windows_alone(inputs, read.keys):
        return None, [*unknown, *alone]
    lower, upper = read.limits
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


def _of_equal_windows(how: How | None, read: Condition, unknown: list[str]) -> tuple[Join | None, list[str]]:
    """A join of groups whose windows are equal, and so their event times, which are the ends of these."""
    if read.bounds:
        return None, [*unknown, _BOUNDS_BESIDE]
    return None if how is None else IntervalJoin("0 seconds", "0 seconds", how), unknown


def _of_windows(how: How | None, read: Condition, unknown: list[str]) -> tuple[Join | None, list[str]]:
    """A join of rows whose windows are equal."""
    inputs = read.inputs
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
