"""The three kinds of window, as Apache Flink defines them.

Source: https://nightlies.apache.org/flink/flink-docs-stable/docs/dev/datastream/operators/windows/
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import timedelta

from workbench import times
from workbench.times import ZERO, Span

__all__ = ["Described", "Session", "Sliding", "Tumbling", "Window"]


class Described:
    """A frozen description: compares by value, and prints as the call that makes it."""

    def __repr__(self) -> str:
        parts = []
        for each in fields(self):  # type: ignore[arg-type]
            value = getattr(self, each.name)
            if value == each.default and isinstance(value, type(each.default)):
                continue
            printed = repr(times.text(value)) if isinstance(value, timedelta) else repr(value)
            parts.append(f"{each.name}={printed}")
        return f"{type(self).__name__}({', '.join(parts)})"

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)


@dataclass(frozen=True, repr=False)
class Tumbling(Described):
    """Windows ``[start, start + size)``, one beside the other.

    An event at time ``t`` lies in the one that starts at ``t - floormod(t - offset, size)``.

    Parameters
    ----------
    size
        Length of a window.
    offset
        Shifts every window; windows of an hour with an offset of 15 minutes start at a quarter past.

    Examples
    --------
    >>> Tumbling("10 seconds")
    Tumbling(size='10 seconds')
    """

    size: Span
    offset: Span = field(default=ZERO)

    def __post_init__(self) -> None:
        self._set("size", times.positive(self.size, "size"))
        self._set("offset", times.parse(self.offset, "offset"))


@dataclass(frozen=True, repr=False)
class Sliding(Described):
    """Windows ``[start, start + size)``, one starting every `slide`.

    `slide` need not divide `size`. With ``slide > size`` there are gaps, and an event in a gap is in no window.

    Parameters
    ----------
    size
        Length of a window.
    slide
        From one window's start to the next.
    offset
        Shifts every window.
    """

    size: Span
    slide: Span
    offset: Span = field(default=ZERO)

    def __post_init__(self) -> None:
        self._set("size", times.positive(self.size, "size"))
        self._set("slide", times.positive(self.slide, "slide"))
        self._set("offset", times.parse(self.offset, "offset"))


@dataclass(frozen=True, repr=False)
class Session(Described):
    """Windows that grow with activity: each event opens ``[t, t + gap)``, and windows of one key merge.

    Windows from both sides merge together when they overlap or touch: two events exactly `gap` apart are one session.

    Parameters
    ----------
    gap
        The silence that ends a session.
    """

    gap: Span

    def __post_init__(self) -> None:
        self._set("gap", times.positive(self.gap, "gap"))


Window = Tumbling | Sliding | Session
