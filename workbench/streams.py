"""`Stream`: rows in arrival order, in micro-batches, with a key, an event time and a watermark delay."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import literals, safe_files, times
from workbench.counts import counted
from workbench.errors import ArgumentError, check_whole, excerpt, wrong
from workbench.sources import Format, Malformed, Memory, Source
from workbench.sources.name_checks import ROW, check_arguments, check_column, check_columns, check_name, check_roles
from workbench.sources.recorded_rows import MOST_BATCHES, Recorded
from workbench.times import ZERO, Span
from workbench.untyped import Argument

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from workbench.arrays import Batches, Flags, RowNumbers, Times
    from workbench.sources.arrivals import Arrivals
    from workbench.sources.key_choice import Choice, Newest

__all__ = [
    "MOST_BATCHES",
    "NOTHING",
    "ROW",
    "SIDES",
    "Stream",
    "batches_with_rows",
    "check_stream",
    "chosen",
    "has_rows",
    "moving",
    "on_one_clock",
    "pair_types",
    "same_rows",
    "some_rows",
    "write_batch",
]

SIDES = literals.SIDES
NOTHING = -(2**63)
"""The newest event time where no row was seen."""
_OFFSETS = 1_000
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
    source
        Where the rows came from: `workbench.sources.Memory`, or `workbench.sources.Files`, which has the folder and how
        it was read.
    arrivals
        When each row arrived, and the trigger interval that made `arrival` of that; None where the micro-batches were
        numbered.
    newest
        Of a sample: for each micro-batch the newest event time of all rows, in microseconds since 1970-01-01 UTC, and
        `NOTHING` where there were none. A run of the sample has the watermarks of all rows. None: the rows are all
        that there are.
    newest_keyed
        The same, of the rows whose key is nowhere null: a join that drops rows with a null key first goes by these.
        None: as `newest`.
    compared
        Of a job that compares its keys by an expression, such as a cast, the values of these for each row, a column for
        each of `key`. None: by the key columns as they are.
    """

    name: str
    key: tuple[str, ...]
    time: str
    watermark: timedelta
    table: pa.Table
    arrival: Batches
    batch_count: int
    zones: dict[str, str | None] = field(default_factory=dict)
    source: Source = field(default_factory=Memory)
    arrivals: Arrivals | None = None
    newest: Times | None = None
    newest_keyed: Times | None = None
    compared: pa.Table | None = None

    @classmethod
    def from_pandas(
        cls,
        frame: pd.DataFrame,
        name: str,
        key: str | Sequence[str],
        time: str,
        watermark: Span = ZERO,
        *,
        batch: str | None = None,
        arrival: str | None = None,
        trigger: Span | None = None,
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
        arrival, trigger
            A timestamp column that tells when a row arrived, and the trigger interval of the query: rows are put in
            order of arrival and cut into micro-batches as Spark's processing-time trigger would, together with those of
            the other side of a join. A pause is one empty micro-batch.

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
        from workbench.sources import pandas  # when needed: `import workbench` is to be quick

        check_name(name)
        if batch is not None and (arrival is not None or trigger is not None):
            raise wrong(
                "batch", batch, "a column numbers micro-batches, or a trigger cuts them: give batch, or both others"
            )
        found = pandas.read(frame, name, key, time, batch)
        return cls._of(found, name, key, time, watermark, arrival, trigger)

    @classmethod
    def from_files(
        cls,
        path: str | os.PathLike[str],
        name: str,
        key: str | Sequence[str],
        time: str,
        watermark: Span = ZERO,
        *,
        format: Format = "parquet",  # noqa: A002 - Spark's word
        schema: Argument = None,
        max_files: int = 1,
        options: dict[str, str] | None = None,
        malformed: Malformed = "fail",
        arrival: str | None = None,
        trigger: Span | None = None,
        keys: Sequence[Argument] | None = None,
        sample: float = 1.0,
    ) -> Stream:
        """Make a stream of a folder of files, in order of modification time, as Spark's file source takes them.

        Spark reads them, as it does in an exported script. CSV files have a header, and quotes within quotes doubled.

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
            None: as the files say, or as Spark infers it. Columns it does not name are left out.
        max_files
            Files a micro-batch.
        options
            More options of Spark's reader, such as ``{"sep": ";", "nullValue": "NA"}``; an exported script has them,
            too.
        malformed
            What becomes of records that cannot be read: ``fail``, or ``drop``, with a warning that counts them.
        arrival, trigger
            As in `from_pandas`; in place of `max_files`.
        keys, sample
            Only rows with these keys (values of the key column, or tuples of values of several), or of this share of
            the keys, such as 0.001, by a hash of the key: the same on both sides, and the same that
            `workbench.open_job` takes. Other rows are read by Spark, and do not reach Python. The stream has the
            watermarks of all rows, so that the rows that are taken have the fates that they have among all.

        Raises
        ------
        ArgumentError, DataError
            If the folder is missing or empty, or a file or record is not what `format` says.
        JavaError
            If there is no Java that Spark runs on.
        """
        from workbench.sources import files  # when needed: `import workbench` is to be quick

        check_name(name)
        names, _ = check_arguments(key, time, watermark)
        choice = _choice(keys, sample, names, arrival if trigger is None else trigger)
        check_whole("max_files", max_files, "of files a micro-batch")
        if trigger is not None and max_files != 1:
            raise wrong("max_files", max_files, "max_files sets micro-batches, or a trigger cuts them: leave out one")
        found = files.read(
            path,
            time,
            format=format,
            schema=schema,
            max_files=max_files,
            options=options,
            malformed=malformed,
            name=name,
            key=names,
            choice=choice,
        )
        return cls._of(found, name, key, time, watermark, arrival, trigger, choice)

    @classmethod
    def from_kafka(
        cls,
        brokers: str,
        topic: str,
        key: str | Sequence[str],
        time: str,
        watermark: Span = ZERO,
        *,
        values: str = "json",
        schema: Argument = None,
        messages: int = 10_000,
        max_offsets: int = _OFFSETS,
        include: Sequence[str] = (),
        name: str | None = None,
        trigger: Span | None = None,
        keys: Sequence[Argument] | None = None,
        sample: float = 1.0,
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
            ``kafka_headers`` (a JSON object; of several headers with one name the last, null without headers).
        name
            What to call the stream; None: as the topic.
        trigger
            Cut into micro-batches by this trigger interval on the messages' timestamps, in place of `max_offsets`; as
            in `from_pandas`.
        keys, sample
            Of these messages only the rows with such keys, as in `from_files`; Spark tells which they are.

        Raises
        ------
        ArgumentError, DataError
            If no broker answers, there is no such topic, or no message is a row.
        """
        from workbench.sources import kafka  # when needed: `import workbench` is to be quick

        if name is not None:
            check_name(name)
        names, _ = check_arguments(key, time, watermark)
        choice = _choice(keys, sample, names, trigger)
        check_whole("max_offsets", max_offsets)
        if trigger is not None and max_offsets != _OFFSETS:
            remedy = "max_offsets sets micro-batches, or a trigger cuts them: leave out one"
            raise wrong("max_offsets", max_offsets, remedy)
        found = kafka.read(
            brokers,
            topic,
            time,
            values=values,
            schema=schema,
            messages=messages,
            max_offsets=max_offsets,
            include=include,
        )
        return cls._of(found, name or topic, key, time, watermark, trigger=trigger, choice=choice)

    @classmethod
    def from_streaming(
        cls,
        frame: DataFrame,
        name: str,
        key: str | Sequence[str],
        time: str,
        watermark: Span = ZERO,
        *,
        seconds: float = 10.0,
        keys: Sequence[Argument] | None = None,
        sample: float = 1.0,
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
        keys, sample
            Only rows with these keys, or of this share of the keys, as in `from_files`.

        Raises
        ------
        ArgumentError, DataError
            If the frame does not stream, or brought nothing.
        """
        from workbench.sources import streaming  # when needed: `import workbench` is to be quick

        check_name(name)
        names, _ = check_arguments(key, time, watermark)
        choice = _choice(keys, sample, names, None)
        found = streaming.read(frame, name, names, time, seconds=seconds, choice=choice)
        return cls._of(found, name, key, time, watermark, choice=choice)

    @classmethod
    def from_arrow(
        cls,
        table: pa.Table,
        name: str,
        key: str | Sequence[str],
        time: str,
        watermark: Span = ZERO,
        *,
        arrival: Batches | str | None = None,
        batch_count: int | None = None,
        trigger: Span | None = None,
    ) -> Stream:
        """Make a stream of an Arrow table, whose rows are in arrival order.

        Parameters
        ----------
        table, name, key, time, watermark
            As in `from_pandas`.
        arrival
            The micro-batch of each row, never falling; None: all arrive in one. Or, as in `from_pandas`, the name of a
            column that tells when a row arrived.
        batch_count
            How many micro-batches there are, empty ones at the end included; None: up to the last with a row.
        trigger
            As in `from_pandas`.
        """
        from workbench.sources import arrow  # when needed: `import workbench` is to be quick

        check_name(name)
        column = arrival if isinstance(arrival, str) else None
        if arrival is not None and column is None and trigger is not None:
            remedy = "arrival numbers micro-batches, or a trigger cuts them: name its column, or leave out trigger"
            raise wrong("arrival", arrival, remedy)
        if batch_count is not None and trigger is not None:
            raise wrong("batch_count", batch_count, "a trigger makes the micro-batches: give batch_count or trigger")
        found = arrow.read(table, None if column is not None else arrival, batch_count)
        return cls._of(found, name, key, time, watermark, column, trigger)

    @classmethod
    def _of(
        cls,
        found: Recorded,
        name: str,
        key: str | Sequence[str],
        time: str,
        watermark: Span,
        arrival: str | None = None,
        trigger: Span | None = None,
        choice: Choice | None = None,
    ) -> Stream:
        """The stream of recorded rows whose columns are checked, in types that Spark reads."""
        from workbench.sources import arrow, key_checks, time_checks  # when needed: `import workbench` is to be quick

        check_columns(found.table.column_names, name)
        keys = check_roles(found.table.column_names, key, time, name)
        delay = times.delay(watermark, "watermark")
        table, zones = arrow.spark_ready(found.table, name)
        time_checks.check_time(table, time, name)
        for column in keys:
            key_checks.check_key(table, column, name)
        zones |= {column: zone for column, zone in found.zones.items() if column in zones}
        made = cls(name, keys, time, delay, table, found.arrival, found.batch_count, zones, found.source)
        if choice is not None and not choice.takes_all:
            return chosen(made, found.newest, choice)
        return made._triggered(found, arrival, trigger)

    def _triggered(self, found: Recorded, arrival: str | None, trigger: Span | None) -> Stream:
        """The stream cut by a trigger interval, if one is given, on what tells when its rows arrived."""
        from workbench.sources import arrivals  # when needed: `import workbench` is to be quick

        if arrival is not None:
            check_column("arrival", arrival, self.columns, self.name)
        if trigger is None:
            if arrival is None:
                return self
            raise wrong(
                "trigger", None, f'with arrival={excerpt(arrival)} give the query\'s interval, such as "10 seconds"'
            )
        if arrival is None:
            if found.arrived_at is None:
                raise wrong("trigger", trigger, "also name the column with the times of arrival: arrival=…")
            return self.with_arrivals(found.arrived_at, trigger)
        order, at = arrivals.in_order(self.table, arrival, self.name)
        return replace(self, table=self.table.take(order)).with_arrivals(at, trigger)

    def with_arrivals(self, at: Times, trigger: Span) -> Stream:
        """The same rows, cut into micro-batches by when they arrived.

        Parameters
        ----------
        at
            For each row when it arrived: ``datetime64``, or whole microseconds since 1970-01-01 UTC; never falling.
        trigger
            The trigger interval of the query.

        Raises
        ------
        ArgumentError
            If there is not one time for each row, or one is before that of the row before.
        """
        from workbench.sources import arrivals  # when needed: `import workbench` is to be quick

        if self.newest is not None:
            raise wrong("trigger", trigger, f"{self.name} is a sample, whose micro-batches are those of all rows")
        found = arrivals.checked(at, trigger, len(self))
        # a script cannot read files in these micro-batches: it reads a recording of the rows, as that of a frame does
        return _cut([replace(self, arrivals=found, source=Memory())])[0]

    def with_trigger(self, trigger: Span) -> Stream:
        """The same stream under another trigger interval.

        Raises
        ------
        ArgumentError
            If it is not known when the rows arrived.
        """
        if self.arrivals is None:
            raise wrong("trigger", trigger, f"{self.name} has no times of arrival; make it with trigger=…")
        return self.with_arrivals(self.arrivals.at, trigger)

    def with_watermark(self, watermark: Span) -> Stream:
        """The same stream with another watermark delay."""
        return replace(self, watermark=times.delay(watermark, "watermark"))

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        key = self.key[0] if len(self.key) == 1 else list(self.key)
        return (
            f"<Stream {self.name}: {counted(len(self), 'row')} in {counted(self.batch_count, 'micro-batch')}, "
            f"key {key!r}, time {self.time!r}, watermark {times.text(self.watermark)!r}>"
        )

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.table.column_names)

    @property
    def event_times(self) -> Times:
        """Event times in microseconds since 1970-01-01 UTC, one a row, as 64-bit integers."""
        import pyarrow as pa  # when needed: `import workbench` is to be quick

        times_column: RowNumbers = self.table.column(self.time).cast(pa.int64()).to_numpy()
        return times_column

    @cached_property
    def identity(self) -> str | None:
        """The first column but the key, of text or whole numbers without nulls, that differs in every row, if any."""
        import pyarrow as pa  # when needed: `import workbench` is to be quick
        import pyarrow.compute as pc

        for name in self.table.column_names:
            column = self.table.column(name)
            fitting = pa.types.is_string(column.type) or pa.types.is_integer(column.type)
            if name in self.key or name == self.time or not fitting:
                continue
            if not column.null_count and pc.count_distinct(column).as_py() == len(column) > 1:
                return name
        return None

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a frame, in arrival order, timestamps as they came; column ``batch`` is the micro-batch.

        ``batch`` is left out where the stream has a column of that name.
        """
        from workbench.sources import arrow  # when needed: `import workbench` is to be quick

        frame = arrow.to_pandas(self.table, self.zones)
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
        import numpy as np  # when needed: `import workbench` is to be quick
        import pyarrow as pa

        folder = safe_files.place(folder, argument="folder")
        whole = isinstance(batches, int) and not isinstance(batches, bool)
        if batches is not None and not (whole and 0 <= batches <= MOST_BATCHES + 1):
            raise wrong("batches", batches, f"use a whole number of micro-batches, at most {MOST_BATCHES:,}, or None")
        if table is not None and (not isinstance(table, pa.Table) or table.num_rows != len(self)):
            raise wrong("table", type(table).__name__, f"give a pyarrow.Table of {len(self):,} rows, as here")
        rows = self.table if table is None else table
        count = self.batch_count if batches is None else batches
        edges = np.searchsorted(self.arrival, np.arange(count + 1))
        with safe_files.said(folder, argument="folder"):
            folder.mkdir(parents=True, exist_ok=True)
            for number in range(count):
                write_batch(rows.slice(edges[number], edges[number + 1] - edges[number]), folder, number)


def _choice(keys: Argument, sample: Argument, names: tuple[str, ...], trigger: Span | None) -> Choice:
    """Which rows are taken, as the arguments `keys` and `sample` say."""
    from workbench.sources.key_choice import checked, with_width  # when needed: `import workbench` is to be quick

    choice = with_width(checked(keys, sample), len(names))
    if not choice.takes_all and trigger is not None:
        given = "sample" if keys is None else "keys"
        raise wrong(
            "trigger", trigger, f"the micro-batches of a sample are those of all rows: leave this out, or {given}"
        )
    return choice


def moving(stream: Stream, keyed: bool) -> RowNumbers | None:
    """The newest event times that move the watermark of a sample; None: the rows are all that there are.

    Parameters
    ----------
    stream
        The stream.
    keyed
        Whether rows with a null key are dropped before they do.
    """
    return stream.newest_keyed if keyed and stream.newest_keyed is not None else stream.newest


def pair_types(left: Stream, right: Stream) -> dict[str, pa.DataType]:
    """The columns that a pair of rows has in the output, ``left_…`` and ``right_…``, and their types."""
    sides = zip(SIDES, (left, right), strict=True)
    return {
        f"{side}_{each.name}": each.type
        for side, stream in sides
        for each in stream.table.select(stream.columns).schema
    }


def on_one_clock(left: Stream, right: Stream) -> tuple[Stream, Stream]:
    """Two streams in the micro-batches of one query: a trigger takes in what has arrived on either side.

    Raises
    ------
    ArgumentError
        If only one is cut by a trigger interval, or both by different ones.
    """
    triggers = [None if each.arrivals is None else times.text(each.arrivals.trigger) for each in (left, right)]
    if triggers[0] != triggers[1]:
        words = [
            f"{each.name} is cut by {f'a trigger of {trigger}' if trigger else 'numbers of micro-batches'}"
            for each, trigger in zip((left, right), triggers, strict=True)
        ]
        raise ArgumentError(f"trigger: {', and '.join(words)}; a query has one trigger: give both streams the same")
    if left.arrivals is None:
        return left, right
    one, other = _cut([left, right])
    return one, other


def _cut(streams: Sequence[Stream]) -> list[Stream]:
    """Streams with times of arrival, in the micro-batches of one query."""
    from workbench.sources import arrivals  # when needed: `import workbench` is to be quick

    numbers, count = arrivals.cut([each.arrivals for each in streams if each.arrivals is not None])
    return [replace(each, arrival=mine, batch_count=count) for each, mine in zip(streams, numbers, strict=True)]


def same_rows(one: Stream, other: Stream) -> bool:
    """Whether two streams have equal rows; NaN equals NaN."""
    if one.table is other.table or one.table.equals(other.table):
        return True
    return one.table.schema.equals(other.table.schema) and _in_bits(one.table).equals(_in_bits(other.table))


def _in_bits(table: pa.Table) -> pa.Table:
    """A table with each column of floating-point numbers as their bits, which are equal for NaN, too."""
    import pyarrow as pa  # when needed: `import workbench` is to be quick

    bits = {pa.float64(): pa.int64(), pa.float32(): pa.int32()}
    columns = [
        each.combine_chunks().view(bits[each.type]) if each.type in bits else each for each in table.itercolumns()
    ]
    return pa.table(columns, names=table.column_names)


def chosen(stream: Stream, newest: Newest | None, choice: Choice) -> Stream:
    """A stream as a sample.

    Parameters
    ----------
    stream
        All rows; or those of the sample, where its source chose them.
    newest
        The newest event times of all rows, from a source that chose the rows; None: they are chosen here.
    choice
        Which rows to take.

    Raises
    ------
    ArgumentError
        If they cannot be chosen by these keys.
    """
    import numpy as np  # when needed: `import workbench` is to be quick

    from workbench.sources import files, time_checks  # when needed: `import workbench` is to be quick
    from workbench.sources.key_choice import check_hashed, newest_of

    taken = stream
    if newest is None:
        kinds = [(key, str(stream.table.schema.field(key).type)) for key in stream.key]
        check_hashed(choice, kinds)
        keyed = np.ones(len(stream), dtype=bool)
        for key in stream.key:
            keyed &= stream.table.column(key).is_valid().to_numpy(zero_copy_only=False)
        newest = newest_of(stream.batch_count, stream.arrival, stream.event_times, keyed)
        taken = some_rows(stream, choice.taken(files.own_session(), stream.table, stream.key))
    time_checks.check_newest(int(newest.all.max(initial=NOTHING)), stream.time, stream.name)
    return replace(taken, newest=newest.all, newest_keyed=newest.keyed)


def batches_with_rows(stream: Stream) -> Batches:
    """The micro-batches in which rows of a stream came, in rising order; those that are not listed included."""
    import numpy as np  # when needed: `import workbench` is to be quick

    return stream.arrival if stream.newest is None else np.flatnonzero(stream.newest > NOTHING)


def has_rows(stream: Stream, count: int) -> Flags:
    """Of each of so many micro-batches whether rows of a stream came in it; those that are not listed included."""
    import numpy as np  # when needed: `import workbench` is to be quick

    found = np.zeros(count, dtype=bool)
    found[batches_with_rows(stream)] = True
    return found


def some_rows(stream: Stream, rows: RowNumbers) -> Stream:
    """Some rows of a stream, by their places in rising order, in the micro-batches that they arrive in."""
    compared = None if stream.compared is None else stream.compared.take(rows)
    taken = stream.table.take(rows)
    return replace(stream, table=taken, arrival=stream.arrival[rows], arrivals=None, compared=compared)


def check_stream(argument: str, stream: object) -> None:
    """Check that an argument is a `Stream`."""
    if not isinstance(stream, Stream):
        raise wrong(
            argument, type(stream).__name__, "make a stream of it: Stream.from_pandas(...) or Stream.from_files(...)"
        )


def write_batch(rows: pa.Table, folder: Path, number: int) -> None:
    """Write one micro-batch; its modification time is set, because Spark's file source goes by that."""
    import pyarrow.parquet as pq  # when needed: `import workbench` is to be quick

    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"batch-{number:05d}.parquet"
    pq.write_table(rows, file, compression="snappy", use_dictionary=False)  # a third of the time
    os.utime(file, (_FIRST_FILE_TIME + number, _FIRST_FILE_TIME + number))
