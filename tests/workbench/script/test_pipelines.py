"""The exported declarative pipeline, run by ``spark-pipelines``, gives the rows of the run."""

from __future__ import annotations

import fault_lab
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
    code, said = scripts.run_pipeline(spec, tmp_path)
    assert code == 0, said[-3000:]
    found = spark.read.parquet(str(tmp_path / "warehouse" / "orders_with_payments")).toArrow().to_pylist()
    assert plain(found) == rows_of(run)
    assert len(found) > 20
