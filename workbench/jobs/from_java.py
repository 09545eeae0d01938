"""What Java and Scala code returned: a DataFrame or a query, as those of Python."""

from __future__ import annotations

from workbench.errors import wrong
from workbench.untyped import JavaObject, SparkObject

__all__ = ["in_python"]

_DATASET = "org.apache.spark.sql.Dataset"
_QUERY = "org.apache.spark.sql.streaming.StreamingQuery"
_REMEDY = "give the Dataset<Row> that the job's code makes, before writeStream"


def in_python(joined: SparkObject) -> SparkObject:
    """The DataFrame of a ``Dataset``, the query of a ``StreamingQuery``; what is not of the JVM as it is.

    Raises
    ------
    ArgumentError
        If it is anything else of the JVM, such as a class that it does not have.
    """
    kind = type(joined)
    if not kind.__module__.startswith("py4j."):  # which a client of Spark Connect need not have
        return joined
    if kind.__name__ == "JavaPackage":  # what Py4J takes a name for that is no class
        given = f"{joined._fqn}, of which this JVM has no class"
        raise wrong("joined", given, f"add its jar with ADD JAR or spark.jars, and {_REMEDY}")
    if kind.__name__ in ("JavaClass", "JavaMember"):
        raise wrong("joined", f"a {kind.__name__}", _REMEDY)
    return _of_object(joined)


def _of_object(java: JavaObject) -> SparkObject:
    from pyspark import SparkContext  # when needed: PySpark is slow to import
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    context: JavaObject = SparkContext._active_spark_context
    is_a = context._jvm.py4j.reflection.TypeUtil.isInstanceOf
    if is_a(_DATASET, java):
        return DataFrame(java, SparkSession(context, java.sparkSession()))
    if is_a(_QUERY, java):
        return StreamingQuery(java)
    raise wrong("joined", f"an object of the class {java.getClass().getName()}", _REMEDY)
