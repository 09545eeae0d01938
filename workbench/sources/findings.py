"""What of two tables is in the way of joining them as streams, and the repairs that would do."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from workbench.literals import SIDES, Side, Sides
from workbench.sources import key_texts, profile, time_formats
from workbench.sources.csv_separators import separators
from workbench.sources.folder_repairs import (
    FileRepair,
    LeaveOutUnreadable,
    TimesOfZone,
    TimesWritten,
    ways,
)
from workbench.sources.profile import Kind
from workbench.sources.repairs import (
    AnyRepair,
    Cast,
    DatesAsTimes,
    FromEpoch,
    InZone,
    LeaveOut,
    LeaveOutDuplicates,
    ParseTimes,
    repaired,
    steps_in_words,
)
from workbench.untyped import Series

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "Finding",
    "Offer",
    "Part",
    "Place",
    "of_columns",
    "of_duplicates",
    "of_keys",
    "of_records",
    "of_times",
    "of_written_zones",
    "of_zones",
]

Place = Literal["key", "time", "arrival", "rows"]
_PLACES: dict[Place, str] = {"key": "key", "time": "event time", "arrival": "time of arrival", "rows": "row"}
_EXAMPLES = 2
_WHOLE = r"\s*[+-]?\d{1,18}\s*"


@dataclass(frozen=True)
class Offer:
    """A repair, and what is written on its button.

    Attributes
    ----------
    label, repair
        What is written, and what is done.
    side
        The side whose rows it changes; None: that of the finding.
    also
        What is done to the other side with it; None: nothing.
    """

    label: str
    repair: AnyRepair | FileRepair
    side: Side | None = None
    also: AnyRepair | None = None


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
    warns
        Whether it is likely to be a mistake although streams can be made.
    """

    side: Side
    place: Place
    words: str
    offers: tuple[Offer, ...] = ()
    wrong: bool = True
    warns: bool = False


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
    side: Side,
    words: str,
    unreadable: tuple[int, int],
    texts: Series | None,
    done: Iterable[FileRepair],
) -> Finding:
    """Records of files that cannot be read as their columns' types.

    Parameters
    ----------
    side, words
        The side, and what is wrong.
    unreadable
        How many cannot be read, and of how many.
    texts
        The column with the event time, under its name, where it holds text.
    done
        How the files are read already.
    """
    count, total = unreadable
    told = texts is None or any(isinstance(each, TimesWritten) for each in done)
    offers = [] if told else [Offer(f"Read times as {each.pattern}", each) for each in ways(texts)]
    if texts is not None and not told:
        offers += _parsed(texts, str(texts.name), count)
    if count < total:
        offers.append(Offer(f"Leave out {count:,} record{'' if count == 1 else 's'}", LeaveOutUnreadable()))
    return Finding(side, "time", f"{words}; {'choose what to do' if offers else 'correct them'}", tuple(offers))


def of_columns(side: Side, name: str, columns: Sequence[str]) -> Finding | None:
    """CSV files that seem to have one column only, because something else than a comma separates them.

    Parameters
    ----------
    side, name
        The side, and what it is called.
    columns
        The names of the columns, as a comma separates them.
    """
    offers = tuple(Offer(f"Separate columns by {each.named}", each) for each in separators(columns))
    if not offers:
        return None
    return Finding(side, "key", f"{name} has one column, {columns[0]!r}; choose what separates its columns", offers)


def _parsed(texts: Series, column: str, least: int) -> Iterator[Offer]:
    """Ways of writing times that Spark has no words for, where pandas reads more texts by them."""
    for each in time_formats.written(texts):
        if time_formats.in_sparks_words(each.format) is None:
            repair = ParseTimes(column, each.format, each.zoned)
            read = repaired(texts.to_frame(column), [repair])[column]
            if int((read.isna() & texts.notna()).sum()) < least:
                yield Offer(f"Parse as {repair.written}{_unread(texts.rename(column), repair)}", repair)


def _plural(kind: Kind) -> str:
    return {"text": "text", "other": "other values", "mixed": "values of several types", "nothing": "no value"}.get(
        kind, f"{kind} values" if kind in ("decimal", "binary", "true or false") else f"{kind}s"
    )


