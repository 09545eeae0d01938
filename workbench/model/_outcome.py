"""What Spark makes of the recorded micro-batches: which copies are late, which meet, what is held, what comes out when.

The rules are those of Spark 4.3 (``StreamingSymmetricHashJoinExec``, ``StateStoreSaveExec`` and
``SessionWindowStateStoreRestoreExec``): rows are late by the watermark of the micro-batch before; a micro-batch's left
rows meet the right rows in state, its right rows then meet all left rows in state and of the same micro-batch; last,
what the watermark has passed leaves the state, and the rows of an outer side that met nobody come out padded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from workbench import times
from workbench.joins import CoGroup, IntervalJoin, Join, WindowJoin
from workbench.model._definition import Micros, copies, key_codes, matches
from workbench.model._sessions import close_sessions
from workbench.model._watermarks import (
    Watermarks,
    dropped_null_keys,
    eviction_thresholds,
    nothing_late,
    watermarks,
)
from workbench.streams import SIDES, Stream
from workbench.windows import Session

PADDED = {"left": ("left",), "right": ("right",), "full": SIDES, "anti": ("left",)}
"""For each ``how`` the sides whose rows come out without a partner."""


@dataclass(frozen=True)
class Outcome:
    """What a run must give. All times in microseconds since 1970-01-01 UTC.

    Attributes
    ----------
    marks
        The watermarks.
    keys
        The keys of both sides, as `key_codes` gives them.
    copies
        Per side one row for each row and window (once a row in an interval join), in order of row, then window:
        ``row``; ``start``, ``end`` (the window, in a session join the one the row opens alone; in an interval join both
        are the event time); ``batch`` (its arrival); ``filtered`` (its key is null, and Spark filters it out before
        anything else); ``late``; ``watermark`` (the one it was judged by); ``leaves`` (the micro-batch at whose end it
        is no longer in state; the number of micro-batches if it never leaves); ``held`` (whether it is in state after
        any micro-batch); ``matched`` (whether it is in a pair, or in a group with the other side); ``group`` (in
        sessions and coGroup the group it is in, -1 if in none).
    pairs
        Every pair that comes out: ``left``, ``right`` (rows), ``left_copy``, ``right_copy`` (places in ``copies``),
        ``start``, ``end`` (of the window; 0 in an interval join), ``batch``. None for a coGroup.
    padded
        Rows that come out without a partner: ``side``, ``row``, ``start``, ``end``, ``batch``.
    groups
        Sessions and coGroup only: ``key`` (code; below 0 a null key), ``start``, ``end``, ``batch`` (in which
        it comes out; the number of micro-batches if it is still open), ``left``, ``right`` (how many rows of each
        side). Else empty.
    open_groups
        How many groups are open after each micro-batch.
    """

    marks: Watermarks
    keys: tuple[Micros, Micros]
    copies: dict[str, pd.DataFrame]
    pairs: pd.DataFrame
    padded: pd.DataFrame
    groups: pd.DataFrame
    open_groups: Micros

    def held_after(self, batch: int, side: str) -> pd.DataFrame:
        """The copies of a side that are in state after a micro-batch."""
        mine = self.copies[side]
        return mine[mine["held"] & (mine["batch"] <= batch) & (mine["leaves"] > batch)]

    def state_rows(self) -> dict[str, Micros]:
        """Per side how many copies are in state after each micro-batch."""
        count = len(self.marks)
        rows = {}
        for side in SIDES:
            batch, leaves, held = (self.copies[side][name].to_numpy() for name in ("batch", "leaves", "held"))
            come = np.bincount(batch[held], minlength=count)[:count]
            gone = np.bincount(leaves[held], minlength=count + 1)[:count]
            rows[side] = np.cumsum(come - gone)
        return rows

    def state_counts(self) -> Micros:
        """How many rows are in state after each micro-batch, as Spark counts them: groups in sessions and coGroup."""
        rows = self.state_rows()
        return self.open_groups if len(self.groups) else rows["left"] + rows["right"]

    def output_rows(self, join: Join) -> Micros:
        """How many rows come out in each micro-batch."""
        count = len(self.marks)
        if isinstance(join, CoGroup):
            return np.bincount(self.groups["batch"], minlength=count + 1)[:count]
        pairs = first_matches(self) if join.how == "semi" else self.pairs
        shown = [] if join.how == "anti" else [pairs["batch"]]
        batches = np.concatenate([*shown, self.padded["batch"]]).astype(np.int64)
        return np.bincount(batches, minlength=count + 1)[:count]


class Shared:
    """What runs of the same rows under several settings have in common, worked out once.

    Parameters
    ----------
    left, right
        The streams; their watermark delays do not matter here.

    Attributes
    ----------
    keys
        As `key_codes` gives them.
    """

    def __init__(self, left: Stream, right: Stream) -> None:
        self._streams = dict(zip(SIDES, (left, right), strict=True))
        self.keys = key_codes(left, right)
        self._copies: dict[tuple[object, str], pd.DataFrame] = {}
        self._matches: dict[object, tuple[Micros, Micros]] = {}

    def copies(self, join: Join, side: str) -> pd.DataFrame:
        """The copies of a side in the join's windows, with ``batch`` and ``key``."""
        what = None if isinstance(join, IntervalJoin) else join.window
        if (what, side) not in self._copies:
            stream = self._streams[side]
            mine = copies(join, stream.event_times)
            row = mine["row"].to_numpy()
            key = self.keys[SIDES.index(side)]
            self._copies[what, side] = mine.assign(batch=stream.arrival[row], key=key[row])
        return self._copies[what, side]

    def matches(self, join: WindowJoin | IntervalJoin) -> tuple[Micros, Micros]:
        """The pairs by definition, as places in the copies."""
        what: object
        if isinstance(join, IntervalJoin):
            what = (join.lower, join.upper, join.lower_exclusive, join.upper_exclusive)
        else:
            what = join.window
        if what not in self._matches:
            self._matches[what] = matches(join, *(self.copies(join, side) for side in SIDES))
        return self._matches[what]


