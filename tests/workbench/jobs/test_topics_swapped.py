"""A query on topics of a real Kafka broker that was restarted on its checkpoint with its sides swapped."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import scripts
from topics import pour

import generators
import workbench as wb

WORK = """
import json
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import workbench as wb

folder, brokers, strict = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()
for name, value in {"spark.sql.session.timeZone": "UTC", "spark.sql.shuffle.partitions": "1"}.items():
    spark.conf.set(name, value)


def topic(name):
    read = spark.readStream.format("kafka").option("kafka.bootstrap.servers", brokers)
    read = read.option("subscribe", f"{name}-{strict}").option("startingOffsets", "earliest")
    rows = read.option("maxOffsetsPerTrigger", 40).option("failOnDataLoss", strict).load()
    value = F.from_json(F.col("value").cast("string"), "order_id string, ordered_at timestamp, paid_at timestamp")
    rows = rows.select(value.alias("v")).select("v.order_id", F.coalesce("v.ordered_at", "v.paid_at").alias("at"))
    return rows.withWatermark("at", "5 seconds")


def joined(one, other):
    left, right = topic(one).alias("l"), topic(other).alias("r")
    near = "r.at BETWEEN l.at - INTERVAL 20 SECONDS AND l.at + INTERVAL 20 SECONDS"
    return left.join(right, F.expr(f"l.order_id = r.order_id AND {near}"), "left").toDF("l", "l_at", "r", "r_at")


def run(frame):
    writer = frame.writeStream.format("parquet").option("path", f"{folder}/out").trigger(availableNow=True)
    writer.option("checkpointLocation", f"{folder}/checkpoint").start().awaitTermination()


sides = ("orders", "payments")
run(joined(*sides))
try:
    run(joined(*reversed(sides)))
except Exception as error:
    print(json.dumps(str(error)))
    sys.exit()
told = []
for opened in (sides, sides[::-1]):
    job = wb.open_job(joined(*opened), f"{folder}/checkpoint")
    told.append({"missing": list(job.missing), "mismatches": len(job.mismatches), "ours": len(job.output)})
print(json.dumps({"told": told, "out": spark.read.parquet(f"{folder}/out").count()}))
"""


def ran(broker, connectors, folder, strict):
    """What was printed after a query on two topics had run, and had run again with its sides swapped."""
    for side in generators.generate("orders_payments", events=100, rate=4, late=0.1, late_by="40 s", seed=2):
        pour(broker, f"{side.name}-{strict}", side, 10)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WORK, str(folder), broker.brokers, strict],
        capture_output=True, text=True, timeout=400, check=False, env=scripts.environment(folder, [connectors]), cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.server
def test_topics_that_were_swapped_at_a_restart(broker, connectors, tmp_path):
    found = ran(broker, connectors, tmp_path, "false")
    for each in found["told"]:
        assert each["ours"] == found["out"] > 0
        assert each["mismatches"] == 0
        assert len(each["missing"]) == 2
        assert all(
            "the query was restarted on this checkpoint with its sides swapped" in said for said in each["missing"]
        )


@pytest.mark.server
def test_by_default_spark_refuses_them_and_it_is_said_why(broker, connectors, tmp_path):
    explained = wb.explain(ran(broker, connectors, tmp_path, "true"))
    assert explained.known
    assert "it belongs to a query on other topics" in explained.rule
