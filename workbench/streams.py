"""`Stream`: rows in arrival order, in micro-batches, with a key, an event time and a watermark delay."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench import times
from workbench.errors import ArgumentError, DataError, one_of, wrong
from workbench.times import ZERO, Span

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import DataFrame

FORMATS = ("parquet", "json", "csv", "delta")
MOST_BATCHES = 100_000
SIDES = ("left", "right")
ROW = "__row"
"""The column of row numbers that a run adds to each side, to know its rows again."""
KAFKA_COLUMNS = {
    "kafka_key": 'F.col("key").cast("string")',
    "kafka_timestamp": 'F.col("timestamp")',
    "kafka_headers": 'F.to_json(F.expr("map_from_entries(transform(headers, h -> (h.key, cast(h.value as string))))"))',
}
"""Columns of a stream that come from a Kafka message beside its value, and how Spark makes them of it."""
_FIRST_FILE_TIME = 1_000_000_000  # seconds; any fixed instant: only the order of the files matters


@dataclass(frozen=True, eq=False, repr=False)
class Stream:
    """One side of a join: recorded rows and how to read them as a stream.

    Make one with `from_pandas`, `from_files` or ``generators.generate``.

    Attributes
    ----------
    name
        What charts, errors and the exported script call it.
    key
        The key columns.
    time
        The event-time column.
    watermark
        The watermark delay.
    table
        The rows in arrival order, in types that Spark reads (timestamps in microseconds, UTC).
    arrival
        The micro-batch each row arrives in, beginning with 0; never falls.
    batch_count
        How many micro-batches there are, empty ones included.
    zones
        For each timestamp column the time zone it came with, or None where it was naive.
    path, format, max_files
        Where `from_files` read it; None for a stream from memory.
    nanos
        Timestamp columns that the files hold in nanoseconds, which Spark does not read as timestamps.
    """

    name: str
    key: tuple[str, ...]
    time: str
    watermark: timedelta
    table: pa.Table
    arrival: np.ndarray[Any, Any]
    batch_count: int
    zones: dict[str, str | None] = field(default_factory=dict)
    path: str | None = None
    format: str = "parquet"
    max_files: int = 1
    nanos: tuple[str, ...] = ()

    @classmethod
    def from_pandas(
        cls,
        frame: pd.DataFrame,
        name: str,
        key: str | Sequence[str],
        time: str,
        watermark: Span = ZERO,
        batch: str | None = None,
    ) -> Stream:
        """Make a stream of a pandas frame, whose rows are in arrival order.

        Parameters
        ----------
        frame
            The rows.
        name
            What to call the stream.
        key
            The key column, or a list of key columns.
        time
            The event-time column: timestamps, naive (taken as UTC) or with a time zone. Read in microseconds.
        watermark
            The delay: how far behind the newest event time a row may be and still be kept.
        batch
            An integer column that gives the micro-batch in which a row arrives; None: all arrive in one.

        Raises
        ------
        ArgumentError, DataError
            If a column is missing or of the wrong type, or an event time is missing.

        Examples
        --------
        >>> import pandas as pd
        >>> times = pd.to_datetime(["2026-01-01 10:00:01", "2026-01-01 10:00:09", "2026-01-01 10:00:04"])
        >>> frame = pd.DataFrame({"user": ["ada", "bob", "ada"], "at": times, "batch": [0, 0, 1]})
        >>> Stream.from_pandas(frame, "clicks", key="user", time="at", watermark="5 seconds", batch="batch")
        <Stream clicks: 3 rows in 2 micro-batches, key 'user', time 'at', watermark '5 seconds'>
        """
        import numpy as np
        import pandas as pd
        import pyarrow as pa

        if not isinstance(frame, pd.DataFrame):
            raise wrong("frame", type(frame).__name__, "give a pandas DataFrame, one row an event")
        _check_name(name)
        _check_columns([*frame.columns], name)
        if batch is None:
            arrival = np.zeros(len(frame), dtype=np.int64)
        else:
            _check_column("batch", batch, list(frame.columns), name)
            arrival = _arrival(frame[batch], batch, name)
            order = np.argsort(arrival, kind="stable")
            frame, arrival = frame.iloc[order].drop(columns=batch), arrival[order]
        for column in (time, *([key] if isinstance(key, str) else key)):
            if column == batch:
                raise wrong("batch", batch, f"it is also used as key or time of {name}; use a column of its own")
        try:
            table = pa.Table.from_pandas(frame, preserve_index=False)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
            raise DataError(
                f"frame: a column of {name} holds values of several types ({'; '.join(map(str, error.args))}); "
                "give each column one type"
            ) from None
        return cls._checked(table, arrival, int(arrival[-1]) + 1 if len(arrival) else 1, name, key, time, watermark)

    @classmethod
    def from_files(
        cls,
        path: str | os.PathLike[str],
        name: str,
        key: str | Sequence[str],
        time: str,
        watermark: Span = ZERO,
        format: str = "parquet",  # noqa: A002 - Spark's word
        schema: Any = None,
        max_files: int = 1,
    ) -> Stream:
        """Make a stream of a folder of files, in order of modification time, as Spark's file source takes them.

        Parameters
        ----------
        path
            The folder.
        name, key, time, watermark
            As in `from_pandas`.
        format
            ``parquet``, ``json`` (one object a line), ``csv`` (with a header) or ``delta``.
        schema
            A `pyarrow.Schema`, or a dict of column names to Arrow type names such as ``"timestamp[us]"``;
            None: as the files say. Columns it does not name are left out.
        max_files
            Files a micro-batch.

        Raises
        ------
        ArgumentError, DataError
            If the folder is missing or empty, or a file is not what `format` says.
        """
        from workbench import _files

        _check_name(name)
        one_of("format", format, FORMATS)
        if not isinstance(max_files, int) or max_files < 1:
            raise wrong("max_files", max_files, "use a whole number of files a micro-batch, 1 or more")
        table, arrival, count = _files.read(Path(path), format, schema, max_files)
        nanos = _files.nanosecond_columns(table) if format == "parquet" else ()
        table = _files.parse_times(table, time)
        stream = cls._checked(table, arrival, count, name, key, time, watermark)
        return replace(stream, path=str(path), format=format, max_files=max_files, nanos=nanos)

    @classmethod
    def from_kafka(
        cls,
        brokers: str,
        topic: str,
        key: str | Sequence[str],
        time: str,
        watermark: Span = ZERO,
        values: str = "json",
        schema: Any = None,
        messages: int = 10_000,
        max_offsets: int = 1_000,
        include: Sequence[str] = (),
        name: str | None = None,
    ) -> Stream:
        """Record the newest messages of a Kafka topic as a stream, to tune a join on.

        What the environment says of security is used: ``KAFKA_SECURITY_PROTOCOL``, ``KAFKA_SASL_…``, ``KAFKA_SSL_…``.

        Parameters
        ----------
        brokers
            Kafka's bootstrap servers, such as ``"localhost:9092"``.
        topic
            The topic.
        key, time, watermark
            As in `from_pandas`.
        values
            What the values are: ``json`` (objects) or ``avro`` (records without a registry's header).
        schema
            For JSON as in `from_files`, None: as the values say. For Avro the schema of the values, as a dict.
        messages
            How many to record, the newest ones.
        max_offsets
            Messages a micro-batch, as Spark's ``maxOffsetsPerTrigger`` would take them.
        include
            What is known of a message beside its value, as columns: ``kafka_key`` (text), ``kafka_timestamp``,
            ``kafka_headers`` (JSON).
        name
            What to call the stream; None: as the topic.

        Raises
        ------
        ArgumentError, DataError
            If no broker answers, there is no such topic, or no message is a row.
        """
        import numpy as np

        from workbench import _kafka

        for argument, count in (("messages", messages), ("max_offsets", max_offsets)):
            if isinstance(count, bool) or not isinstance(count, int) or count < 1:
                raise wrong(argument, count, "use a whole number, 1 or more")
        table = _kafka.rows(brokers, topic, time, values, schema, messages, tuple(include))
        arrival = np.arange(table.num_rows) // max_offsets
        return cls.from_arrow(table, name or topic, key, time, watermark, arrival)

    @classmethod
    def from_streaming(
        cls,
        frame: DataFrame,
        name: str,
        key: str | Sequence[str],
        time: str,
        watermark: Span = ZERO,
        seconds: float = 10.0,
    ) -> Stream:
        """Record what a streaming DataFrame brings in a while, with the micro-batches it came in.

        Parameters
        ----------
        frame
            A streaming DataFrame, such as ``spark.readStream.format("rate").load()``.
        name, key, time, watermark
            As in `from_pandas`.
        seconds
            How long to record.

        Raises
        ------
        ArgumentError, DataError
            If the frame does not stream, or brought nothing.
        """
        from workbench import _streaming

        if not getattr(frame, "isStreaming", False):
            raise wrong("frame", type(frame).__name__, "give a DataFrame of spark.readStream")
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= 3_600:
            raise wrong("seconds", seconds, "use a number of seconds above 0, at most 3600")
        table, arrival = _streaming.record(frame, float(seconds))
        return cls.from_arrow(table, name, key, time, watermark, arrival)

    @classmethod
    def from_arrow(
        cls,
        table: pa.Table,
        name: str,
        key: str | Sequence[str],
        time: str,
        watermark: Span = ZERO,
        arrival: np.ndarray[Any, Any] | None = None,
        batch_count: int | None = None,
    ) -> Stream:
        """Make a stream of an Arrow table, whose rows are in arrival order.

        Parameters
        ----------
        table, name, key, time, watermark
            As in `from_pandas`.
        arrival
            The micro-batch of each row, never falling; None: all arrive in one.
        batch_count
            How many micro-batches there are, empty ones at the end included; None: up to the last with a row.
        """
        import numpy as np

        _check_name(name)
        batch = np.zeros(table.num_rows, dtype=np.int64) if arrival is None else np.asarray(arrival, dtype=np.int64)
        if len(batch) != table.num_rows or (np.diff(batch) < 0).any() or (batch < 0).any():
            raise ArgumentError("arrival: give one micro-batch a row, from 0, never falling")
        least = int(batch[-1]) + 1 if len(batch) else 1
        return cls._checked(table, batch, max(least, batch_count or 1), name, key, time, watermark)

    @classmethod
    def _checked(
        cls,
        table: pa.Table,
        arrival: np.ndarray[Any, Any],
        count: int,
        name: str,
        key: str | Sequence[str],
        time: str,
        watermark: Span,
    ) -> Stream:
        from workbench import _arrow

        columns = table.column_names
        _check_columns(columns, name)
        keys = (key,) if isinstance(key, str) else tuple(key)
        if not keys:
            raise wrong("key", key, "name at least one key column")
        for column in keys:
            _check_column("key", column, columns, name)
        _check_column("time", time, columns, name)
        if len(set(keys)) < len(keys):
            raise wrong("key", key, "name each key column once")
        delay = times.delay(watermark, "watermark")
        table, zones = _arrow.spark_ready(table, name)
        _arrow.check_time(table, time, name)
        for column in keys:
            _arrow.check_key(table, column, name)
        return cls(name, keys, time, delay, table, arrival, count, zones)

    def with_watermark(self, watermark: Span) -> Stream:
        """The same stream with another watermark delay."""
        return replace(self, watermark=times.delay(watermark, "watermark"))

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        key = self.key[0] if len(self.key) == 1 else list(self.key)
        return (
            f"<Stream {self.name}: {len(self):,} rows in {self.batch_count:,} micro-batches, "
            f"key {key!r}, time {self.time!r}, watermark {times.text(self.watermark)!r}>"
        )

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.table.column_names)

    @property
    def event_times(self) -> np.ndarray[Any, Any]:
        """Event times in microseconds since 1970-01-01 UTC, one a row, as 64-bit integers."""
        import pyarrow as pa

        times_column: np.ndarray[Any, Any] = self.table.column(self.time).cast(pa.int64()).to_numpy()
        return times_column

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a frame, in arrival order, timestamps as they came; column ``batch`` is the micro-batch.

        ``batch`` is left out where the stream has a column of that name.
        """
        from workbench import _arrow

        frame = _arrow.to_pandas(self.table, self.zones)
        if "batch" not in frame:
            frame["batch"] = self.arrival
        return frame

    def write(self, folder: Path, batches: int | None = None, table: pa.Table | None = None) -> None:
        """Write one Parquet file a micro-batch, so that Spark's file source takes them in this order.

        Parameters
        ----------
        folder
            Made if missing.
        batches
            How many micro-batches to write; those beyond the stream's own are empty.
        table
            Rows to write in place of `table`, with the same arrival (the workbench adds row numbers).
        """
        import numpy as np

        rows = self.table if table is None else table
        count = self.batch_count if batches is None else batches
        edges = np.searchsorted(self.arrival, np.arange(count + 1))
        for number in range(count):
            write_batch(rows.slice(edges[number], edges[number + 1] - edges[number]), folder, number)


def write_batch(rows: pa.Table, folder: Path, number: int) -> None:
    """Write one micro-batch; its modification time is set, because Spark's file source goes by that."""
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"batch-{number:05d}.parquet"
    pq.write_table(rows, file, compression="snappy", use_dictionary=False)  # a third of the time
    os.utime(file, (_FIRST_FILE_TIME + number, _FIRST_FILE_TIME + number))


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name.strip():
        raise wrong("name", name, 'give the stream a name, such as "orders"')


def _check_columns(columns: list[Any], name: str) -> None:
    seen: set[str] = set()
    for column in columns:
        if not isinstance(column, str):
            raise DataError(f"frame: {name} has a column named {column!r}; name every column with text")
        if column.lower() in seen:
            raise DataError(
                f"frame: {name} has column {column!r} twice (Spark does not tell upper from lower case); rename one"
            )
        seen.add(column.lower())


def _check_column(argument: str, column: object, columns: list[str], name: str) -> None:
    if not isinstance(column, str) or column not in columns:
        raise wrong(argument, column, f"{name} has no such column; it has {', '.join(map(repr, columns)) or 'none'}")


def _arrival(column: pd.Series[Any], batch: str, name: str) -> np.ndarray[Any, Any]:
    import numpy as np
    import pandas as pd

    if not pd.api.types.is_integer_dtype(column.dtype) or column.isna().any():
        raise ArgumentError(
            f"batch: got column {batch!r} of {name}, which holds {column.dtype} values; "
            "use a column of whole numbers, 0 for the first micro-batch, none missing"
        )
    arrival: np.ndarray[Any, Any] = column.to_numpy(dtype=np.int64)
    if len(arrival) and (arrival.min() < 0 or arrival.max() >= MOST_BATCHES):
        bad = int(arrival.min() if arrival.min() < 0 else arrival.max())
        raise ArgumentError(
            f"batch: got micro-batch {bad} in column {batch!r} of {name}; number them from 0, below {MOST_BATCHES:,}"
        )
    return arrival
