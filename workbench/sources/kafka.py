"""A sample of a Kafka topic as recorded rows."""

from __future__ import annotations

import io
import json
import logging
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from workbench.arrays import RowNumbers
from workbench.errors import ArgumentError, DataError, check_whole, excerpt, one_of, wrong
from workbench.sources import files
from workbench.sources.name_checks import is_unicode
from workbench.sources.recorded_rows import MOST_BATCHES, Recorded
from workbench.untyped import Record, Value

__all__ = [
    "KAFKA_COLUMNS",
    "PATIENCE",
    "SECONDS",
    "VALUES",
    "KafkaColumn",
    "newest_messages",
    "read",
    "sample_table",
    "some_rows",
    "topics",
]

VALUES = ("json", "avro")
SECONDS = 30.0
"""How long to wait for a broker that does not refuse to be connected to."""
PATIENCE = 3.0
"""After how long it is said that it is waited for."""


@dataclass(frozen=True)
class KafkaColumn:
    """A column of a stream that comes from a Kafka message beside its value.

    Attributes
    ----------
    read
        Takes it from a message of a sample.
    spark
        How an exported script has Spark make it, as Python source.
    """

    read: Callable[[Any], Any]
    spark: str


def _key(message: Value) -> str | None:
    return None if message.key() is None else message.key().decode(errors="replace")


def _moment(message: Value) -> Any:
    return pd.Timestamp(message.timestamp()[1], unit="ms", tz="UTC").to_pydatetime()


def _headers(message: Value) -> str | None:
    """Headers as the text that Spark's ``to_json`` makes of them."""
    headers = message.headers()
    if not headers:
        return None
    found = {name: None if value is None else value.decode(errors="replace") for name, value in headers}
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))


KAFKA_COLUMNS = {
    "kafka_key": KafkaColumn(_key, 'F.col("key").cast("string")'),
    "kafka_timestamp": KafkaColumn(_moment, 'F.col("timestamp")'),
    # of several headers with one name the last; Spark makes no map of entries whose keys come twice
    "kafka_headers": KafkaColumn(
        _headers,
        'F.to_json(F.expr("map_from_entries(transform(array_distinct(transform(headers, h -> h.key)), name -> '
        '(name, cast(element_at(filter(headers, h -> h.key = name), -1).value as string))))"))',
    ),
}
"""Columns of a stream that come from a Kafka message beside its value, by name."""


