"""Exporting what is shown: where the script reads and writes, as a script or a project, each file seen beforehand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import ipywidgets as widgets

from workbench import safe_files, script
from workbench.app._form import Form
from workbench.app.html import HTML
from workbench.counts import counted
from workbench.errors import ArgumentError, WorkbenchError
from workbench.exporting import export, is_whole
from workbench.runs.result import Result
from workbench.runs.run import Run
from workbench.untyped import Record

SCRIPT, PROJECT = "a plain script", "a project"
_NOWHERE = ("none", "")
_WITHOUT_ROWS = ", without the rows, which are a part of those that the watermarks are of"
_PARTLY = "its test needs the rows that the watermarks are of, and those of {} are a part of them: run it on all rows"
_WRITE = "Write the files into the folder."
_NEEDS_A_RUN = "its test needs the rows of a run on Spark: run it first"


class ExportPanel:
    """The choices of an export, and the button that writes it.

    Parameters
    ----------
    changed
        Called when another text is to be shown.

    Attributes
    ----------
    widget
        The panel.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self._run: Result | None = None
        self._changed = changed
        self._form = Form(self._moved)
        self._said = HTML()
        self._said.add_class("sjw-note")
        with self._form.quietly():
            self._add()
        self._said.value = self._promise()
        own = widgets.Layout(width="auto", flex="0 0 auto")
        write = self._button = widgets.Button(description="Export", icon="download", tooltip=_WRITE, layout=own)
        write.on_click(lambda _: self._write())
        places = [widgets.VBox(self._form.row(name)) for name in ("source", "sink", "dead_letters", "form")]
        rest = [widgets.VBox(self._form.row(name)) for name in ("folder", "file")]
        first, second = widgets.HBox(places), widgets.HBox([rest[0], write, rest[1]])
        self.widget = widgets.VBox([first, second, self._said])
        self.widget.add_class("sjw-export")

    def _add(self) -> None:
        add, drop = self._form.add, widgets.Dropdown
        add("source", drop(options=list(script.SOURCES)), "Source", "The source that the script reads from.")
        add("sink", drop(options=list(script.SINKS)), "Sink", "Where it writes.")
        tip = "The sink of a project for late and unreadable rows."
        add(
            "dead_letters",
            drop(options=[_NOWHERE, *((name, name) for name in script.DEAD_LETTERS)]),
            "Dead letters",
            tip,
        )
        tip = "A project has modules for restarts, a log and dead letters, a test, a README and its dependencies."
        add("form", drop(options=[SCRIPT, PROJECT]), "Export as", tip)
        tip = "The folder to write; files that the workbench did not write are never replaced."
        add("folder", widgets.Text("job", continuous_update=False), "Folder", tip)
        add("file", drop(options=["join.py"]), "Preview of", "The file that is shown below.")

    @property
    def chosen(self) -> tuple[object, ...]:
        """All that the text depends on that is shown."""
        return tuple(self._form.value(name) for name in ("source", "sink", "dead_letters", "form", "file"))

    def _moved(self) -> None:
        self._said.value = self._promise()
        self._changed()

    def _promise(self) -> str:
        """What the chosen places are, and what holds after failures."""
        source, sink = script.SOURCES[self._form.value("source")], script.SINKS[self._form.value("sink")]
        letters = script.DEAD_LETTERS.get(self._form.value("dead_letters"))
        dropped = letters.description if letters else "late and unreadable rows are only counted."
        return f"Reads {source.description} Writes to {sink.description} Dead letters: {dropped}"

    def text(self, run: Result) -> tuple[str, str]:
        """The file that is chosen of an export of a run, and its name; what is wrong is said beside its field."""
        self._run = run
        try:
            made = _texts(run, self._form.value("form") == PROJECT, **self._places())
        except ArgumentError as error:
            self._mark(error)
            self._allow(str(error))
            return f"# {error}", "join.py"
        refused = self._refused(run)
        self._form.mark({"form": refused} if refused else {})
        self._allow(refused)
        box = self._form.inputs["file"]
        if list(box.options) != list(made):
            with self._form.quietly():
                before = box.value
                box.options = list(made)
                box.value = before if before in made else next(iter(made))
        return made[box.value], box.value

    def _refused(self, run: Result) -> str:
        """Why a run has no export of the chosen form; empty where it has."""
        if self._form.value("form") != PROJECT:
            return ""
        if not isinstance(run, Run):
            return _NEEDS_A_RUN
        part = [each.name for each in (run.left, run.right) if not is_whole(each)]
        return _PARTLY.format(part[0]) if part else ""

    def _allow(self, refused: str) -> None:
        """Make the button usable, or not, and say on it why."""
        self._button.disabled, self._button.tooltip = bool(refused), refused or _WRITE

    def _places(self) -> Record:
        return {name: self._form.value(name) or None for name in ("source", "sink", "dead_letters")}

    def _mark(self, error: WorkbenchError) -> None:
        """Say what is wrong beside the field that it is about."""
        argument, _, words = str(error).partition(":")
        place = {"path": "folder", "run": "form"}.get(argument, argument)
        self._form.mark({place if place in self._form.inputs else "folder": words.strip()})

    def _write(self) -> None:
        """Write the export; nothing that the workbench did not write is replaced."""
        if self._run is None:
            return
        self._said.value = self._promise()
        data = self._form.value("form") == PROJECT or (is_whole(self._run.left) and is_whole(self._run.right))
        try:
            file = self._written(self._run, data)
        except WorkbenchError as error:
            self._mark(error)
            return
        self._form.mark({})
        self._said.value = f"Written: {file.resolve()}{_rows_beside(file)}{'' if data else _WITHOUT_ROWS}"

    def _written(self, run: Result, data: bool) -> Path:
        name = self._form.value("folder").strip()
        if not name:
            raise ArgumentError("path: name a folder")
        folder = safe_files.place(name)
        if self._form.value("form") == PROJECT:
            return export(run, folder, **self._places())
        with safe_files.made(folder):
            return export(run, folder / "join.py", data=data, **self._places())


def _rows_beside(file: Path) -> str:
    """Which files with rows were written beside a script, in words; nothing where there are none."""
    folder = file.with_name(script.data_folder(file.name))
    files = [each for each in folder.rglob("[!.]*") if each.is_file()] if folder.is_dir() else []
    return f", with the rows of the streams in {folder.name} ({counted(len(files), 'file')})" if files else ""


def _texts(run: Result, project: bool, source: str, sink: str, dead_letters: str | None) -> dict[str, str]:
    """The texts that an export would write, by the names of their files, the one that is started first.

    Raises
    ------
    ArgumentError
        If the places do not go together.
    """
    endpoints = script.check(run.left, run.right, source, sink, dead_letters)
    if project:
        return script.project(run.join, run.left, run.right, run.policy, endpoints)
    places: Record = {"source": source, "sink": sink, "dead_letters": dead_letters}
    return {"join.py": script.render(run.join, run.left, run.right, policy=run.policy, **places)}
