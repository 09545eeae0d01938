"""Recorded rows: what every source gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.sources._source import Memory, Source

if TYPE_CHECKING:
    import pyarrow as pa

    from workbench.arrays import Batches, Times
    from workbench.sources.key_choice import Newest

__all__ = ["MOST_BATCHES", "Recorded"]

MOST_BATCHES = 100_000


@dataclass(frozen=True, eq=False)
class Recorded:
    """Rows in arrival order, and where they came from.

    Attributes
    ----------
    table
        The rows, in the types that the source gave.
    arrival
        The micro-batch of each row; never falls.
    batch_count
        How many micro-batches there are, empty ones included.
    source
        Where they came from.
    arrived_at
        When each row arrived, in microseconds since 1970-01-01 UTC, never falling; None: the source does not tell.
    zones
        For timestamp columns whose time zone `table` no longer has, the zone; None where naive.
    newest
        Where the source gave only some of its rows, by their keys: the newest event times of all; None: it gave all.
    """

    table: pa.Table
    arrival: Batches
    batch_count: int
    source: Source = field(default_factory=Memory)
    zones: Mapping[str, str | None] = field(default_factory=dict)
    arrived_at: Times | None = None
    newest: Newest | None = None
