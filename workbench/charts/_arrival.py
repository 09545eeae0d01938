"""Event time against arrival."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from workbench.charts._style import WIDTH, fate_scale, iso, row_tooltip, sample_keys, stream_name, time_format, titled


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
    scale = alt.Scale(domain=[iso(low - margin), iso(high + margin)], zero=False)
    y_axis = alt.Axis(format=time_format(shown["time"]))
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
            **fate_scale("fate"),
            tooltip=row_tooltip(),
        )
        .transform_calculate(stream=stream_name(names))
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
    return titled(chart.properties(width=WIDTH, height=340), title, subtitle)
