"""Streams recorded from a live Kafka topic and from a streaming DataFrame."""

from __future__ import annotations

import socket
import time
import warnings

import parts
import pytest
import scripts
from confluent_kafka import Producer
from fault_lab import plain, rows_of
from helpers import active
from pyspark.sql import functions as F
from pyspark.sql.streaming import DataStreamWriter
from topics import pour

import generators
import workbench as wb
from workbench import script

JOIN = wb.IntervalJoin("0 s", "15 s", how="left")


@pytest.fixture(scope="module")
def sides():
    return generators.generate("orders_payments", events=100, seed=4)


@pytest.mark.parametrize("values", ["json", "avro"])
def test_a_sample_of_a_topic_is_a_stream(spark, broker, sides, values):
    samples = []
    for side in sides:
        topic = f"sample-{values}-{side.name}"
        pour(broker, topic, side, 10, values, malformed=side is sides[0])
        schema = script.SOURCES["kafka-avro"].record(side, "row") if values == "avro" else None
        given = {"key": "order_id", "time": side.time, "watermark": "5 s", "values": values, "schema": schema}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            samples.append(wb.Stream.from_kafka(broker.brokers, topic, **given, max_offsets=10, name=side.name))
        words = [str(each.message) for each in caught]
        assert words == [f"10 messages of topic '{topic}' are no rows, and were left out"] * (side is sides[0])
        assert {each.filename for each in caught} <= {__file__}
    for side, sample in zip(sides, samples, strict=True):
        assert sample.table.select(side.table.column_names).to_pylist() == side.table.to_pylist()
    assert samples[0].batch_count == 10
    assert len(wb.run(JOIN, *samples).output) > 50


def test_what_is_known_of_a_message_can_be_a_column(broker, tmp_path):
    producer = Producer({"bootstrap.servers": broker.brokers})
    for number in range(30):
        text = f'{{"at": "2026-01-01T00:00:{number:02}Z"}}'
        producer.produce("keyed", key=f"k{number}", value=text, headers={"from": b"a test"}, timestamp=1_000 + number)
    producer.flush()
    meta = ("kafka_key", "kafka_timestamp", "kafka_headers")
    sample = wb.Stream.from_kafka(broker.brokers, "keyed", key="kafka_key", time="at", messages=10, include=meta)
    rows = sample.to_pandas()
    assert list(rows["kafka_key"]) == [f"k{number}" for number in range(20, 30)]
    assert set(rows["kafka_headers"]) == {'{"from":"a test"}'}
    assert rows["kafka_timestamp"].iloc[-1].value == 1_029_000_000


@pytest.mark.family("scripts on Kafka")
def test_scripts_join_by_what_is_known_of_a_message(spark, broker, connectors, tmp_path):
    producer, now = Producer({"bootstrap.servers": broker.brokers}), int(time.time() * 1000)  # older ones are deleted
    for topic in ("asked", "answered"):
        for number in range(30):
            text = f'{{"at": "2026-01-01T00:00:{number:02}Z", "n": {number}}}'
            producer.produce(topic, key=f"k{number % 7}", value=text, timestamp=now + number)
    producer.flush()
    given = {"key": "kafka_key", "time": "at", "messages": 30, "include": ("kafka_key", "kafka_timestamp")}
    sides = [wb.Stream.from_kafka(broker.brokers, topic, **given) for topic in ("asked", "answered")]
    run = wb.run(JOIN, *sides)
    env = scripts.environment(tmp_path, [connectors])
    for file in (wb.export(run, tmp_path / "join.py", source="kafka"), scripts.job(run, tmp_path, source="kafka")):
        rows, checkpoint = tmp_path / f"rows-{file.stem}", tmp_path / f"checkpoint-{file.stem}"
        places = ["--brokers", broker.brokers, "--output", rows, "--checkpoint", checkpoint]
        scripts.run(file, "--drain", *places, env=env)
        written = spark.read.parquet(str(rows)).toPandas().astype(object)
        assert plain(written.where(written.notna(), None).to_dict("records")) == rows_of(run)


