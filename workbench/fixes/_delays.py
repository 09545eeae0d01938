"""Longer watermark delays, for rows that only lateness kept from a partner."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench import times
from workbench.fixes._search import MS, NEVER, Search, needed_delay
from workbench.joins import CoGroup, IntervalJoin, WindowJoin
from workbench.model import Micros, matches
from workbench.streams import SIDES


def delays(search: Search) -> pd.DataFrame:
    """Longer delays, for rows whose partner by definition was late, or that were late themselves."""
    join = search.join
    kind = WindowJoin(join.window) if isinstance(join, CoGroup) else join
    one, other = matches(kind, search.copies["left"], search.copies["right"])
    left, right = (search.copies[side].iloc[place] for side, place in zip(SIDES, (one, other), strict=True))
    rows = {"left": left["row"].to_numpy(), "right": right["row"].to_numpy()}
    wanted = ~(search.matched["left"][rows["left"]] & search.matched["right"][rows["right"]])
    left, right = left[wanted], right[wanted]
    rows = {side: each[wanted] for side, each in rows.items()}
    parts = []
    for setting in SIDES:
        value = np.maximum(*(_on_time(search, setting, each) for each in (left, right)))
        if search.semi:
            value = np.maximum(value, _kept_by_semi(search, setting, left, right))
        if search.waits:
            value = np.where(search.last_mark(setting, value) >= left["end"], value, NEVER)
        change = value - search.delay[setting]
        for side, partner in (SIDES, SIDES[::-1]):
            lost = ~search.matched[side][rows[side]]
            mine = (rows[side][lost], f"{setting}.watermark", value[lost], change[lost], rows[partner][lost])
            parts.append(search.candidates(side, *mine))
    if search.waits:
        met = ~(left["late"].to_numpy() | right["late"].to_numpy())
        for side, partner in (SIDES, SIDES[::-1]):
            open_still = met & ~search.matched[side][rows[side]]
            one = np.ones(int(open_still.sum()), dtype=np.int64)
            parts.append(search.candidates(side, rows[side][open_still], "finish", one, one, rows[partner][open_still]))
    return pd.concat(parts, ignore_index=True)


def _on_time(search: Search, setting: str, copies: pd.DataFrame) -> Micros:
    batch, end = copies["batch"].to_numpy(), copies["end"].to_numpy()
    return needed_delay(search.outcome.marks, search.policy, setting, batch - 1, end)


def _kept_by_semi(search: Search, setting: str, left: pd.DataFrame, right: pd.DataFrame) -> Micros:
    """A semi join keeps a left row for its own micro-batch only if that leaves it in state."""
    batch = left["batch"].to_numpy()
    stays = left["end"].to_numpy() + patience(search)
    needed = needed_delay(search.outcome.marks, search.policy, setting, batch, stays)
    return np.where(batch == right["batch"].to_numpy(), needed, 0)


def patience(search: Search) -> int:
    """How long after its event time, or window end, a left row stays in state."""
    if not isinstance(search.join, IntervalJoin):
        return 0
    return (-(-times.micros(search.join.upper) // MS) + (not search.join.upper_exclusive)) * MS
