"""A Kafka topic."""

from __future__ import annotations

from workbench.script._places import JOINED, Argument, Sink, beside
from workbench.script.connectors import KAFKA

__all__ = ["SINK"]

SINK = Sink(
    name="kafka",
    target="a Kafka topic",
    guarantee="at least once",
    reason="; a repeated row has the same id, by which `read_once` drops it",
    template=beside(__file__),
    arguments=(Argument("--output", JOINED, "topic for the joined rows"),),
    connectors=(KAFKA,),
)
