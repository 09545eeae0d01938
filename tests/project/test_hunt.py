"""The search for mismatches on several versions of Spark: it fails if one of them does."""

from __future__ import annotations

import subprocess
import sys

import hunt
import parts
import pytest

from workbench import spark_versions


@pytest.fixture
def versions(monkeypatch):
    """A hunt of which each version ends with a code of its own; gives those codes, and the versions that were hunted on."""
    codes, hunted = {}, []

    def run(words, *, env, check):
        hunted.append(env["version"])
        return subprocess.CompletedProcess(words, codes.get(env["version"], 0))

    monkeypatch.setattr(parts, "with_pyspark", lambda version: {"version": version})
    monkeypatch.setattr(hunt.subprocess, "run", run)
    return codes, hunted


@pytest.mark.parametrize(("code", "told"), [(0, 0), (1, 1), (2, 1), (-9, 1)])
@pytest.mark.parametrize("place", ["4.0", "4.1"])
def test_a_version_that_fails_fails_the_hunt(versions, monkeypatch, place, code, told):
    codes, hunted = versions
    codes[place] = code
    monkeypatch.setattr(sys, "argv", ["hunt.py", "--spark", "4.0", "4.1"])
    assert hunt.main() == told
    assert hunted == ["4.0", "4.1"]


def test_all_are_the_versions_that_the_workbench_runs_on(versions, monkeypatch):
    _, hunted = versions
    monkeypatch.setattr(sys, "argv", ["hunt.py", "--spark", "all"])
    assert hunt.main() == 0
    assert tuple(hunted) == spark_versions.SUPPORTED
    assert (hunted[0], hunted[-1]) == (spark_versions.OLDEST.minor, spark_versions.NEWEST.minor)
