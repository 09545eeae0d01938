"""What became of every input row, and why, in words with the figures in them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from workbench import fixes, times
from workbench.counts import counted
from workbench.joins import emission
from workbench.kinds import MS, NearMiss, kind_of
from workbench.literals import DELAYS, SIDES, RowId, Setting, Side, other_side
from workbench.model import DATA, Ahead, Condition, Micros, Simulation
from workbench.reasons import firings, partners, tables
from workbench.reasons.labels import Labels, fix_value
from workbench.reasons.own import Fix, RowReasons, own_reasons
from workbench.streams import batches_with_rows

__all__ = ["EXPLANATION", "Reasons", "rows", "some"]

EXPLANATION = ("fate", "reason", "fix_setting", "fix_value")


def rows(simulation: Simulation, reasons: Reasons) -> pd.DataFrame:
    """The table of `Run.rows`."""
    plain = {side: tables.plain_rows(simulation, side) for side in SIDES}
    return tables.stack([pd.concat([plain[side], reasons.table[side]], axis=1) for side in SIDES])


def some(simulation: Simulation, asked: dict[Side, Micros]) -> pd.DataFrame:
    """The table of `Run.explain`, its index that of `Run.rows`."""
    reasons = Reasons(simulation, asked)
    parts = []
    for side in SIDES:
        plain = tables.plain_rows(simulation, side, asked[side])
        parts.append(pd.concat([plain, reasons.table[side].reset_index(drop=True)], axis=1))
    table = tables.stack(parts)
    return table.set_axis(np.concatenate([asked["left"], len(simulation.left) + asked["right"]]), axis=0)


class Reasons:
    """Each row's fate and reason.

    Parameters
    ----------
    simulation
        The run.
    asked
        Per side the rows to explain, in order; None: all.

    Attributes
    ----------
    fixes
        The best fix of each row that has one, as `workbench.fixes.fixes` gives them, by `RowId`.
    """

    def __init__(self, simulation: Simulation, asked: dict[Side, Micros] | None = None) -> None:
        self.join, self.kind, self.policy = simulation.join, kind_of(simulation.join), simulation.policy
        self.streams = dict(zip(SIDES, (simulation.left, simulation.right), strict=True))
        self.outcome = simulation.outcome
        self.marks, self.first = self.outcome.marks, simulation.first
        self.fates = simulation.fates
        self.labels = Labels(simulation, whole=asked is None)
        self.simulation = simulation
        self.asked = {side: np.arange(len(simulation.side(side))) for side in SIDES} if asked is None else asked
        found = fixes.fixes(simulation, asked)
        best = found.drop_duplicates(["side", "row"])
        self.fixes = {RowId(each.side, each.row): each for each in best.itertuples(index=False)}

    @cached_property
    def table(self) -> dict[Side, pd.DataFrame]:
        """Per side a frame with `EXPLANATION`, one row for each that is asked for, its index their numbers."""
        return {side: self._side(side) for side in SIDES}

    def _side(self, side: Side) -> pd.DataFrame:
        asked = self.asked[side]
        assignments = self.outcome.assignments[side]
        fates = self.fates[side]["fate"].to_numpy()
        tally = {name: self.fates[side][name].to_numpy() for name in ("all", "late", "matched")}
        matched = asked[fates[asked] == "matched"]
        reason = dict(zip(matched.tolist(), self._matched(side, matched, tally), strict=True))
        lost = assignments[assignments["late"]]
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
        mine = [self.fixes.get(RowId(side, row)) for row in numbers]
        columns = {
            "fate": fates[asked],
            "reason": [reason[row] for row in numbers],
            "fix_setting": [each and each.setting for each in mine],
            "fix_value": [each and fix_value(each.setting, each.value) for each in mine],
        }
        return pd.DataFrame({name: pd.Series(values, index=asked, dtype=object) for name, values in columns.items()})

    @cached_property
    def _times(self) -> dict[Side, Micros]:
        return {side: self.streams[side].event_times for side in SIDES}

    def met(self, left: int, right: int) -> bool:
        """Whether a left and a right row came out together."""
        table = self.outcome.outputs.table
        outputs = []
        for side, row in zip(SIDES, (left, right), strict=True):
            members = self.outcome.outputs.of(side)
            outputs.append(members["output"].to_numpy()[(members["row"] == row).to_numpy()])
        return bool(table["matched"].to_numpy()[np.intersect1d(*outputs)].any())

    def assignments(self, side: Side, row: int) -> pd.DataFrame:
        """A row's assignments in windows."""
        assignments = self.outcome.assignments[side]
        return assignments.iloc[slice(*np.searchsorted(assignments["row"], [row, row + 1]))]

    @property
    def _where(self) -> Condition | None:
        """What the join asks for beside equal keys and times; None: nothing."""
        return self.simulation.where

    @cached_property
    def _own(self) -> RowReasons:
        """What the kind of join says itself."""
        return own_reasons(self.simulation, self.labels, self.keeps)

    @cached_property
    def _filtered(self) -> dict[Side, Any]:
        """Which rows the filters of a job leave out."""
        return {side: partners.left_out(self.simulation, side) for side in SIDES}

    @cached_property
    def _keys_across(self) -> dict[Side, Any]:
        return {side: partners.keys_across(self.simulation, side) for side in SIDES}

    def _partners(self, side: Side) -> np.ndarray[Any, Any]:
        """Whether a row's key came to the join on the other side."""
        came: np.ndarray[Any, Any] = self._keys_across[side] == partners.CAME
        return came

    def _met(self, side: Side, chosen: Micros) -> pd.DataFrame:
        """Of each output in which rows have met others: ``row``, ``size`` (how many rows it met), ``batch``."""
        outputs, asked = self.outcome.outputs, np.zeros(len(self.streams[side]), dtype=bool)
        asked[chosen] = True
        members = outputs.of(side)
        members = members[asked[members["row"]]]
        output = members["output"].to_numpy()
        other = other_side(side)
        table = pd.DataFrame({"row": members["row"].to_numpy(), "batch": outputs.table["batch"].to_numpy()[output]})
        table["size"] = outputs.counts(other)[output]
        if not self.kind.grouped:  # a partner in several windows counts once
            table["partner"] = outputs.first(other)[output]
        table["start"] = outputs.table["start"].to_numpy()[output] if not self.kind.merging else 0
        table = table[outputs.table["matched"].to_numpy()[output]]
        if self.simulation.flink is not None and self.kind.grouped:  # the last firing of a window has all of its rows
            first = table.groupby(["row", "start"])["batch"].transform("min")
            return table.assign(batch=first).drop_duplicates(["row", "start"], keep="last")
        return table if self.kind.grouped else table.sort_values("batch").drop_duplicates(["row", "partner"])

    def _matched(self, side: Side, chosen: Micros, tally: dict[str, Micros]) -> list[str]:
        other = self.labels.names[1 - SIDES.index(side)]
        batches = self.first + self.fates[side]["decided_in"].to_numpy()[chosen]
        own = [
            self._own.matched(side, row, batch) for row, batch in zip(chosen.tolist(), batches.tolist(), strict=True)
        ]
        if own and all(own):
            return own
        found = self._met(side, chosen)
        found = found.groupby("row").agg(size=("size", "sum"), batch=("batch", "min")).reindex(chosen)
        late, every = tally["late"][chosen], tally["all"][chosen]
        once = "in a group with" if self.kind.grouped else "joined with"
        reasons = []
        for row, size, batch, gone, windows in zip(chosen, found["size"], found["batch"], late, every, strict=True):
            if np.isnan(size):  # of a job, whose state only says that it met some
                reasons.append(
                    f"joined before micro-batch {self.first + 1}, with rows of {other} that are no longer known"
                )
                continue
            words = f"{once} {counted(int(size), 'row')} of {other}, first in micro-batch {self.first + int(batch)}"
            words += f"; it was late for {gone} of its {windows} windows" if gone else ""
            if self.simulation.flink is not None:
                padded = self._padded.get(RowId(side, row))
                if padded is not None and windows == 1 and padded < self.first + int(batch):
                    words += f"; before, it came out padded in micro-batch {padded}"
                words += self._fired_again(side, row)
            reasons.append(words)
        return [mine or shared for mine, shared in zip(own, reasons, strict=True)]

    def _fired_again(self, side: Side, row: int) -> str:
        """How often a row came out again under Flink's rules, and in which micro-batches; nothing where it did not."""
        batches = self._again[side].get(row, [])
        if not batches:
            return ""
        each = list(dict.fromkeys(batches))
        times = f" {len(batches)} times" if len(batches) > len(each) else ""
        where = f"micro-batch{'es' * (len(each) > 1)} {', '.join(map(str, each))}"
        return f"; its {self.kind.window_noun} fired again{times}, in {where}"

    @cached_property
    def _again(self) -> dict[Side, dict[int, list[int]]]:
        if self.simulation.flink is None:
            return {side: {} for side in SIDES}
        return {side: firings.again(self.simulation, side, self.asked[side]) for side in SIDES}

    def _keyless(self, side: Side, row: int) -> str:
        shown = self._alone(side, row, "with nulls for the other side, ")
        return f"its key is null, and a null key equals nothing{shown}"

    def _alone(self, side: Side, row: int, how: str) -> str:
        """When a row comes out without a partner, if it does; `how` is said where nulls stand beside it."""
        batch = self._padded.get(RowId(side, row))
        beside = how if len(emission(self.join).sides) == len(SIDES) else ""
        return "" if batch is None else f"; it comes out {beside}in micro-batch {batch}{self._fired_again(side, row)}"

    @cached_property
    def _padded(self) -> dict[RowId, int]:
        found: dict[RowId, int] = {}
        table = self.outcome.outputs.table
        for side in emission(self.join).padded:
            mine = self.outcome.outputs.of(side)
            mine = mine[~table["matched"].to_numpy()[mine["output"]] & np.isin(mine["row"], self.asked[side])]
            for row, output in zip(mine["row"].tolist(), mine["output"].tolist(), strict=True):
                batch = self.first + int(table["batch"].iloc[output])
                found[RowId(side, row)] = min(batch, found.get(RowId(side, row), batch))
        return found

    def _late(self, side: Side, row: int, assignment: Any, partners: bool) -> str:
        mark, end = int(assignment["watermark"]), int(assignment["end"])
        if self.simulation.flink is not None:
            return self._late_in_flink(side, row, assignment, partners)
        if mark == 0:
            return "late: Spark starts every watermark at 1970-01-01, and drops what is at or before it"
        behind = f"by {self.labels.span(mark - end)}" if mark > end else "exactly at the watermark"
        window = self.kind.window_word(self.join)
        batch, stood = self.first + int(assignment["batch"]), self.labels.moment(mark)
        when = f"it arrived in micro-batch {batch}, when the watermark stood at {stood}"
        if window:
            when = f"its {window} ended at {self.labels.moment(end)}, and {when}"
        return (
            f"late {behind}: {when}; {self._because(assignment) or self._would_keep(side, row, assignment, partners)}"
        )

    def _because(self, assignment: Any) -> str:
        """What else than a short delay made a row late: a few rows far ahead, or the policy; empty: the delay did."""
        batch, end = int(assignment["batch"]), int(assignment["end"])
        ahead, without = self.simulation.ahead, self.simulation.late_without_ahead
        if ahead is not None and batch < len(without) and end > int(without[batch]):
            it = "it" if sum(map(len, ahead.rows.values())) == 1 else "them"
            return f"{self._named_ahead(ahead)} moved the watermark: without {it} this row is on time"
        if self.policy == "max" and end > int(self.marks.late_by_slower[batch]):
            return "the watermark follows the faster side (policy max): with policy min this row is on time"
        return ""

    def _named_ahead(self, ahead: Ahead) -> str:
        named = [self.labels.label(side, int(row)) for side in SIDES for row in ahead.rows[side][:2]]
        more = sum(map(len, ahead.rows.values())) - len(named)
        words = " and ".join(named) if not more else f"{', '.join(named)} and {counted(more, 'more row')}"
        return f"{words}, {self.labels.span(ahead.gap)} ahead of every other row,"

    def _late_in_flink(self, side: Side, row: int, assignment: Any, partners: bool) -> str:
        mark, behind = int(assignment["watermark"]), int(assignment["watermark"] - assignment["kept_until"])
        batch, stood = self.first + int(assignment["batch"]), self.labels.moment(mark)
        came = f"it arrived in micro-batch {batch}, when the watermark stood at {stood}"
        rules = self.simulation.flink
        if not self.kind.windowed:
            words = f"late by {self.labels.span(behind + MS)}: {came}, and an interval join drops what is behind it"
        else:
            by = f"by {self.labels.span(behind)}" if behind else "by less than a millisecond"
            lateness = rules.allowed_lateness if rules is not None else 0
            allowed = f", {self.labels.span(lateness)} of lateness were allowed" if lateness else ""
            ended = f"its {self.kind.window_word(self.join)} ended at {self.labels.moment(int(assignment['end']))}"
            words = f"late {by}: {ended}{allowed}, and {came}"
        return f"{words}; it goes to the side output; {self._would_keep(side, row, assignment, partners)}"

    def keeps(self, of: RowId) -> tuple[Setting, str] | None:
        """The least change of one watermark delay that keeps a late row, with a partner or without."""
        late = self.assignments(*of)
        late = late[late["late"]]
        found = None if late.empty or self._has_idle_sides else self._kept_by(late.iloc[-1])
        return found and (found[0], str(fix_value(*found)))

    def _kept_by(self, assignment: Any) -> tuple[Setting, int] | None:
        """The setting and its value, in microseconds, of the least change of a delay that keeps a late assignment."""
        until = assignment["kept_until" if "kept_until" in assignment else "end"]
        index, end = np.array([int(assignment["batch"]) - 1]), np.array([int(until)])
        found = []
        for delayed in SIDES:
            value = int(fixes.needed_delay(self.marks, self.policy, delayed, index, end)[0])
            delay = times.micros(self.streams[delayed].watermark)
            if 0 < value < fixes.NEVER:
                found.append((value - delay, value, DELAYS[delayed]))
        if not found:
            return None
        _, value, setting = min(found)
        return setting, value

    def _would_keep(self, side: Side, row: int, assignment: Any, partners: bool) -> str:
        found = self._kept_by(assignment)
        fix = self.fixes.get(RowId(side, row))
        then, brought = self._own.would(side, fix) if fix else ("", "")
        if self._has_idle_sides:
            return f"with {self._changed(fix)} {then}" if fix else "no setting that was tried matches it"
        if found is None:
            kept = "no single watermark delay would have kept it: both sides' watermarks had passed it"
            return f"{kept}; with {self._changed(fix)} {then}" if fix else kept
        setting, value = found
        kept = f"{self.labels.setting(setting, fix_value(setting, value))} would have kept it"
        if fix is None:
            if in_vain := self._own.in_vain(side, row, partners):
                return f"{kept}, {in_vain}"
            why = "in reach" if partners else f"to meet: {self._never_came(side, row)}"
            return f"{kept}, though it has no partner {why}"
        if (fix.setting, fix.value) == (setting, value):
            return f"{kept}, and {brought}"
        return f"{kept}; with {self._changed(fix)} {then}"

    @property
    def _has_idle_sides(self) -> bool:
        """Whether a side may hold nothing back, so that what a longer delay keeps has to be tried."""
        rules = self.simulation.flink
        return rules is not None and rules.idle is not None

    def _changed(self, fix: Fix) -> str:
        return self.labels.changed(fix.setting, fix.value)

    def _never_came(self, side: Side, row: int) -> str:
        key, other = f"key {self.labels.key(side, row)}", self.labels.names[1 - SIDES.index(side)]
        match self._keys_across[side][row]:
            case partners.LEFT_OUT:
                return f"{key} came on {other} only in rows that {self._taken_out(other_side(side), side, row)}"
            case partners.UNTIMED:
                how = self.simulation.facts.untimed[other_side(side)][self.labels.key(side, row)]
                return f"{key} came on {other} {how}, and such a row is not followed"
        return f"{key} never came on {other}"

    def _taken_out(self, other: Side, side: Side, row: int) -> str:
        """What took out the rows of a row's key on the other side: "the filter (amount > 20) takes out"."""
        gone = self.simulation.facts.gone
        codes = dict(zip(SIDES, self.outcome.keys, strict=True))
        mates = np.flatnonzero(codes[other] == codes[side][row])
        if gone is None or not len(mates) or gone[other].at[mates[0]] < 0:
            return "the job's filters take out"
        return f"{gone[other].steps[gone[other].at[mates[0]]]} takes out"

    def _pending(self, side: Side, row: int) -> str:
        mine = self.assignments(side, row)
        mine = mine[((mine["evicted_in"] >= len(self.marks)) | mine.get("waits", False)) & ~mine["late"]]
        end = int(mine["end"].iloc[0])
        if (group := int(mine["group"].iloc[0])) >= 0:
            end = int(self.outcome.groups["end"].iloc[group])
        other = self.labels.names[1 - SIDES.index(side)]
        until = self._own.pending(side, row) or self.kind.waits_until(self.join, side, other, end, self.labels.moment)
        if not self.kind.drops_late:
            return f"waiting: {until}"
        mark = int(self.marks.eviction[-1])
        if side in self._never_evicted and end + self.kind.waits(self.join, side) <= mark:
            name = self.labels.names[SIDES.index(side)]
            return (
                f"in state for ever, as Spark derives no watermark for the state of {name} from the condition: "
                f"{until}, and the watermark has passed that, at {self.labels.moment(mark)}"
            )
        stands = f"the watermark stands at {self.labels.moment(mark)}" if mark else "there is no watermark yet"
        return f"waiting: {until}, {stands}{self._held_back()}"

    @cached_property
    def _never_evicted(self) -> frozenset[Side]:
        """The sides for whose state Spark derives no watermark."""
        retention = self.simulation.facts.under(self.join).retention
        return frozenset() if retention is None else frozenset(SIDES) - retention.keys()

    def _held_back(self) -> str:
        forgotten = self.simulation.forgotten
        if forgotten is not None and self.policy == "min":
            name = self.labels.names[SIDES.index(forgotten)]
            return f" and is held back by {name}, of which no row has come since the query was started again"
        own = {side: int(self.marks.own[side][-1]) for side in SIDES}
        if own["left"] == own["right"]:
            return ""
        side = min(own, key=lambda each: own[each] if self.policy == "min" else -own[each])
        name = self.labels.names[SIDES.index(side)]
        if self.policy == "max":
            return f" and follows {name}"
        idle = self._idle_since(side)
        since = f", idle since micro-batch {self.first + idle}" if idle is not None else ""
        return f" and is held back by {name}{since}"

    def _idle_since(self, side: Side) -> int | None:
        """The first micro-batch of data from which on a side has sent nothing; None if the last has some of it."""
        ends = {}
        for each, stream in self.streams.items():
            came = batches_with_rows(stream)
            ends[each] = int(came[-1]) + 1 if len(came) else 0
        # Spark adds micro-batches without data, in which nobody could have sent anything
        data = min(self.marks.kinds.count(DATA), max(ends.values()))
        return ends[side] if ends[side] < data else None

    def _unmatched(self, side: Side, row: int, tally: dict[str, Micros], partners: bool) -> str:
        tail = self._alone(side, row, "padded ")
        if self._filtered[side][row]:
            gone = self.simulation.facts.gone
            if gone is None or gone[side].at[row] < 0:
                return "the job's filters leave it out, before it reaches the join"
            return f"{gone[side].steps[gone[side].at[row]]} takes it out, before it reaches the join"
        fix = self.fixes.get(RowId(side, row))
        if own := self._own.unmatched(side, row, partners, fix):
            return own
        refused = int(self.simulation.refused[side][row])
        if refused and self._where is not None:
            found = f"{counted(refused, 'row')} of {self.labels.names[1 - SIDES.index(side)]} in reach"
            return f"{found}, and none with which it satisfies {self._where.text}{tail}"
        if not tally["all"][row]:
            gap = "it lies in the gap between two windows, and in none of them"
            return gap + self._nearest(side, row, "; ")
        if not partners:
            return f"no partner: {self._never_came(side, row)}{tail}"
        partly = (
            f"; it was late for {tally['late'][row]} of its {tally['all'][row]} windows" if tally["late"][row] else ""
        )
        other = self.labels.names[1 - SIDES.index(side)]
        near = self._own.alone(side, row, self._nearest(side, row, ""), fix)
        return f"{near or self.kind.alone(self.join, side, other)}{partly}{tail}"

    def _nearest(self, side: Side, row: int, lead: str) -> str:
        fix = self.fixes.get(RowId(side, row))
        if fix is None:
            return ""
        other = other_side(side)
        partner = int(fix.partner)
        name = self.labels.label(other, partner)
        distance = abs(int(self._times[side][row]) - int(self._times[other][partner]))
        changed = self._changed(fix)
        match fix.setting:
            case "finish":
                return f"{lead}its partner {name} waits with it"
            case "left.watermark" | "right.watermark":
                return f"{lead}{self._dropped_partner(side, row, partner, name)}; {changed} would have kept the two"
        change, span = int(fix.change), self.labels.span
        miss = NearMiss(side, fix.setting, change, name, span(distance), span(change), changed)
        return f"{lead}{self.kind.near_miss(self.join, miss)}"

    def _dropped_partner(self, side: Side, row: int, partner: int, name: str) -> str:
        if self.assignments(other_side(side), partner)["late"].any():
            return f"its partner {name} came too late and was dropped"
        if self.assignments(side, row)["late"].any():
            return f"it came too late for the window it shares with {name}"
        if not self.kind.merging and self.simulation.flink is not None:
            return f"when the later of it and its partner {name} came, the other had left state"
        if not self.kind.merging:
            return (
                f"its partner {name} came in the same micro-batch, in which the watermark passed it: "
                "Spark's semi join keeps no such row"
            )
        return f"its partner {name} came when the session had closed"
