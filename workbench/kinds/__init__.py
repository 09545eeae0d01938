"""The protocol of a kind of join, and the registry that finds the kind of a join.

Everything about a kind is in its package in `workbench/builtin_kinds/`: its plan, its semantics (windows, matching,
retention, null keys), its explanations (phrases, fixes, advice), the fields of its form and its Flink code. The rest of
the code asks `kind_of` for the `Kind` of a join, and never tests which one it is.
"""

from __future__ import annotations

from workbench.kinds._kind import (
    ENDED,
    MS,
    NEVER,
    WHERE,
    Advised,
    Field,
    Flag,
    Input,
    J,
    Kind,
    Menu,
    Micros,
    NearMiss,
    Text,
    nearest,
)
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
from workbench.kinds._registry import kind_of, kinds, panels, part_of, register, unregister

__all__ = [
    "AGGREGATION",
    "CLOSEST_PAIR",
    "ENDED",
    "HASH_JOIN",
    "LATE_ROWS",
    "MS",
    "NEVER",
    "WHERE",
    "Advised",
    "Field",
    "Flag",
    "Input",
    "J",
    "Kind",
    "KindPanel",
    "LiveRun",
    "Menu",
    "Micros",
    "NearMiss",
    "Operator",
    "PanelOf",
    "RowsInLists",
    "RowsInMaps",
    "Text",
    "kind_of",
    "kinds",
    "nearest",
    "panels",
    "part_of",
    "register",
    "unregister",
]
