"""The local Spark session, and why each setting is there.

What a setting brought is said beside it. "Small" is a run of five micro-batches of 200 rows a side in a warm session,
"large" an interval join of a million rows a side and 100,000 keys, both on two cores; single measurements differ by a
tenth. What Hadoop's part brought is in `hadoop`, the archive of classes in `workbench.prepare`, and what was
tried and brought nothing in ``docs/speed.md``.

None of this is written into an exported script: a recording can be run again, a production stream cannot, and its state
belongs on storage that outlives the machine.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import threading
import warnings
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from workbench import process, spark_versions
from workbench.cache import cached_file, used
from workbench.errors import ArgumentError, JavaError, WorkbenchError
from workbench.literals import Policy
from workbench.session import hadoop, memory, state_store
from workbench.session.installed_java import check_java, java_remedy
from workbench.spark_io.cause import is_gone
from workbench.spark_io.scratch import Scratch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "QUERY_SETTINGS",
    "SETTINGS",
    "archive",
    "begin",
    "check_java",
    "check_not_forked",
    "for_query",
    "launch",
    "spark",
    "version_of",
]

SETTINGS = {
    # this machine, all of it, and no cluster
    "spark.master": "local[*]",
    "spark.app.name": "stream-join workbench",
    # no web server and no port left open in somebody's notebook
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # only this machine talks to this session
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # event times are shown as they are meant, whatever zone the machine stands in
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # no trace in the notebook beside an error that is one sentence
    "spark.sql.dataFrameQueryContext.enabled": "false",
    "spark.log.level": "OFF",
    # a small heap that grows, to a third of a small machine (Binder's has 2 GB); a recording of a million rows fits
    "spark.driver.memory": memory.heap(),
    # large: 0.8 of the time with Java's own choice, G1, whose barriers cost at every change of state; Serial: 1.5 times
    # the time; huge pages: 0.95. Java's second compiler stays: without it a first run takes 0.85 of the time,
    # but a large one 1.6 times as long; it begins later than it would, which a fresh kernel's first chart is half a
    # second sooner for, and a large run does not notice
    "spark.driver.extraJavaOptions": (
        "-XX:+UseParallelGC -XX:Tier4InvocationThreshold=30000 -XX:Tier4MinInvocationThreshold=10000 "
        "-XX:Tier4CompileThreshold=60000" + " -XX:+UseTransparentHugePages" * (sys.platform == "linux")
    ),
}

QUERY_SETTINGS = {
    # one partition: each one costs a task, four state stores and their files in every micro-batch, so that the default
    # of 200 makes a small run 80 times as long. `for_query` takes one a core from 5,000 rows a micro-batch and side on:
    # two made the large run 0.6 of its time, below 5,000 rows they made no difference
    "spark.sql.shuffle.partitions": "1",
    # in memory; what is said of state was measured on it. Large runs of a local session have the same with fewer
    # objects (`state_store`): 0.6 of the time. RocksDB, with any of its join state formats (2, 3, 4): four to five
    # times the time, large. In memory there are formats 1, which no longer runs, and 2
    state_store.SETTING: state_store.SPARKS_OWN,
    # every micro-batch's state can be looked at afterwards
    "spark.sql.streaming.minBatchesToRetain": "1000000",
    "spark.sql.streaming.numRecentProgressUpdates": "100000",
    "spark.sql.streaming.fileSink.log.compactInterval": "1000000",
    "spark.sql.streaming.fileSource.log.compactInterval": "1000000",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.adaptive.enabled": "false",
    # small: 0.93 of the time, and half a second off the first run; large: no difference, state takes its time
    "spark.sql.codegen.wholeStage": "false",
    # texts and checks of plans that nobody reads; small: 0.95 of the time
    "spark.sql.lightweightPlanChangeValidation": "false",
    "spark.sql.maxPlanStringLength": "100",
    "spark.sql.debug.maxToStringFields": "1",
    # a file that an executor does not find is an error, never fewer rows
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    # state is read as pandas frames, whose types should not depend on the session
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # one file of a recording is one task, however large and however many cores: Spark counts late groups by task
    "spark.sql.files.openCostInBytes": "128MB",
    "spark.sql.streaming.stopTimeout": "10s",
    # the model counts on the micro-batch without data that lets go of what the last watermark has passed
    "spark.sql.streaming.noDataMicroBatches.enabled": "true",
}

_REVERTED = (
    "spark.sql.adaptive.",
    "spark.sql.ansi.",
    "spark.sql.caseSensitive",
    "spark.sql.execution.arrow.",
    "spark.sql.files.",
    "spark.sql.legacy.",
    "spark.sql.optimizer.",
    "spark.sql.parquet.",
    "spark.sql.sources.commitProtocolClass",
    "spark.sql.streaming.",
    "spark.sql.timestampType",
)
"""Settings of an application, by how their names begin, that a query does not take over: some would change the rows or
the state (a format of state with a known fault, times cut to milliseconds), and the model knows the defaults.
"""

MANY_ROWS, _MOST_PARTITIONS, _PARTITIONS = 5_000, 8, "spark.sql.shuffle.partitions"
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"


def spark() -> SparkSession:
    """The session that `run` uses: the one there is already, or a local one of the workbench's own.

    Raises
    ------
    JavaError
        If there is no Java that Spark can run on.
    """
    with process.spark_start:
        return _known() or launch(*_archived())


def begin() -> None:
    """Start the session in the background. What goes wrong is reported where the session is first needed.

    PySpark itself is imported before: while one thread imports it, ``from pyspark.sql import functions`` fails in
    another, as Python does not wait for a package that is half imported.
    """
    with suppress(ImportError):
        import pyspark  # noqa: F401 - when needed: PySpark is slow to import

    def start() -> None:
        with suppress(WorkbenchError):
            spark()

    threading.Thread(target=start, name="workbench session", daemon=True).start()


def archive() -> Path:
    """Where `workbench.prepare` keeps the archive of Spark's classes, for this Java and this PySpark."""
    found = find_spec("pyspark")
    place = found.origin if found else None
    named = hashlib.sha256(f"{check_java()}\n{spark_versions.installed()}\n{place}".encode()).hexdigest()[:16]
    return cached_file(f"spark-{named}.jsa")


