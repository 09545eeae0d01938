"""``play``: the user's own streaming code on Spark, for exactly these micro-batches."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from workbench import process, session
from workbench.counts import counted
from workbench.engine import query as queries
from workbench.errors import ArgumentError, QueryError, excerpt, one_of, wrong
from workbench.jobs.checkpoint import LATEST
from workbench.jobs.in_memory import Written
from workbench.runs.arguments import check_session
from workbench.spark_io.cause import spark_errors_as
from workbench.spark_io.explaining import explain, in_one
from workbench.spark_io.frames import arrow_schema
from workbench.spark_io.scratch import Scratch
from workbench.testing._played import Played, remembered
from workbench.testing._quick import quick_settings, with_modules_of_the_test
from workbench.testing.rows import MicroBatches, schema_of, tables
from workbench.untyped import Argument, Build, Json, Value

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = ["MODES", "play", "played"]

MODES = ("append", "update", "complete")
"""The output modes of Spark's."""
_WITHOUT_ROWS = "spark.sql.streaming.noDataMicroBatches.enabled"
_ZONE = "spark.sql.session.timeZone"
_AS_ROWS_RAN = "raised by the Python Proxy"
"""What Py4J says of an error within `collect`: Spark had planned the query."""


def play(
    build: Build,
    /,
    *,
    finish: bool = False,
    restart_after: int | Sequence[int] = (),
    mode: str = "append",
    settings: Mapping[str, str] | None = None,
    spark: SparkSession | None = None,
    **streams: MicroBatches | DataFrame | pd.DataFrame,
) -> Played:
    """Run streaming code for exactly these micro-batches.

    It runs as it is: what it does before and after a join, conditions, functions of Python, batch tables joined beside.
    Each stream is a folder of files, one a micro-batch, so that the rows of micro-batch 1 of each stream come together;
    a stream with fewer micro-batches is idle in the others. At the end Spark runs micro-batches without data, where the
    session allows it, as it does in production.

    Parameters
    ----------
    build
        The code to test: takes the streams by their names, as streaming DataFrames, and returns the streaming DataFrame
        that the job would write.
    finish
        Whether the input ends after the last micro-batch: one more, without rows, has a watermark that closes every
        window and evicts all state.
    restart_after
        The micro-batches after which the query is stopped and started again from its checkpoint.
    mode
        The output mode: ``"append"``, ``"update"`` or ``"complete"``.
    settings
        Settings of Spark's for this query, such as ``{"spark.sql.streaming.multipleWatermarkPolicy": "max"}``; other
        settings are those of the session, but for a few that make small queries quick and change no row.
    spark
        The session to run in; None: the active one, or a local one of the workbench's own.
    **streams
        What `build` takes, by name: `micro_batches` for a stream; a DataFrame of Spark or pandas for a batch table.

    Returns
    -------
    Played
        What came out, and all that `workbench.open_job` tells: rows and their fates, late rows, state, charts.

    Raises
    ------
    ArgumentError
        If an argument is wrong; if `build` returns something other than one streaming DataFrame, or does not read each
        stream.
    QueryError
        If Spark refuses the query, or it fails.

    Examples
    --------
    >>> from pyspark.sql import functions as F
    >>> from workbench.testing import micro_batches, play
    >>> def per_minute(orders):
    ...     return orders.withWatermark("at", "0 seconds").groupBy(F.window("at", "1 minute")).count()
    >>> job = play(per_minute, orders=micro_batches("at timestamp", [("10:00:05",)], [("10:01:30",)]))
    >>> job.output[["count", "batch"]].values.tolist()
    [[1, 2]]
    """
    return played(build, streams, finish=finish, restart_after=restart_after, mode=mode, settings=settings, spark=spark)


