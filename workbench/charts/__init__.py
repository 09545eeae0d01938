"""Altair charts of tables: no Spark and no widget here.

All take frames with documented columns and give a `Drawing`, whose ``chart()`` is the Altair chart.
"""

from __future__ import annotations

from workbench.charts import _altair as _altair  # before all that import Altair

# isort: split
from workbench.charts._arrival import arrival, arrival_counts
from workbench.charts._drawing import LATEST, MOMENT, PICKED, PICKED_CAME, PICKED_WENT, Drawing
from workbench.charts._late import late
from workbench.charts._misses import misses
from workbench.charts._rates import rates
from workbench.charts._state import state
from workbench.charts._style import MOST_ROWS, STEPS, thin
from workbench.charts._timeline import counts, timeline
from workbench.charts._tuning import by_delay, differences, front, heat
from workbench.charts._watermarks import watermarks
from workbench.charts._windows import MOST_WINDOWS, window_counts, windows

__all__ = [
    "LATEST",
    "MOMENT",
    "MOST_ROWS",
    "MOST_WINDOWS",
    "PICKED",
    "PICKED_CAME",
    "PICKED_WENT",
    "STEPS",
    "Drawing",
    "arrival",
    "arrival_counts",
    "by_delay",
    "counts",
    "differences",
    "front",
    "heat",
    "late",
    "misses",
    "rates",
    "state",
    "thin",
    "timeline",
    "watermarks",
    "window_counts",
    "windows",
]
