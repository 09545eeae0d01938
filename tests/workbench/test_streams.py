"""Streams from frames and files, and what is said of those that are wrong."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import workbench as wb

FRAME = pd.DataFrame(
    {
        "id": ["a", "b", None],
        "at": pd.to_datetime(["2026-01-01 10:00:00", "2026-01-01 10:00:01.5", "2026-01-01 10:00:02"], format="ISO8601"),
        "price": [1.5, None, 3.0],
        "count": pd.array([1, None, 3], "Int64"),
        "batch": [0, 1, 1],
    }
)


def make(frame=FRAME, **changes):
    return wb.Stream.from_pandas(frame, **({"name": "orders", "key": "id", "time": "at"} | changes))


def test_rows_come_back_as_they_went_in():
    stream = make(batch="batch", watermark="5 seconds")
    pd.testing.assert_frame_equal(stream.to_pandas()[list(FRAME)], FRAME.astype({"id": object}), check_dtype=False)
    assert repr(stream) == ("<Stream orders: 3 rows in 2 micro-batches, key 'id', time 'at', watermark '5 seconds'>")


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin", "America/New_York"])
def test_time_zones_are_kept(spark, zone):
    at = FRAME["at"] if zone is None else FRAME["at"].dt.tz_localize("UTC").dt.tz_convert(zone)
    frame = FRAME.assign(at=at)
    run = wb.run(wb.WindowJoin(wb.Tumbling("10 seconds")), make(frame), make(frame, name="payments"))
    for column in ("left_at", "right_at", "window_start"):
        assert str(run.output[column].dt.tz) == str(zone)
    assert run.output["left_at"].tolist() == at[:2].tolist()
    assert str(run.batches["watermark"].dt.tz) == str(zone)


def test_nanoseconds_are_cut_towards_the_past():
    at = pd.Series(np.array([1, 999, 1000, -1], dtype="datetime64[ns]"))
    assert make(pd.DataFrame({"id": list("abcd"), "at": at})).event_times.tolist() == [0, 0, 1, -1]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": ""}, "name: got ''"),
        ({"name": 5}, "name: got 5"),
        ({"key": "nope"}, "key: got 'nope'; orders has no such column; it has 'id', 'at'"),
        ({"key": []}, "key: got []"),
        ({"key": ["id", "id"]}, "key: got ['id', 'id']; name each key column once"),
        ({"time": "nope"}, "time: got 'nope'"),
        ({"time": "price"}, "time: got column 'price' of orders, which holds floating-point number values"),
        ({"watermark": "-5 seconds"}, "watermark: got '-5 seconds'"),
        ({"watermark": "1500 us"}, "watermark: got '1500 us'; Spark keeps watermarks in milliseconds"),
        ({"batch": "id"}, "batch: got column 'id' of orders"),
        ({"batch": "nope"}, "batch: got 'nope'"),
        ({"frame": FRAME.assign(batch=[0, -1, 1]), "batch": "batch"}, "batch: got micro-batch -1"),
        (
            {"frame": FRAME.assign(at=FRAME["at"].where(FRAME["price"].notna()))},
            "time: column 'at' of orders is missing in 1 of 3",
        ),
        ({"frame": FRAME.assign(id=[1, "a", None])}, "frame: a column of orders holds values of several types"),
        ({"frame": FRAME.assign(ID="x")}, "frame: orders has columns 'id' and 'ID', which are one to Spark"),
        ({"frame": FRAME.rename(columns={"price": 5})}, "frame: orders has a column named 5"),
        ({"frame": FRAME.assign(price=pd.to_timedelta(1, "s"))}, "frame: column 'price' of orders has type duration"),
        ({"frame": [1, 2]}, "frame: got 'list'; give a pandas DataFrame"),
        ({"frame": FRAME.assign(at=pd.Timestamp("2262-01-01"))}, "time: column 'at' of orders goes beyond 2261"),
    ],
)
def test_wrong_frames(changes, words):
    with pytest.raises(wb.WorkbenchError) as raised:
        make(**changes)
    assert str(raised.value).startswith(words)
    assert "\n" not in str(raised.value)


def test_sides_must_fit():
    whole = make(FRAME.assign(id=[1, 2, 3]), name="payments")
    two = make(key=["id", "count"], name="payments")
    join = wb.IntervalJoin("0 s", "1 s")
    with pytest.raises(
        wb.ArgumentError, match="key: got 'id' of orders, which holds text values, and 'id' of payments"
    ):
        wb.run(join, make(), whole)
    with pytest.raises(wb.ArgumentError, match="give both sides the same number of key columns"):
        wb.run(join, make(), two)
    with pytest.raises(wb.ArgumentError, match="right: got 'DataFrame'"):
        wb.run(join, make(), FRAME)
    with pytest.raises(wb.ArgumentError, match="join: got 'inner'"):
        wb.run("inner", make(), make())
    with pytest.raises(wb.ArgumentError, match="finish: got 'yes'"):
        wb.run(join, make(), make(), finish="yes")
    with pytest.raises(wb.ArgumentError, match="policy: got 'mean'"):
        wb.run(join, make(), make(), policy="mean")


def folder(path, kind, parts):
    """Files of a kind, one a part; modification times run against the names."""
    path.mkdir()
    for number, part in enumerate(parts):
        file = path / f"{9 - number}.{kind}"
        if kind == "parquet":
            part.astype({"id": "string"}).to_parquet(file)
        elif kind == "csv":
            part.to_csv(file, index=False)
        else:
            part.to_json(file, orient="records", lines=True, date_format="iso", date_unit="us")
        os.utime(file, (1000 + number, 1000 + number))
    return path


@pytest.mark.parametrize("kind", ["parquet", "csv", "json"])
def test_files_are_micro_batches_in_order_of_modification(tmp_path, kind):
    rows = FRAME.drop(columns="batch")
    path = folder(tmp_path / "in", kind, [rows[:1], rows[1:2], rows[2:]])
    stream = wb.Stream.from_files(path, name="orders", key="id", time="at", format=kind)
    assert stream.arrival.tolist() == [0, 1, 2]
    assert stream.to_pandas()["id"].tolist() == ["a", "b", None]
    assert stream.event_times.tolist() == (FRAME["at"].astype("int64") // 1000).tolist()
    assert wb.Stream.from_files(path, name="o", key="id", time="at", format=kind, max_files=2).arrival.tolist() == [
        0,
        0,
        1,
    ]


def test_a_schema_chooses_and_converts(tmp_path):
    path = folder(tmp_path / "in", "csv", [FRAME.assign(id=["01", "02", "03"])])
    schema = {"id": "string", "at": "timestamp[us]"}
    stream = wb.Stream.from_files(path, name="orders", key="id", time="at", format="csv", schema=schema)
    assert stream.columns == ["id", "at"]
    assert stream.to_pandas()["id"].tolist() == ["01", "02", "03"]
    for wrong in ("id string", {"id": "no such type"}):
        with pytest.raises(wb.ArgumentError, match="schema: got"):
            wb.Stream.from_files(path, name="orders", key="id", time="at", format="csv", schema=wrong)
    with pytest.raises(wb.DataError, match="schema: "):
        wb.Stream.from_files(path, name="o", key="id", time="at", format="csv", schema=pa.schema([("x", pa.int64())]))


def test_wrong_files(tmp_path):
    def read(path, **more):
        return wb.Stream.from_files(path, **({"name": "orders", "key": "id", "time": "at"} | more))

    empty = tmp_path / "empty"
    empty.mkdir()
    lies = tmp_path / "lies"
    lies.mkdir()
    (lies / "a.parquet").write_text("id,at\n1,2\n")
    cases = [
        (tmp_path / "none", {}, "path: got '.*none'; there is no such folder"),
        (empty, {}, "path: got '.*empty'; the folder has no files; put Parquet files into it"),
        (lies, {}, "path: .*a.parquet is not a Parquet file"),
        (lies, {"format": "json"}, "path: no file in .* has a record in JSON"),
        (lies / "a.parquet", {}, "that is a file; give the folder"),
        (lies, {"format": "xml"}, "format: got 'xml'; use one of 'parquet', 'json', 'csv', 'delta'"),
        (lies, {"format": "csv"}, "time: got column 'at' of orders, which holds whole number values"),
        (lies, {"max_files": 0}, "max_files: got 0"),
    ]
    for path, more, words in cases:
        with pytest.raises(wb.WorkbenchError, match=words):
            read(path, **more)


def test_files_that_differ(tmp_path):
    path = tmp_path / "in"
    path.mkdir()
    pq.write_table(pa.table({"id": ["a"], "at": pa.array([0], pa.timestamp("us"))}), path / "a.parquet")
    pq.write_table(pa.table({"id": [[1]], "at": pa.array([0], pa.timestamp("us"))}), path / "b.parquet")
    with pytest.raises(wb.DataError, match="differ in their columns"):
        wb.Stream.from_files(path, name="orders", key="id", time="at")


def test_frames_that_are_no_pandas_frames_are_named():
    table = pa.table({"k": ["a"], "t": [pd.Timestamp("2026-01-01")]})
    with pytest.raises(wb.ArgumentError, match=r"frame: got 'a Table of pyarrow'; .*: frame\.to_pandas\(\)"):
        wb.Stream.from_pandas(table, "orders", "k", "t")
    with pytest.raises(wb.ArgumentError, match="frame: got 'list'"):
        wb.Stream.from_pandas([], "orders", "k", "t")


def test_a_time_that_is_the_index_is_named():
    frame = pd.DataFrame({"k": ["a"], "t": [pd.Timestamp("2026-01-01")]}).set_index("t")
    with pytest.raises(wb.ArgumentError, match=r"time: got 't'; it is the frame's index.*reset_index\(\)"):
        wb.Stream.from_pandas(frame, "orders", "k", "t")
