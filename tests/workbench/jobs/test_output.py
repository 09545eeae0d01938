"""What a job put out, held against what the model says that it must have."""

from __future__ import annotations

import json
from pathlib import Path

import jobs
import pytest
import written
from pyspark.sql import functions as F

import workbench as wb

WHAT = "rows that the job put out"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return jobs.put(jobs.recorded(seed=3), tmp_path_factory.mktemp("output"))


def projected(orders, payments):
    """A filter, a projection and a value of the moment above a join."""
    joined = written.guide_outer(orders, payments).where("amount > 20 AND (paid IS NULL OR paid < 60)")
    return joined.select(
        F.col("order_id").alias("who"),
        F.upper("order_id").alias("name"),
        "order_no",
        "payment_no",
        F.col("ordered_at"),
        (F.col("amount") - F.coalesce("paid", F.lit(0.0))).alias("open"),
        F.current_timestamp().alias("written_at"),
    )


def ran(joined, home, kind="parquet", **options):
    """A job that ran with Spark's file sink: its checkpoint, and its output."""
    writer = joined.writeStream.format(kind).options(**options).option("checkpointLocation", f"{home}/checkpoint")
    writer = writer.partitionBy("who") if options.get("who") else writer
    query = writer.trigger(availableNow=True).start(f"{home}/out")
    query.awaitTermination()
    return f"{home}/checkpoint", f"{home}/out"


def line(job):
    [found] = [each for each in job.comparison.to_dict("records") if each["what"].startswith(WHAT)]
    return found


@pytest.fixture(scope="module")
def done(session, folder, tmp_path_factory):
    joined = projected(*jobs.streams(session, folder))
    return joined, *ran(joined, tmp_path_factory.mktemp("projected"))


def test_a_filter_and_a_projection_above_the_join(session, done):
    joined, checkpoint, out = done
    found = line(wb.open_job(joined, checkpoint, output=out))
    count = session.read.parquet(out).count()
    assert count > 10
    assert (found["model"], found["spark"], found["differences"]) == (count, count, 0)
    assert found["what"] == (
        f"{WHAT}, by micro-batch, by their who, name, order_no, payment_no, ordered_at, open; not compared: written_at"
    )
    assert wb.open_job(joined, checkpoint, output=Path(out)).mismatches.empty
    assert not any(what.startswith(WHAT) for what in wb.open_job(joined, checkpoint).comparison.what)


def test_an_output_that_was_tampered_with(session, done):
    joined, checkpoint, out = done
    rows = session.read.parquet(out)
    one = rows.where("payment_no IS NOT NULL").first().order_no
    changed = rows.withColumn("open", F.when(F.col("order_no") == one, 7.25).otherwise(F.col("open")))
    [mismatch] = wb.open_job(joined, checkpoint, output=changed).mismatches.to_dict("records")
    assert mismatch["differences"] % 2 == 0
    assert '"open":7.25' in mismatch["examples"]
    for other, differences in (
        (rows.where(f"order_no <> {one}"), rows.where(f"order_no = {one}").count()),
        (rows.union(rows.where(f"order_no = {one}")), rows.where(f"order_no = {one}").count()),
    ):
        job = wb.open_job(joined, checkpoint, output=other)
        assert line(job)["differences"] == differences
    assert line(wb.open_job(joined, checkpoint, output=rows))["differences"] == 0


def test_rows_with_their_micro_batch(session, done):
    joined, checkpoint, out = done
    files = {}
    for log in sorted(Path(out, "_spark_metadata").iterdir()):
        if log.name.isdigit():
            for text in log.read_text().splitlines()[1:]:
                files[json.loads(text)["path"].rpartition("/")[2]] = int(log.name)
    numbers = session.createDataFrame(list(files.items()), "file string, batch_id int")
    rows = session.read.parquet(out).withColumn("file", F.element_at(F.split("_metadata.file_path", "/"), -1))
    rows = rows.join(numbers, "file").drop("file")
    found = line(wb.open_job(joined, checkpoint, output=rows))
    assert (found["differences"], "by micro-batch" in found["what"]) == (0, True)
    late = rows.withColumn(
        "batch_id", F.when(F.col("order_no") < 9, F.col("batch_id") + 1).otherwise(F.col("batch_id"))
    )
    assert line(wb.open_job(joined, checkpoint, output=late))["differences"] > 0


