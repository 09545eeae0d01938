"""What a time to live of state would cost a join that keeps the latest rows of a key for ever."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pandas as pd

from workbench import times
from workbench.errors import ArgumentError, wrong
from workbench.kinds import PROCESSOR, Choice, Micros, kind_of
from workbench.literals import SIDES
from workbench.model import Simulation, on_time
from workbench.runs import tables

__all__ = ["of_run"]

_OURS = ("partner", "apart", "in_state", "by_event_time", "by_processing_time")
_SAME, _NONE, _OTHER = "the same", "none", "another"


def of_run(simulation: Simulation, ttl: Any, trigger: Any) -> pd.DataFrame:
    """The table of `Result.time_to_live`, which has the same arguments."""
    join = simulation.join
    if kind_of(join).operator is not PROCESSOR:
        why = (
            "whose rules stay until they are replaced"
            if kind_of(join).operator.is_processor
            else "which needs no time to live, because the watermark evicts all its rows"
        )
        raise ArgumentError(f"join: got {join}, {why}; ask it of an AsOfJoin without a tolerance")
    span = times.micros(times.positive(ttl, "ttl"))
    began = _began(simulation, trigger)
    left, right = (_of_keys(simulation.outcome.assignments[side]) for side in SIDES)
    left = left[left["evicted_in"] < len(began)].reset_index(drop=True)
    choice = cast(Choice, kind_of(join).choice)
    partner = choice.decided(join, left, right)[0]
    unexpired = np.full(len(left), -1)
    decided_in, came_in = left["evicted_in"].to_numpy(), right["batch"].to_numpy()
    for batch in np.unique(decided_in):
        mine = np.flatnonzero(decided_in == batch)
        known = np.flatnonzero((came_in <= batch) & (began[batch] - began[came_in] < span))
        picked = choice.decided(join, left.iloc[mine], right.iloc[known])[0]
        unexpired[mine[picked >= 0]] = known[picked[picked >= 0]]
    met = np.flatnonzero(partner >= 0)
    one, other = left.iloc[met], right.iloc[partner[met]]
    apart = np.abs(one["start"].to_numpy() - other["start"].to_numpy())
    held = began[decided_in[met]] - began[came_in[partner[met]]]
    now = unexpired[met]
    table = tables.plain_rows(simulation, "left", one["row"].to_numpy()).drop(columns=["side", "batch"])
    table = table.rename(columns=tables.renamed(list(table.columns), _OURS))
    table.insert(0, "batch", simulation.first + decided_in[met])
    table["partner"] = len(simulation.left) + other["row"].to_numpy()
    table["apart"], table["in_state"] = (pd.to_timedelta(each, unit="us") for each in (apart, held))
    table["by_event_time"] = np.where(apart <= span, _SAME, _NONE)
    table["by_processing_time"] = np.select([now == partner[met], now < 0], [_SAME, _NONE], _OTHER)
    return table


def _of_keys(assignments: pd.DataFrame) -> pd.DataFrame:
    """The rows that a processor has: those on time that have a key."""
    return assignments[on_time(assignments) & (assignments["key"] >= 0).to_numpy()].reset_index(drop=True)


def _began(simulation: Simulation, trigger: Any) -> Micros:
    """When each micro-batch began, in microseconds: by the times of arrival, or one in each trigger interval."""
    count, arrivals = len(simulation.outcome.marks), [simulation.side(side).arrivals for side in SIDES]
    if trigger is not None:
        return np.arange(count) * times.micros(times.positive(trigger, "trigger"))
    if None in arrivals:
        remedy = 'when rows arrived is not known; say how often a micro-batch runs, such as "10 seconds"'
        raise wrong("trigger", trigger, remedy)
    interval = times.micros(arrivals[0].trigger)  # type: ignore[union-attr]  # both have the same
    began = np.zeros(count, dtype=np.int64)
    for side, known in zip(SIDES, arrivals, strict=True):
        began[simulation.side(side).arrival] = (known.ticks + 1) * interval  # type: ignore[union-attr]
    for batch in range(1, count):
        if not began[batch]:  # without rows: the watermark made it run
            began[batch] = began[batch - 1] + interval
    return began
