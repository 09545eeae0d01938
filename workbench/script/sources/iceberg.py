"""Iceberg tables."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.errors import ArgumentError
from workbench.script._places import Argument, Source, beside
from workbench.script.connectors import ICEBERG
from workbench.streams import Stream
from workbench.untyped import Record

__all__ = ["SOURCE", "Tables"]


@dataclass(frozen=True)
class Tables(Source):
    """A source of Iceberg tables."""

    def check(self, left: Stream, right: Stream, dead_letters: str | None) -> None:
        """Refuse dead letters, as the checkpoint does not say which rows a micro-batch took in."""
        if dead_letters is not None:
            raise ArgumentError(
                f"dead_letters: got {dead_letters!r}; which rows of an Iceberg table a micro-batch took in cannot be "
                "determined afterwards: use a source of files or Kafka, or dead_letters=None"
            )

    def variables(self, stream: Stream, var: str, data: str) -> Record:
        """The columns that are read, as a table may have more."""
        return {"chosen_columns": list(self.columns(stream))}


SOURCE = Tables(
    name="iceberg",
    description="Iceberg tables, from their first snapshot, as rows are appended; their catalog is a setting of the session, spark.sql.catalog.<name>.",
    malformed="a row without event time: left out and counted",
    template=beside(__file__),
    plain=beside(__file__, "_plain.jinja"),
    arguments=(Argument("--max-files-per-trigger", 1_000, "data files of each table in a micro-batch, at most"),),
    connectors=(ICEBERG,),
)