def test_very_many_micro_batches_are_refused(broker, sides, monkeypatch):
    pour(broker, "many", sides[0], 10, "json")
    monkeypatch.setattr("workbench.sources.kafka.MOST_BATCHES", 30)
    given = {"key": "order_id", "time": sides[0].time}
    assert wb.Stream.from_kafka(broker.brokers, "many", **given, max_offsets=4).batch_count == 25
    with pytest.raises(wb.ArgumentError, match=r"max_offsets: got 3; that makes 34 micro-batches; use 4 or more"):
        wb.Stream.from_kafka(broker.brokers, "many", **given, max_offsets=3)


def test_no_broker_no_topic_no_rows(broker, monkeypatch):
    with pytest.raises(wb.ArgumentError, match=r"topic: got 'never'; the brokers know no such topic"):
        wb.Stream.from_kafka(broker.brokers, "never", key="k", time="t")
    begin = time.monotonic()
    with pytest.raises(wb.ArgumentError, match=r"brokers: got .*; no Kafka broker answers there"):
        wb.Stream.from_kafka(f"127.0.0.1:{parts.free_port()}", "x", key="k", time="t")
    assert time.monotonic() - begin < 15  # a refused connection is not tried for as long as a slow one
    with pytest.raises(wb.ArgumentError, match=r"values: got 'xml'; use one of 'json', 'avro'"):
        wb.Stream.from_kafka(broker.brokers, "x", key="k", time="t", values="xml")
    with pytest.raises(wb.ArgumentError, match=r"messages: got 0"):
        wb.Stream.from_kafka(broker.brokers, "x", key="k", time="t", messages=0)
    with pytest.raises(wb.ArgumentError, match=r"schema: got None; give the Avro schema"):
        wb.Stream.from_kafka(broker.brokers, "x", key="k", time="t", values="avro")


def test_a_broker_that_does_not_answer_is_waited_for_and_that_is_said(monkeypatch):
    monkeypatch.setattr("workbench.sources.kafka.SECONDS", 2.0)
    monkeypatch.setattr("workbench.sources.kafka.PATIENCE", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        brokers = f"127.0.0.1:{silent.getsockname()[1]}"
        with (
            pytest.warns(UserWarning, match=f"^{brokers} has not answered yet; waiting for 2 s at most"),
            pytest.raises(wb.ArgumentError, match=r"no Kafka broker answers there"),
        ):
            wb.Stream.from_kafka(brokers, "x", key="k", time="t")


def test_a_streaming_frame_is_recorded(spark):
    rate = spark.readStream.format("rate").option("rowsPerSecond", 50).load()
    stream = wb.Stream.from_streaming(
        rate.withColumn("key", F.col("value") % 5), "rate", key="key", time="timestamp", watermark="1 s", seconds=4
    )
    assert len(stream) >= 50
    assert stream.batch_count >= 2
    assert len(wb.run(JOIN, stream, stream).output) >= len(stream)
    assert active(spark) == 0
    with pytest.raises(wb.ArgumentError, match=r"frame: got 'DataFrame'; give a DataFrame of spark.readStream"):
        wb.Stream.from_streaming(spark.range(3), "x", key="id", time="id")
    failing = rate.withColumn("value", F.expr("assert_true(value < 0)")).withColumn("key", F.lit(1))
    with pytest.raises(wb.QueryError, match="the streaming DataFrame failed"):
        wb.Stream.from_streaming(failing, "x", key="key", time="timestamp", seconds=30)


def test_an_interrupt_while_a_streaming_frame_is_recorded_leaves_no_query(spark, monkeypatch):
    started = []

    def interrupted(writer):
        started.append(start(writer))
        raise KeyboardInterrupt

    start = DataStreamWriter.start
    monkeypatch.setattr(DataStreamWriter, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        wb.Stream.from_streaming(spark.readStream.format("rate").load(), "rate", key="value", time="timestamp")
    assert not started[0].isActive
