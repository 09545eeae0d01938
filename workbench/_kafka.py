"""A sample of a Kafka topic as recorded rows."""

from __future__ import annotations

import io
import json
import os
import warnings
from collections.abc import Callable
from typing import Any

from workbench import _files
from workbench.errors import ArgumentError, DataError, one_of, wrong

VALUES = ("json", "avro")
_SECONDS = 30.0


def rows(brokers: str, topic: str, time: str, values: str, schema: Any, messages: int, include: tuple[str, ...]) -> Any:
    """The newest messages of a topic as an Arrow table, in order of their timestamps; see `Stream.from_kafka`."""
    import pyarrow as pa

    one_of("values", values, VALUES)
    for each in include:
        one_of("include", each, tuple(_META))
    decode = _decoder(values, schema)
    wanted = _files.schema_of(schema) if values == "json" else None
    found, broken = [], 0
    for message in _newest(brokers, topic, messages):
        try:
            row = decode(message.value())
            if row.get(time) is None:
                raise ValueError(time)
        except (ValueError, TypeError, AttributeError, EOFError, IndexError):
            broken += 1
            continue
        found.append(row | {name: _META[name](message) for name in include})
    if broken:
        warnings.warn(f"{broken:,} messages of topic {topic!r} are no rows, and were left out", stacklevel=4)
    if not found:
        raise DataError(f"topic: {topic!r} has no message that is a row with a value in {time!r}")
    try:
        table = _files.parse_times(pa.Table.from_pylist(found), time)
        return table if wanted is None else _files.cast(table, wanted, include)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise DataError(f"topic: the messages of {topic!r} differ in their types ({error}); give schema=…") from None


_META: dict[str, Callable[[Any], Any]] = {
    "kafka_key": lambda message: None if message.key() is None else message.key().decode(errors="replace"),
    "kafka_timestamp": lambda message: _moment(message.timestamp()[1]),
    "kafka_headers": lambda message: json.dumps(
        {name: value.decode(errors="replace") for name, value in message.headers() or []}
    ),
}


def _moment(milliseconds: int) -> Any:
    import pandas as pd

    return pd.Timestamp(milliseconds, unit="ms", tz="UTC").to_pydatetime()


def _decoder(values: str, schema: Any) -> Callable[[bytes], dict[str, Any]]:
    if values == "json":
        return json.loads
    if not isinstance(schema, dict) or "fields" not in schema:
        raise wrong("schema", schema, "give the Avro schema of the values as a dict, with its fields")
    try:
        import fastavro
    except ImportError:
        raise ArgumentError("values: got 'avro', which needs fastavro; install stream-join-workbench[kafka]") from None
    parsed = fastavro.parse_schema(schema)

    def decode(value: bytes) -> dict[str, Any]:
        row = fastavro.schemaless_reader(io.BytesIO(value), parsed, None)
        return row if isinstance(row, dict) else {}

    return decode


def _newest(brokers: str, topic: str, messages: int) -> list[Any]:
    """The newest messages of all partitions together, oldest first."""
    try:
        from confluent_kafka import Consumer, KafkaException, TopicPartition
    except ImportError:
        raise ArgumentError(
            "topic: reading Kafka needs confluent-kafka; install stream-join-workbench[kafka]"
        ) from None
    settings = {"bootstrap.servers": brokers, "group.id": "stream-join-workbench", "enable.auto.commit": False}
    consumer = Consumer(settings | _security(), logger=_SILENT)
    try:
        known = consumer.list_topics(topic, timeout=_SECONDS).topics[topic]
        if known.error is not None:
            raise wrong("topic", topic, "the brokers know no such topic")
        ends = {each: consumer.get_watermark_offsets(TopicPartition(topic, each)) for each in known.partitions}
        starts = [TopicPartition(topic, each, max(low, high - messages)) for each, (low, high) in ends.items()]
        missing = sum(ends[each.partition][1] - each.offset for each in starts)
        consumer.assign(starts)
        found: list[Any] = []
        while len(found) < missing:
            came = [each for each in consumer.consume(min(missing - len(found), 10_000), _SECONDS) if not each.error()]
            if not came:
                break
            found += came
    except KafkaException as error:
        raise wrong("brokers", brokers, f"no Kafka broker answers there ({error.args[0].str()})") from None
    finally:
        consumer.close()
    found.sort(key=lambda each: (each.timestamp()[1], each.partition(), each.offset()))
    return found[-messages:]


def _security() -> dict[str, str]:
    """What the environment says of security, as exported scripts read it: KAFKA_SASL_MECHANISM is sasl.mechanism."""
    groups = ("KAFKA_SECURITY_", "KAFKA_SASL_", "KAFKA_SSL_")
    named = {name[6:].lower().replace("_", "."): value for name, value in os.environ.items() if name.startswith(groups)}
    named.pop("sasl.jaas.config", None)  # Java's way of saying it
    return named


def _silent() -> Any:
    import logging

    quiet = logging.getLogger("stream-join-workbench.kafka")
    quiet.addHandler(logging.NullHandler())
    quiet.propagate = False
    return quiet


_SILENT = _silent()
