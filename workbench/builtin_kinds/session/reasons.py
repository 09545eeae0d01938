"""Reasons of sessions: which silence of a key lies between a row and the nearest one of the other stream."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np

from workbench import times
from workbench.arrays import Codes, RowNumbers, Times
from workbench.builtin_kinds.session import verdicts
from workbench.builtin_kinds.session.verdicts import SessionVerdict
from workbench.counts import counted
from workbench.literals import SIDES, RowId, Side, other_side
from workbench.model import Simulation, on_time
from workbench.model.ordering import among
from workbench.reasons.judging import Judging
from workbench.reasons.own import OwnReasons
from workbench.reasons.slots import SentenceSlots
from workbench.verdicts import SharedVerdict
from workbench.windows import Session

__all__ = ["REASONS"]


class _KeyRows(NamedTuple):
    """Rows of both sides in the order of their keys, and of one key in that of their event times."""

    key: Codes
    time: Times
    side: Codes
    row: RowNumbers


class _Silence(NamedTuple):
    """A time without rows of a key: the last row before it, the first one after it, and their event times.

    Of so many others that are longer than the gap, too, and further from the row of which it is told.
    """

    before: RowId
    after: RowId
    begin: int
    end: int
    others: int


class _SessionSlots(SentenceSlots):
    """The verdicts of a run with sessions."""

    def __init__(self, simulation: Simulation, asked: dict[Side, RowNumbers] | None = None) -> None:
        super().__init__(simulation, asked)
        window: Session = cast(Any, simulation.join).window
        self._gap = times.micros(window.gap)
        self._silences: dict[RowId, _Silence | None] = {}

    def judge(self, of: Judging) -> None:
        alone = (of.verdict == SharedVerdict.NO_PARTNER_ON_TIME) & (of.setting == "")
        rows, side = self._rows, SIDES.index(other_side(of.side))
        codes = self.outcome.keys[SIDES.index(of.side)][of.rows]
        of.verdict[alone & among(codes, rows.key[rows.side == side])] = SessionVerdict.OTHER_SESSION

    @cached_property
    def _rows(self) -> _KeyRows:
        """The rows that were on time."""
        return self._sorted(is_late=False)

    @cached_property
    def _late_rows(self) -> _KeyRows:
        return self._sorted(is_late=True)

    def _sorted(self, is_late: bool) -> _KeyRows:
        parts = []
        for number, side in enumerate(SIDES):
            mine = self.outcome.assignments[side]
            rows = mine["row"].to_numpy()[mine["late"].to_numpy() if is_late else on_time(mine)]
            rows = rows[self.outcome.keys[number][rows] >= 0]
            parts.append(
                (self.outcome.keys[number][rows], self.labels.times[side][rows], np.full(len(rows), number), rows)
            )
        key, time, number_of, row = map(np.concatenate, zip(*parts, strict=True))
        order = np.lexsort((number_of, time, key))
        return _KeyRows(key[order], time[order], number_of[order], row[order])

    def _of_key(self, rows: _KeyRows, side: Side, row: int) -> _KeyRows:
        """Those of some rows that have the key of a row."""
        code = self.outcome.keys[SIDES.index(side)][row]
        span = slice(*np.searchsorted(rows.key, [code, code + 1]))
        return _KeyRows(*(column[span] for column in rows))

    def near(self, side: Side, row: int) -> str:
        if self._verdict(side, row) is SessionVerdict.OTHER_SESSION and RowId(side, row) not in self.fixes:
            return self.fill(verdicts.ANOTHER_SESSION, side, row)
        return super().near(side, row)

    def nearest(self, side: Side, row: int) -> str:
        """The nearest row of its key on the other side that was on time."""
        return self.labels.label(*self._partner(side, row))

    def nearest_distance(self, side: Side, row: int) -> str:
        """How far that is."""
        other, partner = self._partner(side, row)
        return self.labels.span(abs(int(self.labels.times[side][row]) - int(self.labels.times[other][partner])))

    def _partner(self, side: Side, row: int) -> RowId:
        """The row that a changed setting would have it meet; without one the nearest that was on time."""
        other, fix = other_side(side), self.fixes.get(RowId(side, row))
        if fix is not None:
            return RowId(other, int(fix.partner))
        rows = self._of_key(self._rows, side, row)
        theirs = np.flatnonzero(rows.side == SIDES.index(other))
        nearest = theirs[np.argmin(np.abs(rows.time[theirs] - self.labels.times[side][row]))]
        return RowId(other, int(rows.row[nearest]))

    def apart(self, side: Side, row: int) -> str:
        """Why that row is in another session; nothing where the watermark has closed one of the two too early."""
        silence = self._silence(side, row)
        if silence is None:
            return ""
        is_later = silence.begin >= self.labels.times[side][row]
        return self.fill(verdicts.ENDED if is_later else verdicts.BEGAN, side, row)

    def _silence(self, side: Side, row: int) -> _Silence | None:
        """The silence, longer than the gap, that is nearest to a row on the way to its partner."""
        asked = RowId(side, row)
        if asked not in self._silences:
            self._silences[asked] = self._found_silence(side, row)
        return self._silences[asked]

    def _found_silence(self, side: Side, row: int) -> _Silence | None:
        partner = self._partner(side, row)
        here, there = (int(self.labels.times[each.side][each.row]) for each in (RowId(side, row), partner))
        rows = self._of_key(self._rows, side, row)
        between = slice(
            np.searchsorted(rows.time, min(here, there)), np.searchsorted(rows.time, max(here, there), "right")
        )
        found = _KeyRows(*(column[between] for column in rows))
        long = np.flatnonzero(np.diff(found.time) > self._gap)
        if not len(long):
            return None
        at = int(long[0] if here < there else long[-1])
        before, after = (RowId(SIDES[found.side[place]], int(found.row[place])) for place in (at, at + 1))
        silence = _Silence(before, after, int(found.time[at]), int(found.time[at + 1]), len(long) - 1)
        return silence if self._bounds_session(silence, side, row, here < there) else None

    def _bounds_session(self, silence: _Silence, side: Side, row: int, is_later: bool) -> bool:
        """Whether the session of a row ends, or begins, with a silence: it may have been closed before rows came."""
        group = self._groups[side][row]
        if group < 0:
            return True
        starts, ends = self._bounds
        return bool(ends[group] == silence.begin + self._gap if is_later else starts[group] == silence.end)

    @cached_property
    def _groups(self) -> dict[Side, RowNumbers]:
        """Per side the session of each row, a place in the outcome's groups; -1 without one."""
        found: dict[Side, RowNumbers] = {}
        for side in SIDES:
            mine = self.outcome.assignments[side]
            found[side] = np.full(len(self.simulation.side(side)), -1, dtype=np.int64)
            found[side][mine["row"].to_numpy()] = mine["group"].to_numpy()
        return found

    @cached_property
    def _bounds(self) -> tuple[Times, Times]:
        """When each of these sessions began and ended."""
        groups = self.outcome.groups
        return groups["start"].to_numpy(), groups["end"].to_numpy()

    def _told(self, side: Side, row: int) -> _Silence:
        """The silence of which a sentence tells."""
        silence = self._silence(side, row)
        assert silence is not None  # noqa: S101 - the sentences that ask are those of rows with one
        return silence

    def session_end(self, side: Side, row: int) -> str:
        """When its session ended."""
        return self.labels.moment(self._told(side, row).begin + self._gap)

    def session_begin(self, side: Side, row: int) -> str:
        """When its session began."""
        return self.labels.moment(self._told(side, row).end)

    def silent_from(self, side: Side, row: int) -> str:
        """The last row before the silence: its time and stream."""
        silence = self._told(side, row)
        return self._at(silence.before, silence.begin)

    def silent_until(self, side: Side, row: int) -> str:
        """The first row after it, likewise."""
        silence = self._told(side, row)
        return self._at(silence.after, silence.end)

    def _at(self, of: RowId, moment: int) -> str:
        return f"{self.labels.moment(moment)} ({self.labels.names[SIDES.index(of.side)]})"

    def silence(self, side: Side, row: int) -> str:
        """How long it was."""
        silence = self._told(side, row)
        return self.labels.span(silence.end - silence.begin)

    def in_time(self, side: Side, row: int) -> str:
        """That rows of the key came late in the silence, where some did."""
        silence, late = self._told(side, row), self._of_key(self._late_rows, side, row).time
        return " in time" if ((late > silence.begin) & (late < silence.end)).any() else ""

    def and_others(self, side: Side, row: int) -> str:
        """That other silences lie between it and its partner, where some do."""
        return self.fill(verdicts.OTHERS, side, row) if self._told(side, row).others else ""

    def be(self, side: Side, row: int) -> str:
        """The verb of these."""
        return "is" if self._told(side, row).others == 1 else "are"

    def others(self, side: Side, row: int) -> str:
        """How many they are."""
        return counted(self._told(side, row).others, "other silence")

    def session_gap(self, side: Side, row: int) -> str:
        """The gap of the sessions."""
        return self.labels.span(self._gap)


REASONS = OwnReasons(_SessionSlots)
