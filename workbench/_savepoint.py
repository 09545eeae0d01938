"""Savepoints: a consistent copy of a run's checkpoint after a micro-batch, from which a run goes on."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from workbench.errors import WorkbenchError, wrong

if TYPE_CHECKING:
    from workbench.results import Run

_NOTE = "savepoint.json"
_LOGS = ("offsets", "commits")


def take(run: Run, path: str | os.PathLike[str], batch: int) -> Path:
    """Copy what a run's checkpoint held after a micro-batch; see `Run.savepoint`."""
    target = Path(path)
    if not run.ran or run.live is not None:
        raise WorkbenchError("a savepoint is taken of a run on Spark that has ended; run it with workbench.run")
    last = len(run.progress) - 1
    if isinstance(batch, bool) or not isinstance(batch, int) or not 0 <= batch <= last:
        raise wrong("batch", batch, f"this run has micro-batches 0 to {last}")
    if target.exists() and any(target.iterdir()):
        raise wrong("path", str(path), "that folder is not empty; give a new one")
    if not target.parent.is_dir():
        raise wrong("path", str(path), f"there is no folder {str(target.parent)!r}; make it first")
    shutil.copytree(run.folder, target, dirs_exist_ok=True, ignore=_later_than(run.folder, batch))
    note = {
        "batch": batch,
        "folder": str(run.folder),
        "made_for": _made_for(run, batch),
        "progress": [_plain(each) for each in run.progress[: batch + 1]],
    }
    (target / _NOTE).write_text(json.dumps(note))
    return target


def _plain(progress: Any) -> dict[str, Any]:
    """Spark's progress, as what JSON can hold."""
    told: dict[str, Any] = json.loads(progress.json) if hasattr(progress, "json") else progress
    return told


def _later_than(folder: Path, batch: int) -> Any:
    """What `shutil.copytree` leaves out: the recording, and what came after a micro-batch."""
    logs = {folder / "checkpoint" / log for log in _LOGS} | {folder / "output" / "_spark_metadata"}
    state, sources = folder / "checkpoint" / "state", folder / "checkpoint" / "sources"
    output = folder / "output"

    def ignore(place: str, names: list[str]) -> list[str]:
        here = Path(place)
        if here == folder:
            return [name for name in names if name not in ("checkpoint", "output")]
        if here in logs or here.parent == sources:
            return [name for name in names if not name.isdigit() or int(name) > batch]
        if here == output:
            kept = _written(output, batch)
            return [name for name in names if name not in kept and name != "_spark_metadata"]
        if state in here.parents:  # the state after micro-batch n is version n + 1
            return [name for name in names if (found := re.match(r"(\d+)[._]", name)) and int(found[1]) > batch + 1]
        return []

    return ignore


def _written(output: Path, batch: int) -> set[str]:
    """The names of the files that the sink's log has up to a micro-batch."""
    names = set()
    for number in range(batch + 1):
        for line in (output / "_spark_metadata" / str(number)).read_text().splitlines()[1:]:
            names.add(Path(json.loads(line)["path"]).name)
    return names


def restore(done: Run, path: str | os.PathLike[str]) -> None:
    """Give a run, whose recording is written, a savepoint's checkpoint and output.

    Raises
    ------
    ArgumentError
        If it is none, or one of another run.
    """
    source = Path(path)
    try:
        note = json.loads((source / _NOTE).read_text())
    except (OSError, ValueError):
        raise wrong("savepoint", str(path), "that is none; give a folder that Run.savepoint made") from None
    now = _made_for(done, note["batch"])
    for what, was in note["made_for"].items():
        if now[what] != was:
            raise wrong(
                "savepoint",
                str(path),
                f"it was made for {what} {was!r}, this run has {now[what]!r}; take one of such a run",
            )
    for part in ("checkpoint", "output"):
        shutil.copytree(source / part, done.folder / part, dirs_exist_ok=True)
    logs = [
        *(done.folder / "checkpoint" / "sources").rglob("*"),
        *(done.folder / "output" / "_spark_metadata").iterdir(),
    ]
    before, after = (f"file://{quote(str(folder))}/" for folder in (note["folder"], done.folder))
    for log in logs:
        if log.is_file():
            log.write_text(log.read_text().replace(before, after))
    done.progress = note["progress"]


def _made_for(run: Run, batch: int) -> dict[str, Any]:
    """What must be the same in the run that goes on."""
    import hashlib

    told: dict[str, Any] = {"join": repr(run.join), "policy": run.policy}
    for side, stream in (("left", run.left), ("right", run.right)):
        rows = int((stream.arrival <= batch).sum())
        hashed = hashlib.sha256()
        for piece in stream.table.slice(0, rows).combine_chunks().to_batches():
            for column in piece.columns:
                hashed.update(repr(column.to_pylist()).encode())
        settings = f"key {list(stream.key)}, time {stream.time!r}, watermark {stream.watermark}"
        told[f"{side} stream"] = f"{settings}, {rows} rows up to micro-batch {batch} ({hashed.hexdigest()[:8]})"
    return told
