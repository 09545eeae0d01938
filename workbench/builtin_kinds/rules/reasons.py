"""Reasons of a join with rules: which rules a row met, which it missed and by how much, what became of a rule."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, cast

import numpy as np
import pandas as pd

from workbench.builtin_kinds.rules import model, semantics
from workbench.builtin_kinds.rules.versions import OPERATORS, Met
from workbench.counts import counted
from workbench.joins import RulesJoin
from workbench.kinds import NEVER, Micros
from workbench.literals import SIDES, Side, other_side
from workbench.model import Shared, Simulation
from workbench.model.ordering import order
from workbench.reasons.labels import Labels
from workbench.reasons.own import CauseMasks, Fix, Keeps, OwnReasons, RowReasons

__all__ = ["REASONS", "REASONS_BY_ARRIVAL"]

_SHOWN, _LONGEST = 3, 60


class _RuleReasons(RowReasons):
    """What is said of the rows of a run whose right rows are rules."""

    def __init__(self, simulation: Simulation, labels: Labels, keeps: Keeps) -> None:
        super().__init__(simulation, labels, keeps)
        self._join, self._met = cast(RulesJoin, simulation.join), cast(Met, simulation.where)

    def matched(self, side: Side, row: int, batch: int) -> str:
        words = f"{self._met_by(side, row)}, first in micro-batch {batch}"
        return words + (self._otherwise(row) if side == "left" else "")

    def _met_by(self, side: Side, row: int) -> str:
        """Which rules a left row met; how many rows met a version."""
        pairs = self._of(side, row)
        mine = self._pairs["right"][pairs[self._pairs["met"][pairs]]].tolist()
        if side == "right":
            return f"{self._rule(row)}: met by {counted(len(mine), 'row')} of {self._labels.names[0]}"
        rules = [self._version(each) for each in mine[:_SHOWN]]
        more = len(mine) - len(rules)
        return f"meets {counted(len(mine), 'rule')}: {', '.join(rules)}{f' and {more} more' * (more > 0)}"

    def unmatched(self, side: Side, row: int, comes: bool, fix: Fix | None) -> str:
        if not comes:
            return ""
        words = self._met_none(side, row)
        if fix is None:
            return words + (self._otherwise(row) if side == "left" else "")
        met = self._version(int(fix.partner)) if side == "left" else self._labels.label("left", int(fix.partner))
        return f"{words}; with {self._labels.changed(fix.setting, fix.value)} it would have met {met}"

    def in_vain(self, side: Side, row: int, comes: bool) -> str:
        if side == "left":
            return "though it would have met no rule"
        return self._withdraws(row) or "though no row would have met it"

    def _met_none(self, side: Side, row: int) -> str:
        """Why a left row met no rule, or a version was met by none."""
        mine = self._of(side, row)
        if side == "right":
            return self._unmet(row, len(mine))
        if not len(mine):
            return f"no rule of {self._labels.names[1]} was in force{self._not_yet(row)}"
        count, away = len(mine), self._away[mine]
        words = f"{counted(count, 'rule')} {'was' if count == 1 else 'were'} in force, and it meets none"
        if np.isnan(away).all():
            return f"{words}: {self._incomparable(int(mine[0]))}"
        nearest = mine[np.nanargmin(away)]
        rule, reads = int(self._pairs["right"][nearest]), self._pairs["compared"][nearest]
        short = f", {self._away[nearest]:.6g} away" if self._away[nearest] else ""
        return f"{words}: {'the nearest is ' * (count > 1)}{self._rule(rule)}, and it has {_value(reads)}{short}"

    def missed_by(self, rows: Micros) -> pd.DataFrame:
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

    def _otherwise(self, row: int) -> str:
        """Which rules a left row would meet by event time, with nothing late, where these are others; else nothing."""
        if self._join.as_of != "arrival" and not self._rights["late"].any():
            return ""
        now, then = self._by_row
        here, there = now.get(row, set()), then.get(row, set())
        if here == there:
            return ""
        clock = "by event time" if self._join.as_of == "arrival" else "had no version come too late,"
        rules = ", ".join(self._version(each) for each in sorted(there)[:_SHOWN]) or "none"
        return f"; {clock} it would meet {rules}{f' and {len(there) - _SHOWN} more' * (len(there) > _SHOWN)}"

    def _withdraws(self, row: int) -> str:
        """What a late version would have withdrawn; nothing where it withdraws nothing."""
        rule, withdrawn = self._versions
        if not withdrawn[row] or rule[row] < 0:
            return ""
        return f"and would have withdrawn {_text(self._texts[0][row])} from {self._moment(row)} on"

    def _version(self, row: int) -> str:
        """A version of a rule: what it asks for, and from when on."""
        return f"{self._rule(row)} of {self._moment(row)}"

    def _rule(self, row: int) -> str:
        """A version of a rule, as its name and what it asks for."""
        name, field, op, value = (column[row] for column in self._texts)
        return f"{_text(name)} ({_text(field)} {_text(op)} {_value(value)})"

    @cached_property
    def _texts(self) -> list[list[Any]]:
        table, join = self._simulation.right.table, self._join
        return [table.column(name).to_pylist() for name in (join.rule, join.field, join.op, join.value)]

    def _unmet(self, row: int, count: int) -> str:
        rule, withdrawn = self._versions
        if rule[row] < 0:
            return f"its {self._join.rule} is null: it is no version of any rule"
        name = _text(self._texts[0][row])
        replaced_by = int(self._replaced_by[row])
        arrival = self._join.as_of == "arrival"
        if replaced_by >= 0:
            if arrival:
                return f"another version of {name} in the same micro-batch replaced it"
            return f"another version of {name}, at the same time, came after it and replaced it"
        if withdrawn[row]:
            since = f"micro-batch {self._simulation.first + self._axis[row]}" if arrival else self._moment(row)
            if self._first[row] == self._axis[row]:
                return f"it withdraws rule {name}, of which there was no version before {since}"
            return f"it withdraws rule {name} from {since} on"
        if meaning := self._meaningless(row):
            return f"no row can meet {self._rule(row)}: {meaning}"
        came = (
            f"{counted(count, 'row')} of {self._labels.names[0]} came"
            if count
            else f"no row of {self._labels.names[0]} came"
        )
        return f"{self._rule(row)}: {came} while it was in force{', and none met it' * bool(count)}"

    def _not_yet(self, row: int) -> str:
        """Which version would have been in force, had it come in time or been there yet."""
        if self._join.as_of == "arrival":
            return " when it came"
        there = self._by_row[1].get(row)
        return f": {self._rule(min(there))} came too late" if there else " at its time"

    def _incomparable(self, pair: int) -> str:
        rule = int(self._pairs["right"][pair])
        meaning = self._meaningless(rule)
        return f"{self._rule(rule)}, {meaning or 'and it has ' + _value(self._pairs['compared'][pair])}"

    def _meaningless(self, rule: int) -> str:
        """Why no row at all can meet a version; empty if some can."""
        _, field, op, value = (column[rule] for column in self._texts)
        if field is None or op is None or value is None:
            missing = self._join.field if field is None else self._join.op if op is None else self._join.value
            return f"its {missing} is null"
        if op not in OPERATORS:
            return f"there is no operator {_text(op)!r}"
        if field not in self._columns[1]:
            return f"{self._labels.names[0]} has no column {_text(field)!r} of {self._columns[0]}"
        return ""

    @cached_property
    def _columns(self) -> tuple[str, list[str]]:
        numbers, names = self._met.columns
        return "numbers" if numbers else "text", names

    @cached_property
    def _pairs(self) -> dict[str, Any]:
        """Each left row with each rule in force for it: arrays ``left``, ``right``, ``compared``, ``met``."""
        left, right = self._simulation.in_reach
        compared = np.array(self._met.compared(left, right).to_pylist(), dtype=object)
        return {"left": left, "right": right, "compared": compared, "met": self._simulation.satisfied}

    def _of(self, side: Side, row: int) -> Micros:
        """The pairs of a row."""
        places, rows = self._sorted[side]
        found: Micros = places[slice(*np.searchsorted(rows, [row, row + 1]))]
        return found

    @cached_property
    def _sorted(self) -> dict[Side, tuple[Micros, Micros]]:
        found: dict[Side, tuple[Micros, Micros]] = {}
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
        shared = Shared(self._simulation.left, self._simulation.right)
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
        return self._simulation.outcome.assignments["right"]

    @cached_property
    def _versions(self) -> tuple[Micros, Micros]:
        """For each right row the number of its rule, below 0 for none, and whether it withdraws it."""
        return self._rights["rule"].to_numpy(), self._rights["withdrawn"].to_numpy()

    @cached_property
    def _axis(self) -> Micros:
        """For each right row where it is along what versions follow each other."""
        axis: Micros = self._rights["batch" if self._join.as_of == "arrival" else "start"].to_numpy()
        return axis

    @cached_property
    def _first(self) -> Micros:
        """For each right row where the first version of its rule, of those on time, is along that."""
        alive = model.in_force_on_time(self._rights)
        table = self._rights[["key", "rule"]].assign(axis=np.where(alive, self._axis, NEVER))
        found: Micros = table.groupby(["key", "rule"])["axis"].transform("min").to_numpy()
        return found

    @cached_property
    def _replaced_by(self) -> Micros:
        """For each right row the one that replaced it at once; -1 where there is none."""
        alive = np.flatnonzero(model.in_force_on_time(self._rights))
        found = np.full(len(self._rights), -1)
        replaced_by = semantics.retained(self._join, self._rights.iloc[alive])[1]
        found[alive[replaced_by >= 0]] = alive[replaced_by[replaced_by >= 0]]
        return found

    def _moment(self, row: int) -> str:
        return self._labels.moment(int(self._simulation.right.event_times[row]))


def _causes(simulation: Simulation, side: Side, masks: CauseMasks, found: np.ndarray[Any, Any]) -> None:
    other = simulation.side(other_side(side)).name
    met_none = f"it meets no rule of {other} that is in force" if side == "left" else f"no row of {other} met it"
    found[masks.unmatched & masks.refused] = met_none


REASONS = OwnReasons(_RuleReasons, _causes, model.versions)
"""By event time."""
REASONS_BY_ARRIVAL = OwnReasons(_RuleReasons, _causes)
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
