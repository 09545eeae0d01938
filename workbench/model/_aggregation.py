"""Spark's aggregation of both sides together, in groups that come out when the watermark has passed them.

The rules are those of ``StateStoreSaveExec`` and ``SessionWindowStateStoreRestoreExec``, in all versions.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.arrays import Codes, Flags, RowNumbers, Times
from workbench.joins import Join, emission
from workbench.kinds import kind_of
from workbench.literals import SIDES, Side, Sides
from workbench.model._outcome import Outcome, present
from workbench.model._outputs import Placed, of_groups, of_pairs
from workbench.model._sessions import close_sessions
from workbench.model._shared import Shared
from workbench.model._watermarks import Watermarks
from workbench.model.keys_and_pairs import check_pairs
from workbench.model.ordering import along_keys, equal, numbered
from workbench.spark_versions import SparkFacts


def replay(join: Join, marks: Watermarks, sides: dict[Side, pd.DataFrame], shared: Shared, _: SparkFacts) -> Outcome:
    """What comes out of the groups; arguments as in `workbench.model.operators.OperatorModel`."""
    count, kind = len(marks), kind_of(join)
    groups, still_open = _grouped(join, marks, sides)
    met = ((groups["left"] > 0) & (groups["right"] > 0) & (groups["key"] >= 0)).to_numpy()
    out = (groups["batch"] < count).to_numpy()
    for mine in sides.values():
        group, batch = mine["group"].to_numpy(), mine["batch"].to_numpy()
        taken = group >= 0
        mine["evicted_in"] = np.where(taken, groups["batch"].to_numpy()[group], batch) if len(groups) else batch
        mine["held"] = mine["evicted_in"] > batch
        mine["matched"] = taken & (met & out)[group] if len(groups) else False
    if kind.grouped:
        return Outcome(marks, shared.keys, sides, of_groups(groups, met, out, sides), groups, still_open)
    check_pairs(groups["key"].to_numpy(), np.where(met, groups["left"] * groups["right"], 0), shared.named)
    inside = {}
    for side in SIDES:
        group = sides[side]["group"].to_numpy()
        place = np.flatnonzero(sides[side]["matched"].to_numpy())
        inside[side] = pd.DataFrame({side: place, "group": group[place]})
    pairs = inside["left"].merge(inside["right"], on="group")
    placed = _in_groups({side: pairs[side].to_numpy() for side in SIDES}, pairs["group"].to_numpy(), groups)
    padded = {}
    for side in emission(join).padded:
        group = sides[side]["group"].to_numpy()
        unmatched = np.flatnonzero((group >= 0) & ~sides[side]["matched"].to_numpy())
        unmatched = unmatched[out[group[unmatched]]]
        padded[side] = _in_groups({side: unmatched}, group[unmatched], groups)
    rows = {side: sides[side]["row"].to_numpy() for side in SIDES}
    return Outcome(marks, shared.keys, sides, of_pairs(emission(join), rows, placed, padded), groups, still_open)


def _grouped(join: Join, marks: Watermarks, sides: dict[Side, pd.DataFrame]) -> tuple[pd.DataFrame, RowNumbers]:
    """`Outcome.groups` and `Outcome.open_groups`; the rows of both sides are told their ``group``."""
    count, cut = len(marks), len(sides["left"])
    dead = _of_both(sides, "late") | _of_both(sides, "filtered")
    alive = np.flatnonzero(~dead)
    key, start, end, batch = (_of_both(sides, name)[alive] for name in ("key", "start", "end", "batch"))
    is_right = alive >= cut
    if kind_of(join).merging:
        group, groups, still_open = close_sessions(_apart(key, start, is_right), start, end, batch, marks.eviction)
    else:
        group, heads = numbered(equal(*along_keys((key, start))))
        closes = np.searchsorted(marks.eviction, end[heads])
        groups = pd.DataFrame({"start": start[heads], "end": end[heads], "batch": closes}, copy=False)
        opens = np.full(len(heads), count)
        np.minimum.at(opens, group, batch)
        still_open = present(opens, closes, count)
    keys = np.full(len(groups), -1)
    keys[group] = key
    groups.insert(0, "key", keys)
    every = np.full(len(dead), -1)
    every[alive] = group
    parts = (group[~is_right], every[:cut]), (group[is_right], every[cut:])
    for side, (mine, own) in Sides(*parts).items():
        groups[side] = np.bincount(mine, minlength=len(groups))
        sides[side]["group"] = own
    return groups, still_open


def _of_both(sides: dict[Side, pd.DataFrame], name: str) -> Times:
    return np.concatenate([sides[side][name].to_numpy() for side in SIDES])


def _apart(key: Codes, start: Times, is_right: Flags) -> Times:
    """Keys of which those with a null equal nothing: they share a session only where side, columns and time agree."""
    null = np.flatnonzero(key < 0)
    if not len(null):
        return key
    found = key.copy()
    own = pd.DataFrame({"side": is_right[null], "key": key[null], "start": start[null]})
    found[null] = max(int(key.max()), -1) + 1 + own.groupby(["side", "key", "start"], sort=False).ngroup().to_numpy()
    return found


def _in_groups(assignments: dict[Side, RowNumbers], group: RowNumbers, groups: pd.DataFrame) -> Placed:
    """Outputs that come out with the window and in the micro-batch of their group."""
    return Placed(assignments, *(groups[name].to_numpy()[group] for name in ("start", "end", "batch")))


def dropped(join: Join, late: pd.DataFrame) -> pd.DataFrame:
    """The late rows that Spark counts as dropped: one of each partial aggregate."""
    sides = ["side"] if kind_of(join).merging else []  # sessions: counted before the sides are merged
    return late.drop_duplicates(["batch", *sides, "key", "start"])
