"""Longer watermark delays, for rows that only lateness kept from a partner."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.arrays import RowNumbers, Times
from workbench.errors import TooLargeError
from workbench.fixes.search import COLUMNS, MS, NEVER, Search, kept_until
from workbench.literals import DELAYS, Side, Sides
from workbench.model import matches
from workbench.streams import SIDES


def delays(
    search: Search, pairs: tuple[RowNumbers, RowNumbers] | None = None, certain_at: Times | None = None
) -> pd.DataFrame:
    """Longer delays, for rows whose partner by definition was late, or that were late themselves.

    Parameters
    ----------
    search
        The rows of a run.
    pairs
        The pairs by definition, as places in its assignments; None: all that are in reach of each other.
    certain_at
        The watermark with which each of them comes out; None: that which ends its left row.
    """
    try:
        one, other = pairs or _by_definition(search)
    except TooLargeError:  # a coGroup makes no pairs, and so may have keys that would make too many
        return pd.DataFrame(columns=COLUMNS)
    left, right = (search.assignments[side].iloc[place] for side, place in Sides(one, other).items())
    rows: dict[Side, RowNumbers] = {"left": left["row"].to_numpy(), "right": right["row"].to_numpy()}
    ends = search.assignments["left"]["end"].to_numpy()[one] if certain_at is None else certain_at
    wanted = ~(search.matched["left"][rows["left"]] & search.matched["right"][rows["right"]])
    left, right, ends = left[wanted], right[wanted], ends[wanted]
    rows = {side: each[wanted] for side, each in rows.items()}
    parts = []
    for delayed in SIDES:
        value = np.maximum(*(_on_time(search, delayed, each) for each in (left, right)))
        if search.loses_expiring:
            value = np.maximum(value, _kept_by_semi(search, delayed, left, right))
        if search.simulation.facts.evicts_early:
            value = np.maximum(value, _kept_in_state(search, delayed, left, right))
        if search.waits:
            value = np.where(search.last_mark(delayed, value) >= ends, value, NEVER)
        change = value - search.delay[delayed]
        for side, partner in (SIDES, SIDES[::-1]):
            lost = ~search.matched[side][rows[side]]
            found = {"value": value[lost], "change": change[lost], "partner": rows[partner][lost]}
            parts.append(search.candidates(side, rows[side][lost], DELAYS[delayed], **found))
    if search.waits:
        met = ~(left["late"].to_numpy() | right["late"].to_numpy())
        for side, partner in (SIDES, SIDES[::-1]):
            open_still = met & ~search.matched[side][rows[side]]
            one = np.ones(int(open_still.sum()), dtype=np.int64)
            parts.append(
                search.candidates(
                    side, rows[side][open_still], "finish", value=one, change=one, partner=rows[partner][open_still]
                )
            )
    return pd.concat(parts, ignore_index=True)


def _by_definition(search: Search) -> tuple[RowNumbers, RowNumbers]:
    """The pairs by definition, as places in the assignments; of bounds by a clock that changes, those by that clock."""
    left, right = (search.assignments[side] for side in SIDES)
    rules = search.simulation.facts.under(search.join)
    one, other = matches(search.join, left, right, slack=rules.slack)
    if rules.exact is not None:
        met = np.asarray(rules.exact(left["row"].to_numpy()[one], right["row"].to_numpy()[other]))
        one, other = one[met], other[met]
    return one, other


def _on_time(search: Search, delayed: Side, assignments: pd.DataFrame) -> Times:
    batch, until = assignments["batch"].to_numpy(), kept_until(assignments)
    if search.in_flink and not search.windowed:  # a row at the watermark is on time, and may miss what has just left
        until = until - MS
    return search.outcome.marks.needed_delays(search.policy, delayed, batch - 1, until)


def allowed_lateness(search: Search) -> pd.DataFrame:
    """A longer allowed lateness in Flink, for rows whose partner by definition was late, or that were late."""
    try:
        one, other = matches(search.join, search.assignments["left"], search.assignments["right"])
    except TooLargeError:
        return pd.DataFrame(columns=COLUMNS)
    left, right = (search.assignments[side].iloc[place] for side, place in Sides(one, other).items())
    value = np.maximum(*((each["watermark"] - each["end"]).to_numpy() + 2 * MS for each in (left, right)))
    rows: dict[Side, RowNumbers] = {"left": left["row"].to_numpy(), "right": right["row"].to_numpy()}
    parts = []
    for side, partner in (SIDES, SIDES[::-1]):
        lost = ~search.matched[side][rows[side]]
        found = {"value": value[lost], "change": value[lost] - search.lateness, "partner": rows[partner][lost]}
        parts.append(search.candidates(side, rows[side][lost], "allowed_lateness", **found))
    return pd.concat(parts, ignore_index=True)


def _kept_in_state(search: Search, delayed: Side, left: pd.DataFrame, right: pd.DataFrame) -> Times:
    """The earlier of two rows stays in state until the later one comes."""
    retention = search.simulation.facts.retention or {}
    later = np.maximum(left["batch"].to_numpy(), right["batch"].to_numpy())
    value = np.zeros(len(left), dtype=np.int64)
    for side, mine in Sides(left, right).items():
        if side in retention:
            leaves_at = mine["end"].to_numpy() + retention[side]
            needed = search.outcome.marks.needed_delays(search.policy, delayed, later - 1, leaves_at)
            value = np.where(mine["batch"].to_numpy() < later, np.maximum(value, needed), value)
    return value


def _kept_by_semi(search: Search, delayed: Side, left: pd.DataFrame, right: pd.DataFrame) -> RowNumbers:
    """A semi join keeps a right row for the left rows of its own micro-batch only if that leaves it in state."""
    batch = right["batch"].to_numpy()
    stays = right["end"].to_numpy() + search.right_retention
    needed = search.outcome.marks.needed_delays(search.policy, delayed, batch, stays)
    return np.where(batch == left["batch"].to_numpy(), needed, 0)
