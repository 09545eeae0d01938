"""How Spark executes a join."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.literals import Side


@dataclass(frozen=True)
class RowsInMaps:
    """Where a processor has its rows in state: per side a variable, which is a map with rows as its values.

    Rows are stored as the macro `workbench.plan.processors.PLACED` places their columns: ``left_0``, ``left_1``, …; in
    runs a further one holds the row's number, by which `workbench.engine.state_reader` finds it.
    """

    variables: tuple[tuple[Side, str], ...]


@dataclass(frozen=True)
class RowsInLists:
    """Where a processor has its rows in state: a variable with the lists ``left_rows`` and ``right_rows`` of a key.

    Rows are stored as in `RowsInMaps`.
    """

    variable: str


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
        How many times as long as a hash join's the simulation of a row takes.
    is_processor
        Whether it is a processor in Python, which Spark has with the RocksDB state store only.
    has_timers
        Whether it sets timers on event time.
    state
        Of a processor where its rows are in state.
    counts_keys
        Whether ``numRowsTotal`` counts keys, and not rows.
    """

    holds: str
    drops: str
    work_per_row: int
    is_processor: bool = False
    has_timers: bool = False
    state: RowsInMaps | RowsInLists | None = None
    counts_keys: bool = False


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
LATE_ROWS = "late rows in each micro-batch (numRowsDroppedByWatermark)"
"""What ``numRowsDroppedByWatermark`` counts of a processor."""
