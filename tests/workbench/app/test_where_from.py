"""Folders from a list, topics of Kafka, tables of Spark: chosen, with menus of their columns."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pandas as pd
import pytest
from page import Page
from topics import pour

import generators
import workbench as wb
from workbench.sources import folders, kafka

ALONE = "WORKBENCH_TEST_ALONE"
SIDES = generators.generate("orders_payments", events=60, seed=3)
FRAMES = [each.to_pandas().drop(columns="batch") for each in SIDES]


def same_rows(page):
    made = page.meant()
    page.open("Output")
    pd.testing.assert_frame_equal(page.table.df, made.output.head(len(page.table.df)))
    page.open("Timeline")
    return made


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for stream in SIDES:
        stream.write(tmp_path / "data" / stream.name)
    for name, frame in zip(("o", "p"), FRAMES, strict=True):
        (tmp_path / name).mkdir()
        frame.assign(arrived_at=frame.filter(like="_at").iloc[:, 0] + pd.Timedelta("2 s")).to_csv(
            tmp_path / name / "1.csv", index=False
        )
    return tmp_path


def test_folders_that_hold_files_of_a_known_format_are_listed(data):
    (data / "deep" / "er" / "and" / "deeper").mkdir(parents=True)
    (data / "deep" / "er" / "x.json").write_text("{}")
    (data / "deep" / "er" / "and" / "deeper" / "y.json").write_text("{}")
    (data / "_hidden").mkdir()
    (data / "_hidden" / "x.csv").write_text("a")
    (data / "both").mkdir()
    (data / "both" / "x.csv").write_text("a")
    (data / "both" / "x.json").write_text("{}")
    (data / "table" / "_delta_log").mkdir(parents=True)
    assert folders.with_files(data) == [
        "o", "p", "table", "data/orders", "data/payments", "both/x.csv", "both/x.json", "deep/er/x.json",
    ]  # fmt: skip
    (data / "loose.csv").write_text("a")
    assert "loose.csv" in folders.with_files(data)
    assert "1.csv" in folders.with_files(data / "o")
    kinds = {name: folders.format_of(data / name) for name in ("o", "table", "data/orders", "both", "nowhere", "deep")}
    assert kinds == {
        "o": "csv", "table": "delta", "data/orders": "parquet", "both": None, "nowhere": None, "deep": None,
    }  # fmt: skip


def test_a_folder_is_chosen_with_its_format_key_and_time(data):
    page = Page()
    page.set({"From": "files"})
    assert page.field("Left files").options == ("o", "p", "data/orders", "data/payments")
    page.set({"Left files": "data/orders", "Right files": "data/payments"})
    assert (page.value("Left files / Key"), page.value("Right files / Event time")) == ("order_id", "paid_at")
    made = same_rows(page)
    assert [each.table.num_rows for each in (made.left, made.right)] == [each.table.num_rows for each in SIDES]
    assert any("% of the keys of orders are on payments" in each for each in page.notes())


def test_files_with_a_time_of_arrival_are_cut_by_a_trigger_interval(data):
    page = Page()
    page.set({"From": "files", "Left files": "o"})
    assert page.value("Format") == "csv"
    page.set({"Right files": "p"})
    assert page.value("Left files / Arrival") == "arrived_at"
    page.set({"Trigger interval": "3 seconds"})
    assert same_rows(page).left.arrivals.trigger == pd.Timedelta("3 s")
    page.set({"Left files / Arrival": "not known"})
    assert "choose such a column here, too" in page.mark("Left files / Arrival")
    page.set({"Right files / Arrival": "not known"})
    assert same_rows(page).left.batch_count == 1


def test_keys_of_files_that_differ_in_type_are_marked(data):
    numbers = FRAMES[1].assign(order_id=range(len(FRAMES[1])))
    numbers.to_csv(data / "p" / "1.csv", index=False)
    page = Page()
    page.set({"From": "files", "Left files": "data/orders", "Right files": "p", "Right files / Key": "order_id"})
    assert "holds text" in page.mark("Right files / Key")


@pytest.mark.filterwarnings("ignore:.*; they are left out")  # which the page says, too
def test_times_of_files_written_in_another_way_are_read_on_demand_and_what_cannot_be_is_left_out(data):
    texts = FRAMES[0]["ordered_at"].dt.strftime("%d.%m.%Y %H:%M:%S").where(FRAMES[0].index != 3, "unknown")
    shutil.rmtree(data / "o")
    (data / "o").mkdir()
    FRAMES[0].assign(ordered_at=texts).to_csv(data / "o" / "0.csv", index=False)
    page = Page()
    page.set({"From": "files", "Left files": "o", "Left files / Arrival": "not known", "Right files": "data/payments"})
    page.set({"Right files / Arrival": "not known"} if page.value("Right files / Arrival") else {})
    assert page.mark("Left files / Event time").endswith("choose what to do")
    page.click("Read times as d.M.yyyy H:mm:ss")
    assert page.mark("Left files / Event time").startswith("1 of 60 records")
    page.click("Leave out 1 record")
    assert 'options={"timestampFormat": "d.M.yyyy H:mm:ss"}' in page.cell()
    assert 'malformed="drop"' in page.cell()
    with pytest.warns(UserWarning, match="1 of 60 records .* left out"):  # from the cell; the page has said so
        made = same_rows(page)
    assert len(made.left) == len(FRAMES[0]) - 1
    wanted = FRAMES[0]["ordered_at"].drop(3).dt.tz_localize(None).dt.floor("s").sort_values()
    assert list(pd.Series(made.left.event_times.astype("datetime64[us]")).sort_values()) == list(wanted)
    page.click("Take back: records that cannot be read are left out.")
    assert page.mark("Left files / Event time").startswith("1 of 60 records")


def test_tables_of_the_session_are_chosen(request):
    """In a process of its own: after other tests in one process the page has kept its first streams, and not said why."""
    if ALONE not in os.environ:
        words = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", request.node.nodeid]
        env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")} | {ALONE: "1"}
        done = subprocess.run(words, env=env, cwd=request.config.rootpath, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-3000:]
        return
    spark = request.getfixturevalue("spark")
    for name, frame in zip(("ours", "theirs"), FRAMES, strict=True):
        spark.createDataFrame(frame).createOrReplaceTempView(name)
    spark.readStream.format("rate").load().createOrReplaceTempView("streaming")
    try:
        page = Page()
        page.set({"From": "tables of Spark"})
        assert page.field("Left table").options == ("ours", "theirs")
        assert (page.marks(), page.said(), page.trouble) == ([], [], "")
        assert (page.value("Left table / Key"), page.value("Right table / Event time")) == ("order_id", "paid_at")
        made = same_rows(page)
        assert [len(made.left), len(made.right)] == list(map(len, FRAMES))
        assert 'wb.spark().table("ours")' in page.cell()
        texts = FRAMES[0].assign(ordered_at=FRAMES[0]["ordered_at"].dt.strftime("%d.%m.%Y %H:%M:%S"))
        spark.createDataFrame(texts).createOrReplaceTempView("ours")
        page.click("Look for tables")
        assert page.mark("Left table / Event time") == "ordered_at holds text; read it as times"
        page.click("Parse as day.month.year hour:minute:second")
        assert len(same_rows(page).left) == len(texts)
        spark.catalog.dropTempView("ours")
        page.click("Look for tables")
        assert page.field("Left table").options == ("theirs",)
    finally:
        for name in ("ours", "theirs", "streaming"):
            spark.catalog.dropTempView(name)


def test_without_a_table_there_is_one_sentence(spark):
    page = Page()
    page.set({"From": "tables of Spark"})
    assert "createOrReplaceTempView" in page.mark("Left table")
    assert not page.usable("Key")


class Message:
    """A message of a topic, as the client gives it."""

    def __init__(self, row, number):
        self._row, self._number = row, number

    def value(self):
        return json.dumps(self._row, default=str).encode()

    def timestamp(self):
        return 1, 1_767_261_600_000 + self._number * 500


@pytest.fixture
def topics(monkeypatch):
    """Topics of a broker that is not there."""
    held = dict(zip(("orders", "payments"), FRAMES, strict=True))
    messages = {
        name: [Message(row, n) for n, row in enumerate(frame.to_dict("records"))] for name, frame in held.items()
    }

    def newest(brokers, topic, count):
        if brokers != "here:9092":
            raise wb.ArgumentError("brokers: got 'gone'; no Kafka broker answers there")
        return messages[topic][-count:]

    monkeypatch.setattr(kafka, "newest_messages", newest)
    monkeypatch.setattr(kafka, "topics", lambda brokers: newest(brokers, "orders", 1) and sorted(messages))


def test_topics_are_listed_by_a_button_and_cut_by_a_trigger_interval(topics):
    page = Page()
    page.set({"From": "Kafka topics"})
    assert "name Kafka's servers" in page.mark("Servers")
    page.set({"Servers": "gone"})
    page.click("List topics")
    assert any("no Kafka broker answers" in text for text in page.said())
    page.set({"Servers": "here:9092"})
    page.click("List topics")
    assert page.field("Left topic").options == ("orders", "payments")
    assert (page.value("Left topic / Key"), page.value("Right topic / Event time")) == ("order_id", "paid_at")
    page.set({"Trigger interval": "5 seconds"})
    made = same_rows(page)
    assert made.left.arrivals.trigger == pd.Timedelta("5 s")
    assert [len(made.left), len(made.right)] == list(map(len, FRAMES))
    assert "wb.Stream.from_kafka" in page.cell()
    page.set({"Trigger interval": "0 s"})
    assert page.mark("Trigger interval")


def test_topics_of_a_real_broker(spark, broker):
    for side in SIDES:
        pour(broker, f"page-{side.name}", side, 10)
    page = Page()
    page.set({"From": "Kafka topics", "Servers": broker.brokers})
    page.click("List topics")
    assert not [each for each in page.field("Left topic").options if each.startswith("__")]
    page.set({"Left topic": "page-orders", "Right topic": "page-payments"})
    made = same_rows(page)
    assert made.left.table.num_rows == SIDES[0].table.num_rows
