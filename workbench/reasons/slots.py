"""The facts that fill the sentences of verdicts: a slot of a template is a method of `SentenceSlots`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from string import Formatter
from typing import Any, ClassVar, Protocol, cast

import numpy as np
import pandas as pd

from workbench import fixes, schema, times, verdicts
from workbench.arrays import Objects, RowNumbers, Texts, Times
from workbench.counts import counted
from workbench.joins import emission
from workbench.kinds import AGGREGATION, HASH_JOIN, MS, kind_of
from workbench.literals import DELAYS, SIDES, RowId, Setting, Side, Sides, other_side
from workbench.model import DATA, Simulation
from workbench.reasons import firings, partners
from workbench.reasons.judging import Judging, judge, judged_late, last_watermark, late_because, leaves_behind, waiting
from workbench.reasons.labels import Labels, fix_value
from workbench.streams import batches_with_rows
from workbench.untyped import Record, Value
from workbench.verdicts import Removal, SharedVerdict, Verdict

__all__ = ["COLUMNS", "Fix", "SentenceSlots"]


_KEPT_BOTH: dict[Verdict | None, str] = {
    SharedVerdict.LATE_BY_POLICY: verdicts.KEPT_BOTH_BY_POLICY,
    SharedVerdict.LATE_BEHIND_ROWS_AHEAD: verdicts.KEPT_BOTH_WITHOUT_AHEAD,
}
"""What is told of a row and its partner, one of which was late for another cause than a short delay."""


def _directions(apart: Times) -> Texts:
    """Where partners lie that are so far apart; of one at the same time, or none, nothing is known."""
    found = np.full(len(apart), "other", dtype=object)
    found[(apart < 0) & (apart != partners.FAR)] = "earlier"
    found[apart > 0] = "later"
    return found


class Fix(Protocol):
    """The best change of one setting that would match a row; see `workbench.fixes.fixes`."""

    setting: Setting
    value: float
    change: float
    partner: float


class _OfRow:
    """The slots of one row's sentence."""

    def __init__(self, sentences: SentenceSlots, side: Side, row: int) -> None:
        self._of = sentences, side, row

    def __getitem__(self, slot: str) -> str:
        sentences, side, row = self._of
        words: str = getattr(sentences, slot)(side, row)
        return words


