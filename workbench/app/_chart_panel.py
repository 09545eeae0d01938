"""The chart of the open view, the stretch of its axis that it shows, and the scrubber below it."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as widgets
import pandas as pd

from workbench.app._form import show
from workbench.app._tabs import Tab
from workbench.app.chart import ChartBox
from workbench.app.html import HTML
from workbench.app.scrubber import Scrubber
from workbench.charts import AXES, WHOLE, Axis, Cut, Drawing
from workbench.errors import ArgumentError, TooLargeError
from workbench.runs.result import Result
from workbench.streams import SIDES
from workbench.untyped import Record

_LIVE_SPAN = 90_000_000
"""Microseconds of event time that the charts of a live query show, up to the newest row."""
_HINT = "drag over a stretch to look at it"


class ChartPanel:
    """A chart, of whichever view.

    Parameters
    ----------
    moved
        Called when another micro-batch is chosen.
    zoomed
        Called when another stretch, or another axis, is chosen.
    own
        Gives the charts of the page's own tabs, by the tab's name; None where there is none yet, words where there is
        none of this run.

    Attributes
    ----------
    widget
        The panel.
    chart
        The chart.
    scrubber
        The choice of a micro-batch.
    cut
        The stretch that is shown.
    """

    def __init__(
        self,
        moved: Callable[[], None],
        zoomed: Callable[[], None],
        own: dict[str, Callable[[Result], Drawing | str | None]],
    ) -> None:
        self._zoomed, self._own = zoomed, own
        self.chart, self.scrubber = ChartBox(), Scrubber(moved)
        self.cut = WHOLE
        self._shown = WHOLE.axis  # the axis of the chart that is shown
        self._axis = widgets.Dropdown(options=AXES, description="Along", layout=widgets.Layout(width="auto"))
        self._axis.tooltip = "The horizontal axis: event time, time of arrival, or micro-batches."
        self._axis.style.description_width = "auto"
        own = widgets.Layout(width="auto", flex="0 0 auto")
        self._whole = widgets.Button(
            description="Show all", icon="search-minus", tooltip="Show the whole axis.", layout=own
        )
        self._stretch = HTML()
        self._stretch.add_class("sjw-stretch-text")
        self._bar = widgets.HBox([self._axis, self._stretch, self._whole])
        self._bar.add_class("sjw-axis")
        self.widget = widgets.VBox([self._bar, self.chart, self.scrubber.widget])
        self.widget.add_class("sjw-chart-panel")
        self._whole.on_click(lambda _: self._zoom(Cut(axis=self.cut.axis)))
        self._axis.observe(lambda _: self._turn(), "value")
        self.chart.observe(lambda change: self._brushed(change["new"]), "brushed")
        show(self._bar, False)

    @property
    def is_shown(self) -> bool:
        """Whether the view has a chart, and there is one to show."""
        return self.widget.layout.display is None

    def show_all(self) -> None:
        """Go back to all of the axis, without a call of `zoomed`: other rows are to be shown."""
        self.cut = Cut(axis=Axis(self._axis.value))

    def follow(self, run: Result) -> None:
        """Show the newest rows of a live query."""
        known = [run.side(side).event_times for side in SIDES if len(run.side(side))]
        newest = max((int(each.max()) for each in known), default=0)
        first = min((int(each.min()) for each in known), default=0)
        self.cut = Cut(max(first, newest - _LIVE_SPAN), newest)

    def offer(self, run: Result) -> None:
        """Offer the axes that a run has."""
        known = run.charts.axes
        if tuple(self._axis.options) != known:
            with self._axis.hold_trait_notifications():
                before = self._axis.value
                self._axis.options = known
                self._axis.value = before if before in known else known[0]

    def fill(self, run: Result, tab: Tab, params: Record) -> str:
        """Show the chart of a view; gives what is to be said of it, or why there is none."""
        drawing, remark = self._drawing(run, tab)
        show(self.widget, drawing is not None)
        self._shown = self.cut.axis if tab.view is not None and tab.view.of_axes else WHOLE.axis
        stretches = tab.of_rows
        show(self._bar, stretches)
        show(self._axis, tab.view is not None and tab.view.of_axes)
        show(self._whole, not self.cut.whole)
        self._stretch.value = self._words(drawing) if drawing is not None and stretches else ""
        if drawing is None:
            return remark
        self.chart.show(drawing, **params)
        return ""

    def _words(self, drawing: Drawing) -> str:
        """The stretch that is shown, in words."""
        hint = _HINT if drawing.along else ""
        if drawing.aggregated:
            hint = "too many rows to draw one by one: drag over a shorter stretch to see single rows"
        if self.cut.whole:
            return hint
        axis = self.cut.axis
        low, high = (axis.words(axis.shown(each)) for each in (self.cut.low, self.cut.high))
        words = f"from {low} to {high}" if axis.of_times else f"micro-batches {low} to {int(float(high)) - 1}"
        return f"{words} · {hint}" if drawing.aggregated else words

    def _drawing(self, run: Result, tab: Tab) -> tuple[Drawing | None, str]:
        if tab.view is None:
            found = self._own[tab.name](run)
            return (None, found) if isinstance(found, str) else (found, tab.nothing)
        asked: Record = {"batch": self.scrubber.batch}
        if tab.view.of_axes:
            asked |= {"between": self.cut.between, "axis": self.cut.axis.name}
        elif tab.view.of_rows and self.cut.axis == WHOLE.axis:
            asked["between"] = self.cut.between
        try:
            return run.charts.drawing(tab.view.name, **asked), ""
        except TooLargeError as error:
            return None, str(error)
        except ArgumentError as error:
            return None, error.remedy

    def _brushed(self, stretch: list[float]) -> None:
        axis = self._shown
        if not stretch:
            self._zoom(Cut(axis=axis))
        elif axis.of_times:
            self._zoom(Cut.of([pd.Timestamp(axis.place(each), unit="us") for each in stretch], axis))
        else:
            self._zoom(Cut.of(stretch, axis))

    def _zoom(self, cut: Cut) -> None:
        """Show a stretch."""
        self.cut = cut
        self._axis.value = cut.axis.name
        if cut.whole:
            self.chart.brushed = []
        self._zoomed()

    def _turn(self) -> None:
        """Show all of another axis."""
        if self._axis.value != self.cut.axis.name:
            self._zoom(Cut(axis=Axis(self._axis.value)))
