"""A Spark Connect session given to `wb.run`: it runs there, and what cannot be had is said clearly."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.engine

WORK = """
import json
import os
import sys
import traceback

from pyspark.sql import SparkSession

import generators
import workbench as wb

try:
    spark = SparkSession.builder.remote("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    sides = generators.generate("orders_payments", events=40, batches=3, seed=2)
    run = wb.run(wb.IntervalJoin("0 s", "15 s", how="left"), *sides, spark=spark)
    told = {
        "session": type(run.execution.spark).__module__,
        "rows": run.output.drop(columns="batch").astype(str).values.tolist(),
        "fates": run.rows.fate.value_counts().to_dict(),
        "fault": run.mismatch,
        "state": len(run.state(1)),
        "batches": len(run.batches),
    }
    print(json.dumps(told), flush=True)
    os._exit(0)  # Spark's own hook at exit waits for its server
except BaseException:
    traceback.print_exc()
    sys.stderr.flush()
    os._exit(1)
"""


def test_a_run_on_spark_connect_is_the_run_here(spark, connect_port):
    import generators
    import workbench as wb

    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WORK],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env=os.environ,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert "connect" in told["session"]
    sides = generators.generate("orders_payments", events=40, batches=3, seed=2)
    run = wb.run(wb.IntervalJoin("0 s", "15 s", how="left"), *sides)
    assert told["rows"] == run.output.drop(columns="batch").astype(str).values.tolist()
    assert told["fates"] == run.rows.fate.value_counts().to_dict()
    assert told["fault"] == ""
    assert told["state"] == len(run.state(1))
    assert told["batches"] == len(run.batches)
