"""Reasons of a pattern: in which matches a row is, how far it came in a partial match, and what came instead."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import Any, cast

import numpy as np

from workbench import times
from workbench.conditions import And, Condition, asks_earlier, columns
from workbench.counts import counted
from workbench.literals import SIDES, RowId, Side
from workbench.model import Micros, Simulation, is_true
from workbench.patterns import Pattern
from workbench.patterns.checking import kinds_of, of_sides
from workbench.reasons.labels import Labels
from workbench.reasons.own import CauseMasks, Fix, Keeps, OwnReasons, RowReasons
from workbench.streams import pair_types

__all__ = ["REASONS"]

_SHOWN = 3


class _PatternReasons(RowReasons):
    """What is said of the rows of a run of a pattern."""

    def __init__(self, simulation: Simulation, labels: Labels, keeps: Keeps) -> None:
        super().__init__(simulation, labels, keeps)
        self._pattern = cast(Pattern, simulation.join)
        self._outcome = simulation.outcome

    def matched(self, side: Side, row: int, batch: int) -> str:
        return f"{self._in_matches(side, row)}, which comes out in micro-batch {batch}"

    def unmatched(self, side: Side, row: int, comes: bool, fix: Fix | None) -> str:
        return self._in_none(side, row) + self._longer(fix)

    def would(self, side: Side, fix: Fix) -> tuple[str, str]:
        return "it would be in a match", "brought it into a match"

    def in_vain(self, side: Side, row: int, comes: bool) -> str:
        return "though it would be in no match"

    def _longer(self, fix: Fix | None) -> str:
        """What would bring a row into a match."""
        if fix is None:
            return ""
        more = ""
        if fix.setting == "within" and self._pattern.within is not None:
            more = f", {self._labels.span(int(fix.value) - times.micros(self._pattern.within))} more,"
        return f"; with {self._labels.changed(fix.setting, fix.value)}{more} it would be in a match"

    def _in_matches(self, side: Side, row: int) -> str:
        """How many matches a row is in, and as which step; the first of them."""
        own, outputs = self._matches(side, row), self._outcome.outputs
        first = int(own[np.argmin(outputs.table["batch"].to_numpy()[own])])
        members = outputs.of(side)
        mine = members[(members["row"] == row).to_numpy() & np.isin(members["output"], own)]
        named = [each.name for each in self._pattern.taken]
        steps = list(dict.fromkeys(named[step] for step in mine["step"].tolist()))
        start, end = (self._labels.moment(int(outputs.table[name].iloc[first])) for name in ("start", "end"))
        count = int(outputs.counts("left")[first] + outputs.counts("right")[first])
        which = "a match" if len(own) == 1 else f"{len(own):,} matches, in the first"
        return f"{' and '.join(steps)} in {which} of {counted(count, 'row')}, from {start} to {end}"

    def _in_none(self, side: Side, row: int) -> str:
        """How far a row came in a partial match, and why that came to nothing; or that it fits no step."""
        partial = self._partial.get(RowId(side, row))
        if partial is not None:
            return self._ended(RowId(side, row), partial)
        if (ended := self._ended_by.get(RowId(side, row))) is not None:
            return self._ends(ended)
        fitting, perhaps = self._fitting(side, row), self._fitting(side, row, perhaps=True)
        if not fitting and perhaps:
            return f"it may fit {_either(perhaps)}, by earlier rows, and no partial match of its key took it"
        if not fitting:
            asks = [each.name for each in self._pattern.taken if each.side == side]
            if not asks:
                return f"no step takes rows of {self._labels.names[SIDES.index(side)]}"
            return f"it fits no step: {_either(asks)} {'asks' if len(asks) == 1 else 'ask'} for other rows"
        before = self._given_up_before(side, row, fitting)
        return f"it fits {_either(fitting)}, and {before or 'no partial match of its key waited for that'}"

    def pending(self, side: Side, row: int) -> str:
        """What a row waits for that a partial match holds; empty: it waits for the watermark."""
        partial = self._partial.get(RowId(side, row))
        if partial is None or partial.cause != "waits":
            return ""
        words = f"it is {partial.step} in a partial match of {counted(partial.length, 'row')}"
        if partial.at is None:
            return f"{words} that waits for {self._meant(partial.waited_for)}, however long"
        return f"{words} that waits for {self._meant(partial.waited_for)} until {self._labels.moment(int(partial.at))}"

    @cached_property
    def _partial(self) -> dict[RowId, Any]:
        table = self._outcome.partial
        if table is None:
            return {}
        index = [RowId(side, row) for side, row in table.index]
        return dict(zip(index, table.itertuples(index=False), strict=True))

    @cached_property
    def _ended_by(self) -> dict[RowId, Any]:
        """Of rows with which a partial match came to its end the longest of these."""
        found: dict[RowId, Any] = {}
        for each in self._partial.values():
            if each.by_side and each.cause in ("stopped", "broken"):
                row = RowId(each.by_side, int(each.by_row))
                if row not in found or found[row].length < each.length:
                    found[row] = each
        return found

    def _ends(self, partial: Any) -> str:
        of = f"a partial match of {counted(partial.length, 'row')}"
        if partial.cause == "stopped":
            return f"it must not come after {of}, which ended with it"
        return f"{of} that waited for {self._meant(partial.waited_for)} could not go on with it"

    @cached_property
    def _given_up(self) -> dict[tuple[int, str], list[int]]:
        """When partial matches were given up for their time, by the key's code and the step that they waited for."""
        found: dict[tuple[int, str], list[int]] = {}
        for of, each in self._partial.items():
            if each.cause == "timed out":
                key = int(self._outcome.keys[SIDES.index(of.side)][of.row])
                found.setdefault((key, each.waited_for), []).append(int(each.at))
        return {of: sorted(ends) for of, ends in found.items()}

    def _given_up_before(self, side: Side, row: int, fitting: list[str]) -> str:
        """When the last partial match was given up that waited for a row; nothing where there was none."""
        key, at = int(self._outcome.keys[SIDES.index(side)][row]), int(self._simulation.side(side).event_times[row])
        given_up = [self._given_up.get((key, step), []) for step in fitting]
        ends = [each[place - 1] for each in given_up if (place := bisect_right(each, at))]
        if not ends:
            return ""
        before = f", {self._labels.span(at - max(ends))} before" if at > max(ends) else ", at that very moment"
        return f"the last partial match that waited for that was given up at {self._labels.moment(max(ends))}{before}"

    def _matches(self, side: Side, row: int) -> Any:
        """The outputs that are matches and have a row."""
        members = self._outcome.outputs.of(side)
        own = np.unique(members["output"].to_numpy()[(members["row"] == row).to_numpy()])
        return own[self._outcome.outputs.table["matched"].to_numpy()[own]]

    def _ended(self, of: RowId, partial: Any) -> str:
        words = f"it is {partial.step} in a partial match of {counted(partial.length, 'row')}"
        waited = f"{words} that waited for {self._meant(partial.waited_for)}"
        match partial.cause:
            case "timed out":
                until = self._labels.moment(int(partial.at))
                return f"{waited} until {until}{self._came_after(of, partial)}"
            case "stopped":
                return f"{words}, and then came {self._by(partial)}, which must not come"
            case "broken":
                return f"{waited}, and then came {self._by(partial)}, with which it cannot go on"
            case "skipped":
                return f"{words}, which another match excludes: skip={self._pattern.skip!r}"
        return f"{waited} when the recording ended"

    def _came_after(self, of: RowId, partial: Any) -> str:
        """What became of the row that was waited for: it was dropped, or came so much after the end."""
        step = next((each for each in self._pattern.taken if each.name == partial.waited_for), None)
        if step is None or step.name in self._by_earlier:
            return ""
        side: Side = step.side or "left"
        until, times = int(partial.at), self._simulation.side(side).event_times
        key = self._outcome.keys[SIDES.index(of.side)][of.row]
        fits = self._fits[step.name] & (self._outcome.keys[SIDES.index(side)] == key)
        was_late = self._outcome.assignments[side]["late"].to_numpy()
        begin = self._simulation.side(of.side).event_times[of.row]
        dropped = np.flatnonzero(fits & was_late & (times >= begin) & (times < until))
        if len(dropped):
            row = int(dropped[np.argmin(times[dropped])])
            return f"; {self._labels.label(side, row)}, which fits, came late and was dropped"
        later = np.flatnonzero(fits & (times >= until))
        if not len(later):
            return ", and none came"
        row = int(later[np.argmin(times[later])])
        after = int(times[row]) - until
        when = f"came {self._labels.span(after)} later" if after else "came at that very moment"
        return f"; {self._labels.label(side, row)} {when}"

    def _by(self, partial: Any) -> str:
        return self._labels.label(partial.by_side, int(partial.by_row)) if partial.by_side else "another row"

    @cached_property
    def _fits(self) -> dict[str, Any]:
        """For each step which rows of its side satisfy what it asks of them alone."""
        types = of_sides(pair_types(self._simulation.left, self._simulation.right))
        found = {}
        for step in self._pattern.taken:
            side: Side = step.side or "left"
            table = self._simulation.side(side).table
            found[step.name] = np.ones(table.num_rows, dtype=bool)
            for part in _parts(step.where):
                kinds = kinds_of(self._pattern, side, part, types)
                given = {name: table.column(name).combine_chunks() for name in columns(part)}
                found[step.name] &= is_true(part, kinds, given)
        return found

    @cached_property
    def _by_earlier(self) -> set[str]:
        """The steps that ask for earlier rows of the match, too."""
        asked = [(each.name, each.where) for each in self._pattern.flat if each.where is not None]
        return {name for name, where in asked if asks_earlier(where)}

    def _fitting(self, side: Side, row: int, perhaps: bool = False) -> list[str]:
        """The steps that a row fits by itself, or, perhaps, together with earlier rows."""
        steps = [each.name for each in self._pattern.taken if each.side == side and self._fits[each.name][row]]
        return [name for name in steps if perhaps or name not in self._by_earlier]

    def _meant(self, step: str) -> str:
        """What is waited for where a step must come, or must not."""
        taken = any(each.name == step for each in self._pattern.taken)
        return step if taken or not step else f"a row other than {step}"


