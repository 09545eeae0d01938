"""The state store of large recorded runs, `CompactState.java`: Spark's own in memory, with fewer objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench import process, spark_versions
from workbench.session.compiled_java import compiled
from workbench.untyped import JavaObject

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["COMPACT", "ROCKSDB", "SETTING", "SPARKS_OWN", "VERSIONS_IN_MEMORY", "usable"]

SETTING = "spark.sql.streaming.stateStore.providerClass"
VERSIONS_IN_MEMORY = "spark.sql.streaming.maxBatchesToRetainInMemory"
_PACKAGE = "org.apache.spark.sql.execution.streaming.state"
SPARKS_OWN = f"{_PACKAGE}.HDFSBackedStateStoreProvider"
"""Spark's store in memory, the default of every session."""
ROCKSDB = f"{_PACKAGE}.RocksDBStateStoreProvider"
"""Spark's store on disk, which processors with state of their own need."""
COMPACT = f"{_PACKAGE}.CompactState"


def usable(spark: SparkSession) -> bool:
    """Whether queries of a session can use the store, whose class is defined in the session's JVM if it is not yet.

    They can where the executor is in this JVM, and Spark is one that the class is written for.
    """
    from py4j.protocol import Py4JError  # when needed: PySpark is slow to import
    from pyspark.errors import PySparkException

    version = str(spark.version)
    known = spark_versions.numbers(version)[:2] <= spark_versions.numbers(spark_versions.NEWEST.minor)
    if not known or not spark_versions.facts(version).has_compact_state:
        return False
    try:
        context = spark.sparkContext
    except PySparkException:  # over Spark Connect
        return False
    if not context._jsc.isLocal():
        return False
    with process.spark_start:
        try:
            _define(context._jvm)
            return True
        except Py4JError:  # Spark as a vendor changed it, or another process defines the class in this JVM right now
            return _is_defined(context._jvm, COMPACT)


def _define(jvm: JavaObject) -> None:
    """Compile the class with the compiler that Spark brings, and define it beside the one that it extends.

    The classes that it needs come first, so that it is there only if all are.
    """
    if _is_defined(jvm, COMPACT):
        return
    neighbour = jvm.java.lang.Class.forName(SPARKS_OWN)
    compiler = compiled(jvm, "CompactState.java", neighbour.getClassLoader())
    handles = jvm.java.lang.invoke.MethodHandles
    inside = handles.privateLookupIn(neighbour, handles.lookup())
    for name, code in sorted(compiler.getBytecodes().items(), key=lambda each: -len(each[0])):
        if not _is_defined(jvm, name):
            inside.defineClass(code)
    jvm.java.lang.Class.forName(COMPACT)


def _is_defined(jvm: JavaObject, name: str) -> bool:
    from py4j.protocol import Py4JError  # when needed: PySpark is slow to import

    try:
        jvm.java.lang.Class.forName(name)
        return True
    except Py4JError:  # there is no such class
        return False
