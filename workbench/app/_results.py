"""The right panel: what a run, or a preview of one, gave. One chart and one table serve all views."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import ipywidgets as widgets
from markupsafe import Markup

from workbench.app._chart_panel import ChartPanel
from workbench.app._details import DetailsPanel
from workbench.app._flink import FlinkPanel
from workbench.app._form import show
from workbench.app._kept_settings import Filter
from workbench.app._lifetimes import LifetimesPanel
from workbench.app._picking import (
    params,
    rows_not_matched,
    rows_of_filter,
    rows_of_mark,
    same_rows,
    window_of_mark,
)
from workbench.app._script_tab import TextsPanel
from workbench.app._state_of_key import KeySteps
from workbench.app._table import TablePanel
from workbench.app._tabs import Tab, TabChoice
from workbench.app._tune import TunePanel
from workbench.app.html import HTML
from workbench.charts import Drawing
from workbench.errors import TooLargeError
from workbench.literals import RowId
from workbench.runs.live import Live
from workbench.runs.result import Result
from workbench.untyped import Record


class ResultsPanel:
    """Views of a run with linked selection and a scrubber over its micro-batches.

    Parameters
    ----------
    submit
        Does a job of a kind in the thread that draws, as `CoalescingWorker.submit` does.
    cell, opening
        Give the text of the cell that does what the page does, and the lines of one that make what is shown, as
        ``run``.
    panels
        ``runs``, which the view of that name shows, and ``panels``, which stand below the chart while a query is live.
    live_chart
        Gives the chart of the live query where it is what is shown; else which run it was, or None before the first.
    apply
        Called with settings and their values that are to be applied: a row's fix, or a setting of a tuning.

    Attributes
    ----------
    widget
        The panel.
    choice
        The choice of the view.
    chart
        The chart, of whichever view.
    details
        What is picked, in detail; it stands below the chart.
    run
        What is shown; None before there is something to show.
    tune
        The tuning.
    all_rows
        The button, beside the table, that ends what is filtered by.
    """

    def __init__(
        self,
        submit: Callable[[str, Callable[[], None]], None],
        cell: Callable[[], str],
        opening: Callable[[], str],
        panels: Mapping[str, widgets.Widget],
        live_chart: Callable[[Result], Drawing | str | None],
        apply: Callable[[Record], None],
    ) -> None:
        self._submit, self._apply = partial(submit, "drawing"), apply
        self._submit_table = partial(submit, "table")
        self.run: Result | None = None
        self._live: Live | None = None
        self._filter: Filter | None = None
        self._picked: list[RowId] = []
        self._by_filter = False  # whether the filter picked them, not the user
        self._again: tuple[RowId, ...] = ()  # rows that are to be picked once there is something to show
        self._window: Markup | None = None
        self._drawn: Any = None
        self._filled: Any = None
        self.choice = TabChoice(self._draw_soon)
        self._remark = HTML()
        self._remark.add_class("sjw-remark")
        self._tune = self.tune = TunePanel(self._draw_soon, apply)
        self._flink = FlinkPanel(self._draw_soon, apply, self._pick)
        own: dict[str, Callable[[Result], Drawing | str | None]] = {
            "Flink": lambda run: self._flink.drawing(run, self._chart.cut),
            "Tune": self._tune.drawing,
            "Throughput": live_chart,
        }
        self._chart = ChartPanel(self._draw_soon, self._zoomed, own)
        self.chart, self._scrubber = self._chart.chart, self._chart.scrubber
        self.details = DetailsPanel(self._mend, self._pick, submit)
        self._table = TablePanel(self._pick, self._draw_soon, opening)
        self.all_rows = self._table.all_rows
        self._texts = TextsPanel(cell, lambda: self._picked[0] if len(self._picked) == 1 else None, self._draw_soon)
        self._steps = KeySteps(self._pick)
        self._lifetimes = LifetimesPanel(submit)
        self._parts = {
            "tune": self._tune.widget,
            "flink": self._flink.rules,
            "chart": self._chart.widget,
            "stories": self._flink.stories,
            "advice": self._tune.advice,
            "table": self._table.widget,
            "steps": self._steps.widget,
            "lifetimes": self._lifetimes.widget,
            "code": self._texts.widget,
            "runs": panels["runs"],
        }
        parts = [*self._parts.values()]
        below = 1 + parts.index(self._chart.widget)
        parts[below:below] = [panels["panels"], self.details.widget]
        self.widget = widgets.VBox([self.choice.widget, self._remark, *parts])
        self.widget.add_class("sjw-views")
        self.chart.observe(lambda change: self._clicked(change["new"]), "clicked")
        show(self.widget, False)  # until there is something to show
        self._arrange()

    @property
    def chart_is_open(self) -> bool:
        """Whether the chosen view has a chart that is shown."""
        return "chart" in self._tab.parts and self._chart.is_shown

    def show(self, run: Result, live: Live | None = None) -> None:
        """Show a run, a preview of one, or what a live query has done so far; from the thread that draws."""
        before, before_live = self.run, self._live
        self.run, self._live = run, live
        same_live = live is not None and live is before_live
        if before is None or not (same_live or same_rows(before, run)):
            self._picked, self._window, self._by_filter = [], None, self._filter is not None
            self._chart.show_all()
        if self._again:
            self._picked, self._by_filter, self._again = _there(run, self._again), False, ()
        if self._filter is not None and self._by_filter:
            self._picked, self._window = rows_of_filter(run, self._filter), None
        if live is not None and live.active:
            self._chart.follow(run)
        elif before_live is not None:
            self._chart.show_all()
        self._chart.offer(run)
        self.choice.fit(run)
        self._scrubber.fit(run)
        self._drawn = self._filled = None
        self._draw()

    def forget(self) -> None:
        """Show nothing any longer."""
        self.run = self._live = self._drawn = self._filled = None
        self._picked, self._window, self._by_filter = [], None, False
        show(self.widget, False)

    @property
    def _tab(self) -> Tab:
        return self.choice.tab

    def _draw_soon(self) -> None:
        if self.run is not None and not self._chart_moved():
            self._submit(self._draw)

    def _chart_moved(self) -> bool:
        """Move the chart that is shown to another moment at once; whether that is all there is to do."""
        drawing, tab = self.chart.shown, self._tab
        if drawing is None or drawing.aggregated or "chart" not in tab.parts or self._drawn != self._wanted(tab):
            return False
        self.chart.params = self._params()
        if {*tab.parts} != {"chart"}:
            return False
        self._submit(self._describe)
        return True

    def _params(self) -> Record:
        return params(self.run, self._picked, self._scrubber.moment)

    def _wanted(self, tab: Tab) -> Any:
        """What a drawing depends on, but the moment and what is picked, which it takes as parameters."""
        return id(self.run), tab.name, self._chart.cut, self._texts.chosen, self._tune.view, self._flink.asked

    def _listed(self) -> Any:
        """What the table depends on, but what is picked."""
        return id(self.run), self._tab.name, self._chart.cut, self._scrubber.moment, self._table.asked

    def _arrange(self) -> Tab:
        """Show the parts of the chosen view, and no others."""
        tab = self._tab
        for name, part in self._parts.items():
            show(part, name in tab.parts)
        show(self._scrubber.widget, tab.of_time)
        return tab

    def _draw(self) -> None:
        run = self.run
        if run is None:
            return
        tab = self._arrange()
        show(self.widget, True)
        wanted = self._wanted(tab)
        aggregated = self.chart.shown is not None and self.chart.shown.aggregated
        if self._drawn != wanted or aggregated:
            self._drawn = None
            self._remark.value = ""
            if "chart" in tab.parts:
                self._remark.value = self._chart.fill(run, tab, self._params())
            if "code" in tab.parts:
                self._texts.show(run)
            if "steps" in tab.parts:
                self._steps.show(run, self.chart.shown)
            if "lifetimes" in tab.parts:
                self._lifetimes.show(run)
            self._drawn = wanted
        else:
            self.chart.params = self._params()
        if "table" in tab.parts:
            self._submit_table(self._fill_table)  # after whatever else is to be drawn: a chart is not to wait for it
        self._describe()

    def _fill_table(self) -> None:
        run, tab, listed = self.run, self._tab, self._listed()
        if run is None or "table" not in tab.parts or self._filled == listed:
            return
        self._filled = None
        try:
            self._table.fill(run, tab.view, self._scrubber.batch, self._picked, self._chart.cut)
        except TooLargeError as error:  # only Spark can do it
            self._table.refuse(str(error))
        self._filled = listed

    def _describe(self) -> None:
        """Describe the moment, and what is picked."""
        run, tab = self.run, self._tab
        if run is None:
            return
        self._scrubber.describe(run)
        batch = self._scrubber.batch if tab.of_time else None
        show(self.details.widget, (bool(self._picked) or batch is not None) and not tab.mute)
        if "table" in tab.parts:
            self._table.mark(self._picked)
        if "stories" in tab.parts:
            self._flink.explain(self._picked)
        self.details.explain(run, self._picked, self._window, batch)
        self.chart.params = {**self.chart.params, **self.details.nearest}

    def _clicked(self, clicked: Record) -> None:
        if clicked.get("place") is not None:
            self._apply(self._tune.settings(clicked["place"]))
        elif clicked.get("of_key") is not None:
            self._steps.choose(clicked["of_key"])
        else:
            self._pick(rows_of_mark(clicked, self.chart.shown), window_of_mark(clicked, self.chart.shown))

    def _pick(self, rows: list[RowId], window: Markup | None = None, *, by_filter: bool = False) -> None:
        """Pick rows in all views; those of a window with what is to be said of it."""
        self._picked, self._window, self._by_filter, self._again = rows, window, by_filter, ()
        self.chart.params = self._params()
        self._submit(self._draw)

    def _mend(self, settings: Record) -> None:
        """Apply the fix of the row that is picked, which stays picked, also where the filter has picked it."""
        self._by_filter = False
        self._apply(settings)

    def step(self, by: int) -> None:
        """Pick the next of the rows that were not matched, or of those that are filtered by; -1: the one before."""
        run = self.run
        if run is None:
            return
        rows = rows_not_matched(run) if self._filter is None else rows_of_filter(run, self._filter)
        if rows:
            picked = self._picked[0] if len(self._picked) == 1 else None
            at = rows.index(picked) if picked in rows else -1 if by > 0 else 0  # from no row to the first, or the last
            self._pick([rows[(at + by) % len(rows)]])

    @property
    def picked(self) -> list[RowId]:
        """The rows that are picked, but for those that the filter picks; or that are to be, once they are shown."""
        return [*self._again] if self._again else [] if self._by_filter else self._picked

    @property
    def filter(self) -> Filter | None:
        """What the views are filtered by; None: nothing."""
        return self._filter

    def pick_again(self, rows: Sequence[RowId]) -> None:
        """Pick rows as far as what is shown has them, or what is shown first."""
        if self.run is None:
            self._again = tuple(rows)
        elif rows:
            self._pick(_there(self.run, rows))

    def filter_by(self, chosen: Filter | None) -> None:
        """Show only rows of a side, a fate and a cause in the table, and pick them in the chart; None: all again.

        A row that the user picked while there was a filter stays picked without it.
        """
        self._filter = chosen
        self._table.filter_by(chosen)
        if self.run is not None:
            kept = [] if self._by_filter else self._picked
            self._pick(kept if chosen is None else rows_of_filter(self.run, chosen), by_filter=chosen is not None)

    def _zoomed(self) -> None:
        if self.run is not None:
            self._submit(self._draw)


def _there(run: Result, rows: Sequence[RowId]) -> list[RowId]:
    """Those of some rows that a run has."""
    return [each for each in rows if 0 <= each.row < len(run.side(each.side))]
