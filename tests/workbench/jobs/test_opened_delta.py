"""Jobs on tables of Delta Lake, opened: each micro-batch has the rows that Delta gave it, and what is gone is named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import lakes
import pytest
import tiers

HERE = Path(__file__).parent

SETUP = """
import json
import sys
from collections import Counter
from pathlib import Path

import jobs
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import workbench as wb
from workbench.testing import load
from workbench.testing.fixtures import fates

folder = Path(sys.argv[1])
spark = SparkSession.builder.getOrCreate()
for name, value in {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "1",
    "spark.databricks.delta.retentionDurationCheck.enabled": "false",
}.items():
    spark.conf.set(name, value)
told = {}


def table(name, **options):
    return spark.readStream.format("delta").options(**options).load(f"{folder}/{name}")


def joined(orders, payments):
    orders, payments = orders.withWatermark("ordered_at", "5 seconds"), payments.withWatermark("paid_at", "5 seconds")
    within = "order_id = oid AND paid_at BETWEEN ordered_at AND ordered_at + INTERVAL 10 SECONDS"
    return orders.join(payments, F.expr(within), "left")


def numbers(rows):
    return Counter(jobs.pairs(rows))


def tell(name, frame, checkpoint, *ran):
    job = wb.open_job(frame, str(checkpoint))
    first = int(job.batches.batch[0])
    output = {batch: rows for each in ran for batch, rows in each.output.items() if rows and (batch > first or not first)}
    ours = {}
    for each in job.output.to_dict("records"):
        found = {key.removeprefix("left_").removeprefix("right_"): value for key, value in each.items()}
        ours.setdefault(each["batch"], []).append(found)
    told[name] = {
        "mismatches": job.mismatches.to_string() if len(job.mismatches) else "",
        "missing": list(job.missing),
        "first": first,
        "batches": len(job.batches),
        "rows": len(job.rows),
        "fates": job.rows.fate.value_counts().to_dict(),
        "same": {batch: numbers(rows) for batch, rows in ours.items()} == {b: numbers(r) for b, r in output.items()},
        "out": {str(batch): len(rows) for batch, rows in output.items()},
    }
"""

PARTS = ("plain", "changes", "later", "latest")

RUN = (
    SETUP
    + """
rows = jobs.recorded(seed=5)
names = ("orders", "payments")


def frame(place, number):
    found = [{key: value.to_pydatetime() if hasattr(value, "to_pydatetime") else value for key, value in each.items()}
             for each in rows[place][number]]
    return spark.createDataFrame(found, jobs.DDL[place])


def add(place, number, name=None, files=3, partition=()):
    written = frame(place, number).repartition(files).write.format("delta").mode("append").partitionBy(*partition)
    written.save(f"{folder}/{name or names[place]}")


# versions of several files each
def grow(*numbers):
    for number in numbers:
        add(0, number)
        add(1, number)


# versions are taken in by two files, the first two versions as one snapshot
def plain():
    build = lambda: joined(*(table(name, maxFilesPerTrigger=2) for name in names))
    grow(0, 1)
    ran = [jobs.run(build(), folder / "plain")]
    grow(2, 3)
    ran.append(jobs.run(build(), folder / "plain"))
    told["offsets"] = [
        [json.loads(line) for line in (folder / "plain" / "offsets" / str(number)).read_text().split("\\n")[2:]]
        for number in range(len(list((folder / "plain" / "offsets").glob("[0-9]*"))))
    ]
    tell("plain", build(), folder / "plain", *ran)
    job = wb.open_job(build(), str(folder / "plain"))
    job.fixture(folder / "fixture", build=joined)
    fixture = load(folder / "fixture")
    of = {(0, "left"): "orders", (0, "right"): "payments"}
    alike = [sorted(map(str, each[["stream", "batch", "key", "time", "fate"]].to_numpy().tolist()))
             for each in (fixture.fates, fates(fixture.play(joined).opened, of))]
    told["fixture"] = {"rows": len(alike[0]), "same": alike[0] == alike[1]}


# partitions, columns that were renamed, rows that were deleted and updated
def changes():
    for name, place in (("parted", 0), ("changed", 1)):
        key = "order_id" if place == 0 else "oid"
        add(place, 0, name, 2, [key])
        at = f"delta.`{folder}/{name}`"
        spark.sql(
            f"ALTER TABLE {at} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = 'true')"
        )
        column = ("amount", "paid")[place]
        spark.sql(f"ALTER TABLE {at} RENAME COLUMN {column} TO `{column} now`")
        renamed = frame(place, 1).withColumnRenamed(column, f"{column} now").coalesce(1)
        renamed.write.format("delta").mode("append").partitionBy(key).save(f"{folder}/{name}")
        spark.sql(f"DELETE FROM {at} WHERE {('order_no', 'payment_no')[place]} IN (1, 8)")
    build = lambda: joined(
        table("parted", maxFilesPerTrigger=3, skipChangeCommits="true"),
        table("changed", maxBytesPerTrigger=3000, ignoreChanges="true"),
    )
    ran = [jobs.run(build(), folder / "changes")]
    for name, place in (("parted", 0), ("changed", 1)):
        at, column = f"delta.`{folder}/{name}`", ("amount", "paid")[place]
        number = ("order_no", "payment_no")[place]
        spark.sql(f"UPDATE {at} SET `{column} now` = 0 WHERE {number} % 5 = 3")
        renamed = frame(place, 2).withColumnRenamed(column, f"{column} now").coalesce(1)
        renamed.write.format("delta").mode("append").partitionBy("order_id" if place == 0 else "oid").save(f"{folder}/{name}")
    ran.append(jobs.run(build(), folder / "changes"))
    tell("changes", build(), folder / "changes", *ran)


