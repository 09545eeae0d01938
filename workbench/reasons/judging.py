"""The verdict of every row: why it fared as it did, for whole columns of rows at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from workbench.arrays import Flags, Objects, RowNumbers, Texts
from workbench.kinds import UNBOUNDED, kind_of
from workbench.literals import DELAYS, SIDES, Side
from workbench.model import Outcome, Simulation
from workbench.reasons import partners
from workbench.reasons.partners import KeyAcross
from workbench.untyped import Series
from workbench.verdicts import SharedVerdict

__all__ = ["Judge", "Judging", "judge", "judged_late", "last_watermark", "late_because", "leaves_behind", "waiting"]

_LATE = {
    KeyAcross.NEVER_CAME: SharedVerdict.LATE_KEY_NEVER_CAME,
    KeyAcross.CAME: SharedVerdict.LATE_OUT_OF_REACH,
    KeyAcross.LEFT_OUT: SharedVerdict.LATE_KEY_LEFT_OUT,
    KeyAcross.UNTIMED: SharedVerdict.LATE_KEY_WITHOUT_TIME,
}
_ABSENT = {
    KeyAcross.NEVER_CAME: SharedVerdict.KEY_NEVER_CAME,
    KeyAcross.LEFT_OUT: SharedVerdict.KEY_LEFT_OUT,
    KeyAcross.UNTIMED: SharedVerdict.KEY_WITHOUT_TIME,
}


@dataclass(frozen=True, eq=False)
class Judging:
    """Some rows of one side, and what their verdicts are made from: arrays with one value a row.

    Attributes
    ----------
    simulation, side
        The run, and the side.
    rows
        The numbers of the rows.
    fate
        Their fates.
    across
        What is known of their keys on the other side, as `partners.keys_across` gives it.
    would_meet
        Which of the late ones would have met a row, had they come in time.
    apart
        Which of the unmatched ones have a partner if nothing is late, and no window closes too early.
    evicted
        Which of the unmatched ones have a partner if none leaves the state before the other has come.
    refused
        Which have rows in reach, with none of which they satisfy what the join asks for beside keys and times.
    setting
        The setting whose least change would match each, as `workbench.fixes.fixes` finds it; empty without one.
    verdict
        Their verdicts, which a kind of join replaces by its own.
    """

    simulation: Simulation
    side: Side
    rows: RowNumbers
    fate: Texts
    across: RowNumbers
    would_meet: Flags
    apart: Flags
    evicted: Flags
    refused: Flags
    setting: Texts
    verdict: Objects

    @property
    def matched(self) -> Flags:
        """Which rows have met others."""
        return self.fate == "matched"

    @property
    def late(self) -> Flags:
        """Which are late."""
        return self.fate == "late"

    @property
    def unmatched(self) -> Flags:
        """Which have met none, though they were on time."""
        return self.fate == "unmatched"

    @property
    def came(self) -> Flags:
        """Of which the key came to the join on the other side."""
        return self.across == KeyAcross.CAME


Judge = Callable[[Judging], None]
"""Replaces verdicts by those of a kind of join."""


def judge(
    simulation: Simulation, own: Judge, rows: dict[Side, RowNumbers], settings: dict[Side, Texts]
) -> dict[Side, Objects]:
    """Per side the verdicts of some rows, in the order in which they are given.

    Where several verdicts fit a row, the last of those in `_of_side` holds.

    Parameters
    ----------
    simulation
        The run: a preview, a query of the workbench's own, a job, a recording under Flink's rules.
    own
        What the kind of join makes of the verdicts that all kinds share.
    rows
        Per side their numbers.
    settings
        Per side `Judging.setting` of each.
    """
    fate = {side: simulation.fates[side]["fate"].to_numpy()[rows[side]] for side in SIDES}
    unmatched = {side: rows[side][fate[side] == "unmatched"] for side in SIDES}
    apart, evicted = partners.kept_apart(simulation, unmatched), partners.evicted_apart(simulation, unmatched)
    met = partners.had_partner(simulation, {side: rows[side][fate[side] == "late"] for side in SIDES})
    return {
        side: _of_side(simulation, side, rows[side], own, apart[side], evicted[side], met[side], settings[side])
        for side in SIDES
    }


def _of_side(
    simulation: Simulation,
    side: Side,
    rows: RowNumbers,
    own: Judge,
    apart: RowNumbers,
    evicted: RowNumbers,
    met: RowNumbers,
    setting: Texts,
) -> Objects:
    kind, table = kind_of(simulation.join), simulation.fates[side]
    across = partners.keys_across(simulation, side)[rows]
    of = Judging(
        simulation,
        side,
        rows,
        table["fate"].to_numpy()[rows],
        across,
        np.isin(rows, met),
        np.isin(rows, apart),
        np.isin(rows, evicted),
        simulation.refused[side][rows] > 0,
        setting,
        np.full(len(rows), SharedVerdict.JOINED, dtype=object),
    )
    verdict = of.verdict
    if kind.grouped:
        verdict[:] = SharedVerdict.GROUPED
    if simulation.facts.met is not None:
        verdict[of.matched & ~np.isin(rows, _with_output(simulation, side))] = SharedVerdict.JOINED_BEFORE
    verdict[of.fate == "null_key"] = SharedVerdict.NULL_KEY
    verdict[of.fate == "pending"] = SharedVerdict.WAITING
    for code, late in _LATE.items():
        verdict[of.late & (across == code)] = late
    verdict[of.would_meet] = SharedVerdict.LATE_FOR_PARTNER
    verdict[of.unmatched] = SharedVerdict.NO_PARTNER_ON_TIME
    verdict[of.unmatched & np.isin(setting, list(DELAYS.values()))] = SharedVerdict.PARTNER_LATE
    for changed, missed in kind.missed.items():
        verdict[of.unmatched & (setting == changed)] = missed
    for code, absent in _ABSENT.items():
        verdict[of.unmatched & (across == code)] = absent
    if simulation.where is not None:
        verdict[of.unmatched & of.refused] = SharedVerdict.CONDITION_FAILS
    verdict[of.apart] = SharedVerdict.PARTNER_LATE
    own(of)
    verdict[of.evicted & ~of.apart] = SharedVerdict.PARTNER_EVICTED
    verdict[of.unmatched & (table["all"].to_numpy()[rows] == 0)] = SharedVerdict.BETWEEN_WINDOWS
    verdict[of.unmatched & partners.left_out(simulation, side)[rows]] = SharedVerdict.LEFT_OUT
    if simulation.facts.is_stand_in:
        verdict[of.late] = SharedVerdict.LATE_PARTNERS_UNKNOWN
    _late_by_others(of)
    _passed(of)
    return verdict


def _with_output(simulation: Simulation, side: Side) -> RowNumbers:
    """The rows that came out with others."""
    outputs = simulation.outcome.outputs
    members = outputs.of(side)
    return members["row"].to_numpy()[outputs.table["matched"].to_numpy()[members["output"]]]


def judged_late(outcome: Outcome, side: Side, rows: RowNumbers) -> pd.DataFrame:
    """By row the assignment of each late one that its verdict is about: the last window that it was late for."""
    assignments = outcome.assignments[side]
    late = assignments[assignments["late"].to_numpy()]
    late = late[np.isin(late["row"], rows)]
    return late.drop_duplicates("row", keep="last").set_index("row")


def late_because(simulation: Simulation, outcome: Outcome, side: Side, rows: RowNumbers) -> Series:
    """By late row what else than a short delay made it late: a few rows far ahead, the policy, the epoch."""
    lost = judged_late(outcome, side, rows)
    batch, end, mark = (lost[name].to_numpy() for name in ("batch", "end", "watermark"))
    found = pd.Series(np.full(len(lost), None, dtype=object), index=lost.index)
    if simulation.flink is not None:
        return found
    if simulation.policy == "max":
        found[end > outcome.marks.late_by_slower[batch]] = SharedVerdict.LATE_BY_POLICY
    if simulation.ahead is not None:
        without = simulation.late_without_ahead
        known = batch < len(without)
        found[known & (end > without[np.where(known, batch, 0)])] = SharedVerdict.LATE_BEHIND_ROWS_AHEAD
    found[mark == 0] = SharedVerdict.LATE_AT_EPOCH
    return found


def _late_by_others(of: Judging) -> None:
    places = np.flatnonzero(of.late)
    because = late_because(of.simulation, of.simulation.outcome, of.side, of.rows[places]).reindex(of.rows[places])
    known = because.notna().to_numpy()
    of.verdict[places[known]] = because.to_numpy()[known]


def waiting(simulation: Simulation, side: Side, rows: RowNumbers) -> pd.Series[int]:
    """By row the ``end`` of what each pending one waits in: its own, or that of its group."""
    outcome = simulation.outcome
    mine = outcome.assignments[side]
    stays = (mine["evicted_in"] >= len(outcome.marks)) | mine.get("waits", False)
    mine = mine[(stays & ~mine["late"]).to_numpy()]
    mine = mine[np.isin(mine["row"], rows)].drop_duplicates("row")
    group, end = mine["group"].to_numpy(), mine["end"].to_numpy().copy()
    if (group >= 0).any():
        end[group >= 0] = outcome.groups["end"].to_numpy()[group[group >= 0]]
    return pd.Series(end, index=mine["row"].to_numpy())


def last_watermark(simulation: Simulation) -> int:
    """The last watermark that is known: of a job that of the micro-batch which would follow."""
    following = None if simulation.logged is None else simulation.logged.following
    return int(simulation.outcome.marks.eviction[-1]) if following is None else following


def leaves_behind(simulation: Simulation, side: Side) -> int | None:
    """How far beyond its end in `waiting`, in microseconds, the watermark takes a row out of the state; None: never."""
    retention, kind = simulation.facts.under(simulation.join).retention, kind_of(simulation.join)
    if retention is not None:
        return retention.get(side)
    return 0 if kind.windowed else kind.waits(simulation.join, side)


def _passed(of: Judging) -> None:
    """Names rows in state that the watermark has passed: they leave with the next micro-batch, or never."""
    simulation, kind = of.simulation, kind_of(of.simulation.join)
    pending = np.flatnonzero(of.fate == "pending")
    if not kind.drops_late or not len(pending):
        return
    end = waiting(simulation, of.side, of.rows[pending]).loc[of.rows[pending]].to_numpy()
    waits, last = kind.waits(simulation.join, of.side), last_watermark(simulation)
    behind = leaves_behind(simulation, of.side)
    if (waits >= UNBOUNDED and behind in (None, waits)) or (
        behind is None and simulation.facts.under(simulation.join).unmarked
    ):
        of.verdict[pending] = SharedVerdict.STAYS_FOREVER
    elif behind is None:  # Spark derives no watermark for the state of the side
        of.verdict[pending[end + waits <= last]] = SharedVerdict.WAITING_FOR_EVER
    elif simulation.logged is not None and simulation.logged.following is not None:
        of.verdict[pending[end + behind <= last]] = SharedVerdict.WAITING_FOR_NEXT_MICRO_BATCH
