"""`live`: a join that runs while its rows are being made."""

from __future__ import annotations

import contextlib
import json
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote, urlparse

from workbench import _arrow, _logs, _scratch, _sink, query, session, times
from workbench.errors import QueryError, WorkbenchError, wrong
from workbench.joins import Join
from workbench.results import Run
from workbench.streams import ROW, SIDES, Stream

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import SparkSession

_TICK = 0.25  # seconds between two looks at the query, and two files of each side
_KEPT = 1_000  # Spark's reports of micro-batches that are kept until they are looked at
_RECENT = 10  # micro-batches over which backpressure is measured
PRESSURES = ((0.10, "OK"), (0.50, "LOW"), (float("inf"), "HIGH"))
"""Up to which share of time behind which word holds; the bounds are those of Apache Flink's backpressure monitor."""

_running: weakref.WeakSet[Live] = weakref.WeakSet()


class Feeding(Protocol):
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
    """

    def __init__(
        self,
        join: Join,
        feed: Feeding,
        left: Stream,
        right: Stream,
        policy: str,
        trigger: float,
        speed: float,
        spark: SparkSession,
        told: Callable[[Live], None] | None,
    ) -> None:
        self.feed = feed
        self.error: QueryError | None = None
        self._empty = Run(join, left, right, finish=False, policy=policy)
        self._empty.live = self
        self._trigger, self._speed, self._told = trigger, speed, told
        self._paused, self._stopped = threading.Event(), threading.Event()
        self._lock = threading.RLock()
        self._files: list[list[tuple[str, pa.Table]]] = [[], []]
        self._written = [0, 0]
        self._progress: list[dict[str, Any]] = []
        self._taken: list[tuple[int, int]] = []
        self._backlog: list[int] = []
        self._offsets: dict[str, int] = {}
        self._read: dict[str, set[str]] = {}
        self._snapshot: tuple[int, Run] | None = None
        self._folder = self._empty.folder = _scratch.folder(self)
        self._output = _sink.Reader(self._folder / "output")
        for side in SIDES:
            (self._folder / side).mkdir()
        own = self._empty.spark = session.for_query(spark, policy)
        # looked at four times a second: what is kept for it need not grow with the query
        own.conf.set("spark.sql.streaming.numRecentProgressUpdates", str(_KEPT))
        interval = f"{round(trigger * 1000)} milliseconds"
        self._query = query.start(self._empty, own, files=None, processingTime=interval)
        self._thread = threading.Thread(target=self._work, name="stream-join-workbench-live", daemon=True)
        self._thread.start()
        _running.add(self)

    def __repr__(self) -> str:
        state = "stopped" if not self.active else ("paused" if self.paused else "running")
        names = f"{self._empty.left.name} and {self._empty.right.name}"
        return f"<Live {self._empty.join} on {names}: {state}, {self.done} micro-batches>"

    @property
    def active(self) -> bool:
        """Whether the query runs, paused or not."""
        return not self._stopped.is_set()

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

    def resume(self) -> None:
        """Go on making rows."""
        self._paused.clear()

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
            self._thread.join(30)

    def _work(self) -> None:
        """Write rows and follow the query, until one of both ends."""
        last = time.monotonic()
        try:
            while not self._stopped.wait(_TICK):
                now = time.monotonic()
                if not self._paused.is_set():
                    self._write(*self._step((now - last) * self._speed))
                last = now
                self._follow()
                if not self._query.isActive:
                    failure = self._query.exception()
                    self.error = query.one_sentence(failure) if failure else QueryError("the query ended by itself")
                    self._stopped.set()
        except Exception as error:  # noqa: BLE001 - told to whoever looks; the query must not stay behind
            self.error = error if isinstance(error, QueryError) else query.one_sentence(error)
        finally:
            self._stopped.set()
            with contextlib.suppress(Exception):
                if self._query.isActive:
                    self._query.stop()
            with contextlib.suppress(Exception):
                self._follow()
            _running.discard(self)
            self._tell()

    def _step(self, seconds: float) -> tuple[pa.Table, pa.Table]:
        try:
            return self.feed.step(seconds)
        except Exception as error:  # noqa: BLE001 - the feed is the user's
            raise QueryError(f"the feed gave no more rows: {error!r}") from None

    def _write(self, *tables: pa.Table) -> None:
        """Write the rows of both sides as a file each, seen by Spark only when it is whole."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.parquet as pq

        for place, (side, table) in enumerate(zip(SIDES, tables, strict=True)):
            if not table.num_rows:
                continue
            table, _ = _arrow.spark_ready(table, side)
            numbers = np.arange(self._written[place], self._written[place] + table.num_rows)
            numbered = table.append_column(ROW, pa.array(numbers, pa.int64()))
            name = f"rows-{len(self._files[place]):08d}.parquet"
            hidden = self._folder / f".{side}-{name}"
            pq.write_table(numbered, hidden, compression="snappy")
            hidden.rename(self._folder / side / name)
            with self._lock:
                self._files[place].append((name, table))
                self._written[place] += table.num_rows

    def _follow(self) -> None:
        """Take in what Spark reports of its micro-batches."""
        known = len(self._progress)
        last = self._query.lastProgress
        if last is None or int(last["batchId"]) < known + ("addBatch" not in last["durationMs"]):
            return  # nothing new: a known micro-batch, or a trigger that found no rows
        for each in self._query.recentProgress:
            told = each if isinstance(each, dict) else each.jsonValue
            if "addBatch" not in told["durationMs"] or int(told["batchId"]) != len(self._progress):
                continue  # a trigger without a micro-batch, or one that is known
            ends = {_side_of(source["description"]): source["endOffset"] for source in told["sources"]}
            with self._lock:
                self._progress.append(told)
                done = sum(int(earlier["numInputRows"]) for earlier in self._progress)
                self._backlog.append(max(0, sum(self._written) - done))
                self._taken.append((_log_offset(ends.get("left")), _log_offset(ends.get("right"))))
        if len(self._progress) > known:
            self._tell()

    def _tell(self) -> None:
        if self._told is not None:
            self._told(self)

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
                made = replace(self._empty, left=left, right=right, progress=self._progress[:done])
                made.raw_output = self._output.read(done)
                self._snapshot = done, made
            return self._snapshot[1]

    def _stream(self, place: int) -> Stream:
        """One side's rows that the query has taken in, in the micro-batches in which it did."""
        import numpy as np
        import pyarrow as pa

        stream = (self._empty.left, self._empty.right)[place]
        ends = np.array([taken[place] for taken in self._taken])
        tables, arrival = [stream.table], []
        for name, table in self._files[place]:
            batch = int(np.searchsorted(ends, self._offsets.get(f"{SIDES[place]}/{name}", 2**31)))
            if batch == len(ends):
                break
            tables.append(table)
            arrival.append(np.full(table.num_rows, batch))
        rows = pa.concat_tables(tables).combine_chunks()
        every = np.concatenate([np.array([], dtype=np.int64), *arrival])
        return replace(stream, table=rows, arrival=every, batch_count=len(ends))

    def _look_up_files(self) -> None:
        """Learn from Spark's log which files it took in when, as offsets of its source."""
        for log in (self._folder / "checkpoint" / "sources").iterdir():
            for number, path, told in _logs.entries(log, self._read.setdefault(log.name, set())):
                self._offsets[f"{path.parent.name}/{path.name}"] = int(told.get("batchId", number))

    def recording(self) -> tuple[Stream, Stream]:
        """Both streams as they came, to be run again under other settings, with the micro-batches they came in."""
        run = self.run()
        return run.left, run.right

    @property
    def trigger(self) -> float:
        """Seconds between two micro-batches, if the query keeps up."""
        return self._trigger

    @property
    def rates(self) -> pd.DataFrame:
        """How the query keeps up, one row a micro-batch.

        Columns: ``batch``; ``at`` (when it began, UTC); ``input_rows``; ``input_rate``, ``processed_rate`` (rows a
        second that came since the micro-batch before, and rows a second it worked through); ``duration_ms``;
        ``state_rows``; ``backlog`` (rows that were waiting when it had ended); ``behind``
        (of the last ten micro-batches, the share of time in which the query was behind its trigger) and ``pressure``
        (OK up to a tenth of the time behind, LOW up to half of it, else HIGH).
        """
        import numpy as np
        import pandas as pd

        with self._lock:
            told, backlog = list(self._progress), list(self._backlog)
        duration = np.array([_duration(each) for each in told], dtype=float)
        late = pd.Series(np.maximum(duration - self._trigger * 1000, 0)).rolling(_RECENT, min_periods=1).sum()
        all_of = pd.Series(np.maximum(duration, self._trigger * 1000)).rolling(_RECENT, min_periods=1).sum()
        behind = (late / all_of).to_numpy() if len(told) else np.array([])
        rows = np.array([int(each["numInputRows"]) for each in told], dtype=int)
        return pd.DataFrame(
            {
                "batch": np.arange(len(told)),
                "at": pd.to_datetime([each["timestamp"] for each in told], utc=True),
                "input_rows": rows,
                "input_rate": [float(each.get("inputRowsPerSecond") or 0) for each in told],
                "processed_rate": [float(each.get("processedRowsPerSecond") or 0) for each in told],
                "duration_ms": duration.astype(int),
                "state_rows": [sum(op["numRowsTotal"] for op in each.get("stateOperators", [])) for each in told],
                "backlog": backlog,
                "behind": behind,
                "pressure": [pressure(each) for each in behind],
            }
        )


