"""What rows that miss their partners have in common, which no bound and no delay should be changed for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench import times
from workbench.kinds import kind_of
from workbench.literals import SIDES, Side
from workbench.model import Simulation
from workbench.quoting import quoted
from workbench.reasons.partners import nearest_distance
from workbench.sources.repairs import PADDING
from workbench.streams import Stream

__all__ = ["in_common"]

_QUARTER = 900_000_000  # microseconds; time zones are whole quarters of an hour apart
_ZONES = (2 * _QUARTER, 56 * _QUARTER)  # the least and the most by which they differ
_FEW = 3  # rows that miss, below which nothing is told from them
_MOST = 0.8  # of these rows
_SOME = 5  # late rows, below which no source is told from them; and rows that a source has on average


def in_common(simulation: Simulation) -> Iterator[tuple[str, str]]:
    """Problems and remedies.

    Event times in another time zone, keys that differ in how they are written only, late rows of one source, rows that
    come more than once, rows that meet themselves.
    """
    for side in SIDES:
        yield from _of_one_source(simulation, side)
        yield from _repeated(simulation, side)
    if not simulation.keyed or kind_of(simulation.join).match_columns(simulation.join):
        return
    yield from _zones(simulation)
    yield from _spellings(simulation)
    yield from _with_themselves(simulation)


def _zones(simulation: Simulation) -> Iterator[tuple[str, str]]:
    bounds = kind_of(simulation.join).interval(simulation.join)
    missed = np.flatnonzero(np.isin(simulation.fates["left"]["fate"].to_numpy(), ("unmatched", "pending")))
    if bounds is None or len(missed) < _FEW:
        return
    low, high = bounds
    if high - low >= _QUARTER:
        return
    apart = nearest_distance(simulation, "left", missed)
    apart = apart[(apart >= low - _ZONES[1]) & (apart <= high + _ZONES[1])]
    if len(apart) < max(_FEW, _MOST * len(missed)):
        return
    middle = (low + high) // 2
    shift = int(np.round((int(np.median(apart)) - middle) / _QUARTER)) * _QUARTER
    within = (apart - shift >= low) & (apart - shift <= high)
    if _ZONES[0] <= abs(shift) <= _ZONES[1] and within.mean() >= _MOST:
        left, right = simulation.names
        far = times.short(timedelta(microseconds=abs(shift)))
        yield (
            f"{int(within.sum()):,} rows of {left} miss the {right} of their key by {far} "
            f"{'earlier' if shift < 0 else 'later'}, beside what the bounds allow",
            "one of the two times is in another time zone: look at how it is parsed (from_utc_timestamp, "
            "spark.sql.session.timeZone) before a bound is widened",
        )


def _spellings(simulation: Simulation) -> Iterator[tuple[str, str]]:
    left, right = simulation.left, simulation.right
    columns = [stream.table.column(stream.key[0]) for stream in (left, right)]
    if any(len(stream.key) > 1 for stream in (left, right)) or not all(
        pa.types.is_string(each.type) for each in columns
    ):
        return
    missed = np.isin(simulation.fates["left"]["fate"].to_numpy(), ("unmatched", "pending", "late"))
    theirs = set(columns[1].drop_null().unique().to_pylist())
    mine = columns[0].filter(pa.array(missed)).drop_null().unique().to_pylist()
    plain = {_plain(key): key for key in sorted(theirs)}
    alike = [(key, plain[_plain(key)]) for key in mine if key not in theirs and _plain(key) in plain]
    if alike:
        one, other = alike[0]
        count = f"{len(alike):,} keys of {left.name} differ" if len(alike) > 1 else f"a key of {left.name} differs"
        yield (
            f"{count} from one of {right.name} in case, blanks or zeros before numbers only, such as {one!r} and "
            f"{other!r}",
            "write both in one way before the join, as with lower(trim(key))",
        )


def _of_one_source(simulation: Simulation, side: Side) -> Iterator[tuple[str, str]]:
    """Nearly all late rows have one value in a column, and few of the others: one device, partition or file is late."""
    stream = simulation.side(side)
    late = simulation.fates[side]["fate"].to_numpy() == "late"
    count = int(late.sum())
    if count < _SOME:
        return
    found = []
    for name in stream.table.column_names:
        column = stream.table.column(name)
        if name in (*stream.key, stream.time) or not _names_a_source(column.type):
            continue
        codes = pc.dictionary_encode(column.combine_chunks()).indices.fill_null(-1).to_numpy(zero_copy_only=False)
        if len(np.unique(codes)) > len(codes) / _SOME:
            continue
        most = np.bincount(codes[late] + 1).argmax() - 1
        mine, all_of_it = float((codes[late] == most).mean()), float((codes == most).mean())
        if most >= 0 and mine >= _MOST and 2 * all_of_it <= mine:
            place = int(np.flatnonzero(codes == most)[0])
            found.append((mine - all_of_it, name, column[place].as_py(), int((codes[late] == most).sum()), all_of_it))
    if found:
        _, name, value, mine_of_it, all_of_it = max(found, key=lambda each: each[0])
        yield (
            f"{mine_of_it:,} of the {count:,} late rows of {stream.name} have {name} {value!r}, and {all_of_it:.0%} of "
            "all its rows",
            "check the clock of that source, and why its rows are held up, before you make a watermark delay longer "
            "for all",
        )


def _names_a_source(of: pa.DataType) -> bool:
    return bool(pa.types.is_string(of) or pa.types.is_large_string(of) or pa.types.is_integer(of))


def _repeated(simulation: Simulation, side: Side) -> Iterator[tuple[str, str]]:
    """Rows that are the same as another in every column, as after a retry: each matches once more."""
    stream = simulation.side(side)
    nested = any(pa.types.is_nested(each) for each in stream.table.schema.types)
    if len(stream.table.column_names) <= len(stream.key) + 1 or nested:  # key and time alone tell no row from another
        return
    different = stream.table.group_by(stream.table.column_names).aggregate([]).num_rows
    again = len(stream) - different
    if again >= _FEW:
        yield (
            f"{again:,} of {len(stream):,} rows of {stream.name} are the same as another in every column, and each of "
            "them matches once more",
            "leave them out before the join, with dropDuplicatesWithinWatermark on the columns that identify a row",
        )


def _with_themselves(simulation: Simulation) -> Iterator[tuple[str, str]]:
    """Rows that meet one that is the same in every column, as all do where a stream is joined with itself."""
    left, right = simulation.left.table, simulation.right.table
    names = left.column_names
    more = set(names) - {*simulation.left.key, simulation.left.time}
    if not more or set(names) != set(right.column_names) or kind_of(simulation.join).grouped:
        return
    if any(pa.types.is_nested(each) for each in left.schema.types) or left.schema != right.select(names).schema:
        return
    outputs = simulation.outcome.outputs
    met = outputs.table["matched"].to_numpy()
    rows = [outputs.first(side)[met] for side in SIDES]
    same = np.ones(len(rows[0]), dtype=bool)
    for name in names:
        pairs = [stream.column(name).take(pa.array(of)) for stream, of in zip((left, right), rows, strict=True)]
        equal = pc.fill_null(pc.equal(*pairs), False)
        both_null = pc.and_(*(pc.is_null(each) for each in pairs))
        same &= pc.or_(equal, both_null).to_numpy(zero_copy_only=False)
    themselves, matched = (len(np.unique(rows[0][of])) for of in (same, slice(None)))
    if themselves >= _FEW and themselves >= _MOST * matched:
        one, other = simulation.names
        told = _told_apart_by(simulation.left)
        exclude = "exclude these pairs in the condition, by a column that tells rows of a key apart: "
        without = (
            "rows of a key differ in no column: give the source one in which they do, and exclude these pairs by it"
        )
        yield (
            f"{themselves:,} of {matched:,} matched rows of {one} meet a row of {other} that is the same in every "
            "column: joined with itself, a stream's row meets itself",
            f"{exclude}{one}.{told} <> {other}.{told}" if told else without,
        )


def _told_apart_by(stream: Stream) -> str:
    """The column in which rows of a key differ: one that differs in all rows if there is one; empty: there is none."""
    others = [name for name in stream.columns if name not in (*stream.key, stream.time)]
    frame = stream.table.to_pandas()
    for columns in ([], list(stream.key)):
        for name in (*others, stream.time):
            if not frame.duplicated([*columns, name]).any():
                return quoted(name)
    return ""


def _plain(key: str) -> str:
    """A key without case, blanks around it and zeros before numbers."""
    return re.sub(PADDING, "", key.strip().casefold())
