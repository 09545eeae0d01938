"""What a time to live of state would cost a join that keeps the latest rows of a key forever."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from workbench import times
from workbench.arrays import RowNumbers, Times
from workbench.errors import ArgumentError, excerpt, wrong
from workbench.joins import Join
from workbench.kinds import kind_of, part_of
from workbench.literals import SIDES, Sides
from workbench.model import Simulation, on_time
from workbench.reasons import tables
from workbench.untyped import Value

__all__ = ["Expiring", "Lifetimes", "expired", "lifetimes", "partners"]

_OURS = ("partner", "apart", "in_state", "by_event_time", "by_processing_time")
_EXPIRED = ("by_event_time", "by_processing_time", "lost_by_event_time", "lost_by_processing_time")
_SAME, _NONE, _OTHER = "the same", "none", "another"


@dataclass(frozen=True)
class Expiring:
    """What a kind whose right rows may stay in state forever tells of them.

    Attributes
    ----------
    decided
        Of a join, left and right rows (``key``, ``start``, in order of arrival) the place of each left row's partner,
        -1 for none, and the watermark from which on that is certain.
    retained
        For each right row the watermark from which on it is of no use, and the place of the row that replaces it.
    """

    decided: Callable[[Any, pd.DataFrame, pd.DataFrame], tuple[Times, Times]]
    retained: Callable[[Any, pd.DataFrame], tuple[Times, Times]]


@dataclass(frozen=True)
class Lifetimes:
    """A time to live of a run's right rows, and what it does to those left rows that have come out with a partner.

    Attributes
    ----------
    simulation
        The run.
    span
        The time to live, microseconds.
    began
        When each micro-batch began, microseconds.
    left, right
        Assignments of the left rows that have come out, and of all right rows in state.
    met, partner
        Places in `left` of rows with a partner, and their partners' places in `right`.
    unexpired
        The partners' places in `right` by processing time; -1 for none.
    """

    simulation: Simulation
    span: int
    began: Times
    left: pd.DataFrame
    right: pd.DataFrame
    met: RowNumbers
    partner: RowNumbers
    unexpired: RowNumbers

    @property
    def apart(self) -> Times:
        """How far partners are apart in event time."""
        times = self.left["start"].to_numpy()[self.met], self.right["start"].to_numpy()[self.partner]
        return np.abs(times[0] - times[1])

    @property
    def in_state(self) -> Times:
        """How long partners have been in state, in processing time, when their left rows come out."""
        ends, starts = self.left["evicted_in"].to_numpy()[self.met], self.right["batch"].to_numpy()[self.partner]
        return self.began[ends] - self.began[starts]


def partners(lives: Lifetimes) -> pd.DataFrame:
    """The table of `Result.time_to_live`."""
    simulation, left = lives.simulation, lives.left.iloc[lives.met]
    table = tables.plain_rows(simulation, "left", left["row"].to_numpy()).drop(columns=["side", "batch"])
    table = table.rename(columns=tables.renamed(list(table.columns), _OURS))
    table.insert(0, "batch", simulation.first + left["evicted_in"].to_numpy())
    table["partner"] = len(simulation.left) + lives.right["row"].to_numpy()[lives.partner]
    for name, micros in (("apart", lives.apart), ("in_state", lives.in_state)):
        table[name] = pd.to_timedelta(micros, unit="us")
    table["by_event_time"] = np.where(lives.apart <= lives.span, _SAME, _NONE)
    same = lives.unexpired == lives.partner
    table["by_processing_time"] = np.select([same, lives.unexpired < 0], [_SAME, _NONE], _OTHER)
    return table.set_axis(left["row"].to_numpy())


def expired(lives: Lifetimes) -> pd.DataFrame:
    """The table of `Result.expired`."""
    simulation = lives.simulation
    right, count = lives.right, len(lives.began)
    came_in, gone_in = right["batch"].to_numpy(), np.minimum(right["evicted_in"].to_numpy(), count)
    passed = np.searchsorted(simulation.outcome.marks.eviction, right["start"].to_numpy() + lives.span, side="right")
    ends = {
        "by_event_time": np.maximum(passed, came_in),
        "by_processing_time": np.searchsorted(lives.began, lives.began[came_in] + lives.span),
    }
    missed = {"by_event_time": lives.apart > lives.span, "by_processing_time": lives.unexpired != lives.partner}
    lost = {name: np.bincount(lives.partner[rows], minlength=len(right)) for name, rows in missed.items()}
    expires = {name: (ends[name] < gone_in) | ((lost[name] > 0) & (ends[name] == gone_in)) for name in ends}
    chosen = np.flatnonzero(np.logical_or.reduce([*expires.values(), *(each > 0 for each in lost.values())]))
    table = tables.plain_rows(simulation, "right", right["row"].to_numpy()[chosen]).drop(columns="side")
    table = table.rename(columns=tables.renamed(list(table.columns), _EXPIRED))
    for name, batches in ends.items():
        mine = pd.Series(simulation.first + batches[chosen], index=table.index, dtype="Int64")
        table[name] = mine.where(expires[name][chosen])
    for name, counts in lost.items():
        table[f"lost_{name}"] = counts[chosen]
    return table.set_axis(len(simulation.left) + right["row"].to_numpy()[chosen])


def lifetimes(simulation: Simulation, ttl: Value, trigger: Value) -> Lifetimes:
    """What a time to live, given as to `Result.time_to_live`, does to partners; refuses joins that need none."""
    join = simulation.join
    expiring = part_of(join, Expiring)
    if expiring is None:
        raise ArgumentError(
            f"join: got {excerpt(join)}, {kind_of(join).no_ttl}; ask it of an AsOfJoin without a tolerance"
        )
    span = times.micros(times.positive(ttl, "ttl"))
    began = _began(simulation, trigger)
    left, right = (_of_keys(simulation.outcome.assignments[side]) for side in SIDES)
    left = left[left["evicted_in"] < len(began)].reset_index(drop=True)
    partner = expiring.decided(join, left, right)[0]
    unexpired = np.full(len(left), -1)
    decided_in, came_in = left["evicted_in"].to_numpy(), right["batch"].to_numpy()
    gone_in = _gone_in(join, expiring, right, began, span)
    for batch in np.unique(decided_in):
        mine = np.flatnonzero(decided_in == batch)
        known = np.flatnonzero((came_in <= batch) & (began[batch] - began[came_in] < span) & (gone_in >= batch))
        picked = expiring.decided(join, left.iloc[mine], right.iloc[known])[0]
        unexpired[mine[picked >= 0]] = known[picked[picked >= 0]]
    met = np.flatnonzero(partner >= 0)
    return Lifetimes(simulation, span, began, left, right, met, partner[met], unexpired[met])


def _gone_in(join: Join, expiring: Expiring, right: pd.DataFrame, began: Times, span: int) -> RowNumbers:
    """In which micro-batch a later right row takes each one's place, where that row has not expired by then itself."""
    until, replaced_by = expiring.retained(join, right)
    came_in, gone_in = right["batch"].to_numpy(), np.minimum(right["evicted_in"].to_numpy(), len(began))
    last = right.assign(place=np.arange(len(right))).groupby(["key", "start"])["place"].last()
    later = last.reindex(pd.MultiIndex.from_arrays([right["key"], until])).to_numpy()
    later = np.where(replaced_by >= 0, replaced_by, later)
    ends = np.flatnonzero(~np.isnan(later) & (gone_in < len(began)))
    age = began[gone_in[ends]] - began[came_in[later[ends].astype(np.int64)]]
    found: RowNumbers = gone_in.copy()
    found[ends[age >= span]] = len(began)
    return found


def _of_keys(assignments: pd.DataFrame) -> pd.DataFrame:
    """The rows that a processor has: those on time that have a key."""
    return assignments[on_time(assignments) & (assignments["key"] >= 0).to_numpy()].reset_index(drop=True)


def _began(simulation: Simulation, trigger: Value) -> Times:
    """When each micro-batch began, in microseconds: by the times of arrival, or one in each trigger interval."""
    count, arrivals = len(simulation.outcome.marks), [simulation.side(side).arrivals for side in SIDES]
    if trigger is not None:
        return np.arange(count) * times.micros(times.positive(trigger, "trigger"))
    if None in arrivals:
        remedy = 'when rows arrived is not known; say how often a micro-batch runs, such as "10 seconds"'
        raise wrong("trigger", trigger, remedy)
    interval = times.micros(arrivals[0].trigger)  # type: ignore[union-attr]  # both have the same
    began = np.zeros(count, dtype=np.int64)
    for side, known in Sides(*arrivals).items():
        began[simulation.side(side).arrival] = (known.ticks + 1) * interval  # type: ignore[union-attr]
    for batch in range(1, count):
        if not began[batch]:  # without rows: the watermark made it run
            began[batch] = began[batch - 1] + interval
    return began
