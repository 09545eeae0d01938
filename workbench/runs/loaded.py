"""`load`: a run, or preview, that was saved."""

from __future__ import annotations

import os

from workbench import safe_files
from workbench.runs import saved
from workbench.runs.preview import Preview
from workbench.runs.run import Run

__all__ = ["load"]


def load(path: str | os.PathLike[str]) -> Run | Preview:
    """A run, or preview, as it was saved; without Spark, in any session.

    Parameters
    ----------
    path
        The folder that `Run.save` wrote.

    Returns
    -------
    Run or Preview
        It answers as the one that was saved does. What needs the checkpoint, which is not saved, is an error:
        `Run.state`, `Run.savepoint`, `Run.compare`, and the session and folder of `Run.execution`.

    Raises
    ------
    ArgumentError, DataError
        If the folder holds no run, one that a newer workbench wrote, or one of which a part is missing or was changed.

    Examples
    --------
    >>> import generators
    >>> import workbench as wb
    >>> orders, payments = generators.generate("orders_payments", events=50, seed=7)
    >>> seen = wb.preview(wb.IntervalJoin("0 seconds", "2 seconds"), orders, payments).named("two seconds")
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     wb.load(seen.save(f"{folder}/two-seconds"))
    <Preview 'two seconds' of IntervalJoin(lower='0 seconds', upper='2 seconds') on orders and payments>
    """
    found = saved.read(safe_files.place(path))
    if found.execution is None:
        return Preview(found.simulation, name=found.name)
    return Run(found.simulation, found.execution, name=found.name)
