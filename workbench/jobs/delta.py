"""The rows that each micro-batch took in from a Delta table, by Delta's own source of streams.

An offset says up to which file of which version of the table a query has read. Which files are between two offsets is
asked of Delta itself, as Spark does when it runs a micro-batch again after a restart: the order of the files of the
first snapshot, commits that are skipped, deletion vectors and the mapping of columns are Delta's to know.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.errors import QueryError, WorkbenchError
from workbench.jobs.addresses import existing
from workbench.jobs.catalyst import Node, listed, seq, texts
from workbench.spark_io.cause import spark_errors_as
from workbench.untyped import JavaObject, Json, Value

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Span", "is_offset", "micro_batches"]

_FIELDS = frozenset({"sourceVersion", "reservoirId", "reservoirVersion", "index"})
_UNDERSTOOD = ("Union", "LogicalRelation", "LocalRelation")
_INLINE = "i"
"""How Delta marks a deletion vector that is in the log, and in no file of its own."""
_FIRST_COMMIT = "00000000000000000000.json"


@dataclass(frozen=True)
class Span:
    """What a micro-batch took in of a table.

    Attributes
    ----------
    number
        Spark's number of the micro-batch.
    start
        The offset up to which the query had read before; None: where it began.
    end
        The offset up to which it has read.
    """

    number: int
    start: Json | None
    end: Json


def is_offset(offset: Value) -> bool:
    """Whether an offset in the log is one of Delta's."""
    return isinstance(offset, dict) and offset.keys() >= _FIELDS


def micro_batches(
    spark: SparkSession, source: Node, name: str, spans: Sequence[Span], folder: str
) -> tuple[list[tuple[int, DataFrame]] | None, list[str]]:
    """The rows of each micro-batch, and what is missing of them, a sentence each.

    Parameters
    ----------
    spark
        A session that is not Spark Connect's.
    source
        The table in the plan.
    name
        What it is called in sentences.
    spans
        The micro-batches.
    folder
        Where the query's checkpoint has what this source notes.

    Returns
    -------
    list of (int, DataFrame) or None, list of str
        The number of each micro-batch and rows of it, None where none can be read again; and the sentences.
    """
    try:
        with spark_errors_as(QueryError):
            table = _Table.of(spark, source, folder)
    except WorkbenchError as error:
        return None, [f"the rows of {name} cannot be read again: {error}"]
    scans, failed = [], []
    try:
        for each in spans:
            try:
                with spark_errors_as(QueryError):
                    scans += [_Scan(each.number, index) for index in table.indexes(each)]
            except WorkbenchError as error:
                failed.append((each.number, str(error)))
    finally:
        table.source.stop()
    missing = []
    if failed:
        number, words = failed[0]
        missing.append(
            f"{len(failed):,} of {len(spans):,} micro-batches of {name} cannot be read again, such as {number}: {words}"
        )
    if len(failed) == len(spans):
        return None, missing
    files = list(dict.fromkeys(file for scan in scans for each in scan.files for file in each))
    there = set(existing(spark, files, encoded=False))
    if len(there) < len(files):
        gone = [each for each in files if each not in there]
        missing.append(f"{len(gone):,} of {len(files):,} files of {name} are gone, such as {gone[0]}")
    return [(scan.number, scan.rows(spark, there)) for scan in scans], missing


class _UnreadableError(WorkbenchError):
    """Why rows cannot be read again, in words."""


