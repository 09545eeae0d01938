"""Writing the script of a run to a file."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from workbench import script
from workbench.errors import wrong
from workbench.plan import Names
from workbench.results import Run


def export(run: Run, path: str | os.PathLike[str], data: bool = True) -> Path:
    """Write the script of a run to a file.

    Streams from memory have no files that the script could read, so their recordings are written beside it, into
    ``data/<stream>``.

    Parameters
    ----------
    run
        The run whose join, streams and settings to take.
    path
        The script, ending in ``.py``.
    data
        Write the recordings of streams from memory, too.

    Returns
    -------
    pathlib.Path
        The script.

    Raises
    ------
    ArgumentError
        If `path` is no Python file in an existing folder.
    """
    if not isinstance(run, Run):
        raise wrong("run", type(run).__name__, "give what workbench.run returned")
    file = Path(path)
    if file.suffix != ".py":
        raise wrong("path", str(path), 'give a file that ends in .py, such as "join.py"')
    if not file.parent.is_dir():
        raise wrong("path", str(path), f"there is no folder {str(file.parent)!r}; make it first")
    file.write_text(script.render(run.join, run.left, run.right, run.finish, run.policy, file.name))
    names = Names.of(run.left, run.right)
    for side, stream in ((names.left, run.left), (names.right, run.right)):
        if data and stream.path is None:
            folder = file.parent / "data" / side.var
            shutil.rmtree(folder, ignore_errors=True)
            stream.write(folder)
    return file
