"""How a live query keeps up."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from workbench.charts._drawing import LATEST, Drawing
from workbench.charts._style import INK, SIDE_COLOURS, WIDTH, layout, looks, params

_KINDS = ("input", "processed")
_SHOWN = 120
_PRESSURE = {"OK": "#2a78b5", "LOW": "#e69f00", "HIGH": "#c8321e"}


def rates(table: pd.DataFrame, trigger: float) -> Drawing:
    """Rows a second that come and that are worked through, how long micro-batches take, and what waits.

    Parameters
    ----------
    table
        As `Live.rates`; the last 120 micro-batches are shown.
    trigger
        Seconds between two micro-batches, if the query keeps up.
    """
    shown = table.tail(_SHOWN)
    lines = pd.concat(
        [pd.DataFrame({"batch": shown["batch"], "what": kind, "rate": shown[f"{kind}_rate"]}) for kind in _KINDS]
    )
    bars = shown[["batch", "duration_ms", "backlog", "pressure", "state_rows"]]
    subtitle = "no micro-batch yet"
    if len(table):
        last = table.iloc[-1]
        subtitle = f"behind its trigger {last['behind']:.0%} of the time: backpressure {last['pressure']}"
    return Drawing(_layout(), {"lines": lines, "bars": bars}, "Live", subtitle, {"trigger": trigger * 1000})


@layout
def _layout() -> Any:
    x = alt.X("batch:Q", title=None, axis=alt.Axis(tickMinStep=1), scale=alt.Scale(nice=False, zero=False))
    colour = alt.Scale(domain=list(_KINDS), range=list(SIDE_COLOURS))
    batch = alt.Tooltip("batch:Q", title="micro-batch")
    lines = (
        alt.Chart(alt.NamedData("lines"))
        .mark_line(interpolate="monotone", strokeWidth=2)
        .encode(
            x=x,
            y=alt.Y("rate:Q", title="rows a second"),
            color=alt.Color("what:N", scale=colour, legend=alt.Legend(title=None, orient="top")),
            tooltip=[batch, "what:N", alt.Tooltip("rate:Q", format=",.0f")],
        )
    )
    bars = alt.Chart(alt.NamedData("bars")).transform_calculate(until="datum.batch + 0.9", zero="0")
    wide: dict[str, Any] = {"x": x, "x2": "until:Q", "y2": "zero:Q"}
    tone = alt.Scale(domain=list(_PRESSURE), range=list(_PRESSURE.values()))
    duration = bars.mark_rect(opacity=0.85).encode(
        **wide,
        y=alt.Y("duration_ms:Q", title="micro-batch, ms"),
        color=alt.Color("pressure:N", scale=tone, legend=alt.Legend(title="backpressure", orient="top")),
        tooltip=[batch, "duration_ms:Q", "pressure:N"],
    )
    due = bars.transform_calculate(due="trigger").mark_rule(color=INK, strokeDash=[4, 3]).encode(y="due:Q")
    waiting = bars.mark_rect(color="#8c8c8c", opacity=0.7).encode(
        **wide
        | {
            "x": alt.X(
                "batch:Q", title="micro-batch", axis=alt.Axis(tickMinStep=1), scale=alt.Scale(nice=False, zero=False)
            )
        },
        y=alt.Y("backlog:Q", title="rows waiting"),
        tooltip=[batch, "backlog:Q"],
    )
    chart: Any = alt.vconcat(
        lines.properties(width=WIDTH, height=120),
        alt.layer(duration, due).properties(width=WIDTH, height=110),
        waiting.properties(width=WIDTH, height=70),
    ).resolve_scale(color="independent")
    return looks(chart.add_params(*params(trigger=1000, moment=LATEST, picked=[])))
