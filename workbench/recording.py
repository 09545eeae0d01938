"""A recording as a folder: one Parquet file a micro-batch and side, and ``recording.json``, which says what it is."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from workbench import times
from workbench.errors import DataError, wrong
from workbench.streams import Stream

_KIND = "stream-join-workbench recording"
_ABOUT = "recording.json"
_SIDES = ("left", "right")


def save(path: str | os.PathLike[str], left: Stream, right: Stream) -> Path:
    """Save two streams as a recording.

    Parameters
    ----------
    path
        A folder, made if missing; it must be empty or hold an older recording.
    left, right
        What to save.

    Raises
    ------
    ArgumentError
        If the folder holds something else.
    """
    folder = Path(path)
    if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not (folder / _ABOUT).exists())):
        raise wrong("path", str(path), "give a new or empty folder, or one with an older recording")
    about: dict[str, Any] = {"kind": _KIND, "version": 1}
    for side, stream in zip(_SIDES, (left, right), strict=True):
        for old in (folder / side).glob("batch-*.parquet"):
            old.unlink()
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
    (folder / _ABOUT).write_text(json.dumps(about, indent=2) + "\n")
    return folder


def load(path: str | os.PathLike[str]) -> tuple[Stream, Stream]:
    """The two streams of a recording, as they were saved.

    Raises
    ------
    ArgumentError, DataError
        If the folder is no recording, or part of it is missing.
    """
    file = Path(path) / _ABOUT
    if not file.is_file():
        raise wrong("path", str(path), f"there is no {_ABOUT} in it; give a folder that generators.save wrote")
    try:
        about = json.loads(file.read_text())
        if about["kind"] != _KIND or about["version"] != 1:
            raise KeyError(about["kind"])
        left, right = (_load(Path(path) / side, about[side]) for side in _SIDES)
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise DataError(f"path: {file} does not describe a recording ({error!r}); save it again") from None
    return left, right


def _load(folder: Path, about: dict[str, Any]) -> Stream:
    tables = []
    for number in range(about["batches"]):
        file = folder / f"batch-{number:05d}.parquet"
        try:
            tables.append(pq.read_table(file))
        except (OSError, pa.ArrowException):
            raise DataError(f"path: {file} is missing or no Parquet file; save the recording again") from None
    arrival = np.repeat(np.arange(len(tables)), [table.num_rows for table in tables])
    stream = Stream.from_arrow(
        pa.concat_tables(tables),
        about["name"],
        key=about["key"],
        time=about["time"],
        watermark=about["watermark"],
        arrival=arrival,
        batch_count=about["batches"],
    )
    stream.zones.update(about["zones"])
    return stream
