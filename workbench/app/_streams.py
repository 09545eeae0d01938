"""The two streams that a page's inputs name, made again only where what they are made of has changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.app.sources import Streams, Values, sources
from workbench.untyped import Value


@dataclass(frozen=True, eq=False)
class Made:
    """Streams with what they were made of."""

    streams: Streams
    values: tuple[Value, ...]
    variables: tuple[Value, ...]


def made_streams(values: Values, variables: Values, before: Made | None) -> Made:
    """The streams that inputs name.

    Parameters
    ----------
    values
        What the inputs hold.
    variables
        What the notebook's variables hold.
    before
        What was made last, which is taken again where it was made of the same.

    Raises
    ------
    WrongSettingsError
        If an input is wrong.
    """
    source = sources()[values["source"]]
    of = (source.name, *(values[name] for name in source.inputs))
    held = tuple(variables.get(values[name]) for name in source.variables)
    if before is not None and before.values == of and all(map(_same, before.variables, held)):
        return before
    return Made(source.make(values, variables), of, held)


def _same(one: Any, other: Any) -> bool:
    return one is other