def _as_times(values: Series, column: str, found: profile.Column) -> tuple[Offer, ...]:
    if found.kind == "date":
        return (Offer("Take midnights", DatesAsTimes(column)),)
    if found.unit is not None:
        return (Offer(f"Read as {found.unit} since 1970", FromEpoch(column, found.unit)),)
    if found.kind == "text" and not found.written:
        numbers = pd.to_numeric(values, errors="coerce")
        unit: Any = time_formats.likely_unit(numbers)
        if unit is None or numbers.notna().sum() < values.notna().sum() / 2:
            return ()
        repair = FromEpoch(column, unit, text=True)
        return (Offer(f"Read as {unit} since 1970{_unread(values, repair)}", repair),)
    made = [ParseTimes(column, each.format, each.zoned) for each in found.written]
    return tuple(Offer(f"Parse as {each.written}{_unread(values, each)}", each) for each in made)


def _unread(values: Series, repair: ParseTimes | FromEpoch) -> str:
    """What a repair would not read as times; nothing where it reads all."""
    read = repaired(values.to_frame(), [repair])[repair.column]
    failed = values[read.isna() & values.notna()]
    some = ", ".join(repr(str(each)[:24]) for each in failed.unique()[:_EXAMPLES])
    return f"; not {len(failed):,}: {some}" if len(failed) else ""


def of_duplicates(side: Side, name: str, frame: pd.DataFrame, batch: str = "") -> Finding | None:
    """Rows that equal a row before them in all columns.

    Parameters
    ----------
    side, name, frame
        The side, what it is called, and its rows.
    batch
        The column with the micro-batch, which does not count; empty: there is none.
    """
    try:
        count = int(frame.drop(columns=batch or [], errors="ignore").duplicated().sum())
    except TypeError:  # lists and the like
        return None
    if not count:
        return None
    words = f"{count:,} of {len(frame):,} rows of {name} {'is an' if count == 1 else 'are'} exact duplicate"
    words += f"{'' if count == 1 else 's'} of a row before {'it' if count == 1 else 'them'}"
    offer = Offer(f"Leave out {count:,} duplicate{'' if count == 1 else 's'}", LeaveOutDuplicates(batch))
    return Finding(side, "rows", words, (offer,), wrong=False)


def of_keys(left: Part, right: Part) -> list[Finding]:
    """Key columns that pair up and differ in what they hold, or hold values of several types."""
    found: list[Finding] = []
    for side, part in Sides(left, right).items():
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
    """Two key columns that are to be equal: what would have their values meet, that which has most of them meet first.

    Of columns of one type only what has more meet than do already; casts to one type are offered whatever they find.
    """
    parts, keys = (left, right), (mine, theirs)
    columns = left.column(mine), right.column(theirs)
    kinds = _kind(columns[0]), _kind(columns[1])
    if "nothing" in kinds:
        return []
    differ = kinds[0] != kinds[1]
    casts = list(_casts(parts, keys, columns, kinds)) if differ else []
    least = max((each.found for each in casts), default=0) if differ else key_texts.found(*columns)
    able = left.frame is not None, right.frame is not None
    made = [_of_way(each, parts, keys) for each in key_texts.ways(columns, kinds, keys, able, least)]
    offers = sorted([*made, *casts], key=lambda each: -each.found)
    if not differ:
        words = (
            f"{mine} of {left.name} and {theirs} of {right.name} match more often when both are written the same way"
        )
        return [_with(offers, words, wrong=False)] if offers else []
    words = f"{mine} of {left.name} holds {_plural(kinds[0])}, {theirs} of {right.name} {_plural(kinds[1])}"
    return [_with(offers, words) if offers else Finding("right", "key", f"{words}; choose columns of one type")]


@dataclass(frozen=True)
class _Proposal:
    """A repair of one side's key or of both, and how many distinct values of both sides meet then."""

    found: int
    side: Side
    what: str
    rest: str
    repair: AnyRepair
    also: AnyRepair | None = None
    of: str = ""

    def offer(self, side: Side) -> Offer:
        """What is written on its button among those of a side."""
        of = "" if self.side == side else f" of {self.of}"
        head, _, tail = self.what.partition("|")
        return Offer(f"{head}{of}{tail}{self.rest}", self.repair, None if self.side == side else self.side, self.also)


