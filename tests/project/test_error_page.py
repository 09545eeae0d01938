"""The page of Spark's messages quotes what Spark really says."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

PAGE = (Path(__file__).parents[2] / "docs" / "errors.md").read_text()


def rate(spark, name, watermark=False):
    rows = (
        spark.readStream.format("rate")
        .load()
        .select(F.col("timestamp").alias(f"{name}_t"), F.col("value").alias(f"{name}_id"))
    )
    return rows.withWatermark(f"{name}_t", "1 second") if watermark else rows


KEYS = "l_id = r_id"
BOUNDS = "r_t >= l_t AND r_t <= l_t + INTERVAL 5 SECONDS"


def start(frame, mode="append"):
    return frame.writeStream.format("noop").outputMode(mode).start()


def run(frame, checkpoint=None):
    """Until all is done that there is to do; an error is raised."""
    writer = frame.writeStream.format("noop").trigger(availableNow=True)
    (writer.option("checkpointLocation", checkpoint) if checkpoint else writer).start().awaitTermination()


def outer(spark):
    start(rate(spark, "l").join(rate(spark, "r"), F.col("l_id") == F.col("r_id"), "left"))


def anti(spark):
    start(rate(spark, "l", True).join(rate(spark, "r", True), F.col("l_id") == F.col("r_id"), "left_anti"))


def aggregation(spark):
    start(rate(spark, "l").groupBy("l_id").count())


def gaps(spark):
    start(rate(spark, "l", True).groupBy(F.window("l_t", "5 seconds", "9 seconds")).count())


def odd_name(spark):
    start(rate(spark, "l").withColumnRenamed("l_id", "l.id").select("l.id"))


def no_key(spark):
    run(rate(spark, "l", True).join(rate(spark, "r", True), F.expr(BOUNDS)))


def update(spark):
    start(rate(spark, "l", True).join(rate(spark, "r", True), F.expr(f"{KEYS} AND {BOUNDS}"), "left"), "update")


def complete(spark):
    start(rate(spark, "l", True).join(rate(spark, "r", True), F.expr(f"{KEYS} AND {BOUNDS}")), "complete")


def sessions(spark):
    left, right = (rate(spark, name, True) for name in "lr")
    left = left.withColumn("l_s", F.session_window("l_t", "5 seconds"))
    right = right.withColumn("r_s", F.session_window("r_t", "5 seconds"))
    run(left.join(right, F.expr(f"{KEYS} AND l_s = r_s")))


def sort(spark):
    start(rate(spark, "l").orderBy("l_t"))


def count(spark):
    rate(spark, "l").count()


def text_time(spark):
    start(rate(spark, "l").withColumn("l_t", F.col("l_t").cast("string")).withWatermark("l_t", "1 second"))


def negative(spark):
    rate(spark, "l").withWatermark("l_t", "-1 second")


def no_interval(spark):
    rate(spark, "l").withWatermark("l_t", "soon")


def no_schema(spark):
    with tempfile.TemporaryDirectory() as folder:
        spark.readStream.json(folder)


def no_connector(spark):
    spark.readStream.format("kafka").option("subscribe", "x").load()


def other_key(spark):
    checkpoint(spark, "bigint", "string")


def other_columns(spark):
    checkpoint(spark, "bigint", "bigint, more int")


def checkpoint(spark, before, now):
    """A join that goes on with other columns."""
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows"
        rows.mkdir()
        for number, kind in enumerate((before, now)):
            (rows / f"{number}.json").write_text('{"t": "2026-01-01T00:00:00Z", "id": 1}')
            left, right = (
                spark.readStream.schema(f"t timestamp, id {kind}")
                .json(str(rows))
                .withColumnsRenamed({"t": f"{side}_t", "id": f"{side}_id"})
                .withWatermark(f"{side}_t", "1 second")
                for side in "lr"
            )
            run(left.join(right, F.expr(f"{KEYS} AND {BOUNDS}")), f"{folder}/checkpoint")


WRONG = [outer, anti, aggregation, gaps, odd_name, no_key, update, complete, sessions, sort, count, text_time, negative]
WRONG += [no_interval, no_schema, no_connector, other_key, other_columns]
QUOTED = re.findall(r"^\| `([^`]+)`", PAGE, flags=re.MULTILINE)
ELSEWHERE = ("Illegal Parquet type", "_spark_metadata", "No space left")
"""Met in the tests of files, of scripts and of faults."""


@pytest.mark.parametrize("wrong", WRONG, ids=lambda each: each.__name__)
def test_the_page_has_what_spark_says(spark, wrong):
    own = spark.newSession()
    own.conf.set("spark.sql.shuffle.partitions", "1")
    with pytest.raises(PySparkException) as told:
        wrong(own)
    said = " ".join(str(told.value).split())
    assert any(all(part.strip() in said for part in quote.split("…")) for quote in QUOTED), said[:400]


def test_the_page_has_nothing_else():
    assert len([quote for quote in QUOTED if not any(words in quote for words in ELSEWHERE)]) == len(WRONG)


def test_what_spark_does_not_say(spark):
    start(rate(spark, "l").join(rate(spark, "r"), F.expr(KEYS))).stop()
