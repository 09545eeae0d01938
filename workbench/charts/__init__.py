"""Altair charts: no Spark and no widget here.

Each view of a run or a tuning is one module: its table, its layout, and what the page and `Run.charts` or
`Tuning.charts` need to know of it. A
layout's function takes frames with documented columns and gives a `Drawing`, whose ``chart()`` is the Altair chart.
"""

from __future__ import annotations

from workbench.charts import _altair as _altair  # before all that import Altair

# isort: split
from workbench.charts._arrival import arrival, arrival_counts
from workbench.charts._axes import AXES, Axis, AxisName
from workbench.charts._bounds import bounded
from workbench.charts._chain import ChainCharts, ChainLink, chain
from workbench.charts._delays import kept_by_delay, waits_by_delay
from workbench.charts._differences import differences
from workbench.charts._drawing import LATEST, MOMENT, PICKED, PICKED_ARRIVED, PICKED_EVICTED, Drawing
from workbench.charts._heat import heat
from workbench.charts._keys import keys_in_state
from workbench.charts._late import late
from workbench.charts._live import live
from workbench.charts._misses import misses
from workbench.charts._pareto import pareto
from workbench.charts._registry import register, tuning_views, unregister, views
from workbench.charts._rows import WHOLE, Cut
from workbench.charts._run_charts import RunCharts
from workbench.charts._spark_and_flink import engines
from workbench.charts._state import state
from workbench.charts._state_stores import backends
from workbench.charts._style import MOST_ROWS, STEPS, thin
from workbench.charts._timeline import of_key, timeline, timeline_counts
from workbench.charts._tuning_charts import TuningCharts
from workbench.charts._view import GROUPS, Scene, TuningScene, TuningView, View
from workbench.charts._watch import watched
from workbench.charts._watermarks import watermarks
from workbench.charts._windows import MOST_WINDOWS, window_counts, windows

__all__ = [
    "AXES",
    "GROUPS",
    "LATEST",
    "MOMENT",
    "MOST_ROWS",
    "MOST_WINDOWS",
    "PICKED",
    "PICKED_ARRIVED",
    "PICKED_EVICTED",
    "STEPS",
    "WHOLE",
    "Axis",
    "AxisName",
    "ChainCharts",
    "ChainLink",
    "Cut",
    "Drawing",
    "RunCharts",
    "Scene",
    "TuningCharts",
    "TuningScene",
    "TuningView",
    "View",
    "arrival",
    "arrival_counts",
    "backends",
    "bounded",
    "chain",
    "differences",
    "engines",
    "heat",
    "kept_by_delay",
    "keys_in_state",
    "late",
    "live",
    "misses",
    "of_key",
    "pareto",
    "register",
    "state",
    "thin",
    "timeline",
    "timeline_counts",
    "tuning_views",
    "unregister",
    "views",
    "waits_by_delay",
    "watched",
    "watermarks",
    "window_counts",
    "windows",
]
