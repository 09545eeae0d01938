"""Labelled inputs with a mark beside each, read and set together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable

import ipywidgets as widgets

from workbench.app.html import HTML
from workbench.streams import Stream
from workbench.untyped import Record, Value


@runtime_checkable
class _HasParts(Protocol):
    """An input with parts, each with a place where it is said what is wrong with it."""

    @property
    def trouble(self) -> str:
        """What it says itself of a part that cannot be read; empty: nothing."""

    def mark_parts(self, marks: Mapping[str, str]) -> None:
        """Say what is wrong with parts, by their names, and of the others nothing."""


@runtime_checkable
class _KnowsStreams(Protocol):
    """An input that names the streams."""

    def know(self, left: Stream, right: Stream) -> None:
        """Name the streams, and suit them as long as nobody has typed anything."""


def part_of_input(name: str, part: str) -> str:
    """The place of a part of an input among the marks of a form."""
    return f"{name} / {part}"


class Form:
    """The inputs of a page.

    Parameters
    ----------
    changed
        Called after the user, or `set`, changed values; once for each change, when all inputs that follow from it are
        set.

    Attributes
    ----------
    inputs
        The inputs by name, in the order in which they were added.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self.inputs: Record = {}
        self._marks: dict[str, HTML] = {}
        self._changed = changed
        self._rules: dict[str, Callable[[], None]] = {}
        self._depth = 0
        self._plain: Record = {}  # what all marks share, those of the first: each is a message

    def add(self, name: str, widget: Any, label: str, tooltip: str) -> Any:
        """An input with its label and what the term means."""
        with widget.hold_sync():
            widget.description = label
            widget.tooltip = tooltip
        widget.layout.width = "auto"
        if isinstance(widget, widgets.Checkbox):
            widget.indent = False
        elif hasattr(widget, "style"):
            widget.style.description_width = "102px"
        mark = HTML(**self._plain)
        self._plain = {"layout": mark.layout, "style": mark.style}
        mark.add_class("sjw-mark")
        self.inputs[name], self._marks[name] = widget, mark
        widget.observe(lambda _: self._moved(name), "value")
        return widget

    def follow(self, name: str, rule: Callable[[], None]) -> None:
        """Set what follows from an input, whenever its value changed and before the change is reported."""
        self._rules[name] = rule

    @contextmanager
    def without_rule(self, name: str) -> Iterator[None]:
        """Change an input, and nothing that follows from it."""
        rule = self._rules.pop(name, None)
        try:
            with self.changing():
                yield
        finally:
            if rule is not None:
                self._rules[name] = rule

    def rule(self, name: str) -> Callable[[], None]:
        """What is set that follows from an input."""
        return self._rules[name]

    def _moved(self, name: str) -> None:
        with self.changing():
            if name in self._rules:
                self._rules[name]()

    def row(self, *names: str) -> list[widgets.Widget]:
        """Inputs, each with the place where it is marked."""
        return [part for name in names for part in (self.inputs[name], self._marks[name])]

    def mark(
        self,
        marks: Mapping[str, str],
        remarks: Mapping[str, str] | None = None,
        changes: Mapping[str, str] | None = None,
    ) -> None:
        """Say beside each input what is wrong with it, or else what changed it, or else what is to be said of it.

        What is wrong with a part of an input, as `part_of_input` names it, an input with `mark_parts` says itself.
        """
        remarks, changes = remarks or {}, changes or {}
        for name, each in self.inputs.items():
            if isinstance(each, _HasParts):
                begin = part_of_input(name, "")
                each.mark_parts({place.removeprefix(begin): marks[place] for place in marks if place.startswith(begin)})
        for name, mark in self._marks.items():
            words = marks.get(name) or changes.get(name) or remarks.get(name, "")
            mark.value = words
            (mark.add_class if name in changes and name not in marks else mark.remove_class)("sjw-applied")
            (mark.add_class if words else mark.remove_class)("sjw-said")
            (mark.add_class if words and name not in marks else mark.remove_class)("sjw-quiet")

    def trouble(self, name: str) -> str:
        """What an input says itself of a part that cannot be read; empty: nothing."""
        each = self.inputs.get(name)
        return each.trouble if isinstance(each, _HasParts) else ""

    def know(self, names: Iterable[str], left: Stream, right: Stream) -> None:
        """Tell some inputs the streams; what these set of themselves is one change."""
        before = self.state
        with self.quietly():
            for name in names:
                if isinstance(each := self.inputs[name], _KnowsStreams):
                    each.know(left, right)
        if before != self.state and not self._depth:
            self._changed()

    def marked(self, name: str) -> str:
        """What is said beside an input."""
        return self._marks[name].value

    def value(self, name: str) -> Any:
        """What an input holds."""
        return self.inputs[name].value

    @property
    def state(self) -> Record:
        """What all inputs hold."""
        return {name: each.value for name, each in self.inputs.items()}

    def set(self, state: Mapping[str, Value], like: Callable[[Value, Value], Value] | None = None) -> None:
        """Set inputs, reported once; those that others follow from were added, and are set, before these.

        Where it is given, `like` makes what an input is set to of what it holds and the new value; None: not at all.
        """
        seen: set[str] = set()
        with self.changing():
            while left := [name for name in self.inputs if name not in seen]:  # an input may bring others with it
                for name in left:
                    seen.add(name)
                    each = self.inputs[name]
                    if name not in state or (isinstance(each, widgets.Dropdown) and state[name] not in choices(each)):
                        continue
                    value = state[name] if like is None else like(each.value, state[name])
                    if like is None or value is not None:
                        each.value = value

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Several changes as one, reported at its end."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth:
                self._changed()

    @contextmanager
    def quietly(self) -> Iterator[None]:
        """Change inputs without reporting the change: the caller does."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def enable(self, on: bool) -> None:
        """Make the inputs usable, or not."""
        for each in self.inputs.values():
            each.disabled = not on


def choices(dropdown: widgets.Dropdown) -> list[Value]:
    """The values that a list offers."""
    return [each[1] if isinstance(each, tuple) else each for each in dropdown.options]


def heading(words: str) -> HTML:
    """The heading of a group of inputs."""
    made = HTML(words)
    made.add_class("sjw-heading")
    return made


def group(*children: widgets.Widget) -> widgets.VBox:
    """Inputs that are shown and hidden together."""
    return widgets.VBox(list(children), layout=widgets.Layout(width="100%", flex="0 0 auto"))


def show(widget: widgets.Widget, on: bool) -> None:
    """Show a widget, or hide it."""
    widget.layout.display = None if on else "none"
