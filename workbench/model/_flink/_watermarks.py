"""Flink's watermarks: bounded out-of-orderness on each side, and what an operator makes of those of both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.arrays import Codes, RowNumbers, Times
from workbench.kinds import MS
from workbench.literals import SIDES, Side
from workbench.model._watermarks import DATA, END, FINISH, LONG_AGO, Watermarks
from workbench.streams import NOTHING, Stream, moving
from workbench.times import micros

__all__ = ["ENDLESS", "flink_watermarks"]

ENDLESS = 2**61
"""The last watermark, in microseconds: Flink's is the greatest number that there is."""


def flink_watermarks(
    left: Stream,
    right: Stream,
    keys: tuple[Codes, Codes],
    idle: Mapping[Side, Any] | None,
    *,
    keyed: bool,
    one_gate: bool,
) -> tuple[Watermarks, RowNumbers]:
    """The watermark that the join has after each micro-batch, and after the end of the input.

    Parameters
    ----------
    left, right
        The streams.
    keys
        As `key_codes` gives them.
    idle
        As of `FlinkRules`.
    keyed
        Whether rows with a null key are filtered out before the watermark sees them.
    one_gate
        Whether both sides come in through one gate, as before a window, whose operator has one input; else the operator
        has an input for each.

    Returns
    -------
    Watermarks
        ``eviction`` is the watermark after a micro-batch, ``late`` the one before it; 0 where there is none yet.
    numpy.ndarray
        ``eviction`` as Flink has it: `LONG_AGO` where there is none yet.
    """
    count = max(left.batch_count, right.batch_count)
    newest: dict[Side, Times] = {}
    true: dict[Side, Times] = {}
    for side, stream, key in zip(SIDES, (left, right), keys, strict=True):
        seen = np.full(count + 1, NOTHING)
        moves = moving(stream, keyed)
        if moves is None:
            some = key >= 0 if keyed else np.ones(len(key), dtype=bool)
            np.maximum.at(seen, stream.arrival[some], stream.event_times[some] // MS * MS)
        else:
            batches = np.flatnonzero(moves > NOTHING)
            seen[batches] = moves[batches] // MS * MS
        seen[-1] = END
        newest[side] = np.maximum.accumulate(seen)
        known = newest[side] > NOTHING
        true[side] = np.where(known, np.where(known, newest[side], 0) - micros(stream.watermark) - MS, LONG_AGO)
        true[side][-1] = ENDLESS
    if idle is None:
        combined = np.minimum(true["left"], true["right"])
    else:
        combined = (_through_a_gate if one_gate else _of_two_inputs)(true, idle)
    shown = np.clip(combined, 0, END)
    own = {side: np.clip(true[side], 0, END) for side in SIDES}
    late = np.concatenate([[0], shown[:-1]])
    return Watermarks([*[DATA] * count, FINISH], shown, late, newest, own, lag=MS), combined


def _of_two_inputs(true: Mapping[Side, Times], idle: Mapping[Side, Any]) -> Times:
    """An operator of two inputs: the least watermark of those that are not idle, the newest where all are.

    The rules are those of Flink's ``CombinedWatermarkStatus``. A side is active again when its watermark moves.
    Invariant: the result never falls.

    Examples
    --------
    The right side is idle in the second step, and back in the third: from then on it holds the left side back.

    >>> true = {"left": np.array([10, 20, 30, 40]), "right": np.array([5, 5, 12, 12])}
    >>> _of_two_inputs(true, {"left": [False] * 4, "right": [False, True, False, False]}).tolist()
    [5, 20, 30, 30]
    """
    own, asleep, combined = dict.fromkeys(SIDES, LONG_AGO), dict.fromkeys(SIDES, False), LONG_AGO
    found = []
    for step in range(len(true["left"])):
        for side in SIDES:
            if true[side][step] > own[side]:
                own[side], asleep[side] = int(true[side][step]), False
            elif step < len(idle[side]) and idle[side][step]:
                asleep[side] = True
            awake = [own[each] for each in SIDES if not asleep[each]]
            combined = max(combined, min(awake) if awake else max(own.values()))
        found.append(combined)
    return np.array(found)


def _through_a_gate(true: Mapping[Side, Times], idle: Mapping[Side, Any]) -> Times:
    """An input gate: the least watermark of the channels that are aligned.

    The rules are those of Flink's ``StatusWatermarkValve``: a side that was idle holds nothing back until its watermark
    has caught up. Invariant: the result never falls, and is at least what `_of_two_inputs` gives.

    Examples
    --------
    The same watermarks: the right side, back in the third step at 12, does not hold the left one back.

    >>> true = {"left": np.array([10, 20, 30, 40]), "right": np.array([5, 5, 12, 12])}
    >>> _through_a_gate(true, {"left": [False] * 4, "right": [False, True, False, False]}).tolist()
    [5, 20, 30, 40]
    """
    own, asleep, aligned = dict.fromkeys(SIDES, LONG_AGO), dict.fromkeys(SIDES, False), dict.fromkeys(SIDES, True)
    last = LONG_AGO
    found = []
    for step in range(len(true["left"])):
        for side in SIDES:
            least = [LONG_AGO]
            if true[side][step] > own[side]:
                asleep[side] = False
                own[side] = int(true[side][step])
                aligned[side] = aligned[side] or own[side] >= last
                least = [own[each] for each in SIDES if aligned[each]]
            elif step < len(idle[side]) and idle[side][step] and not asleep[side]:
                asleep[side], aligned[side] = True, False
                if own[side] == last:
                    least = (
                        [max(own.values())] if all(asleep.values()) else [own[each] for each in SIDES if aligned[each]]
                    )
            last = max(last, min(least, default=LONG_AGO))
        found.append(last)
    return np.array(found)
