"""Undo and redo."""

from __future__ import annotations

import time

from workbench.app._form import State

_MOST = 200
_TOGETHER = 0.8  # seconds within which changes of one input are one step


class History:
    """The states of a page's settings, and the one it is at."""

    def __init__(self) -> None:
        self._states: list[State] = []
        self._at = -1
        self._last = (frozenset[str](), 0.0)

    def note(self, state: State) -> None:
        """Remember a state; quick changes of one input become one step."""
        if self._at >= 0 and self._states[self._at] == state:
            return
        now = time.monotonic()
        before = self._states[self._at] if self._at >= 0 else {}
        moved = frozenset(name for name in state if state[name] != before.get(name))
        together = self._at > 0 and moved == self._last[0] and now - self._last[1] < _TOGETHER
        keep = self._at if together else self._at + 1
        self._states = [*self._states[:keep], state][-_MOST:]
        self._at = len(self._states) - 1
        self._last = moved, now

    @property
    def can_undo(self) -> bool:
        """Whether there is a state before."""
        return self._at > 0

    @property
    def can_redo(self) -> bool:
        """Whether there is a state after."""
        return self._at < len(self._states) - 1

    def step(self, by: int) -> State:
        """Go one state back (-1) or on (1), and give it."""
        self._at += by
        self._last = (frozenset(), 0.0)
        return self._states[self._at]
