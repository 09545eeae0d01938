"""Streams from tables of Delta Lake and Iceberg, and scripts that write such tables, on the Spark that they are built for."""

from __future__ import annotations

import json
import subprocess
import sys

import lakes
import pytest
from fault_lab import rows_of

import generators
import workbench as wb

WORK = """
import json
import sys
from pathlib import Path

import lakes
import scripts
from fault_lab import plain, rows_of
from pyspark.sql import SparkSession

import generators
import workbench as wb

folder, lake = Path(sys.argv[1]), getattr(lakes, sys.argv[2])
spark = SparkSession.builder.getOrCreate()
spark.conf.set("spark.sql.session.timeZone", "UTC")
written = generators.generate("orders_payments", events=60, batches=4, seed=2)
streams = []
for side in written:
    frame, place = side.to_pandas(), lake.table(folder, side.name)
    for number, rows in frame.groupby("batch"):
        rows = spark.createDataFrame(rows.drop(columns="batch")).coalesce(1)
        if lake.format == "delta":
            rows.write.format("delta").mode("append").save(place)
        elif spark.catalog.tableExists(place):
            rows.writeTo(place).append()
        else:
            rows.writeTo(place).using("iceberg").create()
    frame = spark.readStream.format(lake.format).option(lake.one_file, 1).load(place)
    of = dict(watermark=side.watermark, seconds=30)  # a slow machine starts its first query in more than the usual ten
    streams.append(wb.Stream.from_streaming(frame, side.name, side.key, side.time, **of))
told = {"spark": spark.version}


def tell(name, run):
    told[name] = {"rows": rows_of(run), "mismatch": run.mismatch, "batches": run.micro_batches}
    told[name]["differences"] = int(run.compare().differences.sum())
    return run


join = wb.IntervalJoin("0 s", "15 s", how="left")
run = tell("streaming", wb.run(join, *streams, spark=spark))
if lake.format == "delta":
    tables = [
        wb.Stream.from_files(folder / each.name, each.name, each.key, each.time, format="delta", watermark=each.watermark)
        for each in written
    ]
    run = tell("files", wb.run(join, *tables))
frames = [
    wb.frames.stream(spark.read.format(lake.format).load(lake.table(folder, each.name)), each.name, each.key, each.time)
    for each in written
]
tell("frames", wb.run(wb.CoGroup(wb.Tumbling("10 s")), *frames))
spark.stop()

given = {"source": "iceberg"} if lake.format == "iceberg" else {}
told["scripts"] = {}
for name in ("join.py", "job") if given else ("join.py",):
    table = name.removesuffix(".py")
    file = wb.export(run, folder / name, sink=lake.format, **given)
    words = ["--drain", "--checkpoint", folder / "checkpoints" / name, "--output", lake.table(folder, table)]
    if given:
        words += [word for each in written for word in (f"--{each.name}", lake.table(folder, each.name))]
    scripts.run(file, *words, env=lake.environment(folder))
    told["scripts"][name] = plain(lakes.rows(lake, folder, table))
    if name == "job":  # of Delta test_real_parts.py has it
        again = scripts.start(file, *words, "--checkpoint", folder / "new", env=lake.environment(folder))
        told["refused"] = [scripts.ended(again, 240), Path(f"{file}.err").read_text()[-1000:]]
        told["scripts"]["refused"] = plain(lakes.rows(lake, folder, table))
told["expected"] = rows_of(run)
print(json.dumps(told, default=str))
"""


@pytest.mark.family("tables of a lake")
@pytest.mark.engine
@pytest.mark.parametrize("lake", [lakes.DELTA, lakes.ICEBERG], ids=lambda lake: lake.format)
def test_tables_of_a_lake(lake, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WORK, tmp_path, lake.format.upper()],
        capture_output=True, text=True, timeout=500, check=False, env=lake.environment(tmp_path),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["spark"].startswith(f"{lake.spark}.")
    assert {(each["mismatch"], each["differences"]) for name, each in told.items() if "mismatch" in each} == {("", 0)}
    assert told["streaming"]["batches"] >= 3
    here = wb.run(
        wb.IntervalJoin("0 s", "15 s", how="left"),
        *generators.generate("orders_payments", events=60, batches=4, seed=2),
    )
    assert told["streaming"]["rows"] == rows_of(here)
    if lake is lakes.ICEBERG:  # a new checkpoint beside a table with rows
        code, words = told["refused"]
        assert (code, "holds rows, and the checkpoint" in words) == (1, True), words
    assert {name for name, rows in told["scripts"].items() if rows == told["expected"]} == told["scripts"].keys()
    assert len(told["expected"]) > 50