def _archived() -> list[str]:
    made = archive()
    if not made.exists():
        return []
    used(made)
    return [f"-XX:SharedArchiveFile={made}"]


def _known() -> SparkSession | None:
    """The session of this thread, or the application's, whoever made it; its settings stay as they are."""
    from pyspark.errors import PySparkException  # when needed: PySpark is slow to import
    from pyspark.sql import SparkSession

    check_not_forked()
    if _has_died():
        process.forget_spark()
        warnings.warn("Spark's Java process had ended; a new session is started", stacklevel=4)
        return None
    try:
        return SparkSession.active()
    except PySparkException:  # there is none
        return None


def check_not_forked() -> None:
    """Refuse a Spark session that is the parent's of a process that was forked: Java has one Python to talk to.

    Raises
    ------
    JavaError
        If it is.
    """
    from pyspark import SparkContext  # when needed: PySpark is slow to import

    java = getattr(SparkContext._gateway, "proc", None)
    with suppress(psutil.Error):
        if java is not None and java.returncode is None and psutil.Process(java.pid).ppid() != os.getpid():
            raise JavaError(
                "this process was forked from one that has a Spark session, and would end it; start it with "
                "multiprocessing.get_context('spawn'), so that it has a session of its own"
            )


def _has_died() -> bool:
    """Whether there was a JVM of this process, and it no longer answers."""
    from pyspark import SparkContext  # when needed: PySpark is slow to import

    gateway = SparkContext._gateway
    if gateway is None:
        return False
    process = getattr(gateway, "proc", None)
    if process is not None and process.poll() is not None:
        return True
    try:
        gateway.jvm.java.lang.System.currentTimeMillis()
    except Exception as error:  # noqa: BLE001 - Py4J raises what its sockets do
        return is_gone(error)
    return False


