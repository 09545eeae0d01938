"""What rows that miss their partners have in common, which no bound and no delay should be changed for."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import numpy as np
import pyarrow as pa

from workbench import times
from workbench.kinds import kind_of
from workbench.model import Simulation
from workbench.runs.causes import nearest_distance

__all__ = ["in_common"]

_QUARTER = 900_000_000  # microseconds; time zones are whole quarters of an hour apart
_ZONES = (2 * _QUARTER, 56 * _QUARTER)  # the least and the most by which they differ
_FEW = 3  # rows that miss, below which nothing is told from them
_MOST = 0.8  # of these rows


def in_common(simulation: Simulation) -> Iterator[tuple[str, str]]:
    """Problems and remedies: event times in another time zone, keys that differ in how they are written only."""
    if not simulation.keyed or kind_of(simulation.join).steps(simulation.join):
        return
    yield from _zones(simulation)
    yield from _spellings(simulation)


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
            f"{count} from one of {right.name} in case, blanks or leading zeros only, such as {one!r} and {other!r}",
            "write both in one way before the join, as with lower(trim(key))",
        )


def _plain(key: str) -> str:
    """A key without case, blanks around it and leading zeros."""
    short = key.strip().casefold()
    return short.lstrip("0") or short
