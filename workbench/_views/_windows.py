"""The windows of a run, with what they held."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from workbench import charts
from workbench._fates import NEVER
from workbench._views._rows import Cut, closing, rows
from workbench._words import key_words
from workbench.joins import CoGroup, WindowJoin
from workbench.streams import SIDES
from workbench.windows import Session

if TYPE_CHECKING:
    from workbench.results import Run

_MOST_BARS = 600
"""Windows that are listed, the first of them drawn; of more, counts are drawn."""


def windows(run: Run, join: WindowJoin | CoGroup, cut: Cut, title: str, reasons: bool = True) -> charts.Drawing:
    """Each window with its events, or counts of windows where they are too many."""
    names = (run.left.name, run.right.name)
    sessions = isinstance(join.window, Session)
    every = _members(run, sessions)
    spans = _spans(run, every, sessions)
    spans = spans[(spans["end"] > cut.low) & (spans["start"] <= cut.high)]
    if len(spans) > _MOST_BARS:
        table, step = _counted(spans)
        return charts.window_counts(table, title, len(spans), step)
    shown = spans.sort_values("start", kind="stable").head(charts.MOST_WINDOWS).copy()
    inside = every.iloc[np.flatnonzero(every["window"].isin(shown.index))]
    if sessions:
        shown = shown.assign(key=_keys(run, inside))
    drawn = charts.thin(inside)
    sides = np.where(drawn["left"], *SIDES)
    told = rows(run, {side: np.unique(drawn.loc[sides == side, "row"]) for side in SIDES}, reasons)
    ids = [f"{side}-{row}" for side, row in zip(sides, drawn["row"], strict=True)]
    told = told.set_index("row_id").loc[ids].reset_index().assign(window=drawn["window"].to_numpy())
    for name in ("start", "end"):
        shown[name] = shown[name].to_numpy(dtype=np.int64).astype("datetime64[us]")
    return charts.windows(shown.reset_index(), told, names, title, len(spans))


def _members(run: Run, sessions: bool) -> pd.DataFrame:
    """Every copy of a row that is in a window: ``left`` (its side), ``row``, ``window`` and its times, ``batch``."""
    parts = []
    for side in SIDES:
        copies = run.outcome.copies[side]
        kept = np.flatnonzero((copies["key"].to_numpy() >= 0) & ~copies["late"].to_numpy())
        columns = {name: copies[name].to_numpy()[kept] for name in ("row", "start", "end", "batch", "group")}
        parts.append(pd.DataFrame({"left": side == "left", **columns}, index=range(len(kept))))
    every = pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)
    every["window"] = every["group"] if sessions else pd.factorize(every["start"], sort=True)[0]
    return every


def _spans(run: Run, every: pd.DataFrame, sessions: bool) -> pd.DataFrame:
    """The windows: ``start``, ``end`` (microseconds), ``left``, ``right`` (rows), ``opened``, ``closed``, ``key``."""
    together = every.groupby("window")
    spans = together[["start", "end"]].first()
    spans["left"] = together["left"].sum()
    spans["right"] = together.size() - spans["left"]
    spans["opened"] = together["batch"].min()
    if sessions:
        groups = run.outcome.groups
        spans[["start", "end"]] = groups[["start", "end"]].loc[spans.index]
        closed = groups["batch"].loc[spans.index].to_numpy()
        closed = np.where(closed < len(run.outcome.marks), closed, NEVER)
    else:
        closed = closing(run, spans["end"].to_numpy())
    return spans.assign(closed=closed, key=None)


def _keys(run: Run, inside: pd.DataFrame) -> pd.Series:
    first = inside.drop_duplicates("window")
    sides = np.where(first["left"], *SIDES)
    words = [key_words(run.side(side), np.array([row]))[0] for side, row in zip(sides, first["row"], strict=True)]
    return pd.Series(words, index=first["window"].to_numpy(), dtype=object)


def _counted(spans: pd.DataFrame) -> tuple[pd.DataFrame, pd.Timedelta]:
    low = int(spans["start"].min())
    width = max(1, -(-(int(spans["start"].max()) + 1 - low) // charts.STEPS))
    one = (spans["left"] == 0) | (spans["right"] == 0)
    kind = np.select([spans["closed"] == NEVER, one], ["open", "one side"], "both sides")
    table = pd.DataFrame({"step": (spans["start"] - low) // width, "kind": kind})
    table = table.groupby(["step", "kind"]).size().rename("windows").reset_index()
    start = low + table.pop("step").to_numpy() * width
    table["start"], table["end"] = start.astype("datetime64[us]"), (start + width).astype("datetime64[us]")
    return table, pd.Timedelta(width, unit="us")
