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
    Choice,
    Field,
    Flag,
    Input,
    J,
    Kind,
    Menu,
    Micros,
    NearMiss,
    Rules,
    Text,
    nearest,
)
from workbench.kinds._operator import (
    AGGREGATION,
    CLOSEST_PAIR,
    HASH_JOIN,
    PATTERN,
    PROCESSOR,
    RULES,
    RULES_ON_ARRIVAL,
    Operator,
)
from workbench.kinds._registry import kind_of, kinds, register, unregister

__all__ = [
    "AGGREGATION",
    "CLOSEST_PAIR",
    "ENDED",
    "HASH_JOIN",
    "MS",
    "NEVER",
    "PATTERN",
    "PROCESSOR",
    "RULES",
    "RULES_ON_ARRIVAL",
    "WHERE",
    "Advised",
    "Choice",
    "Field",
    "Flag",
    "Input",
    "J",
    "Kind",
    "Menu",
    "Micros",
    "NearMiss",
    "Operator",
    "Rules",
    "Text",
    "kind_of",
    "kinds",
    "nearest",
    "register",
    "unregister",
]
