"""The left panel: two streams, a join, watermark delays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from html import escape
from typing import Any, cast

import ipywidgets as widgets

from workbench import times
from workbench.app._fields import FIELDS, KINDS, kind_of
from workbench.app._form import Form, State, group, heading, show
from workbench.app._source import SourcePanel
from workbench.errors import ArgumentError, WorkbenchError
from workbench.joins import HOWS, How, Join
from workbench.streams import SIDES, Stream

_FLAGS = {"lower_exclusive": "without the lower bound itself", "upper_exclusive": "without the upper bound itself"}
_SUITS = {
    "impressions_clicks": ("interval", {"lower": "0 seconds", "upper": "30 seconds"}, "left"),
    "orders_payments": ("interval", {"lower": "0 seconds", "upper": "15 seconds"}, "left"),
    "goods_info_price": ("interval", {"lower": "-6 seconds", "upper": "-4 seconds"}, "left"),
    "transfers": ("cogroup_tumbling", {"size": "1 minute"}, "inner"),
    "page_views_searches": ("session", {"gap": "15 seconds"}, "inner"),
}
_HOW = (
    "inner: pairs only. left, right, full: rows without a partner too, padded with nulls. "
    "semi, anti: left rows with, or without, a partner."
)
_LIVE = ("rate", "disorder", "late", "duplicates", "idle")
_POLICIES = [("the slower stream (min)", "min"), ("the faster stream (max)", "max")]


@dataclass(frozen=True)
class Asked:
    """What a page is set to: the arguments of a run."""

    join: Join
    left: Stream
    right: Stream
    finish: bool
    policy: str


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

    Attributes
    ----------
    widget
        The panel.
    form
        Its inputs.
    """

    def __init__(self, namespace: dict[str, Any], names: tuple[str, ...], changed: Callable[[], None]) -> None:
        self.form = Form(changed)
        with self.form.quietly():
            self._source = SourcePanel(self.form, namespace, self._suit)
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
            if names:
                self.form.set({"source": "notebook"})
                self.form.set({f"{side}.variable": name for side, name in zip(SIDES, names, strict=True)})
                for side, name in zip(SIDES, names, strict=True):
                    if isinstance(namespace[name], Stream):
                        self.form.set({f"{side}.watermark": times.text(namespace[name].watermark)})
            else:
                self._suit(self.form.value("scenario"))
            self._show_fields()

    def _join(self) -> list[widgets.Widget]:
        add = self.form.add
        kinds = widgets.Dropdown(options=[(kind.label, name) for name, kind in KINDS.items()])
        kind = add("kind", kinds, "Kind", "What makes two rows partners: a time difference, or a window they share.")
        for field in FIELDS:
            add(field.argument, widgets.Text(field.first), field.label, field.help)
        for flag, words in _FLAGS.items():
            add(flag, widgets.Checkbox(False), words, "Leaves pairs out that are exactly that far apart.")
        add("how", widgets.Dropdown(options=HOWS), "How", _HOW)
        kind.observe(lambda _: self._show_fields(), "value")
        self._fields = group(*self.form.row("kind", *(field.argument for field in FIELDS), *_FLAGS))
        return [self._fields, *self.form.row("how")]

    def _show_fields(self) -> None:
        """Show the fields that the kind of join has; grey what it has not, with the reason."""
        kind = KINDS[self.form.value("kind")]
        wanted = {field.argument for field in kind.fields} | set(kind.flags)
        for name in (*(field.argument for field in FIELDS), *_FLAGS):
            show(self.form.inputs[name], name in wanted)
            self.form.mark(name, "")
        self.form.inputs["how"].disabled = not kind.hows
        self.form.inputs["how"].tooltip = _HOW if kind.hows else "A coGroup has no how."
        words = "" if kind.hows else "a coGroup gives both sides' rows as lists, with or without partner: it has no how"
        self.form.mark("how", words)

    def _watermarks(self) -> list[widgets.Widget]:
        add = self.form.add
        delay = "How far behind the newest event time a row may be and still be kept; results wait as long."
        for side in SIDES:
            add(f"{side}.watermark", widgets.Text("10 seconds"), side.capitalize(), delay)
        policy = "Which stream's watermark is the query's: the slower one loses nothing, the faster one does not wait."
        add("policy", widgets.Dropdown(options=_POLICIES), "Follows", policy)
        end = "As the end of a bounded input would; without it, what is pending stays in state."
        add("finish", widgets.Checkbox(True), "close every window at the end", end)
        return self.form.row("left.watermark", "right.watermark", "policy", "finish")

    def _suit(self, scenario: str) -> None:
        """Set the join that suits a scenario."""
        if "kind" not in self.form.inputs:
            return
        kind, texts, how = _SUITS[scenario]
        with self.form.quietly():
            self.form.set({"kind": kind, "how": how, **texts})

    def asked(self) -> Asked:
        """What is set, checked; what is wrong is marked beside its input.

        Raises
        ------
        WorkbenchError
            If an input is wrong.
        """
        join = self._checked_join()
        delays = [self._delay(side) for side in SIDES]
        left, right = self._source.streams()
        for side, stream in zip(SIDES, (left, right), strict=True):
            self.form.inputs[f"{side}.watermark"].description = stream.name
        left, right = (replace(each, watermark=delay) for each, delay in zip((left, right), delays, strict=True))
        return Asked(join, left, right, self.form.value("finish"), self.form.value("policy"))

    def _checked_join(self) -> Join:
        kind = KINDS[self.form.value("kind")]
        texts = {field.argument: self.form.value(field.argument) for field in kind.fields}
        flags = {flag: self.form.value(flag) for flag in kind.flags}
        for name in texts:
            self.form.mark(name, "")
        try:
            return kind.make(texts, flags, cast(How, self.form.value("how") or "inner"))
        except ArgumentError as error:
            if error.argument in texts:
                self.form.mark(error.argument, error.remedy)
            raise

    def _delay(self, side: str) -> Any:
        name = f"{side}.watermark"
        self.form.mark(name, "")
        try:
            return times.delay(self.form.value(name), name)
        except WorkbenchError as error:
            self.form.mark(name, str(error).split(":", 1)[-1].strip())
            raise

    @property
    def state(self) -> State:
        """What all inputs hold."""
        return self.form.state

    @state.setter
    def state(self, state: State) -> None:
        with self.form.quietly():
            # the source first: it brings the choices of the others
            for name in ("source", "scenario", "left.variable", "right.variable", "kind"):
                self.form.set({name: state[name]})
            self.form.set(state)
        self._show_fields()

    def enable(self, on: bool) -> None:
        """Make the settings usable, or not (while a run is under way)."""
        self.form.enable(on)
        if on:
            self._show_fields()

    def enable_live(self) -> None:
        """Make usable what acts on running generators."""
        for name in _LIVE:
            self.form.inputs[name].disabled = False

    def generated(self) -> dict[str, Any]:
        """The scenario's settings as `generators.generate` takes them."""
        return self._source.settings()

    def take(self, left: str, right: str) -> None:
        """Take two variables of the notebook as the streams."""
        with self.form.quietly():
            self.form.set({"source": "notebook"})
        self._source.refresh()
        self.form.set({"left.variable": left, "right.variable": right})

    def code(self) -> list[str]:
        """The lines of a cell that make the two streams."""
        return self._source.code()


def describe(asked: Asked) -> dict[str, str]:
    """What a page is set to, in words, by name of the setting."""
    join = asked.join
    words = {
        "streams": f"{asked.left.name} ({len(asked.left):,} rows), {asked.right.name} ({len(asked.right):,} rows)",
        "join": kind_of(join),
        **{name: _text(value) for name, value in join_settings(join).items()},
        f"delay of {asked.left.name}": times.text(asked.left.watermark),
        f"delay of {asked.right.name}": times.text(asked.right.watermark),
        "policy": asked.policy,
        "finish": "yes" if asked.finish else "no",
    }
    return {name: escape(value) for name, value in words.items()}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else times.text(value)


def join_settings(join: Any) -> dict[str, Any]:
    """A join's fields, those of its window among them."""
    fields = {name: getattr(join, name) for name in join.__dataclass_fields__ if name != "window"}
    if hasattr(join, "window"):
        fields |= {name: getattr(join.window, name) for name in join.window.__dataclass_fields__}
    return fields
