"""The page: settings on the left, what they do on the right."""

from __future__ import annotations

import threading
from typing import Any

import ipywidgets as widgets

from workbench import process
from workbench.app._browser import Browser, framed
from workbench.app._code_box import highlight_style
from workbench.app._drawer import Drawer
from workbench.app._examples import Example, example_buttons
from workbench.app._head import Head
from workbench.app._kept_settings import Kept, KeptRun
from workbench.app._live import LivePanel
from workbench.app._live_runs import LiveRuns
from workbench.app._offline_view import SavedPage
from workbench.app._page_state import PageState
from workbench.app._previews import Previews
from workbench.app._reports import Reports
from workbench.app._run_records import Entry, RunRecord
from workbench.app._runs import RunActions, RunsPanel
from workbench.app._settings import SettingsPanel
from workbench.app._shown_run import Shown
from workbench.app._spark_runs import SparkRuns
from workbench.app._undo import History, HistoryButtons
from workbench.app._uploads import as_uploads
from workbench.app._variables import named
from workbench.app.closing import close
from workbench.app.html import html
from workbench.app.worker import CoalescingWorker
from workbench.errors import WorkbenchError
from workbench.jobs import Job
from workbench.runs.result import Result
from workbench.runs.run import Run
from workbench.spark_io.storage import check_folder
from workbench.untyped import Change, Namespace, Record

_NO_WIDGETS = (
    "The page is made of ipywidgets, which this front end does not show: open it in JupyterLab, Notebook or VS Code; "
    "here wb.preview and wb.run give the same charts, tables and stories."
)
_GONE = 2.0  # seconds without the page after which what it runs is stopped


