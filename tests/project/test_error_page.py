"""The page of Spark's messages quotes what Spark really says."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

pytestmark = pytest.mark.slow  # what Spark says changes with Spark only
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
"""Met in the tests of files, of scripts and of fault injection."""
SILENT = PAGE.split("## What Spark does not report")[1]


@pytest.fixture(scope="module")
def own(spark):
    made = spark.newSession()
    made.conf.set("spark.sql.shuffle.partitions", "1")
    return made


@pytest.fixture(scope="module")
def quotes(own):
    """For each thing that is wrong what Spark says of it, and the page's quotes of that."""
    found = {}
    for wrong in WRONG:
        with pytest.raises(PySparkException) as raised:
            wrong(own)
        said = " ".join(str(raised.value).split())
        found[wrong.__name__] = said, [quote for quote in QUOTED if quoted(quote, said)]
    return found


def quoted(quote, said):
    parts = [part.strip() for part in quote.split("…") if part.strip()]
    return bool(parts) and all(part in said for part in parts)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda each: each.__name__)
def test_the_page_has_what_spark_says(quotes, wrong):
    said, found = quotes[wrong.__name__]
    assert len(found) == 1, said[:400]


def test_the_page_has_nothing_else(quotes):
    said = [quote for _, found in quotes.values() for quote in found]
    elsewhere = [quote for quote in QUOTED if any(words in quote for words in ELSEWHERE)]
    assert len(elsewhere) == len(ELSEWHERE)
    assert sorted([*said, *elsewhere]) == sorted(QUOTED)


def test_what_spark_does_not_say(own, tmp_path):
    """An inner join without watermarks starts without an error, and keeps every row forever."""
    assert "An **inner join without watermarks** starts without an error, and keeps every row forever" in SILENT
    rows = tmp_path / "rows"
    rows.mkdir()
    for day in range(1, 4):  # a watermark would have passed each day's row when the next has come
        (rows / f"{day}.json").write_text(f'{{"t": "2026-01-0{day}T00:00:00Z", "id": {day}}}')
    sides = [
        own.readStream.schema("t timestamp, id bigint")
        .option("maxFilesPerTrigger", 1)
        .json(str(rows))
        .withColumnsRenamed({"t": f"{side}_t", "id": f"{side}_id"})
        for side in "lr"
    ]
    query = start(sides[0].join(sides[1], F.expr(KEYS)))
    try:
        query.processAllAvailable()
        assert query.exception() is None
        kept = [each["stateOperators"][0]["numRowsTotal"] for each in query.recentProgress if each["numInputRows"]]
        assert kept == [2, 4, 6]
    finally:
        query.stop()
