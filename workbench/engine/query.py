"""A plan as a Structured Streaming query over recorded micro-batches: their files, its start, its end."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from workbench import plan, process
from workbench.arrays import Counts
from workbench.engine import pruning, sink_reader
from workbench.errors import QueryError
from workbench.kinds import kind_of, plan_of
from workbench.model import Simulation
from workbench.sources.arrow import END_OF_INPUT, zero
from workbench.spark_io.cause import told
from workbench.spark_io.stopping import stop_query
from workbench.spark_io.storage import Place
from workbench.streams import NOTHING, ROW, SIDES, Stream, moving, write_batch
from workbench.untyped import Record, Value

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["FAILED", "call", "compiled", "ending", "follow", "plain", "read", "record", "start"]

FAILED = "the query failed in Spark"
"""How an error of a query begins; its cause follows."""
_POLL = 0.05  # seconds


def record(simulation: Simulation, folder: Path, pruned: bool = False) -> None:
    """Write both sides as one Parquet file a micro-batch, with row numbers, and the end of input where asked for.

    Parameters
    ----------
    simulation
        What is to be run.
    folder
        Gets a folder for each side.
    pruned
        Whether to leave out the columns that the join does not need.
    """
    ends = ending(simulation.left, simulation.right)
    dropped = kind_of(simulation.join).drops_null_keys(simulation.join)
    for side, stream, end, keyed in zip(SIDES, (simulation.left, simulation.right), ends, dropped, strict=True):
        whole = simulation.numbered(side)
        if pruned:
            kept = pruning.columns(simulation, side)
            whole, end = whole.select(kept), end.select(kept)
        rows, table = _with_newest(stream, moving(stream, keyed), whole, end)
        rows.write(folder / side, simulation.micro_batches, table)
        if simulation.finish:
            write_batch(end, folder / side, simulation.micro_batches)


def _with_newest(stream: Stream, moves: Counts | None, rows: pa.Table, end: pa.Table) -> tuple[Stream, pa.Table]:
    """A sample with a row in each micro-batch that moves the watermark as the newest of all rows does."""
    if moves is None:
        return stream, rows
    batches = np.flatnonzero(moves > NOTHING)
    more = end.take(np.zeros(len(batches), dtype=np.int64))
    place = more.column_names.index(stream.time)
    newest = pa.array(moves[batches]).cast(more.schema.field(place).type)
    table = pa.concat_tables([rows, more.set_column(place, more.schema.field(place), newest)])
    arrival = np.concatenate([stream.arrival, batches])
    order = np.argsort(arrival, kind="stable")
    table = table.take(order)
    return replace(stream, table=table.drop_columns([ROW]), arrival=arrival[order]), table


def ending(left: Stream, right: Stream) -> tuple[pa.Table, pa.Table]:
    """For each side the one row that ends its input: a time after everything, and a key that is not null."""
    tables = []
    for stream in (left, right):
        values = {}
        for column in stream.table.schema:
            value = pa.scalar(None, column.type)
            if column.name in stream.key:
                value = zero(column.type)
            if column.name == stream.time:
                value = pa.scalar(END_OF_INPUT.tz_localize("UTC"), column.type)
            values[column.name] = pa.array([value.as_py()], column.type)
        values[ROW] = pa.array([-1], pa.int64())
        tables.append(pa.table(values))
    return tables[0], tables[1]


def start(
    simulation: Simulation,
    place: Place,
    spark: SparkSession,
    files: int | None = 1,
    *,
    pruned: bool = False,
    **trigger: Value,
) -> StreamingQuery:
    """Start a query over the files in a folder.

    Parameters
    ----------
    simulation
        What to run.
    place
        The folder that has the files of each side in a folder of its own; gets the output and the checkpoint.
    spark
        The session to run it in.
    files
        How many files a side a micro-batch takes in; None: all there are.
    pruned
        Whether the files are without the columns that the join does not need, and so is the output.
    **trigger
        Spark's trigger; none: what is there now, and the end.
    """
    folder = place.address
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    sides = []
    for side in SIDES:
        rows = simulation.numbered(side)
        schema = rows.select(pruning.columns(simulation, side)).schema if pruned else rows.schema
        sides.append(read(spark, f"{folder}/{side}", schema, files))
    code = plan_of(simulation.join, simulation.left, simulation.right, simulation.finish, True)
    joined = compiled(code)(*sides)
    if pruned:
        joined = pruning.narrowed(joined)
    if not place.has_logs:
        joined = joined.withColumn(sink_reader.BEGAN, F.current_timestamp())
    query = (
        joined.writeStream.format("parquet")
        .option("path", f"{folder}/output")
        .option("checkpointLocation", f"{folder}/checkpoint")
        .option("parquet.enable.dictionary", "false")  # it is read once
        .outputMode("append")
        .trigger(**(trigger or {"availableNow": True}))
        .start()
    )
    process.queries[query] = spark
    return query


def read(spark: SparkSession, folder: str, schema: pa.Schema, files: int | None = 1) -> DataFrame:
    """A folder of recorded micro-batches as a stream, so many files a micro-batch; None: all there are."""
    from pyspark.sql.pandas.types import from_arrow_schema  # when needed: PySpark is slow to import

    # over Spark Connect on a remote file system a micro-batch is a folder with one file
    reader = spark.readStream.schema(from_arrow_schema(schema)).option("recursiveFileLookup", True)
    if files is not None:
        reader = reader.option("maxFilesPerTrigger", files)
    return reader.parquet(folder)


def compiled(code: str) -> Callable[[DataFrame, DataFrame], DataFrame]:
    """The function ``join_streams`` of a plan's text."""
    from pyspark.sql import DataFrame  # when needed: PySpark is slow to import
    from pyspark.sql import functions as F

    names: Record = {
        "F": F,
        "DataFrame": DataFrame,
        "END_OF_INPUT": END_OF_INPUT.tz_localize("UTC").isoformat(),
    }
    for line in plan.IMPORTS:
        if any(each in code for each in line.rpartition("import ")[2].split(", ")):
            exec(line, names)  # noqa: S102 - one of a few lines of our own
    exec(code, names)  # noqa: S102 - the code shown is the code run
    function: Callable[[DataFrame, DataFrame], DataFrame] = names["join_streams"]
    return function


