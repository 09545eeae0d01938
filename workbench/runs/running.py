"""Runs a join of two recorded streams on Spark, or previews what such a run gives."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

from workbench import session, spark_versions
from workbench.engine import pruning, query
from workbench.engine import savepoint as savepoints
from workbench.engine.execution import Execution, versions
from workbench.errors import QueryError, TooLargeError, WorkbenchError, wrong
from workbench.joins import Join
from workbench.kinds import kind_of
from workbench.literals import Policy
from workbench.model import Simulation
from workbench.runs.arguments import check, check_operator, check_session
from workbench.runs.preview import Preview
from workbench.runs.run import Run
from workbench.session import state_store
from workbench.spark_io import storage
from workbench.spark_io.cause import spark_errors_as
from workbench.spark_io.stopping import stop_queries
from workbench.spark_io.storage import Place
from workbench.streams import Stream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["execute", "preview", "run", "verification_failure", "verify"]


def run(
    join: Join,
    left: Stream,
    right: Stream,
    *,
    finish: bool = True,
    spark: SparkSession | None = None,
    policy: Policy = "min",
    progress: Callable[[int, int], None] | None = None,
    stop: Event | None = None,
    savepoint: str | os.PathLike[str] | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> Run:
    """Run a join of two recorded streams on Spark, micro-batch by micro-batch.

    Parameters
    ----------
    join
        What to run.
    left, right
        The two streams. Micro-batch ``n`` holds the rows that arrive in ``n`` on either side.
    finish
        Close every window at the end, as the end of a bounded input would; False leaves pending rows in state.
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
        Where `Run.savepoint` left one of the same join, and of streams that start with the same micro-batches: the
        query resumes from there.
    folder
        Where the recording, the checkpoint and the output are kept for as long as the run is, in a folder of its own:
        an address of any file system that the session's Spark knows, such as ``s3a://bucket/scratch``, or a path of
        this machine that Spark's executors reach, too. None: a temporary folder of this machine, in memory where
        there is room.

    Returns
    -------
    Run
        The output, and the fate of every row.

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
    >>> done.mismatches.empty  # the model agrees with what Spark did
    True
    """
    left, right = check(join, left, right, finish, policy)
    check_session(spark)
    if progress is not None and not callable(progress):
        raise wrong("progress", progress, "give a function of two numbers, or None")
    if stop is not None and not callable(getattr(stop, "is_set", None)):
        raise wrong("stop", stop, "give a threading.Event, or None")
    wanted = storage.check_folder(folder)
    simulation = Simulation(join, left, right, finish, policy)
    made = execute(simulation, wanted, spark, progress=progress, stop=stop, savepoint=savepoint)
    verify(made)
    return made


def execute(
    simulation: Simulation,
    folder: str | None,
    spark: SparkSession | None,
    *,
    progress: Callable[[int, int], None] | None = None,
    stop: Event | None = None,
    savepoint: str | os.PathLike[str] | None = None,
    settings: Mapping[str, str] | None = None,
) -> Run:
    """Run a query to its end, in a folder of its own, as `run` does; its rows are not verified.

    With ``settings``, which the query's session takes in place of the workbench's own, no columns are left out.
    """
    with ExitStack() as on_failure:
        made = _execute(simulation, folder, on_failure, spark, progress, stop, savepoint, settings)
        on_failure.pop_all()
    return made


def _execute(
    simulation: Simulation,
    folder: str | None,
    on_failure: ExitStack,
    spark: SparkSession | None,
    progress: Callable[[int, int], None] | None,
    stop: Event | None,
    savepoint: str | os.PathLike[str] | None,
    settings: Mapping[str, str] | None,
) -> Run:
    resumed = None if savepoint is None else savepoints.read(simulation, savepoint)
    base = session.spark() if spark is None else spark
    rows = max(len(simulation.left), len(simulation.right)) // max(simulation.micro_batches, 1)
    pruned = settings is None and pruning.pays(simulation) if resumed is None else resumed.pruned
    with spark_errors_as(query.FAILED):
        simulation = replace(simulation, spark_version=session.version_of(base))
        check_operator(simulation.join, simulation.spark_version)
        rocksdb = kind_of(simulation.join).operator.is_processor
        own = session.for_query(base, simulation.policy, rows, compact=pruned, rocksdb=rocksdb)
        for name, value in (settings or {}).items():
            own.conf.set(name, value)
        place = storage.make(folder, own)
    on_failure.callback(place.remove)
    query.record(simulation, place.path, pruned)
    store = str(own.conf.get(state_store.SETTING))
    done = [] if resumed is None else savepoints.restore(resumed, place, store)
    place.send()
    expected = simulation.micro_batches + 2 if simulation.finish else simulation.micro_batches
    # what it is verified against is computed while Spark works
    too_much: list[TooLargeError] = []
    model = Thread(target=_simulate, args=(simulation, place.path, too_much), name="workbench model", daemon=True)
    try:
        with spark_errors_as(query.FAILED):
            running = query.start(simulation, place, own, pruned=pruned)
            model.start()
            stopped = lambda: bool(too_much) or (stop is not None and stop.is_set())  # noqa: E731
            done += query.follow(running, own, expected, progress, stopped)
    except WorkbenchError as error:
        if too_much:
            raise too_much[0] from None
        raise _with_remedy(error, own, place) from None
    except KeyboardInterrupt:
        stop_queries(own)  # also one whose start was interrupted
        raise
    model.join()
    made = versions(simulation.spark_version)
    return Run(simulation, Execution(own, place, tuple(done), versions=made, pruned=pruned))


def _with_remedy(error: WorkbenchError, spark: SparkSession, place: Place) -> WorkbenchError:
    """The error with what would help, where Spark's executors did not find the folder of this machine."""
    if str(place.path) not in str(error) or storage.is_local(spark):
        return error
    remedy = "Spark's executors do not reach this machine's folders: give folder= a place that they reach, such as "
    return QueryError(f"{remedy}{storage.EXAMPLES} ({error})", error.details if isinstance(error, QueryError) else "")


