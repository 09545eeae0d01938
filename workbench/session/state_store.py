"""The state store of large recorded runs, `CompactState.java`: Spark's own in memory, with fewer objects."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

from workbench import spark_versions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["COMPACT", "SETTING", "SPARKS_OWN", "define"]

SETTING = "spark.sql.streaming.stateStore.providerClass"
_PACKAGE = "org.apache.spark.sql.execution.streaming.state"
SPARKS_OWN = f"{_PACKAGE}.HDFSBackedStateStoreProvider"
"""Spark's store in memory, the default of every session."""
COMPACT = f"{_PACKAGE}.CompactState"


def define(spark: SparkSession) -> bool:
    """Make the class known to a local session's JVM, compiled by the compiler that Spark brings.

    Returns
    -------
    bool
        Whether queries of the session can use it: its executor is in this JVM, and its Spark is one that the class is
        written for.
    """
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    if not spark_versions.facts(str(spark.version)).has_compact_state:
        return False
    try:
        context = spark.sparkContext
    except PySparkException:  # over Spark Connect
        return False
    jvm: Any = context._jvm
    if not context._jsc.isLocal():
        return False
    neighbour = jvm.java.lang.Class.forName(SPARKS_OWN)
    try:
        jvm.java.lang.Class.forName(COMPACT)
    except Py4JJavaError:
        compiler = jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(neighbour.getClassLoader())
        compiler.cook(files("workbench.session").joinpath("CompactState.java").read_text())
        handles = jvm.java.lang.invoke.MethodHandles
        inside = handles.privateLookupIn(neighbour, handles.lookup())
        for code in compiler.getBytecodes().values():
            inside.defineClass(code)
    return True
