"""The registry of the kinds of join; their packages are imported when the first of them is asked for."""

from __future__ import annotations

from typing import Any

from workbench import _root
from workbench.errors import wrong
from workbench.joins import Join
from workbench.kinds._kind import Kind

_kinds: dict[str, Kind[Any]] = {}


def kinds() -> dict[str, Kind[Any]]:
    """All kinds by name, in the order of the page's menu."""
    if not _kinds:
        _kinds.update({kind.name: kind for kind in _root.kinds()})  # at once: other threads ask, too
    return _kinds


def register(kind: Kind[Any]) -> None:
    """Register a kind: for runs and previews, charts, tuning, scripts and the page.

    Raises
    ------
    ArgumentError
        If another kind has its name, or describes some of its joins.
    """
    if kind.name in kinds():
        raise wrong("kind", kind.name, "there is a kind of that name; use another")
    for name, known in kinds().items():
        if kind.describes(known.example()) or known.describes(kind.example()):
            raise wrong("kind", kind.name, f"{name!r} describes the same joins; describe a join class of its own")
    _kinds[kind.name] = kind


def unregister(name: str) -> None:
    """Forget a kind that was registered."""
    kinds().pop(name, None)


def kind_of(join: Join) -> Kind[Any]:
    """The kind of a join.

    Raises
    ------
    ArgumentError
        If there is none: it is no join, or its kind was not registered.
    """
    for kind in kinds().values():
        if kind.describes(join):
            return kind
    others = "WindowJoin(...), CoGroup(...), AsOfJoin(...), RulesJoin(...), Pattern(...)"
    raise wrong("join", join, f'use IntervalJoin("-2 seconds", "5 seconds"), {others}')
