"""What each watermark delay of a side keeps, and how long results wait with it."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd

from workbench import times
from workbench.charts import _tooltips as tooltips
from workbench.charts._drawing import Drawing
from workbench.charts._style import KEPT_AXIS, SIDE_COLOURS, TUNING_HEIGHT, WIDTH, layout, looks
from workbench.charts._view import TuningScene, TuningView
from workbench.errors import wrong
from workbench.literals import DELAYS, Side, other_side
from workbench.streams import SIDES
from workbench.untyped import AltairChart

_MOST_STEPS = 400
"""Steps of a curve that are drawn; of more, those are left out that lie closest."""


def kept_by_delay(table: pd.DataFrame, exact: bool) -> Drawing:
    """What is kept against the watermark delay of each side.

    Parameters
    ----------
    table
        ``stream``, ``delay`` (seconds), ``kept``; all other settings as they are.
    exact
        Whether between two delays as much is kept as with the shorter one; else nothing is known between them.
    """
    subtitle = "one side's delay changed, all other settings as they are"
    if not exact:
        subtitle = f"{subtitle}; the delays that were tried"
    names = tuple(dict.fromkeys(table["stream"]))
    return Drawing(_layout("kept", names, exact), {"delays": table}, "What each delay keeps", subtitle)


def waits_by_delay(table: pd.DataFrame) -> Drawing:
    """How long results wait against the watermark delay of each side.

    Parameters
    ----------
    table
        ``stream``, ``delay`` (seconds), ``wait`` (seconds; nothing where what waits comes out only when the input
        ends), ``at_the_end``; all other settings as they are.
    """
    subtitle = "99 % wait no longer, in event time; one side's delay changed, all other settings as they are"
    if table["wait"].isna().any():
        longest = table.loc[table["wait"].notna(), "delay"].max()
        beyond = "whatever the delay" if pd.isna(longest) else f"beyond {longest:g} s"
        subtitle = f"{subtitle}; {beyond} these rows come out only when the input ends"
    elif not table["wait"].any():
        subtitle = "nothing waits: every result comes out at once"
    names = tuple(dict.fromkeys(table["stream"]))
    return Drawing(_layout("wait", names, False), {"delays": table}, "How long results wait", subtitle)


def _kept(scene: TuningScene) -> Drawing:
    if scene.kept is None:
        return kept_by_delay(_tried(scene)[["stream", "delay", "kept"]], exact=False)
    delays: dict[Side, int] = {side: times.micros(scene.side(side).watermark) for side in SIDES}
    parts = []
    for side in SIDES:
        steps, shares = scene.kept.curve(side, delays[other_side(side)])
        curve = pd.DataFrame({"delay": steps, "kept": shares})
        if len(curve) > _MOST_STEPS:
            curve = curve.iloc[np.unique(np.linspace(0, len(curve) - 1, _MOST_STEPS).astype(int))]
        end = max(delays[side], int(curve["delay"].max()))
        last = pd.DataFrame({"delay": [end], "kept": [curve["kept"].iloc[-1]]})
        curve = pd.concat([curve, last]).drop_duplicates("delay")
        parts.append(curve.assign(delay=curve["delay"] / 1e6, stream=scene.side(side).name))
    return kept_by_delay(pd.concat(parts, ignore_index=True)[["stream", "delay", "kept"]], exact=True)


def _tried(scene: TuningScene) -> pd.DataFrame:
    """The settings that were tried of which only a delay differs from the present one."""
    parts = []
    wait = scene.table[["wait_99", "end_wait_99"]].max(axis=1).dt.total_seconds()
    table = scene.table.assign(wait=wait.where((scene.table["waited"] > 0) | (scene.table["at_the_end"] == 0)))
    now = table[table["now"]].iloc[0]
    for side in SIDES:
        name = DELAYS[side]
        if name not in scene.settings:
            continue
        others = [each for each in scene.settings if each != name]
        mine = table[(table[others] == now[others]).all(axis=1)]
        seconds = mine[name].map(lambda each: times.parse(each, "delay").total_seconds())
        mine = mine[["kept", "wait", "at_the_end"]].assign(delay=seconds, stream=scene.side(side).name)
        parts.append(mine.sort_values("delay"))
    if not parts:
        raise wrong("over", scene.settings, "vary left.watermark or right.watermark to see what delays do")
    return pd.concat(parts, ignore_index=True)


@layout
def _layout(what: str, names: tuple[str, ...], steps: bool) -> AltairChart:
    title = {"kept": "kept", "wait": "wait (s)"}[what]
    axis = KEPT_AXIS if what == "kept" else alt.Axis(format="~g")
    colours = alt.Scale(domain=list(names), range=list(SIDE_COLOURS)[: len(names)])
    chart = alt.Chart(alt.NamedData("delays"))
    # between delays that were tried, nothing is drawn that was not found out
    marks = (
        chart.mark_line(interpolate="step-after", strokeWidth=2, point=True)
        if steps
        else chart.mark_point(filled=True, size=60)
    )
    lines = marks.encode(
        x=alt.X("delay:Q", title="watermark delay (s)"),
        y=alt.Y(f"{what}:Q", title=title, axis=axis, scale=alt.Scale(zero=False)),
        color=alt.Color("stream:N", scale=colours, legend=alt.Legend(title=None, orient="top")),
        tooltip=[tooltips.STREAM, alt.Tooltip("delay:Q", format=".3f"), alt.Tooltip(f"{what}:Q", format=".5~g")],
    )
    return looks(lines, width=WIDTH, height=TUNING_HEIGHT)


DELAYS_VIEW = TuningView(
    "delays",
    "Kept by delay",
    "What a longer or shorter watermark delay of one side keeps.",
    """What each watermark delay of a side keeps, all other settings as they are.""",
    _kept,
)
WAITS_VIEW = TuningView(
    "waits",
    "Wait by delay",
    "How long results wait for the watermark: pairs from their second row on, others from the end of their window.",
    """How long results wait with each watermark delay of a side, all other settings as they are.""",
    lambda scene: waits_by_delay(_tried(scene)[["stream", "delay", "wait", "at_the_end"]]),
)
