"""What a test expects of rows: which row a key names, how many keys fared how, and in words what is otherwise."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from workbench import schema
from workbench.arrays import Flags, RowNumbers
from workbench.counts import counted
from workbench.errors import excerpt, wrong
from workbench.jobs import Chain, Job, chain, plan_joins, sources
from workbench.literals import FATES, SIDES, Side, Sides
from workbench.testing.values import clock
from workbench.untyped import Json, Series, Value

__all__ = ["Opened", "check_known", "differences", "places"]

_OF_CHAINS = ("join", "stream", "later", "out")
_SHOWN = 20
"""How many rows the text of a difference lists."""


@dataclass(frozen=True, eq=False)
class Opened:
    """A job that a test played, opened, and what its questions are about.

    Attributes
    ----------
    job
        The job.
    streams
        The names that the test gave its streams.
    """

    job: Job | Chain
    streams: tuple[str, ...]

    @cached_property
    def rows(self) -> pd.DataFrame:
        """The rows of the job, for reading."""
        return self.job.rows

    @cached_property
    def jobs(self) -> Sequence[Job]:
        """Each of its joins."""
        return self.job.joins if isinstance(self.job, Chain) else (self.job,)

    @cached_property
    def read(self) -> Mapping[tuple[int, Side], Sequence[str]]:
        """The streams that each side of each join reads."""
        found = {}
        for number, job in enumerate(self.jobs):
            for side, part in Sides(*job.known.join.children).items():
                places = sources.folders(job.spark, part)
                found[number, side] = [
                    name for name in self.streams if any(each.endswith(f"/{name}") for each in places)
                ]
        return found

    def on(self, number: int, side: Side) -> Flags:
        """Which of its rows entered a join on a side."""
        found = (self.rows["side"] == side).to_numpy()
        return found & (self.rows["join"] == number).to_numpy() if isinstance(self.job, Chain) else found


def places(opened: Opened, name: str, key: Value) -> RowNumbers:
    """Which rows of ``rows`` a key names.

    Raises
    ------
    ArgumentError
        If there is no such stream, or no such row.
    """
    rows = opened.rows
    found = np.zeros(len(rows), dtype=bool)
    wanted = _columns(opened, name, key)
    for number, side in _sides(opened, name):
        mine, names = opened.on(number, side), chain.column_names(opened.job, number, side)
        for column, value in wanted.items():
            shown = names.get(column, column)
            if shown not in rows:
                raise wrong(name, key, f"its rows have no column {column}; there are {', '.join(_own(rows))}")
            mine &= np.array([_is_same(each, value) for each in rows[shown]], dtype=bool)
        found |= mine
    if not found.any():
        unknown = "; job.missing says which rows are not among them" if opened.job.missing else ""
        raise wrong(name, key, f"no row that enters the join has these values; job.rows lists those that do{unknown}")
    return np.flatnonzero(found)


def _is_same(one: Any, other: Any) -> bool:
    if _is_null(one) or _is_null(other):
        return _is_null(one) and _is_null(other)
    if isinstance(one, pd.Timestamp) and isinstance(other, str | dt.time):
        try:
            other = clock(other)
        except ValueError:
            return False
        other = other.tz_localize(one.tz) if other.tz is None else other
    same = one == other
    return bool(same) if isinstance(same, bool | np.bool_) else False


def _sides(opened: Opened, name: str) -> list[tuple[int, Side]]:
    """The sides that the rows of a stream enter a join on, each with the number of the join.

    Raises
    ------
    ArgumentError
        If there is no such stream.
    """
    if name in SIDES and name not in opened.streams and len(opened.jobs) == 1:
        return [(0, side) for side in SIDES if side == name]
    found = [
        (number, side)
        for number, job in enumerate(opened.jobs)
        for side, part in Sides(*job.known.join.children).items()
        if name in opened.read[number, side] and not plan_joins.joins(part)
    ]
    if name not in opened.streams or not found:
        raise wrong("stream", name, f"use one of {', '.join(map(repr, opened.streams))}")
    return found


def _of_stream(opened: Opened, name: str) -> Flags:
    return np.logical_or.reduce([opened.on(number, side) for number, side in _sides(opened, name)])


def _columns(opened: Opened, name: str, key: Any) -> dict[str, Value]:
    """The values that a row has, by column."""
    if isinstance(key, Mapping):
        if not key:
            raise wrong(name, key, "give at least one column of the row")
        return dict(key)
    number, side = _sides(opened, name)[0]
    names = opened.jobs[number].side(side).key
    values = key if isinstance(key, tuple) else (key,)
    if len(values) != len(names):
        raise wrong(name, key, f"its key has {counted(len(names), 'column')}: {', '.join(names)}")
    return dict(zip(names, values, strict=True))


def _own(rows: pd.DataFrame) -> list[str]:
    return [name for name in rows if name not in (*schema.ROWS.names, *_OF_CHAINS)]


def differences(opened: Opened, counts: Json) -> str:
    """What is otherwise than expected, in words; empty: nothing.

    Raises
    ------
    ArgumentError
        If a count is none, or is that of no fate and no stream.
    """
    if not counts:
        raise wrong("expect", counts, "give a number for a fate, such as matched=1")
    rows, found = opened.rows, list[str]()
    asked = {fate for name, given in counts.items() for fate in (given if isinstance(given, Mapping) else [name])}
    if asked != {"late"}:
        check_known(opened, rows["fate"])
    for name, given in counts.items():
        if isinstance(given, Mapping):
            mine = _of_stream(opened, name)
            for fate, number in given.items():
                _check(f"{name}: {fate}", fate, number, opened.streams)
                there = mine & (rows["fate"] == fate).to_numpy()
                if there.sum() != number:
                    heading = f"{name}: {counted(number, f'{fate} row')} expected, {there.sum()} found"
                    found.append(_told(opened, heading, there, others=mine & ~there, few=there.sum() < number))
        else:
            _check(name, name, given, opened.streams)
            there = (rows["fate"] == name).to_numpy()
            keys = _keys(opened)[there]
            number = len(set(keys[keys != ""])) + int((keys == "").sum())
            if number != given:
                heading = f"{counted(given, f'{name} key')} expected, {number} found"
                found.append(_told(opened, heading, there, others=~there, few=number < given))
    return "\n".join(found)


def check_known(opened: Opened, fates: Series) -> None:
    """Refuse fates that are not known, as a join could not be analyzed.

    Raises
    ------
    WorkbenchError
        Saying what was not understood of it.
    """
    if fates.isna().any():
        for job in opened.jobs:
            _ = job.join


def _check(argument: str, fate: str, number: object, streams: Sequence[str]) -> None:
    if fate not in FATES:
        if fate in streams:
            raise wrong(fate, number, f"give its rows by fate, such as {fate}={{'matched': 1}}")
        raise wrong("expect", fate, f"use a fate ({', '.join(FATES)}), or a stream ({', '.join(streams)})")
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise wrong(argument, number, "give a whole number, 0 or more")


def _keys(opened: Opened) -> Any:
    """The key of each row as text; empty: it has none."""
    rows = opened.rows
    found = np.full(len(rows), "", dtype=object)
    for number, job in enumerate(opened.jobs):
        for side in SIDES:
            mine = np.flatnonzero(opened.on(number, side))
            shown = chain.column_names(opened.job, number, side)
            names = [name for each in job.side(side).key if (name := shown.get(each, each)) in rows]
            values = rows[names].iloc[mine]
            parts = values.itertuples(index=False, name=None)
            found[mine] = ["" if any(map(_is_null, each)) else repr([*map(_whole, each)]) for each in parts]
    return found


def _told(opened: Opened, heading: str, there: Flags, *, others: Flags, few: bool) -> str:
    """The rows that have the fate where there are too many of them, else those that have not, with their reasons."""
    shown = np.flatnonzero(others if few else there)
    rows = opened.rows
    rank = rows["fate"].iloc[shown].map({"late": 0, "unmatched": 1, "pending": 2, "null_key": 3, "matched": 4})
    shown = shown[np.argsort(rank.to_numpy(), kind="stable")]
    lines = [f"{heading}{'; these rows fared otherwise:' * bool(few)}{':' * (not few and len(shown) > 0)}"]
    names = {at: " and ".join(of) for at, of in opened.read.items()}
    lines += [f"  {_row(rows, place, names)}" for place in shown[:_SHOWN]]
    if len(shown) > _SHOWN:
        lines.append(f"  and {len(shown) - _SHOWN} more")
    return "\n".join(lines)


def _row(rows: pd.DataFrame, place: int, names: Mapping[tuple[int, Side], str]) -> str:
    row = rows.iloc[place]
    number = row.get("join", 0)
    values = ", ".join(f"{name}={_short(row[name])}" for name in _own(rows) if not _is_null(row[name]))
    told = f"{names[number, row['side']]}, micro-batch {row['batch']}, {values}: {row['fate']}, {row['reason']}"
    if not isinstance(row["fix_setting"], str):
        return told
    setting = row["fix_setting"]
    for side in SIDES:
        setting = setting.replace(f"{side}.", f"{names[number, side]}.")
    return f"{told} ({setting}={row['fix_value']!r} would have matched it)"


def _is_null(value: Value) -> bool:
    found = pd.isna(value)
    return bool(found) if isinstance(found, bool | np.bool_) else False


def _short(value: Value) -> str:
    if isinstance(value, pd.Timestamp):
        return value.isoformat(sep=" ").removesuffix("+00:00")
    return excerpt(_whole(value))


def _whole(value: Value) -> Any:
    """A value, a whole number as such where it has become another one since others of its column are missing."""
    if isinstance(value, np.generic):
        value = value.item()
    return int(value) if isinstance(value, float) and value.is_integer() else value
