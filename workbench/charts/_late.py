"""How late rows were, and which delay keeps how many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from workbench.charts._style import WIDTH, side_scale, thin, titled

_HEIGHT = 150


def late(rows: pd.DataFrame, kept: pd.DataFrame, marks: pd.DataFrame, names: Sequence[str]) -> alt.VConcatChart:
    """Late rows over their time of arrival, and the share of rows that each watermark delay keeps.

    Parameters
    ----------
    rows
        The late rows: ``stream``, ``arrived`` (as in `arrival`), ``behind`` (seconds behind the watermark), ``key``,
        ``batch``.
    kept
        ``stream``, ``delay`` (seconds, the same on both sides), ``share`` (of the stream's rows that are not late).
    marks
        Delays to mark: ``delay`` (seconds), ``label``.
    names
        The names of the two streams.
    """
    colour = side_scale(names)
    shown, curves = thin(rows), thin(kept)
    longest = max([*kept["delay"], *marks["delay"], 0.001])
    over_time = (
        alt.Chart(shown)
        .mark_point(filled=True, size=45, opacity=0.8)
        .encode(
            x=alt.X(
                "arrived:Q",
                title="arrival (micro-batch)",
                axis=alt.Axis(tickMinStep=1),
                scale=alt.Scale(zero=True, nice=False),
            ),
            y=alt.Y("behind:Q", title="behind the watermark (s)"),
            color=colour,
            tooltip=["stream:N", "key:N", alt.Tooltip("behind:Q", title="behind (s)", format=".3f"), "batch:Q"],
        )
        .properties(width=WIDTH, height=_HEIGHT)
    )
    curve = (
        alt.Chart(curves)
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=alt.X(
                "delay:Q",
                title="watermark delay on both sides (s)",
                scale=alt.Scale(domain=[0, longest * 1.25], nice=False),
            ),
            y=alt.Y("share:Q", title="rows kept", axis=alt.Axis(format=".1%"), scale=alt.Scale(zero=False)),
            color=colour,
            tooltip=["stream:N", alt.Tooltip("delay:Q", format=".3f"), alt.Tooltip("share:Q", format=".2%")],
        )
    )
    rule = alt.Chart(marks).mark_rule(strokeDash=[4, 3], color="#555").encode(x="delay:Q")
    words = rule.mark_text(align="left", dx=4, fontSize=11, color="#555").encode(
        text="label:N", y=alt.Y("place:Q", axis=None, scale=alt.Scale(domain=[0, 1]))
    )
    labelled: Any = alt.layer(alt.layer(curve, rule), words).resolve_scale(y="independent")
    chart = alt.vconcat(over_time, labelled.properties(width=WIDTH, height=_HEIGHT))
    note = [f"showing {len(shown):,} of them"] if len(shown) < len(rows) else []
    subtitle = " · ".join([*marks["label"], *note])
    return titled(chart, f"{len(rows):,} late rows", subtitle)
