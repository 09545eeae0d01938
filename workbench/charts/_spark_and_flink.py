"""Rows that fare differently on Spark and on Flink."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

from workbench.charts import _tooltips as tooltips
from workbench.charts._drawing import LATEST, Drawing
from workbench.charts._style import (
    INK,
    TIMES,
    WIDTH,
    layout,
    looks,
    moment_text,
    picked_points,
    span_params,
    time_axis,
    time_scale,
)
from workbench.untyped import AltairChart

_COLOURS = ("#b52413", "#c98300", "#7b3fa0", "#b07cc6", "#2f9cb5", "#2a78b5", "#808080", "#8a5a33", "#3f8f4f")


def engines(
    rows: pd.DataFrame,
    counts: pd.Series[int],
    span: tuple[pd.Timestamp, pd.Timestamp],
    names: Sequence[str],
    kinds: Sequence[str],
) -> Drawing:
    """Rows that fare differently, on event time, a line for each kind of difference.

    Parameters
    ----------
    rows
        ``row_id``, ``stream``, ``key``, ``time``, ``difference``, ``spark``, ``flink`` (the fates there), ``batch``.
    counts
        How many rows there are of each kind, in all of event time, by its name, in the order in which they are shown.
    span
        The event times from which to which it shows.
    names
        The names of the two streams.
    kinds
        All kinds of difference that there may be: each has a colour of its own.
    """
    table = pd.DataFrame({"difference": counts.index, "rows": counts.to_numpy()})
    table["label"] = [f"{count:,}: {kind}" for kind, count in counts.items()]
    total = int(counts.sum())
    title = f"{total:,} {'row differs' if total == 1 else 'rows differ'} between Spark and Flink"
    drawn = f"{len(rows):,} of them are shown; " if len(rows) < total else ""
    subtitle = f"{drawn}pick one for both stories" if total else "no row differs between Spark and Flink"
    tables = {"rows": rows, "counts": table}
    colours = tuple(colour for kind, colour in zip(kinds, _COLOURS, strict=True) if kind in counts.index)
    made = _layout(tuple(names), tuple(counts.index), colours)
    return Drawing(made, tables, title, subtitle, span_params(*span), along="x")


@layout
def _layout(names: tuple[str, str], kinds: tuple[str, ...], colours: tuple[str, ...]) -> AltairChart:
    y = alt.Y(
        "difference:N",
        sort=list(kinds),
        scale=alt.Scale(domain=list(kinds), paddingInner=0.45, paddingOuter=0.3),
        axis=None,
    )
    x = alt.X("time:T", title="event time", axis=time_axis(tickCount=6), scale=time_scale())
    colour = alt.Color("difference:N", legend=None, scale=alt.Scale(domain=list(kinds), range=list(colours)))
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
                tooltips.STREAM,
                tooltips.KEY,
                tooltips.EVENT_TIME,
                tooltips.BATCH,
                alt.Tooltip("spark:N", title="on Spark"),
                alt.Tooltip("flink:N", title="on Flink"),
            ],
        )
    )
    rings = picked_points().encode(x=x, y=y, yOffset=offset)
    words = (
        alt.Chart(alt.NamedData("counts"))
        .mark_text(align="left", baseline="bottom", dx=2, dy=-2, fontSize=12, color=INK)
        .encode(y=alt.Y("difference:N", sort=list(kinds), bandPosition=0), x=alt.value(0), text="label:N")
    )
    values = TIMES | {"moment": LATEST, "picked": []}
    return looks(alt.layer(points, rings, words), values, width=WIDTH, height=max(60, 58 * len(kinds)))
