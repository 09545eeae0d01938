"""Savepoints: a consistent copy of a run's checkpoint after a micro-batch, from which a run goes on."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from workbench import safe_files
from workbench.engine.execution import Execution
from workbench.errors import WorkbenchError, wrong
from workbench.model import Simulation, checked_batch
from workbench.session import state_store
from workbench.spark_io.storage import Place
from workbench.untyped import Record

__all__ = ["Savepoint", "read", "restore", "take"]

_NOTE = "savepoint.json"
_LOGS = ("offsets", "commits")
_PARTS = ("checkpoint", "output")


def take(simulation: Simulation, execution: Execution, path: str | os.PathLike[str], batch: int) -> Path:
    """Copy what a run's checkpoint held after a micro-batch; see `Run.savepoint`."""
    target = safe_files.place(path)
    if not simulation.ended:
        raise WorkbenchError("a savepoint is taken of a run on Spark that has ended; run it with workbench.run")
    batch = checked_batch(batch, len(execution.progress))
    place = execution.at_hand()[1]
    for part in _PARTS:
        place.fetch(part)
    note = {
        "batch": batch,
        "logged": place.logged,
        "made_for": _made_for(simulation, batch),
        "pruned": execution.pruned,
        "progress": execution.progress[: batch + 1],
    }
    with safe_files.folder(target, None) as staged:
        shutil.copytree(place.path, staged, dirs_exist_ok=True, ignore=_later_than(place.path, batch))
        offsets = (staged / "checkpoint" / "offsets").iterdir()
        _reword(
            offsets, state_store.COMPACT, state_store.SPARKS_OWN
        )  # any session can go on: the files are Spark's own
        (staged / _NOTE).write_text(json.dumps(note), encoding="utf-8")
    return target


def _later_than(folder: Path, batch: int) -> Any:
    """What `shutil.copytree` leaves out: the recording, and what came after a micro-batch."""
    logs = {folder / "checkpoint" / log for log in _LOGS} | {folder / "output" / "_spark_metadata"}
    state, sources = folder / "checkpoint" / "state", folder / "checkpoint" / "sources"
    output = folder / "output"

    def ignore(place: str, names: list[str]) -> list[str]:
        here = Path(place)
        if here == folder:
            return [name for name in names if name not in _PARTS]
        if here in logs or here.parent == sources:
            return [name for name in names if not name.isdigit() or int(name) > batch]
        if here == output:
            kept = _output_files(output, batch)
            return [name for name in names if name not in kept and name != "_spark_metadata"]
        if state in here.parents:  # the state after micro-batch n is version n + 1
            return [name for name in names if (found := re.match(r"(\d+)[._]", name)) and int(found[1]) > batch + 1]
        return []

    return ignore


def _output_files(output: Path, batch: int) -> set[str]:
    """The names of the files that the sink's log has up to a micro-batch."""
    names = set()
    for number in range(batch + 1):
        for line in (output / "_spark_metadata" / str(number)).read_text(encoding="utf-8").splitlines()[1:]:
            names.add(Path(json.loads(line)["path"]).name)
    return names


@dataclass(frozen=True)
class Savepoint:
    """A savepoint that a run can go on from.

    Attributes
    ----------
    path
        Its folder.
    logged
        The folder in which its run was, as Spark's logs write it.
    pruned
        Whether its run went without the columns that the join does not need, and so must the one that goes on.
    progress
        Spark's progress of the micro-batches up to it.
    """

    path: Path
    logged: str
    pruned: bool
    progress: list[Record]


def read(simulation: Simulation, path: str | os.PathLike[str]) -> Savepoint:
    """A savepoint of the same join, and of streams that start with the same micro-batches.

    Raises
    ------
    ArgumentError
        If it is none, or one of another simulation.
    """
    source = safe_files.place(path, argument="savepoint")
    try:
        note = json.loads((source / _NOTE).read_text(encoding="utf-8"))
        now = _made_for(simulation, int(note["batch"]))
        made_for, pruned = dict(note["made_for"]), bool(note.get("pruned", False))
        found = Savepoint(source, _logged(note), pruned, list(note["progress"]))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        raise wrong("savepoint", str(path), "no savepoint found in it; give a folder that Run.savepoint made") from None
    for what, was in made_for.items():
        if now.get(what) != was:
            raise wrong(
                "savepoint",
                str(path),
                f"it was made for {what} {was!r}, this run has {now.get(what)!r}; take one of such a run",
            )
    return found


def restore(savepoint: Savepoint, place: Place, store: str) -> list[Record]:
    """Copy a savepoint's checkpoint and output into a folder in which the recording is written.

    Parameters
    ----------
    savepoint, place
        What, and where to.
    store
        The class of the state store that goes on, which Spark takes from the log of offsets; its files are Spark's own.

    Returns
    -------
    list of dict
        Spark's progress of the micro-batches up to the savepoint.
    """
    target = place.path
    for part in _PARTS:
        shutil.copytree(savepoint.path / part, target / part, dirs_exist_ok=True)
    _reword((target / "checkpoint" / "offsets").iterdir(), state_store.SPARKS_OWN, store)
    logs = [
        *(target / "checkpoint" / "sources").rglob("*"),
        *(target / "output" / "_spark_metadata").iterdir(),
    ]
    _reword(logs, savepoint.logged, place.logged)
    return savepoint.progress


def _reword(logs: Iterable[Path], was: str, now: str) -> None:
    """Replace words in some of Spark's logs."""
    for log in logs:
        if log.is_file():
            log.write_text(log.read_text(encoding="utf-8").replace(was, now), encoding="utf-8")


def _logged(note: Record) -> str:
    """How the logs of a savepoint write the folder they were written in; earlier versions noted its path."""
    return str(note["logged"]) if "logged" in note else f"file://{quote(str(note['folder']))}/"


def _made_for(simulation: Simulation, batch: int) -> Record:
    """What must be the same in the run that goes on."""
    description: Record = {"join": repr(simulation.join), "policy": simulation.policy}
    for side, stream in (("left", simulation.left), ("right", simulation.right)):
        rows = int((stream.arrival <= batch).sum())
        hashed = hashlib.sha256()
        for piece in stream.table.slice(0, rows).combine_chunks().to_batches():
            for column in piece.columns:
                hashed.update(repr(column.to_pylist()).encode())
        settings = f"key {list(stream.key)}, time {stream.time!r}, watermark {stream.watermark}"
        description[f"{side} stream"] = f"{settings}, {rows} rows up to micro-batch {batch} ({hashed.hexdigest()[:8]})"
    return description
