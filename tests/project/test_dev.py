"""The loop: which tests a quick run leaves out, and that CI runs all."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

import dev  # noqa: E402 - a script beside the packages


def test_ci_runs_every_test():
    assert (ROOT / ".ci" / "run").read_text().endswith("\nexec python3 dev.py test --all\n")
    for page in ("README.md", "CONTRIBUTING.md"):
        assert "python3 dev.py test --all" in (ROOT / page).read_text()


def test_a_quick_run_leaves_out_what_the_markers_say(monkeypatch, pytestconfig):
    registered = {line.split(":")[0].split("(")[0] for line in pytestconfig.getini("markers")}
    assert (
        set(re.findall(r"[a-z]+", dev.QUICK[1])) - {"not", "or"} == {"browser", "server", "engine", "slow"} < registered
    )
    given = []
    monkeypatch.setattr(dev, "run", lambda *words: given.append([str(word) for word in words]))
    for words, expected in (
        (["test", "-k", "interval"], [*dev.TWO, *dev.QUICK, "-k", "interval"]),
        (["test", "--all", "-x"], [*dev.TWO, "-x"]),
    ):
        monkeypatch.setattr(sys, "argv", ["dev.py", *words])
        dev.test()
        assert given[-1][1:] == ["-m", "pytest", *expected]
    assert [Path(words[0]).name for words in given[:4]] == ["ruff", "ruff", "mypy", "lint-imports"]


def test_a_night_hunts_on_every_version_of_spark(monkeypatch):
    given = []
    monkeypatch.setattr(dev, "run", lambda *words: given.append([str(word) for word in words]))
    monkeypatch.setattr(sys, "argv", ["dev.py", "nightly"])
    dev.nightly()
    assert [words[-2:] for words in given if "--spark" in words] == [["--spark", "all"]]
