"""What a page is set to and whether it shows that: shared by previews, runs on Spark and live queries."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from workbench.app._head import Badge, Head
from workbench.app._live import LivePanel
from workbench.app._run_records import RunRecord
from workbench.app._runs import RunsPanel
from workbench.app._settings import SettingsPanel
from workbench.app._shown_run import Shown
from workbench.app._snapshot import RunConfiguration, Snapshot
from workbench.app._undo import History, HistoryButtons
from workbench.app.sources import WrongSettingsError, sources
from workbench.app.worker import CoalescingWorker
from workbench.errors import TooLargeError
from workbench.runs.result import Result
from workbench.runs.run import Run


@dataclass(eq=False)
class PageState:
    """The panels of a page, and what holds between them.

    Attributes
    ----------
    worker
        The thread that draws.
    save
        Called when what the page shows has changed, and is to be saved with the notebook.
    run
        The last run, None before the first.
    wanted
        What the fields hold.
    judged, confirmed
        What the fields held when it was last said whether that is right; when that was last right.
    occupied
        Whether a run is under way, or a live query is being started.
    runnable
        Whether what the fields hold can be run.
    reportable
        Whether what is shown is what the fields hold, as far as it was judged: a report is of that.
    opening
        What the fields of a page that came back held before: nobody asked for it, so it is never what was shown before.
    lock
        Held while `wanted` changes together with what undo goes back to.
    """

    worker: CoalescingWorker
    head: Head
    settings: SettingsPanel
    shown: Shown
    live: LivePanel
    runs: RunsPanel
    undo: HistoryButtons
    save: Callable[[], None]
    run: Run | None = None
    wanted: Snapshot | None = None
    judged: Snapshot | None = None
    occupied: bool = False
    runnable: bool = False
    reportable: bool = False
    opening: Snapshot | None = None
    confirmed: Snapshot | None = None
    history: History = field(default_factory=History)
    lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def busy(self) -> bool:
        """Whether a run or a live query is under way."""
        return self.occupied or self.live.active

    @property
    def last(self) -> RunRecord | None:
        """The last run, with what it was of."""
        return self.runs.records[-1] if self.runs.records else None

    def take(self) -> Snapshot:
        """Take what the fields hold now as what is wanted."""
        with self.lock:
            self.wanted = self.settings.snapshot()
            return self.wanted

    def note_skipped(self) -> None:
        """Remember what the fields held until now, where the next change came before it was shown."""
        with self.lock:
            if self.wanted is not None and self.wanted is not self.judged:
                self.history.note(self.wanted.values)

    def show(self, run: Result, configuration: RunConfiguration, last: RunRecord | None, badge: Badge) -> None:
        """Show a run or preview, the fields named after its streams; the badge changes with the figures."""
        self.settings.name(configuration)
        self.shown.show(run, configuration, last)
        self.head.say_shown(badge)

    def confirm(self, snapshot: Snapshot, trouble: str = "") -> None:
        """What is shown is what a snapshot asks for."""
        with self.lock:
            self.judged = self.confirmed = snapshot
            if snapshot is self.wanted:
                self.history.note(snapshot.values)
        self.settings.mark(snapshot, {})
        self.head.trouble.value = trouble
        self.runnable = self.reportable = True
        self.shown.dim(False)
        self.enable()
        self.save()

    def refuse(self, snapshot: Snapshot, error: Exception) -> None:
        """Settings are wrong: say so; what is shown is of the settings before, and looks so, or nothing is shown."""
        self.judged = snapshot
        self.reportable = False
        if self.opening is not None and self.confirmed in (None, self.opening):
            self.shown.forget()
        self.runnable = isinstance(error, TooLargeError)  # Spark may do what the model does not
        self.enable()  # before it is said: nothing wrong can be run while it is read
        self.settings.suggest()
        self.settings.mark(snapshot, error.marks if isinstance(error, WrongSettingsError) else {})
        self.head.fail(error)
        self.shown.dim(self.shown.anything)
        before = "shown for the previous settings"
        self.head.say("failed", before if self.shown.anything else "nothing to show yet")
        self.shown.say_how_to_begin(not self.shown.anything)
        self.save()

    def occupy(self, busy: bool) -> None:
        """Something begins to run, or has ended."""
        self.occupied = busy
        self.settings.enable(not busy)  # before the buttons: who can run can also change what is run
        self.enable()
        self.head.occupy(busy)

    def enable(self) -> None:
        """Make usable what can be done now."""
        busy, runnable = self.busy, self.runnable
        with self.lock:
            wanted = self.wanted
            undo = not busy and wanted is not None and self.history.can_undo(wanted.values)
            self.undo.enable(undo, not busy and self.history.can_redo)
        self.head.run.disabled = busy or not runnable
        self.head.report.disabled = busy or not (self.reportable and self.shown.anything)
        is_generated = wanted is None or sources()[wanted.values["source"]].live is not None
        self.live.enable(not busy and runnable, is_generated)
