"""Streams of some keys: their rows have the fates that they have among all, and the rule is that of `wb.open_job`."""

from __future__ import annotations

import json
import os
from contextlib import suppress

import deltalake
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import functions as F
from topics import pour

import workbench as wb
from workbench.sources.key_choice import Choice
from workbench.streams import chosen

INTERVAL = wb.IntervalJoin("0 s", "10 s", how="left")
JOINS = [INTERVAL, wb.IntervalJoin("0 s", "10 s"), wb.WindowJoin(wb.Tumbling("10 s"), how="full")]


def rows_of(seed, count=300, batches=8, nulls=0.05):
    """Rows of a side by micro-batch, some late, some without key; each has a number of its own."""
    draw = np.random.default_rng(seed)
    place = np.arange(count)
    late = np.where(draw.random(count) < 0.15, draw.uniform(20, 60, count), draw.uniform(0, 8, count))
    at = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.round(place * 0.5 - late, 3), unit="s")
    keys = [None if draw.random() < nulls else f"k{draw.integers(40)}" for _ in place]
    return pd.DataFrame({"k": keys, "t": at, "n": place, "batch": place * batches // count})


def put(frame, folder, kind):
    """A file for each micro-batch."""
    folder.mkdir(parents=True)
    for number, rows in frame.groupby("batch"):
        rows, file = rows.drop(columns="batch"), folder / f"{number}.{kind}"
        if kind == "parquet":
            schema = pa.schema([("k", pa.string()), ("t", pa.timestamp("us", "UTC")), ("n", pa.int64())])
            pq.write_table(
                pa.Table.from_pandas(rows.assign(t=rows.t.dt.tz_localize("UTC")), schema, preserve_index=False), file
            )
        elif kind == "csv":
            rows.to_csv(file, index=False, date_format="%Y-%m-%dT%H:%M:%S.%fZ")
        else:
            told = rows.assign(t=rows.t.dt.strftime("%Y-%m-%dT%H:%M:%S.%fZ")).to_dict("records")
            file.write_text("\n".join(map(json.dumps, told)))
        os.utime(file, (1_000 + number, 1_000 + number))
    return folder


def read(folder, kind, name, **chosen):
    schema = {"k": "string", "t": "timestamp[us]", "n": "int64"}
    return wb.Stream.from_files(folder, name, "k", "t", "5 s", format=kind, schema=schema, **chosen)


def fates(result, keys=None):
    """The fate of each row, by its side and its number."""
    rows = result.rows
    rows["k"] = rows.k.astype(object).where(rows.k.notna(), None)
    mine = rows if keys is None else rows[[each in keys for each in rows.k]]
    return dict(zip(zip(mine.side, mine.n, strict=True), mine.fate, strict=True))


def taken(*streams):
    return {None if pd.isna(key) else key for each in streams for key in each.to_pandas().k}


@pytest.mark.parametrize("kind", ["parquet", "json", "csv"])
def test_rows_of_a_sample_of_files_have_the_fates_of_the_whole(tmp_path, kind):
    sides = [put(rows_of(seed), tmp_path / name, kind) for seed, name in ((1, "one"), (2, "two"))]
    whole = [read(folder, kind, folder.name) for folder in sides]
    some = [read(folder, kind, folder.name, sample=0.3) for folder in sides]
    keys = taken(*some)
    assert 3 <= len(keys) < 30
    assert all(len(one) < len(other) / 2 for one, other in zip(some, whole, strict=True))
    assert [each.batch_count for each in some] == [8, 8]
    for join in JOINS:
        expected = fates(wb.preview(join, *whole), keys)
        assert fates(wb.preview(join, *some)) == expected
        assert "late" in set(expected.values())
    assert taken(*(read(folder, kind, folder.name, keys=["k3", "k5"]) for folder in sides)) == {"k3", "k5"}


def test_spark_gives_a_sample_the_fates_of_the_model(tmp_path):
    sides = [put(rows_of(seed), tmp_path / name, "parquet") for seed, name in ((1, "one"), (2, "two"))]
    some = [read(folder, "parquet", folder.name, sample=0.3) for folder in sides]
    for join in JOINS[:2]:  # one that drops rows with a null key first, and one that does not
        run = wb.run(join, *some)
        assert run.mismatches.empty, run.mismatches.to_string()
        assert fates(run) == fates(
            wb.preview(join, *(read(each, "parquet", each.name) for each in sides)), taken(*some)
        )
    wb.recording.save(tmp_path / "saved", *some)
    again = wb.recording.load(tmp_path / "saved")
    for one, other in zip(some, again, strict=True):
        assert (one.newest == other.newest).all()
        assert (one.newest_keyed == other.newest_keyed).all()
    assert fates(wb.preview(INTERVAL, *again)) == fates(wb.preview(INTERVAL, *some))
    with pytest.raises(wb.ArgumentError, match="run: the rows of one are a part of those that its watermarks are of"):
        wb.export(run, tmp_path / "job")


def test_a_streaming_frame_is_sampled_by_the_rule_of_files(spark, tmp_path):
    sides = [put(rows_of(seed), tmp_path / name, "parquet") for seed, name in ((1, "one"), (2, "two"))]
    made = spark.newSession()
    made.conf.set("spark.sql.session.timeZone", "UTC")

    def stream(folder, **chosen):
        frame = made.readStream.schema("k string, t timestamp, n long").option("maxFilesPerTrigger", 1)
        for seconds in (6, 20, 60):  # however slow the machine is
            with suppress(wb.DataError):  # it brought no rows
                rows = frame.parquet(str(folder))
                return wb.Stream.from_streaming(rows, folder.name, "k", "t", "5 s", seconds=seconds, **chosen)
        raise AssertionError("it brought no rows in a minute")

    some = [stream(folder, sample=0.3) for folder in sides]
    expected = [read(folder, "parquet", folder.name, sample=0.3) for folder in sides]
    for one, other in zip(some, expected, strict=True):
        count = len(one.newest)  # as many micro-batches as there was time for
        assert count
        kept = other.to_pandas()
        assert one.to_pandas().n.tolist() == kept[kept.batch < count].n.tolist()
        assert (one.newest == other.newest[:count]).all()
        assert (one.newest_keyed == other.newest_keyed[:count]).all()
    if all(len(one.newest) == len(other.newest) for one, other in zip(some, expected, strict=True)):
        assert fates(wb.preview(INTERVAL, *some)) == fates(wb.preview(INTERVAL, *expected))


def test_a_topic_is_sampled_by_the_rule_of_files(broker, tmp_path):
    made, some, expected = [], [], []
    for seed, name in ((1, "sampled-one"), (2, "sampled-two")):
        rows = rows_of(seed)
        whole = wb.Stream.from_pandas(rows.drop(columns="batch"), name, "k", "t", "5 s")
        pour(broker, name, whole, 40)
        given_ = {"key": "k", "time": "t", "watermark": "5 s", "max_offsets": 40, "messages": 300}
        made.append(wb.Stream.from_kafka(broker.brokers, name, **given_))
        some.append(wb.Stream.from_kafka(broker.brokers, name, **given_, sample=0.3))
        expected.append(read(put(rows, tmp_path / name, "parquet"), "parquet", name, sample=0.3))
    for one, other in zip(some, expected, strict=True):
        assert one.to_pandas().n.tolist() == other.to_pandas().n.tolist()
    assert [each.batch_count for each in some] == [8, 8]
    for join in JOINS:
        assert fates(wb.preview(join, *some)) == fates(wb.preview(join, *made), taken(*some))
    with pytest.raises(wb.ArgumentError, match=r"trigger: got '1 s'; the micro-batches of a sample"):
        wb.Stream.from_kafka(broker.brokers, "sampled-one", "k", "t", trigger="1 s", keys=["k1"])


def test_a_delta_table_is_sampled_by_the_rule_of_files(tmp_path):
    rows = rows_of(1)
    schema = pa.schema([("k", pa.string()), ("t", pa.timestamp("us", "UTC")), ("n", pa.int64())])
    told = rows.drop(columns="batch").assign(t=rows.t.dt.tz_localize("UTC"))
    deltalake.write_deltalake(str(tmp_path / "table"), pa.Table.from_pandas(told, schema, preserve_index=False))
    some = wb.Stream.from_files(tmp_path / "table", "one", "k", "t", "5 s", format="delta", sample=0.3)
    expected = read(put(rows, tmp_path / "one", "parquet"), "parquet", "one", sample=0.3)
    assert sorted(some.to_pandas().n) == sorted(expected.to_pandas().n)
    assert some.newest.tolist() == [expected.newest.max()]


def test_a_key_stands_for_a_number_and_for_its_text(tmp_path):
    """Spark failed at the first text that is no number, with a sentence about `try_cast`."""
    folder = put(
        rows_of(1).assign(k=[str(each % 5) if each % 7 else "x" for each in range(len(rows_of(1)))]),
        tmp_path / "one",
        "parquet",
    )
    schema = {"k": "string", "t": "timestamp[us]", "n": "int64"}

    def taken_of(column, *keys):
        made = wb.Stream.from_files(folder, "one", column, "t", "5 s", format="parquet", schema=schema, keys=[*keys])
        return sorted(made.to_pandas()[column].astype(str))

    assert taken_of("k", 3) == taken_of("k", "3")
    assert set(taken_of("k", 3)) == {"3"}
    n = int(pd.read_parquet(folder)["n"].iloc[0])
    assert taken_of("n", n) == taken_of("n", str(n)) != []
    with pytest.raises(wb.ArgumentError) as raised:
        taken_of("n", "b7")
    assert str(raised.value) == "keys: got 'b7'; key column 'n' holds numbers: give numbers"


def test_records_that_cannot_be_read_move_no_watermark(tmp_path):
    folder = tmp_path / "one"
    folder.mkdir()
    lines = ["k,t,n", "a,2026-01-01T00:00:01Z,1", "b,2026-01-01T09:00:00Z,no number", "b,2026-01-01T00:00:05Z,2"]
    (folder / "1.csv").write_text("\n".join(lines))
    with pytest.warns(UserWarning, match="1 of 3 records"):
        some = read(folder, "csv", "one", keys=["a"], malformed="drop")
    assert some.to_pandas().n.tolist() == [1]
    assert some.newest.tolist() == [pd.Timestamp("2026-01-01T00:00:05").value // 1000]


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 10_000),
    sample=st.floats(0.05, 0.95),
    nulls=st.sampled_from([0.0, 0.3]),
    join=st.sampled_from(JOINS),
)
def test_any_sample_has_the_fates_of_the_whole(spark, seed, sample, nulls, join):
    made = [
        wb.Stream.from_pandas(rows_of(seed + place, 60, 5, nulls), name, "k", "t", "5 s", batch="batch")
        for place, name in enumerate(("one", "two"))
    ]
    some = [chosen(each, None, Choice(None, sample)) for each in made]
    assert fates(wb.preview(join, *some)) == fates(wb.preview(join, *made), taken(*some))


def test_wrong_choices(tmp_path, spark):
    folder = put(rows_of(1, 20, 2), tmp_path / "one", "parquet")
    for given_, words in (
        ({"sample": 0}, r"sample: got 0; give the share of the keys as a number above 0, at most 1"),
        ({"sample": True}, r"sample: got True"),
        ({"keys": "k1"}, r"keys: got 'k1'; give a list of key values"),
        ({"keys": []}, r"keys: got \[\]; give at least one key"),
        ({"keys": [("a", "b")]}, r"keys: got \('a', 'b'\); the key has 1 column: give a value for each key"),
        (
            {"sample": 0.5, "trigger": "10 s"},
            r"trigger: got '10 s'; the micro-batches of a sample are those of all rows",
        ),
    ):
        with pytest.raises(wb.ArgumentError, match=words):
            wb.Stream.from_files(folder, "one", "k", "t", "5 s", **given_)
    with pytest.raises(wb.ArgumentError, match="key: got 'nobody'; one has no such column"):
        wb.Stream.from_files(folder, "one", "nobody", "t", sample=0.5)
    frame = spark.readStream.format("rate").load().withColumn("k", F.rand())
    with pytest.raises(wb.ArgumentError, match=r"sample: got 0\.5; key column 'k' holds double values"):
        wb.Stream.from_streaming(frame, "rate", "k", "timestamp", sample=0.5)
