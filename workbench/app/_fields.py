"""The joins as forms: which fields a kind has, and the description that their texts make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from workbench.joins import HOWS, CoGroup, How, IntervalJoin, Join, WindowJoin
from workbench.windows import Session, Sliding, Tumbling, Window


@dataclass(frozen=True)
class Field:
    """One text field: the argument it gives, its label, its first text, and what the term means."""

    argument: str
    label: str
    first: str
    help: str


SIZE = Field("size", "Size", "10 seconds", "How long a window is.")
SLIDE = Field("slide", "Slide", "5 seconds", "From one window's start to the next. Below the size, windows overlap.")
OFFSET = Field("offset", "Offset", "0 seconds", "Shifts every window from the full minute or hour.")
GAP = Field("gap", "Gap", "5 seconds", "The silence, on both sides, that ends a session.")
LOWER = Field("lower", "Lower bound", "0 seconds", "The earliest right row, relative to the left row's event time.")
UPPER = Field("upper", "Upper bound", "15 seconds", "The latest right row, relative to the left row's event time.")

FIELDS = (SIZE, SLIDE, OFFSET, GAP, LOWER, UPPER)

WINDOWS: dict[str, tuple[Callable[..., Window], tuple[Field, ...]]] = {
    "tumbling": (Tumbling, (SIZE, OFFSET)),
    "sliding": (Sliding, (SIZE, SLIDE, OFFSET)),
    "session": (Session, (GAP,)),
}


@dataclass(frozen=True)
class Kind:
    """A kind of join in the menu."""

    label: str
    fields: tuple[Field, ...]
    hows: tuple[str, ...]
    flags: tuple[str, ...]
    make: Callable[[dict[str, str], dict[str, bool], How], Join]


def _interval(texts: dict[str, str], flags: dict[str, bool], how: How) -> Join:
    return IntervalJoin(texts["lower"], texts["upper"], how=how, **flags)


def _windowed(name: str) -> Callable[[dict[str, str], dict[str, bool], How], Join]:
    def make(texts: dict[str, str], flags: dict[str, bool], how: How) -> Join:
        return WindowJoin(WINDOWS[name][0](**texts), how=how)

    return make


def _grouped(name: str) -> Callable[[dict[str, str], dict[str, bool], How], Join]:
    def make(texts: dict[str, str], flags: dict[str, bool], how: How) -> Join:
        return CoGroup(WINDOWS[name][0](**texts))

    return make


KINDS: dict[str, Kind] = {
    "interval": Kind("Interval join", (LOWER, UPPER), HOWS, ("lower_exclusive", "upper_exclusive"), _interval)
}
for _name, (_, _fields) in WINDOWS.items():
    KINDS[_name] = Kind(f"{_name.capitalize()} window join", _fields, HOWS, (), _windowed(_name))
for _name, (_, _fields) in WINDOWS.items():
    KINDS[f"cogroup_{_name}"] = Kind(f"coGroup, {_name} windows", _fields, (), (), _grouped(_name))


def kind_of(join: Join) -> str:
    """The label of a join's kind."""
    if isinstance(join, IntervalJoin):
        return KINDS["interval"].label
    name = type(join.window).__name__.lower()
    return KINDS[f"cogroup_{name}" if isinstance(join, CoGroup) else name].label
