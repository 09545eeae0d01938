"""The flows of a declarative pipeline: functions that its decorators register, and leave no name of."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench import session
from workbench.errors import ArgumentError, wrong
from workbench.untyped import Value

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["flows"]


def flows(file: str | os.PathLike[str]) -> dict[str, Callable[[], DataFrame]]:
    """The functions of a declarative pipeline's flows, by the flows' names: those of tables, views and append flows.

    No pipeline is run, and nothing is written. The file is loaded as ``spark-pipelines`` loads it, but with the active
    session in place of one of Spark Connect: with a classic one, `open_job` can read the plan of the DataFrame that a
    flow's function returns.

    Parameters
    ----------
    file
        A file of the pipeline, in Python.

    Raises
    ------
    ArgumentError
        If it is not there, or is not in Python.
    """
    path = _checked(file)
    spark, found = session.spark(), _Flows()
    try:
        from pyspark.pipelines.graph_element_registry import (  # when needed: PySpark is slow to import
            graph_element_registration_context,
        )
    except ImportError:
        raise ArgumentError("file: the PySpark that is installed has no pipelines; use Spark 4.1 or later") from None
    registry: Any = found  # not derived from Spark's class, which Spark 4.0 does not have
    with graph_element_registration_context(registry):
        _load(path, spark)
    return found.functions


def _checked(file: Value) -> Path:
    try:
        path = Path(file)
        is_file = path.is_file()
    except (TypeError, ValueError, OSError):
        raise wrong("file", file, "give a file of a pipeline as text or a path") from None
    if path.suffix == ".sql":
        raise wrong("file", str(file), "of a flow in SQL, give its SELECT to spark.sql")
    if not is_file or path.suffix != ".py":
        raise wrong("file", str(file), "give a file in Python that is there, such as transformations/shop.py")
    return path


def _load(path: Path, spark: object) -> None:
    """Run a file as a module that has the session as ``spark``, as ``spark-pipelines`` does."""
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise wrong("file", str(path), "Python cannot load it")
    module = module_from_spec(spec)
    module.__dict__["spark"] = spark
    spec.loader.exec_module(module)


@dataclass(frozen=True)
class _Flows:
    """A registry as the decorators of ``pyspark.pipelines`` call it, which keeps the functions only."""

    functions: dict[str, Callable[[], DataFrame]] = field(default_factory=dict)

    def register_flow(self, flow: Any) -> None:
        self.functions[flow.name] = flow.func

    def register_output(self, output: object) -> None:
        """What a flow writes to does not matter here."""

    def register_auto_cdc_flow(self, flow: object) -> None:
        """Such a flow has no function."""

    def register_sql(self, sql_text: str, file_path: Path) -> None:
        """No file in SQL is loaded."""