def _with(offers: Sequence[_Proposal], words: str, wrong: bool = True) -> Finding:
    """The finding beside the key that the best of some repairs changes."""
    side = offers[0].side
    return Finding(side, "key", words, tuple(each.offer(side) for each in offers), wrong)


def _casts(
    parts: tuple[Part, Part], keys: tuple[str, str], columns: tuple[Series, Series], kinds: tuple[Kind, Kind]
) -> Iterator[_Proposal]:
    """The casts of either side to what the other one holds."""
    for place, other in ((1, 0), (0, 1)):
        part, key = parts[place], keys[place]
        cast = None if part.frame is None else _cast(columns[place], key, kinds[other])
        if cast is None or part.frame is None:
            continue
        made = repaired(part.frame[[key]], [cast])[key]
        rest = f": {_share(key_texts.share(made, columns[other]))} are on {parts[other].name}"
        found = key_texts.found(made, columns[other])
        yield _Proposal(found, SIDES[place], f"Make {key}| {cast.to}", rest, cast, of=part.name)


def _of_way(way: key_texts.Way, parts: tuple[Part, Part], keys: tuple[str, str]) -> _Proposal:
    """A way of writing the keys of one side or of both, with its share, and what falls together by it."""
    place = 0 if way.repairs[0] is not None else 1
    first, second = way.repairs[place], way.repairs[1 - place] if place == 0 else None
    assert first is not None  # noqa: S101 - a way has a repair
    merged = [
        f"; {before:,} keys of {part.name} become {after:,}"
        for part, (before, after) in zip(parts, way.merged, strict=True)
        if after < before
    ]
    rest = f": {_share(way.shares[place])} are on {parts[1 - place].name}{''.join(merged)}"
    what = f"Write {keys[place]}| {steps_in_words(first.steps)}"
    if second is not None and second.steps == first.steps:
        what = f"Write {keys[place]}| {steps_in_words(first.steps)} on both sides"
    elif second is not None:
        what += f", {keys[1]} of {parts[1].name} {steps_in_words(second.steps)}"
    return _Proposal(way.found, SIDES[place], what, rest, first, second, parts[place].name)


def _share(share: float) -> str:
    """A share on a button: no 0% where there are some, no 100% where not all are."""
    if 0 < share < 0.005:
        return "fewer than 1%"
    return "99%" if 0.995 <= share < 1 else f"{share:.0%}"


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


def of_written_zones(side: Side, names: tuple[str, str], texts: tuple[Sequence[str], Sequence[str]]) -> Finding | None:
    """Times in files that name no zone, where those of the other side name one; they are taken as UTC.

    Parameters
    ----------
    side
        The side.
    names, texts
        What it and the other one are called, and some of their times as they are written.
    """
    own, theirs = (Counter(_zone_written(each) for each in some) for some in texts)
    zone = next((each for each, _ in theirs.most_common() if each), None)
    if zone in (None, "UTC") or not own or set(own) != {""}:
        return None
    words = f"{names[1]} has a time zone and {names[0]} none: it is taken as UTC"
    offers = tuple(Offer(f"Treat {names[0]} as {each}", TimesOfZone(each)) for each in (zone, "UTC"))
    return Finding(side, "time", words, offers, wrong=False)


def _zone_written(text: str) -> str:
    """The offset from UTC that a time names, as Spark takes it; empty where it names none.

    Examples
    --------
    >>> [_zone_written(each) for each in ("2026-07-01T10:00:00+0200", "2026-07-01 10:00:00Z", "2026-07-01")]
    ['+02:00', 'UTC', '']
    """
    found = re.search(r"\d\d:\d\d.*?(?:(Z)|([+-]\d\d):?(\d\d))$", text.strip())
    if found is None:
        return ""
    offset = "UTC" if found[1] else f"{found[2]}:{found[3]}"
    return "UTC" if offset in ("+00:00", "-00:00") else offset
