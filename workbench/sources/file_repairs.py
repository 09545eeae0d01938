"""Other ways in which Spark can read a folder of files, as arguments of `Stream.from_files`: offered and chosen."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from workbench.sources.profile import written
from workbench.untyped import Record, Series

__all__ = ["FileRepair", "LeaveOutUnreadable", "TimesWritten", "arguments", "in_sparks_words", "ways"]

_WIDE = {"%d": "dd", "%m": "MM", "%H": "HH"}  # where nothing stands between them
_LETTERS = {  # not %y: of years from 69 on Spark takes another century
    "%d": "d", "%m": "M", "%Y": "yyyy", "%b": "MMM", "%B": "MMMM", "%H": "H", "%I": "h", "%M": "mm", "%S": "ss",
    "%f": "SSSSSS", "%p": "a", "%z": "[XXX][XX]",
}  # fmt: skip


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


FileRepair: TypeAlias = TimesWritten | LeaveOutUnreadable


def arguments(repairs: Iterable[FileRepair]) -> Record:
    """What `Stream.from_files` is given more; of two patterns the later."""
    found: Record = {}
    for each in repairs:
        if isinstance(each, TimesWritten):
            found["options"] = {"timestampFormat": each.pattern}
        else:
            found["malformed"] = "drop"
    return found


def ways(texts: Series) -> list[TimesWritten]:
    """How some texts may say times, the likeliest first; none for what Spark reads without a word or cannot read.

    Parameters
    ----------
    texts
        The texts of the column.
    """
    patterns = [in_sparks_words(each.format) for each in written(texts)]
    return [TimesWritten(each) for each in patterns if each]


def in_sparks_words(form: str) -> str | None:
    """A format of ``strptime`` as Spark's datetime pattern; None where Spark has none for it.

    Source: https://spark.apache.org/docs/latest/sql-ref-datetime-pattern.html
    """
    parts = re.findall(r"%.|[^%]", form)
    marks = {each for each in parts if each[0] != "%"}
    if form == "ISO8601" or not marks or any(each.isalnum() for each in marks):  # digits alone are a number to Spark
        return None
    if any(each not in _LETTERS for each in parts if each not in marks):
        return None
    letters = _LETTERS | (_WIDE if "%Y%m%d" in form else {})
    return "".join(letters.get(each, each) for each in parts)
