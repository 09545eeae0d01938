"""Runs a plan as a real Structured Streaming query over recorded micro-batches, and follows it to its end."""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from workbench import _savepoint, _scratch, session
from workbench.errors import QueryError, one_of, wrong
from workbench.joins import CoGroup, IntervalJoin, Join, WindowJoin
from workbench.results import Run
from workbench.streams import Stream

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

POLICIES = ("min", "max")
_POLL = 0.05  # seconds


def run(
    join: Join,
    left: Stream,
    right: Stream,
    finish: bool = True,
    spark: SparkSession | None = None,
    policy: str = "min",
    progress: Callable[[int, int], None] | None = None,
    stop: Event | None = None,
    savepoint: str | os.PathLike[str] | None = None,
) -> Run:
    """Run a join of two recorded streams on Spark, micro-batch by micro-batch.

    Parameters
    ----------
    join
        What to run.
    left, right
        The two streams. Micro-batch ``n`` holds the rows that arrive in ``n`` on either side.
    finish
        Close every window at the end, as the end of a bounded input would; False leaves what is pending in state.
    spark
        The session to use; None: the workbench's own. Its settings stay as they are: the query runs in a new
        session of the same Spark application.
    policy
        With two watermarks, the query's is their ``min`` or their ``max``.
    progress
        Called with (micro-batches done, micro-batches expected) after every micro-batch.
    stop
        Set it from another thread to stop the query.
    savepoint
        Where `Run.savepoint` left one of the same join, and of streams that begin with the same micro-batches: the
        query goes on from there.

    Returns
    -------
    Run
        What came out, and what became of every row.

    Raises
    ------
    ArgumentError
        If an argument is wrong; before Spark is touched.
    JavaError
        If there is no Java that Spark runs on.
    QueryError
        If the query fails, or was stopped.

    Examples
    --------
    >>> import generators
    >>> import workbench as wb
    >>> orders, payments = generators.generate("orders_payments", events=50, late=0.0, seed=7)
    >>> done = wb.run(wb.IntervalJoin("0 seconds", "15 seconds", how="left"), orders, payments)
    >>> done.rows.groupby(["side", "fate"]).size().to_dict()
    {('left', 'matched'): 45, ('left', 'unmatched'): 5, ('right', 'matched'): 45}
    >>> done.faults.empty  # the model agrees with what Spark did
    True
    """
    check(join, left, right, finish, policy)
    base = session.spark() if spark is None else spark
    done = Run(join, left, right, finish, policy)
    done.folder = _scratch.folder(done)
    record(done)
    if savepoint is not None:
        _savepoint.restore(done, savepoint)
    rows = max(len(left), len(right)) // max(done.micro_batches, 1)
    own = done.spark = session.for_query(base, policy, rows)
    expected = done.micro_batches + 2 if finish else done.micro_batches
    # what it will be held to is worked out while Spark works
    model = Thread(target=_foresee, args=(done,), name="workbench model")
    try:
        query = start(done, own)
        model.start()
        done.progress += follow(query, expected, progress, stop)
    except QueryError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever the JVM says becomes one sentence
        raise one_sentence(error) from None
    model.join()
    hold(done)
    return done


def _foresee(done: Run) -> None:
    with suppress(Exception):  # `hold` meets it again, and tells
        _ = done.outcome


def hold(done: Run) -> None:
    """Compare a run with the model, and warn where they differ; the run itself stays as it is."""
    try:
        fault = done.fault
    except Exception as error:  # noqa: BLE001 - a run is not lost because it could not be compared
        fault = f"this run could not be compared with the workbench's model: {one_sentence(error)}"
    if fault:
        warnings.warn(fault, stacklevel=3)


def preview(join: Join, left: Stream, right: Stream, finish: bool = True, policy: str = "min") -> Run:
    """What a run must give, worked out by the model in an instant, without Spark.

    Parameters
    ----------
    join, left, right, finish, policy
        As in `run`.

    Returns
    -------
    Run
        With ``rows``, ``late``, ``batches``, ``why``, ``charts`` and ``script``, but without ``output`` and ``state``.

    Raises
    ------
    ArgumentError
        If an argument is wrong.

    Examples
    --------
    >>> import generators
    >>> import workbench as wb
    >>> orders, payments = generators.generate("orders_payments", events=50, late=0.0, seed=7)
    >>> seen = wb.preview(wb.IntervalJoin("0 seconds", "2 seconds"), orders, payments)
    >>> row = seen.rows[seen.rows.fix_setting == "upper"].iloc[0]
    >>> row.fate, row.fix_value
    ('unmatched', '5917 milliseconds')
    """
    check(join, left, right, finish, policy)
    return Run(join, left, right, finish, policy)


