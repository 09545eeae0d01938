"""What is held in state."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from workbench.charts import _tooltips as tooltips
from workbench.charts._drawing import LATEST, Drawing
from workbench.charts._style import (
    MOMENTS,
    WIDTH,
    layout,
    looks,
    moment_rule,
    picked_rules,
    side_scale,
    thin,
)
from workbench.charts._view import Scene, View
from workbench.counts import counted
from workbench.kinds import kind_of
from workbench.literals import Sides
from workbench.untyped import AltairChart

_MOST_BATCHES = 1_000


def state(held: pd.DataFrame, moved: pd.DataFrame, size: pd.DataFrame, names: Sequence[str], more: str = "") -> Drawing:
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
    more
        What to say of Spark's own count, where it is not of these rows.
    """
    shown = thin(size, _MOST_BATCHES)
    held, moved = (each[each["batch"].isin(shown["batch"])] for each in (held, moved))
    most = int(held.groupby("batch")["rows"].sum().max()) if len(held) else 0
    measured = shown.dropna().rename(columns={"bytes": "rows"})
    tables = {"held": held, "moved": moved, "size": measured, "moments": MOMENTS}
    layout = _layout(tuple(names), len(measured) > 0)
    return Drawing(layout, tables, "State", f"at most {counted(most, 'row')}{more}")


@layout
def _layout(names: tuple[str, str], measured: bool) -> AltairChart:
    def panel(table: str, height: int, y: str, last: bool) -> AltairChart:
        axis = alt.Axis(tickMinStep=1)
        x = alt.X("batch:Q", title="micro-batch" if last else None, axis=axis, scale=alt.Scale(nice=False, zero=False))
        place = {"x": x, "x2": "until:Q", "y": alt.Y("from:Q", title=y, axis=alt.Axis(format="~s")), "y2": "to:Q"}
        bars = (
            alt.Chart(alt.NamedData(table))
            .transform_calculate(until="datum.batch + 0.96")
            .transform_stack(["from", "to"], "rows", ["batch"])
            .mark_rect(opacity=0.8)
            .encode(**place, tooltip=[batch, *lines[table]])
        )
        if table != "size":
            bars = bars.encode(color=side_scale(names))
        rule = moment_rule().transform_calculate(until="moment + 0.98")
        return alt.layer(bars, rule, picked_rules(" + 0.5", table == "held")).properties(width=WIDTH, height=height)

    batch, stream, rows = tooltips.BATCH, tooltips.STREAM, tooltips.ROWS
    lines = {
        "held": [stream, rows],
        "moved": [stream, rows, alt.Tooltip("what:N")],
        "size": [alt.Tooltip("rows:Q", title="bytes", format=",")],
    }
    parts = [panel("held", 150, "rows in state", False), panel("moved", 110, "added, evicted", not measured)]
    if measured:
        parts.append(panel("size", 80, "bytes", True))
    return looks(alt.vconcat(*parts), {"moment": LATEST, "picked_arrived": -1, "picked_evicted": -1})


def _draw(scene: Scene) -> Drawing:
    simulation, micro_batches = scene.simulation, scene.micro_batches()
    names = simulation.names
    batch, in_state = np.arange(len(simulation.outcome.marks)), simulation.outcome.state_rows()
    held, moved = [], []
    for side, name in Sides(*names).items():
        held.append(pd.DataFrame({"batch": batch, "stream": name, "rows": in_state[side]}))
        for what, sign, rows in zip(("added", "evicted"), (1, -1), simulation.outcome.moves(side), strict=True):
            moved.append(pd.DataFrame({"batch": batch, "stream": name, "rows": sign * rows, "what": what}))
    size = micro_batches[["batch", "state_bytes"]].rename(columns={"state_bytes": "bytes"})
    size["bytes"] = size["bytes"].astype(float)
    counts, shown = simulation.outcome.state_counts(), in_state["left"] + in_state["right"]
    differ = len(counts) > 0 and counts.max() != shown.max()
    more = f"; Spark counts {counts.max():,} {kind_of(simulation.join).operator.holds.rstrip(',')}" if differ else ""
    return state(pd.concat(held), pd.concat(moved), size, names, more)


VIEW = View(
    "state",
    "State",
    "Rows in state after each micro-batch: added, evicted, and row by row since when and until when.",
    """Rows in state by side, and bytes, over micro-batches, with what was added and evicted.""",
    _draw,
    group="State",
    of_rows=False,
    lists_state=True,
)
