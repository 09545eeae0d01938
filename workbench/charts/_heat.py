"""Two settings of a tuning against each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from workbench import times
from workbench.charts._drawing import Drawing
from workbench.charts._style import INK, WIDTH, layout, looks
from workbench.charts._view import TuningScene, TuningView
from workbench.errors import one_of, wrong
from workbench.reasons.labels import setting_name, setting_value
from workbench.untyped import AltairChart


def heat(table: pd.DataFrame, names: Sequence[str], orders: Sequence[Sequence[str]]) -> Drawing:
    """Two settings against each other, by what they keep at best.

    Parameters
    ----------
    table
        ``x``, ``y`` (values as text), ``kept``, ``state_peak``, ``strong`` (whether the cell is dark).
    names
        The names of the two settings.
    orders
        Their values in order.
    """
    layout = _layout(tuple(names), *(tuple(order) for order in orders))
    return Drawing(
        layout, {"cells": table}, f"{names[0]} and {names[1]}", "the share of the complete result kept, at best"
    )


def _draw(scene: TuningScene, x: str | None = None, y: str | None = None) -> Drawing:
    varied = scene.settings
    for argument, name in (("x", x), ("y", y)):
        if name is not None:
            one_of(argument, name, tuple(varied))
    names = [x or (varied[0] if varied else ""), y or (varied[1] if len(varied) > 1 else "")]
    if names[0] == names[1] or any(name not in varied for name in names):
        raise wrong("x, y", names, f"name two of the settings that were varied: {', '.join(varied)}")
    table = scene.table.rename(columns=dict(zip(names, ("x", "y"), strict=True)))
    cells = table.groupby(["x", "y"], sort=False).agg(kept=("kept", "max"), state_peak=("state_peak", "min"))
    cells = cells.reset_index()
    spread = cells["kept"].max() - cells["kept"].min()
    cells["strong"] = cells["kept"] > cells["kept"].max() - spread / 2
    orders = []
    for axis, name in zip(("x", "y"), names, strict=True):
        words = {each: setting_value(name, each) for each in sorted(cells[axis].unique(), key=_order)}
        cells[axis] = cells[axis].map(words)
        orders.append(list(words.values()))
    streams = scene.left.name, scene.right.name
    return heat(cells, [setting_name(scene.join, streams, name) for name in names], orders)


def _order(value: str) -> tuple[int, Any]:
    """Time spans by length, before words."""
    return (1, value) if value in ("min", "max") else (0, times.parse(value, "value"))


@layout
def _layout(names: tuple[str, str], across: tuple[str, ...], down: tuple[str, ...]) -> AltairChart:
    x, y = alt.X("x:N", title=names[0], sort=list(across)), alt.Y("y:N", title=names[1], sort=list(down))
    cells = alt.Chart(alt.NamedData("cells")).encode(x=x, y=y)
    tooltip = [
        alt.Tooltip("x:N", title=names[0]),
        alt.Tooltip("y:N", title=names[1]),
        alt.Tooltip("kept:Q", format=".3%"),
        alt.Tooltip("state_peak:Q", title="most rows in state", format=","),
    ]
    colour = alt.Color("kept:Q", scale=alt.Scale(scheme="blues"), legend=alt.Legend(format="~p", title="kept"))
    labels = cells.mark_text(fontSize=11, color=INK).encode(text=alt.Text("kept:Q", format=".1%"))
    light = alt.condition("datum.strong", alt.value("white"), alt.value(INK))
    chart: AltairChart = alt.layer(cells.mark_rect().encode(color=colour, tooltip=tooltip), labels.encode(color=light))
    return looks(chart, width=WIDTH - 120, height=alt.Step(26))


VIEW = TuningView(
    "heat",
    "Both delays",
    "The two delays against each other.",
    """Two settings against each other, by what they keep.

    Parameters
    ----------
    x, y
        Two of the settings that were varied; None: the first two.

    Raises
    ------
    ArgumentError
        If they are not two settings that were varied.
    """,
    _draw,
)
