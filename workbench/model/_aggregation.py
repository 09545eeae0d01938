"""Spark's aggregation of both sides together, in groups that come out when the watermark has passed them.

The rules are those of ``StateStoreSaveExec`` and ``SessionWindowStateStoreRestoreExec``, in all versions.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.joins import Join, emission
from workbench.kinds import Micros, kind_of
from workbench.literals import SIDES, Side
from workbench.model._outcome import Outcome
from workbench.model._outputs import Placed, of_groups, of_pairs
from workbench.model._sessions import close_sessions
from workbench.model._shared import Shared
from workbench.model._watermarks import Watermarks
from workbench.model.definition import check_pairs
from workbench.spark_versions import SparkFacts


def replay(join: Join, marks: Watermarks, sides: dict[Side, pd.DataFrame], shared: Shared, _: SparkFacts) -> Outcome:
    """What comes out of the groups; arguments as in `workbench.model._operators.OperatorModel`."""
    count, kind = len(marks), kind_of(join)
    both = pd.concat([sides[side].assign(side=number) for number, side in enumerate(SIDES)], ignore_index=True)
    alive = np.flatnonzero(~(both["late"] | both["filtered"]))
    taken = both.iloc[alive]
    if kind.merging:
        # a null key equals nothing: rows with one share a session only where side, key columns and time are the same
        own = taken.groupby(["side", "key", "start"], sort=False).ngroup().to_numpy()
        key = np.where(taken["key"] >= 0, taken["key"], taken["key"].max() + 1 + own) if len(taken) else own
        start, end, batch = (taken[name].to_numpy() for name in ("start", "end", "batch"))
        group, found, still_open = close_sessions(key, start, end, batch, marks)
    else:
        group = taken.groupby(["key", "start"], sort=False).ngroup().to_numpy()
        found = taken[["start", "end"]].iloc[np.unique(group, return_index=True)[1]].reset_index(drop=True)
        found["batch"] = np.searchsorted(marks.eviction, found["end"])
        opened = pd.Series(taken["batch"].to_numpy()).groupby(group).min().to_numpy()
        still_open = np.cumsum(
            np.bincount(opened, minlength=count) - np.bincount(found["batch"], minlength=count + 1)[:count]
        )
    for number, side in enumerate(SIDES):
        found[side] = np.bincount(group[(taken["side"] == number).to_numpy()], minlength=len(found))
    found["key"] = -1
    found.loc[group, "key"] = taken["key"].to_numpy()
    both["group"], both["evicted_in"], both["held"], both["matched"] = -1, both["batch"], False, False
    columns = {name: both[name].to_numpy().copy() for name in ("group", "evicted_in", "held", "matched")}
    columns["group"][alive] = group
    columns["evicted_in"][alive] = found["batch"].to_numpy()[group]
    columns["held"][alive] = columns["evicted_in"][alive] > taken["batch"].to_numpy()
    met = ((found["left"] > 0) & (found["right"] > 0) & (found["key"] >= 0)).to_numpy()
    columns["matched"][alive] = (met & (found["batch"] < count).to_numpy())[group]
    both = both.assign(**columns)
    cut = len(sides["left"])
    sides = {
        "left": both.iloc[:cut].drop(columns="side").reset_index(drop=True),
        "right": both.iloc[cut:].drop(columns="side").reset_index(drop=True),
    }
    found = found[["key", "start", "end", "batch", "left", "right"]]
    out = (found["batch"] < count).to_numpy()
    if kind.grouped:
        return Outcome(marks, shared.keys, sides, of_groups(found, met, out, sides), found, still_open)
    check_pairs(found["key"].to_numpy(), np.where(met, found["left"] * found["right"], 0), shared.named)
    inside = {}
    for side in SIDES:
        group = sides[side]["group"].to_numpy()
        place = np.flatnonzero(group >= 0)
        place = place[(met & out)[group[place]]]
        inside[side] = pd.DataFrame({side: place, "group": group[place]})
    pairs = inside["left"].merge(inside["right"], on="group")
    placed = _in_groups({side: pairs[side].to_numpy() for side in SIDES}, pairs["group"].to_numpy(), found)
    padded = {}
    for side in emission(join).padded:
        group = sides[side]["group"].to_numpy()
        unmatched = np.flatnonzero((group >= 0) & ~sides[side]["matched"].to_numpy())
        unmatched = unmatched[out[group[unmatched]]]
        padded[side] = _in_groups({side: unmatched}, group[unmatched], found)
    rows = {side: sides[side]["row"].to_numpy() for side in SIDES}
    return Outcome(marks, shared.keys, sides, of_pairs(emission(join), rows, placed, padded), found, still_open)


def _in_groups(assignments: dict[Side, Micros], group: Micros, groups: pd.DataFrame) -> Placed:
    """Outputs that come out with the window and in the micro-batch of their group."""
    return Placed(assignments, *(groups[name].to_numpy()[group] for name in ("start", "end", "batch")))


def dropped(join: Join, late: pd.DataFrame) -> pd.DataFrame:
    """The late rows that Spark counts as dropped: one of each partial aggregate."""
    sides = ["side"] if kind_of(join).merging else []  # sessions: counted before the sides are merged
    return late.drop_duplicates(["batch", *sides, "key", "start"])