# a table of the catalog from a version on, of which the first micro-batches are no longer kept
def later():
    spark.sql(f"CREATE TABLE orders USING delta LOCATION '{folder}/orders'")
    spark.conf.set("spark.sql.streaming.minBatchesToRetain", "3")
    orders = lambda: spark.readStream.option("startingVersion", 1).option("maxFilesPerTrigger", 2).table("orders")
    build = lambda: joined(orders(), table("payments", startingVersion=1, maxFilesPerTrigger=2, excludeRegex="part-00001.*"))
    ran = [jobs.run(build(), folder / "later")]
    tell("later", build(), folder / "later", *ran)


# where a query began that began at the latest version
def latest():
    build = lambda: joined(table("orders", startingVersion="latest"), table("payments", startingVersion=2))
    query = build().writeStream.format("noop").option("checkpointLocation", f"{folder}/latest").start()
    query.processAllAvailable()
    for number in (4, 5):
        add(0, number)
        query.processAllAvailable()
    query.stop()
    tell("latest", build(), folder / "latest")


asked = sys.argv[2:]
if "plain" in asked:
    plain()
elif {"later", "latest"} & set(asked):
    grow(0, 1, 2, 3)
for each in (changes, later, latest):
    if each.__name__ in asked:
        each()
print(json.dumps(told))
"""
)

GONE = (
    SETUP
    + """
build = lambda **options: joined(*(table(name, maxFilesPerTrigger=2, **options) for name in ("orders", "payments")))
tell("opened", build(), folder / "plain")
spark.sql(f"DELETE FROM delta.`{folder}/payments` WHERE payment_no < 7")
spark.sql(f"VACUUM delta.`{folder}/payments` RETAIN 0 HOURS")
tell("vacuumed", build(), folder / "plain")
logs = spark._jvm.org.apache.spark.sql.delta.DeltaLog  # as a clean-up of the log leaves it
logs.forTable(spark._jsparkSession, f"{folder}/orders").checkpoint()
for number in range(3):
    (folder / "orders" / "_delta_log" / f"{number:020d}.json").unlink()
logs.clearCache()
tell("commits", build(failOnDataLoss="false"), folder / "plain")
try:
    wb.open_job(build(readChangeFeed="true").drop("_change_type", "_commit_version", "_commit_timestamp"), f"{folder}/plain")
except wb.WorkbenchError as error:
    told["feed"] = str(error)
print(json.dumps(told))
"""
)


def told_by(work, folder, *parts):
    env = lakes.DELTA.environment(folder)
    env |= {"PYTHONPATH": os.pathsep.join([env["PYTHONPATH"], str(HERE)]), "TZ": "UTC"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", work, folder, *parts],
        capture_output=True, text=True, timeout=500, check=False, env=env, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("delta")


@pytest.fixture(scope="module")
def told(folder, request):
    """What is told of the jobs that this run takes."""
    asked = tiers.taken(request, "part")
    return told_by(RUN, folder, *(["plain"] if asked == ["gone"] else asked))


@pytest.mark.engine
@pytest.mark.drawn(1)
@pytest.mark.parametrize("part", [*PARTS, "gone"])
def test_jobs_on_tables_of_delta(told, folder, part):
    CHECKS[part](told.get(part), told, folder)


def right(found, told=None, folder=None):
    assert (found["mismatches"], found["missing"], found["same"]) == ("", [], True), found
    assert len(found["out"]) >= 2


def right_within_versions(found, told, folder):
    right(found)
    assert told["fixture"] == {"rows": found["rows"], "same": True}
    assert any(each["isStartingVersion"] for line in told["offsets"] for each in line)
    within = {each["reservoirVersion"] for line in told["offsets"] for each in line if each["index"] >= 0}
    assert len(within) >= 2, "no version spans micro-batches"
    assert found["fates"].keys() >= {"matched", "late", "unmatched"}


def right_from_later_on(found, told, folder):
    right(found)
    assert found["first"] > 0


def where_it_began(found, told, folder):
    [latest] = found["missing"]
    assert "startingVersion" in latest


def what_is_gone(found, told, folder):
    gone = told_by(GONE, folder)
    assert gone["opened"]["missing"] == []
    assert gone["opened"]["mismatches"] == ""
    [vacuumed] = gone["vacuumed"]["missing"]
    assert "files of delta" in vacuumed
    assert "payments" in vacuumed
    assert gone["vacuumed"]["rows"] < gone["opened"]["rows"]
    assert any("micro-batches of delta" in each and "orders" in each for each in gone["commits"]["missing"])
    assert "change feed" in gone["feed"]


CHECKS = {
    "plain": right_within_versions,
    "changes": right,
    "later": right_from_later_on,
    "latest": where_it_began,
    "gone": what_is_gone,
}
