"""Tuning in the page: what other settings would keep and cost, and taking one of them by a click."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as widgets

from workbench.app._form import show
from workbench.app.html import HTML, html
from workbench.charts import Drawing, tuning_views
from workbench.errors import ArgumentError, WorkbenchError
from workbench.literals import Setting
from workbench.runs.labels import Labels
from workbench.runs.result import Result
from workbench.tuning import Advice, Tuning, advised, tuned

MOST_ROWS = 200_000
"""Rows of both sides up to which the page tunes by itself."""


class TunePanel:
    """What other watermark delays would keep and cost.

    Parameters
    ----------
    changed
        Called when another chart is chosen.
    apply
        Called with the settings that an advice is to set.

    Attributes
    ----------
    widget
        The panel.
    """

    def __init__(self, changed: Callable[[], None], apply: Callable[[dict[str, str]], None]) -> None:
        self._apply = apply
        self._of: Result | None = None
        self._tuning: Tuning | None = None
        self._best = ""
        self._known = {view.tab: view.name for view in tuning_views()}
        self._views = widgets.ToggleButtons(
            options=list(self._known),
            tooltips=[view.tip for view in tuning_views()],
            style={"button_width": "auto"},
        )
        self.text = HTML()
        self.text.add_class("sjw-tuned")
        self._views.observe(lambda _: changed(), "value")
        self.advice = widgets.VBox()
        self.widget = widgets.VBox([self.advice, self._views, self.text])

    @property
    def view(self) -> str:
        """The chart that is chosen."""
        return self._known[self._views.value]

    def drawing(self, run: Result) -> Drawing | None:
        """The chosen chart of a run's tuning; None where there are too many rows."""
        rows = len(run.left) + len(run.right)
        if rows > MOST_ROWS:
            self.text.value = f"{rows:,} rows are too many to tune while you wait: use wb.tune(join, left, right)"
            return None
        if self._of is not run:
            named = Labels(run.simulation, whole=False).setting
            self.text.value = "trying other watermark delays …"
            advice = [self._line(each, named) for each in advised(run.simulation)]
            tuning: Tuning | None = None
            try:
                tuning = tuned(run.simulation)
            except ArgumentError as error:  # nothing of this join can be tuned
                self._best = error.remedy
            else:
                self._best = _best(tuning, named)
            self._of, self._tuning = run, tuning
            self.advice.children = advice
        self.text.value = self._best
        show(self._views, self._tuning is not None)
        return None if self._tuning is None else self._tuning.charts.drawing(self.view)

    def of(self, run: Result) -> Tuning | None:
        """The tuning of a run, if there was one."""
        return self._tuning if self._of is run else None

    def _line(self, one: Advice, named: Callable[[Setting, str], str]) -> widgets.HBox:
        """An advice, with a button that takes it."""
        words = HTML(str(one))
        words.add_class("sjw-advice")
        if one.setting is None or one.value is None:
            return widgets.HBox([words])
        settings: dict[str, str] = {one.setting: one.value}
        take = widgets.Button(description="Take it", icon="check", tooltip=f"Set {named(one.setting, one.value)}.")
        take.layout = widgets.Layout(width="auto", flex="0 0 auto")
        take.on_click(lambda _: self._apply(settings))
        return widgets.HBox([words, take])

    def settings(self, place: int) -> dict[str, str]:
        """The settings of a row of the tuning's table."""
        if self._tuning is None:
            return {}
        row = self._tuning.table.iloc[place]
        return {str(name): str(row[name]) for name in self._tuning.settings}


def _best(tuning: Tuning, named: Callable[[Setting, str], str]) -> str:
    """What is recommended, the settings in the words of the page."""
    try:
        return html("<b>To keep 99.9 %</b>: {}", tuning.best(0.999).text(named))
    except WorkbenchError as error:
        return str(error)
