"""The exported declarative pipeline, run by ``spark-pipelines``, gives the rows of the run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import fault_lab
import pyspark
import pytest
import scripts
from fault_lab import plain, rows_of

import workbench as wb

pytestmark = pytest.mark.engine


def test_a_pipeline_gives_the_rows_of_the_run(spark, connect_port, tmp_path):
    run = wb.run(wb.IntervalJoin("-5 s", "5 s", how="left"), *fault_lab.streams(1, rows=30), finish=False)
    folder = wb.export(run, tmp_path / "job").parent
    spec = folder / "pipeline" / "spark-pipeline.yml"
    text = spec.read_text().replace("file:///tmp/orders-with-payments", f"file://{tmp_path}/storage")
    spec.write_text(text.replace('"main_data/', f'"{folder}/main_data/'))
    home = Path(pyspark.__file__).parent
    env = scripts.environment(tmp_path, **{"spark.sql.warehouse.dir": str(tmp_path / "warehouse")})
    del env["PYSPARK_SUBMIT_ARGS"]
    done = subprocess.run(
        [home / "bin" / "spark-pipelines", "run", "--spec", spec, "--conf", f"spark.sql.warehouse.dir={tmp_path / 'warehouse'}"],
        env=env | {"SPARK_HOME": str(home), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True, text=True, timeout=240, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    found = spark.read.parquet(str(tmp_path / "warehouse" / "orders_with_payments")).toArrow().to_pylist()
    assert plain(found) == rows_of(run)
    assert len(found) > 20
