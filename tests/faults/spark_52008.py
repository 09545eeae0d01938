"""SPARK-52008: a foreachBatch function that reads a part of its rows only (take, isEmpty, limit) leaves state uncommitted, yet
the micro-batch counts as done; the checkpoint is of no more use. From 4.1 on an error says so at once: no repair either.
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


left = stream("l", [[("x", s) for s in range(10, 20)], [("x", 30)]])
right = stream("r", [[("x", s) for s in range(10, 20)], [("x", 30)]])
got, rows = {}, []
for start, read in (
    ("first", lambda frame, _: frame.take(1)),
    ("repaired", lambda frame, _: rows.extend(frame.collect())),
):
    query = (
        left.join(right, F.expr("lk = rk and lt = rt"))
        .writeStream.option("checkpointLocation", f"{ROOT}/cp")
        .foreachBatch(read)
        .start()
    )
    try:
        query.processAllAvailable()
    except Exception:
        stack = spark.sparkContext._jvm.org.apache.spark.util.Utils.exceptionString(query._jsq.exception().get())
        got[start] = [e for e in ("COMMIT_VALIDATION_FAILED", "1.delta does not exist") if e in stack]
got["rows"] = len(rows)
report("SPARK-52008", got, {"rows": 11})
