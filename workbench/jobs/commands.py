"""What commands share: the code that one names, the session that it runs in, and how they print."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from workbench import session
from workbench.errors import ArgumentError, WorkbenchError, wrong
from workbench.spark_io.cause import cause

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "CROSSED",
    "FAILED",
    "FINE",
    "SETTINGS",
    "failed",
    "function",
    "is_set",
    "is_there",
    "printable",
    "said_of",
    "spark_session",
]

FINE, CROSSED, FAILED = 0, 1, 2
"""The exit codes."""
SETTINGS = ("PYSPARK_GATEWAY_PORT", "PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME", "SPARK_REMOTE")
"""Where one of these is set, somebody has chosen which Spark it is, and how it is set up."""


def failed(error: WorkbenchError, options: Mapping[str, str]) -> int:
    """Print what is wrong, by the options that the arguments of functions come from, and give the exit code."""
    option = options.get(error.argument) if isinstance(error, ArgumentError) else None
    words = f"{option}: {error.remedy}" if isinstance(error, ArgumentError) and option else str(error)
    print(printable(" ".join(words.split())), file=sys.stderr)
    return FAILED


def printable(words: str) -> str:
    """Words without what a terminal would carry out, such as a sequence of escape that clears it."""
    plain = (each if each.isprintable() or each == "\n" else each.encode("unicode_escape").decode() for each in words)
    return "".join(plain)


def function(job: str) -> Callable[..., Any]:
    """The function that ``module:function`` or ``file.py:function`` names.

    Raises
    ------
    ArgumentError
        Named ``job``, if there is none.
    """
    module, _, name = job.rpartition(":")
    if not module or not name.isidentifier() or (":" in module and not module.endswith(".py")):
        raise wrong("job", job, "give a module and a function of it, such as my_job:build")
    try:
        with redirect_stdout(sys.stderr):
            found = _of_file(job, Path(module)) if module.endswith(".py") else importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise _not_imported(job, module, error) from None
        remedy = f"there is no module {module} in the current folder or among the installed ones"
        raise wrong("job", job, remedy) from None
    except ArgumentError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a stranger's module does
        raise _not_imported(job, module, error) from None
    function = getattr(found, name, None)
    if not callable(function):
        what = "has no function" if function is None else "has no function, but a value,"
        raise wrong("job", job, f"the module {module} {what} {name}; name the one that returns the job's DataFrame")
    return function


def _of_file(job: str, path: Path) -> ModuleType:
    """The module that a file is; the modules beside it are found, as those of a script are."""
    if not path.is_file():
        raise wrong("job", job, f"there is no file {path}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise wrong("job", job, f"{path} is no module of Python")
    sys.path.insert(0, str(path.parent.resolve()))
    made = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = made
    try:
        spec.loader.exec_module(made)
    finally:
        sys.path.remove(str(path.parent.resolve()))
    return made


def _not_imported(job: str, module: str, error: BaseException) -> ArgumentError:
    return wrong("job", job, f"the module {module} cannot be imported: {said_of(error)}")


def said_of(error: BaseException) -> str:
    """An error as one says it: its class, and its cause."""
    words = cause(error)
    name = type(error).__name__
    return name if words in ("", name) else f"{name}, {words}"


@contextmanager
def spark_session() -> Iterator[SparkSession]:
    """The session there is; else one as spark-submit or the environment sets it up, else one of the workbench's own."""
    from pyspark.sql import SparkSession  # when needed: PySpark is slow to import

    was_there = is_there()
    is_theirs = not was_there and is_set(*SETTINGS)
    spark = SparkSession.builder.getOrCreate() if is_theirs else session.spark()
    try:
        yield spark
    finally:
        if not was_there:
            spark.stop()


def is_there() -> bool:
    """Whether Spark runs in this process."""
    from pyspark import SparkContext  # when needed: PySpark is slow to import

    return SparkContext._active_spark_context is not None


def is_set(*names: str) -> bool:
    """Whether one of these variables of the environment is set."""
    return any(os.environ.get(name) for name in names)
