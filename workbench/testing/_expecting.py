"""What a test expects of rows: which row a key names, how many keys fared how, and in words what is otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from workbench import schema
from workbench.arrays import Flags, RowNumbers
from workbench.counts import counted
from workbench.errors import excerpt, wrong
from workbench.jobs import Chain, Job, sources, understanding
from workbench.jobs.catalyst import Node
from workbench.literals import FATES, SIDES, Side
from workbench.untyped import Series, Value

__all__ = ["check_known", "differences", "places"]

_OF_CHAINS = ("join", "stream", "later", "out")
_SHOWN = 20
"""How many rows the text of a difference lists."""


def places(opened: Job | Chain, streams: Sequence[str], name: str, key: Value) -> RowNumbers:
    """Which rows of ``rows`` a key names.

    Raises
    ------
    ArgumentError
        If there is no such stream, or no such row.
    """
    found = _of_stream(opened, streams, name)
    rows = opened.rows
    for column, value in _columns(opened, streams, name, key).items():
        if column not in rows:
            raise wrong(name, key, f"its rows have no column {column}; there are {', '.join(_own(rows))}")
        found &= np.array([_is_same(each, value) for each in rows[column]], dtype=bool)
    if not found.any():
        raise wrong(name, key, "no row that enters the join has these values; job.rows lists those that do")
    return np.flatnonzero(found)


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, pd.Timestamp) and isinstance(other, str):
        other = pd.Timestamp(other)
        other = other.tz_localize(one.tz) if other.tz is None else other
    same = one == other
    return bool(same) if isinstance(same, bool | np.bool_) else False


def _sides(opened: Job | Chain, streams: Sequence[str], name: str) -> list[tuple[int, Side]]:
    """The sides that the rows of a stream enter a join on, each with the number of the join.

    Raises
    ------
    ArgumentError
        If there is no such stream.
    """
    jobs = _jobs(opened)
    if name in SIDES and name not in streams and len(jobs) == 1:
        return [(0, side) for side in SIDES if side == name]
    found = [
        (number, side)
        for number, job in enumerate(jobs)
        for side, part in zip(SIDES, job.known.join.children, strict=True)
        if not understanding.joins(part) and name in _below(job, part, streams)
    ]
    if name not in streams or not found:
        raise wrong("stream", name, f"use one of {', '.join(map(repr, streams))}")
    return found


def _below(job: Job, part: Node, streams: Sequence[str]) -> list[str]:
    """The streams that a side of a join reads, by the names that the test gave them."""
    places = sources.folders(job.spark, part)
    return [name for name in streams if any(each.endswith(f"/{name}") for each in places)]


def _jobs(opened: Job | Chain) -> Sequence[Job]:
    return opened.joins if isinstance(opened, Chain) else (opened,)


def _rows_on(opened: Job | Chain, number: int, side: Side) -> Flags:
    """Which of ``rows`` entered a join on a side."""
    rows = opened.rows
    found = (rows["side"] == side).to_numpy()
    return found & (rows["join"] == number).to_numpy() if isinstance(opened, Chain) else found


def _of_stream(opened: Job | Chain, streams: Sequence[str], name: str) -> Flags:
    sides = _sides(opened, streams, name)
    return np.logical_or.reduce([_rows_on(opened, number, side) for number, side in sides])


def _columns(opened: Job | Chain, streams: Sequence[str], name: str, key: Any) -> dict[str, Value]:
    """The values that a row has, by column."""
    if isinstance(key, Mapping):
        return dict(key)
    number, side = _sides(opened, streams, name)[0]
    names = _jobs(opened)[number].side(side).key
    values = key if isinstance(key, tuple) else (key,)
    if len(values) != len(names):
        raise wrong(name, key, f"its key has {counted(len(names), 'column')}: {', '.join(names)}")
    return dict(zip(names, values, strict=True))


def _own(rows: pd.DataFrame) -> list[str]:
    return [name for name in rows if name not in (*schema.ROWS.names, *_OF_CHAINS)]


def differences(opened: Job | Chain, streams: Sequence[str], counts: Mapping[str, Any]) -> str:
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
            mine = _of_stream(opened, streams, name)
            for fate, number in given.items():
                _check(f"{name}: {fate}", fate, number, streams)
                there = mine & (rows["fate"] == fate).to_numpy()
                if there.sum() != number:
                    heading = f"{name}: {counted(number, f'{fate} row')} expected, {there.sum()} found"
                    found.append(_told(opened, streams, heading, there, others=mine & ~there, few=there.sum() < number))
        else:
            _check(name, name, given, streams)
            there = (rows["fate"] == name).to_numpy()
            keys = _keys(opened)[there]
            number = len(set(keys[keys != ""])) + int((keys == "").sum())
            if number != given:
                heading = f"{counted(given, f'{name} key')} expected, {number} found"
                found.append(_told(opened, streams, heading, there, others=~there, few=number < given))
    return "\n".join(found)


def check_known(opened: Job | Chain, fates: Series) -> None:
    """Refuse fates that are not known, as a join could not be analyzed.

    Raises
    ------
    WorkbenchError
        Saying what was not understood of it.
    """
    if fates.isna().any():
        for job in _jobs(opened):
            _ = job.join


def _check(argument: str, fate: str, number: object, streams: Sequence[str]) -> None:
    if fate not in FATES:
        raise wrong("expect", fate, f"use a fate ({', '.join(FATES)}), or a stream ({', '.join(streams)})")
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise wrong(argument, number, "give a whole number, 0 or more")


def _names(opened: Job | Chain, streams: Sequence[str]) -> dict[tuple[int, Side], str]:
    """The streams that each side of each join reads, by the names that the test gave them."""
    return {
        (number, side): " and ".join(_below(job, part, streams))
        for number, job in enumerate(_jobs(opened))
        for side, part in zip(SIDES, job.known.join.children, strict=True)
    }


def _keys(opened: Job | Chain) -> Any:
    """The key of each row as text; empty: it has none."""
    rows = opened.rows
    found = np.full(len(rows), "", dtype=object)
    for number, job in enumerate(_jobs(opened)):
        for side in SIDES:
            mine = np.flatnonzero(_rows_on(opened, number, side))
            names = [name for name in job.side(side).key if name in rows]
            values = rows[names].iloc[mine]
            parts = values.itertuples(index=False, name=None)
            found[mine] = ["" if any(map(_is_null, each)) else repr([*map(_whole, each)]) for each in parts]
    return found


def _told(opened: Job | Chain, streams: Sequence[str], heading: str, there: Flags, *, others: Flags, few: bool) -> str:
    """The rows that have the fate where there are too many of them, else those that have not, with their reasons."""
    shown = np.flatnonzero(others if few else there)
    rows = opened.rows
    rank = rows["fate"].iloc[shown].map({"late": 0, "unmatched": 1, "pending": 2, "null_key": 3, "matched": 4})
    shown = shown[np.argsort(rank.to_numpy(), kind="stable")]
    lines = [f"{heading}{'; these rows fared otherwise:' * bool(few)}{':' * (not few and len(shown) > 0)}"]
    names = _names(opened, streams)
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


def _is_null(value: Any) -> bool:
    found = pd.isna(value)
    return bool(found) if isinstance(found, bool | np.bool_) else False


def _short(value: Any) -> str:
    if isinstance(value, pd.Timestamp):
        return value.isoformat(sep=" ").removesuffix("+00:00")
    return excerpt(_whole(value))


def _whole(value: Any) -> Any:
    """A value, a whole number as such where it has become another one since others of its column are missing."""
    if isinstance(value, np.generic):
        value = value.item()
    return int(value) if isinstance(value, float) and value.is_integer() else value
