"""One row's full explanation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from IPython.display import display

from workbench import charts
from workbench.arrays import RowNumbers
from workbench.counts import counted
from workbench.errors import wrong
from workbench.kinds import UNBOUNDED, kind_of
from workbench.literals import RowId, Side, Sides, other_side
from workbench.model import LONG_AGO, Simulation, is_index
from workbench.reasons.own import sentences
from workbench.reasons.slots import SentenceSlots
from workbench.streams import SIDES

if TYPE_CHECKING:
    import altair as alt

__all__ = ["Why", "stories", "why"]


_CANDIDATES = 5


@dataclass(frozen=True, repr=False, eq=False)
class Why:
    """Why a row became what it became.

    Attributes
    ----------
    text
        The explanation, one step a line.
    facts
        Its steps: what each is about, and what it says.
    candidates
        The rows of its key on the other side, the nearest first, at most five. Columns: ``row`` (its index in
        `Run.rows`), ``name``, ``apart`` (how far from the row, in words), ``late``, ``met``, ``removed`` (what removes
        it before it reaches the join, such as a filter of a job, in words; empty of a row that reaches it), ``failed``
        (of one in reach, which part of the condition both do not satisfy, and their values, in words; else empty).
    """

    text: str
    facts: tuple[tuple[str, str], ...]
    candidates: pd.DataFrame
    _simulation: Simulation
    _row: RowId

    @cached_property
    def chart(self) -> alt.LayerChart:
        """The row and all rows of its key on event time."""
        return charts.of_key(self._simulation, self._row)

    def __repr__(self) -> str:
        return self.text

    def _ipython_display_(self) -> None:
        display({"text/plain": self.text}, raw=True)
        display(self.chart)


def why(simulation: Simulation, row: int) -> Why:
    """The explanation of one row of `Run.rows`."""
    count = len(simulation.left) + len(simulation.right)
    if not is_index(row, count):
        raise wrong("row", row, f"use an index of rows, 0 to {count - 1}")
    return _explained(simulation, [RowId.at(int(row), len(simulation.left))])[0]


def stories(simulation: Simulation, rows: Sequence[RowId]) -> list[str]:
    """The texts of `Run.why` of some rows: quicker than one by one."""
    return [each.text for each in _explained(simulation, rows)]


def _explained(simulation: Simulation, rows: Sequence[RowId]) -> list[Why]:
    asked: dict[Side, RowNumbers] = {
        side: np.unique(np.array([each.row for each in rows if each.side == side], dtype=np.int64)) for side in SIDES
    }
    reasons = sentences(simulation, asked)
    found = [_candidates(simulation, reasons, each) for each in rows]
    failed = _failed(simulation, reasons, rows, [candidates for candidates, _ in found])
    return [
        _of(simulation, reasons, of, candidates.assign(failed=words), count)
        for of, (candidates, count), words in zip(rows, found, failed, strict=True)
    ]


def _failed(
    simulation: Simulation, reasons: SentenceSlots, rows: Sequence[RowId], candidates: Sequence[pd.DataFrame]
) -> list[list[str]]:
    """For each row's candidates which part of the condition they fail: asked at once, as Spark is asked in a job."""
    first, pairs, asked = len(simulation.left), [], []
    for of, found in zip(rows, candidates, strict=True):
        apart = ~found["met"].to_numpy(dtype=bool) & (found["removed"] == "").to_numpy()
        apart &= not reasons.removed_by(*of)  # a row that does not come to the join is compared with none
        others = found["row"].to_numpy(dtype=np.int64)[apart] - (first if of.side == "left" else 0)
        mine = np.full(len(others), of.row)
        pairs.append((mine, others) if of.side == "left" else (others, mine))
        asked.append(apart.tolist())
    none = np.array([], dtype=np.int64)
    left, right = (np.concatenate([none, *(each[place] for each in pairs)]) for place in range(len(SIDES)))
    words = iter(reasons.failing(left, right))
    return [[next(words) if each else "" for each in apart] for apart in asked]


def _of(simulation: Simulation, reasons: SentenceSlots, of: RowId, candidates: pd.DataFrame, count: int | None) -> Why:
    facts = _facts(simulation, reasons, of, candidates, count)
    heading, *steps = facts
    lines = [f"{heading[0]}: {heading[1]}", *(f"  {name:<11} {words}" for name, words in steps)]
    return Why("\n".join(lines), tuple(facts), candidates, simulation, of)


