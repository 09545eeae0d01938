"""What bounds on the difference of the event times keep of a join's pairs, and hold in state."""

from __future__ import annotations

import altair as alt
import pandas as pd

from workbench.charts._drawing import Drawing
from workbench.charts._style import COLOURS, KEPT_AXIS, QUIET, WIDTH, layout, looks
from workbench.untyped import AltairChart


def bounded(table: pd.DataFrame, pairs: int) -> Drawing:
    """The share of pairs kept against the rows in state, a point for each width of the bounds.

    Parameters
    ----------
    table
        ``bounds`` (in words), ``kept`` (share of the pairs), ``state`` (rows in state at most), and ``label``, which
        stands beside the point; the join as it is last.
    pairs
        How many pairs the join gave.
    """
    subtitle = f"of the {pairs:,} pairs that came out; the rightmost point is the join as it is"
    return Drawing(_layout(), {"bounds": table}, "What bounds keep, and hold in state", subtitle)


@layout
def _layout() -> AltairChart:
    base = alt.Chart(alt.NamedData("bounds")).encode(
        x=alt.X("state:Q", title="rows in state, at most", scale=alt.Scale(zero=True)),
        y=alt.Y("kept:Q", title="pairs kept", axis=KEPT_AXIS, scale=alt.Scale(zero=False)),
        tooltip=["bounds:N", alt.Tooltip("kept:Q", format=".2%"), alt.Tooltip("state:Q", format=",")],
    )
    line = base.mark_line(color=COLOURS[0], interpolate="step-after", opacity=0.5)
    points = base.mark_point(color=COLOURS[0], filled=True, size=70)
    words = base.mark_text(align="left", dx=8, dy=12, fontSize=11, color=QUIET).encode(text="label:N")
    return looks(alt.layer(line, points, words), width=WIDTH, height=260)
