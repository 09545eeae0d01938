"""SPARK-49829: a row that would leave the state in the micro-batch it arrives in meets no partner there, and no padded
row comes out for it. Micro-batch 1 evicts up to 100 s and drops as late up to 0 s (3.3 and before: up to 100 s).
"""

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
    with open(path + "~", "w", encoding="utf-8") as file:
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


left = stream("l", [[("a", 100)], [("x", 50), ("y", 105)]])
right = stream("r", [[("a", 100)], [("x", 35)]])
_, got = run(
    left.join(right, F.expr("lk = rk and rt >= lt - interval 30 seconds and rt <= lt - interval 10 seconds"), "left")
)
pair = [] if VERSION < (3, 4) else [["x", 50, "x", 35]]  # up to 3.3 both are late
expected = [["a", 100, None, None], *pair, ["y", 105, None, None]]
report("SPARK-49829", got, expected)
