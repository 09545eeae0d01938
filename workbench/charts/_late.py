"""How late rows were, and which delay keeps how many."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import altair as alt
import numpy as np
import pandas as pd

from workbench.charts import _tooltips as tooltips
from workbench.charts._axes import arrived
from workbench.charts._drawing import LATEST, Drawing
from workbench.charts._rows import late_rows
from workbench.charts._style import (
    MOMENTS,
    WIDTH,
    layout,
    looks,
    moment_rule,
    picked_points,
    side_scale,
    thin,
)
from workbench.charts._view import Scene, View
from workbench.literals import Sides, row_ids
from workbench.model import Simulation, kept_rows
from workbench.reasons.labels import key_words
from workbench.times import short
from workbench.untyped import AltairChart

_HEIGHT = 150
_MOST = 2_000
_STEPS = 60
_MOST_KEYS = 20_000


def late(rows: pd.DataFrame, kept: pd.DataFrame, marks: pd.DataFrame, names: Sequence[str]) -> Drawing:
    """Late rows over their time of arrival, and the share of rows that each watermark delay keeps.

    Parameters
    ----------
    rows
        The late rows: ``row_id``, ``stream``, ``arrived`` (as in `arrival`), ``behind`` (seconds behind the
        watermark), ``key``, ``batch``. More than 2,000 are counted in steps.
    kept
        ``stream``, ``delay`` (seconds, the same on both sides), ``share`` (of the stream's rows that are not late).
    marks
        Delays to mark: ``delay`` (seconds), ``label``, ``height`` (of the label, from 0 to 1).
    names
        The names of the two streams.
    """
    many = len(rows) > _MOST
    shown = _counted(rows) if many else rows
    longest = max([*kept["delay"], *marks["delay"], 0.001])
    curves = pd.concat([thin(each, 500) for _, each in kept.groupby("stream", sort=False)]) if len(kept) else kept
    tables = {"rows": shown, "kept": curves, "marks": marks, "moments": MOMENTS}
    note = ["counted, as there are many; a larger point stands for more rows"] if many else []
    values = {"longest": longest * 1.25}
    return Drawing(
        _layout(tuple(names), many),
        tables,
        f"{len(rows):,} late rows",
        " · ".join([*marks["label"], *note]),
        values,
        many,
    )


def _counted(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows counted by stream, micro-batch and step of lateness."""
    edges = np.histogram_bin_edges(rows["behind"], bins=_STEPS)
    step = np.clip(np.searchsorted(edges, rows["behind"], side="right") - 1, 0, _STEPS - 1)
    counted = rows.assign(step=step).groupby(["stream", "batch", "step"]).size().rename("rows").reset_index()
    middle = (edges[:-1] + edges[1:]) / 2
    return counted.assign(behind=middle[counted["step"]], arrived=counted["batch"] + 0.5)


@layout
def _layout(names: tuple[str, str], many: bool) -> AltairChart:
    colour = side_scale(names)
    axis = alt.Axis(tickMinStep=1)
    x = alt.X("arrived:Q", title="arrival (micro-batch)", axis=axis, scale=alt.Scale(zero=True, nice=False))
    y = alt.Y("behind:Q", title="behind the watermark (s)")
    tooltip = [tooltips.STREAM, tooltips.BEHIND, tooltips.BATCH]
    points = (
        alt.Chart(alt.NamedData("rows"))
        .transform_filter("datum.batch <= moment")
        .mark_point(filled=True, size=45, opacity=0.8)
        .encode(x=x, y=y, color=colour, tooltip=[*tooltip, tooltips.ROWS if many else tooltips.KEY])
    )
    if many:
        points = points.encode(size=alt.Size("rows:Q", scale=alt.Scale(range=[10, 300]), legend=None))
    over_time = alt.layer(points, picked_points().encode(x=x, y=y), moment_rule())
    curve = (
        alt.Chart(alt.NamedData("kept"))
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=alt.X(
                "delay:Q",
                title="watermark delay on both sides (s)",
                scale=alt.Scale(domain=[0, alt.ExprRef("longest")], nice=False),
            ),
            y=alt.Y("share:Q", title="rows kept", axis=alt.Axis(format=".1%"), scale=alt.Scale(zero=False)),
            color=colour,
            tooltip=[tooltips.STREAM, alt.Tooltip("delay:Q", format=".3f"), alt.Tooltip("share:Q", format=".2%")],
        )
    )
    rule = alt.Chart(alt.NamedData("marks")).mark_rule(strokeDash=[4, 3], color="#555").encode(x="delay:Q")
    height = alt.Y("height:Q", axis=None, scale=alt.Scale(domain=[0, 1]))
    labels = [  # towards the middle, so that none lies beyond the chart
        rule.transform_filter(f"datum.delay {sign} longest / 2")
        .mark_text(align=align, dx=apart, fontSize=11, color="#555")
        .encode(text="label:N", y=height)
        for sign, align, apart in (("<=", "left", 4), (">", "right", -4))
    ]
    labelled: AltairChart = alt.layer(alt.layer(curve, rule), *labels).resolve_scale(y="independent")
    chart = alt.vconcat(
        over_time.properties(width=WIDTH, height=_HEIGHT), labelled.properties(width=WIDTH, height=_HEIGHT)
    )
    return looks(chart, {"longest": 1, "moment": LATEST, "picked": []})


def _draw(scene: Scene) -> Drawing:
    simulation, cut = scene.simulation, scene.cut
    names = simulation.names
    parts, kept, needs = [], [], []
    inside = cut.rows(simulation)
    for side, name in Sides(*names).items():
        stream = simulation.side(side)
        row, behind = late_rows(simulation, side, inside[side])
        keys = key_words(stream, row) if len(row) <= _MOST_KEYS else None
        columns = {"row_id": row_ids(side, row.tolist()), "stream": name, "key": keys}
        parts.append(
            pd.DataFrame(
                {**columns, "batch": stream.arrival[row], "arrived": arrived(stream.arrival)[row], "behind": behind}
            )
        )
        need = kept_rows(simulation.outcome, simulation.policy, (side,)).needed_by_both() / 1e6
        needs.append(need)
        share = np.arange(1, len(need) + 1) / max(1, len(need))
        curve = pd.DataFrame({"stream": name, "delay": need, "share": share})
        kept.append(curve.drop_duplicates("delay", keep="last"))
    every = np.sort(np.concatenate(needs))
    marks = [(f"{name} now, {short(each)}", each.total_seconds()) for name, each in _delays(simulation)]
    for part in (0.99, 1.0) if len(every) else ():
        least = float(every[int(np.ceil(part * len(every))) - 1])
        marks.append((f"{part:.0%} of all rows in time with {short(timedelta(seconds=least))} on both", least))
    marked = pd.DataFrame(marks, columns=["label", "delay"])
    marked["height"] = 0.1 + 0.12 * marked.index
    return late(_joined(parts), _joined(kept), marked, names)


def _joined(parts: list[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)


def _delays(simulation: Simulation) -> list[tuple[str, timedelta]]:
    if simulation.left.watermark == simulation.right.watermark:
        return [("delay", simulation.left.watermark)]
    return [(f"delay of {stream.name}", stream.watermark) for stream in (simulation.left, simulation.right)]


VIEW = View(
    "late",
    "Late",
    "How late rows were, and which delay would have kept how many.",
    """How late rows were, by side, over their arrival, and the share of rows that each watermark delay keeps.""",
    _draw,
    group="Watermark and late",
    listed="late > 0",
)
