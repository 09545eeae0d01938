"""The registry of the kinds of join; their packages are imported when the first of them is asked for."""

from __future__ import annotations

from typing import TypeVar

from workbench import _root
from workbench.errors import excerpt, wrong
from workbench.joins import Join
from workbench.kinds._kind import AnyKind
from workbench.kinds._panel import PanelOf

P = TypeVar("P")
_kinds: dict[str, AnyKind] = {}


def kinds() -> dict[str, AnyKind]:
    """All kinds by name, in the order of the page's menu."""
    if not _kinds:
        _kinds.update({kind.name: kind for kind in _root.kinds()})  # at once: other threads ask, too
    return _kinds


def panels() -> list[PanelOf]:
    """The panels that kinds bring along for the page, each once, in the order of its menu."""
    found = [part for kind in kinds().values() for part in kind.parts if isinstance(part, PanelOf)]
    return list(dict.fromkeys(found))


def register(kind: AnyKind) -> None:
    """Register a kind: for runs and previews, charts, tuning, scripts and the page.

    Raises
    ------
    ArgumentError
        If another kind has its name, or describes some of its joins.
    """
    if kind.name in kinds():
        raise wrong("kind", kind.name, "one has that name already; use another")
    for name, known in kinds().items():
        if kind.describes(known.example()) or known.describes(kind.example()):
            raise wrong(
                "kind", kind.name, f"{excerpt(name)} describes the same joins; describe a join class of its own"
            )
    _kinds[kind.name] = kind


def unregister(name: str) -> None:
    """Forget a kind that was registered."""
    kinds().pop(name, None)


def kind_of(join: Join) -> AnyKind:
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


def part_of(join: Join, part: type[P]) -> P | None:
    """What the kind of a join brings along for a package above: its only part of this class; None without one."""
    return next((each for each in kind_of(join).parts if isinstance(each, part)), None)