def launch(*java_options: str) -> SparkSession:
    """A local session whose JVM says nothing: its errors come as exceptions, its chatter helps nobody.

    Whether there is a Java that Spark runs on is for `archive` to see, which every caller asks first.

    Parameters
    ----------
    *java_options
        More options of Java's, beside those of `SETTINGS`.
    """
    from pyspark import SparkConf, SparkContext  # when needed: PySpark is slow to import
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    conf = SparkConf(loadDefaults=False).setAll(list(SETTINGS.items()))
    options = [SETTINGS[_JAVA_OPTIONS], *(f'"{option}"' for option in java_options)]
    conf.set(_JAVA_OPTIONS, " ".join(options))
    if SparkContext._gateway is None:
        files = Scratch(Path(tempfile.gettempdir()))  # what a killed JVM leaves there the next process removes
        options.append(f'"-Djava.io.tmpdir={files.path}"')
        conf.set(_JAVA_OPTIONS, " ".join(options))
        # Its lock is taken before each fork and released after it: a thread that imports it in between would have it
        # released only, which Python reports on stderr. PySpark's start of Java is such a fork.
        import_module("concurrent.futures.thread")
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        try:
            gateway = launch_gateway(conf, silent)  # type: ignore[no-untyped-call]
        except PySparkException as error:  # the JVM never was: PySpark's own words, not a cause in them
            raise JavaError(f"Java did not start Spark ({error}). {java_remedy()}") from None
        gateway.workbench_files = files  # for as long as PySpark keeps this JVM
        for path in files.parts:  # where this process is killed, Java removes what it has emptied, the last first
            gateway.jvm.java.io.File(str(path)).deleteOnExit()
        hadoop.use_local_files(gateway.jvm)
        context = SparkContext(conf=conf, gateway=gateway)
        if "PYSPARK_PYTHON" not in os.environ:  # workers run the notebook's own Python, not the PATH's
            context.pythonExec = sys.executable
        hadoop.trim(gateway.jvm, context._jsc.hadoopConfiguration())
    return SparkSession.builder.config(conf=conf).getOrCreate()


def version_of(spark: SparkSession) -> str:
    """The version of a session's Spark, which over Spark Connect is the server's.

    Raises
    ------
    ArgumentError
        If the workbench does not run on it.
    """
    check_not_forked()
    found = str(spark.version)
    if not spark_versions.is_supported(found):
        oldest, newest = spark_versions.OLDEST.minor, spark_versions.NEWEST.minor
        raise ArgumentError(
            f"spark: got a session of Spark {found}; give one of Spark {oldest} to {newest} (exported scripts run on "
            f"Spark {spark_versions.OLDEST_OF_SCRIPTS} too)"
        )
    return found


def for_query(
    base: SparkSession, policy: Policy, rows: int = 0, compact: bool = False, rocksdb: bool = False
) -> SparkSession:
    """A new session of the same Spark application, set up for one query; `base` stays as it is.

    Parameters
    ----------
    base
        The session to start from.
    policy
        Spark's policy for several watermarks.
    rows
        How many rows a side a micro-batch brings: with many, the work is shared out.
    compact
        Whether the join's state goes into `CompactState.java`, where the session can use it.
    rocksdb
        Whether it goes into RocksDB, as a processor with state of its own needs.
    """
    own = base.newSession()
    own_settings = {
        # small: half the time; the checkpoint's files are written by Hadoop's file system, without checksum files
        "spark.sql.streaming.checkpointFileManagerClass": spark_versions.facts(str(base.version)).checkpoint_manager,
        "spark.sql.streaming.multipleWatermarkPolicy": policy,
    }
    if rows >= MANY_ROWS:
        own_settings[_PARTITIONS] = str(min(_cores(base), _MOST_PARTITIONS))
    if compact and state_store.usable(base):  # its versions share no rows: one is enough
        own_settings |= {state_store.SETTING: state_store.COMPACT, state_store.VERSIONS_IN_MEMORY: "1"}
    if rocksdb:
        own_settings[state_store.SETTING] = state_store.ROCKSDB
    own_settings |= _of_file_systems(base)
    for name in _names(own):
        if name.startswith(_REVERTED) and own.conf.isModifiable(name):
            own.conf.unset(name)
    for name, value in (QUERY_SETTINGS | own_settings).items():
        own.conf.set(name, value)
    return own


def _of_file_systems(base: SparkSession) -> dict[str, str]:
    """What was set in a session while it ran and is not Spark's own: how its file systems are reached."""
    return {name: str(base.conf.get(name)) for name in _names(base) if not name.startswith("spark.")}


def _names(spark: SparkSession) -> list[str]:
    """What is set in a session; of one that is not over Spark Connect in one call, and not in three for each entry."""
    settings = getattr(spark.conf, "_jconf", None)
    return list(spark.conf.getAll) if settings is None else settings.getAll().keySet().mkString("\n").split("\n")


def _cores(spark: SparkSession) -> int:
    """How many tasks run at once; two where a Connect session does not say."""
    from pyspark.errors import PySparkException  # when needed: PySpark is slow to import

    try:
        return spark.sparkContext.defaultParallelism
    except PySparkException:  # over Spark Connect
        return 2
