"""From `wb.open_job` to the fates of a job that joins windowed counts of 1,000,000 rows a side, and to what one is made of.

``python tests/benchmarks/aggregated_job.py [rows]`` makes the files, runs the job and measures.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

import plain_job
from _report import report
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import generators

ROWS, FILES, SHARDS = 1_000_000, 10, 100


def counts(spark: SparkSession, folder: Path, name: str, time_column: str) -> DataFrame:
    """How many rows of a stream each shard of the keys has in ten seconds."""
    rows = spark.readStream.schema(plain_job.SCHEMAS[name]).option("maxFilesPerTrigger", 1)
    rows = rows.parquet(str(folder / name)).withWatermark(time_column, "30 seconds")
    shard = (F.crc32("order_id") % SHARDS).alias("shard")
    return rows.groupBy(F.window(time_column, "10 seconds").alias("w"), shard).count().alias(name)


def join(spark: SparkSession, folder: Path) -> DataFrame:
    orders, payments = counts(spark, folder, "orders", "ordered_at"), counts(spark, folder, "payments", "paid_at")
    return orders.join(payments, F.expr("orders.shard = payments.shard AND orders.w = payments.w"), "full")


def main(rows: int, folder: Path) -> None:
    settings = {"unmatched": 0.0, "late": 0.01, "late_by": "5 minutes", "seed": 1}
    generators.write(folder, "orders_payments", files=FILES, events=rows, rate=rows // 2_000, **settings)
    spark = plain_job.session("4g")
    import workbench as wb

    joined = join(spark, folder)
    writer = joined.writeStream.format("noop").option("checkpointLocation", str(folder / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()
    begun = time.perf_counter()
    job = wb.open_job(joined, checkpoint=folder / "checkpoint")
    aggregates = len(job.rows)
    fates = time.perf_counter() - begun
    differences = job.comparison.differences.sum()
    verified = time.perf_counter() - begun - fates
    parts = job.made_of(0)
    made = time.perf_counter() - begun - fates - verified
    assert not differences, job.mismatch
    assert len(parts) == job.rows["count"].iloc[0]
    report(
        f"open_job: counts of {rows:,} rows a side joined by their windows, to the fates of {aggregates:,} aggregates",
        "30 s",
        f"{fates:.0f} s; to verify them {verified:.0f} s more; to the rows that one is made of {made:.0f} s more",
        fates < 30,
    )
    spark.stop()


if __name__ == "__main__":
    place = Path(tempfile.mkdtemp(dir="/dev/shm"))
    try:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS, place)
    finally:
        shutil.rmtree(place)
