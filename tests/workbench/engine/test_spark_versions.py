"""The oldest Spark that the workbench runs on, and the oldest that its exports run on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import fault_lab
import parts
import pyarrow.parquet as pq
import pytest
import scripts
from fault_lab import plain, rows_of

import workbench as wb
from workbench import spark_versions

TESTS = Path(__file__).parents[2]


@pytest.mark.engine
def test_model_and_spark_agree_on_the_oldest_version():
    words = [sys.executable, TESTS / "hunt.py", "--cases", "12", "--seed", str(fault_lab.seed_of_commit() % 1000)]
    oldest = spark_versions.OLDEST.minor
    parts.real(lambda: parts.pyspark(oldest))
    done = subprocess.run(
        [*words, "--spark", oldest], capture_output=True, text=True, timeout=500, check=False, cwd=TESTS
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    assert f"Spark {oldest}." in done.stdout
    assert "12 cases, 0 differ" in done.stdout


@pytest.mark.engine
@pytest.mark.parametrize("target", ["join.py", "job"])
def test_exports_run_on_the_oldest_version_of_scripts(ran, tmp_path, target):
    oldest = spark_versions.OLDEST_OF_SCRIPTS
    env = parts.real(lambda: parts.with_pyspark(oldest))
    run = ran(wb.IntervalJoin("-2 s", "5 s", how="left"))
    file = wb.export(run, tmp_path / target)
    places = ("--output", tmp_path / "output", "--checkpoint", tmp_path / "checkpoint")
    scripts.run(file, "--drain", *places, env=scripts.environment(tmp_path, over=env))
    assert plain(pq.read_table(tmp_path / "output").to_pylist()) == rows_of(run)


@pytest.mark.parametrize(
    ("number", "minor"), [("4.0.1-amzn-0", "4.0"), ("4.3.0", "4.3"), ("4.10.2", "4.3"), ("3.5.7", "4.0"), ("?", "4.0")]
)
def test_the_facts_of_a_version(number, minor):
    assert spark_versions.facts(number).minor == minor


def test_a_session_of_an_older_version_is_refused():
    class Old:
        version = "3.5.7"

        def newSession(self):  # noqa: N802
            raise AssertionError

    sides = fault_lab.streams(1)
    with pytest.raises(wb.ArgumentError, match=r"spark: got a session of Spark 3.5.7; give one of Spark 4.0 to 4.3"):
        wb.run(wb.IntervalJoin("0 s", "1 s"), *sides, spark=Old())


def test_a_version_that_is_not_known_is_refused():
    with pytest.raises(wb.ArgumentError, match=r"spark_version: got '3.5'; give a version from 4.0 to 4.3"):
        wb.preview(wb.IntervalJoin("0 s", "1 s"), *fault_lab.streams(1), spark_version="3.5")
