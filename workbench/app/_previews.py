"""Every change of a setting is checked, simulated and shown at once."""

from __future__ import annotations

from functools import partial
from typing import cast

from workbench.app._effect import compared
from workbench.app._examples import Example, Guide
from workbench.app._head import Badge
from workbench.app._jobs import as_it_ran, remarks, verified
from workbench.app._page_state import PageState
from workbench.app._snapshot import RunConfiguration, Snapshot
from workbench.app.html import html
from workbench.app.sources import sources
from workbench.errors import TooLargeError, WorkbenchError
from workbench.jobs import Job
from workbench.literals import Setting
from workbench.model import MOST, at_most
from workbench.reasons.labels import Labels
from workbench.runs.result import Result
from workbench.untyped import Record, Value

_MANY = 50_000  # rows of which a preview takes long enough to be announced
_AT_ONCE, _PER_ROW = 2_000_000, 5  # pairs, or rows in windows, that are made without asking: so many, or per row


class Previews:
    """Previews of what the fields ask for, and the ways in which the page itself changes the fields."""

    def __init__(self, page: PageState) -> None:
        self._page = page
        self._guide: Guide | None = None
        self._guided: str = ""  # what was said of it last
        self._fixed: tuple[Result | None, Snapshot | None, Record] = None, None, {}  # shown before a fix; led to; set
        self._told = ""  # of it
        self._allowed: Snapshot | None = None  # what the user wants a preview of although it takes long

    def guide(self, example: Example) -> None:
        """Say what an example that the page is set to shows, until the page is set to something else."""
        page = self._page
        if page.wanted is not None:
            self._guide = Guide(example, page.wanted.values)
            self._guided = page.head.note.value = self._guide.words(page.wanted.values)

    def _guide_on(self, snapshot: Snapshot) -> None:
        """Say that the settings differ from the example's, or no longer what it says; whatever else was said stays."""
        note = self._page.head.note
        if self._guide is None or note.value != self._guided:
            self._guide = None
            return
        self._guided = note.value = self._guide.words(snapshot.values)
        if not self._guided:
            self._guide = None

    def changed(self) -> None:
        """A setting changed, and all that follow from it are set: show what they do."""
        self._page.note_skipped()
        self._show_wanted()

    def _show_wanted(self) -> None:
        page = self._page
        before, snapshot = page.wanted, page.take()
        page.head.offer_preview(False)
        if before is not None and before.values["source"] != snapshot.values["source"]:
            page.head.note.value = ""  # which is of other streams
        self._guide_on(snapshot)
        if page.head.note.value == self._told:
            page.head.note.value = ""  # which is of a fix before
        if page.live.active:
            self._change_live(snapshot)
        if not page.busy:
            page.worker.submit("preview", lambda: self._preview(snapshot))
            page.enable()

    def anyway(self) -> None:
        """Make the preview of what the page is set to, although it takes long."""
        self._allowed = self._page.wanted
        self._page.head.offer_preview(False)
        if self._allowed is not None and not self._page.busy:
            self._page.worker.submit("preview", partial(self._preview, self._allowed))

    def _preview(self, snapshot: Snapshot) -> None:
        """Check settings, and show what a run must give; in the thread that draws."""
        page = self._page
        try:
            configuration = page.settings.configuration(snapshot)
            rows = len(configuration.left) + len(configuration.right)
            if rows > _MANY or snapshot is self._allowed:
                page.head.say("busy", "simulating …")
            with at_most(MOST if snapshot is self._allowed else max(_AT_ONCE, _PER_ROW * rows)):
                run = configuration.preview()
                last = page.last
                badge = Badge("preview", "Preview (simulated)")
                page.show(run, configuration, None if last is not None and last.run is run else last, badge)
        except TooLargeError as error:
            page.refuse(snapshot, error)
            if snapshot is page.wanted:
                page.head.offer_preview(error.count <= MOST and snapshot is not self._allowed)
            return
        except Exception as error:  # noqa: BLE001 - whatever it is, what is shown is not what the fields hold
            page.refuse(snapshot, error)
            return
        if snapshot is page.wanted:
            page.settings.suggest(configuration, run)
        if configuration.job is not None:
            self._of_job(configuration.job, configuration, snapshot)
        else:
            page.confirm(snapshot)
        self._tell_fix(snapshot, run)

    def _tell_fix(self, snapshot: Snapshot, run: Result) -> None:
        """Say what a fix changed, when it is shown."""
        before, after, settings = self._fixed
        if before is None or after is not snapshot or snapshot is not self._page.wanted:
            return
        try:
            changes = compared(before, run) or "no row changed"
        except WorkbenchError:  # only Spark can make the pairs
            return
        words = ", ".join(_named(before, name, value) for name, value in settings.items())
        self._told = self._page.head.note.value = html("<b>Applied</b>: {}: {}. Ctrl+Z takes it back.", words, changes)

    def _of_job(self, job: Job, configuration: RunConfiguration, snapshot: Snapshot) -> None:
        """Say what is shown of a job, and list the job itself among the runs, to compare with."""
        page = self._page
        if snapshot is page.wanted:
            page.head.note.value = remarks(job, configuration)
        if not configuration.is_as_it_ran:
            page.confirm(snapshot)
            return
        page.head.say("busy", "verifying …")
        mismatch = job.mismatch
        page.head.say_shown(Badge("ran", as_it_ran(configuration)))
        if all(each.run is not job for each in page.runs.records):
            page.runs.add(job, configuration, snapshot, "as it ran")
        if snapshot is page.wanted:
            page.head.note.value = "; ".join(
                filter(None, ["" if mismatch else verified(job), remarks(job, configuration)])
            )
        page.confirm(snapshot, mismatch if snapshot is page.wanted else "")

    def _change_live(self, snapshot: Snapshot) -> None:
        """Let the sliders act on the generators of the query that runs."""
        trouble = self._page.head.trouble
        try:
            feed = sources()[snapshot.values["source"]].live
            if feed is not None:
                self._page.live.change(feed, snapshot.values)
            trouble.value = ""
        except WorkbenchError as error:
            trouble.value = str(error)

    def travel(self, by: int) -> None:
        """Undo (-1) or redo (1) a change of a setting."""
        page = self._page
        if page.busy or page.wanted is None:
            return
        with page.lock:
            now = page.wanted.values
            if page.history.can_undo(now) if by < 0 else page.history.can_redo:
                page.head.note.value = ""
                page.settings.restore(page.history.step(by, now))
                self._show_wanted()

    def apply(self, settings: Record) -> None:
        """Set fields: to a row's fix, an advice, or a setting of a tuning."""
        if not self._page.busy:
            before = self._page.shown.results.run
            self._page.shown.release()
            self._page.settings.fix(settings)
            self._fixed = before, self._page.wanted, settings


def _named(run: Result, setting: str, value: Value) -> str:
    """What a fix sets, as its button has it."""
    if value is True:
        return "every window closed"
    return Labels(run.simulation, whole=False).setting(cast(Setting, setting), value)
