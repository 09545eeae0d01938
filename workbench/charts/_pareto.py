"""What the settings of a tuning keep, against the rows that they hold in state."""

from __future__ import annotations

import altair as alt
import pandas as pd

from workbench.charts._drawing import Drawing
from workbench.charts._style import COLOURS, KEPT_AXIS, TUNING_HEIGHT, WIDTH, layout, looks
from workbench.charts._view import TuningScene, TuningView
from workbench.reasons.labels import setting_name, setting_value
from workbench.untyped import AltairChart


def pareto(table: pd.DataFrame) -> Drawing:
    """Kept against state: the settings on the Pareto front, and the present one.

    Parameters
    ----------
    table
        As `Tuning.table`, and ``setting`` (all varied settings in words) and ``place`` (its row of that table).
    """
    shown = _points(table)
    subtitle = (
        f"{len(shown):,} settings, {int(shown['pareto'].sum()):,} of them on the Pareto front; the ring: as it is now"
    )
    return Drawing(_layout(), {"settings": shown}, "Share kept against cost", subtitle)


def labelled(scene: TuningScene) -> pd.DataFrame:
    """The table with each setting in words, in column ``setting``, and its row, in ``place``."""
    table, names = scene.table, scene.settings
    streams = scene.left.name, scene.right.name
    named = {name: setting_name(scene.join, streams, name) for name in names}
    words = [
        ", ".join(f"{named[name]} {setting_value(name, row[name])}" for name in names)
        for row in table.to_dict("records")
    ]
    return table.assign(setting=words, place=range(len(table)))


def _points(table: pd.DataFrame) -> pd.DataFrame:
    columns = ["setting", "place", "kept", "state_peak", "pairs_lost", "late_left", "late_right", "pareto", "now"]
    wait = table["end_wait_99"].dt.total_seconds()
    return table[columns].assign(wait=wait)


@layout
def _layout() -> AltairChart:
    x = alt.X("state_peak:Q", title="most rows in state", scale=alt.Scale(zero=False, nice=True))
    y = alt.Y("kept:Q", title="kept", axis=KEPT_AXIS, scale=alt.Scale(zero=False, nice=True))
    settings = alt.Chart(alt.NamedData("settings")).encode(x=x, y=y)
    tooltip = [
        alt.Tooltip("setting:N"),
        alt.Tooltip("kept:Q", format=".3%"),
        alt.Tooltip("state_peak:Q", title="most rows in state", format=","),
        alt.Tooltip("pairs_lost:Q", title="pairs lost", format=","),
        alt.Tooltip("wait:Q", title="wait of rows without partner (s)", format=".1f"),
    ]
    colour = alt.condition("datum.pareto", alt.value(COLOURS[0]), alt.value("#c4c9cf"))
    points = settings.mark_point(filled=True, size=70, opacity=0.9).encode(color=colour, tooltip=tooltip)
    now = settings.transform_filter("datum.now").mark_point(size=320, strokeWidth=2.5, color="#111111", filled=False)
    chart: AltairChart = alt.layer(points, now.encode(tooltip=tooltip))
    return looks(chart, width=WIDTH, height=TUNING_HEIGHT)


VIEW = TuningView(
    "pareto",
    "Kept against state",
    "Each point is a setting: the share it keeps, and its most rows in state.",
    """Kept against state: the settings on the Pareto front, and the present one.""",
    lambda scene: pareto(labelled(scene)),
)
