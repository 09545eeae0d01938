"""Past runs of this page and of the notebook's others: the list, the way back, and two of them side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import ipywidgets as widgets

from workbench.app._comparison import Comparison, of_the_same_rows
from workbench.app._earlier_runs import EarlierRuns
from workbench.app._kept_settings import KeptRun
from workbench.app._run_records import Entry, RunRecord, varied
from workbench.app._snapshot import RunConfiguration, Snapshot
from workbench.errors import ArgumentError, WorkbenchError
from workbench.jobs import Job
from workbench.runs.loaded import load
from workbench.runs.result import Result
from workbench.untyped import Value

MOST_RUNS = 20


@dataclass(frozen=True)
class RunActions:
    """What the panel calls.

    Attributes
    ----------
    back
        Goes back to a run.
    set_to
        Sets the page to what a run of the kernel before was of.
    submit
        Does a job of a kind in the thread that draws, as `CoalescingWorker.submit` does.
    elsewhere
        Gives the runs of the notebook's other pages.
    changed
        Tells the other pages that runs came, went or were named.
    """

    back: Callable[[RunRecord], None]
    set_to: Callable[[KeptRun], None]
    submit: Callable[[str, Callable[[], None]], None]
    elsewhere: Callable[[], Sequence[Entry]]
    changed: Callable[[], None]


class RunsPanel:
    """Past runs.

    Parameters
    ----------
    actions
        What it calls.

    Attributes
    ----------
    widget
        The panel.
    records
        The runs of this page, the last of them last.
    """

    def __init__(self, actions: RunActions) -> None:
        self.records: list[RunRecord] = []
        self._do = actions
        self._filling = False
        wide = widgets.Layout(width="auto", flex="1 1 320px", min_width="0")
        self.one = widgets.RadioButtons(description="Run", layout=wide, tooltip="A past run.")
        self.other = widgets.RadioButtons(description="against", layout=wide, tooltip="The run to compare it with.")
        self.go = _button("Go back to it", "history", "Its settings and results.")
        field = widgets.Layout(width="auto", min_width="160px", flex="1 1 160px")
        self.name = widgets.Text(
            description="Name",
            placeholder="baseline",
            tooltip="The name of the run.",
            continuous_update=False,
            layout=field,
        )
        self.path = widgets.Text(
            description="Folder",
            placeholder="baseline",
            tooltip="The folder to save the run in, or to load one from.",
            layout=field,
        )
        self.keep = _button("Keep", "save", "Save the run in the folder; any session can load it.")
        self.load = _button("Load", "folder-open", "Load the run that was saved in the folder.")
        self._earlier = EarlierRuns(actions.set_to)
        self._comparison = Comparison(actions.submit)
        self.note = self._comparison.note
        self.go.on_click(lambda _: self._back())
        self.keep.on_click(lambda _: self._do.submit("keeping", self._keep))
        self.load.on_click(lambda _: self._do.submit("loading", self._load))
        self.name.observe(lambda _: self._named(), "value")
        for each in (self.one, self.other):
            each.observe(lambda _: self._chosen(), "value")
        chosen = widgets.HBox([self.one, self.other])
        chosen.add_class("sjw-runs")
        tools = widgets.HBox([self.go, self.name, self.path, self.keep, self.load])
        tools.add_class("sjw-tools")
        self.widget = widgets.VBox([self._earlier.widget, chosen, tools, *self._comparison.parts])
        self.widget.add_class("sjw-table")
        self._fill(newest=True)

    def _find(self, wanted: RunRecord | None) -> Entry | None:
        return next((each for each in self._entries() if each.record is wanted), None)

    def _entries(self) -> list[Entry]:
        return [*(Entry(each) for each in reversed(self.records)), *self._do.elsewhere()]

    @staticmethod
    def _options(entries: Sequence[Entry]) -> list[tuple[str, RunRecord]]:
        """The runs with their names, in which stands what tells them apart."""
        among = varied([each.record for each in entries])
        return [(each.title(among), each.record) for each in entries]

    def _back(self) -> None:
        chosen = self._find(self.one.value)
        if chosen is not None:
            self._do.back(chosen.record)

    def add(self, run: Result, configuration: RunConfiguration, snapshot: Snapshot | None, origin: str) -> RunRecord:
        """List a run; beyond `MOST_RUNS` the oldest is given up, and its folder with it."""
        taken = *(each.number for each in self._earlier.runs), *(each.number for each in self.records)
        number = 1 + max(taken, default=0)
        record = RunRecord(number, run, configuration, snapshot, origin)
        self.records = [*self.records, record][-MOST_RUNS:]
        self._fill(newest=True)
        self._do.changed()
        return record

    def take_over(self, records: Sequence[RunRecord]) -> None:
        """List the runs of a page whose place this one takes."""
        self.records = [*records]
        own = {each.number for each in records}
        self._earlier.list(each for each in self._earlier.runs if each.number not in own)
        self._fill(newest=True)

    def come_back(self, runs: Sequence[KeptRun]) -> None:
        """List what is kept of the runs of the kernel before."""
        self._earlier.list(runs[-MOST_RUNS:])

    def kept(self, repairs_of: Callable[[Mapping[str, Value]], dict[str, tuple[str, ...]]]) -> tuple[KeptRun, ...]:
        """The runs as the page's notebook keeps them, those of kernels before first; a job is opened anew."""
        among = varied(self.records)
        own = []
        for each in self.records:
            settings = {} if each.snapshot is None else each.snapshot.values
            if not isinstance(each.run, Job):
                own.append(KeptRun(each.number, each.title(among), settings, repairs_of(settings)))
        return (*self._earlier.runs, *own)[-MOST_RUNS:]

    def refresh(self) -> None:
        """List what there is now, on the notebook's other pages, too; what is chosen stays chosen."""
        self._fill(newest=False)

    def _fill(self, newest: bool) -> None:
        before = [self.one.value, self.other.value]
        entries = self._entries()
        known = [each.record for each in entries]
        options = self._options(entries)
        self._filling = True
        try:
            self.one.options = self.other.options = options
            for place, choice in enumerate((self.one, self.other)):
                kept = not newest and any(each is before[place] for each in known)
                if options:
                    choice.value = before[place] if kept else known[0] if place == 0 else _compared(known)
        finally:
            self._filling = False
        for each in (self.one, self.other, self.go, self.name, self.keep):
            each.disabled = not options
        self.compare()

    def _chosen(self) -> None:
        if not self._filling:
            self._do.submit("comparison", self.compare)

    def _named(self) -> None:
        """Give the chosen run the name that was typed."""
        chosen = self._find(self.one.value)
        if self._filling or chosen is None or self.name.value == chosen.record.run.name:
            return
        if chosen.page:
            self.note.value = f"{chosen.short} belongs to another page: name it there"
            return
        try:
            named = replace(chosen.record, run=chosen.record.run.named(self.name.value.strip()))
        except ArgumentError as error:
            self.note.value = error.remedy
            return
        before = [named if each is chosen.record else each for each in (self.one.value, self.other.value)]
        self.records = [named if each is chosen.record else each for each in self.records]
        self._filling = True
        try:
            self.one.options = self.other.options = self._options(self._entries())
            self.one.value, self.other.value = before
        finally:
            self._filling = False
        self._do.submit("comparison", self.compare)
        self._do.changed()

    def _keep(self) -> None:
        """Save the chosen run where the user says."""
        chosen, path = self._find(self.one.value), self.path.value.strip()
        if chosen is None or not path:
            self.note.value = "type the folder to save the run in, such as baseline"
            return
        try:
            kept = chosen.record.run.save(path)
            self.note.value = f"{chosen.short} is saved in {kept}; wb.load({path!r}) loads it"
        except WorkbenchError as error:
            self.note.value = str(error)

    def _load(self) -> None:
        """List a run that was saved."""
        path = self.path.value.strip()
        if not path:
            self.note.value = "type the folder that a run was saved in, such as baseline"
            return
        try:
            run = load(path)
            code = (f"kept = wb.load({path!r})", "left, right = kept.left, kept.right")
            self.add(run, RunConfiguration(run.join, run.left, run.right, run.finish, run.policy, code), None, "loaded")
        except WorkbenchError as error:
            self.note.value = str(error)

    def compare(self) -> None:
        """Hold the two chosen runs against each other."""
        one, other = self._find(self.one.value), self._find(self.other.value)
        if one is not None:
            self._filling = True
            try:
                self.name.value = one.record.run.name
            finally:
                self._filling = False
        self._comparison.compare(one, other)


def _compared(known: Sequence[RunRecord]) -> RunRecord:
    """The last run that the newest one can be compared with; the one before it where there is none."""
    newest, *before = known
    found = (each for each in before if of_the_same_rows(newest.run, each.run))
    return next(found, before[0] if before else newest)


def _button(words: str, icon: str, tooltip: str) -> widgets.Button:
    own = widgets.Layout(width="auto", flex="0 0 auto")
    return widgets.Button(description=words, icon=icon, tooltip=tooltip, layout=own)
