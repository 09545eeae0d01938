"""What the columns of a table hold, and which of them are likely to be key, event time and time of arrival."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa

from workbench.sources.time_formats import Written, likely_unit, written
from workbench.untyped import Series, Value

__all__ = [
    "Column", "Kind", "Profile", "key_overlap", "likely_trigger", "profile",
]  # fmt: skip

Kind = Literal[
    "text", "whole number", "number", "true or false", "time", "date", "decimal", "binary", "mixed", "other", "nothing"
]

SAMPLE = 2_000
"""Rows that are looked at of each table."""
_KEYS = 10_000
_SHORT: dict[Kind, str] = {"whole number": "integer", "number": "float", "true or false": "boolean"}
"""What kinds are called in menus, which are narrow."""
_KEY_KINDS = ("text", "whole number", "date", "decimal", "mixed")
_LARGEST = 50_000  # rows of the other table whose values are compared with a sample
_MOST_COLUMNS = 60  # whose values are compared with the other table's

_OBJECTS: dict[str, Kind] = {
    "string": "text", "date": "date", "datetime": "time", "datetime64": "time", "integer": "whole number",
    "floating": "number", "mixed-integer-float": "number", "boolean": "true or false", "decimal": "decimal",
    "bytes": "binary", "mixed-integer": "mixed", "mixed": "mixed", "empty": "nothing",
}  # fmt: skip
_ARRIVED = re.compile(r"arriv|receiv|ingest|insert|loaded|landed|kafka_timestamp|process|seen", re.IGNORECASE)
_KEYED = re.compile(r"(^|_)(id|key|code|number|no|reference|ref|uuid)$|Id$|ID$", re.IGNORECASE)
_NICE = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400)


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    name, kind
        What it is called, and what it holds.
    zone
        The time zone of times; None: they have none.
    written
        How its texts say times, the likeliest first; empty where they say none.
    unit
        The unit in which its numbers may count time since 1970; None: they do not.
    """

    name: str
    kind: Kind
    zone: str | None = None
    written: tuple[Written, ...] = ()
    unit: Any = None

    @property
    def label(self) -> str:
        """Its name, and what it holds."""
        if self.kind == "time":
            return f"{self.name} · time{f' in {self.zone}' if self.zone else ''}"
        return f"{self.name} · {_SHORT.get(self.kind, self.kind)}"

    @property
    def tells_time(self) -> bool:
        """Whether it holds times, or what can be read as times."""
        return self.kind in ("time", "date") or bool(self.written) or self.unit is not None


@dataclass(frozen=True)
class Profile:
    """The columns of a table, in their order, and in order of likelihood for each part that they may play.

    Attributes
    ----------
    columns
        All of them.
    times, arrivals, keys
        The names of all columns, the likely ones first.
    arrival
        The column that is likely to tell when a row arrived; None: none is.
    """

    columns: tuple[Column, ...]
    times: tuple[str, ...]
    arrivals: tuple[str, ...]
    keys: tuple[str, ...]
    arrival: str | None = None
    _by_name: dict[str, Column] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._by_name.update((each.name, each) for each in self.columns)

    def __getitem__(self, name: str) -> Column:
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    @property
    def time(self) -> str:
        """The likely event-time column; empty where none holds times."""
        return self.times[0] if self.times and self[self.times[0]].tells_time else ""


def profile(frame: pd.DataFrame, other: pd.DataFrame | None = None) -> Profile:
    """Look at a sample of a table's rows.

    Parameters
    ----------
    frame
        The rows.
    other
        What they are to be joined with, to find the columns that have values in common.
    """
    sample = _rows(frame, SAMPLE)
    columns = tuple(_column(str(name), sample.iloc[:, place]) for place, name in enumerate(frame.columns))
    times = sorted(columns, key=_as_time)
    event_time = times[0] if times and times[0].tells_time else None
    arrivals = sorted(columns, key=lambda each: _as_arrival(each, event_time, sample))
    first = arrivals[0] if arrivals else None
    is_arrival = first is not None and first.kind == "time" and first is not event_time and _ARRIVED.search(first.name)
    likely = _likeness(sample, columns, event_time, other)
    keys = sorted(columns, key=lambda each: -likely[each.name])
    arrival = first.name if first is not None and is_arrival else None
    return Profile(columns, _names(times), _names(arrivals), _names(keys), arrival)


def _names(columns: Sequence[Column]) -> tuple[str, ...]:
    return tuple(each.name for each in columns)


def _rows(frame: pd.DataFrame, count: int) -> pd.DataFrame:
    """Some rows of a frame, from all of it."""
    return frame if len(frame) <= count else frame.iloc[np.linspace(0, len(frame) - 1, count).astype(int)]


def _column(name: str, values: Series) -> Column:
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(object).infer_objects()
    kind = _kind(values)
    if kind == "time":
        zone = getattr(values.dt, "tz", None) if hasattr(values, "dt") else None
        return Column(name, kind, None if zone is None else str(zone))
    if kind == "text":
        return Column(name, kind, written=written(values))
    return Column(name, kind, unit=likely_unit(values) if kind in ("whole number", "number") else None)


