"""Jobs that Hypothesis writes, as people write them, are told as Spark ran them: on this version and on others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import drawn
import jobs
import parts
import pytest
import scripts
import strategies

import workbench as wb

HERE = Path(__file__).parent

WORK = """
import json, shutil, sys, tempfile
import drawn
from hypothesis import HealthCheck, Phase, given, seed, settings
import workbench as wb

spark, told = wb.spark(), []


@seed(int(sys.argv[1]))
@settings(
    max_examples=int(sys.argv[2]), deadline=None, database=None, phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(drawn.drawn_jobs())
def check(job):
    folder = tempfile.mkdtemp(dir=sys.argv[3])
    told.append([repr(job), drawn.check(spark.newSession(), job, folder)])
    shutil.rmtree(folder)


check()
print(json.dumps({"spark": spark.version, "told": told}))
"""


@strategies.in_parts(20, 4, job=drawn.drawn_jobs())
@pytest.mark.usefixtures("spark")
def test_a_drawn_job_is_told_as_spark_ran_it(job):
    with tempfile.TemporaryDirectory() as folder:
        assert drawn.check(jobs.session(wb.spark()), job, folder) == []


@pytest.mark.engine
@pytest.mark.drawn(1)
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("minor", ["4.0"])
def test_on_another_version_of_spark(minor, part, tmp_path):
    env = scripts.environment(tmp_path, over=parts.real(lambda: parts.with_pyspark(minor)))
    env["PYTHONPATH"] = os.pathsep.join([env.get("PYTHONPATH", ""), str(HERE.parents[2]), str(HERE)])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WORK, str(100 + part), "5", str(tmp_path)],
        capture_output=True, text=True, timeout=400, check=False, env=env, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["spark"].startswith(f"{minor}.")
    assert len(found["told"]) == 5
    assert [each for each in found["told"] if each[1]] == []
