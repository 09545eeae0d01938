"""Windows with what is in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from workbench.charts._drawing import LATEST, Drawing
from workbench.charts._style import (
    QUIET,
    TIMES,
    WIDTH,
    counted,
    ends,
    layout,
    looks,
    moment_text,
    params,
    picked_points,
    row_points,
    span_params,
    time_axis,
    time_scale,
)

MOST_WINDOWS = 60
_KINDS = ("both sides", "one side", "open")
_COLOURS = ("#bcd3ea", "#f1dfb3", "#dddddd")
_KIND_NOW = "datum.closed > moment ? 'open' : datum.left > 0 && datum.right > 0 ? 'both sides' : 'one side'"


def windows(spans: pd.DataFrame, rows: pd.DataFrame, names: Sequence[str], title: str, total: int) -> Drawing:
    """Each window as a bar with its events in it: when it opened and closed, and what it held.

    Parameters
    ----------
    spans
        In order of start, at most `MOST_WINDOWS`: ``window`` (a number), ``start``, ``end``, ``left``, ``right``
        (rows), ``opened``, ``closed`` (micro-batches; the last is `LATEST` for what is still open), ``key`` (of a
        session; empty for windows of all keys).
    rows
        As in `timeline`, one row for each window that a row is in, and ``window``; at most `MOST_ROWS`.
    names, title
        As in `timeline`.
    total
        How many windows there are, shown or not.
    """
    note = f"the first {len(spans)} of {total:,} windows" if len(spans) < total else f"{total:,} windows"
    step = max(7, min(22, 420 // max(1, len(spans))))
    keyed = bool(spans["key"].notna().any())
    tables = {"spans": spans, "rows": rows}
    subtitle = f"{note} · {names[0]} above {names[1]} in each · point at one to see when it opened and closed"
    values = span_params(*ends(spans["start"], spans["end"]))
    return Drawing(_layout(tuple(names), keyed, step), tables, title, subtitle, values)


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
    subtitle = counted(total, step).replace(" rows, counted", " windows, counted").replace("single rows", "single ones")
    values = span_params(*ends(table["start"], table["end"]))
    return Drawing(_counts_layout(), {"counts": table}, title, subtitle, values, True)


def _kinds(field: str) -> alt.Color:
    scale = alt.Scale(domain=list(_KINDS), range=list(_COLOURS))
    return alt.Color(field, scale=scale, legend=alt.Legend(title="window holds", orient="top"))


@layout
def _layout(names: tuple[str, str], keyed: bool, step: int) -> Any:
    y = alt.Y("window:O", axis=None, sort=None)
    edges = {"from": moment_text("start"), "to": moment_text("end")}
    closes = f"datum.closed < {LATEST} ? '' + datum.closed : 'still open'"
    bars = (
        alt.Chart(alt.NamedData("spans"))
        .transform_filter("datum.opened <= moment")
        .transform_calculate(**edges, closes=closes, kind=_KIND_NOW)
        .mark_bar(cornerRadius=3, opacity=0.9)
        .encode(
            x=alt.X("start:T", title="event time (UTC)", axis=time_axis(), scale=time_scale()),
            x2="end:T",
            y=y,
            color=_kinds("kind:N"),
            tooltip=[
                *([alt.Tooltip("key:N")] if keyed else []),
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
    place: dict[str, Any] = {
        "x": x,
        "y": y,
        "yOffset": alt.YOffset("side:N", scale=alt.Scale(domain=["left", "right"])),
    }
    points, rings = row_points(names).encode(**place), picked_points().encode(**place)
    chart: Any = alt.layer(bars, points, rings).resolve_scale(color="independent")
    chart = chart.add_params(*params(**TIMES, size=34, moment=LATEST, picked=[]))
    return looks(chart.properties(width=WIDTH, height={"step": step, "for": "position"}))


@layout
def _counts_layout() -> Any:
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
    brush = alt.selection_interval(name="brush", encodings=["x"])
    chart = alt.layer(bars).add_params(brush, *params(**TIMES, moment=LATEST, picked=[]))
    return looks(chart.properties(width=WIDTH, height=300))