class App:
    """The workbench as a page in a notebook.

    Parameters
    ----------
    *streams
        Two Streams or DataFrames, or a `Job`, or the names they have in `namespace`; none: a scenario is chosen in the
        page.
    namespace
        The notebook's variables, of which the page offers the Streams and DataFrames.
    cell
        The notebook's cell that shows it, where that is known.
    folder
        Where runs on Spark keep their files, as `workbench.run` takes it; live queries write on this machine.

    Attributes
    ----------
    widget
        The page.
    number
        Which page of the notebook it is, in the order in which they were opened.
    cell
        The notebook's cell that shows it, where that is known.
    """

    def __init__(
        self,
        *streams: Any,
        namespace: Namespace | None = None,
        cell: str | None = None,
        folder: str | None = None,
    ) -> None:
        self.number: int = 1 + max((each.number for each in _pages()), default=0)
        self.cell = cell
        space, names = named(streams, {} if namespace is None else namespace)
        self._page = self._panels(space, names, check_folder(folder))
        self._previews = Previews(self._page)
        self._spark_runs = SparkRuns(self._page, self._previews.changed, space)
        self._live_runs = LiveRuns(self._page, self._spark_runs.begin, self._spark_runs.stopping, space)
        self._connect_buttons()
        self.widget = self._arranged()
        self._streams = names
        self._saved = SavedPage(self.widget, self._page.shown.results, self._summary, self.kept)
        self._previews.changed()
        process.pages.append(self)

    def _panels(self, space: Record, names: tuple[str, ...], folder: str | None) -> PageState:
        """The panels; what they call is there before a user can see them."""
        worker = CoalescingWorker(lambda kind, error: self._page.head.job_ended(kind, error))
        live = LivePanel(
            worker,
            lambda run: self._live_runs.show(run),
            lambda error: self._live_runs.ended(error),
            lambda: self._live_runs.overdue(),
        )
        runs = RunsPanel(
            RunActions(
                lambda record: self._spark_runs.back_to(record),
                lambda run: self._set_to(run),
                worker.submit,
                lambda: [Entry(each, f"page {page.number}") for page in self._others() for each in page.runs],
                self._tell_others,
            )
        )
        settings = SettingsPanel(space, names, lambda: self._previews.changed(), folder)
        has_job = any(isinstance(space.get(name), Job) for name in names)
        examples = [] if has_job else [example_buttons(self._show_example)]
        self._browser = Browser()
        self._drawer = Drawer(widgets.VBox([*examples, settings.widget]), self._browser)
        undo = HistoryButtons(lambda by: self._previews.travel(by))
        return PageState(
            worker,
            Head([self._drawer.button, *undo.buttons], live.buttons),
            settings,
            Shown(
                worker.submit,
                {"runs": runs.widget, "panels": widgets.VBox([each.widget for each in live.panels])},
                live.drawing,
                lambda settings: self._previews.apply(settings),
            ),
            live,
            runs,
            undo,
            lambda: self._saved.changed(),
        )

    def _connect_buttons(self) -> None:
        head, live = self._page.head, self._page.live
        head.run.on_click(lambda _: self.start())
        head.stop.on_click(lambda _: self.stop())
        head.anyway.on_click(lambda _: self._previews.anyway())
        head.report.on_click(lambda _: Reports(self._page).write())
        head.record.on_click(lambda _: self.keep_recording())
        live.go.on_click(lambda _: self.go_live())
        self._browser.observe(lambda change: self._take_dropped(change["new"]), "dropped")
        head.trouble.observe(lambda change: self._drawer.open() if change["new"] else None, "value")

    def _take_dropped(self, dropped: Record) -> None:
        """Take files that were dropped on the page as its streams."""
        if not dropped or self._page.busy:
            return
        self._browser.dropped = {}
        try:
            files = as_uploads(dropped["files"])
            self._page.settings.upload(files, dropped["place"])
        except WorkbenchError as error:
            self._page.head.note.value = str(error)

    def _arranged(self) -> widgets.VBox:
        page = self._page
        right = widgets.VBox([page.head.trouble, page.live.note, page.head.note, page.shown.widget])
        right.add_class("sjw-right")
        columns = self._drawer.widget, right
        whole = framed(*columns, top=[page.head.widget], style=highlight_style(), browser=self._browser)
        page.shown.results.chart.observe(self._looked_at, "views")
        self._browser.observe(lambda change: self._key(change["new"].get("key", "")), "pressed")
        return whole

    def _show_example(self, example: Example) -> None:
        """Set the page to an example, and say what is to be seen there."""
        page = self._page
        if not page.busy:
            page.shown.results.choice.open(example.tab)
            page.settings.begin_with(example.settings)
            self._previews.guide(example)

    def _key(self, key: str) -> None:
        """Do what a key of the page's own is for."""
        results = self._page.shown.results
        if key == "f":
            results.details.fix()
        else:
            results.step(1 if key == "n" else -1)

    def _repr_html_(self) -> str:
        """What is shown by front ends that do not ask for the page, such as marimo: why it is not there."""
        return html("<p>{}</p>", _NO_WIDGETS)

    def _ipython_display_(self) -> None:
        self._saved.display()

    def display_in_tab(self) -> None:
        """Show the page in a tab of JupyterLab's main area, beside the notebook; in the cell where there are none."""
        self._saved.display_in_tab("Workbench" if self.number == 1 else f"Workbench {self.number}")

    def _summary(self) -> Any:
        """What the page shows, for a saved notebook."""
        return self._page.shown.summary(self._page.head.summary())

    @property
    def run(self) -> Run | None:
        """The last run, None before the first."""
        return self._page.run

    @property
    def shown(self) -> Result | None:
        """The run or preview that the views show; of a live query, what it had done by then."""
        return self._page.shown.run

    @property
    def runs(self) -> list[RunRecord]:
        """The past runs of this page, the last of them first."""
        return self._page.runs.records[::-1]

    def _others(self) -> list[App]:
        """The notebook's other pages."""
        return [each for each in _pages() if each is not self]

    def _tell_others(self) -> None:
        """Have the other pages list the runs of this one as they are now."""
        for each in self._others():
            each._page.worker.submit("runs", each._page.runs.refresh)

    def kept(self) -> Kept:
        """What the page is set to, as its notebook keeps it."""
        page, results = self._page, self._page.shown.results
        settings = {} if page.wanted is None else page.wanted.values
        view, picked = results.choice.tab.name, tuple(results.picked)
        repairs_of = page.settings.repairs_of
        runs, chosen = page.runs.kept(repairs_of), page.shown.filter
        return Kept(self._streams, settings, view, picked, repairs_of(settings), runs, chosen, results.tune.asked)

    def come_back(self, kept: Kept | None) -> None:
        """Set the page to what it was, if it was opened with the same streams."""
        if kept is None or kept.streams != self._streams:
            return
        page, results = self._page, self._page.shown.results
        results.choice.open(kept.view)
        results.tune.ask(kept.tune)
        page.runs.come_back(kept.runs)
        page.opening = page.wanted
        self._set_to(kept)
        if page.wanted is page.opening:
            page.opening = None  # the page keeps what it was opened with
        else:
            with page.lock:
                page.history = History()  # nobody asked for what the page was opened with: nothing leads back to it
        page.worker.submit("picking", lambda: page.shown.pick_again(kept.picked, kept.filter))

    def _set_to(self, kept: Kept | KeptRun) -> None:
        """Set the inputs to what a notebook keeps, and do the repairs of rows again."""
        page = self._page
        if page.busy:
            return
        undone = {} if page.wanted is None else dict.fromkeys(page.settings.repairs_of(page.wanted.values), ())
        page.settings.come_back(undone | dict(kept.settings))
        if kept.repairs:
            page.worker.submit_always(lambda: page.settings.repair_again(kept.repairs))

    def take_place_of(self, other: App) -> None:
        """Close another page, and go on with its past runs: its cell was run again."""
        past = other._page.runs.records
        self._saved.take_tab(other._saved)
        other.close()
        self._page.runs.take_over(past)
        self._tell_others()

    @property
    def busy(self) -> bool:
        """Whether a run or a live query is under way."""
        return self._page.busy

    def start(self) -> None:
        """Run the join as it is set, in a thread of its own; the notebook stays free."""
        self._spark_runs.start()

    def stop(self) -> None:
        """Stop the run or the live query that is under way."""
        self._spark_runs.stopping.set()
        self._page.live.stop()

    def go_live(self) -> None:
        """Let the generators write while the query runs."""
        self._live_runs.start()

    def keep_recording(self) -> None:
        """Make the live query's rows variables of the notebook, and set the page to them."""
        self._live_runs.keep_recording()

    def _looked_at(self, change: Change) -> None:
        """Stop what runs when the page is taken away: its cell was deleted, or its output cleared."""
        if change["new"] > 0 or not self.busy:
            return

        def stop() -> None:
            if self._page.shown.results.chart.views <= 0:
                self.stop()

        timer = threading.Timer(_GONE, stop)
        timer.daemon = True
        timer.start()

    def wait(self, timeout: float | None = None) -> None:
        """Wait until the run under way has ended, and all is drawn.

        Raises
        ------
        TimeoutError
            If it takes longer than so many seconds, each; without a timeout, than a minute for the drawing.
        """
        self._spark_runs.wait(timeout)
        if not self._page.worker.wait_until_idle(60 if timeout is None else timeout):
            raise TimeoutError("the page is still at work")

    def close(self) -> None:
        """Stop what runs and take the page away."""
        if self in process.pages:
            process.pages.remove(self)
        self._spark_runs.stopping.set()
        self._spark_runs.wait(15)
        self._page.live.close()
        self._page.worker.close()
        self._saved.close()
        close(self.widget)
        self._tell_others()


def _pages() -> list[App]:
    """The pages that are open."""
    return [each for each in process.pages if isinstance(each, App)]


def current() -> App | None:
    """The page that was opened last and is still open."""
    return next(iter(_pages()[::-1]), None)
