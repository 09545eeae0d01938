"""Reasons of an as-of join: which right row a left one has as its partner, and whose partner a right row would be."""

from __future__ import annotations

from functools import cached_property
from typing import Any, cast

import numpy as np
import pandas as pd

from workbench import times
from workbench.arrays import RowNumbers
from workbench.builtin_kinds.as_of import operator_model, partner_choice, verdicts
from workbench.builtin_kinds.as_of.verdicts import AsOfVerdict
from workbench.joins import AsOfJoin
from workbench.literals import DELAYS, SIDES, RowId, Side
from workbench.model import Simulation, on_time
from workbench.reasons.judging import Judging
from workbench.reasons.own import OwnReasons
from workbench.reasons.slots import SentenceSlots
from workbench.verdicts import SharedVerdict

__all__ = ["REASONS"]


class _AsOfSlots(SentenceSlots):
    """The verdicts of a run of an as-of join."""

    def __init__(self, simulation: Simulation, asked: dict[Side, RowNumbers] | None = None) -> None:
        super().__init__(simulation, asked)
        self._join = cast(AsOfJoin, simulation.join)

    def within_reach(self, side: Side, row: int) -> str:
        return "in the direction of the join" if self._join.tolerance is None else "within the tolerance"

    def judge(self, of: Judging) -> None:
        if of.side == "left":
            of.verdict[of.verdict == SharedVerdict.JOINED] = AsOfVerdict.HAS_PARTNER
            of.verdict[of.verdict == SharedVerdict.NO_PARTNER_ON_TIME] = AsOfVerdict.NONE_IN_DIRECTION
            return
        of.verdict[of.verdict == SharedVerdict.JOINED] = AsOfVerdict.IS_PARTNER
        # how near a left row is says nothing: it has one partner, and that is another
        of.verdict[of.late & of.came & ~of.would_meet] = AsOfVerdict.LATE_PARTNER_OF_NONE
        of.verdict[of.unmatched & of.came & ~of.refused & ~of.apart] = AsOfVerdict.PARTNER_OF_NONE

    # Of left rows.

    def joined_with(self, side: Side, row: int) -> str:
        """A left row's partner, and how far it is."""
        return self._beside(row, int(self._partners[row]))

    def nearer_late(self, side: Side, row: int) -> str:
        """The partner that it would have, had that not come late; nothing where it has it."""
        nearest = int(self._by_definition[row])
        if nearest in (int(self._partners[row]), -1):
            return ""
        kept = self.keeps(RowId("right", nearest))
        return self.fill(verdicts.NEARER_LATE if kept is None else verdicts.NEARER_KEPT, side, row)

    def by_definition(self, side: Side, row: int) -> str:
        """The partner that it has if nothing is late, and how far it is."""
        return self._beside(row, int(self._by_definition[row]))

    def delay(self, side: Side, row: int) -> str:
        """The least watermark delay that would have kept that partner."""
        kept = self.keeps(RowId("right", int(self._by_definition[row])))
        return "" if kept is None else self.labels.setting(*kept)

    def delay_by_policy(self, side: Side, row: int) -> str:
        """Why that delay keeps it, where it is of the left stream."""
        kept = self.keeps(RowId("right", int(self._by_definition[row])))
        return "" if kept is None else self.of_both("right", side, row, kept[0])

    def _beside(self, row: int, partner: int) -> str:
        """A right row, and how far it is from a left one."""
        apart = int(self.labels.times["right"][partner]) - int(self.labels.times["left"][row])
        template = verdicts.LATER if apart > 0 else verdicts.EARLIER if apart else verdicts.SAME_TIME
        return template.format(label=self.labels.label("right", partner), apart=self.labels.span(abs(apart)))

    def within(self, side: Side, row: int) -> str:
        """How near rows have to be, where a tolerance says it."""
        tolerance = self._join.tolerance
        return "" if tolerance is None else f" within {times.short(times.exact(tolerance))}"

    def direction(self, side: Side, row: int) -> str:
        """In which direction its partner lies."""
        return self._join.direction

    def near(self, side: Side, row: int) -> str:
        """Why a left row has no partner, or a right row is none."""
        if side == "left":
            return self._dropped(row) or super().near(side, row)
        if RowId(side, row) not in self.fixes and self._because(row):
            return self.fill(verdicts.RIGHT_ALONE_BECAUSE, side, row)
        return super().near(side, row)

    def _dropped(self, row: int) -> str:
        """What became of a left row's partner by definition, where it came late and no delay would have kept it."""
        partner, fix = int(self._by_definition[row]), self.fixes.get(RowId("left", row))
        if partner < 0 or (fix is not None and fix.setting in DELAYS.values()):
            return ""
        bounds = self.kind.interval(self._join)
        apart = int(self.labels.times["right"][partner]) - int(self.labels.times["left"][row])
        if bounds is not None and not bounds[0] <= apart <= bounds[1]:
            return ""
        return self.fill(verdicts.DROPPED if fix is None else verdicts.DROPPED_BUT_FIX, "left", row)

    # Of right rows.

    def in_vain(self, side: Side, row: int) -> str:
        if side == "left" or not self.key_came(side, row):
            return super().in_vain(side, row)
        return self.fill(verdicts.PARTNER_OF_NO_ROW, side, row)

    def because(self, side: Side, row: int) -> str:
        """Why a right row that is on time is no row's partner."""
        return self.fill(self._because(row), side, row)

    def _because(self, row: int) -> str:
        """The template of that; empty for others."""
        if row not in self._neighbours.index:
            return verdicts.REPLACED if row in self._replaced_by.index else ""
        direction, exact = self._join.direction, self._join.allow_exact
        if direction != "nearest":
            return verdicts.NONE_UNTIL_NEXT[direction, exact]
        return verdicts.NONE_NEARER if self._beside_right(row) else verdicts.NONE_BESIDE

    def replaced_by(self, side: Side, row: int) -> str:
        """The right row at the same time that replaced it."""
        return self.labels.label("right", int(self._replaced_by.loc[row]))

    def next(self, side: Side, row: int) -> str:
        """Up to which right row of its key left rows have it, where there is one."""
        facing = self._facing(row)
        return "" if np.isnan(facing) else self.fill(verdicts.NEXT[self._join.direction], side, row)

    def facing(self, side: Side, row: int) -> str:
        """The time of the right row of its key beside it, on the side on which left rows look for it."""
        return self.labels.moment(int(self._facing(row)))

    def _facing(self, row: int) -> Any:
        return self._neighbours.loc[row]["after" if self._join.direction == "backward" else "before"]

    def _beside_right(self, row: int) -> list[str]:
        return [self.labels.moment(int(each)) for each in self._neighbours.loc[row] if not np.isnan(each)]

    def beside(self, side: Side, row: int) -> str:
        """The times of the right rows of its key just before and just after it."""
        moments = self._beside_right(row)
        return f"the row{'s' * (len(moments) == 2)} at {' and '.join(moments)}"

    def same_time(self, side: Side, row: int) -> str:
        """That a row at its own time does not count, where it does not."""
        return "" if self._join.allow_exact else verdicts.SAME_TIME_DOES_NOT_COUNT

    @cached_property
    def _pairs(self) -> tuple[RowNumbers, RowNumbers]:
        """The left and the right row of each pair that comes out."""
        outputs = self.outcome.outputs
        matched = outputs.table["matched"].to_numpy()
        left, right = (outputs.first(side)[matched] for side in SIDES)
        return left, right

    @cached_property
    def _partners(self) -> RowNumbers:
        """For each left row its partner; -1 without."""
        found = np.full(len(self.simulation.left), -1)
        left, right = self._pairs
        found[left] = right
        return found

    @cached_property
    def _by_definition(self) -> RowNumbers:
        """For each left row the partner that it has if nothing is late, however far; -1 without."""
        found = np.full(len(self.simulation.left), -1)
        left, right = (each[each["key"] >= 0] for each in (self.outcome.assignments[side] for side in SIDES))
        picked = partner_choice.partners(self._join, left, right)[0]
        met = picked >= 0
        found[left["row"].to_numpy()[met]] = right["row"].to_numpy()[picked[met]]
        return found

    @cached_property
    def _neighbours(self) -> pd.DataFrame:
        """By row when the right rows of its key just before and just after it are; NaN where there is none."""
        found = operator_model.versions(self._join, self.outcome)
        same = found["key"].eq(found["key"].shift())
        before, after = found["start"].shift().where(same), found["start"].shift(-1).where(same.shift(-1))
        return pd.DataFrame({"before": before, "after": after}).set_index(found["row"])

    @cached_property
    def _replaced_by(self) -> pd.Series[int]:
        """By row the right row at the same time that replaced it."""
        mine = self.outcome.assignments["right"]
        mine = mine[on_time(mine) & (mine["key"] >= 0).to_numpy()]
        rows = mine["row"].to_numpy()
        _, replaced_by = partner_choice.retained(self._join, mine)
        replaced = np.flatnonzero(replaced_by >= 0)
        return pd.Series(rows[replaced_by[replaced]], index=rows[replaced])


REASONS = OwnReasons(_AsOfSlots, operator_model.versions)
