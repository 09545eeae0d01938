"""Flink's window operator over both sides: what a window holds, when it fires, and fires again.

A window fires at the first watermark at or after the last millisecond in it, and, until the allowed lateness has
passed, again for each row that comes, each time with all the rows that it holds. The rules are those of
``WindowOperator`` with an ``EventTimeTrigger``, and of ``coGroup``, which ``join`` is made of.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from workbench.arrays import Batches, Flags, RowNumbers, Times
from workbench.joins import Join, emission
from workbench.kinds import MS, kind_of
from workbench.literals import SIDES, Side
from workbench.model._flink import _sessions
from workbench.model._flink._firings import Firings
from workbench.model._hash_join import no_groups
from workbench.model._outcome import Outcome, on_time, present
from workbench.model._outputs import Outputs, Placed, members, of_pairs
from workbench.model._shared import Shared
from workbench.model._watermarks import Watermarks
from workbench.model.keys_and_pairs import check_pairs, check_size
from workbench.model.ordering import along_keys, equal, numbered

__all__ = ["replay"]


def replay(
    join: Join, marks: Watermarks, true: Times, sides: dict[Side, pd.DataFrame], shared: Shared, lateness: int
) -> Outcome:
    """What comes out, under the watermarks that the operator has after each step; `lateness` in microseconds."""
    groups = no_groups()
    if kind_of(join).merging:
        firings, groups = _sessions.replay(true, sides, lateness)
        closes = groups["batch"].to_numpy()
        for mine in sides.values():
            group, batch = mine["group"].to_numpy(), mine["batch"].to_numpy()
            mine["evicted_in"] = np.where(group >= 0, closes[group], batch) if len(groups) else batch
            ends = np.where(group >= 0, groups["end"].to_numpy()[group], mine["end"]) if len(groups) else mine["end"]
            mine["leaves_at"] = ends - MS + lateness
    else:
        firings = _fired(true, sides)
        for mine in sides.values():
            batch = mine["batch"].to_numpy()
            mine["leaves_at"] = mine["end"].to_numpy() - MS + lateness
            cleared = np.maximum(batch, np.searchsorted(true, mine["leaves_at"].to_numpy()))
            mine["evicted_in"] = np.where(on_time(mine), cleared, batch)
    for mine in sides.values():
        mine["held"] = on_time(mine) & (mine["evicted_in"] > mine["batch"]).to_numpy()
    met = firings.counts("left") * firings.counts("right") > 0
    partnered = {side: met[firings.of[side]] for side in SIDES}
    if kind_of(join).grouped:
        outputs = _grouped(sides, firings, met)
    else:
        pairs = _pairs(firings, shared)
        if (where := shared.where(join)) is not None:
            rows = [sides[side]["row"].to_numpy()[firings.assignments[side][pairs[side]]] for side in SIDES]
            pairs = pairs[where(*rows)]
            partnered = {side: np.isin(np.arange(len(firings.of[side])), pairs[side]) for side in SIDES}
        outputs = _joined(join, sides, firings, pairs, partnered)
    for side in SIDES:
        matched = np.zeros(len(sides[side]), dtype=bool)
        matched[firings.assignments[side][partnered[side]]] = True
        sides[side]["matched"] = matched
    count = len(marks)
    held = [mine[mine["held"]] for mine in sides.values()]
    left, right = (present(each["batch"].to_numpy(), each["evicted_in"].to_numpy(), count) for each in held)
    return Outcome(marks, shared.keys, sides, outputs, groups, np.zeros(count, int), left + right)


def _fired(true: Times, sides: Mapping[Side, pd.DataFrame]) -> Firings:
    """The firings of windows that do not merge.

    Invariant: a window fires once for all rows that are there when the watermark reaches its last millisecond, if there
    are any, and once more for each row that comes later and is not late; each firing has all rows of those before it.

    Examples
    --------
    One window of 10 s, which the watermark passes in step 1; the row of step 2 is within the allowed lateness.

    >>> def side(times, steps):
    ...     columns = {"key": 0, "start": 0, "end": 10_000_000, "batch": steps, "row": range(len(times))}
    ...     return pd.DataFrame(columns | {"late": False, "filtered": False})
    >>> sides = {"left": side([1], [0]), "right": side([3, 4], [0, 2])}
    >>> fired = _fired(np.array([2, 12, 14]) * 1_000_000, sides)
    >>> fired.table["batch"].tolist(), fired.counts("left").tolist(), fired.counts("right").tolist()
    ([1, 2], [1, 1], [1, 2])
    """
    cut = len(sides["left"])
    alive = np.flatnonzero(np.concatenate([on_time(sides[side]) for side in SIDES]))
    key, start, end, batch, row = (
        np.concatenate([sides[side][name].to_numpy() for side in SIDES])[alive]
        for name in ("key", "start", "end", "batch", "row")
    )
    is_right = alive >= cut
    window, heads = numbered(equal(*along_keys((key, start))))
    order = np.lexsort((row, is_right, batch, window))  # left rows of a step come first
    window, batch, is_right, place = window[order], batch[order], is_right[order], alive[order]
    counts = np.bincount(window, minlength=len(heads))
    begins = np.cumsum(counts) - counts
    fires_in = np.searchsorted(true, end[heads] - MS)
    early = batch <= fires_in[window]
    there = np.bincount(window, early, minlength=len(heads)).astype(np.int64)
    on_end, again = np.flatnonzero(there), np.flatnonzero(~early)
    of_window = np.concatenate([on_end, window[again]])
    size = np.concatenate([there[on_end], again - begins[window[again]] + 1])
    fired = np.concatenate([fires_in[on_end], batch[again]])
    # within a step, rows come before the watermark moves
    rank = np.concatenate([np.full(len(on_end), len(order)), np.lexsort((row, is_right, batch)).argsort()[again]])
    by_time = np.lexsort((of_window, rank, fired))
    of_window, size, fired = of_window[by_time], size[by_time], fired[by_time]
    check_size(int(size.sum()), f"windows fire with {int(size.sum()):,} rows in all", "allow less lateness")
    firing = np.repeat(np.arange(len(size)), size)
    inside = np.arange(len(firing)) - np.repeat(np.cumsum(size) - size, size)
    at = np.repeat(begins[of_window], size) + inside
    span = {"start": start[heads][of_window], "end": end[heads][of_window], "batch": fired}
    return Firings.made(pd.DataFrame(span | {"key": key[heads][of_window]}), firing, is_right[at], place[at], cut)


def _pairs(firings: Firings, shared: Shared) -> pd.DataFrame:
    """The pairs of each firing: ``firing``; ``left``, ``right`` (places among the rows of the firings of that side)."""
    check_pairs(firings.table["key"].to_numpy(), firings.counts("left") * firings.counts("right"), shared.named)
    each = [pd.DataFrame({side: np.arange(len(firings.of[side])), "firing": firings.of[side]}) for side in SIDES]
    return each[0].merge(each[1], on="firing")


def _joined(
    join: Join,
    sides: Mapping[Side, pd.DataFrame],
    firings: Firings,
    pairs: pd.DataFrame,
    partnered: Mapping[Side, Flags],
) -> Outputs:
    """What comes out of a join: in each firing the pairs, and the rows without partner."""
    table, emits = firings.table, emission(join)
    firing = pairs["firing"].to_numpy()

    def placed(assignments: dict[Side, RowNumbers], firing: Batches) -> Placed:
        return Placed(assignments, *(table[name].to_numpy()[firing] for name in ("start", "end", "batch")))

    padded = {}
    for side in emits.padded:
        alone = np.flatnonzero(~partnered[side])
        padded[side] = placed({side: firings.assignments[side][alone]}, firings.of[side][alone])
    rows = {side: sides[side]["row"].to_numpy() for side in SIDES}
    both = placed({side: firings.assignments[side][pairs[side]] for side in SIDES}, firing)
    return of_pairs(emits, rows, both, padded, of=firing)


def _grouped(sides: Mapping[Side, pd.DataFrame], firings: Firings, met: Flags) -> Outputs:
    """What comes out of a coGroup: each firing."""
    table = firings.table[["start", "end", "batch"]].assign(matched=met, emitted=True)
    parts = []
    for side in SIDES:
        rows = sides[side]["row"].to_numpy()[firings.assignments[side]]
        order = np.lexsort((rows, firings.of[side]))
        parts.append((firings.of[side][order], rows[order], firings.assignments[side][order]))
    return Outputs(table, members(*parts))