def first_matches(outcome: Outcome) -> pd.DataFrame:
    """For each left copy with a partner its first pair: what a semi join gives."""
    return outcome.pairs.sort_values("batch", kind="stable").drop_duplicates("left_copy")


def work_out(
    join: Join,
    left: Stream,
    right: Stream,
    finish: bool = True,
    policy: str = "min",
    alone: bool = True,
    shared: Shared | None = None,
) -> Outcome:
    """What a run of these recorded streams must give.

    Parameters
    ----------
    join, left, right, finish, policy
        As in `workbench.run`.
    alone
        As in `watermarks`.
    shared
        What runs of these rows under other settings have found out already.
    """
    shared = Shared(left, right) if shared is None else shared
    return play(join, watermarks(join, left, right, shared.keys, finish, policy, alone), shared)


def complete(join: Join, left: Stream, right: Stream, shared: Shared | None = None) -> Outcome:
    """What comes out of these streams with nothing dropped as late, not even what lies before 1970.

    Parameters
    ----------
    join, left, right, shared
        As in `work_out`.
    """
    shared = Shared(left, right) if shared is None else shared
    return play(join, nothing_late(max(left.batch_count, right.batch_count)), shared)


def play(join: Join, marks: Watermarks, shared: Shared) -> Outcome:
    """What comes out of the rows in `shared` under these watermarks, whatever rows they come from."""
    keys = shared.keys
    sides = {}
    for side, filtered in zip(SIDES, dropped_null_keys(join), strict=True):
        mine = shared.copies(join, side).copy(deep=False)
        mine["filtered"] = (mine["key"] < 0) if filtered else False
        mine["watermark"] = marks.late[mine["batch"]]
        mine["late"] = (mine["end"] <= mine["watermark"]) & ~mine["filtered"]
        sides[side] = mine
    if isinstance(join, CoGroup) or (isinstance(join, WindowJoin) and isinstance(join.window, Session)):
        return _grouped(join, keys, marks, sides)
    return _joined(join, keys, marks, sides, shared.matches(join))


