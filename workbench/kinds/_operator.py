"""How Spark executes a join."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Operator:
    """One of Spark's stateful operators, or several that act as one.

    `workbench.model` simulates it, `workbench.engine.state_reader` reads what it holds.

    Attributes
    ----------
    holds
        What it has in state, in the plural: what ``numRowsTotal`` counts.
    drops
        What ``numRowsDroppedByWatermark`` counts.
    work_per_row
        How long the simulation of a row takes, in those of a hash join.
    is_processor
        Whether it is a processor in Python, which Spark has with the RocksDB state store only.
    has_timers
        Whether it sets timers on event time.
    """

    holds: str
    drops: str
    work_per_row: int
    is_processor: bool = False
    has_timers: bool = False


HASH_JOIN = Operator("rows", "late rows, once for each window, in each micro-batch (numRowsDroppedByWatermark)", 1)
"""Spark's symmetric hash join of two streams."""
AGGREGATION = Operator(
    "groups", "groups of late rows in each micro-batch (numRowsDroppedByWatermark counts partial aggregates)", 4
)
"""One aggregation of both sides together."""
CLOSEST_PAIR = Operator(
    "rows, and groups of a left row's pairs,",
    "late rows in each micro-batch (numRowsDroppedByWatermark)",
    1,
)
"""A hash join, and an aggregation of each left row's pairs that keeps one of them."""
_LATE = "late rows in each micro-batch (numRowsDroppedByWatermark)"
PROCESSOR = Operator("keys with rows", _LATE, 1, is_processor=True, has_timers=True)
"""A processor in Python, with state and timers of its own: ``transformWithState``."""
PATTERN = Operator("keys with rows", _LATE, 10, is_processor=True, has_timers=True)
"""A processor that holds rows until the watermark has passed them, and then as long as a partial match has them."""
RULES = Operator("rows, those of rules once for each copy,", _LATE, 1, is_processor=True, has_timers=True)
"""A processor that holds the versions of rules, and rows until the watermark has passed them."""
RULES_ON_ARRIVAL = Operator("rules, once for each copy,", "rows that are late: none ever is", 1, is_processor=True)
"""A processor that holds the rules that have arrived, and nothing else."""
