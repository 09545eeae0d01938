"""The reports of streaming queries in an event log, as Spark writes it by default: in parts, and compressed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import wrong
from workbench.spark_io.cause import spark_errors_as
from workbench.untyped import JavaObject, Json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["is_event_log", "reports"]

_CODECS = (".zstd", ".lz4", ".lzf", ".snappy")
_ROLLED = "eventlog_v2_"
_GOES_ON = ".inprogress"
_EVENT = r"StreamingQueryListener\$QueryProgressEvent"


def is_event_log(progress: JavaObject) -> bool:
    """Whether an argument names an event log that Spark has to read: one in parts, compressed, or on a file system."""
    if not isinstance(progress, str | os.PathLike):
        return False
    name = os.fspath(progress)
    if not isinstance(name, str):
        return False
    last = name.rstrip("/").rpartition("/")[2].removesuffix(_GOES_ON)
    if "://" in name or last.startswith(_ROLLED) or last.endswith(_CODECS):
        return True
    try:
        return Path(name).is_dir()
    except (OSError, ValueError):  # a name that is no path
        return False


def reports(spark: SparkSession, progress: JavaObject) -> list[Json]:
    """The reports of all queries in an event log.

    Raises
    ------
    ArgumentError
        If it cannot be read, or has no report of a query.
    """
    found = list(_reports(spark, progress))
    if not found:
        raise wrong(
            "progress", progress, "it has no report of a streaming query; give the log of the job's application"
        )
    return found


def _reports(spark: SparkSession, progress: JavaObject) -> Iterator[Json]:
    java: JavaObject = spark._jvm
    settings = spark._jsparkSession.sessionState().newHadoopConf()
    readers = java.org.apache.spark.deploy.history.EventLogFileReader
    with spark_errors_as(lambda why: wrong("progress", progress, f"it cannot be read ({why})")):
        address = java.org.apache.hadoop.fs.Path(os.fspath(progress))
        system = address.getFileSystem(settings)
        if not system.exists(address):
            raise wrong("progress", progress, "there is no such file or folder")
        reader = readers.apply(system, address)
        if reader.isEmpty():
            raise wrong(
                "progress", progress, "that folder is no event log of Spark's; its name begins with eventlog_v2_"
            )
        files = java.scala.jdk.javaapi.CollectionConverters.asJava(reader.get().listEventLogFiles())
        for file in files:
            for line in _events(java, readers.openEventLog(file.getPath(), system)):
                with suppress(ValueError):  # the last line of an application that goes on may be cut
                    yield json.loads(line)["progress"]


def _events(java: JavaObject, stream: JavaObject) -> Iterator[str]:
    """The lines with a report, found in the JVM."""
    try:
        text = java.java.io.BufferedReader(java.java.io.InputStreamReader(stream, "UTF-8"))
        found = text.lines().filter(java.java.util.regex.Pattern.compile(_EVENT).asPredicate()).iterator()
        while found.hasNext():
            yield str(found.next())
    finally:
        stream.close()
