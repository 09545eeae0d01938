"""``python -m workbench.prepare``: keep Spark's classes in an archive, from which Java starts a third sooner.

When it ends, Java writes an archive of all classes that it has loaded and checked; it maps it into memory when it
starts again (https://docs.oracle.com/en/java/javase/17/vm/class-data-sharing.html). An archive that does not fit the
Java or the PySpark there is now is neither found nor taken.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import generators
from workbench import session
from workbench.cache import drop_oldest
from workbench.errors import JavaError, WorkbenchError
from workbench.kinds import kinds
from workbench.runs.arguments import has_operator
from workbench.runs.running import run
from workbench.untyped import JavaObject

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["prepare"]

_TIMEOUT = 300  # seconds
_KEPT = 4  # archives, this one among them


def prepare() -> Path:
    """Run a join of each kind that this Spark can run, and keep the classes it took; keep the page's script.

    Returns
    -------
    Path
        The archive, some 200 MB, in the user's cache folder; of those of other Javas and environments the three that
        were used last are kept.

    Raises
    ------
    JavaError
        If there is no Java that Spark can run on, or it wrote no archive.
    """
    import workbench.app  # noqa: F401 - keeps the page's script

    archive = session.archive()
    archive.parent.mkdir(parents=True, exist_ok=True)
    part = archive.with_suffix(".part")
    part.unlink(missing_ok=True)
    spark = session.launch(f"-XX:ArchiveClassesAtExit={part}")
    for kind in kinds().values():
        if has_operator(kind.example(), spark.version):
            run(kind.example(), *generators.generate(kind.scenario, events=50, seed=1), spark=spark)
    _end(spark)
    if not part.exists():
        raise JavaError(f"Java wrote no archive of its classes to {part}; is there room for 200 MB?")
    part.replace(archive)
    drop_oldest("spark", ".jsa", _KEPT)
    return archive


def _end(spark: SparkSession) -> None:
    """Stop the session and wait for Java's end: it writes the archive last."""
    gateway: JavaObject = spark.sparkContext._gateway
    spark.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(_TIMEOUT)


if __name__ == "__main__":
    try:
        print(prepare())
    except WorkbenchError as error:
        sys.exit(str(error))