@pytest.mark.family("an output is compared")
def test_a_part_of_the_keys(session, done):
    joined, checkpoint, out = done
    whole = line(wb.open_job(joined, checkpoint, output=out))
    counts = []
    for key in ("a", "b", "c"):
        found = line(wb.open_job(joined, checkpoint, keys=[key], output=out))
        assert found["differences"] == 0
        assert found["model"] == found["spark"] > 0
        counts.append(found["model"])
    assert sum(counts) <= whole["model"]
    assert line(wb.open_job(joined, checkpoint, sample=0.5, output=out))["differences"] == 0


@pytest.mark.family("an output is compared")
@pytest.mark.drawn(1)
@pytest.mark.parametrize("write", [written.guide_inner, written.full, written.columns], ids=lambda each: each.__name__)
def test_a_key_of_either_side(session, folder, tmp_path, write):
    joined = write(*jobs.streams(session, folder))
    checkpoint, out = ran(joined, tmp_path)
    for chosen in ({}, {"keys": ["a"]}):
        found = line(wb.open_job(joined, checkpoint, output=out, **chosen))
        assert (found["differences"], found["model"] > 0) == (0, True)


@pytest.mark.family("an output is compared")
def test_no_key_in_the_output(session, folder, tmp_path):
    joined = written.guide_inner(*jobs.streams(session, folder)).select("order_no", "payment_no")
    checkpoint, out = ran(joined, tmp_path)
    assert line(wb.open_job(joined, checkpoint, output=out))["differences"] == 0
    job = wb.open_job(joined, checkpoint, output=out, keys=["a"])
    [found] = job.comparison.to_dict("records")[-1:]
    assert found["what"] == WHAT
    assert found["examples"] == "not compared: some keys are taken, and the key is not among its columns"
    assert job.comparison.differences.isna().tolist()[-1]
    assert job.mismatches.empty


@pytest.mark.family("an output is compared")
@pytest.mark.drawn(2)
@pytest.mark.parametrize(("kind", "options"), [("json", {}), ("csv", {}), ("csv", {"header": "true"}), ("orc", {})])
def test_other_formats(session, folder, tmp_path, kind, options):
    joined = projected(*jobs.streams(session, folder)).drop("written_at")
    checkpoint, out = ran(joined, tmp_path, kind, **options)
    found = line(wb.open_job(joined, checkpoint, output=out))
    assert (found["differences"], found["model"] > 10) == (0, True), found["examples"]


@pytest.mark.family("an output is compared")
@pytest.mark.parametrize("kind", ["parquet", "json"])
def test_partitions(session, folder, tmp_path, kind):
    joined = projected(*jobs.streams(session, folder)).where("who IS NOT NULL").drop("written_at")
    checkpoint, out = ran(joined, tmp_path, kind, who="x")
    found = line(wb.open_job(joined, checkpoint, output=out))
    assert (found["examples"], found["differences"]) == ("", 0)
    assert "who" in found["what"]
    assert found["model"] > 10


@pytest.mark.drawn(2)
@pytest.mark.parametrize(
    "write", [written.sliding, written.tumbling_semi, written.anti, written.static_lookup, written.exploded]
)
def test_joins_of_other_kinds(session, folder, tmp_path, write):
    joined = write(*jobs.streams(session, folder))
    checkpoint, out = ran(joined, tmp_path)
    found = line(wb.open_job(joined, checkpoint, output=out))
    assert (found["differences"], found["model"] > 0) == (0, True), found["examples"]


@pytest.mark.drawn(1)
@pytest.mark.parametrize("compact", ["2", "100"])
def test_only_the_last_micro_batches_are_kept(spark, folder, tmp_path, compact):
    session = spark.newSession()
    for name, value in (
        ("spark.sql.shuffle.partitions", "1"),
        ("spark.sql.streaming.minBatchesToRetain", "2"),
        ("spark.sql.streaming.fileSink.log.compactInterval", compact),
        ("spark.sql.streaming.fileSink.log.cleanupDelay", "1ms"),
    ):
        session.conf.set(name, value)
    joined = projected(*jobs.streams(session, folder))
    checkpoint, out = ran(joined, tmp_path)
    job = wb.open_job(joined, checkpoint, output=out)
    assert job.batches.batch[0] > 0
    found = line(job)
    assert (found["differences"], found["model"] > 0) == (0, True), found["examples"]
    assert ("by micro-batch" in found["what"]) == (compact == "100")
    assert ("left out by when their files were written" in found["what"]) == (compact == "2")
    whole = session.read.parquet(out)
    assert found["spark"] < whole.count()
    unknown = line(wb.open_job(joined, checkpoint, output=whole))
    assert unknown["differences"] is None or unknown["examples"].startswith("not compared: which of its rows came out")


