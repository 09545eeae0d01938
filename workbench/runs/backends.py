"""The same recording with each of Spark's state stores: what it takes, and what is left on disk."""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from workbench import charts
from workbench.engine import query
from workbench.errors import QueryError, wrong
from workbench.joins import Join
from workbench.kinds import kind_of
from workbench.model import Simulation
from workbench.runs import running
from workbench.runs.arguments import check, check_session
from workbench.runs.run import Run
from workbench.session import state_store
from workbench.spark_io import storage
from workbench.streams import SIDES, Stream
from workbench.untyped import Json, Record, Value

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["STORES", "Backends", "backends"]

_CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
MEMORY, ROCKSDB, WITH_CHANGELOG = "in memory", "RocksDB", "RocksDB with changelog"
STORES: Mapping[str, Mapping[str, str]] = {
    MEMORY: {state_store.SETTING: state_store.SPARKS_OWN},
    ROCKSDB: {state_store.SETTING: state_store.ROCKSDB, _CHANGELOG: "false"},
    WITH_CHANGELOG: {state_store.SETTING: state_store.ROCKSDB, _CHANGELOG: "true"},
}
"""The settings of each store."""
_SNAPSHOT = ("rocksdbCommitFlushLatency", "rocksdbCommitCheckpointLatency", "rocksdbSaveZipFilesLatencyMs")
_ALIKE = 1.1
"""The ratio of times up to which they are taken to be the same."""
_WARM_UP = 2  # micro-batches
_HEAP = 4 * 2**30
"""The heap of an executor that is reckoned with, half of it for state."""


@dataclass(frozen=True, eq=False)
class Backends:
    """One recording with each state store. Made by `workbench.backends`.

    Attributes
    ----------
    table
        One row a store: ``store``; ``seconds`` (of all micro-batches), ``rows_per_second``; ``commit_ms`` (of a
        micro-batch, the median, all tasks together) and of it ``snapshot_ms`` (writing a snapshot of RocksDB; 0 with
        changelog, where Spark does it beside the micro-batches, missing in memory, where it does the same);
        ``recovery_ms`` (the first micro-batch after a kill in the middle, which reads state back) and ``usual_ms`` (the
        same one without the kill); ``state_rows``, ``memory_bytes`` (the most at the end of a micro-batch, as Spark
        reports it: of RocksDB its caches and write buffers), ``disk_bytes``, ``files`` (of the state in the checkpoint,
        of all micro-batches).
    """

    table: pd.DataFrame

    @property
    def chart(self) -> Any:
        """The figures as bars, side by side."""
        return charts.backends(self.table).chart()

    @property
    def advice(self) -> str:
        """Which store to take, and from what size on, in a sentence with the figures."""
        return _advice(self.table.set_index("store"))

    def __repr__(self) -> str:
        return f"{self.table.to_string(index=False)}\n{self.advice}"


