"""Runs on Spark, in a thread of their own; the notebook stays free."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from workbench.app._head import Badge
from workbench.app._jobs import as_it_ran, remarks
from workbench.app._page_state import PageState
from workbench.app._past_settings import PastSettings
from workbench.app._run_records import RunRecord
from workbench.app._snapshot import RunConfiguration, Snapshot
from workbench.app.sources import WrongSettingsError
from workbench.jobs import Job
from workbench.runs import running
from workbench.runs.run import Run
from workbench.untyped import Namespace

Work = Callable[[RunConfiguration, Snapshot], None]
"""What takes long, for what a page is set to."""
_VERIFIED = "Rows out, late rows, watermarks and state are on Spark what the model expects."


class SparkRuns:
    """Runs that a page starts, keeps and goes back to.

    Parameters
    ----------
    page
        The page.
    changed
        Called where the fields hold something else than what was run.
    namespace
        The notebook's variables.

    Attributes
    ----------
    stopping
        Set while what runs is to stop.
    """

    def __init__(self, page: PageState, changed: Callable[[], None], namespace: Namespace) -> None:
        self._page, self._changed = page, changed
        self._past = PastSettings(page, namespace)
        self.stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Run the join as it is set."""
        if not self._page.busy and not self._page.head.run.disabled:
            self.begin(self._work)

    def begin(self, work: Work) -> None:
        """Do long work on what the page is set to."""
        page = self._page
        snapshot = page.take()
        self.stopping.clear()
        page.occupy(True)
        page.head.say("busy", "starting Spark …")
        self._thread = threading.Thread(
            target=self._guarded, args=(work, snapshot), name="stream-join-workbench", daemon=True
        )
        self._thread.start()

    def _guarded(self, work: Work, snapshot: Snapshot) -> None:
        """Do it, and leave the page usable whatever comes."""
        page = self._page
        try:
            page.worker.wait_until_idle()
            work(page.settings.configuration(snapshot), snapshot)
        except WrongSettingsError as error:
            page.refuse(snapshot, error)
        except Exception as error:  # noqa: BLE001 - nothing may leave the page without a way back
            stopped = self.stopping.is_set()
            page.head.say("stopped" if stopped else "failed", "stopped" if stopped else "failed")
            if not stopped:
                page.head.fail(error)
        finally:
            if not page.live.active:
                page.occupy(False)
                if not snapshot.same(page.wanted):  # a change that was on its way when the fields were closed
                    self._changed()

    def _work(self, configuration: RunConfiguration, snapshot: Snapshot) -> None:
        begun = time.monotonic()
        run = running.run(
            **configuration.arguments,
            folder=configuration.folder,
            progress=self._page.head.progress,
            stop=self.stopping,
        )
        seconds = time.monotonic() - begun
        self._page.head.say("busy", "drawing …")
        self._keep(run, configuration, snapshot, seconds)

    def _keep(self, run: Run, configuration: RunConfiguration, snapshot: Snapshot, seconds: float) -> None:
        page = self._page

        def draw() -> None:
            before = page.last
            ran = replace(configuration, heeds_where=False)
            record = page.runs.add(run, ran, snapshot, f"{seconds:.1f} s")
            self._show(record, before)
            page.confirm(snapshot, record.failure)
            self._say_verified(record)

        page.worker.submit_always(draw)
        page.worker.wait_until_idle()

    def back_to(self, record: RunRecord) -> None:
        """Set the page to a past run, and show it; where the notebook holds other streams by now, a preview of them."""
        page = self._page
        if page.busy:
            return
        with page.lock:
            if record.snapshot is None:
                self._past.set(record)
            else:
                page.settings.restore(record.snapshot.values)
            snapshot = page.settings.snapshot()
            if record.snapshot is not None and not snapshot.same(record.snapshot):
                page.runs.note.value = f"the streams of run {record.number} are no longer in this notebook"
                self._changed()
                return
            page.wanted = snapshot

        def draw() -> None:
            shown = record
            if record.snapshot is None:
                shown = replace(record, configuration=page.settings.configuration(snapshot))
                if not _same_batches(shown):
                    page.runs.note.value = f"the page cuts the rows of run {record.number} into other micro-batches"
                    self._changed()
                    return
            self._show(shown, page.last)
            page.confirm(snapshot)
            if record.snapshot is not None:  # what was loaded is not compared again
                self._say_verified(record)

        page.worker.submit_always(draw)

    def _show(self, record: RunRecord, last: RunRecord | None) -> None:
        page = self._page
        if isinstance(record.run, Run):
            page.run = record.run
        page.show(record.run, record.configuration, last, _badge(record))
        job = record.configuration.job
        if job is not None:
            page.head.note.value = remarks(job, record.configuration)

    def _say_verified(self, record: RunRecord) -> None:
        """Say of a run on Spark that it gave what was expected."""
        if isinstance(record.run, Run) and not record.failure:
            self._page.head.say_shown(_badge(record, verified=True))

    def wait(self, timeout: float | None) -> None:
        """Wait until the run under way has ended."""
        if self._thread is not None:
            self._thread.join(timeout)


def _same_batches(record: RunRecord) -> bool:
    """Whether a run has the micro-batches of its configuration."""
    of, run = record.configuration, record.run
    return all(
        np.array_equal(one.arrival, other.arrival) for one, other in ((of.left, run.left), (of.right, run.right))
    )


def _badge(record: RunRecord, *, verified: bool = False) -> Badge:
    """What is shown of a past run, and of one on Spark whether it gave what was expected."""
    name = f", {record.run.name}" if record.run.name else ""
    if isinstance(record.run, Job):
        return Badge("ran", as_it_ran(record.configuration))
    if isinstance(record.run, Run):
        badge = Badge("ran", f"run {record.number}{name}, on Spark{_took(record)}")
        return replace(badge, text=f"{badge.text}, verified", tip=_VERIFIED) if verified else badge
    return Badge("preview", f"run {record.number}{name}, simulated, {record.origin}")


def _took(record: RunRecord) -> str:
    """How a run came about, as the words after *on Spark*."""
    return f" in {record.origin}" if record.origin.endswith(" s") else f", {record.origin}"
