"""An exported script on a real standalone cluster, a master and two workers, gives the rows of the local run."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import parts
import pyspark
import pytest
import scripts
from fault_lab import plain, rows_of, streams

import workbench as wb

HOME = Path(pyspark.__file__).parent
QUIET = {"stdin": subprocess.DEVNULL, "start_new_session": True}


@pytest.fixture
def cluster(tmp_path):
    """The address of a master that two workers have joined."""
    port = parts.free_port()
    env = os.environ | {"SPARK_HOME": str(HOME), "SPARK_NO_DAEMONIZE": "1", "SPARK_DAEMON_MEMORY": "256m"}
    env |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable, "SPARK_WORKER_DIR": str(tmp_path / "work")}
    running = []

    def start(kind, *words):
        log = tmp_path / f"{kind}-{len(running)}.log"
        command = [HOME / "bin" / "spark-class", f"org.apache.spark.deploy.{kind.lower()}.{kind}", *map(str, words)]
        with log.open("w") as out:
            running.append(subprocess.Popen(command, env=env, stdout=out, stderr=out, **QUIET))
        return log

    log = start("Master", "--host", "127.0.0.1", "--port", port, "--webui-port", 0)
    scripts.wait_for(lambda: "New state: ALIVE" in log.read_text(), 60)
    for _ in range(2):
        start(
            "Worker",
            "--cores",
            1,
            "--memory",
            "700m",
            "--webui-port",
            0,
            "--host",
            "127.0.0.1",
            f"spark://127.0.0.1:{port}",
        )
    scripts.wait_for(lambda: log.read_text().count("Registering worker") == 2, 60)
    yield f"spark://127.0.0.1:{port}", log
    for each in running:
        os.killpg(each.pid, signal.SIGKILL)
        each.wait()


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
