"""What the page shows of a run or preview: its figures, what changed since the last run, and the views."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import ipywidgets as widgets
from markupsafe import Markup

from workbench.app._code_box import cell, opening
from workbench.app._form import show
from workbench.app._kept_settings import Filter
from workbench.app._offline_view import summary
from workbench.app._picking import rows_of_filter
from workbench.app._results import ResultsPanel
from workbench.app._run_differences import changed
from workbench.app._run_records import RunRecord
from workbench.app._settings import describe
from workbench.app._snapshot import RunConfiguration
from workbench.app.band import Band, comparable, of_causes, of_fates
from workbench.app.html import HTML, html
from workbench.charts import Drawing
from workbench.literals import RowId
from workbench.runs.live import Live
from workbench.runs.result import Result
from workbench.runs.run import Run
from workbench.runs.summary import figures, with_units
from workbench.untyped import Record

_HOW_TO_BEGIN = html(
    "<h4>Three steps to the first picture</h4><ol>"
    "<li><b>Streams</b>: choose where the two come from. Key, time and, where there is one, arrival are columns; what "
    "is in the way is said beside them, with a button that mends it.</li>"
    "<li><b>Join</b>: choose its kind and its bounds or window.</li>"
    "<li>The preview is drawn here by itself. <b>Run on Spark</b> then runs it as a Structured Streaming query.</li>"
    "</ol><p>Nothing at hand? Choose one of the <b>examples</b> at the top of the settings.</p>"
)


class Shown:
    """A run or preview on show, and the configuration that it is of.

    Parameters
    ----------
    submit, panels, live_chart, apply
        As `ResultsPanel` takes them.

    Attributes
    ----------
    widget
        The panel.
    results
        The views.
    """

    def __init__(
        self,
        submit: Callable[[str, Callable[[], None]], None],
        panels: Mapping[str, widgets.Widget],
        live_chart: Callable[[Result], Drawing | str | None],
        apply: Callable[[Record], None],
    ) -> None:
        self._seen: tuple[RunConfiguration, Result] | None = None
        self._is_live = False
        self._again: Filter | None = None  # what is to be filtered by once there is something to show
        self._submit = submit
        self._band = Band(lambda chosen: self.results.filter_by(chosen))
        self.results = ResultsPanel(submit, self.cell, self.opening, panels, live_chart, apply)
        self.results.all_rows.on_click(lambda _: self.release())
        self._begin = HTML(_HOW_TO_BEGIN)
        self._begin.add_class("sjw-begin")
        self.say_how_to_begin(False)
        self.widget = widgets.VBox([self._begin, self._band, self.results.widget])
        self.widget.add_class("sjw-shown")

    @property
    def anything(self) -> bool:
        """Whether there has been something to show yet."""
        return self._seen is not None and bool(self._band.shown)

    def show(self, run: Result, configuration: RunConfiguration, last: RunRecord | None) -> None:
        """Show a run or preview: its views, what changed since another run, and last its figures."""
        before = last if last is not None and comparable(run, last.run) else None
        words = changed(describe(configuration), describe(before.configuration)) if before is not None else ""
        since = f"since run {before.number}: {words}" if before is not None else _other_rows(run, configuration, last)
        shown = of_fates(run, None if before is None else before.run, since)  # first: it may be too large
        self._seen, self._is_live = (configuration, run), False
        self.say_how_to_begin(False)
        self.results.show(run)  # the chart first: it takes the browser longest
        self._show_band(run, shown)  # last: the badge changes next to it
        if self._again is not None:
            self.pick_again(self.results.picked, self._again)

    def show_live(self, run: Result, live: Live | None) -> None:
        """Show what a live query has done so far, last its figures; it is of the configuration shown before."""
        if self._seen is None:
            return
        shown = of_fates(run)
        self._seen, self._is_live = (self._seen[0], run), True
        self.results.show(run, live)
        self._show_band(run, shown)

    def forget(self) -> None:
        """Show nothing any longer: what was shown is of settings that nobody asked for."""
        self._seen, self._is_live = None, False
        self._band.show({"sides": [], "figures": [], "since": ""})
        self.results.forget()

    @property
    def filter(self) -> Filter | None:
        """What the views are filtered by, or are to be, once there is something to show; None: nothing."""
        return self._again if self._again is not None else self.results.filter

    def release(self) -> None:
        """Filter by nothing any longer: rows are about to have other fates and causes."""
        self._band.chosen = {}

    def pick_again(self, rows: Sequence[RowId], chosen: Filter | None) -> None:
        """Filter by what a page kept, and pick rows, as far as what is shown has them, or what is shown first."""
        run = self.results.run
        self._again = chosen if run is None else None
        if run is not None and chosen is not None and rows_of_filter(run, chosen):
            self._band.chosen = chosen
        self.results.pick_again(rows)

    def _show_band(self, run: Result, shown: Record) -> None:
        self._band.show(shown)
        self._submit("causes", lambda: self._show_causes(run, shown))

    def _show_causes(self, run: Result, shown: Record) -> None:
        """Add the causes to the band, unless it shows another run by now."""
        if self._seen is not None and self._seen[1] is run and shown["sides"]:
            self._band.show(of_causes(run.simulation, shown))

    def say_how_to_begin(self, on: bool) -> None:
        """Say what to do where there is nothing to show yet, or no longer."""
        show(self._begin, on)

    def dim(self, stale: bool) -> None:
        """Dim what is shown, where it is of settings before."""
        (self.widget.add_class if stale else self.widget.remove_class)("sjw-stale")

    def cell(self) -> str:
        """The text of a cell that does what is shown."""
        return cell(self._seen[0]) if self._seen is not None else ""

    @property
    def run(self) -> Result | None:
        """The run or preview on show; None before there is one."""
        return None if self._seen is None else self._seen[1]

    def opening(self) -> str:
        """The lines of a cell that make what is shown, as ``run``; rows of a live query nothing makes again."""
        if self._is_live:
            return "from workbench.app import current\n\nrun = current().shown"
        return opening(self._seen[0], ran=isinstance(self._seen[1], Run)) if self._seen is not None else ""

    def summary(self, headline: str) -> Markup:
        """What is shown, for a saved notebook."""
        if self._seen is None:
            return summary(headline, {}, {})
        configuration, run = self._seen
        return summary(headline, describe(configuration), with_units(run, figures(run)))


def _other_rows(run: Result, configuration: RunConfiguration, last: RunRecord | None) -> str:
    """Why nothing is compared with the last run: its rows were generated with other settings; else empty."""
    if last is None or last.snapshot is None or type(run.join) is not type(last.run.join):
        return ""
    now, before = configuration.generated, last.configuration.generated
    if not now or not before or now == before:
        return ""
    return f"run {last.number} is of other rows: {changed(now, before)}"