@dataclass(frozen=True)
class _Table:
    """Delta's source of a stream.

    Attributes
    ----------
    java
        The JVM.
    source
        Delta's own object there.
    options
        The options of the stream, their names in lower case.
    whole
        Whether the table's log has its first commit still.
    """

    java: JavaObject
    source: JavaObject
    options: Mapping[str, str]
    whole: bool

    @staticmethod
    def of(spark: SparkSession, source: Node, folder: str) -> _Table:
        java: JavaObject = spark._jvm
        about = source.java.dataSource()
        options = {name.lower(): text for name, text in texts(spark, about.options()).items()}
        for name in ("readchangefeed", "readchangedata"):
            if options.get(name, "false").lower() != "false":
                raise _UnreadableError("it reads the table's change feed, whose rows are not told apart here")
        if any(name.startswith("schematracking") or name == "schemalocation" for name in options):
            raise _UnreadableError("it tracks the table's schema, by a log that only the query itself may write")
        # else commits that are gone would be passed over without a word
        settings = java.org.apache.spark.api.python.PythonUtils.toScalaMap({**options, "failondataloss": "true"})
        context, none = about.sparkSession().sqlContext(), java.scala.Option.empty()
        made = about.providingInstance().createSource(context, folder, none, about.className(), settings)
        log = made.deltaLog().logPath()
        system = log.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
        whole = bool(system.exists(java.org.apache.hadoop.fs.Path(log, _FIRST_COMMIT)))
        return _Table(java, made, options, whole)

    def indexes(self, span: Span) -> Iterator[Value]:
        """The files that a micro-batch took in, as Delta lists them, in the JVM."""
        mine, read = str(self.source.snapshotAtSourceInit().metadata().id()), str(span.end["reservoirId"])
        if mine != read:
            raise _UnreadableError(f"they are of another table, whose id was {read}: now there is {mine}")
        if span.start is None:
            self._check_start()
        start = self.java.scala.Option.apply(None if span.start is None else self._offset(span.start))
        plan = self.source.getBatch(start, self._offset(span.end)).queryExecution().analyzed()
        for leaf in _relations(plan):
            yield leaf.relation().location()

    def _check_start(self) -> None:
        """Refuse a start that a table tells otherwise today than when the query began."""
        if self.options.get("startingversion", "").lower() == "latest":
            raise _UnreadableError(
                "the query began at what was the latest version then (startingVersion), which no log tells"
            )
        if "startingtimestamp" in self.options and not self.whole:
            raise _UnreadableError("the query began at a time (startingTimestamp), and the first commits are gone")

    def _offset(self, offset: Json) -> Any:
        named = self.java.org.apache.spark.sql.delta.sources.DeltaSourceOffset
        return named.apply(str(offset["reservoirId"]), json.dumps(offset))


def _relations(plan: JavaObject) -> Iterator[Value]:
    """The scans of files in what Delta makes of a micro-batch: one, or a union of several."""
    kind = str(plan.getClass().getSimpleName())
    if kind not in _UNDERSTOOD:
        raise _UnreadableError(f"this version of Delta reads them by Spark's operator {kind}, which is not understood")
    if kind == "LogicalRelation":
        yield plan
    for each in listed(plan.children()):
        yield from _relations(each)


class _Scan:
    """Files that one micro-batch took in.

    Attributes
    ----------
    number
        Spark's number of the micro-batch.
    files
        For each file with data its address, and that of its deletion vector where this is a file, too.
    """

    def __init__(self, number: int, index: Any) -> None:
        self.number, self._index = number, index
        self._added = listed(index.addFiles())
        names = [str(each) for each in index.inputFiles()]
        self.files = [(name, *self._vector(each)) for name, each in zip(names, self._added, strict=True)]

    def _vector(self, added: Any) -> tuple[str, ...]:
        vector = added.deletionVector()
        if vector is None or str(vector.storageType()) == _INLINE:
            return ()
        return (str(vector.absolutePath(self._index.path()).toString()),)

    def rows(self, spark: SparkSession, there: set[str]) -> DataFrame:
        """The rows of those files that are there."""
        from pyspark.sql import DataFrame  # when needed: PySpark is slow to import

        java: JavaObject = spark._jvm
        kept = [each for each, files in zip(self._added, self.files, strict=True) if there.issuperset(files)]
        log, none = self._index.deltaLog(), java.scala.Option.empty()
        return DataFrame(log.createDataFrame(self._index.snapshot(), seq(java, kept), False, none), spark)
