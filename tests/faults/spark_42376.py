"""SPARK-42376: an aggregation after an interval join, in the same query, drops as late the pairs that the join gives after
the watermark passed their time. 3.4 refuses the query; so do 3.3 and 3.4 after an outer join.
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


left = stream("l", [[("x", 10)], [("z", 50)], [("z", 60)], [("z", 200)]])
right = stream("r", [[("z", 10)], [("z", 50)], [("x", 55)], [("z", 200)]])
joined = left.join(right, F.expr("lk = rk and rt >= lt and rt <= lt + interval 50 seconds"))
try:
    _, rows = run(joined.groupBy(F.window("lt", "5 seconds"), "lk").count().select("lk", "count"))
    got = [r for r in rows if r[0] == "x"]
except Exception as error:
    got = "refused: " + str(error).splitlines()[0][:70]
report("SPARK-42376", got, [["x", 1]])
