"""Tuning in the page: what other settings would keep and cost, and taking one of them by a click."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import ipywidgets as widgets

from workbench import sweep
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

    Attributes
    ----------
    widget
        The panel.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self._of: Run | None = None
        self._tuning: sweep.Tuning | None = None
        self._views = widgets.ToggleButtons(
            options=list(_VIEWS), tooltips=[words for _, words in _VIEWS.values()], style={"button_width": "auto"}
        )
        self.words = widgets.HTML()
        self.words.add_class("sjw-tuned")
        self._views.observe(lambda _: changed(), "value")
        self.widget = widgets.VBox([self._views, self.words])

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
        self.words.value = _advice(self._tuning)
        return self._tuning.charts.drawing(self.view)

    def settings(self, place: int) -> dict[str, str]:
        """The settings of a row of the tuning's table."""
        if self._tuning is None:
            return {}
        row = self._tuning.table.iloc[place]
        return {name: str(row[name]) for name in self._tuning.settings}


def _advice(tuning: sweep.Tuning) -> str:
    try:
        return f"<b>To keep 99.9 %</b>: {escape(repr(tuning.best(0.999)))}"
    except WorkbenchError as error:
        return escape(str(error))
