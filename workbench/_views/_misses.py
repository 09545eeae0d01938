"""Near misses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from workbench import charts
from workbench.joins import IntervalJoin
from workbench.model import Micros
from workbench.streams import SIDES
from workbench.times import exact
from workbench.windows import Session

if TYPE_CHECKING:
    from workbench.results import Run


def misses(run: Run, title: str) -> charts.Drawing:
    """How far rows without partner were from the nearest row of their key, with the bounds."""
    names = (run.left.name, run.right.name)
    parts = []
    for number, (side, name) in enumerate(zip(SIDES, names, strict=True)):
        lost = np.flatnonzero((run.fates[side]["fate"] == "unmatched").to_numpy())
        other = 1 - number
        keys = run.outcome.keys[number], run.outcome.keys[other]
        moments = run.side(side).event_times, run.side(SIDES[other]).event_times
        away = _nearest_distance(keys, moments, lost)
        parts.append(pd.DataFrame({"stream": name, "seconds": away * (1 if side == "left" else -1) / 1e6}))
    join = run.join
    if isinstance(join, IntervalJoin):
        bounds = [("lower bound", exact(join.lower)), ("upper bound", exact(join.upper))]
    else:
        word, span = ("gap", join.window.gap) if isinstance(join.window, Session) else ("size", join.window.size)
        bounds = [(f"- {word}", -exact(span)), (word, exact(span))]
    drawn = pd.DataFrame([(label, each.total_seconds()) for label, each in bounds], columns=["label", "seconds"])
    return charts.misses(pd.concat(parts, ignore_index=True), drawn, names, title)


def _nearest_distance(keys: tuple[Micros, Micros], moments: tuple[Micros, Micros], rows: Micros) -> Micros:
    """Signed time from each of the rows to the nearest of its key on the other side; rows without one are left out."""
    left = pd.DataFrame({"key": keys[0][rows], "time": moments[0][rows]}).sort_values("time", kind="stable")
    right = pd.DataFrame({"key": keys[1], "time": moments[1], "other": moments[1]}).sort_values("time", kind="stable")
    near = pd.merge_asof(left[left["key"] >= 0], right[right["key"] >= 0], on="time", by="key", direction="nearest")
    near = near.dropna(subset="other")
    away: Micros = (near["other"] - near["time"]).to_numpy(dtype=np.int64)
    return away
