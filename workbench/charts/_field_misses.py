"""By how much left rows missed the nearest of what their kind of join compares them with, by column."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd

from workbench.charts import _tooltips as tooltips
from workbench.charts._drawing import Drawing
from workbench.charts._style import COLOURS, INK, WIDTH, layout, looks, panel_title
from workbench.counts import counted
from workbench.kinds import kind_of
from workbench.model import Simulation
from workbench.untyped import AltairChart

_BINS = 40
_MOST = 4
"""Fields that have a panel, those with most rows."""
_HEIGHT = 140
_FINEST, _WIDEST = 1e-9, 1e300
"""Distances that differ by less, for their size, or are larger, are one bar."""


def field_misses(simulation: Simulation, nearest: pd.DataFrame, count: int) -> Drawing:
    """For each field that is compared how far rows are from what the nearest asks for.

    Parameters
    ----------
    simulation
        The run.
    nearest
        As `SentenceSlots.missed_by` gives it.
    count
        How many rows are unmatched.
    """
    name, rules = simulation.names
    fields = nearest["field"].value_counts().index[:_MOST].tolist()
    parts = [_counted(place, nearest.loc[nearest["field"] == field, "away"]) for place, field in enumerate(fields)]
    empty = pd.DataFrame({"place": [], "from": [], "to": [], "rows": []})
    rows = pd.concat(parts, ignore_index=True) if parts else empty
    subtitle = [f"{counted(len(nearest), 'row')} of {name} missed the nearest rule of {rules} in force"]
    if len(nearest) < count:
        subtitle.append(f"{count - len(nearest):,} more had none in force, or none to compare with")
    title = f"{kind_of(simulation.join).label}: near misses"
    return Drawing(_layout(tuple(map(str, fields))), {"rows": rows}, title, "; ".join(subtitle))


def _counted(place: int, away: pd.Series[float]) -> pd.DataFrame:
    """How many rows of a field's panel there are in each of some equal steps of distance."""
    low, high = float(away.min()), float(away.max())
    size = max(abs(low), abs(high))
    if size < _WIDEST and high - low > size * _FINEST:
        rows, edges = np.histogram(away, bins=_BINS)
    else:  # as good as one value, or too far apart for floating point
        aside = max(size / 100, 0.5) * (low == high)
        rows, edges = np.array([len(away)]), np.array([low - aside, high + aside])
    table = pd.DataFrame({"place": place, "from": edges[:-1], "to": edges[1:], "rows": rows})
    return table[table["rows"] > 0]


@layout
def _layout(fields: tuple[str, ...]) -> AltairChart:
    panels = []
    for place, field in enumerate(fields or ("",)):
        bars = (
            alt.Chart(alt.NamedData("rows"))
            .transform_filter(f"datum.place == {place}")
            .mark_rect(opacity=0.85, color=COLOURS[0])
            .encode(
                x=alt.X("from:Q", title="value of the row minus value of the rule"),
                x2="to:Q",
                y=alt.Y("rows:Q", title="rows without rule", axis=alt.Axis(tickMinStep=1)),
                y2=alt.datum(0),
                tooltip=[alt.Tooltip("from:Q", format=".6~g"), alt.Tooltip("to:Q", format=".6~g"), tooltips.ROWS],
            )
        )
        asked = alt.Chart().mark_rule(color=INK, strokeWidth=2).encode(x=alt.datum(0))
        panel = alt.layer(bars, asked)
        panel.title, panel.width, panel.height = panel_title(field), WIDTH, _HEIGHT
        panels.append(panel)
    return looks(alt.vconcat(*panels, spacing=14))