def test_what_is_above_the_join_and_keeps_state(session, folder, tmp_path):
    joined = written.deduplicated_after(*jobs.streams(session, folder))
    checkpoint, out = ran(joined, tmp_path)
    found = line(wb.open_job(joined, checkpoint, output=out))
    assert found["examples"] == (
        "not compared: above the join there is dropDuplicatesWithinWatermark, of which the model says nothing"
    )


def test_filters_that_cannot_be_repeated(session, folder, tmp_path):
    joined = written.guide_inner(*jobs.streams(session, folder)).where("ordered_at < current_timestamp()")
    checkpoint, out = ran(joined, tmp_path)
    found = line(wb.open_job(joined, checkpoint, output=out))
    assert found["examples"].startswith("not compared: above the join there is a filter by the time of day")
    drawn = written.guide_inner(*jobs.streams(session, folder)).where("rand() >= 0")
    found = line(wb.open_job(drawn, checkpoint, output=out))
    assert found["examples"].startswith("not compared: above the join there is a filter by columns whose values")


def test_groups_are_not_compared(session, folder, tmp_path):
    joined = written.tumbling_cogroup(*jobs.streams(session, folder))
    checkpoint, out = ran(joined, tmp_path)
    found = line(wb.open_job(joined, checkpoint, output=out))
    assert found["examples"].startswith("not compared: the join is written as groups")


def test_wrong_outputs(session, done, tmp_path):
    joined, checkpoint, _ = done
    for wrong, words in (
        (7, "output: got 7; give the folder that the job's file sink writes"),
        (joined, "output: got .*; give the folder"),
        (str(tmp_path / "none"), "there is no such folder"),
        (str(tmp_path), "it has no _spark_metadata and no _delta_log"),
    ):
        with pytest.raises(wb.ArgumentError, match=words):
            wb.open_job(joined, checkpoint, output=wrong)
    other = session.createDataFrame([(1,)], "x int")
    assert line(wb.open_job(joined, checkpoint, output=other))["examples"] == (
        "not compared: it has no column of the job's output whose values are known"
    )


@pytest.mark.family("an output is compared")
def test_a_key_that_is_one_column_of_both_sides(session, folder, tmp_path):
    orders, payments = written.marked(*jobs.streams(session, folder))
    orders = orders.select("order_id", F.window("ordered_at", "5 seconds").alias("w"), "order_no")
    payments = payments.select(
        F.col("oid").alias("order_id"), F.window("paid_at", "5 seconds").alias("w"), "payment_no"
    )
    joined = orders.join(payments, ["order_id", "w"], "full")
    checkpoint, out = ran(joined, tmp_path)
    for chosen in ({}, {"keys": ["b"]}):
        found = line(wb.open_job(joined, checkpoint, output=out, **chosen))
        assert (found["examples"], found["differences"]) == ("", 0)
        assert found["model"] > 0
        assert found["what"].endswith("by their order_id, w, order_no, payment_no")


def test_a_table_that_spark_cannot_read(done, tmp_path):
    joined, checkpoint, _ = done
    (tmp_path / "_delta_log").mkdir()
    job = wb.open_job(joined, checkpoint, output=tmp_path)
    assert line(job)["examples"].startswith("not compared: ")
    assert job.comparison.differences.isna().tolist()[-1]


def test_the_window_of_an_aggregate_in_an_interval_join(session, folder, tmp_path):
    """It is a column of its side, as the join itself has no windows."""
    orders, payments = jobs.streams(session, folder)
    window = F.window("ordered_at", "10 seconds").alias("w")
    counted = orders.withWatermark("ordered_at", "5 seconds").groupBy(window, F.col("order_id").alias("who")).count()
    payments = payments.withWatermark("paid_at", "5 seconds")
    within = "who = oid AND paid_at BETWEEN w.start AND w.start + INTERVAL 20 SECONDS"
    joined = counted.join(payments, F.expr(within)).select("w", "who", "count", "payment_no", "w.end")
    checkpoint, out = ran(joined, tmp_path)
    job = wb.open_job(joined, checkpoint, output=out)
    assert line(job)["differences"] == 0, line(job)["examples"]
    assert line(job)["model"] == session.read.parquet(out).count() > 0
