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
    inside = every[every["window"].isin(shown.index)]
    ids = inside["side"] + "-" + inside["row"].astype(str)
    chosen = {side: np.unique(inside.loc[inside["side"] == side, "row"]) for side in SIDES}
    told = rows(run, chosen, reasons)
    told = told.set_index("row_id").loc[ids].reset_index().assign(window=inside["window"].to_numpy())
    if sessions:
        shown = shown.assign(key=_keys(run, inside))
    for name in ("start", "end"):
        shown[name] = shown[name].to_numpy(dtype=np.int64).astype("datetime64[us]")
    return charts.windows(shown.reset_index(), told, names, title, len(spans))


def _members(run: Run, sessions: bool) -> pd.DataFrame:
    """Every copy of a row that is in a window: ``side``, ``row``, ``window``, ``start``, ``end``, ``batch``."""
    parts = [run.outcome.copies[side].assign(side=side) for side in SIDES]
    every = pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)
    every = every[(every["key"] >= 0) & ~every["late"]]
    if sessions:
        return every.assign(window=every["group"])
    return every.assign(window=np.unique(every["start"], return_inverse=True)[1])


def _spans(run: Run, every: pd.DataFrame, sessions: bool) -> pd.DataFrame:
    """The windows: ``start``, ``end`` (microseconds), ``left``, ``right`` (rows), ``opened``, ``closed``, ``key``."""
    left = every["side"] == "left"
    together = every.assign(left=left, right=~left).groupby("window")
    spans = together.agg(
        start=("start", "first"),
        end=("end", "first"),
        left=("left", "sum"),
        right=("right", "sum"),
        opened=("batch", "min"),
    )
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
    words = [
        key_words(run.side(side), np.array([row]))[0] for side, row in zip(first["side"], first["row"], strict=True)
    ]
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
