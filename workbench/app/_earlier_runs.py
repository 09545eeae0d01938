"""The runs that a page's notebook keeps of the kernel before: their settings, without rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import ipywidgets as widgets

from workbench.app._form import show
from workbench.app._kept_settings import KeptRun
from workbench.app.closing import close
from workbench.app.html import HTML, html
from workbench.counts import counted

__all__ = ["EarlierRuns"]


class EarlierRuns:
    """A line for each run of the kernel before, with a button that sets the page to it.

    Parameters
    ----------
    set_to
        Sets the page to what a run was of.

    Attributes
    ----------
    widget
        The lines; hidden where there are none.
    runs
        The runs, the first of them first.
    """

    def __init__(self, set_to: Callable[[KeptRun], None]) -> None:
        self.runs: tuple[KeptRun, ...] = ()
        self._set_to = set_to
        self._said = HTML()
        self._said.add_class("sjw-note")
        self._lines = widgets.VBox()
        self.widget = widgets.VBox([self._said, self._lines])
        self.widget.add_class("sjw-earlier")
        self.list(())

    def list(self, runs: Iterable[KeptRun]) -> None:
        """List runs in place of those before."""
        self.runs = tuple(runs)
        gone = self._lines.children
        self._lines.children = [self._line(each) for each in reversed(self.runs)]
        for each in gone:
            close(each)
        self._said.value = html(
            "The kernel before made {}, whose rows are gone with it: set the page to the settings of a run, and <b>Run "
            "on Spark</b> makes it again.",
            counted(len(self.runs), "run"),
        )
        show(self.widget, bool(self.runs))

    def _line(self, run: KeptRun) -> widgets.HBox:
        words = HTML(run.title)
        words.add_class("sjw-note")
        if not run.settings:  # of a live query, or of a run that was loaded
            return widgets.HBox([words])
        button = widgets.Button(
            description=f"Settings of run {run.number}",
            icon="history",
            tooltip="Set the page to what the run was of.",
            layout=widgets.Layout(width="auto", flex="0 0 auto"),
        )
        button.on_click(lambda _: self._set_to(run))
        return widgets.HBox([button, words])
