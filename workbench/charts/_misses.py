"""How far rows without partner were from the nearest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from workbench.charts._style import QUIET, WIDTH, side_scale, titled

_BINS = 60


def misses(distances: pd.DataFrame, bounds: pd.DataFrame, names: Sequence[str], title: str) -> alt.LayerChart:
    """Time differences between rows without partner and the nearest row of their key, with the bounds drawn in.

    Parameters
    ----------
    distances
        ``stream`` (of the row without partner), ``seconds`` (right time less left time).
    bounds
        ``seconds``, ``label``.
    names, title
        As in `timeline`.
    """
    counted = _counted(distances)
    bars = (
        alt.Chart(counted)
        .mark_bar(opacity=0.85)
        .encode(
            x=alt.X("from:Q", title=f"{names[1]} after {names[0]} (s); negative: before"),
            x2="to:Q",
            y=alt.Y("rows:Q", title="rows without partner"),
            color=side_scale(names),
            tooltip=["stream:N", alt.Tooltip("from:Q", format=".3f"), alt.Tooltip("to:Q", format=".3f"), "rows:Q"],
        )
    )
    rules = (
        alt.Chart(bounds).mark_rule(color="#333", strokeWidth=2).encode(x="seconds:Q", tooltip=["label:N", "seconds:Q"])
    )
    words = rules.mark_text(align="left", dx=4, dy=-4, baseline="bottom", fontSize=11, color=QUIET).encode(
        text="label:N", y=alt.value(0)
    )
    chart: Any = alt.layer(bars, rules, words).properties(width=WIDTH, height=240)
    return titled(chart, title, f"{len(distances):,} rows have no partner in reach, but one of their key elsewhere")


def _counted(distances: pd.DataFrame) -> pd.DataFrame:
    """How many rows there are in each of some equal steps of time, by stream, the streams one on the other."""
    if distances.empty:
        return pd.DataFrame({"stream": [], "from": [], "to": [], "rows": []})
    edges = np.histogram_bin_edges(distances["seconds"], bins=_BINS)
    parts = []
    for stream, mine in distances.groupby("stream", sort=False):
        rows, _ = np.histogram(mine["seconds"], edges)
        parts.append(pd.DataFrame({"stream": stream, "from": edges[:-1], "to": edges[1:], "rows": rows}))
    return pd.concat(parts).query("rows > 0")
