"""`live`: a join that runs while its rows are being made."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import unquote, urlparse

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from workbench import process, session, times
from workbench.engine import metadata_log, query, sink_reader
from workbench.engine.execution import Execution, versions
from workbench.engine.live_rates import NO_LATENCY, Measured, Numbers, duration, latencies, rates
from workbench.errors import QueryError, WorkbenchError, excerpt, one_of, wrong
from workbench.joins import Join
from workbench.kinds import kind_of
from workbench.literals import Policy, Side, Sides
from workbench.model import Simulation
from workbench.reasons.labels import rows_of_key
from workbench.runs.arguments import check, check_operator, check_session
from workbench.runs.run import Run
from workbench.sources import arrow
from workbench.spark_io.cause import spark_errors_as, told
from workbench.spark_io.scratch import Scratch
from workbench.spark_io.stopping import stop_query
from workbench.streams import ROW, SIDES, Stream, check_stream
from workbench.untyped import Json, Record, Value

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Live", "RowSource", "live"]

_TICK = 0.25  # seconds between two looks at the query, and two files of each side
_ONE_MOVE = 2.0  # seconds in which changes of one setting are one
_KEPT = 1_000  # Spark's reports of micro-batches that are kept until they are looked at


class _File(NamedTuple):
    """Rows that were written for the query: the file's name, its rows, when (seconds since 1970), newest event time."""

    name: str
    table: pa.Table
    at: float
    newest: int | None


class RowSource(Protocol):
    """What makes the rows: `generators.Feed`, or what does as it does."""

    streams: tuple[Stream, ...]

    def step(self, seconds: float) -> tuple[pa.Table, pa.Table]:
        """The rows of both sides that arrive in the next so many seconds."""


