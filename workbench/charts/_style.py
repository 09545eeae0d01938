"""What all charts share: colours, sizes, scales of time, and the rows as points.

Colours are told apart by colour-blind people, and every fate has a shape of its own besides.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, wraps
from threading import RLock
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from altair.utils import schemapi

from workbench import schema
from workbench.charts import _tooltips as tooltips
from workbench.charts.glyphs import GLYPHS, of_each
from workbench.literals import FATES, OBSTACLES
from workbench.untyped import AltairChart, Record, Series, Value

COLOURS = ("#2a78b5", "#c98300", "#b52413", "#2f9cb5", "#808080")
SIDE_COLOURS = ("#6a4c9c", "#2e8555")
SHAPES = ("circle", "diamond", "cross", "triangle-up", "square")
MOST_ROWS = 2_000
"""Rows a side that are drawn one by one; of larger streams, counts are drawn."""
STEPS = 160
"""Steps of time in which rows are counted where they are too many to be drawn."""
WIDTH = 780
TUNING_HEIGHT = 260
_LONGEST = 400
"""Pixels of a name in a legend or beside an axis: Vega cuts names off after 160."""
_NOTHING = "M0,0Z"
QUIET = "#6b737d"
SHADE = "#dfe8f2"
INK = "#333333"
PAPER = "#ffffff"
"""Of the outlines that keep marks apart: what lies behind them; a dark theme has a dark one."""
KEPT_AXIS = alt.Axis(format="~p")
"""The axis of the share of the complete result that is kept."""


def fate_scale(field: str) -> Record:
    """Fates by colour and shape."""
    scale = alt.Scale(domain=list(FATES), range=list(SHAPES))
    return {"color": fate_colour(field), "shape": alt.Shape(f"{field}:N", scale=scale, legend=_fate_legend())}


def fate_colour(field: str, legend: bool = True) -> alt.Color:
    """Fates by colour."""
    scale = alt.Scale(domain=list(FATES), range=list(COLOURS))
    return alt.Color(f"{field}:N", scale=scale, legend=_fate_legend() if legend else None)


def _fate_legend() -> alt.Legend:
    return alt.Legend(
        title=None, orient="top", symbolSize=90, symbolStrokeWidth=0, labelExpr="replace(datum.label, '_', ' ')"
    )


def side_scale(names: Sequence[str], legend: bool = True, above: int | None = None) -> alt.Color:
    """The colours of the two streams, by field ``stream``; the legend stands so many pixels above the plot."""
    scale = alt.Scale(domain=list(names), range=list(SIDE_COLOURS))
    return alt.Color(
        "stream:N",
        scale=scale,
        legend=alt.Legend(title=None, orient="top", offset=alt.Undefined if above is None else above)
        if legend
        else None,
    )


def thin(rows: pd.DataFrame, most: int = MOST_ROWS) -> pd.DataFrame:
    """At most so many rows, evenly spread over the frame, the last one among them."""
    if len(rows) <= most:
        return rows
    return rows.iloc[np.linspace(0, len(rows) - 1, most).astype(int)]


_UNCHECKED = RLock()
"""`schemapi.debug_mode` is a setting of the process: of two threads, one would restore what the other one had set."""


def layout(make: Callable[..., Any]) -> Callable[..., Any]:
    """Have a layout made once for each set of arguments; Altair checks it as a whole, and not part by part as well."""

    @lru_cache
    @wraps(make)
    def made(*arguments: Value) -> AltairChart:
        with _UNCHECKED, schemapi.debug_mode(False):
            return make(*arguments)

    return made


def zoom(**options: Value) -> alt.Parameter:
    """Dragging moves along the axes; the wheel zooms with Ctrl or Command, and else scrolls the page."""
    wheel = "wheel![event.ctrlKey || event.metaKey]"
    return alt.selection_interval(name="zoom", bind="scales", zoom=wheel, **options)


def panel_title(text: str) -> alt.TitleParams:
    """What stands over one of several panels."""
    return alt.TitleParams(text, anchor="start", fontSize=12, fontWeight="normal", color=QUIET, offset=4, frame="group")


def bound_marks() -> list[AltairChart]:
    """The bounds of a table ``bounds`` (``label``, ``seconds``) as lines; their labels stand above, apart."""
    bounds = alt.Chart(alt.NamedData("bounds"))
    rules = bounds.mark_rule(color=INK, strokeWidth=2).encode(x="seconds:Q", tooltip=["label:N", "seconds:Q"])
    place: Record = {"dy": -4, "baseline": "bottom", "fontSize": 11, "color": QUIET}
    labels = bounds.encode(x="seconds:Q", text="label:N", y=alt.value(0))
    lower = labels.transform_filter("datum.label == 'lower bound'").mark_text(align="right", dx=-4, **place)
    others = labels.transform_filter("datum.label != 'lower bound'").mark_text(align="left", dx=4, **place)
    return [rules, lower, others]


def looks(chart: AltairChart, values: Mapping[str, Value] | None = None, **properties: Value) -> AltairChart:
    """A chart with the look that all charts share, its parameters and its size.

    They are set on the chart itself, as ``properties`` and ``add_params`` each copy the whole chart, and a chart of
    several parts more than once.

    Parameters
    ----------
    chart
        A chart that was just made and that nothing else refers to: it is changed in place.
    values
        Its parameters, with the values they have until they are given others.
    **properties
        Its size.
    """
    for name, value in properties.items():
        setattr(chart, name, value)
    if values:
        own = [] if chart.params is alt.Undefined else chart.params
        chart.params = [*own, *(alt.VariableParameter(name=name, value=value) for name, value in values.items())]
    chart.config = alt.Config(
        view=alt.ViewConfig(stroke=None),
        axis=alt.AxisConfig(
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            titleColor=QUIET,
            gridOpacity=0.4,
            labelLimit=_LONGEST,
        ),
        title=alt.TitleConfig(fontSize=15, subtitleFontSize=12),
        legend=alt.LegendConfig(
            labelFontSize=12,
            titleFontSize=12,
            labelLimit=_LONGEST,
            layout=alt.ExprRef("{top: {direction: 'vertical', anchor: 'start', margin: 2}}"),
        ),
    )
    return chart


def time_format(moments: Series) -> str:
    """As much of a time as tells the ticks apart."""
    length = moments.max() - moments.min() if len(moments) else pd.Timedelta(0)
    if length < pd.Timedelta("2 s"):
        return "%H:%M:%S.%L"
    if length < pd.Timedelta("20 min"):
        return "%H:%M:%S"
    return "%H:%M" if length < pd.Timedelta("1 day") else "%d %b %H:%M"


def time_axis(**options: Value) -> alt.Axis:
    """An axis of event time; its format is the parameter ``time_format``."""
    given: Record = {"tickCount": 10, "labelOverlap": True, "labelSeparation": 8} | options
    return alt.Axis(labelExpr="utcFormat(datum.value, time_format)", **given)


def time_scale() -> alt.Scale:
    """A scale of event time, from the parameter ``low`` to ``high``."""
    return alt.Scale(type="utc", domain=alt.ExprRef("[low, high]"), nice=False)


def span_params(low: pd.Timestamp, high: pd.Timestamp, before: float = 0.03, after: float = 0.03) -> Record:
    """The parameters of `time_axis` and `time_scale`, with a little room at both ends."""
    length = (high - low) / pd.Timedelta("1ms")
    return {
        "low": low.value / 1e6 - length * before - 1,
        "high": high.value / 1e6 + length * after + 1,
        "time_format": time_format(pd.Series([low, high])),
    }


def ends(*moments: Series) -> tuple[pd.Timestamp, pd.Timestamp]:
    """The first and the last of some times; 1970 where there are none."""
    full = [each for each in moments if len(each)]
    if not full:
        return pd.Timestamp(0), pd.Timestamp(0)
    return min(each.min() for each in full), max(each.max() for each in full)


OBSTACLE_VALUES: Record = {"obstacles": [""], "room": WIDTH}
"""First values of the parameters that `obstacles_in` gives, and how wide the chart is."""
TIMES = {"low": 0, "high": 1, "time_format": "%H:%M:%S"}
"""First values of the parameters that `span_params` gives."""


def moment_text(field: str) -> str:
    """The expression for a time as text."""
    return f"isValid(datum.{field}) ? utcFormat(datum.{field}, '%Y-%m-%d %H:%M:%S.%L') : ''"


def stream_name(names: Sequence[str]) -> str:
    """The expression for the stream's name of a row's side."""
    return f"datum.side == 'left' ? {json.dumps(names[0])} : {json.dumps(names[1])}"


def row_points(names: Sequence[str], place: Mapping[str, Value], table: str = "rows") -> alt.LayerChart:
    """The rows as points: those that have come by the moment, with the fate they have by then.

    While a moment is chosen, rows that are not in state then are faint. Rows that were not matched have the glyph of
    what kept them from a partner, a little larger than the others.

    Parameters
    ----------
    names
        The names of the two streams.
    place
        The encoding of where a row is.
    table
        The rows, with a column ``obstacle``.
    """
    tooltip = [
        tooltips.STREAM,
        tooltips.KEY,
        tooltips.EVENT_TIME,
        tooltips.BATCH,
        tooltips.of(schema.FATE, "now"),
        tooltips.REASON,
    ]
    now = "datum.decided_in <= moment ? datum.fate : 'pending'"
    opacity = alt.condition("moment < 1e9 && datum.evicted_in <= moment", alt.value(0.3), alt.value(0.9))
    came = (
        alt.Chart(alt.NamedData(table))
        .transform_filter("datum.batch <= moment")
        .transform_calculate(stream=stream_name(names), at=moment_text("time"), now=now)
        .encode(**place, tooltip=tooltip, opacity=opacity)
    )
    look: Record = {"filled": True, "clip": True}
    others = came.transform_filter("datum.now != 'unmatched'").mark_point(size=alt.ExprRef("size"), **look)
    unmatched = came.transform_filter("datum.now == 'unmatched'").mark_point(
        size=alt.ExprRef("size * 1.6"), color=COLOURS[1], **look
    )
    both = alt.layer(others.encode(**fate_scale("now")), unmatched.encode(shape=obstacle_shape()))
    return both.resolve_scale(color="independent", shape="independent")


def obstacle_shape() -> alt.Shape:
    """Obstacles by glyph; the legend has those of the parameter ``obstacles``."""
    scale = alt.Scale(domain=[*OBSTACLES, ""], range=[*(GLYPHS[each].path for each in OBSTACLES), _NOTHING])
    return alt.Shape("obstacle:N", scale=scale, legend=_obstacle_legend())


def obstacle_shade() -> alt.Color:
    """Obstacles by the colour in which rows are counted; `obstacle_symbols` has the legend."""
    scale = alt.Scale(domain=list(OBSTACLES), range=[GLYPHS[each].shade for each in OBSTACLES])
    return alt.Color("obstacle:N", scale=scale, legend=None)


def obstacle_symbols() -> Record:
    """The encodings that give counts the legend of rows: the glyphs, in the colours of `obstacle_shade`."""
    shades = [COLOURS[1] if each == "key" else GLYPHS[each].shade for each in OBSTACLES]
    scale = alt.Scale(domain=[*OBSTACLES, ""], range=[*shades, COLOURS[1]])
    colour = alt.Color("obstacle:N", scale=scale, legend=_obstacle_legend())
    return {"color": colour, "shape": obstacle_shape()}


def _obstacle_legend() -> alt.Legend:
    label = " : ".join(f"datum.value == '{each}' ? '{GLYPHS[each].words}'" for each in OBSTACLES)
    return alt.Legend(
        title=None,
        orient="top",
        values=alt.ExprRef("obstacles"),
        columns=alt.ExprRef("room < 290 ? 1 : room < 460 ? 2 : room < 680 ? 3 : 0"),
        labelExpr=f"{label} : ''",
        symbolSize=90,
        symbolStrokeWidth=0,
    )


def obstacles_in(rows: pd.DataFrame) -> Record:
    """The parameter of `row_points`: what kept rows from a partner, of those that there are."""
    found = of_each(rows["obstacle"]) if "obstacle" in rows else []
    return {"obstacles": found or [""]}  # a legend without entries has no size, nor has then the chart


def picked_points(table: str = "rows") -> alt.Chart:
    """Rings around the rows that are picked."""
    return (
        alt.Chart(alt.NamedData(table))
        .transform_filter("indexof(picked, datum.row_id) >= 0 && datum.batch <= moment")
        .mark_point(filled=False, size=260, strokeWidth=2.5, color="#111111", clip=True)
    )


def moment_rule() -> alt.Chart:
    """A rule at the end of the micro-batch that is the moment, over an axis of micro-batches."""
    return (
        alt.Chart(alt.NamedData("moments"))
        .transform_calculate(until="moment")
        .transform_filter("moment < 1e9")
        .mark_rule(color="#111111", strokeDash=[3, 3], clip=True)
        .encode(x=alt.X("until:Q"))
    )


def picked_rules(shift: str = "", named: bool = True) -> AltairChart:
    """Where the row that is picked arrived and was evicted from state, over an axis of micro-batches.

    Parameters
    ----------
    shift
        What is added to the number of a micro-batch to have its place on the axis.
    named
        Whether it is written beside them what they are.
    """
    labels = {"arrived": "arrived", "evicted": "evicted from state"}
    rules = (
        alt.Chart(alt.NamedData("moments"))
        .transform_calculate(arrived="picked_arrived", evicted="picked_evicted")
        .transform_fold(["arrived", "evicted"], ["what", "batch"])
        .transform_filter("datum.batch >= 0 && datum.batch < 1e9")
        .transform_filter("datum.what == 'arrived' || picked_evicted > picked_arrived")  # else it was never stored
        .transform_calculate(
            place=f"datum.batch{shift}",
            label=" : ".join(f"datum.what == '{name}' ? '{text}'" for name, text in labels.items()) + " : ''",
        )
    )
    lines = rules.mark_rule(color="#111111", strokeWidth=1.5, clip=True).encode(
        x=alt.X("place:Q"), tooltip=alt.Tooltip("label:N")
    )
    if not named:
        return lines
    words = rules.mark_text(align="left", baseline="top", dx=4, dy=2, fontSize=11, clip=True)
    return alt.layer(lines, words.encode(x=alt.X("place:Q"), y=alt.value(0), text=alt.Text("label:N")))


MOMENTS = pd.DataFrame({"one": [1]})
"""The table of `moment_rule`: one row."""


def in_steps(count: int, step: pd.Timedelta, things: str = "rows", single: str = "rows") -> str:
    """The caption of a chart of so many things, counted in steps."""
    seconds = step / pd.Timedelta("1s")
    return f"{count:,} {things}, counted in steps of {seconds:.3g} s; single {single}: choose a shorter time"
