"""The places for dead letters, one a file."""

from __future__ import annotations

from workbench.script._places import DeadLetters
from workbench.script.dead_letters import kafka, parquet

__all__ = ["ALL"]

ALL: tuple[DeadLetters, ...] = (parquet.DEAD_LETTERS, kafka.DEAD_LETTERS)
