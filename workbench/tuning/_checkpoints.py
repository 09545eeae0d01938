"""What a checkpoint that is there means for a join that is to go on from it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from workbench import safe_files, script
from workbench.errors import wrong
from workbench.model import Simulation
from workbench.plan import Names
from workbench.untyped import Value

__all__ = ["changes"]

_NOTE, _BEGUN = "made-for", "metadata"
_OTHERS = {"join", "policy", "source", "state store", "shuffle partitions", "output"}
_REFUSED = "Spark refuses the state"
_RENAMED = "Spark would continue, and the values in state would get the new name"
_REMEDY = "the project refuses the checkpoint; start with a new one, and replay the rows that are in state"


def changes(simulation: Simulation, path: str | os.PathLike[str]) -> Iterator[tuple[str, str]]:
    """What differs from what the checkpoint of a project was made for: problem and remedy.

    Raises
    ------
    ArgumentError
        If no project of the workbench has noted there what it is made for.
    """
    place = safe_files.place(path, argument="checkpoint")
    known = _read(place)
    if not (place / _BEGUN).is_file():  # the note is of a start that was refused, and is written anew by the next one
        return
    left, right = simulation.left, simulation.right
    endpoints = script.check(left, right, known.get("source"), "parquet", None)
    now = script.made_for(simulation.join, left, right, simulation.policy, endpoints)
    for name in ("join", "policy"):
        if known[name] != now[name]:
            yield f"the checkpoint {place} was made for {name} {known[name]}, this is {now[name]}", _REMEDY
    names = Names.of(left, right)
    before = [name for name in known if name not in _OTHERS]
    for was, name, stream in zip(before, (names.left.var, names.right.var), (left, right), strict=True):
        if was != name:
            yield f"the checkpoint {place} was made for a stream called {was}, this one is called {name}", _REMEDY
        columns = (json.loads(each) for each in (known[was], now[name]))
        yield from ((words, _REMEDY) for words in _of_columns(stream.name, *columns))


def _read(place: Path) -> dict[str, str]:
    try:
        (file,) = (place / _NOTE).glob("part-*")
        found: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
        if not {"join", "policy", "source"} <= found.keys() or len(found.keys() - _OTHERS) != 2:
            raise ValueError(found)
    except (OSError, ValueError, AttributeError):
        remedy = "it has no note of a project of the workbench; give the folder of its --checkpoint"
        raise wrong("checkpoint", str(place), remedy) from None
    return found


def _of_columns(stream: str, was: Mapping[str, Value], now: Mapping[str, Value]) -> Iterator[str]:
    """How a stream's keys, time and columns have changed."""
    for what in ("key", "time"):
        if was[what] != now[what]:
            yield f"{stream}: the checkpoint was made for {what} {was[what]!r}, this is {now[what]!r}"
    before, after = dict(was["columns"]), dict(now["columns"])
    removed = [name for name in before if name not in after]
    added = [name for name in after if name not in before]
    for name in before:
        if name in after and before[name] != after[name]:
            yield f"{stream}: {name} was {before[name]}, and is {after[name]} now: {_REFUSED}"
    if len(removed) == len(added) == 1 and before[removed[0]] == after[added[0]]:
        yield f"{stream}: {removed[0]} is called {added[0]} now: {_RENAMED}"
    else:
        yield from (f"{stream}: {name} is no longer there: {_REFUSED}" for name in removed)
        yield from (f"{stream}: {name} is new: {_REFUSED}" for name in added)
    if sorted(before) == sorted(after) and list(before) != list(after):
        yield f"{stream}: its columns are in another order: {_REFUSED}"
