"""The commands of dev.py, and that CI runs the one of the README."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

import dev  # noqa: E402 - a script beside the packages


def test_ci_runs_the_readme_s_command():
    assert (ROOT / ".ci" / "run").read_text().endswith("\nexec python3 dev.py test --all\n")
    for page in ("README.md", "CONTRIBUTING.md"):
        assert "python3 dev.py test --all" in (ROOT / page).read_text()


def test_each_command_names_its_tier(monkeypatch, pytestconfig):
    given = []
    monkeypatch.setattr(dev, "run", lambda *words, **_: given.append([str(word) for word in words]))
    for words, tier, more in (
        (["test", "-k", "interval"], "quick", ["-k", "interval"]),
        (["test", "--changed", "--since", "HEAD~1"], "changed", ["--since", "HEAD~1"]),
        (["test", "--all", "-x"], "all", ["-x"]),
    ):
        monkeypatch.setattr(sys, "argv", ["dev.py", *words])
        dev.test()
        command = given[-1]
        assert command[1 : 3 + len(dev.TWO)] == ["-m", "pytest", *dev.TWO]
        assert command[command.index("--tier") + 1] == tier
        assert 0 < float(command[command.index("--minutes") + 1]) <= dev.MINUTES
        assert command[-len(more) :] == more
    assert [Path(words[0]).name for words in given[:4]] == ["ruff", "ruff", "mypy", "lint-imports"]


def test_a_night_hunts_on_every_version_of_spark(monkeypatch):
    given = []
    monkeypatch.setattr(dev, "run", lambda *words, **_: given.append([str(word) for word in words]))
    monkeypatch.setattr(sys, "argv", ["dev.py", "nightly"])
    dev.nightly()
    assert [words[-2:] for words in given if "--spark" in words] == [["--spark", "all"]]
    assert {"nightly", "--every-kill"} <= set(given[-1])


def test_the_index_of_the_tests_names_every_module_that_they_share():
    page = (ROOT / "CONTRIBUTING.md").read_text()
    modules = {each.stem for each in (ROOT / "tests").glob("*.py")} - {"conftest"}
    assert [name for name in modules if f"`{name}`" not in page] == []


def test_a_run_that_hangs_is_killed_and_says_so(monkeypatch):
    with pytest.raises(SystemExit, match=r"had not ended after 0 minutes, and were killed"):
        dev.run(sys.executable, "-c", "import time; time.sleep(60)", minutes=0.002)
