"""Variables of the notebook: those that a page begins with, and names for those that it adds."""

from __future__ import annotations

import itertools
from collections.abc import Container

from workbench.jobs import Job
from workbench.streams import Stream
from workbench.untyped import Namespace, Record, Value


def named(given: tuple[Value, ...], namespace: Namespace) -> tuple[Record, tuple[str, ...]]:
    """The notebook's variables with the streams that were given, and the names of these."""
    names = []
    for place, each in enumerate(given):
        own = each.name if isinstance(each, Stream) else "job" if isinstance(each, Job) else ("left", "right")[place]
        name = each if isinstance(each, str) else own
        if not isinstance(each, str):
            namespace = {**namespace, name: each}
        names.append(name)
    return namespace, tuple(names)


def free_name(name: str, taken: Container[str]) -> str:
    """A name that no variable has: the one that is wished for, or it with a number."""
    names = itertools.chain([name], (f"{name}_{number}" for number in itertools.count(2)))
    return next(each for each in names if each not in taken)
