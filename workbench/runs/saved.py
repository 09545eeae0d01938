"""A run as a folder: the recording of both streams, the settings, and what Spark reported and wrote.

``run.json`` says what it is, with a checksum of each other file; ``recording`` is one as `workbench.recording` writes
it; ``output.parquet`` is the output as Spark wrote it, which a preview does not have. Nothing in it is run when it is
read: a join is written as the inputs of its kind's form, which are checked as if they were typed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from workbench import recording, safe_files
from workbench.engine.execution import Execution, versions
from workbench.errors import DataError, WorkbenchError, one_of, wrong
from workbench.joins import Join, how_of
from workbench.kinds import Flag, kind_of, kinds
from workbench.literals import POLICIES, SIDES
from workbench.model import Simulation
from workbench.runs.arguments import check
from workbench.sources import FORMATS, MALFORMED, Files, Memory, Source
from workbench.untyped import Record, Value

__all__ = ["Saved", "checked_name", "read", "write"]

_KIND = "stream-join-workbench run"
_VERSION, _WHOLE = 2, 1  # the output of the first has all columns
_ABOUT, _RECORDING, _OUTPUT = "run.json", "recording", "output.parquet"
_LONGEST_NAME = 200


@dataclass(frozen=True, eq=False)
class Saved:
    """What is kept of a run or preview.

    Attributes
    ----------
    simulation
        The streams, the join and its settings.
    name
        What its user calls it; may be empty.
    execution
        What Spark reported and wrote; None of a preview.
    """

    simulation: Simulation
    name: str = ""
    execution: Execution | None = None


def write(saved: Saved, path: Path) -> Path:
    """Write a run, or preview, into a folder; see `Run.save`."""
    simulation, execution = saved.simulation, saved.execution
    about = {
        "kind": _KIND,
        "version": _VERSION if execution is not None and execution.pruned else _WHOLE,
        "versions": dict(versions(simulation.spark_version) if execution is None else execution.versions),
        "name": saved.name,
        "join": _described(simulation.join),
        "finish": simulation.finish,
        "policy": simulation.policy,
        "ended": simulation.ended,
        "sources": {side: _source(simulation.side(side).source) for side in SIDES},
        "execution": None,
    }
    if execution is not None:
        about["execution"] = {
            "progress": list(execution.progress),
            "compared_state": execution.compared_state,
            "pruned": execution.pruned,
        }
    output = None if execution is None else execution.raw_output
    with safe_files.folder(path, "a run") as staged:
        (staged / _RECORDING).mkdir()
        recording.write(staged / _RECORDING, simulation.left, simulation.right)
        if output is not None:
            pq.write_table(output, staged / _OUTPUT)
        about["files"] = {
            each.relative_to(staged).as_posix(): safe_files.digest(each) for each in staged.rglob("*") if each.is_file()
        }
        about["digest"] = _digest(about)
        (staged / _ABOUT).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return path


def _digest(about: Mapping[str, Value]) -> str:
    """The checksum of what a file says beside it."""
    said = {name: value for name, value in about.items() if name != "digest"}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def _described(join: Join) -> Record:
    """A join as the name of its kind, and the inputs of that kind's form."""
    kind = kind_of(join)
    return {"kind": kind.name, "how": how_of(join), "arguments": kind.typed(join), "repr": repr(join)}


def _source(source: Source) -> Record | None:
    return asdict(source) if isinstance(source, Files) else None


def read(path: Path) -> Saved:
    """Read what `write` has written.

    Raises
    ------
    ArgumentError, DataError
        If the folder holds no run, one of a newer format, or one of which a part is missing or was changed.
    """
    file = path / _ABOUT
    if not file.is_file():
        other = "it is a recording: load it with generators.load" if (path / "recording.json").is_file() else ""
        raise wrong("path", str(path), other or f"there is no {_ABOUT} in it; give a folder that Run.save wrote")
    try:
        about = json.loads(file.read_text(encoding="utf-8"))
        if about["kind"] != _KIND:
            raise ValueError(f"its kind is {about['kind']!r}")
        _check_version(file, about)
        _check_files(path, about["files"])
        simulation = _simulation(path, about)
        done = about["execution"]
        execution = None if done is None else _execution(path, done, about["versions"])
        saved = Saved(simulation, checked_name(about["name"]), execution)
        if about.get("digest", _digest(about)) != _digest(about):  # the first that were written had none
            raise DataError(f"path: {file} was changed since it was written; save the run again")
        return saved
    except DataError:
        raise
    except WorkbenchError as error:
        raise DataError(f"path: {file} does not describe a run ({error}); save the run again") from None
    except recording.NOT_AS_WRITTEN as error:
        raise DataError(f"path: {file} does not describe a run ({error!r}); save the run again") from None


