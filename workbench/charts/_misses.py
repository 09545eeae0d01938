"""How far rows without partner were from the nearest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from workbench.charts._style import QUIET, WIDTH, side_scale, titled


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
    bars = (
        alt.Chart(distances)
        .mark_bar(opacity=0.85)
        .encode(
            x=alt.X(
                "seconds:Q",
                bin=alt.Bin(maxbins=60),
                title=f"{names[1]} after {names[0]} (s); negative: before",
                axis=alt.Axis(labelOverlap=True, tickCount=12, format="~g"),
            ),
            y=alt.Y("count():Q", title="rows without partner"),
            color=side_scale(names),
            tooltip=["stream:N", alt.Tooltip("seconds:Q", bin=alt.Bin(maxbins=60), title="seconds"), "count():Q"],
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
