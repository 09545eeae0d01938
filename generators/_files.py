"""`write`: a scenario as files on disk, of as many rows as there is room for."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from generators._arrival import delays_on_the_way, table
from generators._draw import Draw, Numbers, Side
from generators._scenarios import SCENARIOS
from generators._settings import Settings
from workbench import safe_files
from workbench.errors import one_of, wrong
from workbench.untyped import Value

_MOST_FILES = 10_000
_MEANINGLESS = ("batches", "idle", "trigger")
_EPOCH = datetime(1970, 1, 1)


def write(path: str | os.PathLike[str], scenario: str, *, files: int = 10, **settings: Value) -> tuple[Path, Path]:
    """Write two streams as Parquet files, in folders that Spark's file source takes in file by file.

    The rows are drawn and written a file at a time, so that there may be more of them than memory has room for. A row
    that arrives after its file ends is in the next one; the last file has all that is still on its way.

    Parameters
    ----------
    path
        A folder, made if missing; it must be empty.
    scenario
        One of `scenarios`.
    files
        How many files there are of each side: equal numbers of left rows, as they happen.
    **settings
        As in `generate`, without ``batches``, ``trigger`` and ``idle``; ``events`` is the number of all left rows.

    Returns
    -------
    tuple of pathlib.Path
        The folders of the left and the right side, called as the streams are. The files' times of modification are
        in their order.

    Raises
    ------
    ArgumentError
        If a setting is wrong, or the folder holds something.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     orders, payments = write(folder, "orders_payments", files=3, events=3_000, rate=100)
    ...     print(orders.name, len(list(orders.glob("*.parquet"))))
    orders 3
    """
    one_of("scenario", scenario, tuple(SCENARIOS))
    for name in _MEANINGLESS:
        if name in settings:
            raise wrong(name, settings[name], "files are cut by number: give files=… in its place")
    checked = Settings.of(settings)
    if isinstance(files, bool) or not isinstance(files, int) or not 1 <= files <= min(checked.events, _MOST_FILES):
        raise wrong("files", files, f"use a whole number from 1 to {min(checked.events, _MOST_FILES):,}")
    target = safe_files.place(path)
    with safe_files.folder(target, None) as staged:
        names = _written(staged, scenario, files, checked)
    return target / names[0], target / names[1]


def _written(folder: Path, scenario: str, files: int, settings: Settings) -> list[str]:
    """Write the files of both sides, and say what these are called."""
    draw = Draw(settings)
    names: list[str] = []
    waiting: list[tuple[pa.Table, Numbers] | None] = [None, None]
    for number in range(files):
        first, last = (each * settings.events // files for each in (number, number + 1))
        draw.continue_with(replace(draw.settings, events=last - first), first)
        sides = SCENARIOS[scenario](draw)
        if not names:
            names = [side.name for side in sides]
            for name in names:
                (folder / name).mkdir()
        end = int(sides[0].moments[-1]) if sides[0].until is None else sides[0].until
        for place, side in enumerate(sides):
            rows, clock = _arriving(side, waiting[place], draw)
            until = len(clock) if number == files - 1 else int(np.searchsorted(clock, end))
            waiting[place] = rows.slice(until), clock[until:]
            file = folder / side.name / f"part-{number:05d}.parquet"
            pq.write_table(rows.slice(0, until), file)
            os.utime(file, (number, number))
        draw.settings = replace(draw.settings, start=_EPOCH + timedelta(microseconds=end))
    return names


def _arriving(side: Side, waiting: tuple[pa.Table, Numbers] | None, draw: Draw) -> tuple[pa.Table, Numbers]:
    """The rows that happened and those that are on their way, in order of arrival, and when each arrives."""
    chosen = np.arange(len(side.moments))
    twice = chosen[draw.rng.random(len(chosen)) < draw.settings.duplicates]
    chosen = np.concatenate([chosen, twice])
    clock = side.moments[chosen] + delays_on_the_way(len(chosen), draw.settings, draw.rng)
    if waiting is None:
        order = np.argsort(clock, kind="stable")
        return table(side, chosen[order]), clock[order]
    clock = np.concatenate([waiting[1], clock])
    order = np.argsort(clock, kind="stable")
    return pa.concat_tables([waiting[0], table(side, chosen)]).take(pa.array(order)), clock[order]
