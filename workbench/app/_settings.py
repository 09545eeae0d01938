"""The left panel: two streams, a join, watermark delays."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import assert_never

import ipywidgets as widgets
from traitlets import TraitError

import generators
from workbench import conditions, joins, patterns, times, windows
from workbench.app import _repaired
from workbench.app._form import Form, group, heading, show
from workbench.app._join_inputs import join_inputs
from workbench.app._kind_picture import introduction
from workbench.app._snapshot import Reader, RunConfiguration, Snapshot
from workbench.app._source import SourcePanel
from workbench.app._suggested_spans import Suggestion, suggestion
from workbench.app.growing import growing
from workbench.app.html import HTML
from workbench.app.sources import WrongSettingsError, sources
from workbench.app.sources.job import VARIABLE as JOB
from workbench.errors import WorkbenchError
from workbench.jobs import Job
from workbench.joins import HOWS, Join, how_of
from workbench.kinds import Field, Flag, Input, Menu, Text, kind_of, kinds
from workbench.literals import DELAYS, POLICIES, Sides
from workbench.reasons.labels import setting_value
from workbench.runs import summary
from workbench.runs.result import Result
from workbench.sources.findings import Finding
from workbench.streams import SIDES, Stream
from workbench.untyped import Namespace, Record, Value

_HOW = (
    "inner: pairs only. left, right, full: rows without a partner too, padded with nulls. "
    "semi, anti: left rows with, or without, a partner."
)
_DELAY = "10 seconds"
_POLICIES = [(setting_value("policy", each), each) for each in POLICIES]


class SettingsPanel:
    """The settings, and the descriptions they make.

    Parameters
    ----------
    namespace
        The notebook's variables.
    names
        Two of them to begin with, or none.
    changed
        Called when a setting changed.
    folder
        Where runs on Spark keep their files, as `workbench.run` takes it.

    Attributes
    ----------
    widget
        The panel.
    form
        Its inputs.
    """

    def __init__(
        self, namespace: Namespace, names: tuple[str, ...], changed: Callable[[], None], folder: str | None = None
    ) -> None:
        self.form = Form(changed)
        self._inputs = join_inputs()
        self._reader = Reader(self._inputs, folder)
        self._job: Job | None = None
        self._fixed: tuple[Record, dict[str, str]] = {}, {}  # what a fix led to, and what it changed, in words
        self._suggestion = Suggestion(lambda texts: self.fix(texts))
        self._suited: tuple[str, Record] | None = None  # a scenario, and the fields that were set to suit it
        with self.form.quietly():
            self._source = SourcePanel(self.form, namespace, self._look_again)
            self.widget = widgets.VBox(
                [
                    heading("Streams"),
                    self._source.widget,
                    heading("Join"),
                    *self._join(),
                    heading("Watermark"),
                    *self._watermarks(),
                ]
            )
            self.widget.add_class("sjw-settings")
            self.form.follow("scenario", self._suit)
            self.form.follow(JOB, self._suit_job)
            self._show_source = self.form.rule("source")
            self.form.follow("source", self._suit_source)
            self._first = self._of_a_scenario()
            if len(names) == 1:
                self.form.set({"source": "job"})
                self.form.set({JOB: names[0]})
            elif names:
                self.form.set({"source": "notebook"})
                self.form.set({f"{side}.variable": name for side, name in Sides(*names).items()})
                for side, name in Sides(*names).items():
                    if isinstance(namespace[name], Stream):
                        self.form.set({f"{side}.watermark": times.text(namespace[name].watermark)})
            else:
                self._suit()
            self._show_fields()

    def _join(self) -> list[widgets.Widget]:
        add = self.form.add
        known = widgets.Dropdown(options=[(kind.label, name) for name, kind in kinds().items()])
        add("kind", known, "Kind", "How two rows become partners: by a time difference, or in a shared window.")
        for name, each in self._inputs.inputs.items():
            add(name, _input_of(each), each.label, each.help)
        add("how", widgets.Dropdown(options=HOWS), "How", _HOW)
        self.form.follow("kind", self._show_fields)
        self._fields = group(*self.form.row(*self._inputs.inputs))
        self._introduction = HTML()
        self._introduction.add_class("sjw-introduction")
        kind, *fields = self.form.row("kind")
        return [kind, *fields, self._introduction, self._fields, self._suggestion.widget, *self.form.row("how")]

    def _show_fields(self) -> None:
        """Show the fields that the kind of join has; grey what it has not."""
        kind = kinds()[self.form.value("kind")]
        wanted = set(self._inputs.names[kind.name].values())
        for name in self._inputs.inputs:
            show(self.form.inputs[name], name in wanted)
        self._tell_streams()
        self._introduction.value = introduction(kind.sketch)
        self.form.inputs["how"].disabled = not kind.hows
        self.form.inputs["how"].tooltip = _HOW if kind.hows else kind.no_how

    def _watermarks(self) -> list[widgets.Widget]:
        add = self.form.add
        delay = "How far behind the newest event time a row may arrive without being late; results wait as long."
        for side in SIDES:
            add(f"{side}.watermark", widgets.Text(_DELAY), side.capitalize(), delay)
        policy = "Which stream's watermark is the query's: the slower one loses nothing, the faster one does not wait."
        add("policy", widgets.Dropdown(options=_POLICIES), "Follows", policy)
        end = "As at the end of a bounded input; otherwise pending rows stay in state."
        add("finish", widgets.Checkbox(True), "close every window at the end", end)
        return self.form.row("left.watermark", "right.watermark", "policy", "finish")

    def _suit(self) -> None:
        """Set the join that suits the scenario, and what is set beside it as on a new page."""
        self._job = None
        join = suggested(self.form.value("scenario"))
        kind = kind_of(join)
        fields = self._inputs.named(kind.name, kind.typed(join))
        delays: dict[str, str] = dict.fromkeys(DELAYS.values(), _DELAY)
        self.form.set({"kind": kind.name, "how": how_of(join), **fields, **delays, "policy": "min", "finish": True})
        self._suited = self.form.value("scenario"), fields

    def _suit_source(self) -> None:
        """Show the inputs of the source that is chosen; of a job its settings, too."""
        self._show_source()
        if self.form.value("source") == "scenario" and self._job is not None:
            self._suit()  # what suited the job does not suit generated streams
        self._suit_job()

    def _suit_job(self) -> None:
        """Set the join and the delays of the job that is chosen."""
        chosen = self.form.value("source") == "job"
        job = self._source.variables().get(self.form.value(JOB)) if chosen else None
        if isinstance(job, Job) and job.is_understood and job is not self._job:
            self._job = job
            self.set_to(job)

    def set_to(self, of: RunConfiguration | Result) -> None:
        """Set all but the streams to what a run is of."""
        self.form.set({"kind": kind_of(of.join).name, "how": how_of(of.join)})
        self.apply(_settings(of))

    def apply(self, settings: Mapping[str, Value]) -> None:
        """Set some settings of the join and the run that the page is set to."""
        trigger = self._source.chosen.trigger
        named = self._inputs.named(self.form.value("kind"), settings)
        self.form.set({trigger if name == "trigger" else name: value for name, value in named.items()})

    def fix(self, settings: Mapping[str, Value]) -> None:
        """Apply settings that the page recommends, and mark what they changed until something else is changed."""
        before = self.form.state
        with self.form.changing():
            self.apply(settings)
            after = self.form.state
            moved = {
                name: f"was {_shown(before[name])}; Ctrl+Z takes it back"
                for name in after
                if after[name] != before[name]
            }
            self._fixed = after, moved

    def begin_with(self, settings: Mapping[str, Value]) -> None:
        """Set the page to generated streams: some settings to these values, all others as on a new page.

        What is set of streams from elsewhere stays as it is.
        """
        with self.form.changing():
            self.form.set({"source": "scenario", **self._first, "scenario": settings["scenario"]})
            self._suit()
            self.form.set(settings)

    def _of_a_scenario(self) -> Record:
        """What the inputs hold that matter where streams are generated."""
        others = {name for each in sources().values() if each.name != "scenario" for name in each.inputs}
        return {name: value for name, value in self.form.state.items() if name not in {"source", *others}}

    def _look_again(self) -> None:
        self._reader.forget()
        with self.form.changing():
            self._source.refresh()
            self._suit_job()  # the variable may hold another job by now

    def snapshot(self) -> Snapshot:
        """What all inputs hold now."""
        return Snapshot(MappingProxyType(self.form.state), MappingProxyType(self._source.variables()))

    def restore(self, values: Mapping[str, Value]) -> None:
        """Set all inputs, without reporting a change."""
        with self.form.quietly():
            self.form.set(values)

    def come_back(self, values: Mapping[str, Value]) -> None:
        """Set inputs to what they held in another session; values of another type are left out."""
        with suppress(TraitError), self.form.changing():  # an error: somebody has changed what was kept
            self.form.set(values, _like)

    def repairs_of(self, values: Mapping[str, Value]) -> dict[str, tuple[str, ...]]:
        """The repairs of rows among the values of inputs, as they are kept."""
        return _repaired.repairs_of(self.form, values)

    def repair_again(self, wanted: Mapping[str, tuple[str, ...]]) -> None:
        """Do repairs that were kept, as far as each is offered."""
        _repaired.again(self.form, self._findings, wanted)

    def _findings(self) -> tuple[Finding, ...]:
        """What is found about the rows of what the inputs hold now."""
        with suppress(WorkbenchError):  # until they are repaired, the rows make no streams
            self._reader.configuration(self.snapshot())
        return self._reader.findings

    def configuration(self, snapshot: Snapshot) -> RunConfiguration:
        """What a snapshot asks for.

        Raises
        ------
        WrongSettingsError
            If an input is wrong.
        """
        before = self._reader.streams
        try:
            return self._reader.configuration(snapshot)
        except WrongSettingsError as error:
            raise self._in_own_words(error) from error
        finally:
            if self._reader.streams is not None and not _alike(before, self._reader.streams):
                self._tell_streams()

    def _in_own_words(self, error: WrongSettingsError) -> WrongSettingsError:
        """The error without what an input says itself of a part, in those words if it was of it."""
        words, marks = str(error), dict(error.marks)
        for name in error.marks:
            if own := self.form.trouble(name):
                given = marks.pop(name)
                argument = words.partition(":")[0]
                words = f"{argument}: {own}" if words.endswith(given) else words
        return WrongSettingsError(words, marks, error.findings)

    def _tell_streams(self) -> None:
        """Tell the inputs of the kind that is chosen of which streams they are."""
        if self._reader.streams is not None:
            self.form.know(self._inputs.names[self.form.value("kind")].values(), *self._reader.streams)

    def mark(self, snapshot: Snapshot, marks: Mapping[str, str]) -> None:
        """Say beside the inputs what is wrong with a snapshot, and why what it does not need is grey."""
        kind = kinds()[snapshot.values["kind"]]
        after, moved = self._fixed
        self.form.mark(marks, {} if kind.hows else {"how": kind.no_how}, moved if snapshot.values == after else {})
        self._source.tell(self._reader.findings)

    def suggest(self, configuration: RunConfiguration | None = None, result: Result | None = None) -> None:
        """Say where the join's time spans do not suit one's own rows, and offer others; without a result nothing."""
        own = self._source.chosen.live is None and configuration is not None and result is not None
        found = suggestion(configuration, result) if own and configuration and result else None
        scenario, fields = self._suited or ("", {})
        kept = all(self.form.value(name) == text for name, text in fields.items())
        self._suggestion.tell(found, scenario if kept else "")

    def name(self, configuration: RunConfiguration) -> None:
        """Name the streams where their delays are set."""
        for side, stream in Sides(configuration.left, configuration.right).items():
            self.form.inputs[f"{side}.watermark"].description = stream.name

    def enable(self, on: bool) -> None:
        """Make the settings usable, or not (while a run is under way)."""
        self.form.enable(on)
        self._suggestion.enable(on)
        if on:
            self._show_fields()

    def enable_live(self) -> None:
        """Make usable what acts on running generators."""
        feed = self._source.chosen.live
        for name in feed.inputs if feed is not None else ():
            self.form.inputs[name].disabled = False

    def upload(self, files: Sequence[Value], place: int = -1) -> None:
        """Take one file or two, as an upload holds them, as the streams.

        Parameters
        ----------
        files
            The files.
        place
            The side, 0 or 1, that one file is for; below 0: the first side that has none yet.
        """
        with self.form.changing():
            self.form.set({"source": "files"})
            given = [bool(self.form.value(f"{side}.path") or self.form.value(f"{side}.upload")) for side in SIDES]
            free = given.index(False) if False in given else 0
            first = 0 if len(files) > 1 else place if place >= 0 else free
            for side, file in zip(SIDES[first:], files, strict=False):
                self.form.set({f"{side}.upload": (file,)})

    def take(self, left: str, right: str) -> None:
        """Take two variables of the notebook as the streams."""
        with self.form.changing():
            self.form.set({"source": "notebook"})
            self._source.refresh()
            self.form.set({"left.variable": left, "right.variable": right})


def suggested(scenario: str) -> Join:
    """The join that suits a scenario: the first one that its docstring names."""
    text = re.search(r"``(\w+\(.*?\))``", generators.scenarios()[scenario], re.DOTALL)
    if text is None:
        raise LookupError(f"the docstring of {scenario} names no join that suits it")
    known = vars(joins) | vars(windows) | vars(patterns) | {"col": conditions.col}
    join: Join = eval(text[1], known)  # noqa: S307 - a text of this project
    return join


def _alike(before: tuple[Stream, Stream] | None, after: tuple[Stream, Stream]) -> bool:
    """Whether two streams are called as those before, and have the same columns."""
    if before is None:
        return False
    return all(
        (one.name, one.key, one.table.schema) == (other.name, other.key, other.table.schema)
        for one, other in zip(before, after, strict=True)
    )


def _input_of(part: Input) -> widgets.Widget:
    """The input of a part of a join's form."""
    match part:
        case Field():
            return widgets.Text(part.first)
        case Text(form=form) if form is not None:
            return form(part.first)
        case Text(grows=True):
            return growing(part.first, placeholder=part.unset)
        case Text():
            made = widgets.Textarea if part.is_long else widgets.Text
            return made(part.first, placeholder=part.unset, **({"rows": 8} if part.is_long else {}))
        case Menu():
            return widgets.Dropdown(options=part.values)
        case Flag():
            return widgets.Checkbox(part.first)
        case _:
            assert_never(part)


def _like(held: Value, value: Value) -> Value:
    """A value as an input holds it that holds another one; None: it is of another type."""
    if isinstance(held, float) and type(value) is int:  # JSON has one type of number
        return float(value)
    return value if type(value) is type(held) or (held is None and isinstance(value, str)) else None


def _shown(value: Value) -> str:
    """What an input held, in words."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return {each: words for words, each in _POLICIES}.get(value, str(value)) or "empty"


def _settings(of: RunConfiguration | Result) -> Record:
    """The inputs of a configuration, by the names that `SettingsPanel.apply` takes."""
    kind = kind_of(of.join)
    delays = {DELAYS[side]: times.text(getattr(of, side).watermark) for side in SIDES}
    return kind.typed(of.join) | delays | {"policy": of.policy, "finish": of.finish}


def describe(of: RunConfiguration) -> dict[str, str]:
    """What a page is set to, in words, by name of the setting."""
    found = summary.settings(of.join, of.left, of.right, finish=of.finish, policy=of.policy)
    if of.job is not None and of.job.where:
        found["and"] = of.job.where if of.heeds_where else f"without {of.job.where}"
    return found
