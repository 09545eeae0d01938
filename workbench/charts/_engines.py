"""Rows that fare differently on Spark and on Flink."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from workbench.charts._drawing import LATEST, Drawing
from workbench.charts._style import (
    TIMES,
    WIDTH,
    layout,
    looks,
    moment_text,
    params,
    picked_points,
    span_params,
    time_axis,
    time_scale,
)

_COLOURS = ("#c8321e", "#e69f00", "#7b3fa0", "#b07cc6", "#2a78b5", "#56b4c9", "#8c8c8c", "#3f8f4f")


def engines(
    rows: pd.DataFrame, counts: pd.Series[int], span: tuple[pd.Timestamp, pd.Timestamp], names: Sequence[str]
) -> Drawing:
    """Rows that fare differently, on event time, a line for each kind of difference.

    Parameters
    ----------
    rows
        ``row_id``, ``stream``, ``key``, ``time``, ``difference``, ``spark``, ``flink`` (the fates there), ``batch``.
    counts
        How many rows there are of each kind, by its name, in the order in which they are shown.
    span
        The first and the last event time of all rows.
    names
        The names of the two streams.
    """
    table = pd.DataFrame({"difference": counts.index, "rows": counts.to_numpy()})
    table["label"] = [f"{count:,}" for count in counts]
    total = int(counts.sum())
    title = f"{total:,} {'row fares' if total == 1 else 'rows fare'} differently on Spark and on Flink"
    drawn = f"{len(rows):,} of them are drawn; " if len(rows) < total else ""
    subtitle = (
        f"{drawn}pick one for both stories" if total else "Spark and Flink treat all rows of this recording alike"
    )
    tables = {"rows": rows, "counts": table}
    return Drawing(_layout(tuple(names), tuple(counts.index)), tables, title, subtitle, span_params(*span))


@layout
def _layout(names: tuple[str, str], kinds: tuple[str, ...]) -> Any:
    y = alt.Y(
        "difference:N",
        title=None,
        sort=list(kinds),
        scale=alt.Scale(domain=list(kinds)),
        axis=alt.Axis(labelLimit=330, domain=False, ticks=False, grid=True),
    )
    x = alt.X("time:T", title="event time", axis=time_axis(tickCount=6), scale=time_scale())
    colour = alt.Color("difference:N", legend=None, scale=alt.Scale(domain=list(kinds), range=list(_COLOURS)))
    shape = alt.Shape(
        "stream:N",
        legend=alt.Legend(title=None, orient="top", symbolSize=90),
        scale=alt.Scale(domain=list(names), range=["triangle-up", "triangle-down"]),
    )
    offset = alt.YOffset("stream:N", scale=alt.Scale(domain=list(names)))
    points = (
        alt.Chart(alt.NamedData("rows"))
        .transform_calculate(at=moment_text("time"))
        .mark_point(filled=True, size=55, opacity=0.75, clip=True)
        .encode(
            x=x,
            y=y,
            yOffset=offset,
            color=colour,
            shape=shape,
            tooltip=[
                "stream:N",
                "key:N",
                alt.Tooltip("at:N", title="event time"),
                alt.Tooltip("batch:Q", title="micro-batch"),
                alt.Tooltip("spark:N", title="on Spark"),
                alt.Tooltip("flink:N", title="on Flink"),
            ],
        )
    )
    rings = picked_points().encode(x=x, y=y, yOffset=offset)
    words = (
        alt.Chart(alt.NamedData("counts"))
        .mark_text(align="left", dx=6, fontSize=12, fontWeight="bold")
        .encode(y=y, x=alt.value(WIDTH - 220), text="label:N", color=colour)
    )
    chart = alt.layer(points, rings, words).properties(width=WIDTH - 220, height=max(60, 46 * len(kinds)))
    return looks(chart.add_params(*params(**TIMES, moment=LATEST, picked=[])))