def played(
    build: Build,
    streams: Json,
    *,
    finish: bool = False,
    restart_after: int | Sequence[int] = (),
    mode: str = "append",
    settings: Mapping[str, str] | None = None,
    spark: SparkSession | None = None,
    watermarks: Callable[[DataFrame], Mapping[int, int]] = lambda _: {},
) -> Played:
    """What `play` does, after rows that are not there.

    `watermarks` gives, of the DataFrame that was built, the watermarks in milliseconds that followed from them, by the
    micro-batch after which each was.
    """
    read = {name: each for name, each in streams.items() if isinstance(each, MicroBatches)}
    restarts = _checked(build, streams, read, finish, restart_after, mode, settings)
    check_session(spark)
    spark = session.spark() if spark is None else spark
    if not hasattr(spark, "_jsparkSession"):
        raise wrong("spark", "a session of Spark Connect", "its queries cannot be followed; give a classic session")
    zone = str((settings or {}).get(_ZONE) or spark.conf.get(_ZONE))
    schemas = {name: schema_of(each, name) for name, each in read.items()}
    with quick_settings(spark, settings or {}), with_modules_of_the_test(spark, build), _without_traces():
        empty = {name: _empty(spark, each, name) for name, each in schemas.items()}
        rows = {name: tables(each, schemas[name], empty[name].schema, name, zone) for name, each in read.items()}
        recording = _Recording(Scratch(), schemas, empty, rows, max([1, *(len(each) for each in rows.values())]))
        joined = _built(build, _arguments(spark, streams, recording))
        playing = _Playing(recording, joined, mode, spark)
        marks = watermarks(joined)
        for number in sorted({*restarts, *marks}):
            with quick_settings(spark, {_WITHOUT_ROWS: "false"}):  # the next rows come before there is time for one
                playing.run_up_to(number + 1)
            if number in marks:
                playing.set_watermark(marks[number])
        playing.run_up_to(recording.count)
        playing.check_all_read()
        if finish:
            playing.end()
    came_out, reports, written = playing.output(), playing.reports(), recording.files()
    return remembered(Played(joined, tuple(schemas), came_out, reports, recording.folder, written, mode, build))


def _checked(
    build: object,
    streams: Mapping[str, Value],
    read: Mapping[str, MicroBatches],
    finish: object,
    restart_after: Argument,
    mode: object,
    settings: object,
) -> list[int]:
    """The micro-batches to restart after, in order, all arguments being checked as far as that takes no Spark."""
    for name, given in {"finish": finish, "restart_after": restart_after, "mode": mode, "settings": settings}.items():
        if isinstance(given, MicroBatches):
            remedy = f"wrap it, as in lambda rows, …: build({name}=rows, …)"
            raise ArgumentError(f"{name}: play has an argument of this name, too, which is no stream; {remedy}")
    if not callable(build):
        raise wrong("build", build, "give the function that makes the streaming DataFrame of the streams")
    if not isinstance(finish, bool):
        raise wrong("finish", finish, "use True or False")
    one_of("mode", mode, MODES)
    if settings is not None and not (
        isinstance(settings, Mapping) and all(isinstance(each, str) for pair in settings.items() for each in pair)
    ):
        raise wrong("settings", settings, 'give texts by name, such as {"spark.sql.session.timeZone": "UTC"}')
    for name, given in streams.items():
        if not name.isidentifier():
            raise wrong("streams", name, "give a name that an argument of build can have, such as orders")
        if not isinstance(given, MicroBatches | pd.DataFrame) and getattr(given, "isStreaming", True) is not False:
            raise wrong(name, given, "give micro_batches(…) for a stream, or a DataFrame that is no stream for a table")
    if not read:
        raise ArgumentError("streams: there is none; give one by its name, such as orders=micro_batches(…)")
    try:
        inspect.signature(build).bind(**streams)
    except TypeError as error:
        name = getattr(build, "__name__", "build")
        listed = ", ".join(streams)
        raise ArgumentError(
            f"build: {name} cannot be called with {listed} ({error}); wrap it, as in lambda {listed}: {name}(…)"
        ) from None
    except ValueError:  # one of C, whose arguments are not known
        pass
    count = max(len(each.batches) for each in read.values())
    numbers = [restart_after] if isinstance(restart_after, int) else restart_after
    if not isinstance(numbers, Sequence) or not all(_is_below(each, count) for each in numbers):
        raise wrong("restart_after", restart_after, f"give micro-batches, numbers from 0 to {count - 1}")
    return sorted(set(numbers))


