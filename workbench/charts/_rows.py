"""The rows, pairs and windows of a run as charts take them, one by one or counted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from workbench.arrays import Numbers, RowNumbers, Texts
from workbench.charts._axes import EVENT_TIME, Axis, arrived, places
from workbench.charts._style import MOST_ROWS, STEPS
from workbench.errors import wrong
from workbench.joins import emission
from workbench.kinds import kind_of
from workbench.literals import SIDES, Side, Sides, other_side, row_ids
from workbench.model import Simulation
from workbench.model.ordering import among
from workbench.reasons.labels import key_words
from workbench.reasons.own import sentences
from workbench.reasons.slots import SentenceSlots
from workbench.untyped import Record, Value

Between = tuple[Any, Any]
"""Two event times, or what pandas takes for one."""
MOST_REASONS = 1_000
"""Rows a side whose reasons are put into a chart; for more, `Run.rows` and `Run.why` have them."""
_MOST_PAIRS_OF_A_GROUP = 10_000
_MOST_JUDGED = 30_000
"""Unmatched rows whose causes a chart of counts tells; of more, only whether their key is on one stream only."""


@dataclass(frozen=True)
class Cut:
    """A stretch of event time, in microseconds, both ends included, or of another axis; what a chart is to show."""

    low: int = -(2**62)
    high: int = 2**62
    axis: Axis = EVENT_TIME

    @property
    def between(self) -> tuple[Any, Any] | None:
        """What `of` makes it of."""
        if self.whole:
            return None
        if self.axis.of_times:
            return tuple(pd.Timestamp(each, unit="us") for each in (self.low, self.high))
        return tuple(self.axis.shown(each).item() for each in (self.low, self.high))

    @property
    def whole(self) -> bool:
        """Whether it is all of the axis."""
        return (self.low, self.high) == (-(2**62), 2**62)

    @classmethod
    def of(cls, between: Value, axis: Axis = EVENT_TIME) -> Cut:
        """From two times, or what pandas takes for one, or two numbers of micro-batches; the whole axis from None.

        Raises
        ------
        ArgumentError
            If it is not that.
        """
        if between is None:
            return cls(axis=axis)
        if not axis.of_times:
            return cls(*_numbers(between, axis), axis)
        try:
            if not isinstance(between, tuple | list) or len(between) != 2:
                raise TypeError("no pair")
            moments = [pd.Timestamp(each) for each in between]
            if any(pd.isna(each) for each in moments):
                raise ValueError("no time")
            naive = [each.tz_convert("UTC").tz_localize(None) if each.tz else each for each in moments]
            low, high = (int(each.as_unit("us").asm8.astype(np.int64)) for each in naive)
            return cls(low, high, axis)
        except (TypeError, ValueError):
            remedy = 'give two event times, such as ("2026-01-01 09:00", "2026-01-01 09:10")'
            raise wrong("between", between, remedy) from None

    def rows(self, simulation: Simulation) -> dict[Side, RowNumbers]:
        """The numbers of each side's rows in it."""
        every = {side: places(simulation, side, self.axis) for side in SIDES}
        return {side: np.flatnonzero((each >= self.low) & (each <= self.high)) for side, each in every.items()}


def _numbers(between: Value, axis: Axis) -> tuple[int, int]:
    """From the beginning of one micro-batch to the end of another."""
    try:
        low, high = (float(each) for each in between)
        first = math.floor(low)
        return axis.place(first), axis.place(max(math.ceil(high), first + 1))
    except (TypeError, ValueError, OverflowError):
        raise wrong("between", between, "give two numbers of micro-batches, such as (2, 5)") from None


WHOLE = Cut()
"""All of event time."""


def many(simulation: Simulation, cut: Cut) -> bool:
    """Whether there are more rows in the cut than are drawn one by one."""
    return max(len(each) for each in cut.rows(simulation).values()) > MOST_ROWS


