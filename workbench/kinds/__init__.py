"""The kinds of join: one package for each, behind one protocol, found through one registry.

Everything about a kind is in its package: its plan, its semantics (windows, matching, retention, null keys), its
explanations (phrases, fixes, advice), the fields of its form and its Flink code. The rest of the code asks `kind_of`
for the `Kind` of a join, and never tests which one it is.
"""

from __future__ import annotations

from workbench.kinds._kind import MS, NEVER, Choice, Field, Flag, Input, Kind, Menu, Micros, NearMiss, Rules, Text
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
    "HASH_JOIN",
    "MS",
    "NEVER",
    "PATTERN",
    "PROCESSOR",
    "RULES",
    "RULES_ON_ARRIVAL",
    "Choice",
    "Field",
    "Flag",
    "Input",
    "Kind",
    "Menu",
    "Micros",
    "NearMiss",
    "Operator",
    "Rules",
    "Text",
    "kind_of",
    "kinds",
    "register",
    "unregister",
]
