"""Each side's watermark, and the query's."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from workbench.charts import _tooltips as tooltips
from workbench.charts._drawing import LATEST, Drawing
from workbench.charts._style import (
    INK,
    MOMENTS,
    TIMES,
    WIDTH,
    ends,
    layout,
    looks,
    moment_rule,
    moment_text,
    picked_rules,
    side_scale,
    span_params,
    thin,
    time_axis,
    time_scale,
)
from workbench.charts._view import Scene, View
from workbench.literals import Sides
from workbench.model import DATA
from workbench.untyped import AltairChart


def watermarks(marks: pd.DataFrame, held: pd.DataFrame, names: Sequence[str]) -> Drawing:
    """Each side's own watermark and the query's, over micro-batches, and who holds it back.

    What stands at 1970-01-01, where Spark starts, is left out.

    Parameters
    ----------
    marks
        ``batch``, ``stream``, ``watermark`` (its own).
    held
        ``batch``, ``watermark`` (the query's), ``holder`` (the stream that sets it).
    names
        The names of the two streams.
    """
    times = pd.concat([marks["watermark"], held["watermark"]])
    shown = times[times > pd.Timestamp("1971-01-01")]
    low, high = ends(shown if len(shown) else times)
    marks, held = (each[each["watermark"] >= low] for each in (marks, held))
    counts = held["holder"].value_counts()
    words = ", ".join(f"by {name} in {counts.get(name, 0)}" for name in names)
    subtitle = f"grey: the query's, set {words} of {len(held)} micro-batches"
    own = [thin(each.sort_values("batch")) for _, each in marks.groupby("stream", sort=False)]
    tables = {"own": pd.concat(own) if own else marks, "held": thin(held), "moments": MOMENTS}
    return Drawing(_layout(tuple(names)), tables, "Watermarks", subtitle, span_params(low, high))


@layout
def _layout(names: tuple[str, str]) -> AltairChart:
    y = alt.Y("watermark:T", title="event time (UTC)", scale=time_scale(), axis=time_axis())
    x = alt.X("batch:Q", title="micro-batch", axis=alt.Axis(tickMinStep=1), scale=alt.Scale(nice=False))
    tooltip = [tooltips.BATCH, tooltips.WATERMARK]
    own, held = (
        alt.Chart(alt.NamedData(name))
        .transform_filter("datum.batch <= moment")
        .transform_calculate(at=moment_text("watermark"))
        .encode(x=x, y=y, order="batch:Q")  # else Vega-Lite joins them in order of their time, which stands on y
        for name in ("own", "held")
    )
    lines = own.mark_line(interpolate="step-after", strokeWidth=2, clip=True)
    query = held.mark_line(interpolate="step-after", strokeWidth=4, color=INK, opacity=0.45, clip=True)
    dots = held.mark_point(filled=True, size=60, clip=True, opacity=1)
    chart: AltairChart = alt.layer(
        query.encode(tooltip=tooltip),
        lines.encode(color=side_scale(names), tooltip=[tooltips.STREAM, *tooltip]),
        dots.encode(color=alt.Color("holder:N"), tooltip=[alt.Tooltip("holder:N", title="set by"), *tooltip]),
        moment_rule(),
        picked_rules(),
    )
    values = TIMES | {"moment": LATEST, "picked_arrived": -1, "picked_evicted": -1}
    return looks(chart, values, width=WIDTH, height=260)


def _draw(scene: Scene) -> Drawing:
    simulation = scene.simulation
    marks, names = simulation.outcome.marks, simulation.names
    count = sum(kind == DATA for kind in marks.kinds)
    batch = np.arange(count)
    own = [
        pd.DataFrame({"batch": batch, "stream": name, "watermark": marks.own[side][:count].astype("datetime64[us]")})
        for side, name in Sides(*names).items()
    ]
    behind = marks.own["left"] <= marks.own["right"]
    holder = np.where(behind == (simulation.policy == "min"), *names)[:count]
    mark = marks.eviction[:count].astype("datetime64[us]")
    held = pd.DataFrame({"batch": batch, "watermark": mark, "holder": holder})
    return watermarks(pd.concat(own, ignore_index=True), held, names)


VIEW = View(
    "watermarks",
    "Watermarks",
    "Each stream's own watermark, the query's, and who holds it back.",
    """Each side's own watermark and the query's, over micro-batches, and who holds it back.""",
    _draw,
    group="Watermark and late",
    of_rows=False,
)
