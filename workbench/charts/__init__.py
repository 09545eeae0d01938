"""Altair charts of tables: no Spark and no widget here.

All take frames with documented columns and give a chart.
"""

from __future__ import annotations

from workbench.charts._arrival import arrival
from workbench.charts._late import late
from workbench.charts._misses import misses
from workbench.charts._state import state
from workbench.charts._timeline import timeline
from workbench.charts._watermarks import watermarks
from workbench.charts._windows import windows

__all__ = ["arrival", "late", "misses", "state", "timeline", "watermarks", "windows"]
