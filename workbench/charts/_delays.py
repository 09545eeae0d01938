"""What each watermark delay of a side keeps, and how long results wait with it."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from workbench import times
from workbench.charts._drawing import Drawing
from workbench.charts._style import KEPT_AXIS, SIDE_COLOURS, TUNING_HEIGHT, WIDTH, layout, looks
from workbench.charts._view import TuningScene, TuningView
from workbench.errors import wrong
from workbench.literals import DELAYS
from workbench.streams import SIDES


def by_delay(table: pd.DataFrame, what: str) -> Drawing:
    """What is kept, or waited for, against the watermark delay of each side.

    Parameters
    ----------
    table
        ``stream``, ``delay`` (seconds), ``kept``, ``wait`` (seconds), ``at_the_end``; all other settings as they are.
    what
        ``kept`` or ``wait``.
    """
    titles = {"kept": "What each delay keeps", "wait": "How long results wait"}
    subtitle = "one side's delay changed, all else as it is"
    if what == "wait":
        subtitle = f"99 % wait no longer, in event time; {subtitle}"
        if not table["wait"].any():
            at_the_end = "nothing waits, or what does comes out only when the input ends"
            subtitle = at_the_end if table["at_the_end"].any() else "nothing waits: every result comes out at once"
    return Drawing(_layout(what, tuple(dict.fromkeys(table["stream"]))), {"delays": table}, titles[what], subtitle)


def _table(scene: TuningScene) -> pd.DataFrame:
    parts = []
    table = scene.table.assign(wait=scene.table[["wait_99", "end_wait_99"]].max(axis=1).dt.total_seconds())
    now = table[table["now"]].iloc[0]
    for side, stream in zip(SIDES, (scene.left, scene.right), strict=True):
        name = DELAYS[side]
        if name not in scene.settings:
            continue
        others = [each for each in scene.settings if each != name]
        mine = table[(table[others] == now[others]).all(axis=1)]
        seconds = mine[name].map(lambda each: times.parse(each, "delay").total_seconds())
        parts.append(
            mine[["kept", "wait", "at_the_end"]].assign(delay=seconds, stream=stream.name).sort_values("delay")
        )
    if not parts:
        raise wrong("over", scene.settings, "vary left.watermark or right.watermark to see what delays do")
    return pd.concat(parts, ignore_index=True)


@layout
def _layout(what: str, names: tuple[str, ...]) -> Any:
    title = {"kept": "kept", "wait": "wait (s)"}[what]
    axis = KEPT_AXIS if what == "kept" else alt.Axis(format="~g")
    colours = alt.Scale(domain=list(names), range=list(SIDE_COLOURS)[: len(names)])
    lines = (
        alt.Chart(alt.NamedData("delays"))
        .mark_line(interpolate="step-after", strokeWidth=2, point=True)
        .encode(
            x=alt.X("delay:Q", title="watermark delay (s)"),
            y=alt.Y(f"{what}:Q", title=title, axis=axis, scale=alt.Scale(zero=False)),
            color=alt.Color("stream:N", scale=colours, legend=alt.Legend(title=None, orient="top")),
            tooltip=["stream:N", alt.Tooltip("delay:Q", format=".3f"), alt.Tooltip(f"{what}:Q", format=".5~g")],
        )
    )
    return looks(lines, width=WIDTH, height=TUNING_HEIGHT)


DELAYS_VIEW = TuningView(
    "delays",
    "Kept by delay",
    "What a longer or shorter watermark delay of one side keeps.",
    """What each watermark delay of a side keeps, all other settings as they are.""",
    lambda scene: by_delay(_table(scene), "kept"),
)
WAITS_VIEW = TuningView(
    "waits",
    "Wait by delay",
    "How long results wait for the watermark: pairs from their second row on, others from the end of their window.",
    """How long results wait with each watermark delay of a side, all other settings as they are.""",
    lambda scene: by_delay(_table(scene), "wait"),
)