def read(
    brokers: str,
    topic: str,
    time: str,
    *,
    values: str,
    schema: Value,
    messages: int,
    max_offsets: int,
    include: Sequence[str],
) -> Recorded:
    """The newest messages of a topic, in order of their timestamps; see `workbench.Stream.from_kafka`."""
    check_whole("messages", messages)
    check_whole("max_offsets", max_offsets)
    for argument, text in (("brokers", brokers), ("topic", topic)):
        if not isinstance(text, str) or not text.strip() or "\0" in text or not is_unicode(text):
            raise wrong(argument, text, 'give a text, such as "localhost:9092" for brokers')
    if not isinstance(include, list | tuple):
        raise wrong("include", include, "give a list of names")
    one_of("values", values, VALUES)
    for each in include:
        one_of("include", each, tuple(KAFKA_COLUMNS))
    table, arrived_at = sample_table(
        brokers, topic, time, values=values, schema=schema, messages=messages, include=tuple(include)
    )
    arrival = np.arange(table.num_rows) // max_offsets
    count = int(arrival[-1]) + 1
    if count > MOST_BATCHES:
        least = -(-table.num_rows // MOST_BATCHES)
        raise wrong("max_offsets", max_offsets, f"that makes {count:,} micro-batches; use {least:,} or more")
    return Recorded(table, arrival, count, arrived_at=arrived_at)


def sample_table(
    brokers: str, topic: str, time: str, *, values: str, schema: Value, messages: int, include: tuple[str, ...]
) -> tuple[pa.Table, RowNumbers]:
    """The rows of a topic's newest messages, and the messages' timestamps in microseconds."""
    decode = _decoder(values, schema)
    wanted = files.schema_of(schema) if values == "json" else None
    found, arrived, broken = [], [], 0
    for message in newest_messages(brokers, topic, messages):
        try:
            row = decode(message.value())
            if row.get(time) is None:
                raise ValueError(time)
        except (ValueError, TypeError, AttributeError, EOFError, IndexError):
            broken += 1
            continue
        arrived.append(message.timestamp()[1] * 1000)
        found.append(row | {name: KAFKA_COLUMNS[name].read(message) for name in include})
    if broken:
        warnings.warn(f"{broken:,} messages of topic {topic!r} are no rows, and were left out", stacklevel=4)
    if not found:
        raise DataError(f"topic: {excerpt(topic)} has no message that is a row with a value in {excerpt(time)}")
    try:
        names = dict.fromkeys(name for row in found for name in (*row, *(wanted.names if wanted is not None else ())))
        rows = [{name: row.get(name) for name in names} for row in found]
        table = files.parse_times(pa.Table.from_pylist(rows), time)
        at = np.array(arrived, dtype=np.int64)
        return (table if wanted is None else files.cast(table, wanted, include)), at
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise DataError(
            f"topic: the messages of {excerpt(topic)} differ in their types ({error}); give schema=…"
        ) from None


def some_rows(brokers: str, topic: str, messages: int = 1_000) -> pd.DataFrame:
    """Some of a topic's newest messages as a frame, to see what columns their JSON objects have.

    Raises
    ------
    ArgumentError, DataError
        If no broker answers, or no message is a JSON object.
    """
    rows = []
    for message in newest_messages(brokers, topic, messages):
        try:
            row = json.loads(message.value())
        except (ValueError, TypeError):
            continue
        if isinstance(row, dict) and row:
            rows.append(row)
    if not rows:
        raise DataError(f"topic: {excerpt(topic)} has no message that is a JSON object")
    return pd.DataFrame.from_records(rows)


def topics(brokers: str) -> list[str]:
    """The topics of a broker that are not Kafka's own, in the order of their names.

    Raises
    ------
    ArgumentError
        If no broker answers there.
    """
    if not isinstance(brokers, str) or not brokers.strip() or "\0" in brokers or not is_unicode(brokers):
        raise wrong("brokers", brokers, 'give a text, such as "localhost:9092"')
    with _consumer(brokers) as consumer:
        return sorted(name for name in _metadata(consumer).topics if not name.startswith("__"))


def _decoder(values: str, schema: Value) -> Callable[[bytes], Record]:
    if values == "json":
        return json.loads
    if not isinstance(schema, dict) or "fields" not in schema:
        raise wrong("schema", schema, "give the Avro schema of the values as a dict, with its fields")
    try:
        import fastavro  # an optional extra
    except ImportError:
        raise ArgumentError("values: got 'avro', which needs fastavro; install stream-join-workbench[kafka]") from None
    parsed = fastavro.parse_schema(schema)

    def decode(value: bytes) -> Record:
        row = fastavro.schemaless_reader(io.BytesIO(value), parsed, None)
        return row if isinstance(row, dict) else {}

    return decode


def newest_messages(brokers: str, topic: str, messages: int) -> list[Value]:
    """The newest messages of all partitions together, oldest first."""
    with _consumer(brokers) as consumer:
        from confluent_kafka import TopicPartition  # an optional extra

        known = _metadata(consumer, topic).topics[topic]
        if known.error is not None:
            raise wrong("topic", topic, "the brokers know no such topic")
        ends = {each: consumer.reader.get_watermark_offsets(TopicPartition(topic, each)) for each in known.partitions}
        starts = [TopicPartition(topic, each, max(low, high - messages)) for each, (low, high) in ends.items()]
        missing = sum(ends[each.partition][1] - each.offset for each in starts)
        consumer.reader.assign(starts)
        found: list[Value] = []
        while len(found) < missing:
            polled = consumer.reader.consume(min(missing - len(found), 10_000), SECONDS)
            records = [each for each in polled if not each.error()]
            if not records:
                break
            found += records
    found.sort(key=lambda each: (each.timestamp()[1], each.partition(), each.offset()))
    return found[-messages:]


def _metadata(consumer: _Consumer, *topic: str) -> Any:
    """What the brokers say of a topic, or of all; an error as soon as none of them can be connected to."""
    from confluent_kafka import KafkaError, KafkaException  # an optional extra

    begin, told = monotonic(), False
    while True:
        try:
            return consumer.reader.list_topics(*topic, timeout=1)
        except KafkaException as error:
            if error.args[0].code() != KafkaError._TRANSPORT or monotonic() - begin > SECONDS:
                raise
        consumer.reader.poll(0)  # reports the errors of connections
        if consumer.down:
            raise KafkaException(consumer.down[0])
        if not told and monotonic() - begin > PATIENCE:
            told = True
            warnings.warn(f"{consumer.brokers} has not answered yet; waiting for {SECONDS:.0f} s at most", stacklevel=5)


@dataclass(frozen=True)
class _Consumer:
    """A reader of some brokers, and the error that says that none of them can be connected to, as soon as it came."""

    brokers: str
    reader: Any
    down: list[Value]


@contextmanager
def _consumer(brokers: str) -> Iterator[_Consumer]:
    """A reader of some brokers, what goes wrong with it in one sentence."""
    try:
        from confluent_kafka import Consumer, KafkaError, KafkaException  # an optional extra
    except ImportError:
        raise ArgumentError(
            "topic: reading Kafka needs confluent-kafka; install stream-join-workbench[kafka]"
        ) from None
    down: list[Value] = []

    def on_error(error: Any) -> None:
        down.extend([error] if error.code() == KafkaError._ALL_BROKERS_DOWN else [])

    settings = {"bootstrap.servers": brokers, "group.id": "stream-join-workbench", "enable.auto.commit": False}
    reader = Consumer(settings | _security() | {"error_cb": on_error}, logger=_SILENT)
    try:
        yield _Consumer(brokers, reader, down)
    except KafkaException as error:
        raise wrong("brokers", brokers, f"no Kafka broker answers there ({error.args[0].str()})") from None
    finally:
        reader.close()


def _security() -> dict[str, str]:
    """What the environment says of security, as exported scripts read it: KAFKA_SASL_MECHANISM is sasl.mechanism."""
    groups = ("KAFKA_SECURITY_", "KAFKA_SASL_", "KAFKA_SSL_")
    named = {name[6:].lower().replace("_", "."): value for name, value in os.environ.items() if name.startswith(groups)}
    named.pop("sasl.jaas.config", None)  # Java's way of saying it
    return named


def _silent() -> Any:
    quiet = logging.getLogger("stream-join-workbench.kafka")
    quiet.addHandler(logging.NullHandler())
    quiet.propagate = False
    return quiet


_SILENT = _silent()