def _facts(
    simulation: Simulation, reasons: SentenceSlots, of: RowId, candidates: pd.DataFrame, count: int | None
) -> list[tuple[str, str]]:
    labels = reasons.labels
    stream = simulation.side(of.side)
    explained = reasons.table[of.side].loc[of.row]
    moment = int(stream.event_times[of.row])
    batch = int(stream.arrival[of.row])
    judged_by = int(reasons.watermarks.late[batch])
    late_watermark = labels.moment(judged_by) if judged_by > 0 else "no watermark yet"
    judged = f"in which late rows were judged by {late_watermark}"
    if judged_by == LONG_AGO:
        judged = "the first that is kept: it was in state after it"
    facts = [
        (f"{stream.name}, {labels.label(*of)}", explained["fate"].replace("_", " ")),
        ("event time", f"{labels.moment(moment)}, key {labels.key(*of)}"),
        ("arrival", f"micro-batch {simulation.first + batch}, {judged}"),
        *_windows(simulation, reasons, of),
    ]
    if count is not None:
        facts.append(("candidates", f"{count:,} of its key on {simulation.side(other_side(of.side)).name}"))
        for each in candidates.itertuples():
            removed = f", removed before the join by {each.removed}" if each.removed else ""
            met = ", its partner" * each.met
            facts.append(("", f"{each.name}, {each.apart}{' late' * each.late}{met}{removed}{each.failed}"))
        if count > len(candidates):
            facts.append(("", f"and {count - len(candidates):,} more"))
    facts.append(("verdict", explained["reason"]))
    if explained["fix_setting"] is not None:
        facts.append(("fix", labels.setting(explained["fix_setting"], explained["fix_value"])))
    return facts


def _windows(simulation: Simulation, reasons: SentenceSlots, of: RowId) -> list[tuple[str, str]]:
    kind, labels = kind_of(simulation.join), reasons.labels
    if (interval := kind.interval(simulation.join)) is not None:
        low, high = interval
        begin, end = (low, high) if of.side == "left" else (-high, -low)
        moment = int(simulation.side(of.side).event_times[of.row])
        other = simulation.side(other_side(of.side)).name
        numbers = simulation.facts.under(simulation.join).numbers
        if numbers is not None and (numbers.low, numbers.high) != (None, None):
            ends = zip(("from", "to"), numbers.within(of.side, moment), strict=True)
            words = [f"{word} {labels.moment(each)}" for word, each in ends if each is not None]
            return [("bounds", f"{other} {' '.join(words)}, compared as whole numbers of {numbers.unit_in_words}")]
        first = f" from {labels.moment(moment + begin)}" if begin > -UNBOUNDED else ""
        last = f" to {labels.moment(moment + end)}" if end < UNBOUNDED else ""
        return [("bounds", f"{other}{first}{last}" if first or last else f"{other}, whatever its event time")]
    if not simulation.windowed:
        return []
    facts = []
    groups = reasons.outcome.groups
    for window in reasons.assignments(*of).itertuples():
        merged = kind.merging and window.group >= 0
        source = groups.loc[window.group] if merged else window
        word = "late" if window.late else "on time"
        told = f"[{labels.moment(int(source.start))}, {labels.moment(int(source.end))}) {word}"
        if merged:
            names = simulation.left.name, simulation.right.name
            told += f": {counted(source.left, 'row')} of {names[0]}, {source.right:,} of {names[1]}"
        facts.append((kind.window_noun, told))
    return facts or [(kind.window_noun, "none: it falls in a gap between windows")]


def _candidates(simulation: Simulation, reasons: SentenceSlots, of: RowId) -> tuple[pd.DataFrame, int | None]:
    """The nearest rows of its key, and how many there are; None where its key is null."""
    labels, other = reasons.labels, other_side(of.side)
    columns = ["row", "name", "apart", "late", "met", "removed"]
    keys = Sides(*reasons.outcome.keys)
    key = keys[of.side][of.row]
    if key < 0:
        return pd.DataFrame(columns=columns), None
    found = np.flatnonzero(keys[other] == key)
    distance = simulation.side(other).event_times[found] - simulation.side(of.side).event_times[of.row]
    first = 0 if other == "left" else len(simulation.left)
    nearest = []
    for place in np.argsort(np.abs(distance), kind="stable")[:_CANDIDATES]:
        candidate = RowId(other, int(found[place]))
        assignments = reasons.assignments(*candidate)
        late = bool(len(assignments) and assignments["late"].all())
        words = f"{labels.span(abs(int(distance[place])))} {'after' if distance[place] > 0 else 'before'} it"
        left, right = (of, candidate) if of.side == "left" else (candidate, of)
        apart = words if distance[place] else "at the same time"
        met = reasons.met(left.row, right.row)
        removed = reasons.removed_by(*candidate)
        nearest.append((first + candidate.row, labels.label(*candidate), apart, late, met, removed))
    return pd.DataFrame(nearest, columns=columns), len(found)
