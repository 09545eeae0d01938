"""What is held in state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from workbench.charts._drawing import LATEST, Drawing
from workbench.charts._style import MOMENTS, WIDTH, layout, looks, moment_rule, params, picked_rules, side_scale, thin

_MOST_BATCHES = 1_000


def state(held: pd.DataFrame, moved: pd.DataFrame, size: pd.DataFrame, names: Sequence[str]) -> Drawing:
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
    """
    shown = thin(size, _MOST_BATCHES)
    held, moved = (each[each["batch"].isin(shown["batch"])] for each in (held, moved))
    most = int(held.groupby("batch")["rows"].sum().max()) if len(held) else 0
    tables = {"held": held, "moved": moved, "size": shown.rename(columns={"bytes": "rows"}), "moments": MOMENTS}
    layout = _layout(tuple(names), bool(size["bytes"].notna().any()))
    return Drawing(layout, tables, "State", f"at most {most:,} rows")


@layout
def _layout(names: tuple[str, str], measured: bool) -> Any:
    def panel(table: str, height: int, y: str, last: bool) -> Any:
        axis = alt.Axis(tickMinStep=1)
        x = alt.X("batch:Q", title="micro-batch" if last else None, axis=axis, scale=alt.Scale(nice=False, zero=False))
        place = {"x": x, "x2": "until:Q", "y": alt.Y("from:Q", title=y, axis=alt.Axis(format="~s")), "y2": "to:Q"}
        bars = (
            alt.Chart(alt.NamedData(table))
            .transform_calculate(until="datum.batch + 0.96")
            .transform_stack(["from", "to"], "rows", ["batch"])
            .mark_rect(opacity=0.8)
            .encode(**place, tooltip=[batch, *told[table]])
        )
        if table != "size":
            bars = bars.encode(color=side_scale(names))
        rule = moment_rule().transform_calculate(until="moment + 0.98")
        return alt.layer(bars, rule, picked_rules(" + 0.5")).properties(width=WIDTH, height=height)

    batch, stream = alt.Tooltip("batch:Q", title="micro-batch"), alt.Tooltip("stream:N")
    rows = alt.Tooltip("rows:Q", format=",")
    told = {
        "held": [stream, rows],
        "moved": [stream, rows, alt.Tooltip("what:N")],
        "size": [alt.Tooltip("rows:Q", title="bytes", format=",")],
    }
    parts = [panel("held", 150, "rows in state", False), panel("moved", 110, "added, evicted", not measured)]
    if measured:
        parts.append(panel("size", 80, "bytes", True))
    chart: Any = alt.vconcat(*parts).add_params(*params(moment=LATEST, picked_came=-1, picked_went=-1))
    return looks(chart)
