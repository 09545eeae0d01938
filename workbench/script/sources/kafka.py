"""Kafka topics of JSON."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.script._places import Argument, Source, beside
from workbench.script.connectors import KAFKA
from workbench.sources.kafka import KAFKA_COLUMNS
from workbench.streams import Stream

__all__ = ["ARGUMENTS", "SOURCE", "Topics"]


@dataclass(frozen=True)
class Topics(Source):
    """A source of Kafka topics."""

    def columns(self, stream: Stream) -> dict[str, str]:
        """The columns that are in a message's value."""
        return {name: kind for name, kind in super().columns(stream).items() if name not in KAFKA_COLUMNS}


ARGUMENTS = (Argument("--max-offsets-per-trigger", 100_000, "messages of each topic in a micro-batch, at most"),)

SOURCE = Topics(
    name="kafka",
    description="Kafka topics, from their beginning; the values are JSON objects of a stream's columns.",
    malformed="left out and counted",
    template=beside(__file__),
    plain=beside(__file__, "_plain.jinja"),
    pipeline=beside(__file__, "_pipeline.jinja"),
    arguments=ARGUMENTS,
    connectors=(KAFKA,),
)