def rows(simulation: Simulation, chosen: dict[Side, RowNumbers], reasons: bool = True) -> pd.DataFrame:
    """Some rows of each side, as `timeline` and `arrival` take them."""
    few = max(len(each) for each in chosen.values()) <= MOST_REASONS
    told = sentences(simulation, chosen) if reasons and few else None
    obstacles = obstacles_of(simulation, chosen, told)
    parts = []
    for side, mine in chosen.items():
        stream, fates = simulation.side(side), simulation.fates[side]
        part = pd.DataFrame(
            {
                "row_id": row_ids(side, mine.tolist()),
                "row": mine,
                "side": side,
                "key": key_words(stream, mine),
                "time": stream.event_times[mine].astype("datetime64[us]"),
                "batch": stream.arrival[mine],
                "arrived": arrived(stream.arrival)[mine],
                "obstacle": obstacles[side],
                **{name: fates[name].to_numpy()[mine] for name in ("fate", "decided_in", "evicted_in")},
            }
        )
        if told is not None:
            part["reason"] = told.table[side]["reason"].to_numpy()
        parts.append(part)
    return pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)


def obstacles_of(
    simulation: Simulation, chosen: dict[Side, RowNumbers], told: SentenceSlots | None = None
) -> dict[Side, Texts]:
    """Per side what kept each of some rows from a partner, an `Obstacle`; empty for those that are not unmatched.

    Parameters
    ----------
    simulation, chosen
        The run, and per side the numbers of the rows, in order.
    told
        What is told of them, where that is known; else only what is needed of the unmatched ones is found out.
    """
    if told is not None:
        return {side: told.obstacles(side) for side in SIDES}
    unmatched = {side: simulation.fates[side]["fate"].to_numpy()[mine] == "unmatched" for side, mine in chosen.items()}
    found = {side: np.full(len(mine), "", dtype=object) for side, mine in chosen.items()}
    asked = {side: chosen[side][unmatched[side]] for side in SIDES}
    if sum(map(len, asked.values())) <= _MOST_JUDGED:
        told = sentences(simulation, asked)
        for side in SIDES:
            found[side][unmatched[side]] = told.obstacles(side)
        return found
    keys = Sides(*simulation.outcome.keys)
    for side in SIDES:
        alone = ~among(keys[side][asked[side]], keys[other_side(side)])
        found[side][unmatched[side]] = np.where(alone, "key", "other")
    return found


