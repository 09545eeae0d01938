"""The interval joins of Flink SQL, which a DataStream job takes for all but inner ones.

No row is dropped as late: it meets what the caches still hold, and comes out without partner at once if nothing can
come for it any more. The rules are those of Flink's ``TimeIntervalJoin`` with a rowtime, and, for ``semi``, of its
regular join, which keeps every row.

Rows are held in a cache for each side and key. A cache has one timer, set by the row that was put into it when it was
empty, or else by the earliest that the timer left in it. So a row leaves when the watermark passes it, at its due step,
unless the timer was set by a later row, and is still to come: such a row stays overdue until that timer fires, or until
a row of its key on the other side looks for partners, which it may still meet. How far caches are cleaned then is
remembered for a side, not for a key: a row does not look for partners where all that it could meet is taken to be gone.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from workbench.arrays import Batches, Codes, Flags, RowNumbers, Times
from workbench.joins import Join, emission
from workbench.kinds import MS, NEVER, kind_of
from workbench.literals import SIDES, Side, Sides, other_side
from workbench.model._hash_join import no_groups
from workbench.model._outcome import Outcome
from workbench.model._outputs import Placed, of_pairs
from workbench.model._shared import Shared
from workbench.model._watermarks import Watermarks


def replay(join: Join, marks: Watermarks, true: Times, sides: dict[Side, pd.DataFrame], shared: Shared) -> Outcome:
    """What comes out, under the watermarks that the operator has after each step."""
    emits, count = emission(join), len(marks)
    lower, upper = kind_of(join).bounds(join)
    low, high = -(-lower // MS), upper // MS  # the whole milliseconds within the bounds
    reach: dict[Side, int] = {"left": high, "right": -low}
    came = {side: sides[side]["batch"].to_numpy() for side in SIDES}
    if emits.first_only:
        one, other = shared.matches(join)
        pairs = one, other, np.maximum(came["left"][one], came["right"][other])
        removed = {side: np.full(len(sides[side]), count) for side in SIDES}
    elif low <= high:
        pairs, removed = _operator(reach, true // MS, sides, shared.matches(join))
    else:  # Flink plans no join, and pads the rows as they come
        none = np.array([], dtype=np.int64)
        pairs, removed = (none, none, none), came
    padded = {}
    for side, place in Sides(*pairs[:2]).items():
        mine = sides[side]
        matched = np.zeros(len(mine), dtype=bool)
        matched[place] = True
        mine["matched"], mine["evicted_in"] = matched, removed[side]
        mine["held"] = removed[side] > came[side]
        mine["leaves_at"] = NEVER if emits.first_only else mine["end"].to_numpy() + reach[side] * MS + MS
        if side in emits.padded:
            alone = np.flatnonzero(~matched)
            padded[side] = alone, removed[side][alone]
    rows = {side: sides[side]["row"].to_numpy() for side in SIDES}

    def placed(assignments: dict[Side, RowNumbers], step: Batches) -> Placed:
        no_window = np.zeros(len(step), dtype=np.int64)
        return Placed(assignments, no_window, no_window, step)

    both = placed({"left": pairs[0], "right": pairs[1]}, pairs[2])
    alone_of = {side: placed({side: place}, step) for side, (place, step) in padded.items()}
    return Outcome(marks, shared.keys, sides, of_pairs(emits, rows, both, alone_of), no_groups(), np.zeros(count, int))


@dataclass(frozen=True)
class _Side:
    """The rows of one side in the operator; times in milliseconds.

    Attributes
    ----------
    time, key, step
        Of each row.
    came
        How many rows of both sides came before it.
    last
        The time of the last row that it can meet.
    cached
        Whether it is put into a cache at all.
    due
        The step at whose end the watermark has passed all that it can meet.
    """

    time: Times
    key: Codes
    step: Batches
    came: Batches
    last: RowNumbers
    cached: Flags
    due: Times


def _operator(
    reach: Mapping[Side, int], marks: Times, sides: Mapping[Side, pd.DataFrame], matches: tuple[RowNumbers, RowNumbers]
) -> tuple[tuple[RowNumbers, RowNumbers, RowNumbers], dict[Side, RowNumbers]]:
    """The pairs with the step in which each comes out, and per side the step in which each row leaves.

    Parameters
    ----------
    reach
        Per side how far after a row its last partner lies.
    marks
        The watermark after each step; all times in milliseconds.
    sides
        The assignments.
    matches
        The pairs by definition.
    """
    stands = np.maximum.accumulate(marks)
    now = np.maximum(np.append(0, stands[:-1]), 0)  # what a row that comes in a step takes for the watermark
    rows = _rows(reach, stands, now, sides)
    found, removed, looks = [], {}, {}
    for side in SIDES:
        mine, other = rows[side], rows[other_side(side)]
        leaves, fired = _fired(mine)
        looking = _Cleaned.of(fired, stands, now, reach[side], other).looks(other)
        removed[side] = np.where(mine.cached, mine.due, mine.step)
        overdue = np.flatnonzero(leaves > mine.due)
        removed[side][overdue] = leaves[overdue]
        if len(overdue):
            found.append(_overdue(side, overdue, removed[side], mine, other, looking, reach[side]))
        looks[other_side(side)] = looking
    one, other_one = matches
    left_first = rows["left"].came[one] < rows["right"].came[other_one]
    kept = np.zeros(len(one), dtype=bool)
    for side, first in (("left", left_first), ("right", ~left_first)):
        earlier, later = (one, other_one) if side == "left" else (other_one, one)
        held, comes = rows[side], rows[other_side(side)]
        inside = held.cached[earlier] & (comes.step[later] <= held.due[earlier]) & looks[other_side(side)][later]
        kept |= first & inside
    step = np.maximum(rows["left"].step[one], rows["right"].step[other_one])
    pairs = np.column_stack([one, other_one, step])[kept]
    pairs = np.concatenate([pairs, *found])
    came = np.maximum(rows["left"].came[pairs[:, 0]], rows["right"].came[pairs[:, 1]])
    pairs = pairs[np.argsort(came, kind="stable")]
    return (pairs[:, 0], pairs[:, 1], pairs[:, 2]), removed


def _rows(
    reach: Mapping[Side, int], stands: Times, now: Times, sides: Mapping[Side, pd.DataFrame]
) -> dict[Side, _Side]:
    """The rows of both sides, in the order in which Flink takes them in: in each step the left ones first."""
    step = {side: sides[side]["batch"].to_numpy() for side in SIDES}
    cut = len(step["left"])
    both = np.concatenate([step[side] for side in SIDES])
    number = np.concatenate([sides[side]["row"].to_numpy() for side in SIDES])
    came = np.empty(len(both), dtype=np.int64)
    came[np.lexsort((number, np.arange(len(both)) >= cut, both))] = np.arange(len(both))
    found = {}
    for side, order in Sides(came[:cut], came[cut:]).items():
        time = sides[side]["start"].to_numpy() // MS
        last = time + reach[side]
        due = np.searchsorted(stands, last + 1)
        found[side] = _Side(time, sides[side]["key"].to_numpy(), step[side], order, last, now[step[side]] < last, due)
    return found


def _fired(mine: _Side) -> tuple[RowNumbers, RowNumbers]:
    """For each row the step in which a timer removes it, and the steps in which timers of the side fire.

    Invariant: where rows of a key come in the order in which they are due, each leaves as it is due. Only the caches of
    which this is not so are replayed row by row.
    """
    leaves, cached = mine.due.copy(), np.flatnonzero(mine.cached)
    if not len(cached):
        return leaves, cached
    cached = cached[np.lexsort((mine.came[cached], mine.key[cached]))]
    key, due = mine.key[cached], mine.due[cached]
    begins = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
    ends = np.append(begins[1:], len(key))
    cache = np.repeat(np.arange(len(begins)), ends - begins)
    width = int(due.max()) + 1
    latest = np.maximum.accumulate(cache * width + due) - cache * width  # of the cache so far
    mixed = np.zeros(len(begins), dtype=bool)
    mixed[cache[due < latest]] = True  # a row came after one that is due later
    fired = [due[~mixed[cache]]]
    for begin, end in zip(begins[mixed].tolist(), ends[mixed].tolist(), strict=True):
        some = cached[begin:end]
        steps, until = _timers(mine.step[some].tolist(), mine.due[some].tolist())
        leaves[some] = until
        fired.append(np.array(steps, dtype=np.int64))
    return leaves, np.unique(np.concatenate(fired))


def _timers(came: list[int], due: list[int]) -> tuple[list[int], list[int]]:
    """When the timer of one cache fires, and with which firing each of its rows leaves.

    Invariant: no row leaves before it is due, and each leaves with the first firing from then on.

    Parameters
    ----------
    came, due
        Of each row, in the order in which they come: its step, and the step at whose end it is due.

    Examples
    --------
    The first row sets the timer to 5. The second, due at the end of step 3, is overdue until then.

    >>> _timers([0, 1, 2], [5, 3, 7])
    ([5, 7], [5, 5, 7])
    """
    fired: list[int] = []
    leaves = due.copy()
    held: list[tuple[int, int]] = []
    timer = -1

    def fire() -> None:
        nonlocal timer
        fired.append(timer)
        while held and held[0][0] <= timer:
            leaves[heapq.heappop(held)[1]] = timer
        timer = held[0][0] if held else -1

    for row, (step, until) in enumerate(zip(came, due, strict=True)):
        while 0 <= timer < step:
            fire()
        heapq.heappush(held, (until, row))
        if timer < 0:
            timer = until
    while timer >= 0:
        fire()
    return fired, leaves


@dataclass(frozen=True)
class _Cleaned:
    """Up to which time the caches of a side are taken to be cleaned, step by step.

    Invariant: it is one time for all keys of the side. A key's cache that was cleaned no further may hold older rows,
    which are not looked for.

    Attributes
    ----------
    before
        That time at the beginning of each step.
    after
        That time later in the step, once a row of the other side has looked for partners: the watermark's.
    changes
        The first such row, by how many rows came before it; `NEVER` without one. A row looks if the time is less than
        that of the last row that it can meet.
    """

    before: RowNumbers
    after: RowNumbers
    changes: RowNumbers

    @classmethod
    def of(cls, fired: Batches, stands: Times, now: Times, reach: int, other: _Side) -> _Cleaned:
        """Of a side whose timers fire in some steps, and into which the rows of the other side look."""
        count = len(stands)
        after = now - reach - 1
        fires = np.zeros(count, dtype=bool)
        fires[fired[fired < count]] = True
        taken = np.argsort(other.came)
        edges = np.searchsorted(other.step[taken], np.arange(count + 1))
        last, came = other.last[taken], other.came[taken]
        before, changes = np.empty(count, dtype=np.int64), np.full(count, NEVER)
        cleaned = 0
        for step in range(count):
            before[step] = cleaned
            if cleaned != after[step]:
                some = slice(edges[step], edges[step + 1])
                further = last[some] > cleaned
                if further.any():
                    changes[step], cleaned = came[some][further.argmax()], after[step]
            if fires[step]:
                cleaned = max(int(stands[step]), 0) - reach - 1
        return cls(before, after, changes)

    def looks(self, rows: _Side) -> Flags:
        """Whether each row of the other side looks for partners."""
        known = np.where(self.changes[rows.step] < rows.came, self.after[rows.step], self.before[rows.step])
        found: Flags = known < rows.last
        return found


def _overdue(
    side: Side, overdue: RowNumbers, removed: Batches, mine: _Side, other: _Side, looking: Flags, back: int
) -> RowNumbers:
    """The pairs of overdue rows with rows that come after they were due; and when such a row has removed them.

    A row of the other side that is `looking` looks at its key's rows from `back` before its own time on, and removes
    what is overdue: then the step in `removed` becomes its own.
    """
    taken = np.flatnonzero(looking)
    if not len(taken):
        return np.empty((0, 3), dtype=np.int64)
    taken = taken[np.lexsort((other.came[taken], other.key[taken]))]
    steps = int(max(other.step.max(initial=0), mine.due.max(initial=0), removed.max(initial=0))) + 1
    place = other.key[taken] * steps + other.step[taken]
    first = np.searchsorted(place, mine.key[overdue] * steps + mine.due[overdue], side="right")
    found = np.append(taken, -1)[first]
    there = (first < len(taken)) & (other.key[found] == mine.key[overdue]) & (other.step[found] <= removed[overdue])
    overdue, found = overdue[there], found[there]
    removed[overdue] = other.step[found]
    time = mine.time[overdue]
    met = (time >= other.time[found] - back) & (time <= other.last[found]) & (mine.key[overdue] >= 0)
    pairs = {side: overdue[met], other_side(side): found[met]}
    return np.column_stack([*(pairs[each] for each in SIDES), other.step[found[met]]])
