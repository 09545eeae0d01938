"""How a query that is watched does, over wall-clock time."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

from workbench.charts import _tooltips as tooltips
from workbench.charts._drawing import LATEST, Drawing
from workbench.charts._live import QUERY, bars, by_stream, lines, panel, plain
from workbench.charts._style import INK, SIDE_COLOURS, TIMES, layout, looks, span_params
from workbench.untyped import AltairChart

_SHOWN = 120
_IN, _OUT = "came", "processed"
_RATES = {_IN: "#2a78b5", _OUT: "#3f8f5b"}
_PANELS = {
    "rates": ("input_rate", "processed_rate"),
    "rows": ("left_rows", "right_rows"),
    "lag": ("left_lag", "right_lag", "lag"),
    "held": ("state_rows",),
    "late": ("dropped",),
}
"""The columns that each panel shows; a panel without any is left out."""
_NO_CHANGES = {"x": pd.to_datetime([]), "change": [], "label": [], "level": [], "turned": []}


def watched(table: pd.DataFrame, names: Sequence[str], status: str) -> Drawing:
    """Rates, rows of each side, watermark lag, state, late rows and duration of micro-batches, over wall-clock time.

    Parameters
    ----------
    table
        As `workbench.jobs.Watch.batches`; the last 120 micro-batches are shown.
    names
        The names of the two streams.
    status
        How the query does, in a few words: the subtitle.
    """
    shown = table.tail(_SHOWN).reset_index(drop=True)
    at = plain(pd.to_datetime(shown["at"], utc=True))
    end = at + pd.to_timedelta(shown["duration_ms"].astype(float).fillna(0), unit="ms")
    low, high = (at.min(), end.max()) if len(at) else (pd.Timestamp(0), pd.Timestamp(0))
    place = pd.DataFrame({"batch": shown["batch"], "x": at, "end": end})
    numbers = {name: shown[name].astype(float) for name in ("state_rows", "dropped", "duration_ms")}
    tables = {
        "rates": by_stream(place, shown, {_IN: "input_rate", _OUT: "processed_rate"}),
        "rows": by_stream(place, shown, {names[0]: "left_rows", names[1]: "right_rows"}),
        "lag": by_stream(place, shown, {names[0]: "left_lag", names[1]: "right_lag", QUERY: "lag"}),
        "held": place.assign(rows=numbers["state_rows"], late=numbers["dropped"], took=numbers["duration_ms"]),
        "changes": pd.DataFrame(_NO_CHANGES),
    }
    values = span_params(low, high, 0.01, 0.02)
    known = tuple(part for part, columns in _PANELS.items() if shown[list(columns)].notna().any(axis=None))
    return Drawing(_layout((names[0], names[1]), known), tables, f"{names[0]} and {names[1]}", status, values)


@layout
def _layout(names: tuple[str, str], known: tuple[str, ...]) -> AltairChart:
    batch = tooltips.BATCH
    sides = dict(zip(names, SIDE_COLOURS, strict=True))
    panels = {
        "rates": ("rows a second", lines("rates", _RATES, batch), 72),
        "rows": ("rows of each micro-batch", lines("rows", sides, batch), 72),
        "lag": (
            "watermark lag: seconds behind the newest row's event time", lines("lag", sides | {QUERY: INK}, batch), 84
        ),
        "held": ("rows in state", bars("rows", batch), 48),
        "late": ("late rows, dropped", bars("late", batch), 40),
    }  # fmt: skip
    parts = [panel(*panels[name], first=place == 0) for place, name in enumerate(known)]
    parts.append(panel("duration of micro-batches, in ms", bars("took", batch, last=True), 48, last=True))
    chart: AltairChart = alt.vconcat(*parts, spacing=6).resolve_scale(color="independent")
    return looks(chart, TIMES | {"moment": LATEST, "picked": []})
