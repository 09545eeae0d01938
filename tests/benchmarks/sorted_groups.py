"""A short pattern with an end in both ways that Spark has it: a processor, and the rows of a key sorted window by window.

``python tests/benchmarks/sorted_groups.py`` runs *sign-in, then within a minute a large payment* on the same rows, warm, and prints
a table. The sorted groups are what one would write by hand: every row is in two windows of twice the time, and a match
counts in the window in whose first half it begins. They give the matches, when the window has closed; what was given
up, and a pattern without an end, they do not give.
"""

from __future__ import annotations

import os
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import generators
import workbench as wb
from workbench.session import QUERY_SETTINGS

WITHIN = 60  # seconds
SIZES = {"small": (400, 5), "10,000 events": (10_000, 10), "40,000 events": (40_000, 10)}
TAKEN = {"left": pc.field("action") == "sign_in", "right": pc.field("amount") > 500}
PATTERN = wb.Pattern(
    wb.step("sign_in", side="left", where=wb.col("action") == "sign_in"),
    wb.followed_by("large", side="right", where=wb.col("amount") > 500),
    within=f"{WITHIN} seconds",
)


def by_sorted_groups(left: DataFrame, right: DataFrame) -> DataFrame:
    sign_ins = left.where("action = 'sign_in'").select(
        "user_id", F.col("acted_at").alias("t"), F.lit(True).alias("first")
    )
    larges = right.where("amount > 500").select("user_id", F.col("paid_at").alias("t"), F.lit(False).alias("first"))
    rows = sign_ins.unionByName(larges)
    span = F.window("t", f"{2 * WITHIN} seconds", f"{WITHIN} seconds")
    groups = rows.groupBy("user_id", span.alias("span")).agg(
        F.array_sort(F.collect_list(F.struct("t", "first"))).alias("rows")
    )
    begin = F.col("span.start").cast("double")
    starts = F.filter("rows", lambda row: row["first"] & (row["t"].cast("double") < begin + WITHIN))
    matches = groups.select("user_id", "rows", F.explode(starts).alias("sign_in"))
    later = F.filter("rows", lambda row: ~row["first"] & (row["t"] >= F.col("sign_in.t")))
    large = F.get(later, F.lit(0))
    found = matches.select("user_id", F.col("sign_in.t").alias("start"), large["t"].alias("end"))
    return found.where(F.col("end").cast("double") - F.col("start").cast("double") < WITHIN)


def sides(streams: tuple[wb.Stream, wb.Stream], folder: Path) -> None:
    """The rows of each micro-batch in a file of its own, behind them one that moves the watermark past all of them."""
    for stream, name in zip(streams, ("left", "right"), strict=True):
        (folder / name).mkdir()
        for batch in range(stream.batch_count):
            pq.write_table(stream.table.filter(stream.arrival == batch), folder / name / f"{batch:04}.parquet")
        end = stream.table.filter(TAKEN[name]).slice(
            0, 1
        )  # Spark filters below the watermark, which other rows do not move
        place = end.schema.get_field_index(stream.time)
        beyond = end.column(stream.time)[0].as_py() + timedelta(days=3650)
        end = end.set_column(place, end.schema.field(place), [[beyond]])
        pq.write_table(end, folder / name / f"{stream.batch_count:04}.parquet")
        for place, file in enumerate(sorted((folder / name).iterdir())):
            os.utime(file, (1_000_000_000 + place,) * 2)  # Spark takes them in this order


def sorted_groups(spark: SparkSession, streams: tuple[wb.Stream, wb.Stream]) -> tuple[float, set[Any]]:
    """Seconds that the query took, and the matches."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        sides(streams, folder)
        began = time.perf_counter()
        read = []
        for stream, name in zip(streams, ("left", "right"), strict=True):
            schema = spark.read.parquet(str(folder / name)).schema
            rows = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder / name))
            read.append(rows.withWatermark(stream.time, f"{stream.watermark.total_seconds()} seconds"))
        query = (
            by_sorted_groups(*read)
            .writeStream.format("parquet")
            .option("path", str(folder / "output"))
            .option("checkpointLocation", str(folder / "checkpoint"))
            .trigger(availableNow=True)
        ).start()
        query.awaitTermination()
        took = time.perf_counter() - began
        found = spark.read.parquet(str(folder / "output")).toPandas()
        return took, set(found.itertuples(index=False, name=None))


def main() -> None:
    wb.run(PATTERN, *generators.generate("user_actions", events=100, batches=3, seed=1))
    spark = SparkSession.builder.getOrCreate()
    spark.conf.set("spark.sql.shuffle.partitions", QUERY_SETTINGS["spark.sql.shuffle.partitions"])
    print("| rows | matches | processor | sorted groups |\n|---|---|---|---|")
    for name, (events, batches) in SIZES.items():
        made = generators.generate("user_actions", events=events, batches=batches, rate=events / 500, late=0, seed=1)
        streams = tuple(each.with_watermark("5 minutes") for each in made)  # a row is late for a window at its end only
        taken = []
        for _ in range(2 if name == "small" else 1):
            began = time.perf_counter()
            run = wb.run(PATTERN, *streams)
            taken.append(time.perf_counter() - began)
            seconds, found = sorted_groups(spark, streams)
        same = set(run.output[["user_id", "start", "end"]].itertuples(index=False, name=None)) == found
        rows = sum(map(len, streams))
        print(
            f"| {name}: {rows:,} rows | {len(run.output):,} | {min(taken):.1f} s | {seconds:.1f} s |{'' if same else ' differ'}",
            flush=True,
        )


if __name__ == "__main__":
    main()
