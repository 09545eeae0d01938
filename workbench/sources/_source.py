"""What a stream knows of where it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

Format = Literal["parquet", "json", "csv", "delta"]
FORMATS: tuple[Format, ...] = get_args(Format)
Malformed = Literal["fail", "drop"]
"""What becomes of records that cannot be read."""
MALFORMED: tuple[Malformed, ...] = get_args(Malformed)

_CSV = {
    "header": "true",
    "escape": '"',  # a quote in a quoted field is doubled, as RFC 4180 has it and all but Spark's own writer do
    "multiLine": "true",  # a quoted field may hold line breaks
    "enforceSchema": "false",  # a header with other columns, or in another order, is an error
}


@dataclass(frozen=True)
class Files:
    """A folder of files, which an exported script reads.

    Attributes
    ----------
    path
        The folder, as it was given.
    format
        What the files are.
    max_files
        Files a micro-batch.
    options
        The user's options of Spark's reader.
    malformed
        What becomes of records that cannot be read.
    nanos
        Timestamp columns that the files hold in nanoseconds, which Spark does not read as timestamps.
    columns
        Name and Spark's type of each column of the files, where the stream has not all of them; else empty.
    """

    path: str
    format: Format = "parquet"
    max_files: int = 1
    options: Mapping[str, str] = field(default_factory=dict)
    malformed: Malformed = "fail"
    nanos: tuple[str, ...] = ()
    columns: tuple[tuple[str, str], ...] = ()

    @property
    def reader_options(self) -> dict[str, str]:
        """All options of Spark's reader for the files, the user's among them."""
        if self.format == "delta":
            return {}
        given = {name.lower() for name in self.options}
        defaults = _CSV if self.format == "csv" else {}
        return {name: value for name, value in defaults.items() if name.lower() not in given} | dict(self.options)

    def as_files(self, recording: str = "") -> Files:
        """What a script reads: these files."""
        return self


@dataclass(frozen=True)
class Memory:
    """Rows that no folder holds: a frame's, a generator's, a sample of a topic or of a streaming DataFrame."""

    def as_files(self, recording: str = "") -> Files:
        """What a script reads: a recording of the rows, in a folder beside it."""
        return Files(recording)


Source: TypeAlias = Memory | Files
