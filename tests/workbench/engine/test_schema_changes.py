"""Which changes of a stream's columns the state of a running join survives: the table in docs/state.md."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import parts
import pytest
import scripts

PAGE = Path(__file__).parents[3] / "docs" / "state.md"
VERSIONS = ("4.0", "4.1", "4.2", "4.3")


def documented():
    """The table of the page: by change and version, what Spark does."""
    lines = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", PAGE.read_text(), re.MULTILINE)
    assert ("change", *VERSIONS) in lines
    return {
        change: dict(zip(VERSIONS, told, strict=True)) for change, *told in lines if change not in ("change", "---")
    }


def tried(folder, env):
    script = Path(__file__).with_name("schema_changes.py")
    done = subprocess.run([sys.executable, script, folder], capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def agrees(told, version):
    assert told["spark"].startswith(f"{version}.")
    found = {change: set(each.values()) for change, each in told["found"].items()}
    assert all(len(each) == 1 for each in found.values())  # whichever the store
    assert {change: each.pop() for change, each in found.items()} == {
        change: each[version].replace("`", "") for change, each in documented().items()
    }


@pytest.mark.family("what a Spark does")
@pytest.mark.slow
def test_the_table_is_what_the_installed_spark_does(tmp_path):
    agrees(tried(tmp_path, scripts.environment(tmp_path)), VERSIONS[-1])


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("version", VERSIONS[:-1])
def test_the_table_is_what_other_versions_do(tmp_path, version):
    agrees(tried(tmp_path, parts.real(lambda: parts.with_pyspark(version))), version)