def _joined(
    join: WindowJoin | IntervalJoin,
    keys: tuple[Micros, Micros],
    marks: Watermarks,
    sides: dict[str, pd.DataFrame],
    partners: tuple[Micros, Micros],
) -> Outcome:
    """A stream-stream join."""
    count = len(marks)
    for side, threshold in zip(SIDES, eviction_thresholds(join, marks), strict=True):
        mine = sides[side]
        mine["leaves"] = np.maximum(mine["batch"], np.searchsorted(np.maximum.accumulate(threshold), mine["end"]))
        mine["group"] = -1
    at = {
        side: {name: sides[side][name].to_numpy() for name in ("row", "batch", "leaves", "start", "end")}
        for side in SIDES
    }
    alive = {side: ~(sides[side]["late"] | sides[side]["filtered"]).to_numpy() for side in SIDES}
    one, other = partners
    came = at["left"]["batch"][one], at["right"]["batch"][other]
    met = alive["left"][one] & alive["right"][other]
    met &= (came[0] >= came[1]) | (at["left"]["leaves"][one] >= came[1])
    met &= (came[1] >= came[0]) | (at["right"]["leaves"][other] >= came[0])
    if join.how == "semi":
        # Spark 4.3 does not store the left row of a semi join that leaves the state in the micro-batch it arrives in,
        # so a partner in that same micro-batch does not meet it, although neither is late
        met &= (came[0] != came[1]) | (at["left"]["leaves"][one] > came[0])
    one, other, batch = one[met], other[met], np.maximum(*came)[met]
    windowed = not isinstance(join, IntervalJoin)
    pairs = pd.DataFrame(
        {
            "left": at["left"]["row"][one],
            "right": at["right"]["row"][other],
            "left_copy": one,
            "right_copy": other,
            "start": at["left"]["start"][one] if windowed else 0,
            "end": at["left"]["end"][one] if windowed else 0,
            "batch": batch,
        }
    )
    for side, place in zip(SIDES, (one, other), strict=True):
        matched = np.zeros(len(sides[side]), dtype=bool)
        matched[place] = True
        sides[side]["matched"] = matched
        kept = alive[side] & ~_at_once(join, side, sides[side])
        if join.how == "semi" and side == "left":  # done with a row that has met another
            leaves = sides[side]["leaves"].to_numpy().copy()
            np.minimum.at(leaves, one, batch)
            sides[side]["leaves"] = leaves
        sides[side]["held"] = kept & (sides[side]["leaves"] > sides[side]["batch"])
    padded = []
    for side in PADDED.get(join.how, ()):
        mine = sides[side]
        lone = mine[alive[side] & ~mine["matched"]].assign(side=side)
        lone["batch"] = np.where(_at_once(join, side, lone), lone["batch"], lone["leaves"])
        padded.append(lone[lone["batch"] < count])
    return Outcome(marks, keys, sides, pairs, _padding(padded, windowed), _no_groups(), np.zeros(count, int))


def _at_once(join: WindowJoin | IntervalJoin, side: str, mine: pd.DataFrame) -> Any:
    """Rows that Spark pads on arrival and never keeps.

    A full outer join needs the condition that the left key is not null (Spark would pair two null keys); rows that fail
    a condition on their side alone are padded at once.
    """
    return (mine["key"] < 0) & (join.how == "full" and side == "left")


def _padding(parts: list[pd.DataFrame], windowed: bool) -> pd.DataFrame:
    columns = ["side", "row", "start", "end", "batch"]
    full = [part[columns] for part in parts if len(part)]
    padded = pd.concat(full, ignore_index=True) if full else pd.DataFrame(columns=columns).astype({"batch": np.int64})
    if not windowed:
        padded[["start", "end"]] = 0
    return padded


def _no_groups() -> pd.DataFrame:
    return pd.DataFrame(
        {name: np.array([], dtype=np.int64) for name in ("key", "start", "end", "batch", "left", "right")}
    )


