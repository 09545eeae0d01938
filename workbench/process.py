"""What exists once in a process: what is open or runs, and what the workbench changes in the libraries it uses.

Whatever is neither a constant nor held by an object of the user's has its place here, because a notebook has one
kernel, and ``%reload_ext``, ``%unload_ext`` and tests must find all of it:

* `pages`: pages that are open, each in a cell of its own, with its own past runs; they list each other's, too. A cell
  that is run again replaces its page.
* `queries`: what runs on Spark; `stopped`: which of it was stopped by `wb.stop`.
* `live_queries`: live queries that run. A query goes on when nobody holds it, so nobody else could stop it.
* `spark_start`: one thread at a time starts Spark, or defines a class in its JVM. The session itself is kept by
  PySpark, whoever made it.
* `forget_spark`: what PySpark keeps of a JVM that has died.
* `draw_charts_with`: Altair's renderer. It stays when the workbench is unloaded: charts made before are shown with it.
* `without_module`: a module that is not found while another one is imported.
* `with_modules_of_the_folder`: a job's own modules are found, and left as they are.

`close_all` ends what runs. There is no exit hook: all threads are daemons, the JVM ends with its process, and
`workbench.spark_io.scratch` removes each folder with the object that holds it.

The registries stand where they are used: they are filled when they are imported, read often, and hardly ever changed.
Each has a ``register`` and an ``unregister``: kinds of joins (``kinds/_registry.py``), charts of runs and tunings
(``charts/_registry.py``), sources of the page's streams (``app/sources/__init__.py``), sources, sinks and dead
letters of scripts (``script/_registry.py``), and the names that the texts of these reserve (``plan/names.py``). A
public name of the package is kept in ``__init__.py`` (``flink/__init__.py``) when it is first used; templates get their
filters where they are loaded (``flink/_code.py``). In the JVM that it starts, the session
keeps a folder for Java's temporary files (an attribute of PySpark's gateway),
replaces Hadoop's local file system, and takes defaults out of its configuration, once (``session/hadoop.py``); a local
session of the user's, too, gets the class of a state store (``session/state_store.py``). The reader of Kafka samples
has a logger that says nothing (``sources/kafka.py``). Python's warnings of a text are off while it is read as a
condition (``conditions/_reading.py``). Who is told of the jobs that a test
plays stands in ``testing/_played.py``; a command keeps the module of a file that it is given, as an import does
(``jobs/commands.py``); the pytest plugin sets the variable by which snapshots are written anew (``pytest_plugin.py``).
Functions with a cache of what they return for the same arguments have no state.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol

from workbench.untyped import Record

__all__ = [
    "LiveQuery",
    "Page",
    "close_all",
    "close_pages",
    "draw_charts_with",
    "end_live_queries",
    "forget_spark",
    "live_queries",
    "pages",
    "queries",
    "spark_start",
    "stopped",
    "with_modules_of_the_folder",
    "without_module",
]

_NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"


class Page(Protocol):
    """A page that is open: `workbench.app.App`."""

    def close(self) -> None:
        """Stop what it runs and take it away."""

    def stop(self) -> None:
        """Stop what it runs."""


class LiveQuery(Protocol):
    """A query that runs: `workbench.runs.live.Live`."""

    def end(self) -> None:
        """Stop it, and wait for its end."""


pages: list[Page] = []
"""The pages that are open, the last opened last."""

live_queries: weakref.WeakSet[LiveQuery] = weakref.WeakSet()
"""The live queries that run."""

queries: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
"""The streaming queries that were started and are not known to have ended, each with its Spark session."""

stopped: weakref.WeakSet[Any] = weakref.WeakSet()
"""The streaming queries that were stopped before their end, by somebody other than who waits for them."""

spark_start = threading.Lock()
"""Held while it is seen whether there is a Spark session, and while one is started."""


def close_all() -> None:
    """Close every page, each of which ends its own query first; then end the queries that were started in code."""
    _each([close_pages, end_live_queries])


def close_pages() -> None:
    """Close every page that is open, the last opened first."""
    closing = list(reversed(pages))
    pages.clear()
    _each([page.close for page in closing])


def end_live_queries() -> None:
    """End every live query."""
    _each([each.end for each in list(live_queries)])


def _each(functions: list[Callable[[], None]]) -> None:
    """Call all functions; if some raise, the first error is raised when all have been called."""
    errors: list[Exception] = []
    for function in functions:
        try:
            function()
        except Exception as error:  # noqa: BLE001 - one that cannot be closed must not keep the others open
            errors.append(error)
    if errors:
        raise errors[0]


def forget_spark() -> None:
    """Have PySpark forget a JVM that has died: it would go on asking it."""
    from pyspark import SparkContext  # when needed: PySpark is slow to import
    from pyspark.sql import SparkSession

    with suppress(Exception):
        SparkContext._gateway.shutdown()  # type: ignore[union-attr]
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    SparkContext._next_accum_id = 0
    SparkSession._instantiatedSession = None
    SparkSession._activeSession = None


def draw_charts_with(name: str, renderer: Callable[..., Record]) -> None:
    """Have Altair show charts with a renderer, where nobody has chosen one.

    Parameters
    ----------
    name
        Its name among Altair's renderers.
    renderer
        Makes of a chart what a notebook keeps of it.
    """
    import altair as alt  # when needed: Altair is slow to import

    if alt.renderers.active == "default":
        alt.renderers.register(name, renderer)
        alt.renderers.enable(name)


@contextmanager
def without_module(name: str) -> Iterator[None]:
    """While it lasts, a module that has not been imported is not found."""
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[name]


@contextmanager
def with_modules_of_the_folder() -> Iterator[None]:
    """Modules of the current folder are found; neither this process nor Spark's workers write bytecode beside them."""
    path, flag, variable = list(sys.path), sys.dont_write_bytecode, os.environ.get(_NO_BYTECODE)
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - sys.path holds text
    sys.dont_write_bytecode, os.environ[_NO_BYTECODE] = True, "1"
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:], sys.dont_write_bytecode = path, flag
        if variable is None:
            del os.environ[_NO_BYTECODE]
        else:
            os.environ[_NO_BYTECODE] = variable
