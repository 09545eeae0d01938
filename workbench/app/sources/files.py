"""Folders of files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ipywidgets as widgets
import pyarrow as pa

from workbench import safe_files, times
from workbench.app._form import Form
from workbench.app.sources._menus import Menus
from workbench.app.sources._source import (
    Control,
    Notebook,
    PageSource,
    Streams,
    Values,
    WrongSettingsError,
    both,
    marking,
)
from workbench.app.sources._table_inputs import TableInputs
from workbench.app.sources._tables import check_streams, overlaps
from workbench.app.sources._triggers import trigger
from workbench.errors import ArgumentError, WorkbenchError
from workbench.literals import Side
from workbench.sources import FORMATS, Format, file_repairs, folders
from workbench.sources.file_repairs import FileRepair
from workbench.sources.files import UnreadableRecordsError, read
from workbench.sources.findings import Finding, of_records
from workbench.streams import SIDES, Stream

__all__ = ["SOURCE"]

_MENUS = Menus("file_")
_TRIGGER = trigger("file_trigger")


def _controls(side: Side) -> tuple[Control, ...]:
    path = "A folder; each file is a micro-batch. The list has folders near the notebook with known formats."
    return (
        Control(f"{side}.path", f"{side.capitalize()} folder", path, _folder_box),
        Control(f"{side}.format", "Format", "The format of the files.", lambda: widgets.Dropdown(options=FORMATS)),
        *_MENUS.controls(side),
    )


def _folder_box() -> widgets.Combobox:
    """A text that is read when it is complete: Spark reads the files for each."""
    return widgets.Combobox(continuous_update=False, ensure_option=False, placeholder="choose or type")


def _held(form: Form, notebook: Notebook, side: Side) -> Any:
    path, kind = form.value(f"{side}.path"), form.value(f"{side}.format")
    if not path:
        return None
    key = (*((each.name, each.stat().st_mtime_ns) for each in _files(path)), path, kind)
    try:
        return notebook.once(("folder", side, key), (), lambda: _rows(path, kind))
    except WorkbenchError:
        return None  # said where the streams are made


def _files(path: str) -> list[Path]:
    try:
        return sorted(each for each in Path(path).iterdir() if each.is_file())
    except (OSError, ValueError):
        return []


def _rows(path: str, kind: Format) -> Any:
    """The rows of a folder, as Spark reads them.

    Raises
    ------
    ArgumentError, DataError
        As `Stream.from_files`.
    """
    return read(path, "", format=kind, schema=None, max_files=1, options=None, malformed="drop").table


_TABLES = TableInputs(("path", "format"), _MENUS, _held, _TRIGGER)


def _arrange(form: Form, notebook: Notebook) -> list[widgets.Widget]:
    _TABLES.follow(form, notebook)
    for side in SIDES:
        changed = form.rule(f"{side}.path")

        def took(side: Side = side, changed: Any = changed) -> None:
            kind = _format(form.value(f"{side}.path"))
            if kind is not None:
                form.inputs[f"{side}.format"].value = kind
            changed()

        form.follow(f"{side}.path", took)
    return form.row(*SOURCE.inputs)


def _format(path: str) -> Format | None:
    try:
        return folders.format_of(safe_files.place(path)) if path else None
    except ArgumentError:
        return None


def _refresh(form: Form, notebook: Notebook) -> None:
    """List the folders, and read those that are chosen again."""
    notebook.forget()
    found = folders.with_files(Path.cwd())
    with form.changing():
        for side in SIDES:
            form.inputs[f"{side}.path"].options = found
        _TABLES.fill(form, notebook)


def _make(values: Values, _: Values) -> Streams:
    timed = [side for side in SIDES if _MENUS.chosen(values, side, "arrival") is not None]
    if len(timed) == 1:
        side = SIDES[timed[0] == SIDES[0]]
        words = "the other side has times of arrival: choose such a column here, too, or none there"
        raise WrongSettingsError(f"{side}: {words}", {_MENUS.name(side, "arrival"): words})
    interval = values[_TRIGGER.name] if timed else None
    if interval is not None:
        try:
            times.trigger(interval)
        except ArgumentError as error:
            raise WrongSettingsError(str(error), {_TRIGGER.name: error.remedy}) from error
    (left, one), (right, other) = both(lambda side: _folder(values, side, interval))
    check_streams(left, right, _MENUS)
    return Streams(left, right, (one, other), tuple(overlaps(left, right)))


def _folder(values: Values, side: Side, interval: str | None) -> tuple[Stream, str]:
    path, kind = values[f"{side}.path"], values[f"{side}.format"]
    key, time, arrival = (
        _MENUS.keys(values, side),
        *(_MENUS.chosen(values, side, part) for part in ("time", "arrival")),
    )
    if not path:
        words = "name a folder of files"
        raise WrongSettingsError(f"{side} folder: {words}", {f"{side}.path": words})
    places = ("path", "format", "file_key", "file_time", "file_arrival")
    if not key or time is None:
        marking(side, places, lambda: _rows(path, kind))
        words = "choose its key and event time"
        raise WrongSettingsError(f"{side} folder: {words}", {f"{side}.path": words})
    name = path.rstrip("/").rsplit("/", 1)[-1].split(".")[0] or side
    done = _MENUS.done(values, side)
    more = file_repairs.arguments(done) | ({} if arrival is None else {"arrival": arrival, "trigger": interval})
    text = "".join(f", {word}={value!r}" for word, value in more.items())
    line = f"{side} = wb.Stream.from_files({path!r}, {name!r}, {key!r}, {time!r}, format={kind!r}{text})"

    try:
        return marking(side, places, lambda: Stream.from_files(path, name, key, time, format=kind, **more)), line
    except WrongSettingsError as error:
        if not isinstance(error.__cause__, UnreadableRecordsError):
            raise
        found = _unreadable(side, path, kind, time, done, error.__cause__)
        raise WrongSettingsError(f"{side}: {found.words}", {_MENUS.name(side, "time"): found.words}, [found]) from error


def _unreadable(
    side: Side, path: str, kind: Format, time: str, done: tuple[FileRepair, ...], error: UnreadableRecordsError
) -> Finding:
    """What would do where records cannot be read."""
    rows = _rows(path, kind)
    text = time in rows.column_names and pa.types.is_string(rows.schema.field(time).type)
    texts = rows.column(time).to_pandas() if text else None
    return of_records(side, error.words, (error.count, error.total), texts, done)


SOURCE = PageSource(
    "files",
    "files",
    "folders of files",
    (*(each for side in SIDES for each in _controls(side)), _TRIGGER),
    _make,
    arrange=_arrange,
    refresh=_refresh,
    tell=_MENUS.tell,
    trigger=_TRIGGER.name,
)
