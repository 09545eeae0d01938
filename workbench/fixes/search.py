"""What the searches for fixes share: the rows of a run, and what became of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from workbench import times
from workbench.arrays import Batches, Codes, RowNumbers, Times
from workbench.joins import emission
from workbench.kinds import MS, NEVER, kind_of
from workbench.literals import Setting, Side, Sides, other_side
from workbench.model import Simulation, query_watermark
from workbench.spark_versions import facts
from workbench.streams import SIDES, same_rows

__all__ = ["COLUMNS", "MS", "NEVER", "Search", "kept_until"]

COLUMNS = ["side", "row", "setting", "value", "change", "partner"]


def kept_until(assignments: pd.DataFrame) -> Times:
    """The watermark from which on each of some assignments is late, in microseconds: Spark's is their end."""
    return assignments["kept_until" if "kept_until" in assignments else "end"].to_numpy()


_JoinOfKind: TypeAlias = Any
"""A join of the kind that searches, which knows what it has."""


class Search:
    """The rows of a run, and what became of them."""

    def __init__(self, simulation: Simulation, asked: Mapping[Side, RowNumbers] | None = None) -> None:
        join: _JoinOfKind = simulation.join
        outcome = simulation.outcome
        self.simulation = simulation
        streams = (simulation.left, simulation.right)
        self.join, self.finish, self.policy, self.outcome = join, simulation.finish, simulation.policy, outcome
        self.time = {side: stream.event_times for side, stream in Sides(*streams).items()}
        self.tick = 1 if simulation.flink is None else MS
        """How fine event times are: a microsecond, in Flink a millisecond."""
        if simulation.flink is not None:
            self.time = {side: moments // MS * MS for side, moments in self.time.items()}
        self.batch = {side: stream.arrival for side, stream in Sides(*streams).items()}
        self.key: dict[Side, Codes] = dict(Sides(*outcome.keys))
        self.delay = {side: times.micros(stream.watermark) for side, stream in Sides(*streams).items()}
        self.assignments = {side: outcome.assignments[side] for side in SIDES}
        self.matched = {
            side: np.bincount(mine["row"], mine["matched"], minlength=len(self.time[side])) > 0
            for side, mine in self.assignments.items()
        }
        if asked is not None:
            self._ask_only(asked)
        kind = kind_of(join)
        self.windowed, self.in_flink = kind.windowed, simulation.flink is not None
        self.right_retention = kind.right_retention(join)
        on_spark = simulation.flink is None and facts(simulation.spark_version).semi_join_loses_expiring
        self.loses_expiring = emission(join).first_only and on_spark
        """Whether the join loses left rows whose partner expires in the micro-batch it comes in."""
        self.lateness = 0 if simulation.flink is None else simulation.flink.allowed_lateness
        """How long after its end a window takes rows in, under Flink's rules."""
        self.waits = (kind.grouped or kind.one_partner) and not self.finish
        """Whether what is open at the end never comes out."""

    @cached_property
    def of_one_stream(self) -> bool:
        """Whether a stream is joined with itself, so that rows with one number are one row."""
        if not np.array_equal(self.batch["left"], self.batch["right"]):
            return False
        if not self.simulation.facts.of_one_source:
            return same_rows(self.simulation.left, self.simulation.right)
        return all(np.array_equal(each["left"], each["right"]) for each in (self.time, self.key))

    def _ask_only(self, asked: Mapping[Side, RowNumbers]) -> None:
        """Ask for no other rows: what becomes of a row depends on those of its key, and on the watermarks."""
        keys = np.unique(np.concatenate([self.key[side][asked[side]] for side in SIDES]))
        for side in SIDES:
            others = np.ones(len(self.key[side]), dtype=bool)
            others[asked[side]] = False
            self.matched[side] = self.matched[side] | others
            self.key[side] = np.where(np.isin(self.key[side], keys), self.key[side], -1)
        self.assignments = {side: mine[(self.key[side] >= 0)[mine["row"]]] for side, mine in self.assignments.items()}

    def judged_by(self, batch: Batches) -> Times:
        """The times at or before which windows end that rows of some micro-batches are late for."""
        return self.outcome.marks.late[batch] + self.outcome.marks.lag - self.lateness

    def candidates(
        self, side: Side, row: RowNumbers, setting: Setting, *, value: Times, change: Times, partner: RowNumbers
    ) -> pd.DataFrame:
        """Fixes of rows by one setting, of which those that any value or no value would bring are left out.

        Parameters
        ----------
        side, row
            The rows.
        setting
            What is changed.
        value, change
            For each row what to set it to, and by how much that differs, in microseconds.
        partner
            For each row the row of the other side that it would meet.
        """
        good = (value < NEVER) & (change > 0)
        found = {"row": row, "value": value, "change": change, "partner": partner}
        return pd.DataFrame({name: each[good] for name, each in found.items()}).assign(side=side, setting=setting)[
            COLUMNS
        ]

    def last_mark(self, side: Side, delay: Times) -> Times:
        """The last watermark, were a side's delay another."""
        own = self.outcome.marks.own
        other = own[other_side(side)][-1]
        mine = self.outcome.marks.newest[side][-1] - delay
        return np.maximum(query_watermark(self.policy, mine, other), 0)

    def nearest(
        self, side: Side, rows: RowNumbers, partners: RowNumbers, reach: int, *, ahead: bool, skip: int = 0
    ) -> RowNumbers:
        """For each row the nearest of the partners of its key strictly beyond ``time + reach``, or -1."""
        other = other_side(side)
        order = partners[np.lexsort((self.time[other][partners], self.key[other][partners]))]
        instants, rank = np.unique(self.time[other][order], return_inverse=True)
        width = len(instants) + 1
        axis = self.key[other][order] * width + rank
        key, beyond = self.key[side][rows], self.time[side][rows] + reach
        place = np.searchsorted(axis, key * width + np.searchsorted(instants, beyond, "right" if ahead else "left"))
        place = place + skip if ahead else place - 1 - skip
        inside = (place >= 0) & (place < len(order))
        found = order[np.where(inside, place, 0)] if len(order) else np.zeros(len(rows), dtype=np.int64)
        good = inside & (self.key[other][found] == key) if len(order) else inside
        return np.where(good, found, -1)
