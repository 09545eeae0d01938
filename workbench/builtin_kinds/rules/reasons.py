"""Reasons of a join with rules: which rules a row met, which it missed and by how much, what became of a rule."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, cast

import numpy as np
import pandas as pd

from workbench.arrays import Flags, RowNumbers, Times
from workbench.builtin_kinds.rules import in_force, operator_model, verdicts
from workbench.builtin_kinds.rules.verdicts import RuleVerdict
from workbench.builtin_kinds.rules.versions import OPERATORS, Met
from workbench.counts import counted
from workbench.joins import RulesJoin
from workbench.kinds import NEVER
from workbench.literals import SIDES, RowId, Side
from workbench.model import Shared, Simulation
from workbench.model.ordering import order
from workbench.reasons.judging import Judging
from workbench.reasons.own import OwnReasons
from workbench.reasons.slots import SentenceSlots
from workbench.untyped import Record, Value
from workbench.verdicts import THEN_FIX, verdict_where

__all__ = ["REASONS", "REASONS_BY_ARRIVAL"]

_SHOWN, _LONGEST = 3, 60


class _RuleSlots(SentenceSlots):
    """The verdicts of a run whose right rows are rules."""

    def __init__(self, simulation: Simulation, asked: dict[Side, RowNumbers] | None = None) -> None:
        super().__init__(simulation, asked)
        self._join, self._where = cast(RulesJoin, simulation.join), cast(Met, simulation.where)

    def within_reach(self, side: Side, row: int) -> str:
        return "in force on its arrival" if self._join.as_of == "arrival" else "in force at its time"

    def judge(self, of: Judging) -> None:
        came = of.unmatched & of.came
        if of.side == "left":
            of.verdict[of.matched] = RuleVerdict.MEETS_RULES
            none = np.bincount(self._pairs["left"], minlength=len(self.simulation.left))[of.rows] == 0
            of.verdict[came] = verdict_where(none[came], RuleVerdict.NO_RULE_IN_FORCE, RuleVerdict.MEETS_NONE)
            return
        of.verdict[of.matched] = RuleVerdict.MET_BY_ROWS
        of.verdict[came] = [self._judged(row) for row in of.rows[came].tolist()]

    def _judged(self, row: int) -> RuleVerdict:
        """Why no row met a version."""
        rule, withdrawn = self._versions
        if rule[row] < 0:
            return RuleVerdict.WITHOUT_NAME
        if self._replaced_by[row] >= 0:
            return RuleVerdict.REPLACED_AT_ONCE
        if withdrawn[row]:
            first = self._first[row] == self._axis[row]
            return RuleVerdict.WITHDRAWS_NOTHING if first else RuleVerdict.WITHDRAWS
        if self._meaning(row):
            return RuleVerdict.NO_ROW_CAN_MEET_IT
        return RuleVerdict.NO_ROW_MET_IT if len(self._of("right", row)) else RuleVerdict.NO_ROW_CAME

    # Of left rows.

    def rules_met(self, side: Side, row: int) -> str:
        """Which rules a left row meets."""
        pairs = self._of("left", row)
        mine = self._pairs["right"][pairs[self._pairs["met"][pairs]]].tolist()
        rules = [self._version(each) for each in mine[:_SHOWN]]
        more = len(mine) - len(rules)
        return f"{counted(len(mine), 'rule')}: {', '.join(rules)}{f' and {more} more' * (more > 0)}"

    def otherwise(self, side: Side, row: int) -> str:
        """Which rules a left row would meet by event time, with nothing late, where these are others; else nothing."""
        if self._join.as_of != "arrival" and not self._rights["late"].any():
            return ""
        now, then = (each.get(row, set()) for each in self._by_row)
        return "" if now == then else self.fill(verdicts.OTHERWISE, side, row)

    def clock(self, side: Side, row: int) -> str:
        """Under which circumstances it would meet others."""
        return verdicts.BY_EVENT_TIME if self._join.as_of == "arrival" else verdicts.NOTHING_LATE

    def rules_otherwise(self, side: Side, row: int) -> str:
        """Which it would meet then."""
        there = sorted(self._by_row[1].get(row, set()))
        rules = ", ".join(self._version(each) for each in there[:_SHOWN]) or "none"
        return f"{rules}{f' and {len(there) - _SHOWN} more' * (len(there) > _SHOWN)}"

    def in_force(self, side: Side, row: int) -> str:
        """How many rules were in force for a left row."""
        count = len(self._of("left", row))
        return f"{counted(count, 'rule')} {'was' if count == 1 else 'were'}"

    def nearest_rule(self, side: Side, row: int) -> str:
        """The rule in force that a left row came nearest to, or why it cannot be compared with one."""
        mine = self._of("left", row)
        if not np.isnan(self._away[mine]).all():
            return self.fill(verdicts.NEAREST if len(mine) > 1 else verdicts.ONLY, side, row)
        return self.fill(verdicts.INCOMPARABLE if self.meaning(side, row) else verdicts.INCOMPARABLE_VALUE, side, row)

    def _nearest_pair(self, row: int) -> int:
        mine = self._of("left", row)
        away = self._away[mine]
        return int(mine[0] if np.isnan(away).all() else mine[np.nanargmin(away)])

    def nearest(self, side: Side, row: int) -> str:
        """That rule."""
        return self._rule(int(self._pairs["right"][self._nearest_pair(row)]))

    def has(self, side: Side, row: int) -> str:
        """The value that is compared with it."""
        return _value(self._pairs["compared"][self._nearest_pair(row)])

    def away(self, side: Side, row: int) -> str:
        """How far that is from what the rule asks for, where it is not the same."""
        return self.fill(verdicts.AWAY, side, row) if self._away[self._nearest_pair(row)] else ""

    def away_by(self, side: Side, row: int) -> str:
        """How far that is from what the rule asks for."""
        return f"{self._away[self._nearest_pair(row)]:.6g}"

    def meaning(self, side: Side, row: int) -> str:
        """Why no row can meet the nearest rule; empty if some can."""
        return self._meaning(int(self._pairs["right"][self._nearest_pair(row)]))

    def not_yet(self, side: Side, row: int) -> str:
        """When no rule was in force; which one would have been, had it come in time."""
        if self._join.as_of == "arrival":
            return verdicts.NOT_YET
        return self.fill(verdicts.RULE_LATE, side, row) if self._by_row[1].get(row) else verdicts.NOT_THEN

    def late_rule(self, side: Side, row: int) -> str:
        """The first rule that came too late for it."""
        return self._rule(min(self._by_row[1][row]))

    def then(self, side: Side, row: int) -> str:
        """What another setting would have brought, or which rules it would meet otherwise."""
        return self.then_fix(side, row) or self.otherwise(side, row)

    def then_fix(self, side: Side, row: int) -> str:
        """What another setting would have brought, where one does."""
        return self.fill(THEN_FIX, side, row) if RowId(side, row) in self.fixes else ""

    def partner(self, side: Side, row: int) -> str:
        partner = int(self.fixes[RowId(side, row)].partner)
        return self._version(partner) if side == "left" else self.labels.label("left", partner)

    def in_vain(self, side: Side, row: int) -> str:
        if side == "left":
            return verdicts.MEETS_NO_RULE
        rule, withdrawn = self._versions
        return self.fill(verdicts.WOULD_WITHDRAW if withdrawn[row] and rule[row] >= 0 else verdicts.NO_ROW, side, row)

    # Of versions of rules.

    def rule(self, side: Side, row: int) -> str:
        """A version, as its name and what it asks for."""
        return self._rule(row)

    def rule_name(self, side: Side, row: int) -> str:
        """The name of its rule."""
        return _text(self._texts[0][row])

    def rule_column(self, side: Side, row: int) -> str:
        """The column with the names of rules."""
        return self._join.rule

    def rows_in_force(self, side: Side, row: int) -> str:
        """How many rows came while it was in force."""
        return counted(len(self._of("right", row)), "row")

    def replaced_by_another(self, side: Side, row: int) -> str:
        """How another version replaced it at once."""
        arrival = self._join.as_of == "arrival"
        return self.fill(verdicts.REPLACED_IN_BATCH if arrival else verdicts.REPLACED_AT_TIME, side, row)

    def since(self, side: Side, row: int) -> str:
        """From when on it withdraws its rule: an event time, or a micro-batch."""
        arrival = self._join.as_of == "arrival"
        return f"micro-batch {self.simulation.first + self._axis[row]}" if arrival else self._moment(row)

    def since_time(self, side: Side, row: int) -> str:
        """From which event time on it would withdraw its rule."""
        return self._moment(row)

    def meaningless(self, side: Side, row: int) -> str:
        """Why no row at all can meet it."""
        return self._meaning(row)

    def _meaning(self, rule: int) -> str:
        """Why no row at all can meet a version; empty if some can."""
        _, field, op, value = (column[rule] for column in self._texts)
        if field is None or op is None or value is None:
            missing = self._join.field if field is None else self._join.op if op is None else self._join.value
            return verdicts.NULL.format(column=missing)
        if op not in OPERATORS:
            return verdicts.NO_OPERATOR.format(operator=repr(_text(op)))
        if field not in self._columns[1]:
            name, type_ = self.labels.names[0], self._columns[0]
            return verdicts.NO_COLUMN.format(other=name, column=repr(_text(field)), type=type_)
        return ""

    def missed_by(self, rows: RowNumbers) -> pd.DataFrame:
        """Of left rows the nearest rule in force: ``row``, ``field``, ``away`` (what the row has less what is asked).

        Rows without a rule in force whose value can be subtracted are left out.
        """
        left, right = (self._pairs[side] for side in SIDES)
        asked = np.flatnonzero(np.isin(left, rows) & np.isfinite(self._signed))
        nearest = asked[np.lexsort([np.abs(self._signed[asked]), left[asked]])]
        first = np.flatnonzero(np.diff(left[nearest], prepend=-1))
        chosen = nearest[first]
        fields = np.array(self._texts[1], dtype=object)
        return pd.DataFrame(
            {"row": left[chosen], "field": fields[right[chosen]], "away": self._signed[chosen]},
        )

    def _version(self, row: int) -> str:
        """A version of a rule: what it asks for, and from when on."""
        return f"{self._rule(row)} of {self._moment(row)}"

    def rule_of(self, row: int) -> str:
        """A version of a rule, as its name and what it asks for; of one that takes it back its name."""
        name = _text(self._texts[0][row])
        return f"{name} withdrawn" if self._versions[1][row] else self._rule(row)

    def _rule(self, row: int) -> str:
        """A version of a rule, as its name and what it asks for."""
        name, field, op, value = (column[row] for column in self._texts)
        return f"{_text(name)} ({_text(field)} {_text(op)} {_value(value)})"

    @cached_property
    def _texts(self) -> list[list[Value]]:
        table, join = self.simulation.right.table, self._join
        return [table.column(name).to_pylist() for name in (join.rule, join.field, join.op, join.value)]

    @cached_property
    def _columns(self) -> tuple[str, list[str]]:
        numbers, names = self._where.columns
        return "numbers" if numbers else "text", names

    @cached_property
    def _pairs(self) -> Record:
        """Each left row with each rule in force for it: arrays ``left``, ``right``, ``compared``, ``met``."""
        left, right = self.simulation.in_reach
        compared = np.array(self._where.compared(left, right).to_pylist(), dtype=object)
        return {"left": left, "right": right, "compared": compared, "met": self.simulation.satisfied}

    def _of(self, side: Side, row: int) -> RowNumbers:
        """The pairs of a row."""
        places, rows = self._sorted[side]
        found: RowNumbers = places[slice(*np.searchsorted(rows, [row, row + 1]))]
        return found

    @cached_property
    def _sorted(self) -> dict[Side, tuple[RowNumbers, RowNumbers]]:
        found: dict[Side, tuple[RowNumbers, RowNumbers]] = {}
        for side in SIDES:
            places = order(self._pairs[side])
            found[side] = places, self._pairs[side][places]
        return found

    @cached_property
    def _away(self) -> Any:
        """For each pair how far what the row has is from what the rule asks for; NaN where that is no number."""
        return np.abs(self._signed)

    @cached_property
    def _signed(self) -> Any:
        """As `_away`, below 0 where the row has less."""
        asked = pd.Series(self._texts[3], dtype=object).to_numpy()[self._pairs["right"]]
        numbers = (pd.to_numeric(pd.Series(each), errors="coerce") for each in (self._pairs["compared"], asked))
        one, other = (each.to_numpy(dtype=float) for each in numbers)
        if self._columns[0] != "numbers":
            return np.full(len(one), np.nan)
        known = np.array([each in OPERATORS for each in self._texts[2]], dtype=bool)
        with np.errstate(invalid="ignore"):  # of infinities
            return np.where(known[self._pairs["right"]], one - other, np.nan)

    @cached_property
    def _by_row(self) -> tuple[dict[int, set[int]], dict[int, set[int]]]:
        """For each left row the versions that it meets, as it was and by event time with nothing late."""
        join = replace(self._join, as_of="event time")
        shared = Shared(self.simulation.left, self.simulation.right)
        left, right = (shared.assignments(join, side)["row"].to_numpy() for side in ("left", "right"))
        one, other = shared.matches(join)
        met = self._pairs["met"]
        found: list[dict[int, set[int]]] = []
        for rows, rules in ((self._pairs["left"][met], self._pairs["right"][met]), (left[one], right[other])):
            of_row: dict[int, set[int]] = {}
            for row, rule in zip(rows.tolist(), rules.tolist(), strict=True):
                of_row.setdefault(row, set()).add(rule)
            found.append(of_row)
        return found[0], found[1]

    @cached_property
    def _rights(self) -> pd.DataFrame:
        """The right assignments: without windows one for each row, in their order."""
        return self.simulation.outcome.assignments["right"]

    @cached_property
    def _versions(self) -> tuple[RowNumbers, Flags]:
        """For each right row the number of its rule, below 0 for none, and whether it withdraws it."""
        return self._rights["rule"].to_numpy(), self._rights["withdrawn"].to_numpy()

    @cached_property
    def _axis(self) -> Times:
        """For each right row where it is along what versions follow each other."""
        axis: Times = self._rights["batch" if self._join.as_of == "arrival" else "start"].to_numpy()
        return axis

    @cached_property
    def _first(self) -> Times:
        """For each right row where the first version of its rule, of those on time, is along that."""
        alive = operator_model.in_force_on_time(self._rights)
        table = self._rights[["key", "rule"]].assign(axis=np.where(alive, self._axis, NEVER))
        found: Times = table.groupby(["key", "rule"])["axis"].transform("min").to_numpy()
        return found

    @cached_property
    def _replaced_by(self) -> RowNumbers:
        """For each right row the one that replaced it at once; -1 where there is none."""
        alive = np.flatnonzero(operator_model.in_force_on_time(self._rights))
        found = np.full(len(self._rights), -1)
        replaced_by = in_force.retained(self._join, self._rights.iloc[alive])[1]
        found[alive[replaced_by >= 0]] = alive[replaced_by[replaced_by >= 0]]
        return found

    def _moment(self, row: int) -> str:
        return self.labels.moment(int(self.labels.times["right"][row]))


def _words(simulation: Simulation, rows: RowNumbers) -> list[str]:
    """What some versions of rules say, such as ``hot (temperature > 80)``."""
    told = _RuleSlots(simulation, {"left": rows[:0], "right": rows})
    return [told.rule_of(row) for row in rows.tolist()]


REASONS = OwnReasons(_RuleSlots, operator_model.versions, _words)
"""By event time."""
REASONS_BY_ARRIVAL = OwnReasons(_RuleSlots)
"""By arrival, where no version is in force from an event time on."""


def _value(value: object) -> str:
    """A value in a sentence: texts in quotes, numbers with all their digits, null for None."""
    if value is None:
        return "null"
    if isinstance(value, str):
        return f"'{_text(value)}'"
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _text(value: object) -> str:
    """A user's text in a sentence: not too long, and what is not printable escaped."""
    if value is None:
        return "null"
    text = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in str(value))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
