"""A PostgreSQL table, in one transaction a micro-batch."""

from __future__ import annotations

from dataclasses import replace

from workbench.script._places import beside
from workbench.script.sinks import postgresql

__all__ = ["SINK"]

SINK = replace(
    postgresql.SINK,
    name="postgresql-transaction",
    reason=": a micro-batch is written ahead, then moved in one transaction with a note of its number",
    template=beside(__file__),
)
