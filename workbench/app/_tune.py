"""Tuning in the page: what other settings would keep and cost, and taking one of them by a click."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import ipywidgets as widgets

from workbench import advice, sweep
from workbench.charts import Drawing
from workbench.errors import WorkbenchError
from workbench.results import Run

MOST_ROWS = 200_000
"""Rows of both sides up to which the page tunes by itself."""
_VIEWS = {
    "Kept against state": ("front", "Each point a setting: what it keeps, and the most rows it holds in state."),
    "Kept by delay": ("delays", "What a longer or shorter watermark delay of one side keeps."),
    "Wait by delay": ("waits", "How long rows without partner wait for the watermark."),
    "Both delays": ("heat", "The two delays against each other."),
    "Time differences": ("differences", "How far rows of one key are apart: what bounds could be chosen on."),
}


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
        self._of: Run | None = None
        self._tuning: sweep.Tuning | None = None
        self._views = widgets.ToggleButtons(
            options=list(_VIEWS), tooltips=[words for _, words in _VIEWS.values()], style={"button_width": "auto"}
        )
        self.words = widgets.HTML()
        self.words.add_class("sjw-tuned")
        self._views.observe(lambda _: changed(), "value")
        self.advice = widgets.VBox()
        self.widget = widgets.VBox([self.advice, self._views, self.words])

    @property
    def view(self) -> str:
        """The chart that is chosen."""
        return _VIEWS[self._views.value][0]

    def drawing(self, run: Run) -> Drawing | None:
        """The chosen chart of a run's tuning; None where there are too many rows."""
        rows = len(run.left) + len(run.right)
        if rows > MOST_ROWS:
            self.words.value = f"{rows:,} rows are too many to tune while you wait: use wb.tune(join, left, right)"
            return None
        if self._tuning is None or self._of is not run:
            self.words.value = "trying other watermark delays …"
            self._of, self._tuning = run, sweep.tune(run.join, run.left, run.right, policy=run.policy)
            found = advice.advise(run.join, run.left, run.right, run.policy)
            self.advice.children = [self._line(each) for each in found]
        self.words.value = _best(self._tuning)
        return self._tuning.charts.drawing(self.view)

    def _line(self, one: advice.Advice) -> widgets.HBox:
        """An advice, with a button that takes it."""
        words = widgets.HTML(escape(str(one)))
        words.add_class("sjw-advice")
        if one.setting is None or one.value is None:
            return widgets.HBox([words])
        settings = {one.setting: one.value}
        take = widgets.Button(description="Take it", icon="check", tooltip=f"Set {one.setting} to {one.value}.")
        take.layout = widgets.Layout(width="auto", flex="0 0 auto")
        take.on_click(lambda _: self._apply(settings))
        return widgets.HBox([words, take])

    def settings(self, place: int) -> dict[str, str]:
        """The settings of a row of the tuning's table."""
        if self._tuning is None:
            return {}
        row = self._tuning.table.iloc[place]
        return {name: str(row[name]) for name in self._tuning.settings}


def _best(tuning: sweep.Tuning) -> str:
    try:
        return f"<b>To keep 99.9 %</b>: {escape(repr(tuning.best(0.999)))}"
    except WorkbenchError as error:
        return escape(str(error))
