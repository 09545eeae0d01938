"""How far rows without partner were from the nearest."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from workbench.charts import _tooltips as tooltips
from workbench.charts._drawing import Drawing
from workbench.charts._field_misses import field_misses
from workbench.charts._style import WIDTH, bound_marks, layout, looks, side_scale
from workbench.charts._view import Scene, View
from workbench.counts import counted, have
from workbench.kinds import kind_of
from workbench.literals import SIDES, Sides
from workbench.reasons.own import sentences
from workbench.reasons.partners import FAR, kept_apart, nearest_distance
from workbench.untyped import AltairChart
from workbench.verdicts import SharedVerdict

_BINS = 60


def misses(
    distances: pd.DataFrame,
    bounds: pd.DataFrame,
    names: Sequence[str],
    title: str,
    *,
    late: int = 0,
    failed: int = 0,
    where: str = "",
) -> Drawing:
    """Time differences between rows without partner and the nearest row of their key, with the bounds drawn in.

    Parameters
    ----------
    distances
        ``stream`` (of the row without partner), ``seconds`` (right time less left time).
    bounds
        ``seconds``, ``label``.
    names, title
        As in `timeline`.
    late
        How many more rows are without partner because the watermark had passed for the one in their reach.
    failed, where
        How many more have others within the bounds, with none of which they satisfy a job's own condition, and its SQL.
    """
    subtitle = (
        f"{counted(len(distances), 'row')} {have(len(distances))} no partner, though the key is on the other side"
    )
    if late:
        subtitle += f"; {late:,} more have one within the bounds, for which the watermark had passed"
    if failed:
        subtitle += f"; {failed:,} more have others within the bounds, none of which satisfies {where}"
    return Drawing(_layout(tuple(names)), {"rows": _counted(distances, bounds), "bounds": bounds}, title, subtitle)


def _counted(distances: pd.DataFrame, bounds: pd.DataFrame) -> pd.DataFrame:
    """How many rows there are in each of some equal steps of the time that is shown, by stream."""
    if distances.empty:
        return pd.DataFrame({"stream": [], "from": [], "to": [], "rows": []})
    edges = np.histogram_bin_edges(np.concatenate([distances["seconds"], bounds["seconds"]]), bins=_BINS)
    parts = []
    for stream, mine in distances.groupby("stream", sort=False):
        rows, _ = np.histogram(mine["seconds"], edges)
        parts.append(pd.DataFrame({"stream": stream, "from": edges[:-1], "to": edges[1:], "rows": rows}))
    return pd.concat(parts).query("rows > 0")


@layout
def _layout(names: tuple[str, str]) -> AltairChart:
    bars = (
        alt.Chart(alt.NamedData("rows"))
        .transform_stack(["y0", "y1"], "rows", ["from"])
        .mark_rect(opacity=0.85)
        .encode(
            x=alt.X("from:Q", title=f"{names[1]} after {names[0]} (s); negative: before"),
            x2="to:Q",
            y=alt.Y("y0:Q", title="rows without partner", axis=alt.Axis(tickMinStep=1)),
            y2="y1:Q",
            color=side_scale(names, above=24),  # clear of the labels of the bounds
            tooltip=[
                tooltips.STREAM,
                alt.Tooltip("from:Q", format=".3f"),
                alt.Tooltip("to:Q", format=".3f"),
                tooltips.ROWS,
            ],
        )
    )
    return looks(alt.layer(bars, *bound_marks()), width=WIDTH, height=240)


def _draw(scene: Scene) -> Drawing:
    simulation = scene.simulation
    names = simulation.names
    unmatched = {side: np.flatnonzero((simulation.fates[side]["fate"] == "unmatched").to_numpy()) for side in SIDES}
    told = sentences(simulation, unmatched)
    nearest = told.missed_by(unmatched["left"])
    if nearest is not None:
        return field_misses(simulation, nearest, len(unmatched["left"]))
    parts, passed = [], kept_apart(simulation, unmatched)
    failed = {side: unmatched[side][found[unmatched[side]] != 0] for side, found in simulation.refused.items()}
    for side, name in Sides(*names).items():
        near = np.zeros(len(simulation.side(side)), dtype=bool)
        none_on_time = told.verdicts[side] == SharedVerdict.NO_PARTNER_ON_TIME
        near[passed[side]] = near[failed[side]] = near[unmatched[side][none_on_time]] = True
        away = nearest_distance(simulation, side, unmatched[side][~near[unmatched[side]]])
        away = away[away != FAR]
        parts.append(pd.DataFrame({"stream": name, "seconds": away * (1 if side == "left" else -1) / 1e6}))
    limits = kind_of(simulation.join).limits(simulation.join)
    drawn = pd.DataFrame([(label, each / 1e6) for label, each in limits], columns=["label", "seconds"])
    title = f"{kind_of(simulation.join).label}: near misses"
    late, other = (sum(map(len, each.values())) for each in (passed, failed))
    where = "" if simulation.where is None else simulation.where.text
    return misses(pd.concat(parts, ignore_index=True), drawn, names, title, late=late, failed=other, where=where)


VIEW = View(
    "misses",
    "Unmatched",
    "Rows without partner, each with its reason, and near misses.",
    """Near misses: time differences between rows without partner and the nearest of their key, with the bounds.

    Of a join with rules: how far rows are from what the nearest rule in force asks for, by field.""",
    _draw,
    of_rows=False,
    of_moment=False,
    listed="fate in ['unmatched', 'pending', 'null_key']",
)
