"""The page of Spark's messages quotes what Spark really says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import functions as F

PAGE = (Path(__file__).parents[2] / "docs" / "errors.md").read_text()


def rate(spark, name, watermark=False):
    rows = (
        spark.readStream.format("rate")
        .load()
        .select(F.col("timestamp").alias(f"{name}_t"), F.col("value").alias(f"{name}_id"))
    )
    return rows.withWatermark(f"{name}_t", "1 second") if watermark else rows


def start(frame):
    frame.writeStream.format("noop").outputMode("append").start()


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


@pytest.mark.parametrize("wrong", [outer, anti, aggregation, gaps, odd_name], ids=lambda each: each.__name__)
def test_the_page_has_what_spark_says(spark, wrong):
    with pytest.raises(AnalysisException) as told:
        wrong(spark)
    said = " ".join(str(told.value).split())
    quoted = re.findall(r"^\| `([^`]+)`", PAGE, flags=re.MULTILINE)
    assert any(all(part.strip() in said for part in quote.split("…")) for quote in quoted), said[:400]
