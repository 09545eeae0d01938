"""The workflow of a public code host, and the one command that does the same on one's own machine."""

from __future__ import annotations

import re
import sys

import matrix
import pytest
import yaml

from workbench import session, spark_versions

JOBS = yaml.safe_load(matrix.WORKFLOW.read_text())["jobs"]


def test_the_workflow_covers_what_is_supported():
    assert matrix.combinations() == [
        (python, java) for python in ("3.11", "3.12", "3.13") for java in ("17", "21", "25")
    ]
    assert JOBS["spark"]["strategy"]["matrix"]["spark"] == list(spark_versions.SUPPORTED)


@pytest.mark.parametrize("job", JOBS)
def test_the_workflow_calls_commands_that_there_are(job):
    *_, last = [step["run"] for step in JOBS[job]["steps"] if "run" in step]
    command = re.fullmatch(r"python dev\.py (\w+)( .*)?", last)
    if command is None:
        assert last.endswith("bash .ci/run")
    else:
        assert f'"{command[1]}": {command[1]}' in (matrix.ROOT / "dev.py").read_text()


def test_what_is_there_is_found_and_what_is_not_is_not():
    version = "{}.{}".format(*sys.version_info)
    assert matrix.python_of(version)
    assert matrix.python_of("3.99") is None
    java = re.search(r'version "(\d+)', session.check_java())[1]
    assert matrix.java_of(java)
    assert matrix.java_of("99") is None


def test_what_is_missing_is_told(monkeypatch, capsys):
    monkeypatch.setattr(matrix, "combinations", lambda: [("3.99", "17")])
    assert matrix.main([]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "Python 3.99, Java 17: not run: no Python 3.99 found"
