"""What a stream knows of where it came from, and what a script reads of it."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import functions as F

import generators
import workbench as wb
from workbench import recording
from workbench.sources import FORMATS, Files, Memory, kafka

FRAME = pd.DataFrame({"k": ["a", "b"], "t": pd.to_datetime(["2026-01-01", "2026-01-02"])})


def test_rows_that_no_folder_holds_are_of_memory(tmp_path):
    orders, payments = generators.generate("orders_payments", events=10, seed=1)
    recording.save(tmp_path / "saved", orders, payments)
    made = [
        orders,
        wb.Stream.from_pandas(FRAME, "orders", "k", "t"),
        wb.Stream.from_arrow(pa.Table.from_pandas(FRAME), "orders", "k", "t"),
        wb.frames.stream(FRAME, "orders", "k", "t"),
        *recording.load(tmp_path / "saved"),
    ]
    assert [each.source for each in made] == [Memory()] * 6
    assert made[0].with_watermark("5 s").source == Memory()


def test_files_say_how_they_were_read(spark, tmp_path):
    folder = tmp_path / "orders"
    folder.mkdir()
    FRAME.assign(more=1).to_csv(folder / "0.csv", index=False, sep=";")
    stream = wb.Stream.from_files(
        folder,
        name="orders",
        key="k",
        time="t",
        format="csv",
        schema={"k": "string", "t": "timestamp[us]"},
        max_files=3,
        options={"sep": ";"},
        malformed="drop",
    )
    columns = (("k", "string"), ("t", "timestamp"), ("more", "string"))
    assert stream.source == Files(str(folder), "csv", 3, {"sep": ";"}, "drop", (), columns)
    assert stream.with_watermark("5 s").source is stream.source
    with pytest.raises(FrozenInstanceError):
        stream.source.path = "elsewhere"


def test_a_script_reads_the_files_or_a_recording_of_the_rows():
    files = Files("orders/", "json")
    assert files.as_files("join_data/orders") is files
    assert Memory().as_files("join_data/orders") == Files("join_data/orders", "parquet")


@pytest.mark.parametrize("format_", FORMATS)
def test_the_users_options_come_before_those_that_the_format_needs(format_):
    assert Files("x", format_).reader_options.keys() == (
        {"header", "escape", "multiLine", "enforceSchema"} if format_ == "csv" else set()
    )
    options = Files("x", format_, options={"ESCAPE": "\\", "sep": ";"}).reader_options
    assert options.get("ESCAPE") == (None if format_ == "delta" else "\\")
    assert "escape" not in options


@pytest.mark.parametrize(
    "call",
    [
        lambda: wb.Stream.from_pandas(FRAME, "orders", "k", "t", "0 s", None),
        lambda: wb.Stream.from_files("x", "orders", "k", "t", "0 s", "csv"),
        lambda: wb.Stream.from_kafka("x", "orders", "k", "t", "0 s", "json"),
        lambda: wb.Stream.from_streaming(None, "orders", "k", "t", "0 s", 1.0),
        lambda: wb.Stream.from_arrow(None, "orders", "k", "t", "0 s", None),
    ],
)
def test_what_is_not_of_every_stream_is_given_by_name(call):
    with pytest.raises(TypeError, match="positional argument"):
        call()


class Message:
    """A message as the Kafka client gives it."""

    def __init__(self, value, headers=None):
        self._value, self._headers = value, headers

    def value(self):
        return self._value

    def headers(self):
        return self._headers

    def timestamp(self):
        return 1, 1_767_225_600_000


def _sample(messages):
    given = {"values": "json", "schema": None, "include": ("kafka_headers",)}
    return kafka.sample_table("", "orders", "t", messages=messages, **given)


@pytest.mark.parametrize("schema", [None, {"k": "string", "t": "string", "amount": "int64"}])
def test_a_column_that_the_first_message_lacks_is_kept(monkeypatch, schema):
    values = [b'{"k": "a", "t": "2026-01-01"}', b'{"k": "b", "t": "2026-01-02", "amount": 5}']
    monkeypatch.setattr(kafka, "newest_messages", lambda *_: [Message(value) for value in values])
    table, _ = kafka.sample_table("", "orders", "t", values="json", schema=schema, messages=2, include=())
    assert table.column("amount").to_pylist() == [None, 5]


def test_a_header_may_be_null(monkeypatch):
    message = Message(b'{"k": "a", "t": "2026-01-01"}', [("trace", None), ("id", b"7")])
    monkeypatch.setattr(kafka, "newest_messages", lambda *_: [message])
    table, _ = _sample(1)
    assert table.column("kafka_headers").to_pylist() == ['{"trace":null,"id":"7"}']


def test_headers_are_the_text_that_spark_makes_of_them(spark, monkeypatch):
    headers = [[("trace", "é".encode()), ("id", b"7"), ("trace", b"2"), ("none", None)], None]
    messages = [Message(b'{"k": "a", "t": "2026-01-01"}', each) for each in headers]
    monkeypatch.setattr(kafka, "newest_messages", lambda *_: messages)
    table, _ = _sample(2)
    rows = spark.createDataFrame([(each,) for each in headers], "headers array<struct<key string, value binary>>")
    made = rows.select(eval(kafka.KAFKA_COLUMNS["kafka_headers"].spark, {"F": F}).alias("headers")).collect()
    assert table.column("kafka_headers").to_pylist() == [row["headers"] for row in made]
    assert [row["headers"] for row in made] == ['{"trace":"2","id":"7","none":null}', None]
