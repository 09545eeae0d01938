"""The sinks of scripts, one a file."""

from __future__ import annotations

from workbench.script._places import Sink
from workbench.script.sinks import console, delta, iceberg, kafka, parquet, postgresql, postgresql_transaction

__all__ = ["ALL"]

ALL: tuple[Sink, ...] = tuple(
    each.SINK for each in (parquet, delta, iceberg, kafka, console, postgresql, postgresql_transaction)
)