def _grouped(
    join: WindowJoin | CoGroup, keys: tuple[Micros, Micros], marks: Watermarks, sides: dict[str, pd.DataFrame]
) -> Outcome:
    """Sessions and coGroup: both sides together in groups, which come out when the watermark has passed them."""
    count = len(marks)
    both = pd.concat([sides[side].assign(side=number) for number, side in enumerate(SIDES)], ignore_index=True)
    alive = np.flatnonzero(~(both["late"] | both["filtered"]))
    taken = both.iloc[alive]
    if isinstance(join.window, Session):
        # a null key equals nothing: rows with one share a session only where side, key columns and time are the same
        lone = taken.groupby(["side", "key", "start"], sort=False).ngroup().to_numpy()
        key = np.where(taken["key"] >= 0, taken["key"], taken["key"].max() + 1 + lone) if len(taken) else lone
        start, end, batch = (taken[name].to_numpy() for name in ("start", "end", "batch"))
        group, found, still_open = close_sessions(key, start, end, batch, marks)
    else:
        group = taken.groupby(["key", "start"], sort=False).ngroup().to_numpy()
        found = taken[["start"]].iloc[np.unique(group, return_index=True)[1]].reset_index(drop=True)
        found["end"] = found["start"] + times.micros(join.window.size)
        found["batch"] = np.searchsorted(marks.eviction, found["end"])
        opened = pd.Series(taken["batch"].to_numpy()).groupby(group).min().to_numpy()
        still_open = np.cumsum(
            np.bincount(opened, minlength=count) - np.bincount(found["batch"], minlength=count + 1)[:count]
        )
    for number, side in enumerate(SIDES):
        found[side] = np.bincount(group[(taken["side"] == number).to_numpy()], minlength=len(found))
    found["key"] = -1
    found.loc[group, "key"] = taken["key"].to_numpy()
    both["group"], both["leaves"], both["held"], both["matched"] = -1, both["batch"], False, False
    columns = {name: both[name].to_numpy().copy() for name in ("group", "leaves", "held", "matched")}
    columns["group"][alive] = group
    columns["leaves"][alive] = found["batch"].to_numpy()[group]
    columns["held"][alive] = columns["leaves"][alive] > taken["batch"].to_numpy()
    met = ((found["left"] > 0) & (found["right"] > 0) & (found["key"] >= 0)).to_numpy()
    columns["matched"][alive] = (met & (found["batch"] < count).to_numpy())[group]
    both = both.assign(**columns)
    cut = len(sides["left"])
    sides = {
        "left": both.iloc[:cut].drop(columns="side").reset_index(drop=True),
        "right": both.iloc[cut:].drop(columns="side").reset_index(drop=True),
    }
    found = found[["key", "start", "end", "batch", "left", "right"]]
    if isinstance(join, CoGroup):
        return Outcome(marks, keys, sides, _no_pairs(), _padding([], True), found, still_open)
    members = {
        side: sides[side].loc[sides[side]["group"] >= 0, ["row", "group"]].reset_index(names=f"{side}_copy")
        for side in SIDES
    }
    pairs = (
        members["left"]
        .rename(columns={"row": "left"})
        .merge(members["right"].rename(columns={"row": "right"}), on="group")
    )
    pairs = pairs[met[pairs["group"]] & (found["batch"].to_numpy()[pairs["group"]] < count)]
    for name in ("start", "end", "batch"):
        pairs[name] = found[name].to_numpy()[pairs["group"]]
    padded = []
    for side in PADDED.get(join.how, ()):
        lone = sides[side][(sides[side]["group"] >= 0) & ~sides[side]["matched"]].assign(side=side)
        for name in ("start", "end", "batch"):
            lone[name] = found[name].to_numpy()[lone["group"]]
        padded.append(lone[lone["batch"] < count])
    return Outcome(
        marks,
        keys,
        sides,
        pairs.drop(columns="group").reset_index(drop=True),
        _padding(padded, True),
        found,
        still_open,
    )


def _no_pairs() -> pd.DataFrame:
    names = ("left", "right", "left_copy", "right_copy", "start", "end", "batch")
    return pd.DataFrame({name: np.array([], dtype=np.int64) for name in names})
