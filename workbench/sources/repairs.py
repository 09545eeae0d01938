"""What may be done to a table so that it can be a stream: each a description, whose code is what is run.

A repair is chosen by the user, shown in words, and written into the notebook cell as the line that does it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, Protocol, TypeAlias

import pandas as pd

from workbench.errors import DataError
from workbench.untyped import Record

__all__ = [
    "AnyRepair",
    "Cast",
    "DatesAsTimes",
    "FromEpoch",
    "InZone",
    "KeyText",
    "LeaveOut",
    "LeaveOutDuplicates",
    "ParseTimes",
    "Repair",
    "Step",
    "code",
    "repaired",
    "steps_in_words",
]

Unit = Literal["s", "ms", "us", "ns"]
_UNITS: dict[Unit, str] = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
Target = Literal["text", "whole numbers"]
_DTYPES: dict[Target, tuple[str, ...]] = {"text": ("string",), "whole numbers": ("Int64",)}
Step = Literal["text", "whole", "ends", "blanks", "case", "zeros", "padding"]
PADDING = r"^0+(?=.)|(?<=[^\d.,])0+(?=\d)"
"""The zeros before a key and before each of the numbers in it, which are no decimals."""
_STEPS: dict[Step, tuple[str, str]] = {
    "whole": ("", '.astype("Int64")'),
    "text": ("as text", '.astype("string")'),
    "ends": ("without blanks at the ends", ".str.strip()"),
    "blanks": ("without blanks", r'.str.replace(r"\s", "", regex=True)'),
    "case": ("in lower case", ".str.lower()"),
    "zeros": ("without leading zeros", '.str.replace("^0+(?=.)", "", regex=True)'),
    "padding": ("without zeros before numbers", f'.str.replace(r"{PADDING}", "", regex=True)'),
}
"""What may be done to a key so that it is written as on the other side: in words, and in code."""


_PARTS = {
    "%d": "day", "%m": "month", "%Y": "year", "%y": "yy", "%H": "hour", "%I": "hour", "%M": "minute", "%S": "second",
    "%f": "fraction", "%p": "AM/PM", "%z": "offset",
}  # fmt: skip
"""What the codes of ``strptime`` are called, of those that stand for numbers."""
_MOMENT = datetime(2026, 1, 31, 9, 5, 7, tzinfo=UTC)
"""The time that is written as an example: its day is no month."""


class Repair(Protocol):
    """One change of a table."""

    @property
    def column(self) -> str:
        """The column that it is about."""

    @property
    def words(self) -> str:
        """What it does, as a sentence without its full stop."""

    def line(self, rows: str) -> str:
        """The statement that does it to the pandas frame of a name."""


@dataclass(frozen=True)
class LeaveOut:
    """Rows without a value in a column are left out."""

    column: str

    @property
    def words(self) -> str:
        """What it does."""
        return f"rows without {self.column} are left out"

    def line(self, rows: str) -> str:
        """The statement that does it."""
        return f"{rows} = {rows}.dropna(subset=[{self.column!r}])"


@dataclass(frozen=True)
class ParseTimes:
    """Text is read as time.

    Attributes
    ----------
    column
        The column.
    format
        How the times are written, in the words of ``strptime``; ``ISO8601`` for any form of that standard.
    zoned
        Whether the texts say a time zone; the times are then in UTC.
    """

    column: str
    format: str
    zoned: bool = False

    @property
    def words(self) -> str:
        """What it does."""
        return f"{self.column} is read as time, written as {self.written}; other values become null"

    @property
    def written(self) -> str:
        """How the times are written: their parts; an example where these have names, or nothing between them."""
        if self.format == "ISO8601":
            return "ISO 8601"
        codes = re.findall("%.", self.format)
        if any(each not in _PARTS for each in codes) or re.search("%.%", self.format):
            return f"in {_MOMENT.strftime(self.format)}"
        return re.sub("%.", lambda found: _PARTS[found[0]], self.format)

    def line(self, rows: str) -> str:
        """The statement that does it."""
        zone = ", utc=True" if self.zoned else ""
        call = f'pd.to_datetime({rows}[{self.column!r}], format={self.format!r}{zone}, errors="coerce")'
        return f"{rows}[{self.column!r}] = {call}"


@dataclass(frozen=True)
class FromEpoch:
    """Numbers are read as times since 1970-01-01 UTC.

    Attributes
    ----------
    column, unit
        The column, and what its numbers count.
    text
        Whether the numbers are written as text.
    """

    column: str
    unit: Unit
    text: bool = False

    @property
    def words(self) -> str:
        """What it does."""
        return f"{self.column} is read as {_UNITS[self.unit]} since 1970, UTC"

    def line(self, rows: str) -> str:
        """The statement that does it."""
        numbers = f"{rows}[{self.column!r}]"
        if self.text:
            numbers = f'pd.to_numeric({numbers}, errors="coerce")'
        call = f'pd.to_datetime({numbers}, unit={self.unit!r}, utc=True, errors="coerce")'
        return f"{rows}[{self.column!r}] = {call}"


@dataclass(frozen=True)
class DatesAsTimes:
    """Dates are read as their midnights."""

    column: str

    @property
    def words(self) -> str:
        """What it does."""
        return f"dates of {self.column} are read as their midnights"

    def line(self, rows: str) -> str:
        """The statement that does it."""
        return f'{rows}[{self.column!r}] = pd.to_datetime({rows}[{self.column!r}], errors="coerce")'


@dataclass(frozen=True)
class InZone:
    """Times without a zone are taken as those of a zone."""

    column: str
    zone: str

    @property
    def words(self) -> str:
        """What it does."""
        return f"{self.column} is taken as {self.zone}; hours that clocks skip or repeat there are missing"

    def line(self, rows: str) -> str:
        """The statement that does it."""
        call = f'.dt.tz_localize({self.zone!r}, ambiguous="NaT", nonexistent="NaT")'
        return f"{rows}[{self.column!r}] = {rows}[{self.column!r}]{call}"


@dataclass(frozen=True)
class Cast:
    """A column is given another type.

    Attributes
    ----------
    column
        The column.
    to
        What it is to hold.
    through
        What is made of it first; None: nothing.
    """

    column: str
    to: Target
    through: Target | None = None

    @property
    def words(self) -> str:
        """What it does."""
        return f"{self.column} is made {self.to}"

    def line(self, rows: str) -> str:
        """The statement that does it."""
        kinds = [*(_DTYPES[self.through] if self.through else ()), *_DTYPES[self.to]]
        return f"{rows}[{self.column!r}] = {rows}[{self.column!r}]" + "".join(f".astype({kind!r})" for kind in kinds)


@dataclass(frozen=True)
class KeyText:
    """A key is written in another way.

    Attributes
    ----------
    column
        The column.
    steps
        What is done, one after the other; ``whole`` are numbers without decimals, before they are text.
    """

    column: str
    steps: tuple[Step, ...]

    @property
    def words(self) -> str:
        """What it does."""
        return f"{self.column} is written {steps_in_words(self.steps)}"

    def line(self, rows: str) -> str:
        """The statement that does it."""
        calls = "".join(_STEPS[each][1] for each in self.steps)
        return f"{rows}[{self.column!r}] = {rows}[{self.column!r}]{calls}"


@dataclass(frozen=True)
class LeaveOutDuplicates:
    """Rows that equal a row before them are left out.

    Attributes
    ----------
    column
        A column that does not count: the number of the micro-batch; empty: all columns count.
    """

    column: str = ""

    @property
    def words(self) -> str:
        """What it does."""
        return f"rows that equal a row before them{f', but for {self.column},' if self.column else ''} are left out"

    def line(self, rows: str) -> str:
        """The statement that does it."""
        subset = f"subset=[*{rows}.columns.drop({self.column!r}, errors='ignore')]" if self.column else ""
        return f"{rows} = {rows}.drop_duplicates({subset})"


AnyRepair: TypeAlias = LeaveOut | ParseTimes | FromEpoch | DatesAsTimes | InZone | Cast | KeyText | LeaveOutDuplicates


def steps_in_words(steps: Sequence[Step]) -> str:
    """What steps do to a key, such as ``in lower case and without leading zeros``."""
    words = [_STEPS[each][0] for each in steps if _STEPS[each][0]]
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def code(repairs: Iterable[Repair], rows: str) -> list[str]:
    """The statements that do repairs, one after the other, to the pandas frame of a name."""
    return [each.line(rows) for each in repairs]


def repaired(frame: pd.DataFrame, repairs: Iterable[Repair]) -> pd.DataFrame:
    """A frame after repairs; the frame itself stays as it is.

    Parameters
    ----------
    frame
        The rows.
    repairs
        What is done, one after the other.

    Raises
    ------
    DataError
        If one cannot be done to these rows.
    """
    names: Record = {"pd": pd, "rows": frame.copy()}
    for each in repairs:
        try:
            exec(each.line("rows"), names)  # noqa: S102 - the code shown is the code run
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
            raise DataError(f"repair: {each.words}: this column is not so any more ({error}); take it back") from None
    found: pd.DataFrame = names["rows"]
    return found
