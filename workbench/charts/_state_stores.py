"""What one recording takes with each state store."""

from __future__ import annotations

import altair as alt
import pandas as pd

from workbench.charts._drawing import Drawing
from workbench.charts._style import WIDTH, layout, looks, panel_title
from workbench.untyped import AltairChart

_PANELS = {
    "seconds": ("all micro-batches, seconds", 1),
    "commit_ms": ("commit of a micro-batch, ms", 1),
    "recovery_ms": ("first micro-batch after a kill, ms", 1),
    "memory_bytes": ("memory, MB", 2**20),
    "disk_bytes": ("state in the checkpoint, MB", 2**20),
}
"""What is shown of the table: what it is called, and what it is divided by."""


def backends(table: pd.DataFrame) -> Drawing:
    """Figures of each state store as bars.

    Parameters
    ----------
    table
        As `workbench.runs.backends.Backends.table`.
    """
    shown = {
        name: pd.DataFrame({"store": table["store"], "value": table[name].astype(float) / unit})
        for name, (_, unit) in _PANELS.items()
    }
    rows = int(table["state_rows"].max())
    return Drawing(_layout(), shown, "State stores", f"the same rows with each; up to {rows:,} of them in state")


@layout
def _layout() -> AltairChart:
    panels = []
    for name, (title, _) in _PANELS.items():
        bars = alt.Chart(alt.NamedData(name)).encode(
            y=alt.Y("store:N", title=None, sort=None),
            x=alt.X("value:Q", title=None, axis=None),
            tooltip=["store:N", alt.Tooltip("value:Q", title=title, format=",.1f")],
        )
        words = bars.mark_text(align="left", dx=4).encode(text=alt.Text("value:Q", format=",.1f"))
        both = alt.layer(bars.mark_bar(color="#2a78b5", height=14), words)
        panels.append(both.properties(width=WIDTH // 2, height=66, title=panel_title(title)))
    return looks(alt.vconcat(*panels, spacing=14))
