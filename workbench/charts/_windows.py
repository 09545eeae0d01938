"""Windows with what is in them."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from workbench.arrays import RowNumbers
from workbench.charts import _tooltips as tooltips
from workbench.charts._drawing import LATEST, Drawing
from workbench.charts._rows import Cut, rows
from workbench.charts._style import (
    OBSTACLE_VALUES,
    PAPER,
    QUIET,
    STEPS,
    TIMES,
    WIDTH,
    ends,
    in_steps,
    layout,
    looks,
    moment_text,
    obstacles_in,
    picked_points,
    row_points,
    span_params,
    thin,
    time_axis,
    time_scale,
)
from workbench.charts._view import Scene, View
from workbench.errors import ArgumentError
from workbench.kinds import kind_of
from workbench.literals import RowId
from workbench.model import NO_MICRO_BATCH, Simulation
from workbench.reasons.labels import key_words
from workbench.reasons.spans import closed_in, closing
from workbench.streams import SIDES
from workbench.untyped import AltairChart, Record

MOST_WINDOWS = 60
"""Windows that overlap at one moment and are drawn all the same, where no shorter stretch has fewer."""
_KINDS = ("both sides", "one side", "open")
_COLOURS = ("#bcd3ea", "#f1dfb3", "#dddddd")
_KIND_NOW = "datum.closed > moment ? 'open' : datum.left > 0 && datum.right > 0 ? 'both sides' : 'one side'"
_MOST_BARS = 600
"""Windows that are drawn one by one; of more, counts are drawn."""
_OWN_LINES = 24
"""Windows up to which each has a line of its own; more share lines where they do not overlap."""
_LABEL = 110
"""Pixels up to which a key beside its line is shown."""
_MOST_LINES = 40
"""Lines up to which windows are drawn one by one."""


def windows(spans: pd.DataFrame, rows: pd.DataFrame, *, names: Sequence[str], title: str, total: int) -> Drawing:
    """Each window as a bar with its events in it: when it opened and closed, and what it held.

    Parameters
    ----------
    spans
        In order of start: ``window`` (a number), ``line`` (on which it is drawn), ``start``, ``end``, ``left``,
        ``right`` (rows), ``opened``, ``closed`` (micro-batches; the last is `LATEST` for what is still open), ``key``
        (of a session; empty for windows of all keys), ``label`` (the key, before the first window of its own line).
    rows
        As in `timeline`, one row for each window that a row is in, and ``window``, ``line``; at most `MOST_ROWS`.
    names, title
        As in `timeline`.
    total
        How many windows there are, shown or not.
    """
    note = f"{total:,} windows"
    if len(spans) < total:
        note = f"the first {len(spans)} of {total:,} windows that overlap here; pick a row to see all of its key"
    lines = int(spans["line"].max()) + 1 if len(spans) else 1
    step = max(7, min(22, 560 // lines))
    keyed = bool(spans["key"].notna().any())
    tables = {"spans": spans, "rows": rows}
    subtitle = f"{note} · {names[0]} above {names[1]} in each · point at one to see when it opened and closed"
    values = span_params(*ends(spans["start"], spans["end"])) | obstacles_in(rows)
    return Drawing(_layout(tuple(names), keyed, step), tables, title, subtitle, values, along="x")


def window_counts(table: pd.DataFrame, title: str, total: int, step: pd.Timedelta) -> Drawing:
    """Windows too many to be drawn, counted by what they held, in steps of their start.

    Parameters
    ----------
    table
        Columns ``start``, ``end`` (of the step), ``kind`` (``both sides``, ``one side`` or ``open``), ``windows``.
    title
        The chart's title.
    total
        How many windows there are.
    step
        How long a step is.
    """
    subtitle = in_steps(total, step, "windows", "ones")
    values = span_params(*ends(table["start"], table["end"]))
    return Drawing(_counts_layout(), {"counts": table}, title, subtitle, values, True, along="x")


def _kinds(field: str) -> alt.Color:
    scale = alt.Scale(domain=list(_KINDS), range=list(_COLOURS))
    return alt.Color(field, scale=scale, legend=alt.Legend(title="window holds", orient="top"))


@layout
def _layout(names: tuple[str, str], keyed: bool, step: int) -> AltairChart:
    y = alt.Y("line:O", axis=None, sort=None)
    edges = {"from": moment_text("start"), "to": moment_text("end")}
    closes = f"datum.closed < {LATEST} ? '' + datum.closed : 'still open'"
    bars = (
        alt.Chart(alt.NamedData("spans"))
        .transform_filter("datum.opened <= moment")
        .transform_calculate(**edges, closes=closes, kind=_KIND_NOW)
        .mark_bar(cornerRadius=3, opacity=0.9, stroke=PAPER, strokeWidth=1, clip=True)
        .encode(
            x=alt.X("start:T", title="event time (UTC)", axis=time_axis(), scale=time_scale()),
            x2="end:T",
            y=y,
            color=_kinds("kind:N"),
            tooltip=[
                *([tooltips.KEY] if keyed else []),
                alt.Tooltip("from:N"),
                alt.Tooltip("to:N"),
                alt.Tooltip("left:Q", title=f"rows of {names[0]}"),
                alt.Tooltip("right:Q", title=f"rows of {names[1]}"),
                alt.Tooltip("opened:Q", title="opened in micro-batch"),
                alt.Tooltip("closes:N", title="closed in micro-batch"),
            ],
        )
    )
    x = alt.X("time:T", scale=time_scale())
    place: Record = {
        "x": x,
        "y": y,
        "yOffset": alt.YOffset("side:N", scale=alt.Scale(domain=["left", "right"])),
    }
    points, rings = row_points(names, place), picked_points().encode(**place)
    labels = (
        alt.Chart(alt.NamedData("spans"))
        .transform_filter("datum.opened <= moment")
        .mark_text(align="right", dx=-8, fontSize=10, limit=_LABEL, color=QUIET)
        .encode(x=alt.value(0), y=y, text="label:N")
    )
    layers = [bars, points, rings, *([labels] if keyed else [])]
    chart: AltairChart = alt.layer(*layers).resolve_scale(color="independent", shape="independent")
    values = TIMES | OBSTACLE_VALUES | {"size": 34, "moment": LATEST, "picked": []}
    return looks(chart, values, width=WIDTH, height={"step": step, "for": "position"})


@layout
def _counts_layout() -> AltairChart:
    bars = (
        alt.Chart(alt.NamedData("counts"))
        .transform_calculate(**{"from": moment_text("start")})
        .transform_stack(["y0", "y1"], "windows", ["start"])
        .mark_rect(stroke=QUIET, strokeWidth=0.2)
        .encode(
            x=alt.X("start:T", title="start of the window, in event time (UTC)", axis=time_axis(), scale=time_scale()),
            x2="end:T",
            y=alt.Y("y0:Q", title="windows"),
            y2="y1:Q",
            color=_kinds("kind:N"),
            tooltip=["from:N", alt.Tooltip("kind:N", title="holds"), alt.Tooltip("windows:Q", format=",")],
        )
    )
    return looks(alt.layer(bars), TIMES | {"moment": LATEST, "picked": []}, width=WIDTH, height=300)


def _draw(scene: Scene) -> Drawing:
    simulation, cut = scene.simulation, scene.cut
    if not simulation.windowed:
        raise ArgumentError("join: this join has no windows; its timeline shows the rows in reach of each other")
    title = f"{kind_of(simulation.join).label}: the rows of each window"
    names = simulation.names
    sessions = kind_of(simulation.join).merging
    every = _members(simulation, sessions)
    spans = _spans(simulation, every, sessions)
    spans = spans[(spans["end"] > cut.low) & (spans["start"] <= cut.high)]
    total = len(spans)
    spans = spans.sort_values("start", kind="stable")
    by_key = _lines_of_keys(simulation, spans) if sessions else None
    spans["line"] = _lines(spans) if by_key is None else by_key
    if total > _MOST_BARS or (total > MOST_WINDOWS and spans["line"].max() >= _MOST_LINES):
        if not _all_overlap(spans, cut):
            table, step = _window_counts(spans)
            return window_counts(table, title, total, step)
        spans = spans.head(MOST_WINDOWS).copy()
    shown = spans
    inside = every.iloc[np.flatnonzero(every["window"].isin(shown.index))]
    if sessions:
        shown = shown.assign(key=_keys(simulation, inside))
        unnamed = shown["line"].duplicated(keep=False) if by_key is None else shown["line"].duplicated()
        shown["label"] = shown["key"].where(~unnamed, "")
    drawn = thin(inside)
    sides = np.where(drawn["left"], *SIDES)
    shown_rows = rows(simulation, {side: np.unique(drawn.loc[sides == side, "row"]) for side in SIDES}, scene.reasons)
    ids = [str(RowId(side, row)) for side, row in zip(sides, drawn["row"], strict=True)]
    shown_rows = shown_rows.set_index("row_id").loc[ids].reset_index()
    shown_rows = shown_rows.assign(
        window=drawn["window"].to_numpy(), line=shown["line"].loc[drawn["window"]].to_numpy()
    )
    for name in ("start", "end"):
        shown[name] = shown[name].to_numpy(dtype=np.int64).astype("datetime64[us]")
    return windows(shown.reset_index(), shown_rows, names=names, title=title, total=total)


def _lines_of_keys(simulation: Simulation, spans: pd.DataFrame) -> RowNumbers | None:
    """A line for each key, whose sessions do not overlap, in order of the first; None where keys are too many."""
    lines, keys = pd.factorize(simulation.outcome.groups["key"].loc[spans.index])
    return lines if 0 < len(keys) <= _MOST_LINES and len(spans) <= _MOST_BARS else None


def _lines(spans: pd.DataFrame) -> list[int]:
    """The line on which each window is drawn, in order of start: one of its own, or one that is free by then."""
    if len(spans) <= _OWN_LINES or len(spans) > _MOST_BARS:
        return list(range(len(spans)))
    ends: list[int] = []
    found = []
    for start, end in spans[["start", "end"]].itertuples(index=False):
        line = next((place for place, last in enumerate(ends) if last <= start), len(ends))
        ends[line : line + 1] = [end]
        found.append(line)
    return found


def _all_overlap(spans: pd.DataFrame, cut: Cut) -> bool:
    """Whether no shorter stretch than the cut has fewer windows."""
    low, high = max(cut.low, spans["start"].min()), min(cut.high, spans["end"].max())
    return bool(((spans["start"] <= low) & (spans["end"] > high)).all())


def _members(simulation: Simulation, sessions: bool) -> pd.DataFrame:
    """Every assignment of a row to a window: ``left`` (its side), ``row``, ``window`` and its times, ``batch``."""
    parts = []
    for side in SIDES:
        assignments = simulation.outcome.assignments[side]
        kept = np.flatnonzero((assignments["key"].to_numpy() >= 0) & ~assignments["late"].to_numpy())
        columns = {name: assignments[name].to_numpy()[kept] for name in ("row", "start", "end", "batch", "group")}
        parts.append(pd.DataFrame({"left": side == "left", **columns}, index=range(len(kept))))
    every = pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)
    every["window"] = every["group"] if sessions else every.groupby(["start", "end"]).ngroup()
    return every


def _spans(simulation: Simulation, every: pd.DataFrame, sessions: bool) -> pd.DataFrame:
    """The windows: ``start``, ``end`` (microseconds), ``left``, ``right`` (rows), ``opened``, ``closed``, ``key``."""
    together = every.groupby("window")
    spans = together[["start", "end"]].first()
    spans["left"] = together["left"].sum()
    spans["right"] = together.size() - spans["left"]
    spans["opened"] = together["batch"].min()
    if sessions:
        groups = simulation.outcome.groups
        spans[["start", "end"]] = groups[["start", "end"]].loc[spans.index]
        closed = closed_in(simulation, groups["batch"].loc[spans.index].to_numpy())
    else:
        closed = closing(simulation, spans["end"].to_numpy())
    return spans.assign(closed=closed, key=None, label="")


def _keys(simulation: Simulation, inside: pd.DataFrame) -> pd.Series:
    first = inside.drop_duplicates("window")
    sides = np.where(first["left"], *SIDES)
    words = [
        key_words(simulation.side(side), np.array([row]))[0] for side, row in zip(sides, first["row"], strict=True)
    ]
    return pd.Series(words, index=first["window"].to_numpy(), dtype=object)


def _window_counts(spans: pd.DataFrame) -> tuple[pd.DataFrame, pd.Timedelta]:
    low = int(spans["start"].min())
    width = max(1, -(-(int(spans["start"].max()) + 1 - low) // STEPS))
    one = (spans["left"] == 0) | (spans["right"] == 0)
    kind = np.select([spans["closed"] == NO_MICRO_BATCH, one], ["open", "one side"], "both sides")
    table = pd.DataFrame({"step": (spans["start"] - low) // width, "kind": kind})
    table = table.groupby(["step", "kind"]).size().rename("windows").reset_index()
    start = low + table.pop("step").to_numpy() * width
    table["start"], table["end"] = start.astype("datetime64[us]"), (start + width).astype("datetime64[us]")
    return table, pd.Timedelta(width, unit="us")


VIEW = View(
    "windows",
    "Windows",
    "The rows of each window, when it opened and when it closed.",
    """Which event is in which windows, with each window's opening, closing and content.

        Raises
        ------
        ArgumentError
            For an interval join, which has no windows.
        """,
    _draw,
    of_windows=True,
)
