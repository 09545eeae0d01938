"""Settings of Spark's that make small queries many times as quick, and change no row."""

from __future__ import annotations

import os
import sys
import sysconfig
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import session, spark_versions
from workbench.spark_io.cause import spark_errors_as

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["quick_settings", "with_modules_of_the_test"]

_ONE_AT_A_TIME = threading.RLock()
"""Settings are those of the session, for all threads; code that is played may play other code itself."""
_PATH = "PYTHONPATH"
_MANAGER = "spark.sql.streaming.checkpointFileManagerClass"
_QUICK = (
    "spark.sql.shuffle.partitions",
    "spark.sql.streaming.minBatchesToRetain",
    "spark.sql.streaming.numRecentProgressUpdates",
    "spark.sql.adaptive.enabled",
    "spark.sql.codegen.wholeStage",
    "spark.sql.lightweightPlanChangeValidation",
    "spark.sql.maxPlanStringLength",
)
"""Settings that change no row and make a test of a few rows many times as quick; the workbench's own values."""


@contextmanager
def quick_settings(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Settings of a session for as long as it lasts; those that make a small query quick, too."""
    quick = {name: session.QUERY_SETTINGS[name] for name in _QUICK}
    quick[_MANAGER] = spark_versions.facts(str(spark.version)).checkpoint_manager
    wanted = quick | dict(settings)
    before: dict[str, str | None] = {}
    with _ONE_AT_A_TIME:
        try:
            for name, value in wanted.items():
                with spark_errors_as(f"settings: {name} cannot be set"):
                    earlier = spark.conf.get(name, None)
                    spark.conf.set(name, value)
                before[name] = earlier
            yield
        finally:
            for name, earlier in before.items():
                if earlier is None:
                    spark.conf.unset(name)
                else:
                    spark.conf.set(name, earlier)


@contextmanager
def with_modules_of_the_test(spark: SparkSession, build: object) -> Iterator[None]:
    """Have Spark's Python workers on this machine find the modules that a test imports.

    Functions of Python are given to them by the names of their modules, and pytest adds folders to the path of its own
    process alone. Nor is the folder of the tested function's file on the path for longer than it takes to import it.
    """
    context = spark.sparkContext
    before = context.environment.get(_PATH)
    module = sys.modules.get(getattr(build, "__module__", None) or "")
    file = getattr(module, "__file__", None)
    beside = [str(Path(file).resolve().parent)] if file and "." not in getattr(module, "__name__", ".") else []
    own = [each for each in (*sys.path, *beside) if each and not _is_installed(Path(each))]
    if not str(context.master).startswith("local") or not own:
        yield
        return
    context.environment[_PATH] = os.pathsep.join(own)
    try:
        yield
    finally:
        if before is None:
            context.environment.pop(_PATH, None)
        else:
            context.environment[_PATH] = before


def _is_installed(folder: Path) -> bool:
    """Whether a folder of Python's path is of an installation, which the workers have as well."""
    return any(
        folder.is_relative_to(sysconfig.get_path(each)) for each in ("stdlib", "platstdlib", "purelib", "platlib")
    )
