"""What a job wrote: files of Spark's file sink with the micro-batch of each, a Delta table, or rows that are given."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from workbench.errors import WorkbenchError, wrong
from workbench.jobs import sources
from workbench.jobs.addresses import existing
from workbench.jobs.checkpoint import Checkpoint, Files, newest
from workbench.jobs.sources import BATCH
from workbench.spark_io.cause import spark_errors_as
from workbench.untyped import Argument, Json, Value

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["NotComparable", "Rows", "Sink", "WrittenFile", "check_there", "given", "log", "rows"]

_LOG, _DELTA = "_spark_metadata", "_delta_log"
_FORMATS = ("parquet", "json", "csv", "orc")
_NUMBERS = ("batch_id", "batchId", "batch")
_INTEGERS = ("byte", "short", "integer", "long")
_REMEDY = "give the folder that the job's file sink writes, or a DataFrame, not a stream, of the rows it put out"


@dataclass(frozen=True)
class Sink:
    """Where the rows are that a job put out.

    Attributes
    ----------
    address
        The folder; None: the rows are given.
    given
        The rows, if they are given.
    """

    address: str | None
    given: DataFrame | None = None


@dataclass(frozen=True)
class WrittenFile:
    """A file that the file sink wrote.

    Attributes
    ----------
    path
        Its address, as the log writes it.
    batch
        Its micro-batch; None where a compacted log no longer says.
    modified
        When it was written, in milliseconds since 1970-01-01 UTC.
    """

    path: str
    batch: int | None
    modified: int


@dataclass(frozen=True)
class Rows:
    """Rows that a job put out.

    Attributes
    ----------
    frame
        The rows, with `BATCH` where the micro-batch of each is known.
    numbered
        Whether it is.
    about
        What is to be known of them, in words; empty: nothing.
    cut
        Whether times have been cut to milliseconds, as in text.
    """

    frame: DataFrame
    numbered: bool
    about: str = ""
    cut: bool = False


class NotComparable(WorkbenchError):  # noqa: N818 - caught where it is turned into a line of the comparison
    """The output cannot be compared, for a reason that is said."""


def given(output: Argument) -> Sink | None:
    """The argument ``output`` of `workbench.open_job`, checked as far as that takes no Spark.

    Raises
    ------
    ArgumentError
        If it is neither a folder nor a static DataFrame.
    """
    if output is None:
        return None
    if hasattr(output, "sparkSession") and hasattr(output, "isStreaming"):
        if output.isStreaming or not hasattr(output, "_jdf"):
            raise wrong("output", output, _REMEDY)
        return Sink(None, output)
    try:
        address = os.fspath(output)
    except TypeError:
        address = None
    if not isinstance(address, str) or not address.strip() or "\0" in address:
        raise wrong("output", output, _REMEDY)
    return Sink(address.rstrip("/"))


def check_there(spark: SparkSession, sink: Sink | None) -> None:
    """Refuse a folder that is none, or that no sink of Spark's wrote.

    Raises
    ------
    ArgumentError
        With what would do.
    """
    if sink is None or sink.address is None:
        return
    files = Files(spark)
    with spark_errors_as(lambda why: wrong("output", sink.address, f"it cannot be read ({why})")):
        found = {name: files.has(f"{sink.address}/{name}") for name in ("", _LOG, _DELTA)}
    if not found[""]:
        raise wrong("output", sink.address, f"there is no such folder; {_REMEDY}")
    if not (found[_LOG] or found[_DELTA]):
        remedy = f"it has no {_LOG} and no {_DELTA}, so no sink of Spark's wrote it; {_REMEDY}"
        raise wrong("output", sink.address, remedy)


def rows(spark: SparkSession, sink: Sink, logs: Checkpoint, schema: Value) -> Rows:
    """The rows that a job put out in the micro-batches that are compared: kept, ended, and after one that was kept.

    Parameters
    ----------
    spark
        A session that is not Spark Connect's.
    sink
        Where they are.
    logs
        The checkpoint's.
    schema
        The columns that the job puts out.

    Raises
    ------
    NotComparable
        If it cannot be told which rows these are.
    """
    first, last = logs.batches[0].number, logs.batches[-1].number
    least = first + (first > 0)
    if sink.given is not None:
        found = _given_rows(sink.given, schema)
    elif Files(spark).has(f"{sink.address}/{_LOG}"):
        return _of_files(spark, str(sink.address), logs, schema)
    else:
        found = Rows(spark.read.format("delta").load(str(sink.address)), False)
    if found.numbered:
        return Rows(found.frame.where(f"`{BATCH}` BETWEEN {least} AND {last}"), True)
    _check_at_rest(spark, logs)
    if first:
        raise NotComparable(
            f"which of its rows came out before micro-batch {first}, the first that is kept, is not known; give a "
            f"DataFrame with the column {_NUMBERS[0]}"
        )
    return found


def _check_at_rest(spark: SparkSession, logs: Checkpoint) -> None:
    """Refuse rows of which no micro-batch is known, once the query has gone on: some may be of later ones."""
    if newest(spark, logs.address) > logs.batches[-1].number:
        raise NotComparable(
            "the query has gone on since, and which micro-batch its rows are of is not known; open it anew"
        )


def _given_rows(frame: DataFrame, schema: Value) -> Rows:
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    mine = {each.name for each in schema.fields}
    types = {each.name: each.dataType.typeName() for each in frame.schema.fields}
    number = next((name for name in _NUMBERS if types.get(name) in _INTEGERS and name not in mine), None)
    if number is None:
        return Rows(frame, False)
    return Rows(frame.withColumn(BATCH, F.col(number).cast("long")).drop(number), True)


def _of_files(spark: SparkSession, address: str, logs: Checkpoint, schema: Value) -> Rows:
    files = [each for each in log(spark, address) if each.batch is None or _is_compared(each.batch, logs)]
    numbered = all(each.batch is not None for each in files)
    about = ""
    if not numbered:
        _check_at_rest(spark, logs)
    if not numbered and logs.batches[0].number:
        begun = next((each.started for each in logs.batches[1:]), None)
        files = [each for each in files if begun is not None and (each.batch is not None or each.modified >= begun)]
        about = (
            f"those written before micro-batch {logs.batches[0].number + 1} left out by when their files were written"
        )
    kinds = {kind for each in files if (kind := _format(each.path))}
    if not files:
        return Rows(sources.with_batches(spark.createDataFrame([], schema), {}), True)
    if len(kinds) != 1:
        raise NotComparable(f"its files have no one format that is known ({', '.join(_FORMATS)}): {files[0].path}")
    [kind] = kinds
    there = existing(spark, [each.path for each in files])
    if len(there) < len(files):
        raise NotComparable(f"{len(files) - len(there):,} of its {len(files):,} files are gone")
    reader = spark.read.format(kind).options(basePath=address, __globPaths__="false")
    text = kind in ("json", "csv")
    if text:
        partitions = _partitions(address, files[0].path)
        reader = reader.schema(_in_file_order(schema, partitions))
    if kind == "csv":
        head = spark.read.text(unquote(files[0].path)).first()
        reader = reader.option("header", head is not None and head[0] == ",".join(_reader_names(schema, partitions)))
    frame = reader.load([unquote(each.path) for each in files])
    if not numbered:
        return Rows(frame, False, about, text)
    batches = {each.path: each.batch for each in files if each.batch is not None}
    return Rows(sources.with_batches(frame, batches), True, about, text)


def _reader_names(schema: Value, partitions: list[str]) -> list[str]:
    """The columns that a file has, in order."""
    return [each.name for each in schema.fields if each.name not in partitions]


def _in_file_order(schema: Value, partitions: list[str]) -> Any:
    """The schema with the columns that folders tell at its end, as files of text have their columns by place."""
    from pyspark.sql.types import StructType  # when needed: PySpark is slow to import

    fields = {each.name: each for each in schema.fields}
    return StructType([fields[name] for name in [*_reader_names(schema, partitions), *partitions] if name in fields])


def _partitions(address: str, path: str) -> list[str]:
    """The columns that the folders of a file tell."""
    base = address.rstrip("/").rpartition("/")[2]
    below = unquote(path).rpartition(f"/{base}/")[2].split("/")[:-1]
    return [each.partition("=")[0] for each in below if "=" in each]


def _is_compared(batch: int, logs: Checkpoint) -> bool:
    first, last = logs.batches[0].number, logs.batches[-1].number
    return first + (first > 0) <= batch <= last


def _format(path: str) -> str | None:
    parts = path.rpartition("/")[2].split(".")
    return next((each for each in reversed(parts) if each in _FORMATS), None)


def log(spark: SparkSession, address: str) -> list[WrittenFile]:
    """The files that a file sink committed; a compacted log has those of many micro-batches, and does not say which."""
    files, folder = Files(spark), f"{address}/{_LOG}"
    names = files.names(folder)
    compacted = max((int(name.split(".")[0]) for name in names if name.endswith(".compact")), default=None)
    numbers = sorted(int(name) for name in names if name.isdigit())
    found: dict[str, WrittenFile] = {}
    for number in numbers:
        for entry in _entries(files, f"{folder}/{number}"):
            found[entry["path"]] = WrittenFile(entry["path"], number, int(entry["modificationTime"]))
    if compacted is None:
        return list(found.values())
    before = [number for number in numbers if number < compacted]
    whole = before == list(range(compacted))  # what none of these has is of the compacted one's own micro-batch
    kept = {path: each for path, each in found.items() if (each.batch or 0) > compacted}
    for entry in _entries(files, f"{folder}/{compacted}.compact"):
        path = entry["path"]
        own = WrittenFile(path, compacted if whole else None, int(entry["modificationTime"]))
        kept[path] = found.get(path, own)
    return list(kept.values())


def _entries(files: Files, file: str) -> list[Json]:
    found = [json.loads(line) for line in files.text(file).split("\n")[1:] if line.strip()]
    return [each for each in found if each.get("action", "add") == "add"]
