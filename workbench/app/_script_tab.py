"""The tab Script: the join as text, in one of several languages."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as widgets

from workbench.app._code_box import CodeBox, flink_java, flink_sql
from workbench.app._export import ExportPanel
from workbench.app._form import show
from workbench.errors import WorkbenchError
from workbench.literals import RowId
from workbench.runs.result import Result
from workbench.testing.writing import test_of

_HELP = {
    "PySpark script": "Runs anywhere Spark does; exported as a script or a project.",
    "Flink SQL": "The same join as Flink SQL.",
    "Flink DataStream": "The same join as a job of Flink's DataStream API, in Java.",
    "Test": "A test for pytest: these rows, or those of the picked row's key, and what becomes of them.",
    "Notebook cell": "The code that does what this page does.",
}


class TextsPanel:
    """Text to copy and download, and the choice of which.

    Parameters
    ----------
    cell
        Gives the text of the cell that does what the page does.
    picked
        Gives the row that is picked; None where there is none, or several.
    chosen
        Called when another text is chosen.

    Attributes
    ----------
    widget
        The panel.
    """

    def __init__(self, cell: Callable[[], str], picked: Callable[[], RowId | None], chosen: Callable[[], None]) -> None:
        self._picked = picked
        self._export = ExportPanel(chosen)
        self._texts: dict[str, Callable[[Result], tuple[str, str]]] = {
            "PySpark script": self._export.text,
            "Flink SQL": flink_sql,
            "Flink DataStream": flink_java,
            "Test": self._test,
            "Notebook cell": lambda _: (cell(), "cell.py"),
        }
        self._choice = widgets.ToggleButtons(
            options=list(_HELP), tooltips=list(_HELP.values()), style={"button_width": "auto"}
        )
        self._box = CodeBox()
        self._choice.observe(lambda _: self._chose(chosen), "value")
        self.widget = widgets.VBox([self._choice, self._export.widget, self._box])

    def _chose(self, chosen: Callable[[], None]) -> None:
        show(self._export.widget, self._choice.value == "PySpark script")
        chosen()

    @property
    def chosen(self) -> tuple[object, ...]:
        """All that the text depends on, but the run."""
        picked = self._picked() if self._choice.value == "Test" else None
        return str(self._choice.value), picked, *self._export.chosen

    def _test(self, run: Result) -> tuple[str, str]:
        """The test of what is shown, or in its place why there is none."""
        try:
            return test_of(run, self._picked()), "test_join.py"
        except WorkbenchError as error:
            return f"# {error}\n", "test_join.py"

    def show(self, run: Result) -> None:
        """Show the chosen text of a run."""
        self._box.show(*self._texts[self._choice.value](run))
