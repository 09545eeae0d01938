"""Windows with what is in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from workbench.charts._style import WIDTH, fate_scale, room, row_tooltip, stream_name, thin, time_format, titled

MOST_WINDOWS = 60
_KINDS = ("both sides", "one side", "open")
_COLOURS = ("#bcd3ea", "#f1dfb3", "#dddddd")


def windows(spans: pd.DataFrame, rows: pd.DataFrame, names: Sequence[str], title: str) -> alt.LayerChart:
    """Each window as a bar with its events in it: when it opened and closed, and what it held.

    Parameters
    ----------
    spans
        ``window`` (a number), ``start``, ``end``, ``left``, ``right`` (rows), ``opened``, ``closed`` (micro-batches;
        ``closed`` is empty for what is still open), ``key`` (of a session; empty for windows of all keys).
    rows
        As in `timeline`, one row for each window that a row is in, and ``window``.
    names, title
        As in `timeline`.
    """
    cut = len(spans) > MOST_WINDOWS
    shown = spans.sort_values("start").head(MOST_WINDOWS).copy()
    shown["kind"] = "both sides"
    shown.loc[(shown["left"] == 0) | (shown["right"] == 0), "kind"] = "one side"
    shown.loc[shown["closed"].isna(), "kind"] = "open"
    inside = thin(rows[rows["window"].isin(shown["window"])])
    axis = alt.Axis(format=time_format(shown["start"]), tickCount=10, labelOverlap=True)
    scale = room(pd.concat([shown["start"], shown["end"]]))
    y = alt.Y("window:O", axis=None, sort=list(shown["window"]))
    bars = (
        alt.Chart(shown)
        .mark_bar(cornerRadius=3, opacity=0.9)
        .encode(
            x=alt.X("start:T", title="event time (UTC)", axis=axis, scale=scale),
            x2="end:T",
            y=y,
            color=alt.Color(
                "kind:N",
                scale=alt.Scale(domain=list(_KINDS), range=list(_COLOURS)),
                legend=alt.Legend(title="window holds", orient="top"),
            ),
            tooltip=[
                *([alt.Tooltip("key:N")] if shown["key"].notna().any() else []),
                alt.Tooltip("start:T", format="%H:%M:%S.%L"),
                alt.Tooltip("end:T", format="%H:%M:%S.%L"),
                alt.Tooltip("left:Q", title=f"rows of {names[0]}"),
                alt.Tooltip("right:Q", title=f"rows of {names[1]}"),
                alt.Tooltip("opened:Q", title="opened in micro-batch"),
                alt.Tooltip("closed:Q", title="closed in micro-batch"),
            ],
        )
    )
    points = (
        alt.Chart(inside)
        .mark_point(filled=True, size=34, opacity=0.9)
        .encode(x=alt.X("time:T", scale=scale), y=y, **fate_scale("fate"), tooltip=row_tooltip())
        .transform_calculate(stream=stream_name(names))
    )
    note = f"the first {MOST_WINDOWS} of {len(spans):,} windows" if cut else f"{len(spans):,} windows"
    step = max(7, min(22, 420 // max(1, len(shown))))
    chart: Any = (
        alt.layer(bars, points).resolve_scale(color="independent").properties(width=WIDTH, height=alt.Step(step))
    )
    return titled(chart, title, f"{note} · point at one to see when it opened and closed")
