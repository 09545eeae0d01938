"""What is held in state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from workbench.charts._style import WIDTH, side_scale, thin, titled


def state(held: pd.DataFrame, moved: pd.DataFrame, size: pd.DataFrame, names: Sequence[str]) -> alt.VConcatChart:
    """Rows in state by side over micro-batches, what was added and evicted, and the bytes of all of it.

    Parameters
    ----------
    held
        ``batch``, ``stream``, ``rows`` (after the micro-batch).
    moved
        ``batch``, ``stream``, ``rows`` (added; evicted ones are negative), ``what``.
    size
        ``batch``, ``bytes`` (as Spark reports them).
    names
        The names of the two streams.
    """
    held, moved = (each[each["batch"].isin(_shown(size)["batch"])] for each in (held, moved))
    axis = alt.Axis(tickMinStep=1)
    colour = side_scale(names)
    rows = (
        alt.Chart(held)
        .mark_area(interpolate="step-after", opacity=0.75)
        .encode(
            x=alt.X("batch:Q", title=None, axis=axis),
            y=alt.Y("rows:Q", title="rows in state", stack=True),
            color=colour,
            tooltip=["batch:Q", "stream:N", "rows:Q"],
        )
        .properties(width=WIDTH, height=150)
    )
    changes = (
        alt.Chart(moved)
        .mark_bar(opacity=0.85)
        .encode(
            x=alt.X("batch:O", title=None, axis=alt.Axis(labelAngle=0)),
            y=alt.Y("rows:Q", title="added, evicted"),
            color=colour,
            tooltip=["batch:Q", "stream:N", "what:N", "rows:Q"],
        )
        .properties(width=WIDTH, height=110)
    )
    weight = (
        alt.Chart(_shown(size))
        .mark_line(interpolate="step-after", color="#555", strokeWidth=2)
        .encode(
            x=alt.X("batch:Q", title="micro-batch", axis=axis),
            y=alt.Y("bytes:Q", title="bytes", axis=alt.Axis(format="~s")),
            tooltip=["batch:Q", alt.Tooltip("bytes:Q", format=",")],
        )
        .properties(width=WIDTH, height=80)
    )
    parts = [rows, changes, weight] if size["bytes"].notna().any() else [rows, changes]
    chart: Any = alt.vconcat(*parts)
    most = int(held.groupby("batch")["rows"].sum().max()) if len(held) else 0
    return titled(chart, "State", f"at most {most:,} rows")


def _shown(size: pd.DataFrame) -> pd.DataFrame:
    return thin(size, 1_000)