def live(
    join: Join,
    feed: Feeding,
    left: times.Span | None = None,
    right: times.Span | None = None,
    policy: str = "min",
    trigger: times.Span = "1 second",
    speed: float = 1.0,
    spark: SparkSession | None = None,
    told: Callable[[Live], None] | None = None,
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
    told
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
    if len(streams) != 2 or not hasattr(feed, "step"):
        raise wrong("feed", feed, 'give a generators.Feed, such as generators.Feed("orders_payments", rate=20)')
    sides = [
        stream if delay is None else stream.with_watermark(delay)
        for stream, delay in zip(streams, (left, right), strict=True)
    ]
    query.check(join, sides[0], sides[1], False, policy)
    pace = times.positive(trigger, "trigger").total_seconds()
    if isinstance(speed, bool) or not isinstance(speed, int | float) or not 0 < speed <= 1_000:
        raise wrong("speed", speed, "use seconds of event time a second, above 0, at most 1000")
    try:
        own = session.spark() if spark is None else spark
        return Live(join, feed, sides[0], sides[1], policy, pace, float(speed), own, told)
    except WorkbenchError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever the JVM says becomes one sentence
        raise query.one_sentence(error) from None


def stop_all() -> None:
    """Stop every live query of this process."""
    for each in list(_running):
        each.end()


def pressure(behind: float) -> str:
    """The word for a share of time behind."""
    return next(word for most, word in PRESSURES if behind <= most)


def _duration(told: dict[str, Any]) -> int:
    return int(told.get("batchDuration") or told["durationMs"].get("triggerExecution", 0))


def _side_of(description: str) -> str:
    return Path(unquote(urlparse(description.split("[")[-1].rstrip("]")).path)).name


def _log_offset(offset: Any) -> int:
    told = json.loads(offset) if isinstance(offset, str) else offset
    return -1 if told is None else int(told["logOffset"])
