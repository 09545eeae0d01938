"""Both sides of a join as lanes on event time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from workbench.charts._style import (
    COLOURS,
    FATES,
    QUIET,
    SHADE,
    WIDTH,
    fate_scale,
    room,
    row_tooltip,
    sample_keys,
    stream_name,
    thin,
    time_format,
    titled,
)

MOST_LINES = 4_000
MOST_SPANS = 1_000
_LANES = (1.5, 0.5)
_HEIGHT = 0.78  # of a lane, for the spread of keys
_FOOT = -0.6  # how far the strip of overlapping windows reaches below the lanes


def timeline(
    rows: pd.DataFrame, pairs: pd.DataFrame, spans: pd.DataFrame, names: Sequence[str], title: str
) -> alt.LayerChart:
    """Both sides as lanes on event time, with lines between matched pairs, and fates by colour and shape.

    Parameters
    ----------
    rows
        Columns ``row_id``, ``side`` (left, right), ``key`` (text), ``time``, ``batch``, ``fate``, ``reason``.
    pairs
        Columns ``left``, ``right`` (row_ids).
    spans
        What lies behind: columns ``start``, ``end``, ``row_id`` (of the row whose interval it is, shown when that row
        is pointed at) and ``key`` (of the session it is); both missing for windows that hold for all keys.
    names
        The names of the two streams.
    title
        The chart's title.
    """
    shown, note = sample_keys(rows)
    shown = _placed(shown)
    few = len(shown) <= 30
    windows = spans[spans["row_id"].isna() & spans["key"].isna()].sort_values("start")
    if len(windows) > MOST_SPANS:
        note += f" · {len(windows):,} windows, too narrow to be drawn"
        windows = windows.iloc[:0]
    crossing = bool((windows["start"].iloc[1:].to_numpy() < windows["end"].iloc[:-1].to_numpy()).any())
    lanes = dict(zip(_LANES, names, strict=True)) | ({_FOOT / 2: "windows"} if crossing else {})
    domain = [_FOOT if crossing else 0, 2]
    y = alt.Y("y:Q", scale=alt.Scale(domain=domain, nice=False), axis=_lane_axis(lanes))
    x = alt.X(
        "time:T",
        title="event time (UTC)",
        axis=alt.Axis(format=time_format(shown["time"]), tickCount=10, labelOverlap=True),
        scale=room(shown["time"]),
    )
    pointed = alt.selection_point(name="pointed", fields=["row_id"], on="mouseover", nearest=True, empty=False)

    layers: list[alt.Chart] = []
    if crossing:
        layers.append(_strip(windows))
    elif len(windows):
        layers += _bands(windows)
    sessions = thin(spans[spans["key"].isin(shown["key"])], MOST_SPANS)
    if len(sessions):
        layers.append(_sessions(sessions, shown))
    intervals = spans[spans["row_id"].isin(shown["row_id"])]
    if len(intervals):
        layers.append(_intervals(intervals, pointed))
    borders = [1.0, 0.0] if crossing else [1.0]
    layers.append(alt.Chart(pd.DataFrame({"y": borders})).mark_rule(color="#d0d4d9", strokeDash=[2, 3]).encode(y=y))
    lines = _lines(shown, pairs)
    layers.append(
        alt.Chart(lines)
        .mark_rule(color=COLOURS[0], clip=True, opacity=0.55 if few else max(0.08, min(0.4, 150 / max(1, len(lines)))))
        .encode(x="time:T", x2="other_time:T", y=y, y2="other_y:Q")
    )
    points = (
        alt.Chart(shown)
        .mark_point(filled=True, opacity=0.9, size=110 if few else 28, clip=True)
        .encode(x=x, y=y, **fate_scale("fate"), tooltip=row_tooltip())
        .transform_calculate(stream=stream_name(names))
    )
    layers.append(points.add_params(pointed))
    if few:
        words = alt.Chart(shown.drop_duplicates(["key", "side"])).mark_text(
            align="left", dx=9, fontSize=11, color=QUIET
        )
        layers.append(words.encode(x=x, y=y, text="key:N"))
    chart: Any = alt.layer(*layers).add_params(alt.selection_interval(name="zoom", bind="scales", encodings=["x"]))
    chart = chart.properties(width=WIDTH, height=340 if crossing else 300)
    return titled(chart, title, _counts(rows) + note)


def _counts(rows: pd.DataFrame) -> str:
    counts = rows["fate"].value_counts()
    return " · ".join(f"{counts[fate]:,} {fate}" for fate in FATES if counts.get(fate)) or "no rows"


def _lane_axis(lanes: dict[float, str]) -> alt.Axis:
    words = " : ".join(f"abs(datum.value - {place}) < 0.01 ? {json.dumps(name)}" for place, name in lanes.items())
    return alt.Axis(
        values=list(lanes), labelExpr=f"{words} : ''", title=None, grid=False, ticks=False, domain=False, labelPadding=8
    )


def _placed(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with a height ``y``: their lane, and in it a place for each key, the same on both sides."""
    codes, keys = pd.factorize(rows["key"], sort=True)
    spread = (codes % 24) / 23 - 0.5 if len(keys) > 24 else (codes + 0.5) / max(1, len(keys)) - 0.5
    lane = np.where(rows["side"] == "left", *_LANES)
    return rows.assign(y=lane - spread * _HEIGHT)