def _is_below(number: object, count: int) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number < count


@dataclass
class _Recording:
    """The files of the streams: one a micro-batch, written when their turn comes."""

    folder: Scratch
    schemas: Mapping[str, StructType]
    empty: Mapping[str, pa.Table]
    rows: Mapping[str, Sequence[pa.Table]]
    count: int
    written: int = 0

    def file(self, name: str, number: int) -> Path:
        """The file of a stream's micro-batch."""
        return self.folder.path / "streams" / name / f"{number:06}.parquet"

    def write_up_to(self, count: int) -> None:
        """Write the files of the micro-batches before a number; those after the last have no rows."""
        for number in range(self.written, count):
            for name, batches in self.rows.items():
                file = self.file(name, number)
                file.parent.mkdir(parents=True, exist_ok=True)
                pq.write_table(batches[number] if number < len(batches) else self.empty[name], file)
                os.utime(file, (1e9 + number, 1e9 + number))  # Spark takes files in order of time
        self.written = max(self.written, count)

    def files(self) -> Written:
        """What was written."""
        numbers = range(self.written)
        return Written.of(
            {
                self.file(name, number).as_uri(): batches[number] if number < len(batches) else self.empty[name]
                for name, batches in self.rows.items()
                for number in numbers
            }
        )


def _empty(spark: SparkSession, schema: StructType, name: str) -> pa.Table:
    """A table without rows, as Arrow has the columns of a stream."""
    remedy = "use other types, such as string"
    with spark_errors_as(lambda why: wrong(name, schema.simpleString(), f"rows cannot be given so ({why}); {remedy}")):
        return arrow_schema(spark, schema).empty_table()


def _arguments(spark: SparkSession, streams: Mapping[str, Value], recording: _Recording) -> dict[str, DataFrame]:
    """What the user's function is called with."""
    found: dict[str, DataFrame] = {}
    recording.write_up_to(1)
    for name, given in streams.items():
        if name in recording.schemas:
            reader = spark.readStream.schema(recording.schemas[name]).option("maxFilesPerTrigger", 1)
            found[name] = reader.parquet(f"{recording.folder.address}/streams/{name}")
        else:
            found[name] = _table(spark, given, name) if isinstance(given, pd.DataFrame) else given
    return found


def _table(spark: SparkSession, given: pd.DataFrame, name: str) -> DataFrame:
    with spark_errors_as(lambda why: wrong(name, given, f"that is no table ({why})")):
        return spark.createDataFrame(given)


def _built(build: Build, given: Mapping[str, DataFrame]) -> DataFrame:
    """The streaming DataFrame that the user's function makes."""
    made = build(**given)
    remedy = "return the streaming DataFrame that the job writes"
    if isinstance(made, tuple | list | dict):
        raise ArgumentError(f"build: it returned {counted(len(made), 'value')}; {remedy}, one for each call of play")
    if not hasattr(made, "isStreaming"):
        raise ArgumentError(f"build: it returned {excerpt(made)}; {remedy}")
    if not made.isStreaming:
        raise ArgumentError(f"build: it returned a batch DataFrame; {remedy}, made of {', '.join(given)}")
    return made


