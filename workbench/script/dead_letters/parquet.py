"""Parquet files."""

from __future__ import annotations

from workbench.script._places import Argument, DeadLetters, beside

__all__ = ["DEAD_LETTERS"]

DEAD_LETTERS = DeadLetters(
    name="parquet",
    target="as Parquet files in --dead-letters, a folder for each micro-batch",
    template=beside(__file__),
    arguments=(Argument("--dead-letters", "dead-letters", "folder for the rows that were dropped"),),
    new_folder=True,
)
