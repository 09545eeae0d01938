"""Reasons of an as-of join: which right row a left one has as its partner, and whose partner a right row would be."""

from __future__ import annotations

from functools import cached_property
from typing import Any, cast

import numpy as np
import pandas as pd

from workbench import times
from workbench.builtin_kinds.as_of import model, semantics
from workbench.counts import counted
from workbench.joins import AsOfJoin
from workbench.kinds import Micros, kind_of
from workbench.literals import DELAYS, SIDES, RowId, Side, other_side
from workbench.model import Simulation, on_time
from workbench.reasons.labels import Labels
from workbench.reasons.own import CauseMasks, Fix, Keeps, OwnReasons, RowReasons

__all__ = ["REASONS", "within_words"]


class _AsOfReasons(RowReasons):
    """What is said of the rows of a run of an as-of join."""

    def __init__(self, simulation: Simulation, labels: Labels, keeps: Keeps) -> None:
        super().__init__(simulation, labels, keeps)
        self._join, self._outcome = cast(AsOfJoin, simulation.join), simulation.outcome
        self._times = {side: simulation.side(side).event_times for side in SIDES}

    def matched(self, side: Side, row: int, batch: int) -> str:
        if side == "right":
            count = int(self._counts[row])
            other = self._labels.names[0]
            return f"the partner of {counted(count, 'row')} of {other}, first in micro-batch {batch}"
        partner, nearest = int(self._partners[row]), int(self._by_definition[row])
        words = f"joined with {self._beside(row, partner)}, in micro-batch {batch}"
        if nearest not in (partner, -1):
            words += f"; {self._beside(row, nearest)}, would have been its partner, but came late"
            if kept := self._keeps(RowId("right", nearest)):
                words += f": {self._labels.setting(*kept)} would have kept it"
        return words

    def alone(self, side: Side, row: int, near: str, fix: Fix | None) -> str:
        if side == "left":
            return self._dropped(row, fix) or near
        meant = "" if near else self._meant(row)
        if not meant:
            return near
        return f"{kind_of(self._join).alone(self._join, side, self._labels.names[0])}: {meant}"

    def in_vain(self, side: Side, row: int, comes: bool) -> str:
        if side == "left" or not comes:
            return ""
        return f"though it would be the partner of no row of {self._labels.names[0]}"

    @cached_property
    def _pairs(self) -> tuple[Micros, Micros]:
        """The left and the right row of each pair that comes out."""
        outputs = self._outcome.outputs
        matched = outputs.table["matched"].to_numpy()
        left, right = (outputs.first(side)[matched] for side in SIDES)
        return left, right

    @cached_property
    def _partners(self) -> Micros:
        """For each left row its partner; -1 without."""
        found = np.full(len(self._simulation.left), -1)
        left, right = self._pairs
        found[left] = right
        return found

    @cached_property
    def _counts(self) -> Micros:
        """For each right row how many left rows have it as their partner."""
        return np.bincount(self._pairs[1], minlength=len(self._simulation.right))

    @cached_property
    def _by_definition(self) -> Micros:
        """For each left row the partner that it has if nothing is late, however far; -1 without."""
        found = np.full(len(self._simulation.left), -1)
        left, right = (each[each["key"] >= 0] for each in (self._outcome.assignments[side] for side in SIDES))
        picked = semantics.picked(self._join, left, right)
        met = picked >= 0
        found[left["row"].to_numpy()[met]] = right["row"].to_numpy()[picked[met]]
        return found

    def _beside(self, row: int, partner: int) -> str:
        """A right row, and how far it is from a left one."""
        apart = int(self._times["right"][partner]) - int(self._times["left"][row])
        words = (
            f"{self._labels.span(abs(apart))} {'later' if apart > 0 else 'earlier'}" if apart else "at the same time"
        )
        return f"{self._labels.label('right', partner)}, {words}"

    def _dropped(self, row: int, fix: Fix | None) -> str:
        """What became of a left row's partner by definition, where it came late and no delay would have kept it."""
        partner = int(self._by_definition[row])
        if partner < 0 or (fix is not None and fix.setting in DELAYS.values()):
            return ""
        bounds = kind_of(self._join).interval(self._join)
        apart = int(self._times["right"][partner]) - int(self._times["left"][row])
        if bounds is not None and not bounds[0] <= apart <= bounds[1]:
            return ""
        kept = "no single watermark delay would have kept it"
        words = f"its partner {self._beside(row, partner)}, came too late and was dropped: {kept}"
        if fix is None:
            return words
        changed, met = self._labels.changed(fix.setting, fix.value), self._labels.label("right", int(fix.partner))
        return f"{words}; with {changed} it would have met {met}"

    def _meant(self, row: int) -> str:
        """Which left rows a right row that is on time is meant for, in words; empty for others."""
        beside, replaced_by = self._versions, self._replaced_by
        if row in beside.index:
            before, after = (None if np.isnan(each) else self._labels.moment(int(each)) for each in beside.loc[row])
            return _meant_for(self._join, before, after)
        if row not in replaced_by.index:
            return ""
        other = self._labels.label("right", int(replaced_by.loc[row]))
        return f"{other}, at the same time, came after it and replaced it"

    @cached_property
    def _versions(self) -> pd.DataFrame:
        """By row when the right rows of its key just before and just after it are; NaN where there is none."""
        found = model.versions(self._join, self._outcome)
        same = found["key"].eq(found["key"].shift())
        before, after = found["start"].shift().where(same), found["start"].shift(-1).where(same.shift(-1))
        return pd.DataFrame({"before": before, "after": after}).set_index(found["row"])

    @cached_property
    def _replaced_by(self) -> pd.Series[int]:
        """By row the right row at the same time that replaced it."""
        mine = self._outcome.assignments["right"]
        mine = mine[on_time(mine) & (mine["key"] >= 0).to_numpy()]
        rows = mine["row"].to_numpy()
        _, replaced_by = semantics.retained(self._join, mine)
        replaced = np.flatnonzero(replaced_by >= 0)
        return pd.Series(rows[replaced_by[replaced]], index=rows[replaced])


