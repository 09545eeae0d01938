"""What of two tables is in the way of joining them as streams, and the repairs that would do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pandas as pd

from workbench.literals import SIDES, Side
from workbench.sources import profile
from workbench.sources.file_repairs import FileRepair, LeaveOutUnreadable, TimesWritten, ways
from workbench.sources.profile import Kind
from workbench.sources.repairs import (
    AnyRepair,
    Cast,
    DatesAsTimes,
    FromEpoch,
    InZone,
    LeaveOut,
    ParseTimes,
    repaired,
)
from workbench.untyped import Series

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Finding", "Offer", "Part", "Place", "of_keys", "of_records", "of_times", "of_zones"]

Place = Literal["key", "time", "arrival"]
_PLACES: dict[Place, str] = {"key": "key", "time": "event time", "arrival": "time of arrival"}
_EXAMPLES = 2
_WHOLE = r"\s*[+-]?\d{1,18}\s*"


@dataclass(frozen=True)
class Offer:
    """A repair, and what is written on its button."""

    label: str
    repair: AnyRepair | FileRepair


@dataclass(frozen=True)
class Finding:
    """Something about one side.

    Attributes
    ----------
    side, place
        The side, and the part of it that this is about.
    words
        What it is, as a sentence without its full stop.
    offers
        What would do.
    wrong
        Whether no stream can be made while it is so.
    """

    side: Side
    place: Place
    words: str
    offers: tuple[Offer, ...] = ()
    wrong: bool = True


@dataclass(frozen=True, eq=False)
class Part:
    """One side: what it is called, its rows, its key columns.

    Attributes
    ----------
    name
        What it is called.
    frame
        Its rows; None: it is a Stream, which is as it was made.
    keys
        Its key columns.
    table
        Its rows as Arrow's; needed where `frame` is None.
    """

    name: str
    frame: pd.DataFrame | None
    keys: tuple[str, ...]
    table: pa.Table | None = None

    def column(self, key: str) -> Series:
        """The values of a column."""
        if self.frame is not None:
            return self.frame[key]
        assert self.table is not None  # noqa: S101 - a Stream has one
        return self.table.column(key).to_pandas(integer_object_nulls=True)


def of_times(side: Side, name: str, frame: pd.DataFrame, place: Place, column: str) -> Finding | None:
    """What keeps a column from telling times: its type, or rows without a value.

    Parameters
    ----------
    side, name, frame
        The side, what it is called, and its rows.
    place, column
        What the column is for, and the column.
    """
    values = frame[column]
    found = profile.profile(values.to_frame()).columns[0]
    if found.kind != "time":
        offers = _as_times(values, column, found)
        holds = f"{column} holds {_plural(found.kind)}"
        words = "read it as times" if offers else "choose a column with times"
        return Finding(side, place, f"{holds}; {words}", offers)
    missing = int(values.isna().sum())
    if not missing:
        return None
    every = missing == len(values)
    words = f"{missing:,} of {len(values):,} rows have no {_PLACES[place]} in {column}"
    offers = () if every else (Offer(f"Leave out {missing:,} row{'' if missing == 1 else 's'}", LeaveOut(column)),)
    return Finding(side, place, words, offers)


def of_records(
    side: Side, words: str, unreadable: tuple[int, int], texts: Series | None, done: Iterable[FileRepair]
) -> Finding:
    """Records of files that cannot be read as their columns' types.

    Parameters
    ----------
    side, words
        The side, and what is wrong.
    unreadable
        How many cannot be read, and of how many.
    texts
        The column with the event time, where it holds text.
    done
        How the files are read already.
    """
    count, total = unreadable
    told = texts is None or any(isinstance(each, TimesWritten) for each in done)
    offers = [] if told else [Offer(f"Read times as {each.pattern}", each) for each in ways(texts)]
    if count < total:
        offers.append(Offer(f"Leave out {count:,} record{'' if count == 1 else 's'}", LeaveOutUnreadable()))
    return Finding(side, "time", f"{words}; {'choose what to do' if offers else 'correct them'}", tuple(offers))


def _plural(kind: Kind) -> str:
    return {"text": "text", "other": "other values", "mixed": "values of several types", "nothing": "no value"}.get(
        kind, f"{kind} values" if kind in ("decimal", "binary", "true or false") else f"{kind}s"
    )


def _as_times(values: Series, column: str, found: profile.Column) -> tuple[Offer, ...]:
    if found.kind == "date":
        return (Offer("Take midnights", DatesAsTimes(column)),)
    if found.unit is not None:
        return (Offer(f"Read as {found.unit} since 1970", FromEpoch(column, found.unit)),)
    made = [ParseTimes(column, each.format, each.zoned) for each in found.written]
    return tuple(Offer(_parse_label(values, each), each) for each in made)


def _parse_label(values: Series, repair: ParseTimes) -> str:
    """What parsing would do: how the times are written, and what is not written so."""
    read = repaired(values.to_frame(), [repair])[repair.column]
    failed = values[read.isna() & values.notna()]
    written = "ISO 8601" if repair.format == "ISO8601" else repair.format
    if not len(failed):
        return f"Parse as {written}"
    some = ", ".join(repr(str(each)[:24]) for each in failed.unique()[:_EXAMPLES])
    return f"Parse as {written}; not {len(failed):,}: {some}"


def of_keys(left: Part, right: Part) -> list[Finding]:
    """Key columns that pair up and differ in what they hold, or hold values of several types."""
    found: list[Finding] = []
    for side, part in zip(SIDES, (left, right), strict=True):
        for key in part.keys:
            if part.frame is not None and _kind(part.column(key)) == "mixed":
                text = Offer("Make it text", Cast(key, "text"))
                found.append(Finding(side, "key", f"{key} holds values of several types", (text,)))
    if found or len(left.keys) != len(right.keys):
        return found
    for mine, theirs in zip(left.keys, right.keys, strict=True):
        found += _of_pair(left, mine, right, theirs)
    return found


def _of_pair(left: Part, mine: str, right: Part, theirs: str) -> list[Finding]:
    """Two key columns that are to be equal; each cast is offered with what it would find equal."""
    kinds = _kind(left.column(mine)), _kind(right.column(theirs))
    if kinds[0] == kinds[1] or "nothing" in kinds:
        return []
    words = f"{mine} of {left.name} holds {_plural(kinds[0])}, {theirs} of {right.name} {_plural(kinds[1])}"
    ways: list[tuple[float, Side, Offer]] = []
    sides: tuple[tuple[Side, Part, str, Part, str, Kind], ...] = (
        ("left", left, mine, right, theirs, kinds[1]),
        ("right", right, theirs, left, mine, kinds[0]),
    )
    for side, part, key, other, their_key, kind in sides:
        cast = None if part.frame is None else _cast(part.column(key), key, kind)
        if cast is None or part.frame is None:
            continue
        made = repaired(part.frame[[key]], [cast])[key]
        share = _share(made, other.column(their_key))
        label = f"Make {key} {cast.to}: {share:.0%} are on {other.name}"
        ways.append((share, side, Offer(label, cast)))
    ways.sort(key=lambda way: -way[0])
    if not ways:
        return [Finding("right", "key", f"{words}; choose columns of one type")]
    return [Finding(side, "key", words, (offer,)) for _, side, offer in ways]


def _kind(values: Series) -> Kind:
    return profile.profile(values.head(profile.SAMPLE).to_frame()).columns[0].kind


def _cast(values: Series, key: str, to: Kind) -> Cast | None:
    """The cast of a key column to what the other side holds; None where there is none without a loss."""
    kind, there = _kind(values), values.dropna()
    whole = kind == "whole number" or (kind == "number" and bool((there % 1 == 0).all()))
    if to == "text":
        return (
            Cast(key, "text", "whole numbers" if kind == "number" else None)
            if whole or kind in ("date", "mixed")
            else None
        )
    if to in ("whole number", "number") and kind == "text":
        digits = bool(there.astype("string").str.fullmatch(_WHOLE).all())
        return Cast(key, "whole numbers", "text") if digits and to == "whole number" else None
    return Cast(key, "whole numbers") if to == "whole number" and kind == "number" and whole else None


def _share(mine: Series, theirs: Series) -> float:
    """The share of a column's distinct values, of a sample, that another one has."""
    sample = mine.dropna().drop_duplicates().head(profile.SAMPLE)
    return float(sample.isin(set(theirs.dropna())).mean()) if len(sample) else 0.0


def of_zones(names: tuple[str, str], columns: tuple[str, str], zones: tuple[str | None, str | None],
             repairable: tuple[bool, bool]) -> Finding | None:  # fmt: skip
    """Event times of which one side has a time zone and the other none; those are taken as UTC.

    Parameters
    ----------
    names, columns, zones
        Of both sides what they are called, their event-time columns, and the zones of these.
    repairable
        Whether a side's rows can be repaired.
    """
    if (zones[0] is None) == (zones[1] is None):
        return None
    place = 0 if zones[0] is None else 1
    zone = zones[1 - place]
    if zone is None or zone == "UTC" or not repairable[place]:
        return None
    words = f"{names[1 - place]} has a time zone and {names[place]} none: it is taken as UTC"
    choices: Sequence[str] = (zone, "UTC")
    offers = tuple(Offer(f"Treat {names[place]} as {each}", InZone(columns[place], each)) for each in choices)
    return Finding(SIDES[place], "time", words, offers, wrong=False)
