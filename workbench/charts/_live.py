"""How a live query does, over wall-clock time."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from workbench.charts import _tooltips as tooltips
from workbench.charts._drawing import LATEST, Drawing
from workbench.charts._style import (
    COLOURS,
    INK,
    PAPER,
    SIDE_COLOURS,
    TIMES,
    WIDTH,
    layout,
    looks,
    panel_title,
    span_params,
    time_axis,
    time_scale,
)
from workbench.engine.live_rates import PHASES
from workbench.untyped import AltairChart, Series, Value

_SHOWN = 120
_LEVELS = 3
_LETTER, _NARROW = 6.5, 400
"""Pixels: of a letter of a label, about, and of a narrow chart, in which labels do not lie over each other either."""
_SHARES = ("disorder", "late", "duplicates", "twice")
_OUT, QUERY = "written", "the query"
_OF_PAIRS, _GREY, _CHANGED = COLOURS[0], "#9aa5b1", "#7b3fa0"
_PHASES = dict(zip((*PHASES, "other"), ("#8fb8d8", "#c3b1e1", "#2a78b5", "#e6a756", "#c9ced6"), strict=True))


def live(table: pd.DataFrame, changes: pd.DataFrame, trigger: float, names: Sequence[str]) -> Drawing:
    """Rates, watermark lag, state, phases, latency and backlog of a live query, over wall-clock time.

    Parameters
    ----------
    table
        As `Live.rates`; the last 120 micro-batches are shown.
    changes
        As `Live.changes`.
    trigger
        Seconds between two micro-batches, if the query keeps up.
    names
        The names of the two streams.
    """
    shown = table.tail(_SHOWN).reset_index(drop=True)
    at = plain(shown["at"])
    end = at + pd.to_timedelta(shown["duration_ms"], unit="ms")
    low = at.min() if len(at) else pd.Timestamp(0)
    high = end.max() if len(end) else low
    place = pd.DataFrame({"batch": shown["batch"], "x": at, "end": end})
    rates = {names[0]: "left_rate", names[1]: "right_rate", _OUT: "output_rate"}
    lags = {names[0]: "left_lag", names[1]: "right_lag", QUERY: "lag"}
    latency = shown[["latency_median", "latency_p95", "latency_max"]].set_axis(["median", "p95", "longest"], axis=1)
    marked = changes[plain(changes["at"]) >= low] if len(shown) else changes.iloc[:0]
    tables = {
        "rates": by_stream(place, shown, rates),
        "lag": by_stream(place, shown, lags),
        "held": place.assign(rows=shown["state_rows"], bytes=shown["state_bytes"], waiting=shown["backlog"]),
        "phases": _phases(place, shown),
        "latency": pd.concat([place, latency], axis=1).dropna(),
        "changes": _labelled(plain(marked["at"]), _words(marked), low, high),
    }
    values = span_params(low, high, 0.01, 0.02) | {"trigger": trigger * 1000}
    return Drawing(_layout((names[0], names[1])), tables, "Live", _subtitle(table, trigger), values)


def plain(moments: Series) -> Series:
    """Times as charts take them: UTC, without a zone."""
    return moments.dt.tz_localize(None)


def by_stream(place: pd.DataFrame, shown: pd.DataFrame, columns: dict[str, str]) -> pd.DataFrame:
    """Columns one upon the other: ``batch``, ``x``, ``end``, ``stream``, ``value``."""
    parts = [place.assign(stream=name, value=shown[column].astype(float)) for name, column in columns.items()]
    return pd.concat(parts, ignore_index=True).dropna(subset=["value"])


def _phases(place: pd.DataFrame, shown: pd.DataFrame) -> pd.DataFrame:
    """Each phase of each micro-batch: ``batch``, ``x``, ``end``, ``phase``, ``ms``, from ``y`` to ``y2``."""
    foot, parts = np.zeros(len(shown)), []
    for phase in _PHASES:
        ms = shown[f"{phase}_ms"].to_numpy()
        parts.append(place.assign(phase=phase, ms=ms, y=foot, y2=foot + ms, pressure=shown["pressure"]))
        foot = foot + ms
    found = pd.concat(parts, ignore_index=True)
    return found[found["ms"] > 0]


def _words(changes: pd.DataFrame) -> list[str]:
    """Changes in words."""
    words = []
    for setting, before, after in changes[["setting", "before", "after"]].itertuples(index=False):
        if setting == "pause":
            words.append("paused" if after else "resumed")
        else:
            name = setting.replace("_", " ")
            is_share = name.lower() in _SHARES
            words.append(f"{name}: {_word(before, is_share)} → {_word(after, is_share)}")
    return words


def _labelled(at: Series, words: list[str], low: pd.Timestamp, high: pd.Timestamp) -> pd.DataFrame:
    """Changes, each with the line on which its label has room, and whether it stands before its rule.

    Where no line has room the label is left out: pointing at the rule tells the change.
    """
    taken: list[list[tuple[float, float]]] = [[] for _ in range(_LEVELS)]
    labels, levels, turned = [], [], []
    for place, change in zip((at - low) / max(high - low, pd.Timedelta(1, "ms")), words, strict=True):
        turn, room = place > 0.5, _LETTER * len(change) / _NARROW
        first, last = (place - room, place) if turn else (place, place + room)
        free = (number for number, each in enumerate(taken) if all(last < begin or end < first for begin, end in each))
        level = next(free, None)
        if level is not None:
            taken[level].append((first, last))
        labels.append("" if level is None else change)
        levels.append(level or 0)
        turned.append(bool(turn))
    return pd.DataFrame({"x": at, "change": words, "label": labels, "level": levels, "turned": turned})


def _word(value: Value, is_share: bool = False) -> str:
    if value is None:
        return "none"
    if is_share and isinstance(value, int | float):
        return f"{100 * value:.4g} %"
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _subtitle(table: pd.DataFrame, trigger: float) -> str:
    if not len(table):
        return "no micro-batch yet"
    last = table.iloc[-1]
    if np.isnan(last["behind"]):
        return f"warm-up: Spark compiles the query; no micro-batch has met its trigger of {trigger:g} s yet"
    words = f"behind its trigger of {trigger:g} s {last['behind']:.0%} of the time: backpressure {last['pressure']}"
    if table["latency_median"].notna().any():
        recent = table["latency_median"].dropna().iloc[-1]
        words += f" · a pair is written {recent:.2g} s after its second row came"
    return words


@layout
def _layout(names: tuple[str, str]) -> AltairChart:
    batch = tooltips.BATCH
    sides = dict(zip(names, SIDE_COLOURS, strict=True))
    latency = "latency of pairs: seconds from the second row's arrival to the output, median to 95th percentile"
    parts = [
        panel("rows a second", lines("rates", sides | {_OUT: _OF_PAIRS}, batch), 84, first=True),
        panel("watermark lag: seconds behind the newest row's event time", lines("lag", sides | {QUERY: INK}, batch)),
        panel("in state, as Spark counts it: rows, or groups of an aggregation", bars("rows", batch), 48),
        panel("bytes in state", bars("bytes", batch), 40),
        panel("micro-batches by phase, in ms; dashed: the trigger", _by_phase(batch), 84),
        panel(latency, _latency(batch)),
        panel("rows waiting", bars("waiting", batch, last=True), 48, last=True),
    ]
    chart: AltairChart = alt.vconcat(*parts, spacing=6).resolve_scale(color="independent")
    return looks(chart, TIMES | {"trigger": 1000, "moment": LATEST, "picked": []})


def _x(last: bool = False) -> alt.X:
    if last:
        return alt.X("x:T", title="wall clock (UTC)", scale=time_scale(), axis=time_axis())
    return alt.X("x:T", title=None, scale=time_scale(), axis=time_axis(labels=False, ticks=False, domain=False))


def _y(field: str) -> alt.Y:
    return alt.Y(f"{field}:Q", title=None, axis=alt.Axis(format="~s", tickCount=3), scale=alt.Scale(zero=True))


def panel(words: str, chart: AltairChart, height: int = 60, first: bool = False, last: bool = False) -> AltairChart:
    """A panel over the shared axis, with the changes as rules; they are named in the first."""
    changes = alt.Chart(alt.NamedData("changes"))
    rule = changes.mark_rule(color=_CHANGED, strokeDash=[2, 2], strokeWidth=1.5, clip=True)
    drawn = [chart, rule.encode(x=_x(last), tooltip=alt.Tooltip("change:N", title="changed"))]
    if first:
        for level in range(_LEVELS):  # changes soon after each other are told below each other
            for turned in (False, True):  # towards the middle, so that none is cut
                told = changes.transform_filter(f"datum.level == {level} && datum.turned == {str(turned).lower()}")
                drawn += [_label(told, turned, level, PAPER), _label(told, turned, level)]
    return alt.layer(*drawn).properties(width=WIDTH, height=height, title=panel_title(words))


def _label(changes: AltairChart, turned: bool, level: int, behind: str | None = None) -> AltairChart:
    """What changed, after its rule or before it; or the paper behind the words, without which lines cross them."""
    made = changes.mark_text(
        align="right" if turned else "left",
        baseline="top",
        dx=-3 if turned else 3,
        clip=True,
        color=behind or _CHANGED,
        **({} if behind is None else {"stroke": behind, "strokeWidth": 4}),
    )
    return made.encode(x=_x(), y=alt.value(12 * level), text="label:N")


def lines(table: str, colours: dict[str, str], batch: Value) -> AltairChart:
    """What was measured of each micro-batch, a step for each: nothing is drawn between two measurements."""
    data = alt.Chart(alt.NamedData(table))
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    colour = alt.Color("stream:N", scale=scale, legend=alt.Legend(title=None, orient="top", symbolSize=90, offset=2))
    place = {"x": _x(), "y": _y("value"), "color": colour}
    tooltip = [batch, "stream:N", alt.Tooltip("value:Q", format=",.3~f")]
    wide = f"datum.stream == '{QUERY}'"  # below the lines of the sides, which it lies on
    line = data.mark_line(interpolate="step-after", clip=True).encode(
        **place,
        strokeWidth=alt.condition(wide, alt.value(5), alt.value(1.6)),
        opacity=alt.condition(wide, alt.value(0.3), alt.value(1)),
    )
    return alt.layer(line, data.mark_point(filled=True, size=18, clip=True).encode(**place, tooltip=tooltip))


def bars(field: str, batch: Value, last: bool = False) -> AltairChart:
    data = alt.Chart(alt.NamedData("held")).transform_calculate(foot="0")
    tooltip = [batch, alt.Tooltip(f"{field}:Q", format=",")]
    bars = data.mark_rect(color=_GREY, clip=True)
    return bars.encode(x=_x(last), x2="end:T", y=_y(field), y2="foot:Q", tooltip=tooltip)


def _by_phase(batch: Value) -> AltairChart:
    data = alt.Chart(alt.NamedData("phases"))
    scale = alt.Scale(domain=list(_PHASES), range=list(_PHASES.values()))
    colour = alt.Color("phase:N", scale=scale, legend=alt.Legend(title=None, orient="top", symbolSize=90, offset=2))
    tooltip = [batch, "phase:N", alt.Tooltip("ms:Q", format=","), alt.Tooltip("pressure:N", title="backpressure")]
    bars = data.mark_rect(clip=True).encode(x=_x(), x2="end:T", y=_y("y"), y2="y2:Q", color=colour, tooltip=tooltip)
    due = alt.Chart(alt.InlineData([{"one": 1}])).transform_calculate(due="trigger")
    return alt.layer(bars, due.mark_rule(color=INK, strokeDash=[4, 3]).encode(y=_y("due")))


def _latency(batch: Value) -> AltairChart:
    data = alt.Chart(alt.NamedData("latency"))
    seconds = [alt.Tooltip(f"{name}:Q", format=",.3~f") for name in ("median", "p95", "longest")]
    bar = data.mark_rule(color=_OF_PAIRS, strokeWidth=2, opacity=0.5, clip=True)
    point = data.mark_point(filled=True, size=22, color=_OF_PAIRS, clip=True)
    return alt.layer(
        bar.encode(x=_x(), y=_y("median"), y2="p95:Q"),
        point.encode(x=_x(), y=_y("median"), tooltip=[batch, *seconds]),
    )