def within_words(join: AsOfJoin) -> str:
    """How near rows have to be, in a sentence."""
    return "" if join.tolerance is None else f" within {times.short(times.exact(join.tolerance))}"


def _meant_for(join: AsOfJoin, before: str | None, after: str | None) -> str:
    """Why a right row is no row's partner, of when the right rows of its key just before and just after it are."""
    near = within_words(join)
    if join.direction == "nearest":
        beside = [each for each in (before, after) if each is not None]
        others = f"than to {'those' if len(beside) == 2 else 'the one'} at {' and '.join(beside)}"
        where = f"is nearer to it {others}" if beside else "lies before or after it"
        same = "" if join.allow_exact else "; one at its own time does not count"
        return f"none on time {where}{near and f', and{near}'}{same}"
    where, beyond = ("after it", after) if join.direction == "backward" else ("before it", before)
    until = "before the next of its key" if join.direction == "backward" else "after the last one of its key"
    ends = "" if beyond is None else f", {until} at {beyond}"
    return f"none on time lies{near} {'at or ' * join.allow_exact}{where}{ends}"


def _causes(simulation: Simulation, side: Side, masks: CauseMasks, found: np.ndarray[Any, Any]) -> None:
    if side == "left":
        return
    other = simulation.side(other_side(side)).name
    # how near a left row is says nothing: it has one partner, and that is another
    found[masks.late & masks.known & ~masks.met] = f"late, and the partner of no row of {other} had it come in time"
    found[masks.unmatched & masks.known & ~masks.refused] = f"the partner of no row of {other}"


REASONS = OwnReasons(_AsOfReasons, _causes, model.versions)
