"""Which keys are in state, micro-batch by micro-batch."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd

from workbench.charts import _tooltips as tooltips
from workbench.charts._drawing import LATEST, Drawing
from workbench.charts._style import MOMENTS, WIDTH, layout, looks, moment_rule, picked_rules
from workbench.charts._view import Scene, View
from workbench.literals import SIDES
from workbench.model import Simulation, present
from workbench.reasons.labels import key_words
from workbench.untyped import AltairChart, Record

_MOST = 20
_ROW = 16  # pixels


def keys_in_state(held: pd.DataFrame, many: int) -> Drawing:
    """Rows in state by key over micro-batches, the keys that hold most of them.

    Parameters
    ----------
    held
        ``of_key``, ``rank`` (0 for the one with most), ``batch``, ``left``, ``right`` (rows of either side in state
        after the micro-batch).
    many
        How many keys there are in all.
    """
    shown = held["of_key"].nunique()
    note = f"the {shown} of {many:,} keys with most rows" if many > shown else f"{shown} keys"
    tables = {"held": held.assign(rows=held["left"] + held["right"]), "moments": MOMENTS}
    return Drawing(_layout(shown), tables, "Keys in state", note)


@layout
def _layout(shown: int) -> AltairChart:
    axis = alt.Axis(tickMinStep=1)
    x = alt.X("batch:Q", title="micro-batch", axis=axis, scale=alt.Scale(nice=False, zero=False))
    y = alt.Y("of_key:N", title=None, sort=alt.EncodingSortField("rank", op="min"))
    cells = (
        alt.Chart(alt.NamedData("held"))
        .transform_calculate(until="datum.batch + 0.96")
        .mark_rect()
        .encode(
            x=x,
            x2="until:Q",
            y=y,
            color=alt.Color(
                "rows:Q",
                title="rows in state",
                scale=alt.Scale(scheme="blues"),
                legend=alt.Legend(orient="top", gradientLength=160, titleOrient="left"),
            ),
            tooltip=[
                alt.Tooltip("of_key:N", title="key"),
                tooltips.BATCH,
                alt.Tooltip("left:Q", title="left rows"),
                alt.Tooltip("right:Q", title="right rows"),
            ],
        )
    )
    rule = moment_rule().transform_calculate(until="moment + 0.98")
    chart: AltairChart = alt.layer(cells, rule, picked_rules(" + 0.5", True))
    values = {"moment": LATEST, "picked_arrived": -1, "picked_evicted": -1}
    return looks(chart, values, width=WIDTH, height=max(shown, 3) * _ROW)


def _draw(scene: Scene) -> Drawing:
    held, many = _held(scene.simulation)
    return keys_in_state(held, many)


def _held(simulation: Simulation) -> tuple[pd.DataFrame, int]:
    """The table of `keys_in_state`, and how many keys are ever in state."""
    outcome, count = simulation.outcome, len(simulation.outcome.marks)
    codes: Record = {}
    for side in SIDES:
        mine = outcome.assignments[side]
        mine = mine[mine["held"].to_numpy()]
        codes[side] = mine[["row", "key", "batch", "evicted_in"]]
    every = pd.concat(codes.values())
    stays = (np.minimum(every["evicted_in"], count) - every["batch"]).groupby(every["key"]).sum()
    chosen = stays.sort_values(ascending=False, kind="stable").index[:_MOST]
    parts = []
    for rank, code in enumerate(chosen):
        counts: Record = {}
        words = ""
        for side in SIDES:
            mine = codes[side][codes[side]["key"] == code]
            counts[side] = present(mine["batch"].to_numpy(), mine["evicted_in"].to_numpy(), count)
            if len(mine):
                words = str(key_words(simulation.side(side), mine["row"].to_numpy()[:1])[0])
        parts.append(pd.DataFrame({"of_key": words, "rank": rank, "batch": np.arange(count), **counts}))
    empty = pd.DataFrame({name: [] for name in ("of_key", "rank", "batch", *SIDES)})
    held = pd.concat(parts, ignore_index=True) if parts else empty
    return held[held["left"] + held["right"] > 0], len(stays)


VIEW = View(
    "keys",
    "Keys",
    "Which keys hold the state, and how the state of one of them changes step by step.",
    """Rows in state by key, micro-batch by micro-batch: the twenty keys that hold most of them for longest.""",
    _draw,
    group="State",
    of_rows=False,
    has_steps=True,
)
