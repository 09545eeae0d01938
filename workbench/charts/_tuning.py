"""What many settings do to one recording."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from workbench.charts._drawing import Drawing
from workbench.charts._style import INK, QUIET, SIDE_COLOURS, WIDTH, layout, looks, params

_HEIGHT = 260
_BINS = 80
_KEPT = alt.Axis(format="~p")


def front(table: pd.DataFrame) -> Drawing:
    """Kept against state: the settings that no other beats, and the present one.

    Parameters
    ----------
    table
        As `Tuning.table`, and ``setting`` (all varied settings in words) and ``place`` (its row of that table).
    """
    shown = _told(table)
    subtitle = (
        f"{len(shown):,} settings, {int(shown['front'].sum()):,} of them beaten by no other; the ring: as it is now"
    )
    return Drawing(_front_layout(), {"settings": shown}, "What is kept, and what it costs", subtitle)


def by_delay(table: pd.DataFrame, what: str) -> Drawing:
    """What is kept, or waited for, against the watermark delay of each side.

    Parameters
    ----------
    table
        ``stream``, ``delay`` (seconds), ``kept``, ``wait`` (seconds); all other settings as they are.
    what
        ``kept`` or ``wait``.
    """
    titles = {"kept": "What each delay keeps", "wait": "How long rows without partner wait"}
    subtitle = "one side's delay changed, all else as it is"
    return Drawing(
        _delay_layout(what, tuple(dict.fromkeys(table["stream"]))), {"delays": table}, titles[what], subtitle
    )


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
    layout = _heat_layout(tuple(names), *(tuple(order) for order in orders))
    return Drawing(
        layout, {"cells": table}, f"{names[0]} and {names[1]}", "the share of the complete result kept, at best"
    )


def differences(seconds: np.ndarray[Any, Any], bounds: pd.DataFrame, names: Sequence[str]) -> Drawing:
    """Time differences of all rows of one key, right less left, with the bounds.

    Parameters
    ----------
    seconds
        The differences.
    bounds
        ``seconds``, ``label``.
    names
        The names of the two streams.
    """
    edges = np.histogram_bin_edges(seconds, bins=_BINS) if len(seconds) else np.array([0.0, 1.0])
    pairs, _ = np.histogram(seconds, edges)
    table = pd.DataFrame({"from": edges[:-1], "to": edges[1:], "pairs": pairs})
    inside = "no bounds"
    if len(bounds) == 2 and len(seconds):
        low, high = bounds["seconds"]
        share = ((seconds >= low) & (seconds <= high)).mean()
        inside = f"{share:.1%} of {len(seconds):,} pairs of rows of one key lie within the bounds"
    title = f"How long {names[1]} come after {names[0]}"
    return Drawing(_difference_layout(tuple(names)), {"pairs": table, "bounds": bounds}, title, inside)


def _told(table: pd.DataFrame) -> pd.DataFrame:
    columns = ["setting", "place", "kept", "state_peak", "pairs_lost", "late_left", "late_right", "front", "now"]
    wait = table["end_wait_99"].dt.total_seconds()
    return table[columns].assign(wait=wait)


@layout
def _front_layout() -> Any:
    x = alt.X("state_peak:Q", title="most rows in state", scale=alt.Scale(zero=False, nice=True))
    y = alt.Y("kept:Q", title="kept", axis=_KEPT, scale=alt.Scale(zero=False, nice=True))
    settings = alt.Chart(alt.NamedData("settings")).encode(x=x, y=y)
    tooltip = [
        alt.Tooltip("setting:N"),
        alt.Tooltip("kept:Q", format=".3%"),
        alt.Tooltip("state_peak:Q", title="most rows in state", format=","),
        alt.Tooltip("pairs_lost:Q", format=","),
        alt.Tooltip("wait:Q", title="wait of rows without partner (s)", format=".1f"),
    ]
    colour = alt.condition("datum.front", alt.value(SIDE_COLOURS[0]), alt.value("#c4c9cf"))
    points = settings.mark_point(filled=True, size=70, opacity=0.9).encode(color=colour, tooltip=tooltip)
    now = settings.transform_filter("datum.now").mark_point(size=320, strokeWidth=2.5, color="#111111", filled=False)
    chart: Any = alt.layer(points, now.encode(tooltip=tooltip))
    return looks(chart.properties(width=WIDTH, height=_HEIGHT))


@layout
def _delay_layout(what: str, names: tuple[str, ...]) -> Any:
    title = {"kept": "kept", "wait": "wait (s)"}[what]
    axis = _KEPT if what == "kept" else alt.Axis(format="~g")
    colours = alt.Scale(domain=list(names), range=list(SIDE_COLOURS)[: len(names)])
    lines = (
        alt.Chart(alt.NamedData("delays"))
        .mark_line(interpolate="step-after", strokeWidth=2, point=True)
        .encode(
            x=alt.X("delay:Q", title="watermark delay (s)"),
            y=alt.Y(f"{what}:Q", title=title, axis=axis, scale=alt.Scale(zero=False)),
            color=alt.Color("stream:N", scale=colours, legend=alt.Legend(title=None, orient="top")),
            tooltip=["stream:N", alt.Tooltip("delay:Q", format=".3f"), alt.Tooltip(f"{what}:Q", format=".5~g")],
        )
    )
    return looks(lines.properties(width=WIDTH, height=_HEIGHT))


@layout
def _heat_layout(names: tuple[str, str], across: tuple[str, ...], down: tuple[str, ...]) -> Any:
    x, y = alt.X("x:N", title=names[0], sort=list(across)), alt.Y("y:N", title=names[1], sort=list(down))
    cells = alt.Chart(alt.NamedData("cells")).encode(x=x, y=y)
    tooltip = [
        alt.Tooltip("x:N", title=names[0]),
        alt.Tooltip("y:N", title=names[1]),
        alt.Tooltip("kept:Q", format=".3%"),
        alt.Tooltip("state_peak:Q", title="most rows in state", format=","),
    ]
    colour = alt.Color("kept:Q", scale=alt.Scale(scheme="blues"), legend=alt.Legend(format="~p", title="kept"))
    words = cells.mark_text(fontSize=11, color=INK).encode(text=alt.Text("kept:Q", format=".1%"))
    light = alt.condition("datum.strong", alt.value("white"), alt.value(INK))
    chart: Any = alt.layer(cells.mark_rect().encode(color=colour, tooltip=tooltip), words.encode(color=light))
    return looks(chart.properties(width=WIDTH - 120, height=alt.Step(26)))


@layout
def _difference_layout(names: tuple[str, str]) -> Any:
    bars = (
        alt.Chart(alt.NamedData("pairs"))
        .transform_calculate(zero="0")
        .mark_rect(color=SIDE_COLOURS[0], opacity=0.85)
        .encode(
            x=alt.X("from:Q", title=f"{names[1]} after {names[0]} (s); negative: before"),
            x2="to:Q",
            y=alt.Y("pairs:Q", title="pairs of rows of one key"),
            y2="zero:Q",
            tooltip=[alt.Tooltip("from:Q", format=".3f"), alt.Tooltip("to:Q", format=".3f"), "pairs:Q"],
        )
    )
    bounds = alt.Chart(alt.NamedData("bounds"))
    rules = bounds.mark_rule(color=INK, strokeWidth=2).encode(x="seconds:Q", tooltip=["label:N", "seconds:Q"])
    place: dict[str, Any] = {"dy": -4, "baseline": "bottom", "fontSize": 11, "color": QUIET}
    words = bounds.encode(x="seconds:Q", text="label:N", y=alt.value(0))
    lower = words.transform_filter("datum.label == 'lower bound'").mark_text(align="right", dx=-4, **place)
    upper = words.transform_filter("datum.label == 'upper bound'").mark_text(align="left", dx=4, **place)
    chart: Any = alt.layer(bars, rules, lower, upper).add_params(*params(picked=[]))
    return looks(chart.properties(width=WIDTH, height=_HEIGHT))
