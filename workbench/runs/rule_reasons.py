"""Reasons of a join with rules: which rules a row met, which it missed and by how much, what became of a rule."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, cast

import numpy as np
import pandas as pd

from workbench.joins import RulesJoin
from workbench.kinds import Micros, Rules, kind_of
from workbench.literals import SIDES, Side
from workbench.model import Met, Shared, Simulation, in_force_on_time
from workbench.model.ordering import order
from workbench.runs.labels import Labels

__all__ = ["RuleReasons"]

_SHOWN = 3


class RuleReasons:
    """What is said of the rows of a run whose right rows are rules.

    Parameters
    ----------
    simulation
        The run.
    labels
        How its times are named.
    """

    def __init__(self, simulation: Simulation, labels: Labels) -> None:
        self._simulation, self._labels = simulation, labels
        self._join, self._met = cast(RulesJoin, simulation.join), cast(Met, simulation.where)

    def of_matched(self, side: Side, row: int) -> str:
        """Which rules a left row met; how many rows met a version."""
        pairs = self._of(side, row)
        mine = self._pairs["right"][pairs[self._pairs["met"][pairs]]].tolist()
        if side == "right":
            return f"{self.rule(row)}: met by {_count(len(mine), 'row')} of {self._labels.names[0]}"
        rules = [f"{self.rule(each)} of {self._moment(each)}" for each in mine[:_SHOWN]]
        more = len(mine) - len(rules)
        return f"meets {_count(len(mine), 'rule')}: {', '.join(rules)}{f' and {more} more' * (more > 0)}"

    def of_unmatched(self, side: Side, row: int) -> str:
        """Why a left row met no rule, or a version was met by none."""
        mine = self._of(side, row)
        if side == "right":
            return self._unmet(row, len(mine))
        if not len(mine):
            return f"no rule of {self._labels.names[1]} was in force{self._not_yet(row)}"
        count, away = len(mine), self._away[mine]
        words = f"{_count(count, 'rule')} {'was' if count == 1 else 'were'} in force, and it meets none"
        if np.isnan(away).all():
            return f"{words}: {self._incomparable(int(mine[0]))}"
        nearest = mine[np.nanargmin(away)]
        rule, reads = int(self._pairs["right"][nearest]), self._pairs["compared"][nearest]
        short = f", {_number(float(self._away[nearest]))} away" if self._away[nearest] else ""
        return f"{words}: {'the nearest is ' * (count > 1)}{self.rule(rule)}, and it has {_number(reads)}{short}"

    def otherwise(self, row: int) -> str:
        """Which rules a left row would meet by event time, where that differs from those by arrival; else nothing."""
        if self._join.as_of != "arrival":
            return ""
        now, then = self._by_row
        here, there = now.get(row, set()), then.get(row, set())
        if here == there:
            return ""
        rules = ", ".join(self.rule(each) for each in sorted(there)[:_SHOWN]) or "none"
        return f"; by event time it would meet {'others: ' * bool(there)}{rules}"

    def rule(self, row: int) -> str:
        """A version of a rule, as its name and what it asks for."""
        name, field, op, value = (column[row] for column in self._texts)
        return f"{name} ({field} {op} {_number(value)})"

    @cached_property
    def _texts(self) -> list[list[Any]]:
        table, join = self._simulation.right.table, self._join
        return [table.column(name).to_pylist() for name in (join.rule, join.field, join.op, join.value)]

    def _unmet(self, row: int, count: int) -> str:
        place = int(np.flatnonzero(self._rights["row"] == row)[0])
        if self._rights["rule"].iloc[place] < 0:
            return f"its {self._join.rule} is null: it is no version of any rule"
        name = self._texts[0][row]
        if self._rights["withdrawn"].iloc[place]:
            return f"it withdraws rule {name} from {self._moment(row)} on"
        replaced_by = int(self._replaced_by[place])
        arrival = self._join.as_of == "arrival"
        if replaced_by >= 0:
            if arrival:
                return f"another version of {name} in the same micro-batch replaced it"
            return f"another version of {name}, at the same time, came after it and replaced it"
        came = (
            f"{_count(count, 'row')} of {self._labels.names[0]} came"
            if count
            else f"no row of {self._labels.names[0]} came"
        )
        return f"{self.rule(row)}: {came} while it was in force{', and none met it' * bool(count)}"

    def _not_yet(self, row: int) -> str:
        """Which version would have been in force, had it come in time or been there yet."""
        if self._join.as_of == "arrival":
            return " when it came"
        there = self._by_row[1].get(row)
        return f": {self.rule(min(there))} came too late" if there else " at its time"

    def _incomparable(self, pair: int) -> str:
        rule, field = int(self._pairs["right"][pair]), self._texts[1][int(self._pairs["right"][pair])]
        if field not in self._columns[1]:
            kind = self._columns[0]
            return f"{self.rule(rule)} asks for {field!r}, and {self._labels.names[0]} has no such column of {kind}"
        return f"{self.rule(rule)}, and it has {self._pairs['compared'][pair]!r}"

    @cached_property
    def _columns(self) -> tuple[str, list[str]]:
        numbers, names = self._met.columns
        return "numbers" if numbers else "text", names

    @cached_property
    def _pairs(self) -> dict[str, Any]:
        """Each left row with each rule in force for it: arrays ``left``, ``right``, ``compared``, ``met``."""
        left, right = self._simulation.in_reach
        compared = np.array(self._met.compared(left, right).to_pylist(), dtype=object)
        return {"left": left, "right": right, "compared": compared, "met": self._met(left, right)}

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
        asked = pd.Series(self._texts[3], dtype=object).to_numpy()[self._pairs["right"]]
        numbers = (pd.to_numeric(pd.Series(each), errors="coerce") for each in (self._pairs["compared"], asked))
        one, other = (each.to_numpy(dtype=float) for each in numbers)
        return np.abs(one - other) if self._columns[0] == "numbers" else np.full(len(one), np.nan)

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
        return self._simulation.outcome.assignments["right"]

    @cached_property
    def _replaced_by(self) -> Micros:
        """For each right row the one that replaced it at once; -1 where there is none."""
        alive = np.flatnonzero(in_force_on_time(self._rights))
        found = np.full(len(self._rights), -1)
        rules = cast(Rules, kind_of(self._join).rules)
        replaced_by = rules.retained(self._join, self._rights.iloc[alive])[1]
        found[alive[replaced_by >= 0]] = alive[replaced_by[replaced_by >= 0]]
        return found

    def _moment(self, row: int) -> str:
        return self._labels.moment(int(self._simulation.right.event_times[row]))


def _number(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
