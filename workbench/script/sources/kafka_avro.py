"""Kafka topics of Avro."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from workbench.errors import ArgumentError
from workbench.quoting import is_plain
from workbench.script._places import beside
from workbench.script.connectors import AVRO, KAFKA
from workbench.script.sources.kafka import ARGUMENTS, Topics
from workbench.streams import Stream
from workbench.untyped import Record

__all__ = ["SOURCE", "AvroTopics"]

_AVRO = {"string": "string", "bigint": "long", "int": "int", "smallint": "int", "tinyint": "int", "double": "double"}
_AVRO |= {"float": "float", "boolean": "boolean", "binary": "bytes"}


@dataclass(frozen=True)
class AvroTopics(Topics):
    """A source of Kafka topics whose values are Avro records, without a registry's header."""

    def check(self, left: Stream, right: Stream, dead_letters: str | None) -> None:
        """Refuse columns with names that Avro does not have."""
        for stream in (left, right):
            for name in stream.columns:
                if not is_plain(name):
                    raise ArgumentError(
                        f"source: got {self.name!r}; Avro has no field named {name!r}, as a column of {stream.name} is: "
                        "rename it, or use 'kafka'"
                    )

    def variables(self, stream: Stream, var: str, data: str) -> Record:
        """The schema of the topic's values."""
        return {"avro": json.dumps(self.record(stream, var))}

    def record(self, stream: Stream, name: str) -> Record:
        """The Avro schema of a topic's values: every field may be null; timestamps in microseconds."""
        fields = []
        for column, kind in self.columns(stream).items():
            logical: Any = _AVRO.get(kind, "string")
            if kind.startswith("timestamp"):
                logical = {"type": "long", "logicalType": "timestamp-micros"}
            elif kind == "date":
                logical = {"type": "int", "logicalType": "date"}
            fields.append({"name": column, "type": ["null", logical], "default": None})
        return {"type": "record", "name": name, "fields": fields}


SOURCE = AvroTopics(
    name="kafka-avro",
    description="Kafka topics, from their beginning; the values are Avro records of a stream's columns.",
    malformed="left out and counted",
    template=beside(__file__),
    plain=beside(__file__, "_plain.jinja"),
    arguments=ARGUMENTS,
    connectors=(KAFKA, AVRO),
)
