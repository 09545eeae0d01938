"""``wb.watch``: what a query that runs does now, and its last micro-batches opened."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pandas as pd

from workbench import _root, process, times
from workbench.counts import counted
from workbench.errors import QueryError, WorkbenchError, wrong
from workbench.jobs import (
    batch_readings,
    catalyst,
    checkpoint_fits,
    from_java,
    given_query,
    opening,
    plan_joins,
    reported,
    understanding,
)
from workbench.jobs import checkpoint as checkpoints
from workbench.jobs.job import Job
from workbench.jobs.understanding import Understood
from workbench.spark_io.cause import cause, spark_errors_as
from workbench.times import Span
from workbench.untyped import Record, SparkObject, Value

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["Watch", "watch"]

_MOST = 1_000  # micro-batches that are remembered
_SHARE = 10  # the state is read so seldom that it takes about this part of the time
_LEAST, _LONGEST = 0.2, 3_600.0  # seconds between two looks


def watch(
    joined: DataFrame | StreamingQuery,
    checkpoint: str | os.PathLike[str] | None = None,
    *,
    every: Span = "1 second",
) -> Watch:
    """Watch a query that runs: rates, watermarks and who holds them back, state by side, late rows, the next eviction.

    Of several joins of streams it is the last, without the watermarks of the sides.

    It is only read: nothing is written into its checkpoint, no lock is held, and the query is not stopped. What is in
    state is read from its checkpoint by Spark, so seldom that this takes about a tenth of the time.

    Parameters
    ----------
    joined
        A query of this session; or the streaming DataFrame that a query of another process runs.
    checkpoint
        The folder that is that query's ``checkpointLocation``; of a query of this session it is known.
    every
        How often to look.

    Returns
    -------
    Watch
        In a notebook a view that moves, with a button that opens the last micro-batches; it ends with the query.

    Raises
    ------
    ArgumentError
        As `workbench.open_job`.
    """
    joined = from_java.in_python(joined)
    seconds = times.parse(every, "every").total_seconds()
    if not _LEAST <= seconds <= _LONGEST:
        raise wrong("every", every, f"give a time span from {_LEAST:g} seconds to an hour")
    spark, plan, address = given_query.given(joined, checkpoint)
    plan = plan_joins.in_order_of_run(spark, plan)
    parts = plan_joins.parts(plan)
    run = catalyst.optimised(spark, plan) if len(parts) > 1 else None
    known = understanding.understood(spark, plan, run=run)
    query = joined if given_query.is_query(joined) else None
    if query is None:
        checkpoints.read(spark, address)  # says what is wrong with it
    for each in [each for each in process.pages if isinstance(each, Watch) and each.address == address]:
        each.replace()
    return Watch(joined, known, spark, address, query, seconds, len(parts))


def _since(query: SparkObject, last: int) -> list[Value]:
    """The reports of a query after a micro-batch: a session may keep very many."""
    found: list[Value] = []
    kept = query._jsq.recentProgress()
    for place in range(len(kept) - 1, -1, -1):
        report = json.loads(kept[place].json())
        if int(report["batchId"]) <= last:
            break
        found.append(report)
    return found


class Watch:
    """A query that is watched. Made by `workbench.watch`.

    Attributes
    ----------
    job
        The last micro-batches that were opened with `open`; None before.
    address
        The folder of the checkpoint.
    trouble
        Why what is shown may not be up to date, in a sentence; empty where it is.
    """

    def __init__(
        self,
        joined: SparkObject,
        known: Understood,
        spark: SparkSession,
        address: str,
        query: SparkObject | None,
        every: float,
        joins: int,
    ) -> None:
        self._joined, self._known, self._spark, self.address = joined, known, spark, address
        self._query, self._every, self._joins = query, every, joins
        self._rows: dict[int, Record] = {}
        self._state = pd.DataFrame(columns=list(batch_readings.STATE))
        self._state_cost, self._state_at = 0.0, float("-inf")
        self._operator: int | None = None  # Spark's number of the join, of several
        self._lock = threading.RLock()
        self._changed: list[Callable[[], None]] = []
        self._replaced: list[Callable[[], None]] = []
        self._closed = threading.Event()
        self._policy = str(spark.conf.get(checkpoints.POLICY, "min")).lower()
        self._dropped, self._seen_count = 0, 0
        self.job: Job | None = None
        self.trouble = ""
        self._look(with_state=False)
        self._thread = threading.Thread(target=self._work, name="stream-join-workbench watch", daemon=True)
        process.pages.append(self)
        self._thread.start()

    def __repr__(self) -> str:
        left, right = self.names
        return f"<Watch: {left} and {right}, {self.status}, {counted(self.seen, 'micro-batch')} seen>"

    @property
    def names(self) -> tuple[str, str]:
        """The names of the left and the right stream."""
        return self._known.description.left.name, self._known.description.right.name

    @property
    def active(self) -> bool:
        """Whether it still looks: neither it nor the query has ended."""
        return not self._closed.is_set()

    @property
    def status(self) -> str:
        """Whether the query runs, in a few words."""
        query = self._query
        if query is None:
            return "seen by its checkpoint" if self.active else "no longer watched"
        try:
            with spark_errors_as("cannot be reached"):
                if query.isActive:
                    return "runs" if self.active else "runs, and is no longer watched"
                failure = query.exception()
        except QueryError as error:
            return str(error)
        return "has ended" if failure is None else f"has failed: {cause(failure)}"

    @property
    def batches(self) -> pd.DataFrame:
        """One row a micro-batch that was seen, the newest last.

        Columns: ``batch``; ``at`` (when it was planned, UTC); ``duration_ms``; ``left_rows``, ``right_rows`` (that its
        sources gave); ``input_rate``, ``processed_rate`` (rows a second); ``watermark`` (it ran under);
        ``left_watermark``, ``right_watermark`` (each side's own, after it), ``held_by`` (the stream whose watermark is
        the query's, where they differ); ``left_lag``, ``right_lag`` (seconds that these watermarks are behind the
        newest event time that has come), ``lag`` (the same of the query's watermark); ``state_rows``, ``state_bytes``;
        ``dropped`` (late rows, once for each window). None where it is not known: of a query of another process only
        the first three and ``watermark`` are.
        """
        with self._lock:
            rows = [self._rows[number] for number in sorted(self._rows)]
        return pd.DataFrame(rows, columns=list(batch_readings.BATCHES))

    @property
    def seen(self) -> int:
        """How many micro-batches were seen; `batches` has the last 1,000 of them."""
        return self._seen_count

    @property
    def dropped(self) -> int:
        """How many late rows were dropped in the micro-batches that were seen, once for each window."""
        return self._dropped

    @property
    def state(self) -> pd.DataFrame:
        """What the join held of either side when it was read last.

        Columns: ``side``, ``stream``, ``batch`` (after which), ``rows``, ``oldest`` (the event time, or end of a
        window, that leaves first) and ``evicted_at`` (the watermark at which it does; None: never). Empty of groups.
        """
        with self._lock:
            return self._state.copy()

    def open(self, **options: Value) -> Job:
        """The fates of the rows of the micro-batches that the checkpoint still has.

        Parameters
        ----------
        **options
            ``keys``, ``sample``, ``progress`` and ``join``, as `workbench.open_job` takes them; of several joins the
            last is opened.
        """
        checkpoint = self.address if self._query is None else None
        if self._joins > 1:
            options = {"join": self._joins - 1} | options
        opened = opening.open_job(self._joined, checkpoint, **options)
        self.job = opened if isinstance(opened, Job) else opened.joins[-1]
        return self.job

    def call_when_changed(self, changed: Callable[[], None]) -> None:
        """Have a function called after each look that found something new, and at the end."""
        self._changed.append(changed)

    def stop(self) -> None:
        """Stop watching; the query keeps running."""
        self._closed.set()

    def close(self) -> None:
        """Stop watching, and wait until that is done; the query keeps running."""
        self._closed.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(30)
        self._forget()

    def _forget(self) -> None:
        if self in process.pages:
            process.pages.remove(self)

    def _work(self) -> None:
        try:
            while not self._closed.wait(self._every):
                ended = self._query is not None and not self._running()
                if self._look(last=ended) or ended:
                    self._report()
                if ended:
                    break
        finally:
            self._closed.set()
            self._report()
            self._forget()

    def _running(self) -> bool:
        try:
            return bool(self._query is not None and self._query.isActive)
        except Exception:  # noqa: BLE001 - the session has ended
            return False

    def _report(self) -> None:
        for each in self._changed:
            with contextlib.suppress(Exception):  # what is shown must not end the watching
                each()

    def _look(self, with_state: bool = True, last: bool = False) -> bool:
        """Take in what is new, the last time whatever it takes; whether there was anything."""
        before = self._seen
        try:
            with spark_errors_as("the query cannot be looked at now"):
                if self._query is None:
                    self._look_at_logs()
                else:
                    self._look_at_reports(self._query)
                if with_state:
                    self._look_at_state(whatever_it_takes=last)
            self.trouble = ""
        except WorkbenchError as error:  # a look that fails is made again
            self.trouble = str(error)
        return before != self._seen

    @property
    def _seen(self) -> tuple[Value, ...]:
        return max(self._rows, default=-1), tuple(self._state["batch"]), self.trouble

    def _look_at_reports(self, query: SparkObject) -> None:
        last = max(self._rows, default=-1)
        newest = query.lastProgress
        if newest is None or int(newest["batchId"]) <= last:
            return
        reports = reported.of("", reported.listed(_since(query, last)))
        new = [each for number, each in sorted(reports.items()) if number > last and batch_readings.ran(each)]
        if not new:
            return
        marks = None
        if self._joins == 1:  # else other streams hold the query's watermark back, too
            marks = batch_readings.own_watermarks(given_query.execution_of(query), self._known)
        rows = [batch_readings.of_report(each, self._known, None, self._policy) for each in new[:-1]]
        # of those before the last, the watermarks of the sides are past
        self._note([*rows, batch_readings.of_report(new[-1], self._known, marks, self._policy)])

    def _look_at_logs(self) -> None:
        if checkpoints.newest(self._spark, self.address) <= max(self._rows, default=-1):
            return
        logs = checkpoints.read(self._spark, self.address)
        if any(each.committed and each.number not in self._rows for each in logs.batches):
            rows = batch_readings.of_logs(logs, checkpoints.ended(self._spark, self.address))
            self._note([each for each in rows if each["batch"] not in self._rows])

    def _note(self, rows: list[Record]) -> None:
        with self._lock:
            self._dropped += sum(each["dropped"] or 0 for each in rows)
            self._seen_count += len(rows)
            self._rows |= {each["batch"]: each for each in rows}
            for number in sorted(self._rows)[:-_MOST]:
                del self._rows[number]

    def _look_at_state(self, whatever_it_takes: bool) -> None:
        """Read the state after the last micro-batch, if it is another one, and the last reading was cheap enough."""
        last = max(self._rows, default=None)
        is_join = self._known.join.kind == "Join"
        now = time.monotonic()
        soon = now - self._state_at < _SHARE * self._state_cost
        if last is None or not is_join or (soon and not whatever_it_takes):
            return
        if len(self._state) and self._state["batch"].iloc[0] == last:
            return
        try:
            if self._joins > 1 and self._operator is None:
                self._operator = checkpoint_fits.operators_of(self._spark, self._known.plan, self.address)[
                    self._known.join
                ]
            found = batch_readings.state_by_side(self._spark, self._known, self.address, last, operator=self._operator)
        finally:
            cold = self._state_at < 0  # in the first reading Spark compiles it
            self._state_at = time.monotonic()
            self._state_cost = (self._state_at - now) / (2 if cold else 1)
        with self._lock:
            self._state = found

    def call_when_replaced(self, replaced: Callable[[], None]) -> None:
        """Have a function called when another `watch` of the same query takes its place."""
        self._replaced.append(replaced)

    def replace(self) -> None:
        """Make room for another one, as the cell was run again."""
        self.close()
        for each in self._replaced:
            each()

    def _ipython_display_(self) -> None:
        from IPython.display import display  # in a notebook only: IPython is slow to import

        display(_root.view_of_watch(self))
