"""Writing the script of a run to a file, or all that a project of its own needs to a folder."""

from __future__ import annotations

import os
from pathlib import Path

from workbench import safe_files, script
from workbench.errors import wrong
from workbench.plan import Names
from workbench.runs.result import Result
from workbench.runs.run import Run
from workbench.script import _folder
from workbench.sources import Memory
from workbench.streams import Stream

__all__ = ["export"]


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

    Streams from memory have no files that the script could read, so their recordings are written beside it, for
    ``join.py`` into ``join_data/<stream>``. Only what an earlier export wrote, and nobody has edited since, is
    replaced. A folder gets ``join.py``, ``test_join.py`` with the recording as a small fixture and the rows
    that are expected of it, ``README.md`` with the commands that start it, and ``pyproject.toml``.

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
        (topics of JSON objects) or ``kafka-avro``.
    sink
        Where it writes: ``parquet`` (None: the same), ``delta``, ``kafka``, ``console``, ``postgresql`` (by a row's
        id) or ``postgresql-transaction`` (a transaction for each micro-batch). What each promises is said in the
        script.
    dead_letters
        Where it writes rows that come late or cannot be read: ``parquet``, ``kafka``, or None: nowhere, they are
        counted only.

    Returns
    -------
    pathlib.Path
        The script.

    Raises
    ------
    ArgumentError
        If an argument is wrong, or the script cannot be written there.
    """
    if not isinstance(run, Result):
        raise wrong("run", type(run).__name__, "give what workbench.run returned")
    target = safe_files.place(path)
    if target.suffix not in ("", ".py") and not target.is_dir():
        raise wrong("path", str(path), 'give a file that ends in .py, such as "join.py", or a folder')
    if not isinstance(data, bool):
        raise wrong("data", data, "use True or False")
    source, sink = "files" if source is None else source, "parquet" if sink is None else sink
    endpoints = script.check(run.left, run.right, source, sink, dead_letters)
    single = target.suffix == ".py"
    file = target if single else target / "join.py"
    text = script.render(
        run.join,
        run.left,
        run.right,
        finish=run.finish,
        policy=run.policy,
        file=file.name,
        source=source,
        sink=sink,
        dead_letters=dead_letters,
    )
    recorded = _recorded(run) if data and endpoints.source.stored else {}
    if not single:
        if not isinstance(run, Run):
            raise wrong("run", run, "a folder's test needs the rows of a run on Spark; use workbench.run")
        with safe_files.folder(target) as staged:
            _folder.write(run, staged, endpoints)
            (staged / file.name).write_text(text, encoding="utf-8", newline="\n")
            _record(recorded, staged / script.data_folder(file.name))
        return file
    safe_files.check_script(file)
    if recorded:
        with safe_files.folder(file.parent / script.data_folder(file.name)) as staged:
            _record(recorded, staged)
    safe_files.write_script(file, text)
    return file


def _recorded(run: Result) -> dict[str, Stream]:
    """The streams that have no files of their own, by the names of their folders."""
    names = Names.of(run.left, run.right)
    sides = {names.left.var: run.left, names.right.var: run.right}
    return {name: stream for name, stream in sides.items() if isinstance(stream.source, Memory)}


def _record(streams: dict[str, Stream], folder: Path) -> None:
    for name, stream in streams.items():
        stream.write(folder / name)
