"""Faults of Spark's own, each shown by a script of plain PySpark: which of them the Spark that is installed has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.engine
SCRIPTS = Path(__file__).parents[2] / "faults"
HERE = {"fault_semi", "fault_nullkeys", "fault_restart", "spark_46350", "spark_52008"}
"""Those that Spark 4.3 has."""


@pytest.mark.parametrize("name", sorted(each.stem for each in SCRIPTS.glob("*.py")))
def test_a_fault_of_spark(name, tmp_path):
    done = subprocess.run(
        [sys.executable, SCRIPTS / f"{name}.py"],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        capture_output=True, text=True, timeout=180, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["faulty"] == (name in HERE), told
