"""Time differences of the rows of one key."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from workbench.arrays import Numbers
from workbench.charts._drawing import Drawing
from workbench.charts._style import COLOURS, TUNING_HEIGHT, WIDTH, bound_marks, layout, looks
from workbench.charts._view import TuningScene, TuningView
from workbench.kinds import kind_of
from workbench.untyped import AltairChart

_BINS = 80


def differences(
    seconds: Numbers, bounds: pd.DataFrame, names: Sequence[str], interval: tuple[float, float] | None
) -> Drawing:
    """Time differences of all rows of one key, right less left, with the bounds.

    Parameters
    ----------
    seconds
        The differences.
    bounds
        ``seconds``, ``label``.
    names
        The names of the two streams.
    interval
        The least and the greatest difference of a pair that the join takes, in seconds; None: it is no interval.
    """
    edges = np.histogram_bin_edges(seconds, bins=_BINS) if len(seconds) else np.array([0.0, 1.0])
    pairs, _ = np.histogram(seconds, edges)
    table = pd.DataFrame({"from": edges[:-1], "to": edges[1:], "pairs": pairs})
    inside = f"{len(seconds):,} pairs of rows of one key"
    if interval is not None and len(seconds):
        share = ((seconds >= interval[0]) & (seconds <= interval[1])).mean()
        by = "bounds" if len(bounds) == 0 or "bound" in bounds["label"].iloc[0] else bounds["label"].iloc[0]
        inside = f"{share:.1%} of {inside} lie within the {by}"
    title = f"How long {names[1]} come after {names[0]}"
    return Drawing(_layout(tuple(names)), {"pairs": table, "bounds": bounds}, title, inside)


@layout
def _layout(names: tuple[str, str]) -> AltairChart:
    bars = (
        alt.Chart(alt.NamedData("pairs"))
        .transform_calculate(zero="0")
        .mark_rect(color=COLOURS[0], opacity=0.85)
        .encode(
            x=alt.X("from:Q", title=f"{names[1]} after {names[0]} (s); negative: before"),
            x2="to:Q",
            y=alt.Y("pairs:Q", title="pairs of rows of one key"),
            y2="zero:Q",
            tooltip=[alt.Tooltip("from:Q", format=".3f"), alt.Tooltip("to:Q", format=".3f"), "pairs:Q"],
        )
    )
    return looks(alt.layer(bars, *bound_marks()), {"picked": []}, width=WIDTH, height=TUNING_HEIGHT)


def _draw(scene: TuningScene) -> Drawing:
    kind = kind_of(scene.join)
    interval = kind.interval(scene.join)
    limits = [] if interval is None else kind.limits(scene.join)
    drawn = pd.DataFrame([(label, each / 1e6) for label, each in limits], columns=["label", "seconds"])
    within = None if interval is None else (interval[0] / 1e6, interval[1] / 1e6)
    seconds = scene.differences()["seconds"].to_numpy()
    return differences(seconds, drawn, (scene.left.name, scene.right.name), within)


VIEW = TuningView(
    "differences",
    "Time differences",
    "How far rows of one key are apart: what bounds could be chosen on.",
    """Time differences of all rows of one key, with the bounds: what bounds could be chosen on.""",
    _draw,
)
