"""Writing the script of a run to a file, or all that a project of its own needs to a folder."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from workbench import safe_files, script
from workbench.errors import ArgumentError, wrong
from workbench.exporting import _folder
from workbench.plan import Names
from workbench.runs.result import Result
from workbench.runs.run import Run
from workbench.sources import Memory
from workbench.sources.key_choice import newest_times
from workbench.streams import Stream
from workbench.untyped import Record

__all__ = ["export", "is_whole"]

_LONGEST = 200
"""Bytes of a folder's name: file systems take 255, and a folder that is being written has a longer one."""


def export(
    run: Result,
    path: str | os.PathLike[str],
    *,
    data: bool = True,
    source: str | None = None,
    sink: str | None = None,
    dead_letters: str | None = None,
) -> Path:
    """Write the script of a run to a file, or a project around it to a folder.

    A file gets a plain script: read, watermarks, the join, write. A folder gets what a long-lived job needs as a
    package of modules: ``main.py``, which starts it, ``join.py``, ``sources.py``, ``sinks.py``, ``operations.py`` (log,
    restarts, the checkpoint that belongs to the job), ``draining.py``, ``dead_letters.py`` where asked for; ``tests``
    with the recording as a small fixture and the rows that are expected of it, ``README.md`` with the commands that
    start it, ``pyproject.toml``.
    Both go on until they are stopped; with ``--drain`` they take what is there, close every window, and end.

    Streams from memory have no files that a script could read, so their recordings are written beside it, for
    ``join.py`` into ``join_data/<stream>``. Only what an earlier export wrote, and nobody has edited since, is
    replaced.

    Parameters
    ----------
    run
        The run whose join, streams and settings to take.
    path
        The script, ending in ``.py``, or a folder, which is made if it is missing.
    data
        Write the recordings of streams from memory, too.
    source
        Where the script reads: ``files`` (None: the same; the run's folders of files, or its recordings), ``kafka``
        (topics of JSON objects), ``kafka-avro`` or ``iceberg`` (tables, as rows are appended).
    sink
        Where it writes: ``parquet`` (None: the same), ``delta``, ``iceberg``, ``kafka``, ``console``, ``postgresql``
        (by a row's id) or ``postgresql-transaction`` (a transaction for each micro-batch). What each promises is said
        in the script.
    dead_letters
        Where a project writes rows that come late or cannot be read: ``parquet``, ``kafka``, or None: nowhere, they
        are counted only. A plain script has none.

    Returns
    -------
    pathlib.Path
        The script, or the project's ``main.py``.

    Raises
    ------
    ArgumentError
        If an argument is wrong, or the script cannot be written there.
    """
    if not isinstance(run, Result):
        raise wrong("run", type(run).__name__, "give what workbench.run returned")
    if run.simulation.flink is not None:
        raise wrong("run", run, "its rules are Flink's: its script, in Java, is run.script; export the run on Spark")
    target = safe_files.place(path)
    if target.suffix not in ("", ".py") and not target.is_dir():
        raise wrong("path", str(path), 'give a file that ends in .py, such as "join.py", or a folder')
    if not isinstance(data, bool):
        raise wrong("data", data, "use True or False")
    source, sink = "files" if source is None else source, "parquet" if sink is None else sink
    endpoints = script.check(run.left, run.right, source, sink, dead_letters)
    recorded = _recorded(run) if data and endpoints.source.stored else {}
    _check_whole(run, recorded, target.suffix != ".py")
    if target.suffix != ".py":
        if not isinstance(run, Run):
            raise wrong("run", run, "a project's test needs the rows of a run on Spark; use workbench.run")
        with safe_files.folder(target, "a project") as staged:
            _folder.write(run, staged, endpoints)
            _record(recorded, staged / script.data_folder(script.MAIN))
        return target / script.MAIN
    places: Record = {"source": source, "sink": sink, "dead_letters": dead_letters}
    text = script.render(run.join, run.left, run.right, policy=run.policy, file=target.name, **places)
    safe_files.check_script(target)
    if recorded:
        with safe_files.folder(target.parent / script.data_folder(target.name), "rows of a script") as staged:
            _record(recorded, staged)
    safe_files.write_script(target, text)
    return target


def is_whole(stream: Stream) -> bool:
    """Whether the rows of a stream bring its watermarks about by themselves; those of a sample come too late."""
    if stream.newest is None:
        return True
    own = newest_times(len(stream.newest), stream.arrival, stream.event_times)
    return bool((np.maximum.accumulate(own) >= np.maximum.accumulate(stream.newest)).all())


def _check_whole(run: Result, recorded: dict[str, Stream], project: bool) -> None:
    """Refuse to write rows for a script that would go by their watermarks, where those of the run are of more rows."""
    for stream in (run.left, run.right):
        if not is_whole(stream) and (project or stream in recorded.values()):
            remedy = "give a run of all rows" if project else "give a run of all rows, or data=False"
            part = f"the rows of {stream.name} are a part of those that its watermarks are of"
            words = f"{part}, which a script would not have"
            raise ArgumentError(f"run: {words}: {remedy}")


def _recorded(run: Result) -> dict[str, Stream]:
    """The streams that have no files of their own, by the names of their folders."""
    names = Names.of(run.left, run.right)
    sides = {names.left.var: run.left, names.right.var: run.right}
    found = {name: stream for name, stream in sides.items() if isinstance(stream.source, Memory)}
    for name, stream in found.items():
        if len(os.fsencode(name)) > _LONGEST:
            remedy = f"its recording is written to a folder of that name; use {_LONGEST} bytes at most, or data=False"
            raise wrong("name", stream.name, remedy)
    return found


def _record(streams: dict[str, Stream], folder: Path) -> None:
    for name, stream in streams.items():
        stream.write(folder / name)