class Live:
    """A join that runs while its rows are being made. Made by `workbench.live`.

    Attributes
    ----------
    feed
        What makes the rows; its settings may be changed while it runs.
    error
        What ended the query, if something did.
    written
        How many rows of the left and of the right side were written for the query to take in.
    on_overdue
        Called once a second while a micro-batch takes longer than the trigger interval, in the thread that makes the
        rows.
    """

    def __init__(
        self,
        join: Join,
        feed: RowSource,
        left: Stream,
        right: Stream,
        *,
        policy: Policy,
        trigger: float,
        speed: float,
        spark: SparkSession,
        on_progress: Callable[[Live], None] | None,
    ) -> None:
        self.feed = feed
        self.error: WorkbenchError | None = None
        version = session.version_of(spark)
        check_operator(join, version)
        self._empty = Simulation(join, left, right, finish=False, policy=policy, ended=False, spark_version=version)
        self._sides = left, right
        self._trigger, self._speed, self._on_progress = trigger, speed, on_progress
        self._paused = threading.Event()
        self._stopped = threading.Event()  # it is to end
        self._ended = threading.Event()  # it has ended, and all that it did is known
        self._lock = threading.RLock()
        self._files: list[list[_File]] = [[], []]
        self._sent: list[list[pa.Table]] = [[], []]
        self.written = [0, 0]
        self.on_overdue: Callable[[Live], None] | None = None
        self._began: float | None = None  # when the micro-batch under way was first seen
        self._told = 0.0
        self._progress: list[Record] = []
        self._taken: list[tuple[int, int]] = []
        self._measured: list[Measured] = []
        self._changes: list[tuple[float, str, Any, Any]] = []
        self._settings = self._settings_now()
        self._offsets: dict[str, int] = {}
        self._read: dict[str, set[str]] = {}
        self._snapshot: tuple[int, Run] | None = None
        self._scratch = Scratch()
        self._folder = self._scratch.path
        self._output = sink_reader.Reader(self._folder / "output")
        for side in SIDES:
            (self._folder / side).mkdir()
        self._spark = own = session.for_query(spark, policy, rocksdb=kind_of(join).operator.is_processor)
        # looked at four times a second: what is kept for it need not grow with the query
        own.conf.set("spark.sql.streaming.numRecentProgressUpdates", str(_KEPT))
        interval = f"{round(trigger * 1000)} milliseconds"
        self._query = query.start(self._empty, self._scratch, own, files=None, processingTime=interval)
        self._thread = threading.Thread(target=self._work, name="stream-join-workbench-live", daemon=True)
        process.live_queries.add(self)
        self._thread.start()

    def __repr__(self) -> str:
        state = "stopped" if not self.active else ("paused" if self.paused else "running")
        names = f"{self._empty.left.name} and {self._empty.right.name}"
        return f"<Live {self._empty.join} on {names}: {state}, {self.done} micro-batches>"

    @property
    def active(self) -> bool:
        """Whether the query runs, paused or not; once it does not, nothing more comes of it."""
        return not self._ended.is_set()

    @property
    def done(self) -> int:
        """How many micro-batches are done."""
        return len(self._progress)

    @property
    def paused(self) -> bool:
        """Whether no rows are made at present."""
        return self._paused.is_set()

    def pause(self) -> None:
        """Make no more rows until `resume`; event time stands still, the query waits."""
        self._paused.set()
        self._changed("pause", False, True)

    def resume(self) -> None:
        """Go on making rows."""
        self._paused.clear()
        self._changed("pause", True, False)

    def send(self, side: Side, row: Json) -> None:
        """Send a row beside those of the feed; it is in the next micro-batch, also while the feed is paused.

        Parameters
        ----------
        side
            The side it is of.
        row
            Its values, by column. Those that are left out are null, and its event time is the newest that has come.

        Raises
        ------
        ArgumentError
            If there is no such side or column, or a value is not of its column's type.
        QueryError
            If the query has ended.
        """
        one_of("side", side, SIDES)
        stream = self._sides[SIDES.index(side)]
        if not isinstance(row, Mapping):
            raise wrong("row", row, 'give its values by column, such as {"rule_id": "hot", "value": 80.0}')
        for name in row:
            if name not in stream.columns:
                raise wrong("row", name, f"{stream.name} has no such column: {', '.join(stream.columns)}")
        if self._stopped.is_set():
            raise self.error or QueryError("the live query has ended: it takes no more rows")
        arrays = []
        for field in stream.table.schema:
            value = row.get(field.name)
            try:
                arrays.append(pa.array([value], field.type))
            except (pa.ArrowException, TypeError, ValueError, OverflowError):
                raise wrong("row", value, f"column {excerpt(field.name)} holds {field.type} values") from None
        if row.get(stream.time) is None:
            place = stream.table.schema.get_field_index(stream.time)
            arrays[place] = pa.array([self._newest()], pa.timestamp("us", "UTC")).cast(arrays[place].type)
        with self._lock:
            self._sent[SIDES.index(side)].append(pa.Table.from_arrays(arrays, schema=stream.table.schema))

    def _newest(self) -> int:
        """The newest event time that has come, in microseconds."""
        with self._lock:
            times = [file.newest for files in self._files for file in files if file.newest is not None]
        if not times:
            raise QueryError("no row has come yet: give the row an event time, or wait a second")
        return max(times)

    def stop(self) -> Run:
        """Stop the query, and give what it did as a run."""
        self.end()
        return self.run()

    def stop_soon(self) -> None:
        """Stop the query without waiting for its end."""
        self._stopped.set()

    def end(self) -> None:
        """Stop the query, and wait for its end."""
        self._stopped.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(120)

    def _work(self) -> None:
        """Write rows and follow the query, until one of both ends."""
        last = time.monotonic()
        try:
            while not self._stopped.wait(_TICK):
                now = time.monotonic()
                self._note_settings()
                made = () if self._paused.is_set() else self._step((now - last) * self._speed)
                if tables := self._with_sent(made):
                    self._write(*tables)
                last = now
                before = self.done
                self._follow()
                self._watch_current(self.done > before)
                if not self._query.isActive:
                    failure = self._query.exception()
                    self.error = told(failure, query.FAILED) if failure else QueryError("the query ended by itself")
                    self._stopped.set()
        except Exception as error:  # noqa: BLE001 - reported on request; the query must not stay behind
            self.error = error if isinstance(error, QueryError) else told(error, query.FAILED)
        finally:
            self._stopped.set()
            with contextlib.suppress(Exception):
                stop_query(self._query, self._spark)
                self._take_in()
            process.live_queries.discard(self)
            self._ended.set()
            try:
                self._report()
            except QueryError as error:
                self.error = self.error or error

    def _watch_current(self, ended: bool) -> None:
        """Note since when the micro-batch under way runs, and tell where that is longer than the trigger interval."""
        now = time.monotonic()
        if not self._query.status["isTriggerActive"]:
            self._began = None
        elif self._began is None or ended:
            self._began = now
        running = self.running
        if running is not None and running > self._trigger and now - self._told >= 1 and self.on_overdue is not None:
            self._told = now
            query.call("on_overdue", self.on_overdue, self)

    def _settings_now(self) -> Record:
        """The settings of what makes the rows, where it tells of them."""
        return dict(getattr(self.feed, "settings", {}))

    def _note_settings(self) -> None:
        """Note which settings were changed since the last look."""
        before, self._settings = self._settings, self._settings_now()
        for name, value in self._settings.items():
            if before.get(name) != value:
                self._changed(name, before.get(name), value)

    def _changed(self, setting: str, before: Any, after: Any) -> None:
        """Note a change; a slider that is still being moved goes on with the change before."""
        now = time.time()
        with self._lock:
            last = self._changes[-1] if self._changes else None
            if last is not None and last[1] == setting != "pause" and now - last[0] < _ONE_MOVE:
                self._changes[-1] = last[0], setting, last[2], after
            else:
                self._changes.append((now, setting, before, after))

    def _step(self, seconds: float) -> tuple[pa.Table, pa.Table]:
        try:
            return self.feed.step(seconds)
        except Exception as error:  # noqa: BLE001 - the feed is the user's
            raise QueryError(f"the feed gave no more rows: {excerpt(error)}") from None

    def _with_sent(self, made: tuple[pa.Table, ...]) -> tuple[pa.Table, ...]:
        """Tables of both sides, and behind them what was sent since the last time; nothing where there is nothing."""
        with self._lock:
            sent, self._sent = self._sent, [[], []]
        if not made and not any(sent):
            return ()
        both = made or tuple(side.table.slice(0, 0) for side in self._sides)
        return tuple(
            pa.concat_tables([one, *(each.cast(one.schema) for each in more)]) if more else one
            for one, more in zip(both, sent, strict=True)
        )

    def _write(self, *tables: pa.Table) -> None:
        """Write the rows of both sides as a file each, seen by Spark only when it is whole."""
        for place, (side, table) in enumerate(zip(SIDES, tables, strict=True)):
            if not table.num_rows:
                continue
            table, _ = arrow.spark_ready(table, side)
            numbers = np.arange(self.written[place], self.written[place] + table.num_rows)
            numbered = table.append_column(ROW, pa.array(numbers, pa.int64()))
            name = f"rows-{len(self._files[place]):08d}.parquet"
            hidden = self._folder / f".{side}-{name}"
            pq.write_table(numbered, hidden, compression="snappy")
            hidden.rename(self._folder / side / name)
            newest = pc.max(table.column(self._sides[place].time)).cast(pa.timestamp("us", "UTC")).value
            with self._lock:
                self._files[place].append(_File(name, table, time.time(), newest))
                self.written[place] += table.num_rows

    def _follow(self) -> None:
        """Take in what Spark reports of its micro-batches, and tell of it."""
        known = len(self._progress)
        self._take_in()
        if len(self._progress) > known:
            self._report()

    def _take_in(self) -> None:
        known = len(self._progress)
        last = self._query.lastProgress
        if last is None or int(last["batchId"]) < known + ("addBatch" not in last["durationMs"]):
            return  # nothing new: a known micro-batch, or a trigger that found no rows
        for each in self._query.recentProgress:
            if "addBatch" not in each["durationMs"] or int(each["batchId"]) != len(self._progress):
                continue  # a trigger without a micro-batch, or one that is known
            entry = query.plain(each)
            ends = {_side_of(source["description"]): source["endOffset"] for source in entry["sources"]}
            with self._lock:
                self._taken.append((_log_offset(ends.get("left")), _log_offset(ends.get("right"))))
                self._measure(entry)
                self._progress.append(entry)

    def _measure(self, entry: Record) -> None:
        """Measure a micro-batch that has just ended."""
        batch = len(self._measured)
        self._look_up_files()
        arrived, rows, newest = [], [], []
        for place in (0, 1):
            batch_of = self._batch_of(place)
            taken = self._files[place][: int((batch_of <= batch).sum())]
            counts = np.array([each.table.num_rows for each in taken], dtype=int)
            arrived.append(np.repeat(np.array([each.at for each in taken], dtype=float), counts))
            rows.append(int(counts[batch_of[: len(taken)] == batch].sum()))
            newest.append(max((each.newest for each in taken if each.newest is not None), default=None))
        written = self._output.read_batch(batch)
        end = pd.Timestamp(entry["timestamp"]).timestamp() + duration(entry) / 1e3
        self._measured.append(
            Measured(
                backlog=sum(self.written) - sum(len(each) for each in arrived),
                rows=(rows[0], rows[1]),
                newest=(newest[0], newest[1]),
                output_rows=0 if written is None else written.num_rows,
                latency=NO_LATENCY
                if written is None
                else latencies(sink_reader.outputs(written, self.join), arrived, end),
            )
        )

    def _report(self) -> None:
        if self._on_progress is not None:
            query.call("on_progress", self._on_progress, self)

    def run(self) -> Run:
        """What has happened so far: all micro-batches that are done, as a run.

        Raises
        ------
        QueryError
            If there is none yet.
        """
        with self._lock:
            done = self.done
            if not done:
                raise self.error or QueryError("the live query has not ended its first micro-batch yet; wait a second")
            if self._snapshot is None or self._snapshot[0] != done:
                self._look_up_files()
                left, right = (self._stream(place) for place in (0, 1))
                written = self._output.read(done)
                used = versions(self._empty.spark_version)
                execution = Execution(self._spark, self._scratch, tuple(self._progress[:done]), written, used)
                self._snapshot = done, Run(replace(self._empty, left=left, right=right), execution)
            return self._snapshot[1]

    def state(self, key: object = None) -> pd.DataFrame:
        """What is in state now: after the last micro-batch that is done, while the query goes on.

        Parameters
        ----------
        key
            The key whose rows are wanted, as `Result.state_changes` takes it; None: all. Of one that has not come yet
            there are none.

        Returns
        -------
        pandas.DataFrame
            As of `Run.state`.

        Raises
        ------
        QueryError
            If no micro-batch is done yet.
        """
        run = self.run()
        batch = int(run.batches["batch"].max())
        if key is not None and not any(map(len, rows_of_key(run.simulation, run.keys.to_numpy(), key).values())):
            return run.state(batch).iloc[:0]
        return run.state(batch, key)

    def _stream(self, place: int) -> Stream:
        """One side's rows that the query has taken in, in the micro-batches in which it did."""
        stream = self._sides[place]
        batches, count = self._batch_of(place), len(self._taken)
        tables, arrival = [stream.table], []
        for file, batch in zip(self._files[place], batches.tolist(), strict=True):
            if batch == count:
                break
            tables.append(file.table)
            arrival.append(np.full(file.table.num_rows, batch))
        rows = pa.concat_tables(tables).combine_chunks()
        every = np.concatenate([np.array([], dtype=np.int64), *arrival])
        return replace(stream, table=rows, arrival=every, batch_count=count, newest=None, newest_keyed=None)

    def _batch_of(self, place: int) -> Numbers:
        """Which micro-batch took in each file of a side, in their order; the number of them for those still waiting."""
        ends = np.array([taken[place] for taken in self._taken])
        offsets = [self._offsets.get(f"{SIDES[place]}/{file.name}", 2**31) for file in self._files[place]]
        return np.searchsorted(ends, np.array(offsets, dtype=np.int64))

    def _look_up_files(self) -> None:
        """Learn from Spark's log which files it took in when, as offsets of its source."""
        for log in (self._folder / "checkpoint" / "sources").iterdir():
            for number, path, entry in metadata_log.entries(log, self._read.setdefault(log.name, set())):
                self._offsets[f"{path.parent.name}/{path.name}"] = int(entry.get("batchId", number))

    def recording(self) -> tuple[Stream, Stream]:
        """Both streams as they came, to be run again under other settings, with the micro-batches they came in."""
        run = self.run()
        return run.left, run.right

    @property
    def names(self) -> tuple[str, str]:
        """The names of the two streams."""
        return self._sides[0].name, self._sides[1].name

    @property
    def join(self) -> Join:
        """The join."""
        return self._empty.join

    @property
    def policy(self) -> Policy:
        """Which stream's watermark is the query's."""
        return self._empty.policy

    @property
    def sides(self) -> tuple[Stream, Stream]:
        """Both streams without rows: their names, columns, keys, times and delays."""
        return self._sides

    @property
    def trigger(self) -> float:
        """Seconds between two micro-batches, if the query keeps up."""
        return self._trigger

    @property
    def running(self) -> float | None:
        """For how many seconds the micro-batch under way has been running; None where none is."""
        began = self._began
        return None if began is None or not self.active else time.monotonic() - began

    @property
    def rates(self) -> pd.DataFrame:
        """How the query keeps up, one row a micro-batch.

        Columns: ``batch``; ``at`` (when it began, UTC); ``input_rows``, ``left_rows``, ``right_rows``,
        ``output_rows``; ``input_rate``, ``processed_rate`` (rows a second that came since the micro-batch before, and
        rows a second it worked through, as Spark reports them); ``left_rate``, ``right_rate``, ``output_rate`` (rows a
        second since the micro-batch before; NaN in the first); ``duration_ms``, and of it ``reading_ms``,
        ``planning_ms``, ``joining_ms``, ``committing_ms``, ``other_ms``; ``state_rows``, ``state_bytes``; ``backlog``
        (rows that were waiting when it had ended); ``left_lag``, ``right_lag``, ``lag`` (how far each side's own
        watermark and the query's were behind the newest row, seconds of event time; NaN before they began);
        ``latency_median``, ``latency_p95``, ``latency_max`` (from the arrival of a pair's second row to the end of the
        micro-batch that wrote the pair, seconds; NaN where it wrote none); ``behind`` (of the last ten micro-batches,
        the share of time in which the query was behind its trigger; NaN while it warms up) and ``pressure`` (OK up to
        a tenth of the time behind, LOW up to half of it, else HIGH; warm-up before the first micro-batch that kept to
        the trigger, for five at most).
        """
        with self._lock:
            progress, measured = list(self._progress), list(self._measured)
        left, right = self._sides
        return rates(progress, measured, (times.micros(left.watermark), times.micros(right.watermark)), self._trigger)

    @property
    def changes(self) -> pd.DataFrame:
        """What was changed while the query ran, one row a change.

        Columns: ``at`` (UTC); ``setting`` (of the feed; ``pause``); ``before``, ``after``.
        """
        with self._lock:
            found = pd.DataFrame(self._changes, columns=["at", "setting", "before", "after"])
        return found.assign(at=pd.to_datetime(found["at"].astype(float), unit="s", utc=True))


