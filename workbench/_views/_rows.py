"""The rows, pairs and windows of a run as charts take them, one by one or counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workbench import _tables, charts, explain, model
from workbench._fates import NEVER
from workbench._words import key_words
from workbench.joins import CoGroup, IntervalJoin
from workbench.model import Micros
from workbench.streams import SIDES
from workbench.windows import Session

if TYPE_CHECKING:
    from workbench.results import Run

MOST_REASONS = 1_000
"""Rows a side whose reasons are put into a chart; of more, `Run.rows` and `Run.why` tell."""


@dataclass(frozen=True)
class Cut:
    """A stretch of event time, in microseconds, both ends included; what a chart is to show."""

    low: int = -(2**62)
    high: int = 2**62

    @classmethod
    def of(cls, between: tuple[Any, Any] | None) -> Cut:
        """From two times, or what pandas takes for one."""
        if between is None:
            return cls()
        moments = [pd.Timestamp(each) for each in between]
        low, high = ((each.tz_convert("UTC").tz_localize(None) if each.tz else each).value // 1000 for each in moments)
        return cls(low, high)

    def rows(self, run: Run) -> dict[str, Micros]:
        """The numbers of each side's rows in it."""
        times = {side: run.side(side).event_times for side in SIDES}
        return {side: np.flatnonzero((each >= self.low) & (each <= self.high)) for side, each in times.items()}


def many(run: Run, cut: Cut) -> bool:
    """Whether there are more rows in the cut than are drawn one by one."""
    return max(len(each) for each in cut.rows(run).values()) > charts.MOST_ROWS


def rows(run: Run, chosen: dict[str, Micros], reasons: bool = True) -> pd.DataFrame:
    """Some rows of each side, as `charts.timeline` and `charts.arrival` take them."""
    reasons = reasons and max(len(each) for each in chosen.values()) <= MOST_REASONS
    story = explain.Story(run, chosen) if reasons else None
    parts = []
    for side, mine in chosen.items():
        stream, fates = run.side(side), run.fates[side]
        part = pd.DataFrame(
            {
                "row_id": [f"{side}-{row}" for row in mine.tolist()],
                "row": mine,
                "side": side,
                "key": key_words(stream, mine),
                "time": stream.event_times[mine].astype("datetime64[us]"),
                "batch": stream.arrival[mine],
                "arrived": arrived(stream.arrival)[mine],
                **{name: fates[name].to_numpy()[mine] for name in ("fate", "settled", "leaves")},
            }
        )
        if story is not None:
            part["reason"] = story.told[side]["reason"].to_numpy()
        parts.append(part)
    return pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)


def arrived(batch: Micros) -> Micros:
    """Each row's place in the order of arrival, in micro-batches: 3.5 is half-way through micro-batch 3."""
    sizes = np.bincount(batch)
    first = np.cumsum(sizes) - sizes
    place: Micros = batch + (np.arange(len(batch)) - first[batch] + 0.5) / np.maximum(sizes[batch], 1)
    return place


