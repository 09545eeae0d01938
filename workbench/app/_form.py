"""Labelled inputs with a mark beside each, read and set together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

import ipywidgets as widgets

State = dict[str, Any]
"""The values of a form's inputs, by name."""


class Form:
    """The inputs of a page.

    Parameters
    ----------
    changed
        Called after the user, or `set`, changed values; once for each change.

    Attributes
    ----------
    inputs
        The inputs by name, in the order in which they were added.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self.inputs: dict[str, Any] = {}
        self._marks: dict[str, widgets.HTML] = {}
        self._changed = changed
        self._quiet = 0
        self._plain = {"layout": widgets.Layout(), "style": widgets.HTML().style}  # all marks share: each is a message

    def add(self, name: str, widget: Any, label: str, tooltip: str) -> Any:
        """An input with its label and what the term means."""
        widget.description = label
        widget.tooltip = tooltip
        widget.layout.width = "auto"
        if isinstance(widget, widgets.Checkbox):
            widget.indent = False
        else:
            widget.style.description_width = "92px"
        mark = widgets.HTML(**self._plain)
        mark.add_class("sjw-mark")
        self.inputs[name], self._marks[name] = widget, mark
        widget.observe(lambda _: self._tell(), "value")
        return widget

    def row(self, *names: str) -> list[widgets.Widget]:
        """Inputs, each with the place where it is marked."""
        return [part for name in names for part in (self.inputs[name], self._marks[name])]

    def mark(self, name: str, words: str) -> None:
        """Say beside an input what is wrong with it; nothing where it is right."""
        mark = self._marks[name]
        mark.value = escape(words)
        (mark.add_class if words else mark.remove_class)("sjw-said")

    def marked(self, name: str) -> str:
        """What is said beside an input."""
        return self._marks[name].value

    def value(self, name: str) -> Any:
        """What an input holds."""
        return self.inputs[name].value

    @property
    def state(self) -> State:
        """What all inputs hold."""
        return {name: each.value for name, each in self.inputs.items()}

    def set(self, state: State) -> None:
        """Set inputs, told of once."""
        with self.quietly():
            for name, value in state.items():
                each = self.inputs[name]
                if isinstance(each, widgets.Dropdown) and value not in _choices(each):
                    continue
                each.value = value
        self._tell()

    @contextmanager
    def quietly(self) -> Iterator[None]:
        """Change inputs without telling of it."""
        self._quiet += 1
        try:
            yield
        finally:
            self._quiet -= 1

    def _tell(self) -> None:
        if not self._quiet:
            self._changed()

    def enable(self, on: bool) -> None:
        """Make the inputs usable, or not."""
        for each in self.inputs.values():
            each.disabled = not on


def _choices(dropdown: widgets.Dropdown) -> list[Any]:
    return [each[1] if isinstance(each, tuple) else each for each in dropdown.options]


def heading(words: str) -> widgets.HTML:
    """The heading of a group of inputs."""
    made = widgets.HTML(escape(words))
    made.add_class("sjw-heading")
    return made


def group(*children: widgets.Widget) -> widgets.VBox:
    """Inputs that are shown and hidden together."""
    return widgets.VBox(list(children), layout=widgets.Layout(width="100%", flex="0 0 auto"))


def show(widget: widgets.Widget, on: bool) -> None:
    """Show a widget, or hide it."""
    widget.layout.display = None if on else "none"
