"""Jobs of the oldest Spark that the workbench runs on, and jobs that read topics of a real Kafka broker."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import parts
import pytest
import scripts
from topics import pour

import generators
from workbench import spark_versions

HERE = Path(__file__).parent

WORK = """
import json
import sys
from collections import Counter

import jobs
import written
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import workbench as wb
from workbench.testing import load
from workbench.testing.fixtures import fates

folder, brokers = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()
for name, value in {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.streaming.minBatchesToRetain": "3",
}.items():
    spark.conf.set(name, value)
told = {"spark": spark.version}


def topic(name):
    read = spark.readStream.format("kafka").option("kafka.bootstrap.servers", brokers).option("subscribe", f"job-{name}")
    return read.option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", 10).load()


def of_json(rows, schema):
    return rows.select(F.from_json(F.col("value").cast("string"), schema).alias("v")).select("v.*")


def kafka(job_orders=None, job_payments=None):
    read = {"orders": job_orders, "payments": job_payments}
    orders = of_json(read["orders"] or topic("orders"), "order_id string, ordered_at timestamp, amount double")
    payments = of_json(
        read["payments"] or topic("payments"), "order_id string, paid_at timestamp, paid double, payment_id string"
    )
    orders, payments = orders.withWatermark("ordered_at", "5 seconds"), payments.withWatermark("paid_at", "5 seconds")
    payments = payments.withColumnRenamed("order_id", "oid")
    within = "order_id = oid AND paid_at BETWEEN ordered_at AND ordered_at + INTERVAL 10 SECONDS"
    return orders.join(payments, F.expr(within), "left")


def files(write):
    return lambda: write(*jobs.streams(spark, folder))


# how a fixture of the job fares under the same code: rows that came after the first micro-batch that is kept
def played(job, build, path):
    job.fixture(path, anonymize={"key": "hash", "value.order_id": "hash"}, build=build)
    fixture = load(path)
    again = fixture.play(build)
    names = {(0, "left"): "job_orders", (0, "right"): "job_payments"}
    return {"then": numbers(fixture.fates), "again": numbers(fates(again.opened, names))}


def numbers(table):
    after = table[table["batch"] > 0]
    return sorted(map(str, zip(after["stream"], after["batch"], after["time"], after["fate"])))


if brokers:
    made = {"kafka": kafka}
else:
    rows = jobs.recorded(seed=5)
    jobs.write(rows[0], f"{folder}/orders", jobs.ORDERS)
    jobs.write(rows[1], f"{folder}/payments", jobs.PAYMENTS)
    styles = [written.guide_outer, written.semi, written.full, written.tumbling, written.residual]
    made = {each.__name__: files(each) for each in styles}
for name, build in made.items():
    joined = build()
    ran = jobs.run(joined, f"{folder}/checkpoint-{name}")
    job = wb.open_job(joined, ran.checkpoint)
    first = int(job.batches.batch[0])
    progress = [dict(json.loads(each.json)) for each in ran.progress]
    out = {batch: len(rows) for batch, rows in ran.output.items() if rows and (batch > first or not first)}
    told[name] = {
        "mismatches": job.mismatches.to_string() if len(job.mismatches) else "",
        "missing": list(job.missing),
        "first": first,
        "rows": len(job.rows),
        "late": len(job.late),
        "dropped": sum(
            each["stateOperators"][0]["numRowsDroppedByWatermark"] for each in progress if each["batchId"] > first or not first
        ),
        "out": {str(batch): count for batch, count in out.items()},
        "ours": {str(batch): int(count) for batch, count in job.output.groupby("batch").size().items()},
        "fates": job.rows.fate.value_counts().to_dict(),
    }
    if brokers:
        told["fixture"] = played(job, build, f"{folder}/fixture")
print(json.dumps(told))
"""


def opened(folder, brokers, env):
    env = env | {"PYTHONPATH": os.pathsep.join([env.get("PYTHONPATH", ""), str(HERE.parents[2]), str(HERE)])}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WORK, folder, brokers],
        capture_output=True, text=True, timeout=400, check=False, env=env, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.engine
def test_jobs_of_the_oldest_version(tmp_path):
    env = parts.real(lambda: parts.with_pyspark(spark_versions.OLDEST.minor))
    told = opened(tmp_path, "", scripts.environment(tmp_path, over=env))
    assert told.pop("spark").startswith(f"{spark_versions.OLDEST.minor}.")
    for name, each in told.items():
        assert (each["mismatches"], each["ours"]) == ("", each["out"]), name
        assert (each["late"], each["missing"]) == (each["dropped"], []), name


def test_a_job_on_topics_of_kafka(broker, connectors, tmp_path):
    sides = generators.generate("orders_payments", events=150, rate=4, late=0.3, late_by="40 s", batches=6, seed=2)
    for side in sides:
        pour(broker, f"job-{side.name}", side, 10)
    both = opened(tmp_path, broker.brokers, scripts.environment(tmp_path, [connectors]))
    told = both["kafka"]
    assert told["missing"] == []
    assert told["mismatches"] == ""
    assert told["ours"] == told["out"]
    assert told["late"] == told["dropped"] > 0
    assert told["first"] > 0
    assert both["fixture"]["then"] == both["fixture"]["again"]
    assert any("late" in each for each in both["fixture"]["then"])
    texts = {each.name: each.read_text(encoding="utf-8") for each in (tmp_path / "fixture").iterdir()}
    assert "order_id" in texts["job_orders.jsonl"]
    assert "o-0" not in "".join(texts.values())  # no key is told as it was
