"""The protocol of a kind of join, and the registry that finds the kind of a join.

Everything about a kind is in its package in `workbench/builtin_kinds/`: its plan, its semantics (windows, matching,
retention, null keys), its explanations (phrases, fixes, advice), the fields of its form and its Flink code. The rest of
the code asks `kind_of` for the `Kind` of a join, and never tests which one it is.
"""

from __future__ import annotations

from workbench.kinds._execution import ENDED, Execution
from workbench.kinds._flink import FlinkTexts
from workbench.kinds._form import Form
from workbench.kinds._inputs import WHERE, Field, Flag, Input, J, Menu, Text
from workbench.kinds._introduction import Introduction, Sketch, Stretch
from workbench.kinds._kind import AnyKind, Kind
from workbench.kinds._operator import (
    AGGREGATION,
    CLOSEST_PAIR,
    HASH_JOIN,
    LATE_ROWS,
    Operator,
    RowsInLists,
    RowsInMaps,
)
from workbench.kinds._panel import KindPanel, LiveRun, PanelOf
from workbench.kinds._plan import plan_of
from workbench.kinds._registry import kind_of, kinds, panels, part_of, register, unregister
from workbench.kinds._semantics import MS, NEVER, UNBOUNDED, Semantics
from workbench.kinds._settings import Settings, SharedRows
from workbench.kinds._words import Advised, Words

__all__ = [
    "AGGREGATION",
    "CLOSEST_PAIR",
    "ENDED",
    "HASH_JOIN",
    "LATE_ROWS",
    "MS",
    "NEVER",
    "UNBOUNDED",
    "WHERE",
    "Advised",
    "AnyKind",
    "Execution",
    "Field",
    "Flag",
    "FlinkTexts",
    "Form",
    "Input",
    "Introduction",
    "J",
    "Kind",
    "KindPanel",
    "LiveRun",
    "Menu",
    "Operator",
    "PanelOf",
    "RowsInLists",
    "RowsInMaps",
    "Semantics",
    "Settings",
    "SharedRows",
    "Sketch",
    "Stretch",
    "Text",
    "Words",
    "kind_of",
    "kinds",
    "panels",
    "part_of",
    "plan_of",
    "register",
    "unregister",
]