@contextmanager
def _without_traces() -> Iterator[None]:
    """Keep PySpark from writing Java's whole trace of an error to the log: the error is told as a sentence."""
    from pyspark.logger import PySparkLogger  # when needed: PySpark is slow to import

    loggers = [PySparkLogger.getLogger(f"{each}QueryContextLogger") for each in ("SQL", "DataFrame")]
    before = [each.disabled for each in loggers]
    for each in loggers:
        each.disabled = True
    try:
        yield
    finally:
        for each, was in zip(loggers, before, strict=True):
            each.disabled = was


@contextmanager
def _told_with_remedy() -> Iterator[None]:
    """Tell what a test's own query breaks, and what to write, where Spark refuses it and `explain` knows the error."""
    try:
        yield
    except QueryError as refused:
        found = explain(refused.details or refused)
        if not found.known or _AS_ROWS_RAN in refused.details:  # of a value Spark says itself which one it is
            raise
        said = QueryError(f"Spark refuses the query: {in_one(found)}")
        said.details = refused.details
        raise said from None


@dataclass
class _Playing:
    """A query over a recording, run part by part on one checkpoint."""

    recording: _Recording
    joined: DataFrame
    mode: str
    spark: SparkSession
    _collected: dict[int, pa.Table] = field(default_factory=dict)
    _reports: dict[int, Json] = field(default_factory=dict)

    @_told_with_remedy()
    def run_up_to(self, count: int) -> None:
        """Run the micro-batches before a number that have not been run."""
        self.recording.write_up_to(count)
        names = self.joined.columns
        unique = [f"{place}" for place in range(len(names))] if len({*names}) < len(names) else []

        def collect(frame: DataFrame, number: int) -> None:
            frame = frame.toDF(*unique) if unique else frame  # two columns may have one name
            self._collected[number] = frame.toArrow()

        with spark_errors_as("the query cannot be started"):
            query = (
                self.joined.writeStream.foreachBatch(collect)
                .option("checkpointLocation", f"{self.recording.folder.address}/checkpoint")
                .outputMode(self.mode)
                .trigger(availableNow=True)
                .start()
            )
        process.queries[query] = self.spark
        for report in queries.follow(query, self.spark, count, None, lambda: False):
            self._reports[int(report["batchId"])] = report

    def check_all_read(self) -> None:
        """Refuse a stream that the user's function does not read."""
        read = " ".join(str(each["description"]) for report in self._reports.values() for each in report["sources"])
        for name in self.recording.schemas:
            if f"/streams/{name}]" not in read:
                raise ArgumentError(f"{name}: build does not read it; leave it out, or return what is made of it")

    def set_watermark(self, milliseconds: int) -> None:
        """Have the next micro-batch begin with another watermark than follows from the rows.

        The log of commits keeps the watermark from which a query goes on.
        """
        commits = self.recording.folder.path / "checkpoint" / "commits"
        last = max((file for file in commits.iterdir() if file.name.isdigit()), key=lambda file: int(file.name))
        version, entry, *rest = last.read_text(encoding="utf-8").split("\n")
        changed = json.dumps(json.loads(entry) | {"nextBatchWatermarkMs": milliseconds}, separators=(",", ":"))
        (commits / f".{last.name}.crc").unlink(missing_ok=True)
        last.write_text("\n".join([version, changed, *rest]), encoding="utf-8")

    def end(self) -> None:
        """Run one more micro-batch, without rows, whose watermark closes everything: no row that the code would see."""
        self.set_watermark(LATEST // 1000)
        self.run_up_to(self.recording.count + 1)

    def reports(self) -> list[Json]:
        """What Spark reported of each micro-batch, in order."""
        return [self._reports[number] for number in sorted(self._reports)]

    def output(self) -> pa.Table:
        """What came out, with the micro-batch of each row in the last column."""
        parts = [
            table.append_column("batch", pa.array([number] * table.num_rows, pa.int64()))
            for number, table in sorted(self._collected.items())
        ]
        named = "micro_batch" if "batch" in map(str.lower, self.joined.columns) else "batch"
        return pa.concat_tables(parts).rename_columns([*self.joined.columns, named])
