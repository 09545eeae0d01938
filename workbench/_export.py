"""Writing the script of a run to a file, or all that a project of its own needs to a folder."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from workbench import _project, script
from workbench.errors import wrong
from workbench.plan import Names
from workbench.results import Run


def export(
    run: Run,
    path: str | os.PathLike[str],
    data: bool = True,
    source: str | None = None,
    sink: str | None = None,
    late: str | None = None,
) -> Path:
    """Write the script of a run to a file, or a project around it to a folder.

    Streams from memory have no files that the script could read, so their recordings are written beside it, into
    ``data/<stream>``. A folder gets ``join.py``, ``test_join.py`` with the recording as a small fixture and the rows
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
    late
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
    if not isinstance(run, Run):
        raise wrong("run", type(run).__name__, "give what workbench.run returned")
    target = Path(path)
    if not run.ran and target.suffix != ".py":
        raise wrong(
            "run", run, "a folder's test holds the script to the rows of a run; run it on Spark with workbench.run"
        )
    source, sink = source or "files", sink or "parquet"
    places = script.check(run.left, run.right, source, sink, late)
    if target.suffix not in ("", ".py") and not target.is_dir():
        raise wrong("path", str(path), 'give a file that ends in .py, such as "join.py", or a folder')
    if not target.parent.is_dir():
        raise wrong("path", str(path), f"there is no folder {str(target.parent)!r}; make it first")
    if target.suffix == ".py":
        file = target
    else:
        target.mkdir(exist_ok=True)
        file = target / "join.py"
        _project.write(run, target, places)
    text = script.render(run.join, run.left, run.right, run.finish, run.policy, file.name, source, sink, late)
    file.write_text(text)
    if places.source == "files":
        _record(run, file.parent / "data", data)
    return file


def _record(run: Run, folder: Path, data: bool) -> None:
    names = Names.of(run.left, run.right)
    for side, stream in ((names.left, run.left), (names.right, run.right)):
        if data and stream.path is None:
            shutil.rmtree(folder / side.var, ignore_errors=True)
            stream.write(folder / side.var)
