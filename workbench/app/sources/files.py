"""Files: a folder of them, a single one, or one that is uploaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench import safe_files, times
from workbench.app._form import Form
from workbench.app.sources._folder_rows import Folder, folder_given, raw, told
from workbench.app.sources._menus import Menus
from workbench.app.sources._source import Control, Notebook, PageSource, Streams, Values, WrongSettingsError, both
from workbench.app.sources._table_inputs import TableInputs
from workbench.app.sources._tables import Given, made_of
from workbench.app.sources._triggers import slices, trigger
from workbench.errors import ArgumentError, WorkbenchError
from workbench.literals import Side
from workbench.sources import FORMATS, Format, folders, single_file
from workbench.sources.csv_separators import separator
from workbench.sources.findings import Finding, of_columns, of_written_zones
from workbench.sources.folder_repairs import TimesOfZone
from workbench.sources.repairs import ParseTimes
from workbench.streams import SIDES
from workbench.untyped import Change

__all__ = ["SOURCE"]

_MENUS = Menus("file_")
_SLICES, _TRIGGER = slices("file_slices"), trigger("file_trigger")
_TYPE = "choose or type"
_PANDAS = "import pandas as pd"


def _controls(side: Side) -> tuple[Control, ...]:
    path = "A folder, whose files are micro-batches, or one file. The list has those near the notebook."
    upload = "A file of your computer, of 10 MB at most, as JupyterLab takes: choose it here, or drop it on the page."
    return (
        Control(f"{side}.path", f"{side.capitalize()} files", path, _path_box),
        Control(f"{side}.upload", "Upload", upload, _upload_button),
        Control(f"{side}.format", "Format", "The format of the files.", lambda: widgets.Dropdown(options=FORMATS)),
        *_MENUS.controls(side),
    )


def _path_box() -> widgets.Combobox:
    """A text that is read when it is complete: Spark reads the files for each."""
    return widgets.Combobox(continuous_update=False, ensure_option=False, placeholder=_TYPE)


def _upload_button() -> widgets.FileUpload:
    made = widgets.FileUpload(accept=",".join([*folders.ENDINGS, ".gz"]))
    made.add_class("sjw-upload")
    return made


def _held(form: Form, notebook: Notebook, side: Side) -> Any:
    path, kind, uploaded = (form.value(f"{side}.{part}") for part in ("path", "format", "upload"))
    by = separator(form.value(_MENUS.name(side, "repairs")))
    try:
        if uploaded:
            return notebook.once(("upload", side, kind, by), (uploaded,), lambda: _of_upload(uploaded, kind, by))
        if not path:
            return None
        key = (*((each.name, each.stat().st_mtime_ns) for each in _files(path)), path, kind, by)
        return notebook.once(("files", side, key), (), lambda: _rows(path, kind, by))
    except WorkbenchError:
        return None  # said where the streams are made


def _files(path: str) -> list[Path]:
    try:
        place = Path(path)
        return [place] if place.is_file() else sorted(each for each in place.iterdir() if each.is_file())
    except (OSError, ValueError):
        return []


def _is_single(path: str) -> bool:
    """Whether a path is that of one file."""
    try:
        return safe_files.place(path).is_file()
    except (ArgumentError, OSError):
        return False


def _rows(path: str, kind: Format, by: str = ",") -> Any:
    """The rows of a file, or those of a folder as Spark reads them.

    Raises
    ------
    ArgumentError, DataError
        As `Stream.from_files`.
    """
    if _is_single(path):
        single_file.check_ending(path)
        return single_file.read(path, kind, separator=by)
    return raw(path, kind, by)


def _of_upload(uploaded: Any, kind: Format, by: str = ",") -> Any:
    """The rows of what was uploaded.

    Raises
    ------
    ArgumentError, DataError
        If it cannot be read.
    """
    single_file.check_ending(uploaded[0]["name"])
    return single_file.read(uploaded[0]["name"], kind, bytes(uploaded[0]["content"]), by)


def _is_cut(form: Form) -> bool:
    """Whether rows are cut by number: the micro-batches of a folder are its files."""
    return all(form.value(f"{side}.upload") or _is_single(form.value(f"{side}.path")) for side in SIDES)


_TABLES = TableInputs(("path", "format", "upload"), _MENUS, _held, _TRIGGER, _SLICES, _is_cut)


def _arrange(form: Form, notebook: Notebook) -> list[widgets.Widget]:
    _TABLES.follow(form, notebook)
    for side in SIDES:
        form.follow(_MENUS.name(side, "repairs"), partial(_TABLES.fill, form, notebook))
        for part, follows in (("path", _took_path), ("upload", _took_upload)):
            form.follow(f"{side}.{part}", partial(follows, form, side, form.rule(f"{side}.{part}")))
    return form.row(*SOURCE.inputs)


def _took_path(form: Form, side: Side, changed: Change) -> None:
    """A path was chosen: an upload does not count any more."""
    path = form.value(f"{side}.path")
    if path and form.value(f"{side}.upload"):
        form.inputs[f"{side}.upload"].value = ()
    _set_format(form, side, _format(path))
    changed()


def _took_upload(form: Form, side: Side, changed: Change) -> None:
    """A file was uploaded: a path does not count any more."""
    uploaded = form.value(f"{side}.upload")
    form.inputs[f"{side}.path"].placeholder = f"{uploaded[0]['name']}, uploaded" if uploaded else _TYPE
    if uploaded:
        form.inputs[f"{side}.path"].value = ""
        _set_format(form, side, folders.format_of_file(uploaded[0]["name"]))
    changed()


def _set_format(form: Form, side: Side, kind: Format | None) -> None:
    if kind is not None:
        form.inputs[f"{side}.format"].value = kind


def _format(path: str) -> Format | None:
    try:
        place = safe_files.place(path) if path else None
    except ArgumentError:
        return None
    if place is None:
        return None
    return folders.format_of_file(path) if _is_single(path) else folders.format_of(place)


def _refresh(form: Form, notebook: Notebook) -> None:
    """List the folders and files, and read those that are chosen again."""
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
    left, right = both(lambda side: _given(values, side, interval))
    given = (_with_zones(left, right, values), _with_zones(right, left, values))
    return made_of(given, values, _MENUS, _SLICES.name, _TRIGGER.name)


def _with_zones(given: Given, other: Given, values: Values) -> Given:
    """What is chosen on a side, with a remark where its times name no zone and those of the other side do."""
    if any(isinstance(each, TimesOfZone | ParseTimes) for each in _MENUS.done(values, given.side)):
        return given
    found = of_written_zones(given.side, (given.name, other.name), (_texts(values, given), _texts(values, other)))
    return given if found is None else replace(given, findings=(*given.findings, found))


def _texts(values: Values, given: Given) -> list[str]:
    """Some event times of a folder, as they are written; none where it is no folder."""
    path, kind, time = (
        values[f"{given.side}.path"],
        values[f"{given.side}.format"],
        _MENUS.chosen(values, given.side, "time"),
    )
    if not path or values[f"{given.side}.upload"] or _is_single(path) or time is None:
        return []
    return folders.texts(Path(path), kind, time, separator(_MENUS.done(values, given.side)))


def _given(values: Values, side: Side, interval: str | None) -> Given:
    """What is chosen on one side.

    Raises
    ------
    WrongSettingsError
        If it cannot be read, or has to be repaired first.
    """
    path, kind, uploaded = (values[f"{side}.{part}"] for part in ("path", "format", "upload"))
    by = separator(_MENUS.done(values, side))
    if uploaded:
        return _uploaded(side, uploaded, kind, by)
    if not path:
        words = "name a folder or a file, or upload one"
        raise WrongSettingsError(f"{side} files: {words}", {f"{side}.path": words})
    if not _is_single(path):
        if by == ",":
            _check_columns(side, _name(path, side), kind, folders.header(Path(path)))
        return folder_given(Folder(side, path, kind, _name(path, side), interval), values, _MENUS)
    frame = _marked(side, "path", lambda: _rows(path, kind, by))
    _check_columns(side, _name(path, side), kind, list(frame.columns))
    return Given(side, _name(path, side), frame, single_file.call(repr(path), kind, by), fresh=True, before=(_PANDAS,))


def _check_columns(side: Side, name: str, kind: Format, columns: Sequence[str]) -> None:
    """Check that the columns of CSV are separated by what separates them.

    Raises
    ------
    WrongSettingsError
        If there seems to be one only; what may separate them is offered.
    """
    found = of_columns(side, name, columns) if kind == "csv" else None
    if found is not None:
        raise told(side, [found], _MENUS)


def _uploaded(side: Side, uploaded: Any, kind: Format, by: str) -> Given:
    """What was uploaded: the cell reads it from a file of its name, which the user has to put there."""
    frame = _marked(side, "upload", lambda: _of_upload(uploaded, kind, by))
    file = Path(uploaded[0]["name"]).name
    _check_columns(side, _name(file, side), kind, list(frame.columns))
    there = _holds(Path(file), bytes(uploaded[0]["content"]))
    words = f"{file} is in the page's memory only; the cell reads a file of that name: save it beside the notebook"
    found = [] if there else [Finding(side, "rows", words, wrong=False)]
    hint = () if there else (f"# {_one_line(file)} was uploaded to the page: save it beside this notebook",)
    return Given(
        side, _name(file, side), frame, single_file.call(repr(file), kind, by),
        fresh=True, before=(_PANDAS, *hint), findings=tuple(found),
    )  # fmt: skip


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _holds(file: Path, content: bytes) -> bool:
    """Whether a file is there that holds this."""
    try:
        return file.is_file() and file.stat().st_size == len(content) and file.read_bytes() == content
    except (OSError, ValueError):
        return False


def _marked(side: Side, part: str, make: Any) -> Any:
    """What is made; what is wrong is said beside the input that it was given in."""
    try:
        return make()
    except WorkbenchError as error:
        argument, _, words = str(error).partition(":")
        place = f"{side}.{'format' if argument == 'format' else part}"
        raise WrongSettingsError(f"{side} {error}", {place: words.strip()}) from error


def _name(path: str, side: Side) -> str:
    """What the stream of some files is called."""
    return path.rstrip("/").rsplit("/", 1)[-1].split(".")[0] or side


SOURCE = PageSource(
    "files",
    "files",
    "files of a folder, a single one, or one that is uploaded",
    (*(each for side in SIDES for each in _controls(side)), _SLICES, _TRIGGER),
    _make,
    arrange=_arrange,
    refresh=_refresh,
    tell=_MENUS.tell,
    trigger=_TRIGGER.name,
)
