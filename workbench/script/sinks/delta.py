"""A Delta table."""

from __future__ import annotations

from workbench.script._places import Argument, Sink, beside
from workbench.script.connectors import DELTA

__all__ = ["SINK"]

SINK = Sink(
    name="delta",
    target="a Delta table",
    guarantee="exactly once",
    reason=": a commit notes the query and the micro-batch it is of",
    template=beside(__file__),
    is_checked=True,
    arguments=(Argument("--output", "output", "folder for the joined rows"),),
    connectors=(DELTA,),
)
