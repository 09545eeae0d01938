"""The columns of the tables that runs, previews and jobs give: each in one line, with its type, unit and meaning.

What a table is made of, in which order, which names a stream's own columns cannot have, and what the documentation says
of it follows from here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import pandas as pd

__all__ = [
    "BATCHES",
    "COMPARISON",
    "FIXES",
    "FIX_NAMES",
    "LATE",
    "OUTPUT",
    "ROWS",
    "STATE",
    "TABLES",
    "Column",
    "Table",
    "described",
]

_F = TypeVar("_F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Column:
    """A column.

    Attributes
    ----------
    name, type, meaning
        Its name, the type of its values, and what they mean.
    unit
        Of numbers: what is counted or measured; empty for texts and times.
    title
        What it is called where people read it, as in the tooltips of charts; empty: its name.
    """

    name: str
    type: str
    meaning: str
    unit: str = ""
    title: str = ""

    def __str__(self) -> str:
        kind = ", ".join(filter(None, [self.type, self.unit]))
        return f"``{self.name}`` ({kind}): {self.meaning}"


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes
    ----------
    name
        What it is called as a property.
    row
        What one row of it is.
    first, last
        The columns in front of the streams' own, and behind them.
    own
        What of the streams' own columns stands between; empty: nothing.
    """

    name: str
    row: str
    first: tuple[Column, ...]
    last: tuple[Column, ...] = ()
    own: str = ""

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns but the streams' own."""
        return self.first + self.last

    @property
    def names(self) -> list[str]:
        """Their names, in order."""
        return [column.name for column in self.columns]

    def without(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The streams' own columns of such a table."""
        return frame.drop(columns=[name for name in self.names if name in frame])

    def last_in(self, columns: Iterable[str]) -> list[str]:
        """Those of some columns that stand behind the streams' own, in order."""
        there = set(columns)
        return [column.name for column in self.last if column.name in there]


SIDE = Column("side", "text", "``left`` or ``right``")
BATCH = Column("batch", "integer", "the micro-batch in which the row arrived, by Spark's number", title="micro-batch")
FATE = Column("fate", "text", "matched, unmatched, late, pending or null_key")
REASON = Column("reason", "text", "why, in a sentence with the figures of this row")
BEHIND = Column("behind", "timedelta", "how far behind the watermark the row, or the end of its window, was")
WINDOW = (
    Column("window_start", "timestamp", "the start of the window, which is part of it; of joins with windows"),
    Column("window_end", "timestamp", "the end of the window, which is not part of it; of joins with windows"),
)
FIXES = (
    Column("fix_setting", "text", "the setting whose smallest change would have matched the row; None: none would"),
    Column("fix_value", "text or True", "what to set it to: a time span as text, or True for ``finish``"),
)

FIX_NAMES = [column.name for column in FIXES]

ROWS = Table(
    "rows",
    "an input row of either side, in order of arrival by side",
    (SIDE, BATCH),
    (
        FATE,
        Column("verdict", "text", "why, as one word of those that the page *Verdicts* lists"),
        REASON,
        *FIXES,
    ),
    "the row's columns",
)
LATE = Table(
    "late",
    "a row that was dropped as late, once for each window that it was late for",
    (SIDE, BATCH),
    (
        *WINDOW,
        Column("watermark", "timestamp", "the watermark that the row was judged by"),
        BEHIND,
    ),
    "the row's columns",
)
OUTPUT = Table(
    "output",
    "a row that came out of the join",
    (),
    (*WINDOW, Column("batch", "integer", "the micro-batch in which Spark wrote the row")),
    "of joins ``left_<column>`` and ``right_<column>`` (left ones only of semi and anti joins); of coGroup the key "
    "columns, and ``left`` and ``right`` as lists of dicts; of patterns the key columns, a list of dicts a step, and "
    "``start`` and ``end``, the times of the first and the last row",
)
BATCHES = Table(
    "batches",
    "a micro-batch",
    (
        Column("batch", "integer", "Spark's number of the micro-batch"),
        Column("watermark", "timestamp", "the watermark that closes windows and evicts state in it"),
        Column("late_watermark", "timestamp", "the watermark that its rows are judged by: that of the one before"),
        Column("left_rows", "integer", "rows of the left side that arrived", "rows"),
        Column("right_rows", "integer", "rows of the right side that arrived", "rows"),
        Column("output_rows", "integer", "rows that came out", "rows"),
        Column("late_rows", "integer", "rows that were late, each counted once", "rows"),
        Column("state_rows", "integer", "rows in state after it, as Spark counts them (numRowsTotal)", "rows"),
        Column("state_bytes", "integer", "memory of the state after it; None in a preview", "bytes"),
        Column("duration_ms", "integer", "how long it took; None in a preview", "milliseconds"),
        Column(
            "dropped",
            "integer",
            "Spark's counter numRowsDroppedByWatermark, which counts a row once a window, and partial aggregates in "
            "sessions and coGroup; None in a preview",
            "rows",
        ),
        Column("kind", "text", "data, finish (the end of the input), or no data (Spark adds it for a new watermark)"),
    ),
)
STATE = Table(
    "state",
    "a row of a stream in state, once in each window",
    (SIDE,),
    (
        *WINDOW,
        Column("since", "integer", "the micro-batch in which it arrived"),
        Column("evicted_in", "integer", "the micro-batch at whose end it leaves the state; missing if it stays"),
        Column("leaves_at", "timestamp", "the watermark with which it leaves the state; missing if none does it"),
        Column("state_bytes", "integer", "its share of what Spark reports, by the size of its values", "bytes"),
    ),
    "the row's columns",
)
COMPARISON = Table(
    "comparison",
    "a fact that is compared between the model and Spark",
    (
        Column("what", "text", "what is compared"),
        Column("model", "integer", "how many facts the model has of it", "facts"),
        Column("spark", "integer", "how many Spark has", "facts"),
        Column("differences", "integer", "how many are in one of the two only", "facts"),
        Column("examples", "text", "some of these"),
    ),
)
TABLES = {table.name: table for table in (ROWS, LATE, OUTPUT, BATCHES, STATE, COMPARISON)}
"""The tables by name."""


def described(table: Table) -> Callable[[_F], _F]:
    """Appends the columns of a table to the docstring of what gives it."""

    def describe(function: _F) -> _F:
        own = [table.own] if table.own else []
        parts = [*map(str, table.first), *own, *map(str, table.last)]
        items = "\n".join(f"        * {part}" for part in parts)
        function.__doc__ = (
            f"{(function.__doc__ or '').rstrip()}\n\n        Columns, a row being {table.row}:\n\n{items}\n"
        )
        return function

    return describe
