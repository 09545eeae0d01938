"""No ticket known: state format 4 (4.2.0: internal, off; RocksDB) skips, when it evicts, rows older than what was evicted before;
a left row that would leave at once (upper bound below 0) stays in state for ever, and is never padded.
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


for key, value in (
    ("stateStore.providerClass", "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"),
    ("join.stateFormatV4.enabled", "true"),
    ("join.stateFormatVersion", "4"),
):
    spark.conf.set("spark.sql.streaming." + key, value)
left = stream("l", [[("z", 100)], [("z", 101)], [("y", 106)], [("z", 200)], [("z", 300)]])
right = stream("r", [[("z", 100)], [("z", 101)], [("z", 101)], [("z", 200)], [("z", 300)]])
_, rows = run(
    left.join(right, F.expr("lk = rk and rt >= lt - interval 30 seconds and rt <= lt - interval 10 seconds"), "left")
)
report("none: state format 4, padded row", [r for r in rows if r[0] == "y"], [["y", 106, None, None]])