def _causes(simulation: Simulation, side: Side, masks: CauseMasks, found: np.ndarray[Any, Any]) -> None:
    found[masks.matched] = "in a match"
    found[masks.late] = "late"
    found[masks.late & masks.met] = "late, and would be in a match"
    found[masks.unmatched] = _how_far(simulation, side, np.flatnonzero(masks.unmatched))


def _how_far(simulation: Simulation, side: Side, rows: Micros) -> list[str]:
    """How far rows that are in no match of a pattern came."""
    partial = simulation.outcome.partial
    if partial is None:
        return ["in no match"] * len(rows)
    causes = {
        row: (cause, step)
        for (of, row), cause, step in zip(partial.index, partial["cause"], partial["waited_for"], strict=True)
        if of == side
    }
    words = {
        "timed out": "in a partial match that waited too long for {}",
        "stopped": "in a partial match, and then came a row that must not come",
        "broken": "in a partial match, and then came a row other than {}",
        "skipped": "in a partial match that another match excludes",
        "waits": "in a partial match that waits for {}",
    }
    return [
        words[causes[row][0]].format(causes[row][1]) if row in causes else "in no partial match"
        for row in rows.tolist()
    ]


REASONS = OwnReasons(_PatternReasons, _causes)


def _parts(where: Condition | None) -> list[Condition]:
    """What a condition asks of a row alone: of the parts that must all hold those that name no earlier row."""
    parts = list(where.parts) if isinstance(where, And) else [] if where is None else [where]
    return [each for each in parts if not asks_earlier(each)]


def _either(names: list[str]) -> str:
    shown = names[:_SHOWN]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return (", ".join(shown[:-1]) + " and " + shown[-1] if len(shown) > 1 and not more else ", ".join(shown)) + more
