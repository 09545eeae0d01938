"""A folder of files as one side: as Spark reads it in a script, or as a table where it is repaired first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pandas as pd
import pyarrow as pa

from workbench import frames
from workbench.app.sources._menus import Menus
from workbench.app.sources._source import Values, WrongSettingsError, marking
from workbench.app.sources._tables import Given
from workbench.errors import ArgumentError, WorkbenchError
from workbench.literals import Side
from workbench.sources import Format, folder_repairs
from workbench.sources.csv_separators import separator
from workbench.sources.files import UnreadableRecordsError, read
from workbench.sources.findings import Finding, Place, of_records, of_times
from workbench.sources.folder_repairs import FileRepair
from workbench.sources.repairs import AnyRepair, ParseTimes
from workbench.streams import Stream
from workbench.untyped import Record

__all__ = ["Folder", "folder_given", "raw", "told"]

_PLACES = ("path", "format", "file_key", "file_time", "file_arrival")
_BATCHES = ("batch", "file", "file_number")


@dataclass(frozen=True)
class Folder:
    """A folder that is chosen on one side.

    Attributes
    ----------
    side, path, kind, name
        The side, the folder, what its files are, and what its stream is called.
    interval
        The trigger interval, where it is known when rows arrived.
    """

    side: Side
    path: str
    kind: Format
    name: str
    interval: str | None


def folder_given(folder: Folder, values: Values, menus: Menus) -> Given:
    """The rows of a folder with the columns that are chosen: a Stream of its files, or a table where that is repaired.

    Parameters
    ----------
    folder
        The folder.
    values, menus
        The values of the page's inputs, and those that say what the columns are.

    Raises
    ------
    WrongSettingsError
        If it cannot be read, or has to be repaired first.
    """
    side = folder.side
    key, time = menus.keys(values, side), menus.chosen(values, side, "time")
    if not key or time is None:
        marking(side, _PLACES, lambda: _raw(folder, menus.done(values, side)))
        words = "choose its key and event time"
        raise WrongSettingsError(f"{side} files: {words}", {f"{side}.path": words})
    done = menus.done(values, side)
    arrival = menus.chosen(values, side, "arrival")
    of_files = [each for each in done if isinstance(each, FileRepair)]
    if len(of_files) < len(done):
        repairs = [each for each in done if not isinstance(each, FileRepair)]
        return _table(folder, time, of_files, repairs, arrival, menus)
    more: Record = {} if arrival is None else {"arrival": arrival, "trigger": folder.interval}
    more = folder_repairs.arguments(of_files) | more
    line = f"wb.Stream.from_files({folder.path!r}, {folder.name!r}, {key!r}, {time!r}, format={folder.kind!r}"
    try:
        made = marking(
            side, _PLACES,
            lambda: Stream.from_files(folder.path, folder.name, key, time, format=folder.kind, **more),
        )  # fmt: skip
    except WrongSettingsError as error:
        found = list(_in_the_way(folder, time, arrival, of_files, error.__cause__))
        if not found:
            raise
        raise told(side, found, menus) from error
    batch = None if arrival is not None else next((each for each in _BATCHES if each not in made.columns), _BATCHES[-1])
    text = f"{line}{_arguments(more)})"
    return Given(side, folder.name, made, text, batch=batch, is_cut=True, repairable=True)


def _table(
    folder: Folder, time: str, of_files: list[FileRepair], repairs: list[AnyRepair], arrival: str | None, menus: Menus
) -> Given:
    """A folder whose rows are repaired: the same rows in the same micro-batches, as a table."""
    more = folder_repairs.arguments(of_files)
    if not any(isinstance(each, ParseTimes) and each.column == time for each in repairs):
        more["time"] = time
    try:
        frame, batch = marking(folder.side, _PLACES, lambda: _with_batch(folder, more, arrival))
    except WrongSettingsError as error:
        if not isinstance(error.__cause__, UnreadableRecordsError):
            raise
        found = _unreadable(folder, time, of_files, error.__cause__)
        raise told(folder.side, [found], menus) from error
    more |= {} if batch is None else {"batch": batch}
    text = f"wb.frames.from_files({folder.path!r}, {folder.kind!r}{_arguments(more)})"
    return Given(folder.side, folder.name, frame, text, fresh=True, batch=batch, is_cut=True)


def _with_batch(folder: Folder, more: Record, arrival: str | None) -> tuple[pd.DataFrame, str | None]:
    """The rows of a folder, and the column with the micro-batch; None where times of arrival cut them."""
    if arrival is not None:
        return frames.from_files(folder.path, folder.kind, **more), None
    for batch in _BATCHES[:-1]:
        try:
            return frames.from_files(folder.path, folder.kind, **more, batch=batch), batch
        except ArgumentError as error:
            if error.argument != "batch":
                raise
    return frames.from_files(folder.path, folder.kind, **more, batch=_BATCHES[-1]), _BATCHES[-1]


def _in_the_way(
    folder: Folder, time: str, arrival: str | None, done: list[FileRepair], error: BaseException | None
) -> Iterator[Finding]:
    """What keeps a folder from being a stream, where a repair may do."""
    if isinstance(error, UnreadableRecordsError):
        yield _unreadable(folder, time, done, error)
        return
    try:
        frame = frames.from_files(folder.path, folder.kind, time=time, **folder_repairs.arguments(done))
    except WorkbenchError:
        return
    wanted: list[tuple[Place, str | None]] = [("time", time), ("arrival", arrival)]
    for place, column in wanted:
        if column is not None and column in frame:
            finding = of_times(folder.side, folder.name, frame, place, column)
            if finding is not None:
                yield finding


def _unreadable(folder: Folder, time: str, done: list[FileRepair], error: UnreadableRecordsError) -> Finding:
    """What would do where records cannot be read."""
    rows = _raw(folder, done)
    text = time in rows.column_names and pa.types.is_string(rows.schema.field(time).type)
    texts = rows.column(time).to_pandas().rename(time) if text else None
    return of_records(folder.side, error.words, (error.count, error.total), texts, done)


def _raw(folder: Folder, done: Iterable[object]) -> pa.Table:
    return raw(folder.path, folder.kind, separator(done))


def raw(path: str, kind: Format, by: str) -> pa.Table:
    """The rows of a folder, the columns of CSV separated by `by`, in which text stays text."""
    options = {"sep": by} if kind == "csv" and by != "," else None
    return read(path, "", format=kind, schema=None, max_files=1, options=options, malformed="drop").table


def told(side: Side, found: list[Finding], menus: Menus) -> WrongSettingsError:
    """What was found in the way, said beside the inputs that it is about."""
    marks = {menus.name(side, each.place): each.words for each in found[::-1]}
    return WrongSettingsError(f"{side}: {found[0].words}", marks, found)


def _arguments(more: Record) -> str:
    return "".join(f", {word}={value!r}" for word, value in more.items())
