"""What became of every input row, and why, in words with the figures in them."""

from __future__ import annotations

from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workbench import _tables, fixes, times
from workbench._words import Words
from workbench.joins import CoGroup, IntervalJoin
from workbench.model import DATA, Micros
from workbench.streams import SIDES
from workbench.windows import Session

if TYPE_CHECKING:
    from workbench.results import Run

TOLD = ("fate", "reason", "fix_setting", "fix_value")


def rows(run: Run) -> pd.DataFrame:
    """The table of `Run.rows`."""
    return _tables.stack([pd.concat([_tables.plain_rows(run, side), run.story.told[side]], axis=1) for side in SIDES])


def some(run: Run, asked: dict[str, Micros]) -> pd.DataFrame:
    """The table of `Run.tell`, its index that of `Run.rows`."""
    story = Story(run, asked)
    parts = []
    for side in SIDES:
        plain = _tables.plain_rows(run, side, asked[side])
        parts.append(pd.concat([plain, story.told[side].reset_index(drop=True)], axis=1))
    table = _tables.stack(parts)
    return table.set_axis(np.concatenate([asked["left"], len(run.left) + asked["right"]]), axis=0)


class Story:
    """Each row's fate and reason.

    Parameters
    ----------
    run
        The run.
    asked
        Per side the rows to tell of, in order; None: all.

    Attributes
    ----------
    fixes
        The best fix of each row that has one, as `workbench.fixes.fixes` gives them, by (side, row).
    """

    def __init__(self, run: Run, asked: dict[str, Micros] | None = None) -> None:
        # not the run itself: it holds this story, and its folder goes when nobody holds the run
        self.join, self.policy = run.join, run.policy
        self.streams = dict(zip(SIDES, (run.left, run.right), strict=True))
        self.outcome = run.outcome
        self.marks = self.outcome.marks
        self.fates = run.fates
        self.words = Words(run, whole=asked is None)
        self.asked = {side: np.arange(len(run.side(side))) for side in SIDES} if asked is None else asked
        found = fixes.fixes(run.join, (run.left, run.right), run.finish, run.policy, self.outcome, asked)
        best = found.drop_duplicates(["side", "row"])
        self.fixes = {(each.side, each.row): each for each in best.itertuples(index=False)}

    @cached_property
    def told(self) -> dict[str, pd.DataFrame]:
        """Per side a frame with `TOLD`, one row for each that is asked for, its index their numbers."""
        return {side: self._side(side) for side in SIDES}

    def _side(self, side: str) -> pd.DataFrame:
        asked = self.asked[side]
        copies = self.outcome.copies[side]
        fates = self.fates[side]["fate"].to_numpy()
        tally = {name: self.fates[side][name].to_numpy() for name in ("all", "late", "matched")}
        matched = asked[fates[asked] == "matched"]
        reason = dict(zip(matched.tolist(), self._matched(side, matched, tally), strict=True))
        lost = copies[copies["late"]]
        lost = lost[np.isin(lost["row"], asked)].drop_duplicates("row", keep="last").set_index("row")
        partners = self._partners(side)
        for each in asked[fates[asked] != "matched"].tolist():
            match fates[each]:
                case "null_key":
                    reason[each] = self._keyless(side, each)
                case "late":
                    reason[each] = self._late(side, each, lost.loc[each], bool(partners[each]))
                case "pending":
                    reason[each] = self._pending(side, each)
                case _:
                    reason[each] = self._unmatched(side, each, tally, bool(partners[each]))
        numbers = asked.tolist()
        mine = [self.fixes.get((side, row)) for row in numbers]
        told = {
            "fate": fates[asked],
            "reason": [reason[row] for row in numbers],
            "fix_setting": [each and each.setting for each in mine],
            "fix_value": [each and fix_value(each.setting, each.value) for each in mine],
        }
        return pd.DataFrame({name: pd.Series(values, index=asked, dtype=object) for name, values in told.items()})

    @cached_property
    def _times(self) -> dict[str, Micros]:
        return {side: self.streams[side].event_times for side in SIDES}

    def met(self, left: int, right: int) -> bool:
        """Whether a left and a right row came out together."""
        if isinstance(self.join, CoGroup):
            groups = [
                each.loc[each["matched"], "group"] for each in (self.copies("left", left), self.copies("right", right))
            ]
            return bool(np.isin(*groups).any())
        pairs = self.outcome.pairs
        return bool(((pairs["left"] == left) & (pairs["right"] == right)).any())

    def copies(self, side: str, row: int) -> pd.DataFrame:
        """A row's copies in windows."""
        copies = self.outcome.copies[side]
        return copies.iloc[slice(*np.searchsorted(copies["row"], [row, row + 1]))]

    def _partners(self, side: str) -> np.ndarray[Any, Any]:
        """Whether a row's key is on the other side."""
        mine, other = self.outcome.keys if side == "left" else self.outcome.keys[::-1]
        return np.isin(mine, other[other >= 0])

    def _matched(self, side: str, chosen: Micros, tally: dict[str, Micros]) -> list[str]:
        other = self.words.names[1 - SIDES.index(side)]
        copies = self.outcome.copies[side]
        met = copies[copies["matched"]]
        met = met[np.isin(met["row"], chosen)]
        if isinstance(self.join, CoGroup):
            groups = self.outcome.groups
            size = groups[SIDES[1 - SIDES.index(side)]].to_numpy()[met["group"]]
            batch = groups["batch"].to_numpy()[met["group"]]
            found = pd.DataFrame({"row": met["row"].to_numpy(), "size": size, "batch": batch})
        else:
            pairs = self.outcome.pairs.loc[np.isin(self.outcome.pairs[side], chosen), [*SIDES, "batch"]]
            pairs = pairs.sort_values("batch").drop_duplicates(list(SIDES))
            found = pairs.rename(columns={side: "row"}).assign(size=1)
        found = found.groupby("row").agg(size=("size", "sum"), batch=("batch", "min")).reindex(chosen)
        late, every = tally["late"][chosen], tally["all"][chosen]
        once = "in a group with" if isinstance(self.join, CoGroup) else "joined with"
        told = []
        for size, batch, gone, windows in zip(found["size"], found["batch"], late, every, strict=True):
            words = f"{once} {_count(int(size), 'row')} of {other}, first in micro-batch {int(batch)}"
            told.append(words + (f"; it was late for {gone} of its {windows} windows" if gone else ""))
        return told

    def _keyless(self, side: str, row: int) -> str:
        padded = self._padded.get((side, row))
        shown = f"; it comes out with nulls for the other side, in micro-batch {padded}" if padded is not None else ""
        return f"its key is null, and a null key equals nothing{shown}"

    @cached_property
    def _padded(self) -> dict[tuple[str, int], int]:
        padded = self.outcome.padded
        mine = [(padded["side"] == side) & np.isin(padded["row"], self.asked[side]) for side in SIDES]
        padded = padded[mine[0] | mine[1]]
        return dict(zip(zip(padded["side"], padded["row"], strict=True), padded["batch"], strict=True))

    def _late(self, side: str, row: int, copy: Any, partners: bool) -> str:
        mark, end = int(copy["watermark"]), int(copy["end"])
        if mark == 0:
            return "late: Spark starts every watermark at 1970-01-01, and drops what is at or before it"
        behind = f"by {self.words.span(mark - end)}" if mark > end else "exactly at the watermark"
        what = "it" if isinstance(self.join, IntervalJoin) else "its last window"
        when = f"it arrived in micro-batch {int(copy['batch'])}, when the watermark stood at {self.words.moment(mark)}"
        if what != "it":
            when = (
                f"its {'window' if self._one_window else 'last window'} ended at {self.words.moment(end)}, and {when}"
            )
        return f"late {behind}: {when}; {self._would_keep(side, row, copy, partners)}"

    @property
    def _one_window(self) -> bool:
        join = self.join
        return isinstance(join, IntervalJoin) or not hasattr(join.window, "slide")

    def _would_keep(self, side: str, row: int, copy: Any, partners: bool) -> str:
        index, end = np.array([int(copy["batch"]) - 1]), np.array([int(copy["end"])])
        found = []
        for setting in SIDES:
            value = int(fixes.needed_delay(self.marks, self.policy, setting, index, end)[0])
            delay = times.micros(self.streams[setting].watermark)
            if 0 < value < fixes.NEVER:
                found.append((value - delay, value, f"{setting}.watermark"))
        fix = self.fixes.get((side, row))
        met = fix and self.words.label(_other(side), int(fix.partner))
        if not found:
            kept = "no single watermark delay would have kept it: both sides' watermarks had passed it"
            return f"{kept}; with {self._changed(fix)} it would have met {met}" if fix else kept
        _, value, setting = min(found)
        kept = f"{self.words.setting(setting, fix_value(setting, value))} would have kept it"
        if fix is None:
            why = "in reach" if partners else f"to meet: {self._never_came(side, row)}"
            return f"{kept}, though it has no partner {why}"
        if (fix.setting, fix.value) == (setting, value):
            return f"{kept}, and matched it with {met}"
        return f"{kept}; with {self._changed(fix)} it would have met {met}"

    def _changed(self, fix: Any) -> str:
        return self.words.setting(fix.setting, fix_value(fix.setting, fix.value))

    def _never_came(self, side: str, row: int) -> str:
        return f"key {self.words.key(side, row)} never came on {self.words.names[1 - SIDES.index(side)]}"

    def _pending(self, side: str, row: int) -> str:
        mine = self.copies(side, row)
        mine = mine[(mine["leaves"] >= len(self.marks)) & ~mine["late"]]
        end = int(mine["end"].iloc[0])
        join = self.join
        if isinstance(join, IntervalJoin):
            wait = times.micros(join.upper) if side == "left" else -times.micros(join.lower)
            other = self.words.names[1 - SIDES.index(side)]
            until = f"rows of {other} until {self.words.moment(end + wait)} could still match it"
        elif int(mine["group"].iloc[0]) >= 0:
            end = int(self.outcome.groups["end"].iloc[int(mine["group"].iloc[0])])
            what = "session" if isinstance(join.window, Session) else "window"
            until = f"its {what} ends at {self.words.moment(end)}"
        else:
            until = f"its window ends at {self.words.moment(end)}"
        stands = self.words.moment(int(self.marks.eviction[-1]))
        return f"waiting: {until}, the watermark stands at {stands}{self._held_back()}"

    def _held_back(self) -> str:
        own = {side: int(self.marks.own[side][-1]) for side in SIDES}
        if own["left"] == own["right"]:
            return ""
        side = min(own, key=lambda each: own[each] if self.policy == "min" else -own[each])
        if self.policy == "max":
            return f" and follows {self.words.names[SIDES.index(side)]}"
        idle = self._idle_since(side)
        since = f", idle since micro-batch {idle}" if idle is not None else ""
        return f" and is held back by {self.words.names[SIDES.index(side)]}{since}"

    def _idle_since(self, side: str) -> int | None:
        """The first micro-batch of data from which on a side has sent nothing; None if the last has some of it."""
        data = self.marks.kinds.count(DATA)
        arrival = self.streams[side].arrival
        since = int(arrival[-1]) + 1 if len(arrival) else 0
        return since if since < data else None

    def _unmatched(self, side: str, row: int, tally: dict[str, Micros], partners: bool) -> str:
        tail = f"; it comes out padded in micro-batch {self._padded[side, row]}" if (side, row) in self._padded else ""
        if not tally["all"][row]:
            gap = "it lies in the gap between two windows, and in none of them"
            return gap + self._nearest(side, row, "; ")
        if not partners:
            return f"no partner: {self._never_came(side, row)}{tail}"
        partly = (
            f"; it was late for {tally['late'][row]} of its {tally['all'][row]} windows" if tally["late"][row] else ""
        )
        return f"{self._nearest(side, row, '') or 'no partner on time in reach'}{partly}{tail}"

    def _nearest(self, side: str, row: int, lead: str) -> str:
        fix = self.fixes.get((side, row))
        if fix is None:
            return ""
        other = _other(side)
        partner = int(fix.partner)
        name = self.words.label(other, partner)
        distance = abs(int(self._times[side][row]) - int(self._times[other][partner]))
        changed = self._changed(fix)
        near = f"near miss: the nearest partner is {name}, {self.words.span(distance)} away"
        match fix.setting:
            case "finish":
                return f"{lead}its partner {name} waits with it"
            case "left.watermark" | "right.watermark":
                return f"{lead}{self._dropped_partner(side, row, partner, name)}; {changed} would have kept the two"
            case "lower" | "upper":
                beyond = self.words.span(int(fix.change))
                join = self.join
                assert isinstance(join, IntervalJoin)  # noqa: S101 - narrows the type
                width = times.micros(join.upper) - times.micros(join.lower)
                how = "near miss" if int(fix.change) <= max(width, 1_000_000) else "no partner in reach"
                return f"{lead}{how}: the nearest partner is {name}, {beyond} beyond the {fix.setting} bound"
            case "gap":
                return f"{lead}{near}; {changed} would make it one session"
            case _:
                return f"{lead}{near}, in another window; {changed} would hold both"

    def _dropped_partner(self, side: str, row: int, partner: int, name: str) -> str:
        if self.copies(_other(side), partner)["late"].any():
            return f"its partner {name} came too late and was dropped"
        if self.copies(side, row)["late"].any():
            return f"it came too late for the window it shares with {name}"
        if isinstance(self.join, IntervalJoin) or not isinstance(self.join.window, Session):
            return (
                f"its partner {name} came in the same micro-batch, when the watermark had passed both: "
                "Spark's semi join keeps no such row"
            )
        return f"its partner {name} came when the session had closed"


def _other(side: str) -> str:
    return SIDES[1 - SIDES.index(side)]


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def fix_value(setting: str, value: float) -> str | bool:
    """A fix's value as the setting takes it: a time span as text, or True."""
    return True if setting == "finish" else times.text(timedelta(microseconds=int(value)))