def live(
    join: Join,
    feed: RowSource,
    left: times.Span | None = None,
    right: times.Span | None = None,
    *,
    policy: Policy = "min",
    trigger: times.Span = "1 second",
    speed: float = 1.0,
    spark: SparkSession | None = None,
    on_progress: Callable[[Live], None] | None = None,
) -> Live:
    """Start a join whose rows are made while it runs, with a processing-time trigger.

    Parameters
    ----------
    join
        What to run.
    feed
        What makes the rows: a `generators.Feed`.
    left, right
        The watermark delays; None: those of the feed's streams.
    policy
        As in `run`.
    trigger
        How often Spark starts a micro-batch.
    speed
        Seconds of event time that pass in a second.
    spark
        The session to use; None: the workbench's own.
    on_progress
        Called after every micro-batch, and at the end, in the thread that makes the rows.

    Returns
    -------
    Live
        Pause, resume and stop it; ``run()`` is what has happened so far.

    Raises
    ------
    ArgumentError
        If an argument is wrong; before Spark is touched.
    QueryError
        If the query cannot be started.
    """
    streams = getattr(feed, "streams", ())
    if not isinstance(streams, tuple) or len(streams) != 2 or not hasattr(feed, "step"):
        raise wrong("feed", feed, 'give a generators.Feed, such as generators.Feed("orders_payments", rate=20)')
    for argument, stream in Sides(*streams).items():
        check_stream(argument, stream)
    sides = [
        stream if delay is None else stream.with_watermark(delay)
        for stream, delay in zip(streams, (left, right), strict=True)
    ]
    check(join, sides[0], sides[1], False, policy)
    pace = times.positive(trigger, "trigger").total_seconds()
    if isinstance(speed, bool) or not isinstance(speed, int | float) or not 0 < speed <= 1_000:
        raise wrong("speed", speed, "use seconds of event time a second, above 0, at most 1000")
    check_session(spark)
    if on_progress is not None and not callable(on_progress):
        raise wrong("on_progress", on_progress, "give a function that takes what this gives, or None")
    with spark_errors_as(query.FAILED):
        own = session.spark() if spark is None else spark
        return Live(
            join,
            feed,
            sides[0],
            sides[1],
            policy=policy,
            trigger=pace,
            speed=float(speed),
            spark=own,
            on_progress=on_progress,
        )


def _side_of(description: str) -> str:
    return Path(unquote(urlparse(description.split("[")[-1].rstrip("]")).path)).name


def _log_offset(offset: Value) -> int:
    parsed = json.loads(offset) if isinstance(offset, str) else offset
    return -1 if parsed is None else int(parsed["logOffset"])
