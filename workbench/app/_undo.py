"""Undo and redo: the states of the settings, and the two buttons."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import ipywidgets as widgets

from workbench.untyped import Value

State = Mapping[str, Value]
"""The values of a page's inputs, by name."""

_MOST = 200
_TOGETHER = 0.8  # seconds within which changes of one input are one step


class History:
    """The states of a page's settings that it has shown, and the one it is at."""

    def __init__(self) -> None:
        self._states: list[State] = []
        self._at = -1
        self._last = (frozenset[str](), 0.0)

    def note(self, state: State) -> None:
        """Remember a state; quick changes of one input become one step."""
        if self._at >= 0 and _same(self._states[self._at], state):
            return
        now = time.monotonic()
        before = self._states[self._at] if self._at >= 0 else {}
        moved = frozenset(name for name in state if name in before and state[name] != before[name])
        together = self._at > 0 and moved == self._last[0] and now - self._last[1] < _TOGETHER
        keep = self._at if together else self._at + 1
        self._states = [*self._states[:keep], state][-_MOST:]
        self._at = len(self._states) - 1
        self._last = moved, now

    def can_undo(self, now: State) -> bool:
        """Whether there is a state before the one that the inputs are in."""
        return self._at > 0 or (self._at == 0 and not _same(now, self._states[0]))

    @property
    def can_redo(self) -> bool:
        """Whether there is a state after."""
        return self._at < len(self._states) - 1

    def step(self, by: int, now: State) -> State:
        """Go one state back (-1) or on (1), and give it; back from what was not remembered is to what was last."""
        if by > 0 or _same(now, self._states[self._at]):
            self._at += by
        self._last = (frozenset(), 0.0)
        return self._states[self._at]


def _same(one: State, other: State) -> bool:
    """Whether two states are the same; inputs that only one of them knows came to the page later."""
    return all(one[name] == other[name] for name in one.keys() & other.keys())


class HistoryButtons:
    """The buttons for undo and redo.

    Parameters
    ----------
    travel
        Called with -1 to go a state back, with 1 to go on.

    Attributes
    ----------
    buttons
        The buttons.
    """

    def __init__(self, travel: Callable[[int], None]) -> None:
        narrow = widgets.Layout(width="auto")
        self._undo = widgets.Button(icon="undo", tooltip="Undo the last change of a setting", layout=narrow)
        self._redo = widgets.Button(icon="repeat", tooltip="Redo it", layout=narrow)
        self._undo.on_click(lambda _: travel(-1))
        self._redo.on_click(lambda _: travel(1))
        self.buttons = [self._undo, self._redo]

    def enable(self, undo: bool, redo: bool) -> None:
        """Make the buttons usable, or not."""
        self._undo.disabled, self._redo.disabled = not undo, not redo
