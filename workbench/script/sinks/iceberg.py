"""An Iceberg table."""

from __future__ import annotations

from workbench.script._places import JOINED, Argument, Sink, beside
from workbench.script.connectors import ICEBERG

__all__ = ["SINK"]

SINK = Sink(
    name="iceberg",
    target="an Iceberg table",
    guarantee="exactly once",
    reason=": a snapshot notes the query and the micro-batch it is of",
    template=beside(__file__),
    is_checked=True,
    arguments=(
        Argument("--output", JOINED, "table for the joined rows, such as lake.shop.joined; made if it is missing"),
    ),
    connectors=(ICEBERG,),
)
