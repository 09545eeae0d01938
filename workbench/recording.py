"""A recording as a folder: one Parquet file a micro-batch and side, and ``recording.json``, which says what it is.

When the rows of a side arrived, where that is known, is in a Parquet file of its own, in their order.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from workbench import safe_files, times
from workbench.arrays import Times
from workbench.errors import ArgumentError, DataError, WorkbenchError, wrong
from workbench.literals import SIDES, Side, Sides
from workbench.sources import arrivals
from workbench.streams import MOST_BATCHES, Stream, check_stream, on_one_clock
from workbench.untyped import Record

__all__ = ["NOT_AS_WRITTEN", "load", "save", "write"]

_KIND = "stream-join-workbench recording"
_ABOUT = "recording.json"
_ARRIVALS, _ARRIVED = "{}-arrivals.parquet", "arrived_at"
NOT_AS_WRITTEN = (
    OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError, pa.ArrowException,
)  # fmt: skip
"""What reading a file raises of which a value is not what was written."""


def save(path: str | os.PathLike[str], left: Stream, right: Stream) -> Path:
    """Save two streams as a recording.

    Parameters
    ----------
    path
        A folder, made if missing; it must be empty or hold an older recording, as it was saved.
    left, right
        What to save.

    Raises
    ------
    ArgumentError
        If the folder holds something else.
    """
    check_stream("left", left)
    check_stream("right", right)
    target = safe_files.place(path)
    with safe_files.folder(target, "a recording") as staged:
        write(staged, left, right)
    return target


def write(folder: Path, left: Stream, right: Stream) -> None:
    """Write two streams as a recording into a new folder; see `save`."""
    left, right = _together(left, right)
    about: Record = {"kind": _KIND, "version": 1}
    for side, stream in Sides(left, right).items():
        stream.write(folder / side)
        about[side] = {
            "name": stream.name,
            "key": list(stream.key),
            "time": stream.time,
            "watermark": times.text(stream.watermark),
            "batches": stream.batch_count,
            "rows": len(stream),
            "zones": stream.zones,
        }
        if stream.newest is not None:
            about[side]["newest"] = stream.newest.tolist()
        if stream.newest_keyed is not None:
            about[side]["newest_keyed"] = stream.newest_keyed.tolist()
        if stream.arrivals is not None:
            about[side]["trigger"] = times.text(stream.arrivals.trigger)
            pq.write_table(pa.table({_ARRIVED: stream.arrivals.at}), folder / _ARRIVALS.format(side))
    (folder / _ABOUT).write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def _together(left: Stream, right: Stream) -> tuple[Stream, Stream]:
    """Both streams in the micro-batches of one query, where both are cut by one trigger."""
    triggers = [None if each.arrivals is None else each.arrivals.trigger for each in (left, right)]
    return on_one_clock(left, right) if triggers[0] == triggers[1] else (left, right)


def load(path: str | os.PathLike[str]) -> tuple[Stream, Stream]:
    """The two streams of a recording, as they were saved.

    Raises
    ------
    ArgumentError, DataError
        If the folder is no recording, or part of it is missing.
    """
    folder = safe_files.place(path)
    file = folder / _ABOUT
    if not file.is_file():
        raise wrong("path", str(path), f"there is no {_ABOUT} in it; give a folder that generators.save wrote")
    try:
        about = json.loads(file.read_text(encoding="utf-8"))
        if about["kind"] != _KIND or about["version"] != 1:
            raise KeyError(about["kind"])
        left, right = (_load(folder, side, about[side]) for side in SIDES)
        if any(
            one is not other and (one.arrival != other.arrival).any()
            for one, other in zip((left, right), _together(left, right), strict=True)
        ):
            raise ValueError("its micro-batches are not those that its trigger makes")
    except ArgumentError as error:
        raise DataError(f"path: {file} does not describe a recording ({error}); save it again") from None
    except WorkbenchError:
        raise
    except NOT_AS_WRITTEN as error:
        raise DataError(f"path: {file} does not describe a recording ({error!r}); save it again") from None
    return left, right


def _newest(values: Any, batches: int) -> Times:
    """The newest event times that a sample goes by, one a micro-batch."""
    if not isinstance(values, list) or len(values) != batches or not all(type(each) is int for each in values):
        raise ValueError(f"newest: {values!r}")
    return np.array(values, dtype=np.int64)


def _load(folder: Path, side: Side, about: Record) -> Stream:
    batches, zones = about["batches"], about["zones"]
    if isinstance(batches, bool) or not isinstance(batches, int) or not 1 <= batches <= MOST_BATCHES:
        raise ValueError(f"batches: {batches!r}")
    if not isinstance(zones, dict):
        raise TypeError(f"zones: {zones!r}")
    tables = []
    for number in range(batches):
        file = folder / side / f"batch-{number:05d}.parquet"
        try:
            tables.append(pq.read_table(file))
        except (OSError, pa.ArrowException):
            raise DataError(f"path: {file} is missing or no Parquet file; save the recording again") from None
    if (folder / side / f"batch-{batches:05d}.parquet").exists():
        raise ValueError(f"batches: {batches}, and there are files of more")
    arrival = np.repeat(np.arange(len(tables)), [table.num_rows for table in tables])
    if about["rows"] != len(arrival):
        raise ValueError(f"rows: {about['rows']!r}, and its {batches:,} micro-batches have {len(arrival):,}")
    stream = Stream.from_arrow(
        pa.concat_tables(tables),
        about["name"],
        key=about["key"],
        time=about["time"],
        watermark=about["watermark"],
        arrival=arrival,
        batch_count=about["batches"],
    )
    for column, zone in zones.items():
        if column not in stream.zones:
            raise KeyError(column)
        if zone is not None:
            pd.Timestamp(0).tz_localize(zone)  # an error where there is no such zone
        stream.zones[column] = zone
    if "newest" in about:
        stream = replace(stream, newest=_newest(about["newest"], batches))
    if "newest_keyed" in about:
        stream = replace(stream, newest_keyed=_newest(about["newest_keyed"], batches))
    if "trigger" not in about:
        return stream
    at = pq.read_table(folder / _ARRIVALS.format(side)).column(_ARRIVED).to_numpy()
    return replace(stream, arrivals=arrivals.checked(at, about["trigger"], len(stream)))