def _kind(values: Series) -> Kind:
    dtype = values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _kind(pd.Series(dtype.categories))
    tests = (
        (pd.api.types.is_bool_dtype, "true or false"),
        (pd.api.types.is_integer_dtype, "whole number"),
        (pd.api.types.is_float_dtype, "number"),
        (pd.api.types.is_datetime64_any_dtype, "time"),
    )
    for test, kind in tests:
        if test(dtype):
            return kind  # type: ignore[return-value]
    if (
        not isinstance(dtype, pd.StringDtype)
        and not pd.api.types.is_object_dtype(dtype)
        and not isinstance(dtype, pd.ArrowDtype)
    ):
        return "other"
    if any(isinstance(each, list | dict | tuple | np.ndarray) for each in values.head(20)):
        return "other"
    return _OBJECTS.get(pd.api.types.infer_dtype(values, skipna=True), "other")


def _as_time(column: Column) -> tuple[bool, ...]:
    """The order of columns for event time: times, texts that say times, dates, numbers that may be times, others."""
    return (
        column.kind != "time",
        not column.written,
        column.kind != "date",
        column.unit is None,
        bool(_ARRIVED.search(column.name)),
    )


def _as_arrival(column: Column, time: Column | None, sample: pd.DataFrame) -> tuple[Value, ...]:
    """The order of columns for the time of arrival: named so, and not before the event time."""
    named = bool(_ARRIVED.search(column.name))
    return not column.tells_time, column is time, not named, not _is_after(column, time, sample), *_as_time(column)


def _is_after(column: Column, time: Column | None, sample: pd.DataFrame) -> bool:
    if time is None or {column.kind, time.kind} != {"time"} or (column.zone is None) != (time.zone is None):
        return False
    try:
        return bool((sample[column.name] >= sample[time.name]).mean() > 0.95)
    except (TypeError, ValueError, KeyError):
        return False


def _likeness(
    sample: pd.DataFrame, columns: Sequence[Column], time: Column | None, other: pd.DataFrame | None
) -> dict[str, float]:
    """How likely a column is to be the key: by its name, and by values that the other table has, too."""
    rest = None if other is None else _rows(other, _LARGEST)
    theirs: dict[str, set[str]] = {}
    if rest is not None:
        for place, name in enumerate(rest.columns[:_MOST_COLUMNS]):
            if _kind(_rows(rest, SAMPLE).iloc[:, place]) in ("text", "whole number", "number", "mixed", "decimal"):
                theirs[str(name)] = _values(rest.iloc[:, place])
    found = {}
    for place, column in enumerate(columns):
        score = -0.001 * place
        if column.kind in _KEY_KINDS and not column.written and not column.unit:
            score += 1 + (0.3 if _KEYED.search(column.name) else 0)
            mine = _values(sample.iloc[:, place]) if place < _MOST_COLUMNS else set()
            telling = min(1.0, len(mine) / 20)  # few values, such as true and false, are in every table
            common = (_share(mine, each) + (0.3 if name == column.name else 0) for name, each in theirs.items())
            score += telling * max(common, default=0.0)
        elif column.kind == "number":
            score += 0.5
        if column.name == "batch":
            score -= 2
        if _is_constant(sample.iloc[:, place]):  # every row would meet every row
            score -= 2
        if column is time:
            score -= 3
        found[column.name] = score
    return found


def _is_constant(values: Series) -> bool:
    """Whether all rows hold the same, of more than one."""
    try:
        return len(values) > 1 and values.nunique(dropna=False) == 1
    except TypeError:  # lists and the like
        return False


def _values(values: Series) -> set[str]:
    """The values of a column as text: 17, 17.0 and '17' are one."""
    there = values.dropna()
    if pd.api.types.is_float_dtype(there.dtype) and len(there) and bool((there % 1 == 0).all()):
        there = there.astype("int64")
    try:
        return {str(each) for each in there.unique()}
    except TypeError:  # lists and the like
        return set()


def _share(mine: set[str], theirs: set[str]) -> float:
    return len(mine & theirs) / len(mine) if mine else 0.0


def key_overlap(mine: pa.Table, keys: Sequence[str], theirs: pa.Table, their_keys: Sequence[str]) -> float | None:
    """The share of a table's distinct keys, of a sample, that another table has, too; None where there is no key.

    Parameters
    ----------
    mine, keys
        The table that is sampled, and its key columns.
    theirs, their_keys
        All of the other one, and its key columns in the same order.
    """
    names = [f"k{number}" for number in range(len(keys))]
    ours = mine.select(list(keys)).rename_columns(names)
    if ours.num_rows > _KEYS:
        ours = ours.take(pa.array(np.linspace(0, ours.num_rows - 1, _KEYS).astype(int)))
    ours = ours.drop_null().group_by(names).aggregate([])
    if not ours.num_rows:
        return None
    others = theirs.select(list(their_keys)).rename_columns(names).drop_null().cast(ours.schema)
    return float(ours.join(others, names, join_type="left semi").num_rows / ours.num_rows)


def likely_trigger(seconds: float) -> str:
    """A trigger interval that cuts so many seconds into some twenty micro-batches.

    Examples
    --------
    >>> likely_trigger(90)
    '5 seconds'
    """
    fit = next((each for each in _NICE if each >= seconds / 20), _NICE[-1])
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)):
        if fit % length == 0:
            return f"{fit // length} {unit}{'' if fit == length else 's'}"
    raise AssertionError(fit)
