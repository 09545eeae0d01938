"""Folders of files: those that a stream was recorded from, or its recording."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from workbench.errors import ArgumentError
from workbench.quoting import literal
from workbench.script._places import Argument, Connector, Source, beside
from workbench.script.connectors import DELTA
from workbench.streams import Stream
from workbench.untyped import Record

__all__ = ["SOURCE", "Files"]

_CONNECTORS = {"delta": DELTA}  # of formats that Spark does not read by itself


@dataclass(frozen=True)
class Files(Source):
    """A source of files."""

    def check(self, left: Stream, right: Stream, dead_letters: str | None) -> None:
        """Refuse dead letters of Delta tables, whose checkpoint does not say which rows a micro-batch took in."""
        if dead_letters is not None and "delta" in _formats(left, right):
            raise ArgumentError(
                f"dead_letters: got {dead_letters!r}; which rows of a Delta table a micro-batch took in cannot be determined "
                "afterwards: use a source of files or Kafka, or dead_letters=None"
            )

    def connectors_for(self, left: Stream, right: Stream) -> tuple[Connector, ...]:
        """The connectors of the files' formats."""
        return tuple(_CONNECTORS[name] for name in dict.fromkeys(_formats(left, right)) if name in _CONNECTORS)

    def settings(self, left: Stream, right: Stream) -> dict[str, str]:
        """Timestamps in nanoseconds are read as numbers."""
        nanos = any(stream.source.as_files().nanos for stream in (left, right))
        return {"spark.sql.legacy.parquet.nanosAsLong": "true"} if nanos else {}

    def columns(self, stream: Stream) -> dict[str, str]:
        """The columns, those in nanoseconds as the numbers that Spark reads."""
        return super().columns(stream) | dict.fromkeys(stream.source.as_files().nanos, "bigint")

    def schema(self, stream: Stream) -> dict[str, str]:
        """All columns of the files."""
        return dict(stream.source.as_files().columns) or self.columns(stream)

    def variables(self, stream: Stream, var: str, data: str) -> Record:
        """Where the files are, and how they are read."""
        columns, files = self.columns(stream), stream.source.as_files(f"{data}/{var}")
        recording = f'str(Path(__file__).parent / "{data}" / "{var}")'
        return {
            "chosen": ", ".join(map(literal, columns)) if self.schema(stream).keys() != columns.keys() else "",
            "chosen_columns": list(columns),
            "reader": {literal(name): literal(value) for name, value in files.reader_options.items()},
            "default": literal(files.path) if files is stream.source else recording,
            "recording": files is not stream.source,
            "recorded": stream.batch_count,
            "data": data,
            "pattern": re.sub(r"([\\\[\]{}*?])", r"\\\1", files.path),
            "folder": json.dumps(files.path),
            "format": files.format,
            "files": files.max_files,
            "malformed": files.malformed,
            "nano_columns": files.nanos,
            "nanos": f"({', '.join(map(literal, files.nanos))},)" if files.nanos else "",
        }


def _formats(*streams: Stream) -> list[str]:
    return [stream.source.as_files().format for stream in streams]


SOURCE = Files(
    name="files",
    description="folders of files, each file taken once, in order of modification time.",
    malformed="a broken line, a row without event time: left out and counted; a truncated file stops the script",
    template=beside(__file__),
    plain=beside(__file__, "_plain.jinja"),
    pipeline=beside(__file__, "_pipeline.jinja"),
    project_arguments=(
        Argument(
            "--files-per-trigger",
            None,
            "files of each stream in a micro-batch, at most; unless it is given, as many as when the stream was recorded",
        ),
    ),
    stored=True,
    dropped=("malformed", "unreadable"),
)