def checked_name(name: Any) -> str:
    """The name of a run, checked.

    Raises
    ------
    ArgumentError
        If it is no text of one line, or too long.
    """
    remedy = f'give a short text of one line, such as "baseline"; at most {_LONGEST_NAME} characters'
    if not isinstance(name, str) or len(name) > _LONGEST_NAME or not (name.isprintable()):
        raise wrong("name", name, remedy)
    return name


def _check_version(file: Path, about: Mapping[str, Value]) -> None:
    version = about["version"]
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise ValueError(f"its version is {version!r}")
    if version > _VERSION:
        by = about.get("versions", {}).get("workbench", "a later one")
        raise DataError(
            f"path: {file} was written by a newer workbench ({by}), in format {version}, and this one reads format "
            f"{_VERSION}; update the workbench"
        )


def _check_files(path: Path, files: Mapping[str, str]) -> None:
    """Check that all files are there, as they were written; only these are read."""
    changed = [name for name, digest in files.items() if safe_files.digest(path / name) != digest]
    if changed:
        words = "is missing or changed" if len(changed) == 1 else "are missing or changed"
        raise DataError(f"path: {path} is damaged, {safe_files.listed(changed)} {words}; save the run again")


def _simulation(path: Path, about: Mapping[str, Value]) -> Simulation:
    left, right = recording.load(path / _RECORDING)
    sources = [_read_source(about["sources"][side]) for side in SIDES]
    left, right = (replace(each, source=source) for each, source in zip((left, right), sources, strict=True))
    for name in ("finish", "ended"):
        if not isinstance(about[name], bool):
            raise TypeError(f"{name}: {about[name]!r}")
    one_of("policy", about["policy"], POLICIES)
    join = _read_join(about["join"])
    left, right = check(join, left, right, about["finish"], about["policy"])
    version = str(about["versions"]["pyspark"])
    return Simulation(join, left, right, about["finish"], about["policy"], about["ended"], version)


def _read_join(about: Mapping[str, Value]) -> Join:
    kind = kinds().get(about["kind"])
    if kind is None:
        raise DataError(
            f"path: its join, {about['repr']}, is of a kind {about['kind']!r} that is not known here; register it with "
            "workbench.kinds.register first"
        )
    given = {each.argument: each.first for each in kind.texts} | about["arguments"]  # an older version knew of none
    texts = {each.argument: given[each.argument] for each in kind.inputs if not isinstance(each, Flag)}
    flags = {each.argument: given[each.argument] for each in kind.flags}
    join: Join = kind.make(texts, flags, about["how"])
    return join


def _read_source(about: Mapping[str, Value] | None) -> Source:
    if about is None:
        return Memory()
    one_of("format", about["format"], FORMATS)
    one_of("malformed", about["malformed"], MALFORMED)
    return Files(
        str(about["path"]),
        about["format"],
        int(about["max_files"]),
        {str(name): str(value) for name, value in about["options"].items()},
        about["malformed"],
        tuple(str(each) for each in about["nanos"]),
        tuple((str(name), str(kind)) for name, kind in about["columns"]),
    )


def _execution(path: Path, about: Mapping[str, Value], versions: Mapping[str, str]) -> Execution:
    progress = about["progress"]
    if not isinstance(progress, list) or not progress or not all(isinstance(each, dict) for each in progress):
        raise TypeError("its progress is no list of micro-batches")
    written, pruned = pq.read_table(path / _OUTPUT), bool(about.get("pruned", False))
    return Execution(None, None, tuple(progress), written, dict(versions), pruned, about["compared_state"])
