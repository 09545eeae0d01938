"""The sources, sinks and places for dead letters that scripts know, by name."""

from __future__ import annotations

from workbench.errors import wrong
from workbench.plan import names
from workbench.script import dead_letters, sinks, sources
from workbench.script._places import DeadLetters, Sink, Source
from workbench.untyped import Record

SOURCES: dict[str, Source] = {each.name: each for each in sources.ALL}
SINKS: dict[str, Sink] = {each.name: each for each in sinks.ALL}
DEAD_LETTERS: dict[str, DeadLetters] = {each.name: each for each in dead_letters.ALL}
_KINDS: dict[type, tuple[str, Record]] = {
    Source: ("source", SOURCES),
    Sink: ("sink", SINKS),
    DeadLetters: ("dead_letters", DEAD_LETTERS),
}


def register(place: Source | Sink | DeadLetters) -> None:
    """Make a place known: to `workbench.export`, scripts, their help and the folder around them."""
    kind, known = _kind_of(place)
    if place.name in known:
        raise wrong(kind, place.name, "one has that name already; use another")
    parts = (place, *place.connectors)
    more = place.project_arguments if isinstance(place, Source) else ()
    arguments = [f'"{each.name}"' for each in (*(each for part in parts for each in part.arguments), *more)]
    names.reserve(f"{kind} {place.name}", "\n".join([*(part.template for part in parts), *arguments]))
    known[place.name] = place


def unregister(place: Source | Sink | DeadLetters) -> None:
    """Forget a place that was registered."""
    kind, known = _kind_of(place)
    if known.pop(place.name, None) is not None:
        names.release(f"{kind} {place.name}")


def _kind_of(place: Source | Sink | DeadLetters) -> tuple[str, Record]:
    for kind, found in _KINDS.items():
        if isinstance(place, kind):
            return found
    raise wrong("place", type(place).__name__, "give a Source, a Sink or DeadLetters")
