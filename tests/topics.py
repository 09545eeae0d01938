"""Topics of a Kafka broker: filled with a stream's rows, and read to their ends."""

from __future__ import annotations

import io
import json

import fastavro
from confluent_kafka import Consumer, Producer, TopicPartition
from fault_lab import text

from workbench import script


def pour(broker, topic, stream, size, values="json", malformed=False):
    """Send a stream's rows to a topic of its own; with malformed, a message that is no row after each micro-batch."""
    producer = Producer({"bootstrap.servers": broker.brokers})
    assert topic not in producer.list_topics(timeout=10).topics, f"another test has filled {topic}, too"
    schema = script.SOURCES["kafka-avro"].record(stream, "row")
    for number, row in enumerate(stream.table.to_pylist()):
        if values == "avro":
            out = io.BytesIO()
            fastavro.schemaless_writer(out, schema, row)
            value = out.getvalue()
        else:
            value = json.dumps({name: text(each) for name, each in row.items()}).encode()
        producer.produce(topic, key=str(row[stream.key[0]]), value=value)
        if malformed and number % size == size - 1:
            producer.produce(topic, value=b"\xff no row")
    assert producer.flush(30) == 0


def drain(broker, topic):
    """All messages of a topic."""
    reader = Consumer({"bootstrap.servers": broker.brokers, "group.id": "tests", "enable.auto.commit": False})
    _, end = reader.get_watermark_offsets(TopicPartition(topic, 0), 10)
    reader.assign([TopicPartition(topic, 0, 0)])
    found = []
    while reader.position([TopicPartition(topic, 0)])[0].offset < end:
        found += [each for each in reader.consume(1000, 1) if each.error() is None]
    reader.close()
    return found
