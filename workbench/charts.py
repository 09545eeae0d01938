"""Altair charts of tables: no Spark and no widget here.

All take frames with documented columns and give a chart. Colours are told apart by colour-blind people, and every fate
has a shape of its own besides.
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
SHAPES = ("circle", "diamond", "cross", "triangle-up", "square")
MOST_ROWS = 2_000
"""Rows a side that are drawn one by one; of larger streams, whole keys are drawn until this many rows are."""
MOST_LINES = 4_000
WIDTH = 780
_LANES = (1.5, 0.5)
_HEIGHT = 0.78  # of a lane, for the spread of keys
_QUIET = "#7a828c"
_SHADE = "#dfe8f2"
_FOOT = -0.6  # how far the strip of overlapping windows reaches below the lanes


def _scale(field: str) -> dict[str, Any]:
    fates = list(FATES)
    return {
        "color": alt.Color(
            f"{field}:N",
            scale=alt.Scale(domain=fates, range=list(COLOURS)),
            legend=alt.Legend(title=None, orient="top", symbolSize=90),
        ),
        "shape": alt.Shape(f"{field}:N", scale=alt.Scale(domain=fates, range=list(SHAPES)), legend=None),
    }


def _titled(chart: alt.LayerChart, title: str, subtitle: str, height: int) -> alt.LayerChart:
    return (
        chart.properties(
            width=WIDTH,
            height=height,
            title=alt.TitleParams(title, subtitle=subtitle, anchor="start", subtitleColor=_QUIET, offset=10),
        )
        .configure_view(stroke=None)
        .configure_axis(
            labelFontSize=12, titleFontSize=12, titleFontWeight="normal", titleColor=_QUIET, gridOpacity=0.4
        )
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
    crossing = bool((windows["start"].iloc[1:].to_numpy() < windows["end"].iloc[:-1].to_numpy()).any())
    lanes = dict(zip(_LANES, names, strict=True)) | ({_FOOT / 2: "windows"} if crossing else {})
    domain = [_FOOT if crossing else 0, 2]
    y = alt.Y("y:Q", scale=alt.Scale(domain=domain, nice=False), axis=_lane_axis(lanes))
    x = alt.X(
        "time:T",
        title="event time (UTC)",
        axis=alt.Axis(format=_time_format(shown["time"]), tickCount=10, labelOverlap=True),
        scale=_room(shown["time"]),
    )
    pointed = alt.selection_point(name="pointed", fields=["row_id"], on="mouseover", nearest=True, empty=False)

    layers: list[alt.Chart] = []
    if crossing:
        layers.append(_strip(windows))
    elif len(windows):
        layers += _bands(windows)
    sessions = spans[spans["key"].isin(shown["key"])]
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
        .encode(x=x, y=y, **_scale("fate"), tooltip=_row_tooltip())
        .transform_calculate(stream=_stream_name(names))
    )
    layers.append(points.add_params(pointed))
    if few:
        words = alt.Chart(shown.drop_duplicates(["key", "side"])).mark_text(
            align="left", dx=9, fontSize=11, color=_QUIET
        )
        layers.append(words.encode(x=x, y=y, text="key:N"))
    chart: Any = alt.layer(*layers).add_params(alt.selection_interval(name="zoom", bind="scales", encodings=["x"]))
    return _titled(chart, title, _counts(rows) + note, 340 if crossing else 300)


def _counts(rows: pd.DataFrame) -> str:
    counts = rows["fate"].value_counts()
    return " · ".join(f"{counts[fate]:,} {fate}" for fate in FATES if counts.get(fate)) or "no rows"


def _lane_axis(lanes: dict[float, str]) -> alt.Axis:
    words = " : ".join(f"abs(datum.value - {place}) < 0.01 ? {json.dumps(name)}" for place, name in lanes.items())
    return alt.Axis(
        values=list(lanes), labelExpr=f"{words} : ''", title=None, grid=False, ticks=False, domain=False, labelPadding=8
    )


def _time_format(moments: pd.Series[Any]) -> str:
    """As much of a time as tells the ticks apart."""
    length = moments.max() - moments.min() if len(moments) else pd.Timedelta(0)
    if length < pd.Timedelta("2 s"):
        return "%H:%M:%S.%L"
    if length < pd.Timedelta("20 min"):
        return "%H:%M:%S"
    return "%H:%M" if length < pd.Timedelta("1 day") else "%d %b %H:%M"


def _room(moments: pd.Series[Any]) -> alt.Scale:
    """A time scale with a little room at both ends."""
    if moments.empty:
        return alt.Scale()
    margin = (moments.max() - moments.min()) * 0.03 + pd.Timedelta(milliseconds=1)
    return alt.Scale(domain=[_iso(moments.min() - margin), _iso(moments.max() + 2 * margin)], nice=False)


def _row_tooltip() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("stream:N"),
        alt.Tooltip("key:N"),
        alt.Tooltip("time:T", title="event time", format="%Y-%m-%d %H:%M:%S.%L"),
        alt.Tooltip("batch:Q", title="micro-batch"),
        alt.Tooltip("fate:N"),
        alt.Tooltip("reason:N"),
    ]


def _stream_name(names: Sequence[str]) -> str:
    return f"datum.side == 'left' ? {json.dumps(names[0])} : {json.dumps(names[1])}"


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
        alt.Chart(windows.iloc[::2]).mark_rect(color=_SHADE, opacity=0.55, clip=True).encode(**place),
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
    return _rectangles(frame.assign(y2=frame["y"] - half, y=frame["y"] + half), _SHADE, "session")


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


def arrival(rows: pd.DataFrame, batches: pd.DataFrame, names: Sequence[str], title: str) -> alt.LayerChart:
    """Event time against arrival, with the watermark late rows are judged by as a staircase.

    Parameters
    ----------
    rows
        As in `timeline`, and ``arrived``: the place in the order of arrival, in micro-batches (3.5 is half-way
        through micro-batch 3).
    batches
        Columns ``batch``, ``late_watermark``; micro-batches with data only.
    names, title
        As in `timeline`.
    """
    shown, note = sample_keys(rows)
    low, high = rows["time"].min(), rows["time"].max()
    margin = (high - low) * 0.04 + pd.Timedelta(milliseconds=1)
    steps = pd.DataFrame(
        {
            "arrived": [*batches["batch"], batches["batch"].max() + 1],
            "watermark": [*batches["late_watermark"], batches["late_watermark"].iloc[-1]],
        }
    )
    steps["watermark"] = steps["watermark"].clip(lower=low - margin)
    scale = alt.Scale(domain=[_iso(low - margin), _iso(high + margin)], zero=False)
    y_axis = alt.Axis(format=_time_format(shown["time"]))
    late = int((rows["fate"] == "late").sum())
    points = (
        alt.Chart(shown)
        .mark_point(filled=True, opacity=0.85, size=70 if len(shown) <= 60 else 26, clip=True)
        .encode(
            x=alt.X(
                "arrived:Q",
                title="arrival (micro-batch)",
                axis=alt.Axis(tickMinStep=1),
                scale=alt.Scale(nice=False, zero=False),
            ),
            y=alt.Y("time:T", title="event time (UTC)", scale=scale, axis=y_axis),
            **_scale("fate"),
            tooltip=_row_tooltip(),
        )
        .transform_calculate(stream=_stream_name(names))
    )
    stairs = (
        alt.Chart(steps)
        .mark_line(interpolate="step-after", orient="vertical", color="#333", strokeWidth=1.6, clip=True)
        .encode(
            x="arrived:Q",
            order="arrived:Q",
            y=alt.Y("watermark:T", scale=scale),
            tooltip=[
                alt.Tooltip("arrived:Q", title="micro-batch"),
                alt.Tooltip("watermark:T", title="watermark", format="%Y-%m-%d %H:%M:%S.%L"),
            ],
        )
    )
    zoom = alt.selection_interval(name="zoom", bind="scales")
    subtitle = f"black: the watermark that late rows are judged by · {late:,} late{note}"
    chart: Any = alt.layer(points, stairs).add_params(zoom)
    return _titled(chart, title, subtitle, 340)


def _iso(moment: pd.Timestamp) -> str:
    return moment.isoformat()
