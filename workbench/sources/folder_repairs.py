"""Other ways in which Spark can read a folder of files, as arguments of `Stream.from_files`: offered and chosen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from workbench.sources.csv_separators import Separated
from workbench.sources.time_formats import in_sparks_words, written
from workbench.untyped import Record, Series

__all__ = [
    "FileRepair",
    "LeaveOutUnreadable",
    "TimesOfZone",
    "TimesWritten",
    "arguments",
    "ways",
]


@dataclass(frozen=True)
class TimesWritten:
    """The times in the files are written in another way than ISO 8601.

    Attributes
    ----------
    pattern
        How, in the words of Spark's option ``timestampFormat``.
    """

    pattern: str

    @property
    def words(self) -> str:
        """What it does."""
        return f"times in the files are read as {self.pattern}"


@dataclass(frozen=True)
class LeaveOutUnreadable:
    """Records that cannot be read as their columns' types are left out."""

    @property
    def words(self) -> str:
        """What it does."""
        return "records that cannot be read are left out"


@dataclass(frozen=True)
class TimesOfZone:
    """Times in the files that name no zone are taken as those of a zone.

    Attributes
    ----------
    zone
        The zone, or an offset from UTC.
    """

    zone: str

    @property
    def words(self) -> str:
        """What it does."""
        return f"times in the files without a zone are taken as {self.zone}"


FileRepair: TypeAlias = TimesWritten | LeaveOutUnreadable | Separated | TimesOfZone


def arguments(repairs: Iterable[FileRepair]) -> Record:
    """What `Stream.from_files` is given more; of two patterns the later."""
    options: dict[str, str] = {}
    found: Record = {}
    for each in repairs:
        match each:
            case TimesWritten(pattern):
                options["timestampFormat"] = pattern
            case Separated(by):
                options["sep"] = by
            case TimesOfZone(zone):
                options["timeZone"] = zone
            case LeaveOutUnreadable():
                found["malformed"] = "drop"
    return {"options": options, **found} if options else found


def ways(texts: Series) -> list[TimesWritten]:
    """How some texts may say times, the likeliest first; none for what Spark reads without a word or cannot read.

    Parameters
    ----------
    texts
        The texts of the column.
    """
    patterns = [in_sparks_words(each.format) for each in written(texts)]
    return [TimesWritten(each) for each in patterns if each]
