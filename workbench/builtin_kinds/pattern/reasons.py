"""Reasons of a pattern: in which matches a row is, how far it came in a partial match, and what came instead."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np

from workbench import times
from workbench.arrays import RowNumbers
from workbench.builtin_kinds.pattern import verdicts
from workbench.builtin_kinds.pattern.verdicts import PatternVerdict
from workbench.conditions import And, Condition, asks_earlier, columns
from workbench.counts import counted
from workbench.literals import SIDES, RowId, Side
from workbench.model import Simulation, is_true
from workbench.patterns import Pattern
from workbench.patterns.checking import kinds_of, of_sides
from workbench.reasons.judging import Judging
from workbench.reasons.own import OwnReasons
from workbench.reasons.slots import SentenceSlots
from workbench.streams import pair_types
from workbench.untyped import Record
from workbench.verdicts import THEN_FIX

__all__ = ["REASONS"]

_SHOWN = 3
_OF_PARTIAL = {
    "timed out": PatternVerdict.TIMED_OUT,
    "stopped": PatternVerdict.STOPPED,
    "broken": PatternVerdict.BROKEN,
    "skipped": PatternVerdict.SKIPPED,
}


class _Came(NamedTuple):
    """Of the rows that a partial match waited for the first that was dropped as late, and the first after its end."""

    dropped: RowId | None
    later: RowId | None


class _PatternSlots(SentenceSlots):
    """The verdicts of a run of a pattern."""

    would_meet = verdicts.WOULD_BE
    would_match = verdicts.BROUGHT

    def __init__(self, simulation: Simulation, asked: dict[Side, RowNumbers] | None = None) -> None:
        super().__init__(simulation, asked)
        self._pattern = cast(Pattern, simulation.join)
        self._known_to_come: dict[RowId, _Came | None] = {}

    def within_reach(self, side: Side, row: int) -> str:
        return "within the time of the pattern"

    def judge(self, of: Judging) -> None:
        of.verdict[of.matched] = PatternVerdict.IN_MATCH
        of.verdict[of.late] = PatternVerdict.LATE
        of.verdict[of.would_meet] = PatternVerdict.LATE_FOR_MATCH
        of.verdict[of.unmatched] = [self._judged(of.side, row) for row in of.rows[of.unmatched].tolist()]

    def _judged(self, side: Side, row: int) -> PatternVerdict:
        """Why a row is in no match."""
        partial = self._partial.get(RowId(side, row))
        if partial is not None:
            return _OF_PARTIAL[partial.cause]  # not "waits": such a row is pending
        if (ended := self._ended_by.get(RowId(side, row))) is not None:
            return PatternVerdict.STOPS if ended.cause == "stopped" else PatternVerdict.BREAKS
        if self._fitting(side, row):
            return PatternVerdict.NOT_WAITED_FOR if self._given_up_at(side, row) is None else PatternVerdict.GIVEN_UP
        if self._fitting(side, row, perhaps=True):
            return PatternVerdict.MAY_FIT
        return PatternVerdict.FITS_NO_STEP if self._asking(side) else PatternVerdict.SIDE_WITHOUT_STEP

    # Of rows in a match.

    def steps_taken(self, side: Side, row: int) -> str:
        """As which steps a row is in its matches."""
        members = self.outcome.outputs.of(side)
        mine = members[(members["row"] == row).to_numpy() & np.isin(members["output"], self._matches(side, row))]
        named = [each.name for each in self._pattern.taken]
        return " and ".join(dict.fromkeys(named[step] for step in mine["step"].tolist()))

    def which_match(self, side: Side, row: int) -> str:
        """In how many matches it is."""
        count = len(self._matches(side, row))
        return "a match" if count == 1 else f"{count:,} matches, in the first"

    def match_rows(self, side: Side, row: int) -> str:
        """How many rows the first of them has."""
        first, outputs = self._first_match(side, row), self.outcome.outputs
        return counted(int(outputs.counts("left")[first] + outputs.counts("right")[first]), "row")

    def match_start(self, side: Side, row: int) -> str:
        """The time of its first row."""
        return self.labels.moment(int(self.outcome.outputs.table["start"].iloc[self._first_match(side, row)]))

    def match_end(self, side: Side, row: int) -> str:
        """The time of its last row."""
        return self.labels.moment(int(self.outcome.outputs.table["end"].iloc[self._first_match(side, row)]))

    def _first_match(self, side: Side, row: int) -> int:
        own = self._matches(side, row)
        return int(own[np.argmin(self.outcome.outputs.table["batch"].to_numpy()[own])])

    # Of rows in a partial match, or with which one ended.

    def _of_row(self, side: Side, row: int) -> Any:
        of = RowId(side, row)
        return self._partial[of] if of in self._partial else self._ended_by[of]

    def step_taken(self, side: Side, row: int) -> str:
        """As which step it is in the partial match."""
        return str(self._of_row(side, row).step)

    def length(self, side: Side, row: int) -> str:
        """How many rows that has."""
        return counted(self._of_row(side, row).length, "row")

    def waited_for(self, side: Side, row: int) -> str:
        """What it waited for: a step, or a row other than one that must not come."""
        step = self._of_row(side, row).waited_for
        taken = any(each.name == step for each in self._pattern.taken)
        return step if taken or not step else f"a row other than {step}"

    def gave_up(self, side: Side, row: int) -> str:
        """Until when it waited."""
        return self.labels.moment(int(self._of_row(side, row).at))

    def ended_by(self, side: Side, row: int) -> str:
        """The row that ended it."""
        partial = self._of_row(side, row)
        return self.labels.label(partial.by_side, int(partial.by_row)) if partial.by_side else "another row"

    def skip(self, side: Side, row: int) -> str:
        """The pattern's skip strategy."""
        return repr(self._pattern.skip)

    def came_after(self, side: Side, row: int) -> str:
        """What became of the row that was waited for: it was dropped, or came so much after the end."""
        came = self._came(side, row)
        if came is None:
            return ""
        if came.dropped is not None:
            return self.fill(verdicts.CAME_LATE, side, row)
        if came.later is None:
            return verdicts.NONE_CAME
        at_end = self._time(came.later) == int(self._of_row(side, row).at)
        return self.fill(verdicts.CAME_AT_END if at_end else verdicts.CAME_LATER, side, row)

    def late_row(self, side: Side, row: int) -> str:
        """The row that was waited for, and came late."""
        came = self._came(side, row)
        return "" if came is None or came.dropped is None else self.labels.label(*came.dropped)

    def later_row(self, side: Side, row: int) -> str:
        """The row that was waited for, and came after the end."""
        came = self._came(side, row)
        return "" if came is None or came.later is None else self.labels.label(*came.later)

    def later_by(self, side: Side, row: int) -> str:
        """How much later that came."""
        came = self._came(side, row)
        if came is None or came.later is None:
            return ""
        return self.labels.span(self._time(came.later) - int(self._of_row(side, row).at))

    def _time(self, of: RowId) -> int:
        return int(self.labels.times[of.side][of.row])

    def _came(self, side: Side, row: int) -> _Came | None:
        """What came of the rows that a row's partial match waited for; None where earlier rows say which these are."""
        of = RowId(side, row)
        if of not in self._known_to_come:
            self._known_to_come[of] = self._sought(of)
        return self._known_to_come[of]

    def _sought(self, of: RowId) -> _Came | None:
        partial = self._of_row(*of)
        step = next((each for each in self._pattern.taken if each.name == partial.waited_for), None)
        if step is None or step.name in self._by_earlier:
            return None
        other: Side = step.side or "left"
        until, moments = int(partial.at), self.labels.times[other]
        key = self.outcome.keys[SIDES.index(of.side)][of.row]
        fits = self._fits[step.name] & (self.outcome.keys[SIDES.index(other)] == key)
        was_late = self.outcome.assignments[other]["late"].to_numpy()
        dropped = np.flatnonzero(fits & was_late & (moments >= self._time(of)) & (moments < until))
        later = np.flatnonzero(fits & (moments >= until))
        first = (RowId(other, int(rows[np.argmin(moments[rows])])) if len(rows) else None for rows in (dropped, later))
        return _Came(*first)

    def until(self, side: Side, row: int) -> str:
        """What a row waits for that a partial match holds, or that it waits for the watermark."""
        partial = self._partial.get(RowId(side, row))
        if partial is None or partial.cause != "waits":
            return super().until(side, row)
        return self.fill(verdicts.WAITS_FOR if partial.at is None else verdicts.WAITS_UNTIL, side, row)

    # Of rows in no partial match.

    def _asking(self, side: Side) -> list[str]:
        return [each.name for each in self._pattern.taken if each.side == side]

    def asks(self, side: Side, row: int) -> str:
        """The conditions of the steps of its side."""
        asking = self._asking(side)
        return f"the condition{'s' * (len(asking) > 1)} of {_either(asking)}"

    def steps_fitting(self, side: Side, row: int) -> str:
        """The steps that it fits by itself."""
        return _either(self._fitting(side, row))

    def steps_perhaps(self, side: Side, row: int) -> str:
        """The steps that it may fit, together with earlier rows."""
        return _either(self._fitting(side, row, perhaps=True))

    def given_up(self, side: Side, row: int) -> str:
        """When the last partial match was given up that waited for it."""
        return self.labels.moment(self._given_up_at(side, row) or 0)

    def given_up_before(self, side: Side, row: int) -> str:
        """How long before it that was."""
        before = self._time(RowId(side, row)) > (self._given_up_at(side, row) or 0)
        return self.fill(verdicts.BEFORE, side, row) if before else verdicts.AT_THAT_MOMENT

    def before(self, side: Side, row: int) -> str:
        """How long before it the last partial match was given up."""
        return self.labels.span(self._time(RowId(side, row)) - (self._given_up_at(side, row) or 0))

    def _given_up_at(self, side: Side, row: int) -> int | None:
        key, at = int(self.outcome.keys[SIDES.index(side)][row]), self._time(RowId(side, row))
        given_up = [self._given_up.get((key, step), []) for step in self._fitting(side, row)]
        return max((each[place - 1] for each in given_up if (place := bisect_right(each, at))), default=None)

    # Of fixes.

    def longer(self, side: Side, row: int) -> str:
        """What would bring a row into a match, where something does."""
        fix = self.fixes.get(RowId(side, row))
        if fix is None:
            return ""
        return self.fill(verdicts.LONGER_BY if fix.setting == "within" else THEN_FIX, side, row)

    def beyond(self, side: Side, row: int) -> str:
        """How much more the pattern would have to take."""
        within = times.micros(self._pattern.within) if self._pattern.within is not None else 0
        return self.labels.span(int(self.fixes[RowId(side, row)].value) - within)

    def in_vain(self, side: Side, row: int) -> str:
        return verdicts.IN_NO_MATCH

    @cached_property
    def _partial(self) -> dict[RowId, Any]:
        table = self.outcome.partial
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

    @cached_property
    def _given_up(self) -> dict[tuple[int, str], list[int]]:
        """When partial matches were given up for their time, by the key's code and the step that they waited for."""
        found: dict[tuple[int, str], list[int]] = {}
        for of, each in self._partial.items():
            if each.cause == "timed out":
                key = int(self.outcome.keys[SIDES.index(of.side)][of.row])
                found.setdefault((key, each.waited_for), []).append(int(each.at))
        return {of: sorted(ends) for of, ends in found.items()}

    def _matches(self, side: Side, row: int) -> RowNumbers:
        """The outputs that are matches and have a row, in order."""
        found: RowNumbers = self._matches_by_row[side].get(row, np.array([], dtype=np.int64))
        return found

    @cached_property
    def _matches_by_row(self) -> dict[Side, dict[int, RowNumbers]]:
        outputs = self.outcome.outputs
        matched, found = outputs.table["matched"].to_numpy(), {}
        for side in SIDES:
            members = outputs.of(side)
            members = members[matched[members["output"].to_numpy()]]
            found[side] = members.groupby("row")["output"].unique().to_dict()  # members are in order of output
        return found

    @cached_property
    def _fits(self) -> Record:
        """For each step which rows of its side satisfy what it asks of them alone."""
        types = of_sides(pair_types(self.simulation.left, self.simulation.right))
        found = {}
        for step in self._pattern.taken:
            side: Side = step.side or "left"
            table = self.simulation.side(side).table
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


REASONS = OwnReasons(_PatternSlots)


def _parts(where: Condition | None) -> list[Condition]:
    """What a condition asks of a row alone: of the parts that must all hold those that name no earlier row."""
    parts = list(where.parts) if isinstance(where, And) else [] if where is None else [where]
    return [each for each in parts if not asks_earlier(each)]


def _either(names: list[str]) -> str:
    shown = names[:_SHOWN]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return (", ".join(shown[:-1]) + " and " + shown[-1] if len(shown) > 1 and not more else ", ".join(shown)) + more
