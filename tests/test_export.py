"""The exported script, run in a process of its own, gives the run's rows."""

from __future__ import annotations

import subprocess
import sys

import pyarrow.parquet as pq
import pytest
from helpers import stream

import workbench as wb

LEFT = [("a", 100, 0), ("a", 105, 0), (None, 112, 1), ("a", 112, 1), ("c", 300, 3), ("a", 101, 5)]
RIGHT = [("a", 100, 0), ("b", 110, 1), ("a", 117, 1), ("a", 117, 1), ("d", 400, 3), ("c", 303, 4)]


def run_script(file, *arguments, launcher=(sys.executable,)):
    command = [*launcher, str(file), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=file.parent)


def rows(table, names):
    return sorted(map(repr, (tuple(row[name] for name in names) for row in table.to_pylist())))


@pytest.mark.parametrize(
    ("join", "finish"),
    [
        (wb.IntervalJoin("-2 seconds", "5 seconds", how="full"), True),
        (wb.WindowJoin(wb.Session("5 seconds"), how="left"), False),
    ],
    ids=repr,
)
def test_script_gives_the_rows_of_the_run(spark, tmp_path, join, finish):
    done = wb.run(join, stream(LEFT, "orders"), stream(RIGHT, "payments"), finish=finish)
    script = wb.export(done, tmp_path / "join.py")
    told = run_script(script, "--output", str(tmp_path / "out"), "--checkpoint", str(tmp_path / "checkpoint"))
    assert told.returncode == 0, told.stderr[-3000:]
    names = [name for name in done.output if name != "batch"]
    assert rows(pq.read_table(tmp_path / "out"), names) == rows(done.raw_output, names)
    assert len(done.late) > 0
