"""Faults of Spark's own, each shown by a script of plain PySpark, on a version that has it and on one that has not.

Those in the package are named by `workbench.advise`; those in tests/faults no join of the workbench meets, and
docs/spark-versions.md says why. That of left semi joins has a report of its own, for Spark's developers.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import parts
import pytest

from workbench import spark_versions, tuning
from workbench.tuning import spark_faults

pytestmark = pytest.mark.engine
ROOT = Path(__file__).parents[3]
SCRIPTS = {
    each.stem: each
    for folder in (Path(tuning.__file__).parent / "examples", ROOT / "tests" / "faults")
    for each in folder.glob("*.py")
}
HERE = {"left_semi", "null_keys", "restart", "spark_46350", "spark_52008"}
"""Those that Spark 4.3 has."""
ELSEWHERE = [("spark_49829", "3.5.1"), ("spark_45637", "3.5.1"), ("spark_47840", "3.5.1")]
"""Those that it has not, each on a version that has it."""
MORE = [
    ("spark_49829", "3.3.4"), ("spark_42376", "3.3.4"), ("spark_49829", "3.4.3"), ("spark_45637", "3.4.3"),
    ("left_semi", "4.2.0"), ("fault_v4", "4.2.0"), ("null_keys", "3.5.1"), ("restart", "3.5.1"), ("spark_38684", "3.2.1"),
]  # fmt: skip
GONE = [
    ("spark_49829", "3.4.4"), ("spark_49829", "3.5.4"), ("spark_45637", "3.5.4"), ("spark_47840", "3.5.4"),
    ("left_semi", "4.1.1"), ("spark_42376", "3.5.1"),
]  # fmt: skip
REPORT = ROOT / "docs" / "spark-left-semi-report.md"
OPENS = [f"--add-opens=java.base/{each}=ALL-UNNAMED" for each in ("java.lang", "java.nio", "sun.nio.ch", "java.util")]


def told(name, folder, env=None):
    """What a script says of the Spark that runs it."""
    done = subprocess.run(
        [sys.executable, SCRIPTS[name]],
        env=(env or os.environ) | {"TMPDIR": str(folder)},
        capture_output=True, text=True, timeout=180, check=False, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def on(name, version, folder):
    env = parts.real(lambda: parts.with_pyspark(version))
    if version.startswith("3.2"):  # made for Java 11
        env |= {"JAVA_TOOL_OPTIONS": " ".join(OPENS)}
    found = told(name, folder, env)
    assert found["version"] == version
    return found["faulty"]


@pytest.mark.family("what a Spark does")
@pytest.mark.drawn(4)
@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_the_faults_of_the_installed_spark(name, tmp_path):
    found = told(name, tmp_path)
    assert found["faulty"] == (name in HERE), found


@pytest.mark.drawn(1)
@pytest.mark.parametrize(("name", "version"), ELSEWHERE)
def test_a_fault_of_another_spark(name, version, tmp_path):
    assert on(name, version, tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "version"), MORE)
def test_a_fault_of_many_another_spark(name, version, tmp_path):
    assert on(name, version, tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "version"), GONE)
def test_a_version_without_the_fault(name, version, tmp_path):
    assert not on(name, version, tmp_path)


def test_every_fault_that_is_named_is_shown_on_a_version_that_has_it():
    shown = {*((name, spark_versions.installed()) for name in HERE), *ELSEWHERE, *MORE}
    for fault in spark_faults.FAULTS:
        assert any(name == fault.example and fault.affects(version) for name, version in shown), fault.example
        assert fault.source().startswith('"""')


def reported():
    """The report's reproduction, what is expected of it, and what a Spark with the fault prints."""
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", REPORT.read_text(), re.DOTALL | re.MULTILINE)
    assert [word for word, _ in blocks] == ["python", "text", "text"]
    return [text for _, text in blocks]


@pytest.mark.family("what a Spark does")
@pytest.mark.parametrize(
    "version",
    [None, spark_versions.OLDEST.minor, *(pytest.param(each, marks=pytest.mark.nightly) for each in ("4.1.1", "4.2.0"))],
)  # fmt: skip
def test_the_reproduction_of_the_report_prints_what_the_report_says(version, tmp_path):
    code, expected, actual = reported()
    env = parts.real(lambda: parts.with_pyspark(version)) if version else os.environ
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=env | {"TMPDIR": str(tmp_path)},
        capture_output=True, text=True, timeout=180, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    fault = next(each for each in spark_faults.FAULTS if each.example == "left_semi")
    assert done.stdout == (actual if fault.affects(version or spark_versions.installed()) else expected)
    assert expected != actual


def test_the_reproduction_of_the_report_is_short_and_of_pyspark_only():
    code, *_ = reported()
    assert len(code.splitlines()) <= 25
    nodes = list(ast.walk(ast.parse(code)))
    imported = [each.module for each in nodes if isinstance(each, ast.ImportFrom)]
    imported += [name.name for each in nodes if isinstance(each, ast.Import) for name in each.names]
    assert {name.split(".")[0] for name in imported} == {"pyspark", "tempfile"}
    assert not any(isinstance(each, ast.FunctionDef) for each in nodes)