def _lines(rows: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    places = rows.set_index("row_id")[["time", "y"]]
    seen = pairs[pairs["left"].isin(places.index) & pairs["right"].isin(places.index)].drop_duplicates(
        ["left", "right"]
    )
    seen = seen.head(MOST_LINES)
    left, right = places.loc[seen["left"]], places.loc[seen["right"]]
    return pd.DataFrame(
        {
            "time": left["time"].to_numpy(),
            "y": left["y"].to_numpy(),
            "other_time": right["time"].to_numpy(),
            "other_y": right["y"].to_numpy(),
        }
    )


def _span_tooltip(what: str) -> list[alt.Tooltip]:
    return [alt.Tooltip(f"{edge}:T", title=f"{what} {edge}", format="%H:%M:%S.%L") for edge in ("start", "end")]


def _bands(windows: pd.DataFrame) -> list[alt.Chart]:
    """Windows that follow one another as bands, every other one shaded."""
    place = {"x": "start:T", "x2": "end:T", "tooltip": _span_tooltip("window")}
    return [
        alt.Chart(windows.iloc[::2]).mark_rect(color=SHADE, opacity=0.55, clip=True).encode(**place),
        alt.Chart(windows).mark_rule(color="#c9d3de", strokeWidth=1, clip=True).encode(x="start:T"),
    ]


def _strip(windows: pd.DataFrame) -> alt.Chart:
    """Windows that overlap as bars in a strip below the lanes."""
    rows = _stacked(windows)
    step = -_FOOT / (rows.max() + 1)
    frame = windows.assign(y=-rows * step - step * 0.12, y2=-(rows + 1) * step + step * 0.12)
    return _rectangles(frame, "#b9cbe0", "window")


def _sessions(sessions: pd.DataFrame, rows: pd.DataFrame) -> alt.Chart:
    """Sessions as bars at the height of their key, in both lanes."""
    heights = rows.drop_duplicates(["key", "side"])[["key", "y"]]
    frame = sessions.drop(columns="row_id").merge(heights, on="key")
    half = _HEIGHT / 2 / max(1, min(24, rows["key"].nunique()))
    return _rectangles(frame.assign(y2=frame["y"] - half, y=frame["y"] + half), SHADE, "session")


def _rectangles(frame: pd.DataFrame, colour: str, what: str) -> alt.Chart:
    return (
        alt.Chart(frame)
        .mark_rect(color=colour, opacity=0.7, cornerRadius=3, clip=True)
        .encode(x="start:T", x2="end:T", y="y:Q", y2="y2:Q", tooltip=_span_tooltip(what))
    )


def _stacked(frame: pd.DataFrame) -> np.ndarray[Any, Any]:
    """For each window, in order of start, the lowest row in which it overlaps none before it."""
    free: list[Any] = []
    rows = []
    for start, end in zip(frame["start"], frame["end"], strict=True):
        row = next((place for place, until in enumerate(free) if until <= start), len(free))
        free[row : row + 1] = [end]
        rows.append(row)
    return np.array(rows)


def _intervals(intervals: pd.DataFrame, pointed: alt.Parameter) -> alt.Chart:
    """The interval of the left row that is pointed at, in the right lane."""
    frame = intervals.drop(columns="key").assign(y=0.02, y2=0.98)
    return _rectangles(frame, "#f3d9a4", "interval").transform_filter(pointed)
