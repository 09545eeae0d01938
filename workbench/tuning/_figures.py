"""The figures of one setting: what it keeps, loses, delays and holds in state; which ones are Pareto-optimal."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd

from workbench import times
from workbench.arrays import Batches, Flags, RowNumbers, Times
from workbench.counts import counted
from workbench.errors import check_whole
from workbench.joins import Join
from workbench.kinds import kind_of
from workbench.model import DATA, NOTHING, Outcome
from workbench.streams import SIDES
from workbench.tuning._sample import Sample
from workbench.untyped import Record


@dataclass(frozen=True)
class Limits:
    """What a setting may cost at most; None: anything.

    Attributes
    ----------
    rows
        Of ``state_peak``.
    time
        Of ``state_time``.
    """

    rows: int | None = None
    time: timedelta | None = None

    @classmethod
    def of(cls, rows: int | None, time: times.Span | None) -> Limits:
        """From the arguments ``most_rows`` and ``most_time``.

        Raises
        ------
        ArgumentError
            If one is no such limit.
        """
        if rows is not None:
            check_whole("most_rows", rows, "of rows")
        return cls(None if rows is None else int(rows), None if time is None else times.delay(time, "most_time"))

    def __bool__(self) -> bool:
        return self != Limits()

    def __str__(self) -> str:
        rows = "" if self.rows is None else f"at most {counted(self.rows, 'row')} in state"
        time = "" if self.time is None else f"each row in state for at most {times.short(self.time)}"
        return " and ".join(filter(None, (rows, time)))

    def hold(self, table: pd.DataFrame) -> pd.Series[bool]:
        """Which settings of a table cost no more."""
        fine = pd.Series(True, index=table.index)
        if self.rows is not None:
            fine &= table["state_peak"] <= self.rows
        if self.time is not None:
            fine &= table["state_time"] <= pd.Timedelta(self.time)
        return fine


class Complete:
    """What comes out of a join with nothing dropped as late."""

    def __init__(self, join: Join, outcome: Outcome) -> None:
        self.pairs = outcome.outputs.pairs()
        self._chosen = outcome.outputs.first("right") if kind_of(join).one_partner else None
        self._members = {side: outcome.outputs.counts(side) for side in SIDES}
        self._output = {side: np.full(len(mine), -1) for side, mine in outcome.assignments.items()}
        for side in SIDES:
            members = outcome.outputs.of(side)
            self._output[side][members["assignment"]] = members["output"]
        self.rows = self.kept(outcome)

    def kept(self, outcome: Outcome) -> int:
        """How many rows come out of a join that come out of the complete join, too, with as many rows in each."""
        return int(self._same(outcome).sum())

    def lost(self, outcome: Outcome) -> int:
        """How many pairs of the complete join do not come out of a join."""
        if self._chosen is None:
            return self.pairs - outcome.outputs.pairs()
        return self.pairs - int((self._same(outcome) & outcome.outputs.table["matched"].to_numpy()).sum())

    def _same(self, outcome: Outcome) -> Any:
        """Which outputs come out of the complete join, too."""
        outputs = outcome.outputs
        if self._chosen is not None:  # a left row comes out once, but perhaps with another partner
            left = outputs.of("left")
            complete = np.full(len(outputs), -1)
            complete[left["output"]] = self._output["left"][left["assignment"]]
            return (complete >= 0) & (self._chosen[complete] == outputs.first("right"))
        whole = np.zeros(len(outputs), dtype=np.int64)
        for side in SIDES:
            members = outputs.of(side)
            whole[members["output"]] = self._output[side][members["assignment"]]
        wanted = "matched" if "waited_for" in outputs.table else "emitted"  # of a pattern what was given up is not kept
        same = outputs.table[wanted].to_numpy() & (whole >= 0)
        for side in SIDES:
            same &= outputs.counts(side) == self._members[side][whole]
        return same


def figures(join: Join, outcome: Outcome, complete: Complete, sample: Sample) -> Record:
    late = {side: mine.loc[mine["late"], "row"].nunique() for side, mine in outcome.assignments.items()}
    clock = _clock(outcome)
    waits, ends, at_the_end = _waits(join, outcome, clock)
    data = len(clock)
    held = np.add(*outcome.state_rows().values())[:data]
    sized = held if kind_of(join).operator.counts_keys else outcome.state_counts()[:data]  # a group is of one size
    kept = complete.kept(outcome) / complete.rows if complete.rows else 1.0

    def all_of(count: float) -> int:
        return round(count / sample.share)

    peak = all_of(held.max()) if len(held) else 0
    mean = float(held.mean()) / sample.share if len(held) else 0.0
    most_sized, mean_sized = (sized.max(), sized.mean()) if len(sized) else (0, 0.0)
    # at most: if all rows of a key shared their fate
    error = 1.96 * float(np.sqrt(kept * (1 - kept) / max(1, sample.keys))) if sample.share < 1 else 0.0
    return {
        "kept": kept,
        "kept_error": error,
        "late_left": all_of(late["left"]),
        "late_right": all_of(late["right"]),
        "pairs_lost": all_of(complete.lost(outcome)),
        **_quantiles("wait", *waits),
        **_quantiles("end_wait", *ends),
        "at_the_end": all_of(at_the_end),
        "waited": all_of(len(ends[0])),
        "state_peak": peak,
        "state_mean": mean,
        "state_time": pd.Timedelta(_longest_in_state(outcome, clock), unit="us"),
        "bytes_peak": round(float(most_sized) / sample.share * sample.bytes_a_row),
        "bytes_mean": round(float(mean_sized) / sample.share * sample.bytes_a_row),
    }


def _quantiles(name: str, spans: Times, batches: Batches) -> Record:
    found: Record = {}
    for word, share in (("median", 0.5), ("99", 0.99)):
        some = len(spans) > 0
        span = int(np.quantile(spans, share, method="inverted_cdf")) if some else 0
        found[f"{name}_{word}"] = pd.Timedelta(span, unit="us")
        found[f"{name}_batches_{word}"] = int(np.quantile(batches, share, method="inverted_cdf")) if some else 0
    return found


def _clock(outcome: Outcome) -> Times:
    """The newest event time that had come by the end of each micro-batch with data."""
    data = outcome.marks.kinds.count(DATA)
    clock = np.maximum(*(outcome.marks.newest[side][1 : data + 1] for side in SIDES))
    return np.where(clock == NOTHING, clock[clock > NOTHING].min(initial=0), clock)


def _longest_in_state(outcome: Outcome, clock: Times) -> int:
    """The longest that a row was in state: from its micro-batch to that in which it left, or to the last with data."""
    longest = 0
    for mine in outcome.assignments.values():
        held = mine[mine["held"]]
        if len(held) and len(clock):
            left = np.minimum(held["evicted_in"].to_numpy(), len(clock) - 1)
            longest = max(longest, int((clock[left] - clock[np.minimum(held["batch"].to_numpy(), left)]).max()))
    return longest


def _waits(
    join: Join, outcome: Outcome, clock: Times
) -> tuple[tuple[RowNumbers, RowNumbers], tuple[RowNumbers, RowNumbers], int]:
    """Waits of pairs, waits of padded rows and groups, in event time and micro-batches; what the end brought out."""
    kind, data = kind_of(join), len(clock)
    table = outcome.outputs.table
    end, out = table["end"].to_numpy(), table["batch"].to_numpy()
    met = table["matched"].to_numpy() & (not kind.grouped)
    newest = np.zeros(len(table), dtype=np.int64)
    due = np.zeros(len(table), dtype=np.int64)
    for side in SIDES:
        members, assignments = outcome.outputs.of(side), outcome.assignments[side]
        place = members["assignment"].to_numpy()
        np.maximum.at(newest, members["output"].to_numpy(), assignments["batch"].to_numpy()[place])
        if not kind.windowed:
            due[members["output"]] = assignments["end"].to_numpy()[place] + kind.waits(join, side)
    end = end if kind.windowed else due
    seen = out < data
    pairs, others = met & seen, ~met & seen
    waits = clock[out[pairs]] - clock[newest[pairs]], out[pairs] - newest[pairs]
    end, last = end[others], out[others]
    closed = np.minimum(np.searchsorted(clock, end), last)
    return waits, (np.maximum(clock[last] - end, 0), last - closed), int((~seen).sum())


def is_pareto(table: pd.DataFrame) -> Flags:
    """Which settings are on the Pareto front: no other keeps as much, holds no more state and makes wait no longer."""
    wait = table["end_wait_99"].dt.total_seconds() + table["wait_99"].dt.total_seconds()
    cost = np.stack([-table["kept"], table["state_peak"], wait]).T
    dominated = [bool(((cost <= each).all(axis=1) & (cost < each).any(axis=1)).any()) for each in cost]
    return ~np.array(dominated)


_COST = ("state_peak", "end_wait_99", "wait_99")


def costs_no_more(one: Record, other: Record) -> bool:
    """Whether a setting keeps as much as another one, and costs no more, nor makes a row stay longer in state."""
    return one["kept"] >= other["kept"] and all(one[name] <= other[name] for name in (*_COST, "state_time"))


def ranked(table: pd.DataFrame) -> pd.DataFrame:
    """Settings from the cheapest on: first by the rows that they hold in state, then by how long they make wait.

    Of those that cost the same and keep as much, the first of the table comes first.
    """
    return table.sort_values([*_COST, "kept"], ascending=[True, True, True, False])
