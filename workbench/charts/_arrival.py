"""Event time against arrival."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

from workbench.charts import _tooltips as tooltips
from workbench.charts._drawing import LATEST, Drawing
from workbench.charts._rows import counts, many, rows
from workbench.charts._style import (
    INK,
    MOMENTS,
    OBSTACLE_VALUES,
    TIMES,
    WIDTH,
    ends,
    fate_colour,
    in_steps,
    layout,
    looks,
    moment_rule,
    moment_text,
    obstacles_in,
    picked_points,
    row_points,
    span_params,
    stream_name,
    time_axis,
    time_scale,
    zoom,
)
from workbench.charts._view import Scene, View
from workbench.reasons.tables import utc
from workbench.untyped import AltairChart, Record, Series


def arrival(rows: pd.DataFrame, marks: pd.DataFrame, names: Sequence[str], title: str) -> Drawing:
    """Event time against arrival, with the watermark late rows are judged by as a staircase.

    Parameters
    ----------
    rows
        As in `timeline`, and ``arrived``: the place in the order of arrival, in micro-batches (3.5 is half-way
        through micro-batch 3).
    marks
        Columns ``batch``, ``late_watermark``; micro-batches with data only.
    names, title
        As in `timeline`.
    """
    late = int((rows["fate"] == "late").sum())
    subtitle = f"the line: the watermark that late rows are judged by · {late:,} late"
    values = _span(rows["time"]) | obstacles_in(rows) | {"size": 70 if len(rows) <= 60 else 26}
    tables = {
        "rows": rows.drop(columns="row", errors="ignore"),
        "moments": MOMENTS,
        "judged": _stairs(marks, rows["time"]),
    }
    return Drawing(_layout(tuple(names), False), tables, title, subtitle, values, along="y")


def arrival_counts(
    table: pd.DataFrame, marks: pd.DataFrame, *, names: Sequence[str], title: str, step: pd.Timedelta
) -> Drawing:
    """Rows too many to be drawn, counted by fate in steps of event time and micro-batches.

    Parameters
    ----------
    table
        Columns ``side``, ``start``, ``end``, ``from_batch``, ``to_batch``, ``fate`` (the one that most of them have;
        late before all others), ``rows``.
    marks, names, title
        As in `arrival`.
    step
        How long a step of event time is.
    """
    total = int(table["rows"].sum())
    tables = {"rows": table, "moments": MOMENTS, "judged": _stairs(marks, table["start"])}
    subtitle = f"the line: the watermark that late rows are judged by · {in_steps(total, step)}"
    values = _span(pd.concat([table["start"], table["end"]]))
    return Drawing(_layout(tuple(names), True), tables, title, subtitle, values, True, along="y")


def _span(times: Series) -> Record:
    return span_params(*ends(times), 0.04, 0.04)


def _stairs(marks: pd.DataFrame, times: Series) -> pd.DataFrame:
    """The watermark as a staircase, no lower than the chart reaches."""
    low, high = ends(times)
    steps = pd.concat([marks, marks.tail(1).assign(batch=marks["batch"].max() + 1)], ignore_index=True)
    return pd.DataFrame(
        {"arrived": steps["batch"], "watermark": steps["late_watermark"].clip(lower=low - (high - low) * 0.05)}
    )


@layout
def _layout(names: tuple[str, str], many: bool) -> AltairChart:
    y = alt.Y("time:T", title="event time (UTC)", scale=time_scale(), axis=time_axis())
    axis = alt.Axis(tickMinStep=1)
    x = alt.X("arrived:Q", title="arrival (micro-batch)", axis=axis, scale=alt.Scale(nice=False, zero=False))
    rows = [_rectangles(names)] if many else [row_points(names, {"x": x, "y": y}), picked_points().encode(x=x, y=y)]
    stairs: Record = {"interpolate": "step-after", "orient": "vertical", "clip": True}
    height = alt.Y("watermark:T", title="event time (UTC)", scale=time_scale(), axis=time_axis())
    judged = (
        alt.Chart(alt.NamedData("judged"))
        .transform_calculate(at=moment_text("watermark"))
        .mark_line(**stairs, color=INK, strokeWidth=2)
        .encode(
            x=x,
            y=height,
            order="arrived:Q",
            tooltip=[alt.Tooltip("arrived:Q", title="micro-batch"), tooltips.WATERMARK],
        )
    )
    rule = moment_rule().transform_calculate(until="moment + 1")
    chart: AltairChart = alt.layer(*rows, judged, rule).add_params(zoom())
    return looks(chart, TIMES | OBSTACLE_VALUES | {"size": 26, "moment": LATEST, "picked": []}, width=WIDTH, height=340)


def _rectangles(names: tuple[str, str]) -> alt.Chart:
    """Counts as rectangles, the darker the more."""
    return (
        alt.Chart(alt.NamedData("rows"))
        .transform_filter("datum.from_batch <= moment")
        .transform_calculate(**{"stream": stream_name(names), "from": moment_text("start")})
        .mark_rect(clip=True)
        .encode(
            x="from_batch:Q",
            x2="to_batch:Q",
            y=alt.Y("start:T", scale=time_scale()),
            y2="end:T",
            color=fate_colour("fate"),
            opacity=alt.Opacity("rows:Q", scale=alt.Scale(type="sqrt", range=[0.15, 1]), legend=None),
            tooltip=["from:N", "from_batch:Q", tooltips.FATE, tooltips.ROWS],
        )
    )


def _draw(scene: Scene) -> Drawing:
    simulation, cut, marks = scene.simulation, scene.cut, scene.micro_batches()
    marks = marks.loc[marks["kind"] == "data", ["batch", "late_watermark"]].copy()
    marks["late_watermark"] = utc(marks["late_watermark"])
    title = "Arrival and watermark"
    if many(simulation, cut):
        table, step = counts(simulation, cut, scene.moment, by_batch=True)
        return arrival_counts(table, marks, names=simulation.names, title=title, step=step)
    return arrival(rows(simulation, cut.rows(simulation), scene.reasons), marks, simulation.names, title)


VIEW = View(
    "arrival",
    "Arrival",
    "Event time against arrival, and the watermark that late rows are judged by.",
    """Event time against arrival, with the watermark as a staircase; late rows lie below it.""",
    _draw,
    group="Watermark and late",
)
