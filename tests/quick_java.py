"""How a Java that a test starts is ready soon: one compiler, and Spark's classes from an archive that was made once.

Java maps the archive into memory if its class path begins as it did when the archive was made, and starts without it
where it does not. `spark-submit` puts the folder of Spark's settings first on the class path, so a test's settings come
in a file (`scripts.environment`) and not in a folder of their own.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import platformdirs

from workbench import session

CACHE = Path(platformdirs.user_cache_dir("stream-join-workbench-tests"))
ONE_COMPILER = "-XX:TieredStopAtLevel=1"
"""For a Java that ends before its second compiler has paid for itself."""
VARIABLE = "SPARK_SUBMIT_OPTS"
"""What `spark-submit` gives Java beside all else; PySpark starts Java by it."""

JOIN = """
import sys, tempfile
from pathlib import Path
from pyspark.sql import SparkSession, functions as F

settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "1"}
spark = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
folder = Path(tempfile.mkdtemp())
for name in ("a", "b"):
    rows = spark.range(20).select("id", F.current_timestamp().alias("at"))
    rows.write.parquet(str(folder / name))
sides = [
    spark.readStream.schema("id long, at timestamp").parquet(str(folder / name)).withWatermark("at", "1 second").alias(name)
    for name in ("a", "b")
]
joined = sides[0].join(sides[1], F.expr("a.id = b.id AND b.at BETWEEN a.at AND a.at + INTERVAL 5 SECONDS"), "left")
found = joined.select("a.*", F.col("b.at").alias("then"))
words = {"path": str(folder / "out"), "checkpointLocation": str(folder / "checkpoint")}
query = found.writeStream.format("parquet").options(**words).trigger(availableNow=True).start()
query.awaitTermination()
spark.read.parquet(str(folder / "out")).toPandas()
gateway = spark.sparkContext._gateway
spark.stop()
gateway.shutdown()
gateway.proc.stdin.close()
gateway.proc.wait(300)
"""
"""A join whose classes are kept; Java writes them when it ends, which is waited for."""


def options(archive: Path) -> str:
    """Java's options, with an archive that may not be there."""
    return f"{ONE_COMPILER} -Xlog:disable" + f" -XX:SharedArchiveFile={archive}" * archive.exists()


def variable(archive: Path | None = None) -> dict[str, str]:
    """The variable by which each Spark that is started gets them; the archive is that of the PySpark here unless told."""
    return {VARIABLE: options(archive or session.archive())}


def without(env: dict[str, str]) -> dict[str, str]:
    """An environment in which Java starts as it does for a user."""
    return {name: value for name, value in env.items() if name != VARIABLE}


def classes(python: str = sys.executable, path: str = "") -> Path:
    """The archive of the PySpark that a Python finds, with a folder first on its path; made where there is none."""
    made_from = hashlib.sha256(f"{session.check_java()}\n{python}\n{path}\n{JOIN}".encode()).hexdigest()[:12]
    archive = CACHE / f"spark-{made_from}.jsa"
    with only_one(archive.stem):
        if not archive.exists():
            part = archive.with_suffix(".part")
            env = without(os.environ) | {
                VARIABLE: f"{ONE_COMPILER} -XX:ArchiveClassesAtExit={part}",
                "PYTHONPATH": path,
            }
            subprocess.run([python, "-c", JOIN], env=env, capture_output=True, timeout=300, check=False)
            if part.exists():  # an old Spark may not run on this Java
                part.replace(archive)
    return archive


@contextlib.contextmanager
def only_one(name: str) -> Iterator[None]:
    """What tests of several processes share is made or used by one of them, while the others wait."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
