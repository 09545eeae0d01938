"""Live queries that a page starts, shows, and keeps as a recording."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

from workbench.app._page_state import PageState
from workbench.app._snapshot import RunConfiguration, Snapshot
from workbench.app._spark_runs import Work
from workbench.app._variables import free_name
from workbench.app.sources import WrongSettingsError, sources
from workbench.runs.run import Run
from workbench.untyped import Namespace


class LiveRuns:
    """The live query of a page.

    Parameters
    ----------
    page
        The page.
    begin
        Does long work in a thread of its own.
    stopping
        Set while what runs is to stop.
    namespace
        The notebook's variables.
    """

    def __init__(
        self, page: PageState, begin: Callable[[Work], None], stopping: threading.Event, namespace: Namespace
    ) -> None:
        self._page, self._begin_work, self._stopping, self._namespace = page, begin, stopping, namespace
        self._configuration: RunConfiguration | None = None

    def start(self) -> None:
        """Let the generators write while the query runs."""
        page = self._page
        if page.busy or page.live.go.disabled:
            return
        page.head.offer_recording(False)
        page.shown.results.choice.offer_live()
        self._begin_work(self._begin)

    def _begin(self, configuration: RunConfiguration, snapshot: Snapshot) -> None:
        page = self._page
        source = sources()[snapshot.values["source"]]
        feed = source.live
        if feed is None:
            words = "these streams do not go live; choose a scenario"
            raise WrongSettingsError(f"source: {words}", {"source": words})
        self._configuration = configuration
        page.live.start(configuration, feed.start(snapshot.values), snapshot.values.get(source.trigger, ""))
        page.settings.enable_live()
        page.head.show_progress(False)
        page.head.say_live(page.live.summary())
        if self._stopping.is_set():
            page.live.stop()

    def overdue(self) -> None:
        """Say for how long the micro-batch under way has been running; in the thread that draws."""
        self._page.head.say_live(self._page.live.summary())

    def show(self, run: Run) -> None:
        """Show what the query has done so far; in the thread that draws."""
        page = self._page
        page.shown.show_live(run, page.live.live)
        page.head.say_live(page.live.summary())
        page.live.warn()

    def ended(self, error: Exception | None) -> None:
        """The query has ended: what it did stays on the page."""
        page = self._page

        def finish() -> None:
            page.occupy(False)
            live = page.live.live
            if live is not None and live.done:
                run = live.run()
                self._list(run)
                self.show(run)
                page.head.offer_recording(True)
            page.head.say("stopped" if error is None else "failed", "live, stopped" if error is None else "failed")
            page.save()
            if error is not None:
                page.head.fail(error)

        page.worker.submit_always(finish)

    def _list(self, run: Run) -> None:
        """List what the query did among the runs; its rows are none that a setting of the page makes again."""
        if self._configuration is not None:
            of = replace(self._configuration, left=run.left, right=run.right, finish=run.finish)
            self._page.live.listed(self._page.runs.add(run, of, None, "live").number, run)

    def keep_recording(self) -> None:
        """Make the query's rows variables of the notebook, and set the page to them."""
        page = self._page
        live = page.live.live
        if live is None or page.busy:
            return
        names = []
        for stream in live.recording():
            name = free_name(f"live_{stream.name}", self._namespace)
            self._namespace[name] = stream
            names.append(name)
        page.head.offer_recording(False)
        page.settings.take(*names)