class SentenceSlots:
    """The verdict of some rows of a run, and the sentences that tell it.

    A kind of join with verdicts of its own extends it by the slots that their sentences have. A slot is filled by the
    method of its name, which takes the side and the number of a row, and gives a text.

    Parameters
    ----------
    simulation
        The run.
    asked
        Per side the numbers of the rows, in order; None: all.

    Attributes
    ----------
    labels
        How the rows and times of the run are named.
    """

    would_meet: ClassVar[str] = "it would have matched {partner}"
    """What a fix brings, after "with an upper bound of 9 s"."""
    would_match: ClassVar[str] = "matched it with {partner}"
    """What it brings, after "a watermark delay of 9 s would have kept it, and"."""

    def __init__(self, simulation: Simulation, asked: dict[Side, RowNumbers] | None = None) -> None:
        self.simulation, self.join, self.kind = simulation, simulation.join, kind_of(simulation.join)
        self.outcome, self.watermarks = simulation.outcome, simulation.outcome.marks
        self.labels = Labels(simulation, whole=asked is None)
        self._all = asked is None
        self.asked = {side: np.arange(len(simulation.side(side))) for side in SIDES} if asked is None else asked

    @cached_property
    def verdicts(self) -> dict[Side, Objects]:
        """Per side the verdict of each row that is asked for."""
        settings = {side: found["setting"].reindex(self.asked[side]) for side, found in self._best.items()}
        filled = {side: setting.fillna("").to_numpy() for side, setting in settings.items()}
        return judge(self.simulation, self.judge, self.asked, filled)

    def _verdict(self, side: Side, row: int) -> Verdict:
        """The verdict of a row that is asked for."""
        verdict: Verdict = self.verdicts[side][np.searchsorted(self.asked[side], row)]
        return verdict

    def judge(self, of: Judging) -> None:
        """Replaces verdicts by those of the kind of join."""

    def missed_by(self, rows: RowNumbers) -> pd.DataFrame | None:
        """By how much left rows missed the nearest of what they are compared with: ``row``, ``field``, ``away``.

        None where rows are compared by their keys and times alone.
        """
        return None

    @cached_property
    def _best(self) -> dict[Side, pd.DataFrame]:
        """Per side the best fix of each row that has one, by row."""
        found = fixes.fixes(self.simulation, None if self._all else self.asked).drop_duplicates(["side", "row"])
        return {side: found[found["side"] == side].set_index("row", drop=False) for side in SIDES}

    @cached_property
    def fixes(self) -> dict[RowId, Fix]:
        """The same, by row."""
        every = itertools.chain.from_iterable(found.itertuples(index=False) for found in self._best.values())
        return {RowId(each.side, each.row): cast(Fix, each) for each in every}

    @cached_property
    def table(self) -> dict[Side, pd.DataFrame]:
        """Per side a frame with the last columns of `schema.ROWS`, by the numbers of the rows that are asked for."""
        return {side: self._side(side) for side in SIDES}

    def _side(self, side: Side) -> pd.DataFrame:
        rows = self.asked[side]
        columns = {column.name: COLUMNS[column.name](self, side) for column in schema.ROWS.last}
        return pd.DataFrame({name: pd.Series(values, index=rows, dtype=object) for name, values in columns.items()})

    def fates(self, side: Side) -> Texts:
        """The fate of each row that is asked for."""
        found: Texts = self.simulation.fates[side]["fate"].to_numpy()[self.asked[side]]
        return found

    def reasons(self, side: Side) -> list[str]:
        """The reason of each."""
        judged = zip(self.asked[side].tolist(), self.verdicts[side].tolist(), strict=True)
        return [self.fill(verdict.sentence, side, row) for row, verdict in judged]

    def best(self, side: Side) -> list[Fix | None]:
        """The best fix of each, or None."""
        return [self.fixes.get(RowId(side, row)) for row in self.asked[side].tolist()]

    def causes(self, side: Side) -> Texts:
        """The cause of each row's fate, in a few words that many rows share."""
        found = []
        shared: dict[Verdict, str] = {}
        for row, verdict in zip(self.asked[side].tolist(), self.verdicts[side].tolist(), strict=True):
            words = shared.get(verdict)
            if words is None:
                words = self.fill(verdict.cause, side, row)
                if _slots(verdict.cause) <= _OF_ALL_ROWS:
                    shared[verdict] = words
            found.append(words)
        return np.array(found, dtype=object)

    def obstacles(self, side: Side) -> Texts:
        """What kept each row from a partner, an `Obstacle`; empty for a row that is not unmatched."""
        verdicts, fates = self.verdicts[side], self.fates(side)
        found = np.array([each.obstacle for each in verdicts.tolist()], dtype=object)
        found[fates != "unmatched"] = ""
        apart = np.flatnonzero(found == "distance")
        found[apart] = _directions(self._partner_apart(side, self.asked[side][apart]))
        return found

    def _partner_apart(self, side: Side, rows: RowNumbers) -> Times:
        """Signed time from each row to the partner that a fix would give it, or else to the nearest row of its key."""
        apart = partners.nearest_distance(self.simulation, side, rows)
        partner = self._best[side]["partner"].reindex(rows).to_numpy(dtype=float)
        known = np.flatnonzero(partner >= 0)
        theirs = self.simulation.side(other_side(side)).event_times[partner[known].astype(np.int64)]
        apart[known] = theirs - self.simulation.side(side).event_times[rows[known]]
        return apart

    def fill(self, template: str, side: Side, row: int) -> str:
        """A template with the facts of a row."""
        return template.format_map(_OfRow(self, side, row))

    # Of the streams and the join.

    def name(self, side: Side, row: int) -> str:
        """The name of its stream."""
        return self.labels.names[SIDES.index(side)]

    def other(self, side: Side, row: int) -> str:
        """The name of the other stream."""
        return self.labels.names[1 - SIDES.index(side)]

    def key(self, side: Side, row: int) -> str:
        """Its key."""
        return self.labels.key(side, row)

    def window(self, side: Side, row: int) -> str:
        """What a window is called."""
        return self.kind.window_noun

    def last_window(self, side: Side, row: int) -> str:
        """What a row is late for: its window, or the last of them."""
        return self.kind.window_word(self.join)

    def within_reach(self, side: Side, row: int) -> str:
        """Where its partners are: within the bounds, in its window."""
        return f"in its {self.kind.window_noun}" if self.kind.windowed else "within the bounds"

    def left_name(self, side: Side, row: int) -> str:
        """The name of the left stream."""
        return self.labels.names[0]

    def right_name(self, side: Side, row: int) -> str:
        """The name of the right stream."""
        return self.labels.names[1]

    def policy(self, side: Side, row: int) -> str:
        """Whose watermark the query's is."""
        return self.simulation.policy

    def which(self, side: Side, row: int) -> str:
        """Which of both watermarks that is."""
        return "lower" if self.simulation.policy == "min" else "higher"

    def condition(self, side: Side, row: int) -> str:
        """What the join asks for beside equal keys and times."""
        return "" if self.simulation.where is None else self.simulation.where.text

    # Of its windows, and of what came out.

    def windows(self, side: Side, row: int) -> str:
        """How many windows it is in."""
        return str(self._tally[side]["all"][row])

    def late_windows(self, side: Side, row: int) -> str:
        """For how many of them it was late."""
        return str(self._tally[side]["late"][row])

    @cached_property
    def _tally(self) -> dict[Side, Record]:
        fates = self.simulation.fates
        return {side: {name: fates[side][name].to_numpy() for name in ("all", "late", "decided_in")} for side in SIDES}

    def partly(self, side: Side, row: int) -> str:
        """For how many of its windows it was late, where it was for some."""
        return self.fill(verdicts.PARTLY, side, row) if self._tally[side]["late"][row] else ""

    def rows(self, side: Side, row: int) -> str:
        """How many rows it met."""
        return counted(self._met[side][row][0], "row")

    def batch(self, side: Side, row: int) -> str:
        """The micro-batch in which it first came out with others."""
        return str(self._first_met(side, row))

    def first_known(self, side: Side, row: int) -> str:
        """The first micro-batch of a job whose rows are known."""
        return str(self.simulation.first + 1)

    def _first_met(self, side: Side, row: int) -> int:
        met = self._met[side].get(row)
        return self.simulation.first + int(met[1] if met else self._tally[side]["decided_in"][row])

    @cached_property
    def _met(self) -> dict[Side, dict[int, tuple[int, int]]]:
        """Per side by row how many others it met, and the micro-batch of the first."""
        found: dict[Side, dict[int, tuple[int, int]]] = {}
        for side in SIDES:
            table = self._meetings(side)
            summed = table.groupby("row").agg(size=("size", "sum"), batch=("batch", "min"))
            values = zip(summed["size"].tolist(), summed["batch"].tolist(), strict=True)
            found[side] = dict(zip(summed.index.tolist(), values, strict=True))
        return found

    def _meetings(self, side: Side) -> pd.DataFrame:
        """Of each output in which rows have met others: ``row``, ``size`` (how many rows it met), ``batch``."""
        outputs, asked = self.outcome.outputs, np.zeros(len(self.simulation.side(side)), dtype=bool)
        asked[self.asked[side]] = True
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

    def lost_above(self, side: Side, row: int) -> str:
        """That an aggregation above the join drops pairs of it."""
        return self.fill(verdicts.LOST_ABOVE, side, row) if row in self._lost_above[side] else ""

    def lost_pairs(self, side: Side, row: int) -> str:
        """How many of its pairs are dropped there."""
        lost, met = len(self._lost_above[side][row]), self._met[side][row][0]
        return f"{lost} of its {met} pairs" if met > 1 else "this pair"

    def lost_end(self, side: Side, row: int) -> str:
        """When the window of the first of them ended."""
        return self.labels.moment(self._lost_above[side][row][0][0])

    def lost_mark(self, side: Side, row: int) -> str:
        """The watermark by which that was late."""
        return self.labels.moment(self._lost_above[side][row][0][1])

    def lost_in(self, side: Side, row: int) -> str:
        """The micro-batch in which that pair came out of the join."""
        return str(self.simulation.first + self._lost_above[side][row][0][2])

    @cached_property
    def _lost_above(self) -> dict[Side, dict[int, list[tuple[int, int, int]]]]:
        """Per side by row its pairs that are dropped above: the end of the window, the watermark, the micro-batch."""
        above, outputs = self.simulation.facts.under(self.join).above, self.outcome.outputs
        found: dict[Side, dict[int, list[tuple[int, int, int]]]] = {side: {} for side in SIDES}
        if above is None:
            return found
        rows, batch = outputs.first(above.side), outputs.table["batch"].to_numpy()
        ends = above.ends(self.simulation.side(above.side).event_times[rows])
        lost = outputs.table["matched"].to_numpy() & (rows >= 0) & (ends <= above.late[batch])
        for side, of in found.items():
            for output, row in zip(np.flatnonzero(lost), outputs.first(side)[lost].tolist(), strict=True):
                pair = int(ends[output]), int(above.late[batch[output]]), int(batch[output])
                of.setdefault(row, []).append(pair)
        return found

    def met(self, left: int, right: int) -> bool:
        """Whether a left and a right row came out together."""
        table = self.outcome.outputs.table
        outputs = []
        for side, row in Sides(left, right).items():
            members = self.outcome.outputs.of(side)
            outputs.append(members["output"].to_numpy()[(members["row"] == row).to_numpy()])
        return bool(table["matched"].to_numpy()[np.intersect1d(*outputs)].any())

    def fired(self, side: Side, row: int) -> str:
        """Of a matched row under Flink's rules: that it was written with nulls before, and again after."""
        if self.simulation.flink is None:
            return ""
        padded = self._padded.get(RowId(side, row))
        before = padded is not None and self._tally[side]["all"][row] == 1 and padded < self._first_met(side, row)
        return (self.fill(verdicts.PADDED_BEFORE, side, row) if before else "") + self.fired_again(side, row)

    def fired_again(self, side: Side, row: int) -> str:
        """How often it came out again under Flink's rules, and in which micro-batches; nothing where it did not."""
        return self.fill(verdicts.FIRED_AGAIN, side, row) if self._again[side].get(row) else ""

    def times(self, side: Side, row: int) -> str:
        """How often it came out again, where that was several times in one micro-batch."""
        batches = self._again[side][row]
        return f" {len(batches)} times" if len(batches) > len(set(batches)) else ""

    def micro_batches(self, side: Side, row: int) -> str:
        """The micro-batches in which it came out again."""
        batches = list(dict.fromkeys(self._again[side][row]))
        return f"micro-batch{'es' * (len(batches) > 1)} {', '.join(map(str, batches))}"

    @cached_property
    def _again(self) -> dict[Side, dict[int, list[int]]]:
        if self.simulation.flink is None:
            return {side: {} for side in SIDES}
        return {side: firings.again(self.simulation, side, self.asked[side]) for side in SIDES}

    def padded(self, side: Side, row: int) -> str:
        """When a row without partner comes out, if it does."""
        return "" if RowId(side, row) not in self._padded else self.fill(verdicts.PADDED, side, row)

    def padded_in(self, side: Side, row: int) -> str:
        """The micro-batch in which it comes out without a partner."""
        return str(self._padded[RowId(side, row)])

    def nulls(self, side: Side, row: int) -> str:
        """That it is padded with nulls, where the output has the other side's columns."""
        return "with nulls " if len(emission(self.join).sides) == len(SIDES) else ""

    @cached_property
    def _padded(self) -> dict[RowId, int]:
        found: dict[RowId, int] = {}
        table = self.outcome.outputs.table
        for side in emission(self.join).padded:
            mine = self.outcome.outputs.of(side)
            mine = mine[~table["matched"].to_numpy()[mine["output"]] & np.isin(mine["row"], self.asked[side])]
            for row, output in zip(mine["row"].tolist(), mine["output"].tolist(), strict=True):
                batch = self.simulation.first + int(table["batch"].iloc[output])
                found[RowId(side, row)] = min(batch, found.get(RowId(side, row), batch))
        return found

    # Of late rows.

    @cached_property
    def _lost(self) -> dict[Side, dict[int, Any]]:
        """Per side by row the assignment that each late row is judged by."""
        found = {}
        for side in SIDES:
            late = judged_late(self.outcome, side, self.asked[side])
            found[side] = dict(zip(late.index.tolist(), late.itertuples(index=False), strict=True))
        return found

    def _behind(self, side: Side, row: int) -> int:
        """How far behind the watermark it was, in microseconds; on Flink, one that is behind by nothing is on time."""
        lost = self._lost[side][row]
        apart = int(lost.watermark) - int(getattr(lost, "kept_until", lost.end))
        return apart + MS if self.simulation.flink is not None and not self.kind.windowed else apart

    def behind_by(self, side: Side, row: int) -> str:
        """How far behind the watermark it was."""
        return self.labels.span(self._behind(side, row))

    def behind(self, side: Side, row: int) -> str:
        """How far behind the watermark it was, or that it was exactly at it."""
        if self._behind(side, row) > 0:
            return self.fill(verdicts.BEHIND, side, row)
        return verdicts.EXACTLY_AT if self.simulation.flink is None else verdicts.BEHIND_BY_LESS

    def judged(self, side: Side, row: int) -> str:
        """When it arrived, when its window had ended, and where the watermark stood then."""
        if self.simulation.flink is not None:
            ended = verdicts.FLINK_WINDOW_ENDED if self.kind.windowed else verdicts.FLINK_BEHIND
            return self.fill(ended, side, row)
        return self.fill(verdicts.WINDOW_ENDED if self.last_window(side, row) else verdicts.ARRIVED, side, row)

    def arrived_in(self, side: Side, row: int) -> str:
        """The micro-batch in which it arrived."""
        return str(self.simulation.first + int(self._lost[side][row].batch))

    def judged_by(self, side: Side, row: int) -> str:
        """The watermark that it was judged by."""
        return self.labels.moment(int(self._lost[side][row].watermark))

    def end(self, side: Side, row: int) -> str:
        """When its window ended; of a row in state, when that or its group does."""
        lost = self._lost[side].get(row)
        return self.labels.moment(int(self._waiting[side][row] if lost is None else lost.end))

    def allowed(self, side: Side, row: int) -> str:
        """How much lateness was allowed, where any was."""
        return self.fill(verdicts.FLINK_ALLOWED, side, row) if self._lateness else ""

    def lateness(self, side: Side, row: int) -> str:
        """How much lateness was allowed."""
        return self.labels.span(self._lateness)

    @property
    def _lateness(self) -> int:
        return 0 if self.simulation.flink is None else self.simulation.flink.allowed_lateness

    def rows_ahead(self, side: Side, row: int) -> str:
        """Which rows, far ahead of all others, moved the watermark."""
        return self.fill(verdicts.ROWS_AHEAD, side, row)

    def ahead(self, side: Side, row: int) -> str:
        """The rows that are far ahead of all others: two of each side, and how many more."""
        named = self.labels.labels({each: self._ahead.rows[each][:2] for each in SIDES})
        more = sum(map(len, self._ahead.rows.values())) - len(named)
        return " and ".join(named) if not more else f"{', '.join(named)} and {counted(more, 'more row')}"

    def it(self, side: Side, row: int) -> str:
        """The pronoun for these."""
        return "it" if sum(map(len, self._ahead.rows.values())) == 1 else "them"

    def gap(self, side: Side, row: int) -> str:
        """How far ahead they are."""
        return self.labels.span(self._ahead.gap)

    @property
    def _ahead(self) -> Any:
        return self.simulation.ahead

    def keeps(self, of: RowId) -> tuple[Setting, str] | None:
        """The least change of one watermark delay that keeps a late row, with a partner or without."""
        if self._has_idle_sides:
            return None
        found = fixes.keeping(self.simulation, judged_late(self.outcome, of.side, np.array([of.row]))).get(of.row)
        return found and (found[0], str(fix_value(*found)))

    @cached_property
    def _kept(self) -> dict[Side, dict[int, tuple[Setting, int]]]:
        """Per side by row the least change of a delay that keeps each late row; none of those that no change keeps."""
        return {
            side: fixes.keeping(self.simulation, judged_late(self.outcome, side, self.asked[side])) for side in SIDES
        }

    def kept(self, side: Side, row: int) -> str:
        """What would have kept a late row, and whether that would have matched it."""
        fix = self.fixes.get(RowId(side, row))
        if self._has_idle_sides:
            return verdicts.NOTHING_TRIED if fix is None else self.fill(verdicts.FIX, side, row)
        found = self._kept[side].get(row)
        if found is None:
            return self.fill(verdicts.NOT_KEPT if fix is None else verdicts.NOT_KEPT_BUT_FIX, side, row)
        if fix is None:
            return self.fill(verdicts.KEPT_IN_VAIN, side, row)
        same = (fix.setting, fix.value) == found
        return self.fill(verdicts.KEPT_AND_MATCHED if same else verdicts.KEPT_BUT_FIX, side, row)

    def kept_alone(self, side: Side, row: int) -> str:
        """What would have kept a late row, of whose partners nothing is known."""
        return self.fill(verdicts.KEPT if row in self._kept[side] else verdicts.NOT_KEPT, side, row)

    def kept_by(self, side: Side, row: int) -> str:
        """The least watermark delay that would have kept it."""
        return self._changed(*self._kept[side][row])

    def by_policy(self, side: Side, row: int) -> str:
        """Why the delay of the other stream keeps it, where it is that."""
        return self.of_both(side, side, row, self._kept[side][row][0])

    def both_by_policy(self, side: Side, row: int) -> str:
        """Why a delay keeps a row and its partner, where it is not of the stream of the late one."""
        fix = self.fixes[RowId(side, row)]
        late = self._parted_by(side, row, int(fix.partner))
        came_last = other_side(side) if self.kind.merging else side
        return self.of_both(came_last if late is None else late.side, side, row, fix.setting)

    def of_both(self, late: Side, side: Side, row: int, setting: Setting) -> str:
        """That a late row is judged by the watermark of both streams, where the delay is not that of its own one."""
        is_of_other = setting == DELAYS[other_side(late)]
        return self.fill(verdicts.OF_BOTH, side, row) if is_of_other and self.simulation.flink is None else ""

    def in_vain(self, side: Side, row: int) -> str:
        """Why a late row has no partner even if it is kept."""
        if self.simulation.facts.aggregated:
            return verdicts.AGGREGATES_CHANGE
        if self._verdict(side, row) is SharedVerdict.LATE_FOR_PARTNER:
            return verdicts.PARTNER_WAS_LATE_TOO
        if self.key_came(side, row):
            return self.fill(verdicts.NO_PARTNER_WITHIN, side, row)
        return f"but it would have no partner: {self.key_across(side, row)}"

    @property
    def _has_idle_sides(self) -> bool:
        """Whether a side may hold nothing back, so that what a longer delay keeps has to be tried."""
        rules = self.simulation.flink
        return rules is not None and rules.idle is not None

    # Of fixes and partners.

    def fix(self, side: Side, row: int) -> str:
        """What another setting would have brought."""
        return self.fill(verdicts.FIX, side, row)

    def change(self, side: Side, row: int) -> str:
        """The changed setting, with its value."""
        fix = self.fixes[RowId(side, row)]
        return self._changed(fix.setting, fix.value)

    def _changed(self, setting: Setting, value: float) -> str:
        """A changed setting in words; of a job that was started again with a longer delay, that one if it is enough."""
        for side in SIDES if self.simulation.logged is not None else ():
            stream = self.simulation.side(side)
            if setting == DELAYS[side] and value <= times.micros(stream.watermark):
                return verdicts.DELAY_OF_NOW.format(delay=times.precise(stream.watermark), name=stream.name)
        return self.labels.changed(setting, value)

    def meets(self, side: Side, row: int) -> str:
        """What the changed setting brings."""
        return self.fill(self.would_meet, side, row)

    def matches(self, side: Side, row: int) -> str:
        """What a longer delay brings beside keeping the row."""
        return self.fill(self.would_match, side, row)

    def partner(self, side: Side, row: int) -> str:
        """The row that it would meet."""
        return self.labels.label(other_side(side), int(self.fixes[RowId(side, row)].partner))

    def distance(self, side: Side, row: int) -> str:
        """How far that is."""
        other, partner = other_side(side), int(self.fixes[RowId(side, row)].partner)
        return self.labels.span(abs(int(self.labels.times[side][row]) - int(self.labels.times[other][partner])))

    def beyond(self, side: Side, row: int) -> str:
        """By how much the setting would have to change."""
        return self.labels.span(int(self.fixes[RowId(side, row)].change))

    def setting(self, side: Side, row: int) -> str:
        """The name of the setting."""
        return self.fixes[RowId(side, row)].setting

    def near(self, side: Side, row: int) -> str:
        """Why it did not meet the nearest partner that a changed setting would have given it; or that there is none."""
        template = self._near(side, row)
        if not template and self._verdict(side, row) is SharedVerdict.PARTNER_EVICTED:  # which no delay mends
            template = verdicts.ONE_LEFT_STATE
        template = template or self.kind.alone(self.join, side)
        if template == verdicts.NO_PARTNER:
            key = Sides(*self.outcome.keys)[side][row]
            template = template if key in self._keys_of_late[other_side(side)] else verdicts.NONE_IN_REACH
        return self.fill(template, side, row)

    @cached_property
    def _keys_of_late(self) -> Sides[set[int]]:
        """By side the keys of which a row was late."""
        late = self.outcome.assignments
        keys = Sides(*self.outcome.keys)
        return Sides.of(lambda side: {*keys[side][late[side].loc[late[side]["late"], "row"]].tolist()})

    def then_near(self, side: Side, row: int) -> str:
        """The same behind a sentence; empty without such a partner."""
        template = self._near(side, row)
        return f"; {self.fill(template, side, row)}" if template else ""

    def _near(self, side: Side, row: int) -> str:
        """The template of what is told of the nearest partner."""
        fix = self.fixes.get(RowId(side, row))
        if fix is None:
            return ""
        match fix.setting:
            case "finish":
                return verdicts.WAITS_WITH_IT
            case "left.watermark" | "right.watermark":
                return self._parted(side, row, int(fix.partner))
        if self._verdict(side, row) is SharedVerdict.PARTNER_LATE:  # nothing but its lateness, which no delay mends
            return verdicts.NO_PARTNER_BUT_FIX
        return self.kind.near_miss(self.join, side, int(fix.change))

    def _parted(self, side: Side, row: int, partner: int) -> str:
        """The template of how the watermark kept a row from its partner."""
        late = self._parted_by(side, row, partner)
        if late is not None:
            return verdicts.LATE_FOR_SHARED_WINDOW if late == RowId(side, row) else verdicts.PARTNER_DROPPED
        if self.kind.merging:
            return verdicts.SESSION_CLOSED
        if self.simulation.facts.evicts_early:
            mine, theirs = self.simulation.side(side), self.simulation.side(other_side(side))
            is_first = mine.arrival[row] < theirs.arrival[partner]
            return verdicts.LEFT_STATE if is_first else verdicts.PARTNER_LEFT_STATE
        return verdicts.SEMI_JOIN_LOSES if self.simulation.flink is None else verdicts.FLINK_LEFT_STATE

    def _parted_by(self, side: Side, row: int, partner: int) -> RowId | None:
        """Which of a row and its partner was late, the partner first; None: neither."""
        both = RowId(other_side(side), partner), RowId(side, row)
        return next((each for each in both if self.assignments(each.side, each.row)["late"].any()), None)

    def evicted_by(self, side: Side, row: int) -> str:
        """Why Spark evicts a row before the condition of its join ceases to hold."""
        by_hours = self.simulation.facts.numbers is None
        return self.fill(verdicts.EVICTED_BY_HOURS if by_hours else verdicts.EVICTED_BY_TIMES, side, row)

    def kept_both(self, side: Side, row: int) -> str:
        """What would have kept a row and its partner, of which one was late."""
        late = self._parted_by(side, row, int(self.fixes[RowId(side, row)].partner))
        because = None if late is None else self._late_because[late.side].get(late.row)
        return self.fill(_KEPT_BOTH.get(because, verdicts.KEPT_BOTH), side, row)

    @cached_property
    def _late_because(self) -> dict[Side, dict[int, Verdict | None]]:
        """Per side by late row what else than a short delay made it late."""
        rows = {side: np.arange(len(self.simulation.side(side))) for side in SIDES}
        return {side: late_because(self.simulation, self.outcome, side, rows[side]).to_dict() for side in SIDES}

    def assignments(self, side: Side, row: int) -> pd.DataFrame:
        """A row's assignments in windows."""
        assignments = self.outcome.assignments[side]
        return assignments.iloc[slice(*np.searchsorted(assignments["row"], [row, row + 1]))]

    def failing(self, left: RowNumbers, right: RowNumbers) -> list[str]:
        """What each of some pairs within reach does not satisfy beside key and time, in words; empty of other pairs."""
        words, where = [""] * len(left), self.simulation.where
        if where is None:
            return words
        refused = np.flatnonzero(np.isin(self._numbered(left, right), self._refused))
        if not len(refused):
            return words
        for place, parts in zip(refused.tolist(), where.failed(left[refused], right[refused]), strict=True):
            values = dict.fromkeys(f"{name} is {value}" for each in parts for name, value in each.values)
            template = verdicts.FAILS if values else verdicts.FAILS_WHATEVER
            failed = " and ".join(each.part for each in parts)
            words[place] = template.format(failed=failed, values=", ".join(values)) if parts else ""
        return words

    @cached_property
    def _refused(self) -> RowNumbers:
        """The pairs within reach that do not satisfy what else the join asks for, each as one number."""
        return self._numbered(*(each[~self.simulation.satisfied] for each in self.simulation.in_reach))

    def _numbered(self, left: RowNumbers, right: RowNumbers) -> RowNumbers:
        """Pairs of rows, each as one number."""
        found: RowNumbers = left.astype(np.int64) * max(len(self.simulation.right), 1) + right
        return found

    def refused(self, side: Side, row: int) -> str:
        """How many rows within its bounds it does not satisfy the condition with."""
        return counted(int(self.simulation.refused[side][row]), "row")

    @cached_property
    def _keys_across(self) -> dict[Side, Any]:
        return {side: partners.keys_across(self.simulation, side) for side in SIDES}

    def key_came(self, side: Side, row: int) -> bool:
        """Whether its key came to the join on the other side."""
        return bool(self._keys_across[side][row] == partners.KeyAcross.CAME)

    def key_across(self, side: Side, row: int) -> str:
        """What is known of its key on the other side, to whose rows it never came."""
        match self._keys_across[side][row]:
            case partners.KeyAcross.LEFT_OUT:
                return self.fill(self._removal(other_side(side), self._mate(side, row)).of_key, side, row)
            case partners.KeyAcross.UNTIMED:
                return self.fill(verdicts.KEY_UNTIMED, side, row)
        return self.fill(verdicts.KEY_NEVER_CAME, side, row)

    def taken_out(self, side: Side, row: int) -> str:
        """The operator that took out the rows of its key on the other side."""
        return self.step(other_side(side), self._mate(side, row))

    def other_filter(self, side: Side, row: int) -> str:
        """The filter of the other side that those rows fail."""
        return self.simulation.facts.filters[other_side(side)]

    def _mate(self, side: Side, row: int) -> int:
        """The first row of its key on the other side; -1 without one."""
        codes = Sides(*self.outcome.keys)
        mates = np.flatnonzero(codes[other_side(side)] == codes[side][row])
        return int(mates[0]) if len(mates) else -1

    def untimed(self, side: Side, row: int) -> str:
        """What the event times of its key on the other side were."""
        return self.simulation.facts.untimed[other_side(side)][self.labels.key(side, row)]

    def left_at(self, side: Side, row: int) -> str:
        """Which operator takes it out."""
        return self.fill(self._removal(side, row).of_row, side, row)

    def filter(self, side: Side, row: int) -> str:
        """The filter of the job, run before the join, that it fails."""
        return self.simulation.facts.filters[side]

    def _fails(self, side: Side, row: int) -> bool:
        """Whether that filter is known to take it out."""
        failing = self.simulation.facts.failing
        return failing is not None and row >= 0 and bool(failing[side][row])

    def step(self, side: Side, row: int) -> str:
        """The operator that takes a row out; empty where that is not known, or where there is no row."""
        gone = self.simulation.facts.gone
        return "" if gone is None or row < 0 or gone[side].at[row] < 0 else str(gone[side].steps[gone[side].at[row]])

    def removed_by(self, side: Side, row: int) -> str:
        """What removes a row before it reaches the join; empty of one that reaches it."""
        words = self.fill(self._removal(side, row).by, side, row) if self._removed[side][row] else ""
        return words.removesuffix(",")  # that of a step in whose words something follows

    def _removal(self, side: Side, row: int) -> Removal:
        """How it is told what removes a row: the most that is known of it."""
        if self.step(side, row):
            return verdicts.BY_STEP
        if self._fails(side, row):
            return verdicts.BY_FILTER
        return verdicts.BY_NULL if self.null(side, row) else verdicts.BY_FILTERS

    def null(self, side: Side, row: int) -> str:
        """The column that is null in it, and in no row that reaches the join; empty where there is none."""
        table = self.simulation.side(side).table
        required = self.simulation.facts.required.get(side, ())
        return next((each for each in required if row >= 0 and not table.column(each)[row].is_valid), "")

    def other_null(self, side: Side, row: int) -> str:
        """The same of the first row of its key on the other side."""
        return self.null(other_side(side), self._mate(side, row))

    @cached_property
    def _removed(self) -> dict[Side, Any]:
        return {side: partners.left_out(self.simulation, side) for side in SIDES}

    # Of rows in state.

    @cached_property
    def _waiting(self) -> dict[Side, dict[int, int]]:
        return {side: waiting(self.simulation, side, self.asked[side]).to_dict() for side in SIDES}

    def until(self, side: Side, row: int) -> str:
        """Until when, or for what, a row in state waits."""
        return self.fill(self.kind.waiting(self.join, side), side, row)

    def why_forever(self, side: Side, row: int) -> str:
        """Why no watermark ever takes it out of the state."""
        unmarked = self.simulation.facts.unmarked
        if len(unmarked) == len(SIDES):
            return verdicts.NO_WATERMARKS
        if unmarked:
            return self.fill(verdicts.NO_WATERMARK_ON, side, row)
        if self.simulation.where is not None:
            return self.fill(verdicts.NONE_DERIVED, side, row)
        return verdicts.NO_UPPER if side == "left" else verdicts.NO_LOWER

    def as_interval(self, side: Side, row: int) -> str:
        """How a bound of event times as numbers is written so that Spark derives one; empty where there is none."""
        facts = self.simulation.facts.under(self.join)
        return "" if facts.numbers is None or facts.unmarked else self.fill(verdicts.AS_INTERVAL, side, row)

    def unit(self, side: Side, row: int) -> str:
        """What these numbers count."""
        numbers = self.simulation.facts.numbers
        return "" if numbers is None else numbers.unit_in_words

    def interval(self, side: Side, row: int) -> str:
        """The bound as a condition of times."""
        numbers = self.simulation.facts.numbers
        return "" if numbers is None else numbers.interval

    def bound(self, side: Side, row: int) -> str:
        """The bound that the rows of a side wait for."""
        return "upper" if side == "left" else "lower"

    def and_satisfies(self, side: Side, row: int) -> str:
        """What the join asks of a partner beside its key and time; nothing where it asks for no more."""
        return "" if self.simulation.where is None else self.fill(verdicts.AND_SATISFIES, side, row)

    def unmarked(self, side: Side, row: int) -> str:
        """The stream without a watermark."""
        return " and ".join(
            name for each, name in Sides(*self.labels.names).items() if each in self.simulation.facts.unmarked
        )

    def wait_end(self, side: Side, row: int) -> str:
        """The event time of the last row of the other side that could still match it."""
        return self.labels.moment(self._waiting[side][row] + self.kind.waits(self.join, side))

    def stands(self, side: Side, row: int) -> str:
        """Where the watermark stands at the end, and what holds it back."""
        if not self.kind.drops_late:
            return ""
        return self.fill(verdicts.STANDS if self._last_watermark else verdicts.NO_WATERMARK, side, row)

    def last_watermark(self, side: Side, row: int) -> str:
        """Where the watermark stands at the end."""
        return self.labels.moment(self._last_watermark)

    @property
    def _last_watermark(self) -> int:
        return last_watermark(self.simulation)

    def leaves(self, side: Side, row: int) -> str:
        """What becomes of it with the next micro-batch."""
        if self.kind.grouped:
            return verdicts.COMES_OUT
        return verdicts.COMES_OUT_UNLESS if side in emission(self.join).padded else verdicts.LEAVES_UNLESS

    def next_micro_batch(self, side: Side, row: int) -> str:
        """What brings the next micro-batch."""
        logged = self.simulation.logged
        if logged is not None and not logged.runs_without_rows:
            return verdicts.NEXT_ROW_ONLY
        only_with_rows = self.simulation.facts.under(self.join).evicts_with_data
        return verdicts.NEXT_ROW if only_with_rows else verdicts.NEXT_ROW_OR_NONE

    def held_back(self, side: Side, row: int) -> str:
        """Which side holds the watermark back, where one does."""
        if self._follows_others:
            return verdicts.HELD_BACK_BY_OTHERS if self.simulation.policy == "min" else ""
        if self._holder is None:
            return ""
        if self.simulation.policy == "max":
            return self.fill(verdicts.FOLLOWS, side, row)
        forgotten = self._holder == self.simulation.forgotten
        return self.fill(verdicts.FORGOTTEN if forgotten else verdicts.HELD_BACK, side, row)

    def holder(self, side: Side, row: int) -> str:
        """The stream whose watermark the query has."""
        return "" if self._holder is None else self.labels.names[SIDES.index(self._holder)]

    def moved_by(self, side: Side, row: int) -> str:
        """Which rows would bring the watermark of a job to where a row in state leaves."""
        return self.fill(verdicts.MOVED_BY, side, row) if self._movers(side, row) else ""

    def moved_at(self, side: Side, row: int) -> str:
        """From which event time on a row of the first of these streams does."""
        return self.labels.moment(next(iter(self._movers(side, row).values())))

    def movers(self, side: Side, row: int) -> str:
        """These streams, with the event time of the second where that is another."""
        (first, at), *others = self._movers(side, row).items()
        named = self._mover(first)
        for each, later in others:
            where = "" if later == at else f" at {self.labels.moment(later)} or later"
            link = "and one" if self.simulation.policy == "min" else "or one"
            named += f", {link}{where} on {self._mover(each)},"
        return named

    def _mover(self, side: Side) -> str:
        """A stream whose row would move the watermark; of one that the job filters only a row that passes does."""
        name, filters = self.labels.names[SIDES.index(side)], self.simulation.facts.filters
        return f"{name}{verdicts.PASSING.format(movers_filter=filters[side])}" if side in filters else name

    def _movers(self, side: Side, row: int) -> dict[Side, int]:
        """By side the least event time that brings its watermark to where a row in state leaves; none of sides past it.

        Empty where the rows that move the watermark are not known.
        """
        logged, facts = self.simulation.logged, self.simulation.facts.under(self.join)
        if logged is None or logged.following is None or facts.unmarked or facts.aggregated or not self._waits_by_time:
            return {}
        if facts.beside_others:  # they would have to move, too
            return {}
        behind = leaves_behind(self.simulation, side)
        if behind is None:
            return {}
        leaves = self._waiting[side][row] + behind
        delays = {each: times.micros(self.simulation.side(each).watermark) for each in SIDES}
        found = {each: leaves + delays[each] for each in SIDES if self._own_watermarks[each] < leaves}
        return {"left": max(found.values())} if found and self._one_row_moves_both else found

    @cached_property
    def _one_row_moves_both(self) -> bool:
        """Whether one row moves the watermarks of both sides, as they have one, or a stream is joined with itself."""
        left, right = self.simulation.left, self.simulation.right
        facts = self.simulation.facts
        return facts.of_one_watermark or (
            facts.of_one_source
            and all(
                np.array_equal(*each) for each in ((left.arrival, right.arrival), (left.event_times, right.event_times))
            )
        )

    @property
    def _waits_by_time(self) -> bool:
        return self.kind.operator in (AGGREGATION, HASH_JOIN)

    @cached_property
    def _own_watermarks(self) -> dict[Side, int]:
        """How far the rows of each side would bring the watermark by themselves."""
        found: dict[Side, int] = {}
        for side in SIDES:
            stream = self.simulation.side(side)
            newest = int(stream.event_times.max(initial=0)) if side != self.simulation.forgotten else 0
            found[side] = max(int(self.watermarks.own[side][-1]), newest - times.micros(stream.watermark))
        return found

    def idle(self, side: Side, row: int) -> str:
        """Since which micro-batch that stream has sent nothing, or none that passes a filter, if not in the last."""
        if self._idle_since is None:
            return ""
        filtered = self._holder is not None and self.simulation.facts.fails_from(
            self._holder, self.simulation.side(self._holder), self._idle_since
        )
        return self.fill(verdicts.FILTERED_SINCE if filtered else verdicts.IDLE, side, row)

    def holders_filter(self, side: Side, row: int) -> str:
        """The filter of the job on the stream whose watermark the query has."""
        return self.simulation.facts.filters[self._holder or side]

    def idle_since(self, side: Side, row: int) -> str:
        """The micro-batch since which it has sent nothing."""
        return str(self.simulation.first + (self._idle_since or 0))

    @cached_property
    def _holder(self) -> Side | None:
        """The side whose watermark is the query's; None where both have the same."""
        policy, forgotten = self.simulation.policy, self.simulation.forgotten
        if forgotten is not None and policy == "min":
            return forgotten
        own = {side: int(self.watermarks.own[side][-1]) for side in SIDES}
        if own["left"] == own["right"]:
            return None
        return min(own, key=lambda side: own[side] if policy == "min" else -own[side])

    @cached_property
    def _follows_others(self) -> bool:
        """Whether the watermark is that of neither side: behind both, or where the greatest counts ahead of both."""
        if not self.simulation.facts.beside_others:
            return False
        own, last = [int(self.watermarks.own[side][-1]) for side in SIDES], last_watermark(self.simulation)
        return last < min(own) if self.simulation.policy == "min" else last > max(own)

    @cached_property
    def _idle_since(self) -> int | None:
        """The first micro-batch of data from which on the holder has sent nothing; None if the last has some of it."""
        ends = {}
        for side in SIDES:
            came = batches_with_rows(self.simulation.side(side))
            ends[side] = int(came[-1]) + 1 if len(came) else 0
        # Spark adds micro-batches without data, in which nobody could have sent anything
        data = min(self.watermarks.kinds.count(DATA), max(ends.values()))
        since = ends[self._holder or "left"]
        return since if since < data else None


COLUMNS: dict[str, Callable[[SentenceSlots, Side], Sequence[Value] | Texts]] = {
    "fate": lambda of, side: of.fates(side),
    "verdict": lambda of, side: [str(verdict) for verdict in of.verdicts[side].tolist()],
    "reason": lambda of, side: of.reasons(side),
    "fix_setting": lambda of, side: [fix and fix.setting for fix in of.best(side)],
    "fix_value": lambda of, side: [fix and fix_value(fix.setting, fix.value) for fix in of.best(side)],
}
"""What computes each column of `Run.rows` behind the streams' own, by its name in `workbench.schema.ROWS`."""
_OF_ALL_ROWS = frozenset({"name", "other", "window", "condition", "within_reach"})
"""Slots that are the same for all rows of a side."""


@cache
def _slots(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name}