def backends(
    join: Join,
    left: Stream,
    right: Stream,
    *,
    finish: bool = True,
    spark: SparkSession | None = None,
    folder: str | os.PathLike[str] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Backends:
    """Run a join of two recorded streams with each of Spark's state stores, and compare what they take.

    Each store is warmed up with the first micro-batches, runs the recording twice, the second time in the other order
    of stores, and once more from a copy of its checkpoint as a kill in the middle leaves it; the figures are of the
    faster of the two. Each run is compared with the workbench's model, and so with each
    other. A processor of the user's own (an `AsOfJoin` without tolerance) runs on RocksDB only.

    Parameters
    ----------
    join, left, right, finish, spark
        As in `workbench.run`. The figures are of this machine and this recording: take one as large as yours.
    folder
        Where the checkpoints are, as in `workbench.run`: a commit takes as long as this storage does. None: the
        machine's folder for temporary files.
    progress
        Called with a few words before each run.

    Returns
    -------
    Backends
        Its ``table``, ``chart`` and ``advice``.

    Raises
    ------
    ArgumentError
        If an argument is wrong; a recording has two micro-batches at least.
    QueryError
        If a run fails, or gives other rows than the model.

    Examples
    --------
    >>> import generators
    >>> import workbench as wb
    >>> streams = generators.generate("orders_payments", events=60, seed=7)
    >>> stores = wb.backends(wb.IntervalJoin("0 seconds", "15 seconds"), *streams)
    >>> stores.table["store"].tolist()
    ['in memory', 'RocksDB', 'RocksDB with changelog']
    """
    left, right = check(join, left, right, finish)
    check_session(spark)
    if progress is not None and not callable(progress):
        raise wrong("progress", progress, "give a function of a text, or None")
    simulation = Simulation(join, left, right, finish)
    if simulation.micro_batches < 2:
        raise wrong("left", left.name, "its recording and the other have one micro-batch; give two of them at least")
    wanted = storage.check_folder(tempfile.gettempdir() if folder is None else folder)

    def say(words: str) -> None:
        if progress is not None:
            query.call("progress", progress, words)

    first = replace(simulation, left=_first(left), right=_first(right), finish=False)
    needs_rocksdb = kind_of(join).operator.is_processor
    stores = {name: each for name, each in STORES.items() if not (needs_rocksdb and name == MEMORY)}
    for store, settings in stores.items():
        say(f"{store}: warming up")
        running.execute(first, wanted, spark, settings=settings)
    once: dict[str, Run] = {}
    for store, settings in stores.items():
        say(f"{store}: the whole recording")
        once[store] = _checked(store, running.execute(simulation, wanted, spark, settings=settings))
    rows = []
    for store in reversed(stores):  # the other way about, as each run finds Java warmer than the one before
        settings = stores[store]
        say(f"{store}: the whole recording once more")
        run = _checked(store, running.execute(simulation, wanted, spark, settings=settings))
        middle = (simulation.micro_batches - 1) // 2
        with tempfile.TemporaryDirectory(prefix="stream-join-workbench-") as copies:
            say(f"{store}: going on after a kill in micro-batch {middle + 1}")
            killed = run.savepoint(Path(copies) / "killed", middle)
            resumed = _checked(store, running.execute(simulation, wanted, spark, savepoint=killed, settings=settings))
        rows.append(_measured(store, (once[store], run), resumed, middle + 1))
    return Backends(pd.DataFrame(rows[::-1]))


def _first(stream: Stream) -> Stream:
    """A stream's first micro-batches."""
    count = int((stream.arrival < _WARM_UP).sum())
    return replace(
        stream, table=stream.table.slice(0, count), arrival=stream.arrival[:count], batch_count=_WARM_UP,
        newest=None, newest_keyed=None,
    )  # fmt: skip


def _checked(store: str, run: Run) -> Run:
    """A run whose rows are those that the model gives."""
    if mismatch := running.verification_failure(run):
        raise QueryError(f"{store}: {mismatch}")
    return run


def _measured(store: str, runs: Sequence[Run], resumed: Run, batch: int) -> Record:
    """A row of `Backends.table`: of the faster of some runs."""
    run = min(runs, key=lambda each: int(each.batches["duration_ms"].sum()))
    progress = run.execution.progress
    operators = [each["stateOperators"] for each in progress]
    seconds = float(run.batches["duration_ms"].sum()) / 1000
    count = sum(len(run.side(side)) for side in SIDES)
    snapshots = None if store == MEMORY else _median(operators, lambda op: sum(_metric(op, name) for name in _SNAPSHOT))
    files = [each for each in _state_folder(run).rglob("*") if each.is_file()]
    return {
        "store": store,
        "seconds": seconds,
        "rows_per_second": count / max(seconds, 1e-3),
        "commit_ms": _median(operators, lambda op: op["commitTimeMs"]),
        "snapshot_ms": snapshots,
        "recovery_ms": int(resumed.batches.set_index("batch")["duration_ms"][batch]),
        "usual_ms": int(run.batches.set_index("batch")["duration_ms"][batch]),
        "state_rows": int(run.batches["state_rows"].max()),
        "memory_bytes": int(run.batches["state_bytes"].max()),
        "disk_bytes": sum(each.stat().st_size for each in files),
        "files": len(files),
    }


def _median(operators: Sequence[Sequence[Value]], of: Callable[[Any], float]) -> float:
    return statistics.median(sum(of(each) for each in batch) for batch in operators)


def _metric(operator: Json, name: str) -> float:
    return float(operator.get("customMetrics", {}).get(name, 0))


def _state_folder(run: Run) -> Path:
    return run.execution.at_hand()[1].fetch("checkpoint") / "state"


def _advice(table: pd.DataFrame) -> str:
    disk = table.loc[[name for name in (ROCKSDB, WITH_CHANGELOG) if name in table.index]]
    chosen = str(disk["commit_ms"].idxmin())
    other = next(name for name in disk.index if name != chosen)
    commits = (
        f"{chosen} commits a micro-batch in {table['commit_ms'][chosen]:,.0f} ms, {other} in "
        f"{table['commit_ms'][other]:,.0f} ms"
    )
    if MEMORY not in table.index:
        return f"This join needs RocksDB. {commits}: take {chosen}."
    memory = table.loc[MEMORY]
    ratio = table["seconds"][chosen] / max(float(memory["seconds"]), 1e-3)
    per_row = float(memory["memory_bytes"]) / max(int(memory["state_rows"]), 1)
    fits = int(_HEAP / 2 / max(per_row, 1))
    seconds = f"{memory['seconds']:,.1f} s, {chosen} {table['seconds'][chosen]:,.1f} s"
    faster = "is faster" if ratio > _ALIKE else "is slower" if ratio < 1 / _ALIKE else "takes as long"
    return (
        f"State in memory {faster} here ({seconds}). It took {per_row:,.0f} bytes of heap a row, with two versions "
        f"kept, at {memory['state_rows']:,} rows: reckoned from these, half the heap of an executor with "
        f"{_HEAP // 2**30} GB holds about {float(f'{fits:.2g}'):,.0f} rows. Above that, or where pauses of garbage "
        f"collection show, take RocksDB. {commits}: take {chosen}."
    )
