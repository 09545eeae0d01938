"""No ticket known (SPARK-50046's pull request names it): a checkpoint has one watermark, not one for each side.

After a restart a side counts as 0 until it has rows again: sides that have rows in turn, one in each run, never move
the watermark; nothing leaves the state, no padded row comes out. Without the restart both rows come out.
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


def runs(n, restart):
    left, right = stream(f"l{n}", []), stream(f"r{n}", [])
    joined = left.join(
        right, F.expr(f"l{n}k = r{n}k and r{n}t >= l{n}t and r{n}t <= l{n}t + interval 10 seconds"), "left"
    )
    target = f"{ROOT}/out{n}"

    def start():
        return (
            joined.writeStream.format("parquet")
            .option("path", target)
            .option("checkpointLocation", f"{ROOT}/cp{n}")
            .start()
        )

    query = start()
    for number, (side, second) in enumerate((("l", 10), ("l", 100), ("r", 100), ("l", 200), ("r", 200))):
        add(f"{side}{n}", number, [("x" if second == 10 else "z", second)])
        query.processAllAvailable()
        if restart:
            query.stop()
            query = start()
            query.processAllAvailable()
    query.stop()
    return sorted(
        r[0].second + 60 * r[0].minute
        for r in spark.read.parquet(target).where(f"r{n}t is null").select(f"l{n}t").collect()
    )


got, expected = runs(1, True), runs(2, False)
report("none: watermark of each side after a restart", got, expected)