def counts(simulation: Simulation, cut: Cut, moment: int, by_batch: bool = False) -> tuple[pd.DataFrame, pd.Timedelta]:
    """The rows in the cut, counted by side, fate, obstacle and step of its axis, and the length of a step.

    Parameters
    ----------
    simulation, cut
        What to count.
    moment
        The micro-batch up to which rows have come; fates decided later are pending.
    by_batch
        Count by micro-batch too, and not by obstacle: columns ``from_batch``, ``to_batch``, and one row for each
        rectangle, with its most telling fate.
    """
    chosen = cut.rows(simulation)
    times = {side: places(simulation, side, cut.axis)[mine] for side, mine in chosen.items()}
    full = [each for each in times.values() if len(each)]
    low = min(int(each.min()) for each in full)
    length = max(int(each.max()) for each in full) + 1 - low
    width = max(1, -(-length // STEPS))
    obstacles = {} if by_batch else obstacles_of(simulation, chosen)
    parts = []
    for side, mine in chosen.items():
        fates = simulation.fates[side]
        batch = simulation.side(side).arrival[mine]
        now = np.where(fates["decided_in"].to_numpy()[mine] <= moment, fates["fate"].to_numpy()[mine], "pending")
        part = pd.DataFrame({"side": side, "step": (times[side] - low) // width, "fate": now, "batch": batch})
        if not by_batch:
            part["obstacle"] = np.where(now == "unmatched", obstacles[side], "")
        parts.append(part[batch <= moment])
    every = pd.concat(parts, ignore_index=True)
    by = ["side", "step", "fate", "obstacle"]
    if by_batch:
        per = max(1, -(-(simulation.micro_batches) // STEPS))
        every["batch"] = every["batch"] // per
        by = ["step", "batch", "side", "fate"]
    table = every.groupby(by, sort=False).size().rename("rows").reset_index()
    if by_batch:
        table["rank"] = table["rows"] * np.where(table["fate"] == "late", 10**9, 1)
        total = table.groupby(["step", "batch"])["rows"].transform("sum")
        table = table.assign(rows=total).sort_values("rank").drop_duplicates(["step", "batch"], keep="last")
        table = table.assign(from_batch=table["batch"] * per, to_batch=(table["batch"] + 1) * per).drop(
            columns=["rank", "batch"]
        )
    start = low + table.pop("step").to_numpy() * width
    table["start"], table["end"] = start.astype("datetime64[us]"), (start + width).astype("datetime64[us]")
    return table, pd.Timedelta(width, unit="us")


def late_rows(simulation: Simulation, side: Side, chosen: RowNumbers) -> tuple[RowNumbers, Numbers]:
    """Which of some rows of a side were late, each once, and by how many seconds for the last of its windows."""
    assignments = simulation.outcome.assignments[side]
    mine = assignments[assignments["late"]].drop_duplicates("row", keep="last")
    mine = mine[np.isin(mine["row"], chosen)]
    behind: Numbers = (mine["watermark"] - mine["end"]).to_numpy() / 1e6
    return mine["row"].to_numpy(), behind


def with_partners(simulation: Simulation, chosen: dict[Side, RowNumbers]) -> dict[Side, RowNumbers]:
    """Some rows of each side, and those that they met; only the former where that would be too many to be drawn."""
    outputs = simulation.outcome.outputs
    wanted = np.zeros(len(outputs.table), dtype=bool)
    for side in SIDES:
        here = np.zeros(len(simulation.side(side)), dtype=bool)
        here[chosen[side]] = True
        members = outputs.of(side)
        wanted[members["output"].to_numpy()[here[members["row"]]]] = True
    wanted &= outputs.table["matched"].to_numpy()
    found = {}
    for side in SIDES:
        members = outputs.of(side)
        met = members["row"].to_numpy()[wanted[members["output"]]]
        found[side] = np.union1d(chosen[side], met)
    return found if max(len(each) for each in found.values()) <= 2 * MOST_ROWS else chosen


def pairs(simulation: Simulation, shown: pd.DataFrame) -> pd.DataFrame:
    """The pairs between rows that are shown: ``left``, ``right`` (row_ids), ``batch`` (in which they met).

    Semi and anti joins show no pairs. Of a match of a pattern: each row of it and the next one,
    of whichever side.
    """
    outputs = simulation.outcome.outputs
    if kind_of(simulation.join).match_columns(simulation.join):
        return _paths(simulation, shown)
    product = outputs.counts("left") * outputs.counts("right")
    drawn = outputs.table["matched"].to_numpy() & (product <= _MOST_PAIRS_OF_A_GROUP)
    if len(emission(simulation.join).sides) == 1:
        drawn[:] = False
    ends = []
    for side in SIDES:
        here = np.zeros(len(simulation.side(side)), dtype=bool)
        here[shown.loc[shown["side"] == side, "row"]] = True
        members = outputs.of(side)
        members = members.loc[here[members["row"]] & drawn[members["output"]], ["output", "row"]]
        ends.append(members.rename(columns={"row": side}))
    found = ends[0].merge(ends[1], on="output")
    named: Record = {side: row_ids(side, found[side].tolist()) for side in SIDES}
    return pd.DataFrame({**named, "batch": outputs.table["batch"].to_numpy()[found["output"]]})


def _paths(simulation: Simulation, shown: pd.DataFrame) -> pd.DataFrame:
    """Each row of a match and the next one, of those that are shown, as `pairs` gives them."""
    outputs = simulation.outcome.outputs
    parts = []
    for side in SIDES:
        members = outputs.of(side)
        members = members[outputs.table["matched"].to_numpy()[members["output"]]]
        at = simulation.side(side).event_times[members["row"]]
        parts.append(members[["output", "side", "row"]].assign(at=at, row_id=row_ids(side, members["row"].tolist())))
    path = pd.concat(parts).sort_values(["output", "at", "side", "row"])
    path = path[path["row_id"].isin(shown["row_id"])]
    goes_on = (path["output"].to_numpy()[1:] == path["output"].to_numpy()[:-1]).nonzero()[0]
    ids, output = path["row_id"].to_numpy(), path["output"].to_numpy()[goes_on]
    batch = outputs.table["batch"].to_numpy()[output]
    return pd.DataFrame({"left": ids[goes_on], "right": ids[goes_on + 1], "batch": batch})
