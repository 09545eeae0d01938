"""What all charts share: colours, sizes, formats, and what is drawn of a large recording.

Colours are told apart by colour-blind people, and every fate has a shape of its own besides.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

FATES = ("matched", "unmatched", "late", "pending", "null_key")
COLOURS = ("#2a78b5", "#e69f00", "#c8321e", "#56b4c9", "#8c8c8c")
SIDE_COLOURS = ("#3b6ea5", "#c77d2e")
SHAPES = ("circle", "diamond", "cross", "triangle-up", "square")
MOST_ROWS = 2_000
"""Rows a side that are drawn one by one; of larger streams, whole keys are drawn until this many rows are."""
WIDTH = 780
QUIET = "#7a828c"
SHADE = "#dfe8f2"


def fate_scale(field: str) -> dict[str, Any]:
    fates = list(FATES)
    return {
        "color": alt.Color(
            f"{field}:N",
            scale=alt.Scale(domain=fates, range=list(COLOURS)),
            legend=alt.Legend(title=None, orient="top", symbolSize=90),
        ),
        "shape": alt.Shape(f"{field}:N", scale=alt.Scale(domain=fates, range=list(SHAPES)), legend=None),
    }


def thin(rows: pd.DataFrame, most: int = MOST_ROWS) -> pd.DataFrame:
    """At most so many rows, evenly spread over the frame, the last one among them."""
    if len(rows) <= most:
        return rows
    return rows.iloc[np.linspace(0, len(rows) - 1, most).astype(int)]


def side_scale(names: Sequence[str]) -> alt.Color:
    """The colours of the two streams, by field ``stream``."""
    scale = alt.Scale(domain=list(names), range=list(SIDE_COLOURS))
    return alt.Color("stream:N", scale=scale, legend=alt.Legend(title=None, orient="top"))


def titled(chart: Any, title: str, subtitle: str) -> Any:
    """The chart with its title, and the look that all charts share."""
    words = alt.TitleParams(title, subtitle=subtitle, anchor="start", subtitleColor=QUIET, offset=10)
    return (
        chart.properties(title=words)
        .configure_view(stroke=None)
        .configure_axis(labelFontSize=12, titleFontSize=12, titleFontWeight="normal", titleColor=QUIET, gridOpacity=0.4)
        .configure_title(fontSize=15, subtitleFontSize=12)
        .configure_legend(labelFontSize=12, titleFontSize=12)
    )


def sample_keys(rows: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Whole keys until there are at most `MOST_ROWS` rows a side, and a caption that says what is left out."""
    sizes = rows.groupby(["key", "side"], sort=False).size().unstack(fill_value=0)
    if rows.empty or sizes.sum().max() <= MOST_ROWS:
        return rows, ""
    shuffled = sizes.sample(frac=1.0, random_state=0)
    fits = (shuffled.cumsum() <= MOST_ROWS).all(axis=1)
    fits.iloc[0] = True
    kept = rows[rows["key"].isin(shuffled.index[fits])]
    return (
        kept,
        f" · showing {len(kept):,} of {len(rows):,} rows: all rows of {int(fits.sum()):,} of {len(sizes):,} keys",
    )


def time_format(moments: pd.Series[Any]) -> str:
    """As much of a time as tells the ticks apart."""
    length = moments.max() - moments.min() if len(moments) else pd.Timedelta(0)
    if length < pd.Timedelta("2 s"):
        return "%H:%M:%S.%L"
    if length < pd.Timedelta("20 min"):
        return "%H:%M:%S"
    return "%H:%M" if length < pd.Timedelta("1 day") else "%d %b %H:%M"


def row_tooltip() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("stream:N"),
        alt.Tooltip("key:N"),
        alt.Tooltip("time:T", title="event time", format="%Y-%m-%d %H:%M:%S.%L"),
        alt.Tooltip("batch:Q", title="micro-batch"),
        alt.Tooltip("fate:N"),
        alt.Tooltip("reason:N"),
    ]


def stream_name(names: Sequence[str]) -> str:
    return f"datum.side == 'left' ? {json.dumps(names[0])} : {json.dumps(names[1])}"


def iso(moment: pd.Timestamp) -> str:
    return moment.isoformat()


def room(moments: pd.Series[Any]) -> alt.Scale:
    """A time scale with a little room at both ends."""
    if moments.empty:
        return alt.Scale()
    margin = (moments.max() - moments.min()) * 0.03 + pd.Timedelta(milliseconds=1)
    return alt.Scale(domain=[iso(moments.min() - margin), iso(moments.max() + 2 * margin)], nice=False)
