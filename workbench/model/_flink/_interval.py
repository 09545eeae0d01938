"""Flink's interval join of keyed streams, inner: its ``IntervalJoinOperator``.

A row that is behind the watermark is dropped. Any other is kept, meets what is kept of the other side, and is removed
by a timer: the first time that the watermark moves to or beyond the last event time that it could meet.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.arrays import Batches, Times
from workbench.joins import Join, emission
from workbench.kinds import MS, kind_of
from workbench.literals import SIDES, Side, Sides
from workbench.model._hash_join import no_groups
from workbench.model._outcome import Outcome, on_time
from workbench.model._outputs import Placed, of_pairs
from workbench.model._shared import Shared
from workbench.model._watermarks import Watermarks


def replay(join: Join, marks: Watermarks, true: Times, sides: dict[Side, pd.DataFrame], shared: Shared) -> Outcome:
    """What comes out, under the watermarks that the operator has after each step."""
    one, other = shared.matches(join)
    low, high = kind_of(join).bounds(join)
    reach = {"left": max(high // MS * MS, 0), "right": max(-(-(-low // MS) * MS), 0)}
    for side in SIDES:
        mine = sides[side]
        batch = mine["batch"].to_numpy()
        removed = removed_in(true, batch, mine["end"].to_numpy() + reach[side])
        mine["evicted_in"] = np.where(on_time(mine), removed, batch)
        mine["leaves_at"] = mine["end"].to_numpy() + reach[side]
        mine["held"] = on_time(mine) & (mine["evicted_in"].to_numpy() > batch)
    at = {side: {name: sides[side][name].to_numpy() for name in ("row", "batch", "evicted_in")} for side in SIDES}
    arrived = at["left"]["batch"][one], at["right"]["batch"][other]
    met = on_time(sides["left"])[one] & on_time(sides["right"])[other]
    met &= (arrived[0] >= arrived[1]) | (at["left"]["evicted_in"][one] >= arrived[1])
    met &= (arrived[1] >= arrived[0]) | (at["right"]["evicted_in"][other] >= arrived[0])
    one, other, batch = one[met], other[met], np.maximum(*arrived)[met]
    for side, place in Sides(one, other).items():
        matched = np.zeros(len(sides[side]), dtype=bool)
        matched[place] = True
        sides[side]["matched"] = matched
    none = np.zeros(len(one), dtype=np.int64)
    pairs = Placed({"left": one, "right": other}, none, none, batch)
    outputs = of_pairs(emission(join), {side: at[side]["row"] for side in SIDES}, pairs, {})
    return Outcome(marks, shared.keys, sides, outputs, no_groups(), np.zeros(len(marks), int))


def removed_in(true: Times, batch: Batches, timer: Times) -> Batches:
    """The steps at whose end timers fire that are set in some steps: the watermark moves, to or beyond their time.

    Invariant: never before the step in which a timer is set, nor while the watermark stands, even if it is beyond the
    timer's time.

    Examples
    --------
    The third timer is set where the watermark stands at its time, 20, and fires with the next one that is greater.

    >>> removed_in(np.array([10, 20, 20, 40]), np.array([0, 1, 2]), np.array([10, 15, 20])).tolist()
    [0, 1, 3]
    """
    stood = true[np.maximum(batch - 1, 0)]
    moved = np.where(batch > 0, np.maximum(timer, stood + 1), timer)
    return np.maximum(batch, np.searchsorted(true, moved))
