"""Workers run the Python that the notebook runs, whatever is first on the PATH."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

CODE = """
from pyspark.sql import functions as F
import workbench as wb

print(wb.spark().range(2).select(F.udf(lambda n: n + 1, "int")("id")).collect())
"""


@pytest.mark.engine
def test_workers_run_the_notebook_s_python(tmp_path):
    """A kernel of an environment that is not activated: another python3 is on the PATH."""
    other = tmp_path / "python3"
    other.write_text("#!/bin/sh\nexit 1\n")
    other.chmod(0o755)
    env = {name: value for name, value in os.environ.items() if name != "PYSPARK_PYTHON"}
    env["PATH"] = f"{tmp_path}{os.pathsep}{env['PATH']}"
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, env=env, check=False)
    assert done.stdout.splitlines()[-1] == "[Row(<lambda>(id)=1), Row(<lambda>(id)=2)]", done.stderr[-2000:]