def _simulate(simulation: Simulation, folder: Path, too_much: list[TooLargeError]) -> None:
    """Let the model compute a run; says so where its output would not fit on the disk."""
    try:
        _ = simulation.outcome
    except TooLargeError as error:
        wanted, free = _bytes_of_pairs(simulation, error.count), shutil.disk_usage(folder).free
        if wanted > free:
            gigabytes = [f"{each / 1e9:,.0f} GB" for each in (wanted, free)]
            words = f"{error}; the output alone would take {gigabytes[0]}, of which {gigabytes[1]} are free"
            too_much.append(TooLargeError(words, error.count))
    except Exception:  # noqa: BLE001, S110 - `verify` meets it again, and reports it
        pass


def _bytes_of_pairs(simulation: Simulation, count: int) -> float:
    """About how large so many rows of both sides are."""
    return count * sum(each.table.nbytes / max(len(each), 1) for each in (simulation.left, simulation.right))


def verify(run: Run) -> None:
    """Verify a run against the model, and warn where they differ; the run itself stays as it is."""
    if mismatch := verification_failure(run):
        warnings.warn(mismatch, stacklevel=3)


def verification_failure(run: Run) -> str:
    """What to say of a run that differs from the model, or could not be compared; empty where they agree."""
    try:
        with spark_errors_as(query.FAILED):
            return run.mismatch
    except WorkbenchError as error:  # a run is not lost because it could not be compared
        return f"this run was not compared with the workbench's model, and has no reasons: {error}"


def preview(
    join: Join,
    left: Stream,
    right: Stream,
    *,
    finish: bool = True,
    policy: Policy = "min",
    spark_version: str | None = None,
) -> Preview:
    """The expected result of a run, simulated in an instant, without Spark.

    Parameters
    ----------
    join, left, right, finish, policy
        As in `run`.
    spark_version
        The version of Spark whose run is simulated, such as ``"4.1"``; None: the PySpark that is installed.

    Returns
    -------
    Preview
        As a `Run`, without ``state`` and all else that only Spark knows.

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
    ('unmatched', '5.917 seconds')
    """
    left, right = check(join, left, right, finish, policy)
    version = spark_versions.check("spark_version", spark_version)
    return Preview(Simulation(join, left, right, finish, policy, spark_version=version))
