"""An exported script on a real standalone cluster, a master and two workers, gives the rows of the local run."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import parts
import pyspark
import pytest
import scripts
from fault_lab import plain, rows_of, streams

import workbench as wb

HOME = Path(pyspark.__file__).parent


@pytest.fixture
def cluster(tmp_path):
    """The address of a master that two workers have joined."""
    with parts.cluster(tmp_path) as found:
        yield found


def test_the_rows_are_those_of_the_local_run(spark, cluster, tmp_path):
    address, log = cluster
    run = wb.run(wb.WindowJoin(wb.Tumbling("8 s"), how="full"), *streams(4, rows=30))
    file = wb.export(run, tmp_path / "join.py")
    settings = {"spark.executor.memory": "512m", "spark.cores.max": "2", "spark.executor.cores": "1"}
    env = scripts.environment(tmp_path, **{"spark.master": address} | settings)
    scripts.run(file, "--drain", env=env, launcher=(str(HOME / "bin" / "spark-submit"),))
    text = log.read_text()
    assert "Registered app orders with payments" in text
    assert len(set(re.findall(r"Launching executor (app-\S+) on worker (\S+)", text))) == 2
    found = spark.read.parquet(str(tmp_path / "output")).toArrow().to_pylist()
    assert plain(found) == rows_of(run)
    assert len(found) > 100
    shutil.rmtree(tmp_path / "work")
