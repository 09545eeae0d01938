"""SPARK-45637: two aggregations in time windows, joined on key and window, give no rows (cause: SPARK-49829)."""

import json
import os
import tempfile

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

ROOT = tempfile.mkdtemp()
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.sql.warehouse.dir", ROOT + "/wh")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")
VERSION = tuple(int(n) for n in spark.version.split(".")[:3])


def add(name, number, rows):
    path = f"{ROOT}/{name}/{number}.json"
    with open(path + "~", "w") as file:
        file.writelines(json.dumps({"k": k, "s": s}) + "\n" for k, s in rows)
    os.utime(path + "~", (10**9 + number,) * 2)
    os.rename(path + "~", path)


def stream(name, batches, delay="0 seconds"):
    """A stream of rows (key, second): one JSON file is one micro-batch; `delay=None`: no watermark."""
    folder = f"{ROOT}/{name}"
    os.makedirs(folder, exist_ok=True)
    for number, rows in enumerate(batches):
        add(name, number, rows)
    frame = (
        spark.readStream.schema("k string, s long")
        .option("maxFilesPerTrigger", 1)
        .json(folder)
        .select(F.col("k").alias(name + "k"), F.timestamp_seconds("s").alias(name + "t"))
    )
    return frame if delay is None else frame.withWatermark(name + "t", delay)


def run(frame, name="out", **options):
    """Start, work off all files, stop; gives the query and the rows, times as seconds."""
    query = (
        frame.writeStream.format("memory")
        .queryName(name)
        .outputMode("append")
        .option("checkpointLocation", f"{ROOT}/cp_{name}")
        .options(**options)
        .start()
    )
    query.processAllAvailable()
    query.stop()
    cells = [F.unix_timestamp(c).alias(c) if t == "timestamp" else F.col(c) for c, t in spark.table(name).dtypes]
    return query, sorted((list(r) for r in spark.table(name).select(*cells).collect()), key=str)


def report(ticket, got, expected):
    print(
        json.dumps(
            {"ticket": ticket, "version": spark.version, "got": got, "expected": expected, "faulty": got != expected}
        )
    )


def counts(n):
    rows = stream(n, [[("x", 1), ("x", 2)], [("x", 20)], [("x", 40)]])
    return rows.groupBy(F.window(n + "t", "10 seconds").alias(n + "w"), n + "k").agg(F.count("*").alias(n + "n"))


joined = counts("l").join(counts("r"), F.expr("lw = rw and lk = rk"))
_, got = run(joined.select(F.col("lw.start").alias("start"), "lk", "ln", "rn"))
report("SPARK-45637", got, [[0, "x", 2, 2], [20, "x", 1, 1]])
