"""Each side's watermark, and the query's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from workbench.charts._style import WIDTH, iso, side_scale, thin, time_format, titled


def watermarks(marks: pd.DataFrame, held: pd.DataFrame, names: Sequence[str]) -> alt.LayerChart:
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
    low, high = (shown.min(), shown.max()) if len(shown) else (times.min(), times.max())
    marks, held = (each[each["watermark"] >= low] for each in (marks, held))
    scale = alt.Scale(domain=[iso(low), iso(high)], nice=True)
    y = alt.Y("watermark:T", title="event time (UTC)", scale=scale, axis=alt.Axis(format=time_format(shown)))
    x = alt.X("batch:Q", title="micro-batch", axis=alt.Axis(tickMinStep=1), scale=alt.Scale(nice=False))
    tooltip = ["batch:Q", alt.Tooltip("watermark:T", format="%Y-%m-%d %H:%M:%S.%L")]
    own = (
        alt.Chart(thin(marks.sort_values("batch")))
        .mark_line(interpolate="step-after", strokeWidth=2, clip=True)
        .encode(x=x, y=y, color=side_scale(names), tooltip=["stream:N", *tooltip])
    )
    query = (
        alt.Chart(thin(held))
        .mark_line(interpolate="step-after", strokeWidth=4, color="#333", opacity=0.45, clip=True)
        .encode(x=x, y=y, tooltip=tooltip)
    )
    dots = (
        alt.Chart(thin(held))
        .mark_point(filled=True, size=60, clip=True, opacity=1)
        .encode(x=x, y=y, color=alt.Color("holder:N"), tooltip=[alt.Tooltip("holder:N", title="set by"), *tooltip])
    )
    counts = held["holder"].value_counts()
    words = ", ".join(f"by {name} in {counts.get(name, 0)}" for name in names)
    chart: Any = alt.layer(query, own, dots).properties(width=WIDTH, height=260)
    return titled(chart, "Watermarks", f"grey: the query's, set {words} of {len(held)} micro-batches")