def check(join: object, left: object, right: object, finish: object = True, policy: object = "min") -> None:
    """Check the arguments of a run against each other.

    Raises
    ------
    ArgumentError
        Naming the argument that is wrong.
    """
    from workbench._arrow import check_same_keys

    if not isinstance(join, WindowJoin | CoGroup | IntervalJoin):
        raise wrong("join", join, 'use WindowJoin(...), CoGroup(...) or IntervalJoin("-2 seconds", "5 seconds")')
    for argument, side in (("left", left), ("right", right)):
        if not isinstance(side, Stream):
            raise wrong(
                argument, type(side).__name__, "make a stream of it: Stream.from_pandas(...) or Stream.from_files(...)"
            )
    if not isinstance(finish, bool):
        raise wrong("finish", finish, "use True or False")
    one_of("policy", policy, POLICIES)
    check_same_keys(left, right)


def record(done: Run) -> None:
    """Write both sides as one Parquet file a micro-batch, with row numbers, and the end of input where asked for."""
    from workbench.streams import write_batch

    ends = ending(done.left, done.right)
    for side, stream, end in zip(("left", "right"), (done.left, done.right), ends, strict=True):
        folder = done.folder / side
        stream.write(folder, done.micro_batches, done.numbered(side))
        if done.finish:
            write_batch(end, folder, done.micro_batches)


def ending(left: Stream, right: Stream) -> tuple[pa.Table, pa.Table]:
    """For each side the one row that ends its input: a time after everything, and a key that is not null."""
    import pyarrow as pa

    from workbench._arrow import END_OF_INPUT, zero
    from workbench.streams import ROW

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


def start(done: Run, spark: SparkSession, files: int | None = 1, **trigger: Any) -> StreamingQuery:
    """Start the query over the files in a run's folder.

    Parameters
    ----------
    done
        The run; its folder gets the output and the checkpoint.
    spark
        The session to run it in.
    files
        How many files a side a micro-batch takes in; None: all there are.
    **trigger
        Spark's trigger; none: what is there now, and the end.
    """
    sides = [read(spark, done.folder / side, done.numbered(side).schema, files) for side in ("left", "right")]
    joined = compiled(done.code)(*sides)
    return (
        joined.writeStream.format("parquet")
        .option("path", str(done.folder / "output"))
        .option("checkpointLocation", str(done.folder / "checkpoint"))
        .outputMode("append")
        .trigger(**(trigger or {"availableNow": True}))
        .start()
    )


def read(spark: SparkSession, folder: Path, schema: pa.Schema, files: int | None = 1) -> DataFrame:
    """A folder of recorded micro-batches as a stream, so many files a micro-batch; None: all there are."""
    from pyspark.sql.pandas.types import from_arrow_schema

    reader = spark.readStream.schema(from_arrow_schema(schema))
    if files is not None:
        reader = reader.option("maxFilesPerTrigger", files)
    return reader.parquet(str(folder))


def compiled(code: str) -> Callable[[DataFrame, DataFrame], DataFrame]:
    """The function ``join_streams`` of a plan's text."""
    from pyspark.sql import DataFrame
    from pyspark.sql import functions as F

    from workbench._arrow import END_OF_INPUT

    names: dict[str, Any] = {
        "F": F,
        "DataFrame": DataFrame,
        "END_OF_INPUT": END_OF_INPUT.tz_localize("UTC").isoformat(),
    }
    exec(code, names)  # noqa: S102 - the code shown is the code run
    function: Callable[[DataFrame, DataFrame], DataFrame] = names["join_streams"]
    return function


def follow(
    query: StreamingQuery, expected: int, report: Callable[[int, int], None] | None, stop: Event | None
) -> list[dict[str, Any]]:
    """Wait for the query's end, telling of each micro-batch; gives Spark's progress, one dict a micro-batch."""
    told = 0
    try:
        while query.isActive:
            if stop is not None and stop.is_set():
                raise QueryError("the run was stopped")
            if report is not None and query.lastProgress is not None:
                reached = int(query.lastProgress["batchId"]) + 1
                if reached > told:
                    told = reached
                    report(min(told, expected), expected)
            time.sleep(_POLL)
        failure = query.exception()
        if failure is not None:
            raise one_sentence(failure)
    finally:
        if query.isActive:
            query.stop()
    progress: dict[int, dict[str, Any]] = {}
    for each in query.recentProgress:
        entry = each if isinstance(each, dict) else json.loads(each.json)
        progress.setdefault(int(entry["batchId"]), entry)
    if report is not None:
        report(expected, expected)
    return [progress[number] for number in sorted(progress)]


def one_sentence(error: BaseException) -> QueryError:
    """Spark's error as one sentence with its cause; the trace is kept in ``details``."""
    details = str(error)
    causes = [line.strip() for line in details.splitlines() if line.strip()]
    caused = [line for line in causes if line.startswith("Caused by: ")]
    cause = caused[-1].removeprefix("Caused by: ") if caused else (causes[0] if causes else type(error).__name__)
    if "===" in cause:
        cause = cause.split("===")[0]
    return QueryError(f"the query failed in Spark: {cause.strip()[:400]}", details)
