"""The page of Spark's messages quotes what Spark really says, and `wb.explain` finds the page's sentences."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import Window
from pyspark.sql import functions as F

import workbench as wb
from workbench.spark_io.known_errors import KNOWN

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


def other_operators(spark):
    checkpoint(
        spark, "bigint", "bigint", lambda left, right: near(left, right).groupBy(F.window("l_t", "5 seconds")).count()
    )


def other_sources(spark):
    checkpoint(spark, "bigint", "bigint", lambda left, _: left)


def near(left, right, how="inner"):
    return left.join(right, F.expr(f"{KEYS} AND {BOUNDS}"), how)


def near_rates(spark, how="inner"):
    return near(rate(spark, "l", True), rate(spark, "r", True), how)


def sessions_in_update_mode(spark):
    start(rate(spark, "l", True).groupBy("l_id", F.session_window("l_t", "5 seconds")).count(), "update")


def complete_aggregation(spark):
    start(near_rates(spark).groupBy("l_id").count(), "complete")


def table(spark, name):
    return spark.range(3).withColumnRenamed("id", f"{name}_id")


def static_left(spark):
    start(table(spark, "l").join(rate(spark, "r"), F.expr(KEYS), "left"))


def static_right(spark):
    start(rate(spark, "l").join(table(spark, "r"), F.expr(KEYS), "right"))


def static_full(spark):
    start(rate(spark, "l").join(table(spark, "r"), F.expr(KEYS), "full"))


def third_stream(spark):
    within = F.expr("l_id = x_id AND x_t BETWEEN r_t AND r_t + INTERVAL 5 SECONDS")
    run(near_rates(spark).join(rate(spark, "x", True), within))


def second_watermark(spark):
    with tempfile.TemporaryDirectory() as folder:  # of rows of two minutes: the watermark has to move
        for minute in range(2):
            (Path(folder) / f"{minute}.json").write_text(f'{{"t": "2026-01-01T00:0{minute}:00Z"}}')
        rows = spark.readStream.schema("t timestamp").option("maxFilesPerTrigger", 1).json(folder)
        run(rows.withWatermark("t", "1 second").withWatermark("t", "9 seconds").groupBy("t").count())


def counts_in_update(spark):
    left, right = (
        rate(spark, name, True).groupBy(F.window(f"{name}_t", "5 seconds").alias(name)).count() for name in "lr"
    )
    start(left.join(right, F.expr("l = r")), "update")


def row_number(spark):
    rows = F.row_number().over(Window.partitionBy("l_id").orderBy("l_t"))
    start(near_rates(spark).withColumn("n", rows))


def two_windows(spark):
    rate(spark, "l").select(F.window("l_t", "5 seconds"), F.window("l_t", "9 seconds"))


def limit(spark):
    start(near_rates(spark).limit(3), "update")


def distinct(spark):
    start(near_rates(spark).groupBy(F.window("l_t", "5 seconds")).agg(F.countDistinct("r_id")))


def udf(spark):
    alike = F.udf(lambda one, other: one == other, "boolean")
    run(rate(spark, "l", True).join(rate(spark, "r", True), alike("l_id", "r_id") & F.expr(BOUNDS), "left"))


def subquery(spark):
    for name in "lr":
        rate(spark, name).createOrReplaceTempView(name)
    spark.sql("SELECT * FROM l WHERE l_id IN (SELECT r_id FROM r)")


def write(spark):
    _ = near_rates(spark).write


def no_alias(spark):
    rate(spark, "l").alias("a").join(rate(spark, "r"), F.expr("a.l_id = b.r_id"))


def two_of_a_name(spark):
    rows = rate(spark, "l")
    rows.alias("a").join(rows.alias("b"), F.expr("a.l_id = b.l_id")).select("l_id")


def with_itself(spark):
    rows = rate(spark, "l")
    few = rows.filter("l_id > 3")
    rows.join(few, "l_id").select(few.l_t)


def gone(spark):
    left = rate(spark, "l")
    left.join(rate(spark, "r"), F.expr(KEYS)).select("r_id").select(left.l_id)


def using(spark):
    rate(spark, "l").join(rate(spark, "r"), "l_id")


def field_time(spark):
    rate(spark, "l").select(F.struct("l_t").alias("s")).withWatermark("s.l_t", "1 second")


def months(spark):
    start(rate(spark, "l", True).groupBy(F.window("l_t", "1 month")).count())


def duplicates(spark):
    start(near(rate(spark, "l"), rate(spark, "r")).dropDuplicatesWithinWatermark(["l_id"]))


def same(key, rows, state):
    yield from rows


def in_groups(frame, mode, timeout):
    return frame.groupBy("l_id").applyInPandasWithState(same, "l_t timestamp, l_id long", "n int", mode, timeout)


def timeout(spark):
    start(in_groups(rate(spark, "l"), "append", "EventTimeTimeout"))


def update_groups(spark):
    start(near(in_groups(rate(spark, "l", True), "update", "NoTimeout"), rate(spark, "r", True)))


def continuous(spark):
    near_rates(spark).writeStream.format("noop").trigger(continuous="1 second").start()


def no_checkpoint(spark):
    with tempfile.TemporaryDirectory() as folder:
        near_rates(spark).writeStream.format("parquet").option("path", folder).start()


def sink(spark):
    with tempfile.TemporaryDirectory() as folder:
        writer = rate(spark, "l").writeStream.format("parquet").outputMode("update").option("path", f"{folder}/rows")
        writer.option("checkpointLocation", f"{folder}/checkpoint").start()


def one_name(spark):
    query = rate(spark, "l").writeStream.format("noop").queryName("rows").start()
    try:
        rate(spark, "l").writeStream.format("noop").queryName("rows").start()
    finally:
        query.stop()


def checkpoint(spark, before, now, then=None):
    """A join that goes on with other columns, or as another query."""
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
            run((then if number and then else near)(left, right), f"{folder}/checkpoint")


def text_and_number(spark):
    texts = rate(spark, "l", True).withColumn("l_id", F.concat(F.lit("o-"), F.col("l_id").cast("string")))
    start(texts.join(rate(spark, "r", True), F.expr(f"{KEYS} AND {BOUNDS}"))).awaitTermination(120)  # it fails soon


WRONG = [outer, anti, aggregation, gaps, odd_name, no_key, update, complete, sessions, sort, count, text_time, negative]
WRONG += [no_interval, no_schema, no_connector, other_key, other_columns, other_operators, other_sources]
WRONG += [complete_aggregation, static_left, static_right, static_full, third_stream, second_watermark]
WRONG += [counts_in_update, row_number, two_windows, limit, distinct, udf, subquery, write, no_alias, two_of_a_name]
WRONG += [with_itself, gone, using, field_time, months, duplicates, timeout, update_groups, continuous]
WRONG += [no_checkpoint, sink, one_name, text_and_number, sessions_in_update_mode]
QUOTED = re.findall(r"^\| `([^`]+)`", PAGE, flags=re.MULTILINE)
ELSEWHERE = ("Illegal Parquet type", "_spark_metadata", "No space left", "Some data may have been lost")
"""Met in the tests of files, of scripts, of fault injection, of topics that were swapped."""
WHERE = {
    "outer": "Join LeftOuter, (l_id = r_id)",
    "no_alias": "`b`.`r_id`",
    "odd_name": "`l`.`id`",
    "two_of_a_name": "`l_id`",
    "with_itself": "l_t",
    "gone": '"l_id"',
    "using": "`l_id`",
    "third_stream": "l_t,r_t",
    "aggregation": "",
    "other_key": "",
}
"""What of the plan is named, of some."""
CONDITIONS = {
    "outer": "_LEGACY_ERROR_TEMP_3102",
    "two_of_a_name": "AMBIGUOUS_REFERENCE",
    "no_alias": "UNRESOLVED_COLUMN.WITH_SUGGESTION",
    "third_stream": "MULTIPLE_EVENT_TIME_COLUMNS",
    "other_key": "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE",
    "aggregation": "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION",
    "negative": "",
    "no_key": "",
}
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
            pytest.fail(wrong.__name__)
        said = " ".join(str(raised.value).split())
        found[wrong.__name__] = said, [quote for quote in QUOTED if quoted(quote, said)], wb.explain(raised.value)
    return found


def quoted(quote, said):
    parts = [part.strip() for part in quote.split("…") if part.strip()]
    return bool(parts) and all(part in said for part in parts)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda each: each.__name__)
def test_the_page_has_what_spark_says(quotes, wrong):
    said, found, explained = quotes[wrong.__name__]
    assert len(found) == 1, said[:400]
    [known] = [each for each in KNOWN if each.says == found[0]]
    assert explained.known
    assert (explained.rule, explained.remedy) == (known.rule.replace("`", ""), known.remedy.replace("`", ""))
    assert explained.where == WHERE.get(wrong.__name__, explained.where)
    assert explained.condition == CONDITIONS.get(wrong.__name__, explained.condition)


def test_the_page_has_nothing_else(quotes):
    said = [quote for _, found, _ in quotes.values() for quote in found]
    elsewhere = [quote for quote in QUOTED if any(words in quote for words in ELSEWHERE)]
    assert len(elsewhere) == len(ELSEWHERE)
    assert {*said, *elsewhere} == {*QUOTED}


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