def counts(run: Run, cut: Cut, moment: int, by_batch: bool = False) -> tuple[pd.DataFrame, pd.Timedelta]:
    """The rows in the cut, counted by side, fate and step of event time, and the length of a step.

    Parameters
    ----------
    run, cut
        What to count.
    moment
        The micro-batch up to which rows have come; fates settled later are pending.
    by_batch
        Count by micro-batch too: columns ``from_batch``, ``to_batch``, and one row for each rectangle, with its most
        telling fate.
    """
    chosen = cut.rows(run)
    times = {side: run.side(side).event_times[mine] for side, mine in chosen.items()}
    full = [each for each in times.values() if len(each)]
    low = min(int(each.min()) for each in full)
    length = max(int(each.max()) for each in full) + 1 - low
    width = max(1, -(-length // charts.STEPS))
    parts = []
    for side, mine in chosen.items():
        fates = run.fates[side]
        batch = run.side(side).arrival[mine]
        now = np.where(fates["settled"].to_numpy()[mine] <= moment, fates["fate"].to_numpy()[mine], "pending")
        part = pd.DataFrame({"side": side, "step": (times[side] - low) // width, "fate": now, "batch": batch})
        parts.append(part[batch <= moment])
    every = pd.concat(parts, ignore_index=True)
    by = ["side", "step", "fate"]
    if by_batch:
        per = max(1, -(-(run.micro_batches) // charts.STEPS))
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


def pairs(run: Run, shown: pd.DataFrame) -> pd.DataFrame:
    """The pairs between rows that are shown: ``left``, ``right`` (row_ids), ``batch`` (in which they met).

    Semi and anti joins show no pairs.
    """
    if isinstance(run.join, CoGroup):
        found = _group_pairs(run, shown)
    elif run.join.how in ("semi", "anti"):
        found = run.outcome.pairs.iloc[:0]
    else:
        found = _tables.pairs(run) if run.ran else run.outcome.pairs
    for side in SIDES:
        here = np.zeros(len(run.side(side)), dtype=bool)
        here[shown.loc[shown["side"] == side, "row"]] = True
        found = found[here[found[side].to_numpy(dtype=np.int64)]]
    named = {side: [f"{side}-{row}" for row in found[side].tolist()] for side in SIDES}
    return pd.DataFrame({**named, "batch": found["batch"].to_numpy()})


def _group_pairs(run: Run, shown: pd.DataFrame) -> pd.DataFrame:
    """Each row of a group with each of its other side, where the group has few."""
    outcome = run.outcome
    groups = outcome.groups
    small = (groups["left"] * groups["right"]).between(1, 10_000).to_numpy()
    sides = []
    for side in SIDES:
        mine = outcome.copies[side].loc[outcome.copies[side]["matched"], ["row", "group"]]
        sides.append(mine[small[mine["group"]]].rename(columns={"row": side}))
    here = shown.loc[shown["side"] == "left", "row"]
    met = sides[0][sides[0]["left"].isin(here)].merge(sides[1], on="group")
    return met.assign(batch=groups["batch"].to_numpy()[met["group"]])


def spans(run: Run) -> pd.DataFrame:
    """The windows behind the rows: ``start``, ``end``, ``opened``, ``closed``, ``key`` (of a session)."""
    join = run.join
    if isinstance(join, IntervalJoin):
        none = np.array([], dtype="datetime64[us]")
        return pd.DataFrame({"key": [], "start": none, "end": none, "opened": [], "closed": []})
    outcome = run.outcome
    if isinstance(join.window, Session):
        found, words = session_spans(run)
        opened = opening(run)[np.asarray(found.index)]
        closed = np.where(found["batch"] < len(outcome.marks), found["batch"], NEVER)
    else:
        found, words = model.windows(join.window, run.left, run.right), None
        opened = _first_batches(run, found["start"].to_numpy())
        closed = closing(run, found["end"].to_numpy())
    moments = {name: found[name].to_numpy(dtype=np.int64).astype("datetime64[us]") for name in ("start", "end")}
    return pd.DataFrame({"key": words, **moments, "opened": opened, "closed": closed})


def closing(run: Run, end: Micros) -> Micros:
    """The micro-batch in which windows that end then are closed."""
    marks = run.outcome.marks
    closed = np.searchsorted(marks.eviction, end)
    return np.where(closed < len(marks), closed, NEVER)


def opening(run: Run) -> Micros:
    """The micro-batch in which each group of a session join or coGroup got its first row."""
    first = np.full(len(run.outcome.groups), NEVER)
    for side in SIDES:
        members = run.outcome.copies[side]
        members = members[members["group"] >= 0]
        np.minimum.at(first, members["group"].to_numpy(), members["batch"].to_numpy())
    return first


def _first_batches(run: Run, starts: Micros) -> Micros:
    """The micro-batch in which each window got its first row, late or not."""
    first = np.full(len(starts), NEVER)
    for side in SIDES:
        copies = run.outcome.copies[side]
        np.minimum.at(first, np.searchsorted(starts, copies["start"]), copies["batch"].to_numpy())
    return first


def session_spans(run: Run) -> tuple[pd.DataFrame, Micros]:
    """The sessions as they came about, and the key of each in words."""
    groups = run.outcome.groups
    words = np.full(len(groups), None, dtype=object)
    for side in SIDES:
        members = run.outcome.copies[side]
        members = members[members["group"] >= 0].drop_duplicates("group")
        words[members["group"]] = key_words(run.side(side), members["row"].to_numpy())
    known = (groups["key"] >= 0).to_numpy()
    return groups[known], words[known]
