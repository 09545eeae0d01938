"""Checks of a stream's name and of the names of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from workbench import times
from workbench.errors import DataError, excerpt, wrong
from workbench.times import Span
from workbench.untyped import Value

__all__ = [
    "BLOCK",
    "CORRUPT",
    "FILE",
    "LATE_WINDOW",
    "ROW",
    "check_arguments",
    "check_column",
    "check_columns",
    "check_name",
    "check_roles",
    "is_unicode",
    "key_columns",
]

ROW = "__row"
"""The column of row numbers that a run adds to each side, to know its rows again."""
FILE = "__file"
BLOCK = "__block"
"""The columns of where a row of a file stood."""
CORRUPT = "__corrupt"
"""The column of what could not be read of a record."""
LATE_WINDOW = "__window"
"""The column that an exported script adds for the window that a row is late for."""
_RESERVED = (ROW, CORRUPT, LATE_WINDOW, FILE, BLOCK)
"""Columns that readers, runs and exported scripts add to a stream's own."""


def check_name(name: object) -> None:
    """Check that a stream has a name to speak of."""
    if not isinstance(name, str) or not name.strip() or not is_unicode(name):
        raise wrong("name", name, 'give the stream a name, such as "orders"')


def check_arguments(key: str | Sequence[str], time: object, watermark: Span) -> tuple[tuple[str, ...], timedelta]:
    """Check what can be checked before the columns are known."""
    keys = key_columns(key)
    if not isinstance(time, str):
        raise wrong("time", time, "name the event-time column")
    return keys, times.delay(watermark, "watermark")


def is_unicode(text: str) -> bool:
    """Whether a text can be written in UTF-8: it has no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def key_columns(key: object) -> tuple[str, ...]:
    """The key columns; whether there are such columns is seen later."""
    if isinstance(key, str):
        return (key,)
    if not isinstance(key, list | tuple) or not key:
        raise wrong("key", key, "name a key column, or a list of key columns")
    return tuple(key)


def check_columns(columns: list[Value], name: str) -> None:
    """Check that columns are named by text, and differ to Spark, too."""
    seen: dict[str, int] = {}
    for place, column in enumerate(columns):
        if not isinstance(column, str) or not column or not is_unicode(column):
            raise DataError(f"frame: {name} has a column named {excerpt(column)}; name every column with text")
        if column.lower() in _RESERVED:
            raise DataError(
                f"frame: {name} has a column named {excerpt(column)}, which the workbench uses itself; rename it"
            )
        for folded in {column.lower(), _equal_to_java(column)}:
            other = seen.setdefault(folded, place)
            if other != place:
                raise DataError(
                    f"frame: {name} has columns {excerpt(columns[other])} and {excerpt(column)}, "
                    "which are one to Spark (it does not "
                    "tell upper from lower case); rename one"
                )


def _equal_to_java(text: str) -> str:
    """What two texts share if they are equal to ``String.equalsIgnoreCase``, by which Spark compares names."""
    upper = (each.upper() if len(each.upper()) == 1 else each for each in text)
    return "".join(each.lower() if len(each.lower()) == 1 else each for each in upper)


def check_column(argument: str, column: object, columns: list[str], name: str) -> None:
    """Check that an argument names a column."""
    if not isinstance(column, str) or column not in columns:
        raise wrong(argument, column, f"{name} has no such column; it has {', '.join(map(repr, columns)) or 'none'}")


def check_roles(columns: list[str], key: str | Sequence[str], time: str, name: str) -> tuple[str, ...]:
    """Check that there are the columns of the key and the event time; gives those of the key."""
    keys = key_columns(key)
    for column in keys:
        check_column("key", column, columns, name)
    check_column("time", time, columns, name)
    if time in keys:
        raise wrong("time", time, f"it is also a key of {name}; use a column of its own")
    if len(set(keys)) < len(keys):
        raise wrong("key", key, "name each key column once")
    return keys