def follow(
    query: StreamingQuery,
    spark: SparkSession,
    expected: int,
    report: Callable[[int, int], None] | None,
    stopped: Callable[[], bool],
) -> list[Record]:
    """Wait for the end of a session's query, reporting each micro-batch; gives Spark's progress, one dict for each."""
    reported = 0
    try:
        while query.isActive:
            if stopped():
                raise QueryError("the run was stopped")
            if report is not None and query.lastProgress is not None:
                reached = int(query.lastProgress["batchId"]) + 1
                if reached > reported:
                    reported = reached
                    call("progress", report, min(reported, expected), expected)
            time.sleep(_POLL)
        failure = query.exception()
        if failure is not None:
            raise told(failure, FAILED)
        if query in process.stopped:
            raise QueryError("the run was stopped")
        process.queries.pop(query, None)
    except BaseException:  # after an interrupt, too, nothing goes on
        stop_query(query, spark)
        raise
    progress: dict[int, Record] = {}
    for each in query.recentProgress:
        progress.setdefault(int(each["batchId"]), plain(each))
    if report is not None:
        call("progress", report, expected, expected)
    return [progress[number] for number in sorted(progress)]


def plain(progress: Any) -> Record:
    """Spark's progress of one micro-batch as what JSON can hold: its own objects are read only, and hold more."""
    found: Record = json.loads(progress.json)
    return found


def call(argument: str, function: Callable[..., None], *values: Value) -> None:
    """Call a function that the user gave to follow a query.

    Raises
    ------
    QueryError
        If the function raises.
    """
    try:
        function(*values)
    except Exception as error:  # whatever a user's function raises
        raise QueryError(f"{argument}: your function raised {error!r}; the query was stopped") from error
