"""`python -m workbench diff`: which rows of a fixture fare otherwise under changed code."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pandas as pd
import pytest
import shop_streams as shop
import yaml

from workbench.__main__ import main
from workbench.testing import micro_batches, play
from workbench.testing.diffing import Difference, differences, markdown, text

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def fixture(spark, tmp_path_factory):
    orders = micro_batches(shop.ORDERS, [("o-1", "10:00:00"), ("o-2", "10:05:00")], [("o-3", "09:59:00")])
    payments = micro_batches(shop.PAYMENTS, [("o-1", "10:00:20", 5), ("o-2", "10:05:03", 7)], [("o-3", "09:59:05", 1)])
    job = play(shop.unpaid_orders, orders=orders, payments=payments, finish=True, restart_after=0)
    return job.fixture(tmp_path_factory.mktemp("fixtures") / "unpaid")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A repository with the code of the shop, which is the current folder."""
    monkeypatch.chdir(tmp_path)
    code = (HERE / "shop_streams.py").read_text(encoding="utf-8")
    (tmp_path / "shop_of_diff.py").write_text(code, encoding="utf-8")
    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-q", "-m", "as it was")
    (tmp_path / "shop_of_diff.py").write_text(code.replace("15 SECONDS", "25 SECONDS"), encoding="utf-8")
    return tmp_path


def git(*arguments):
    named = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *named, *arguments], check=True, capture_output=True)


def test_changed_code_in_a_file(spark, fixture, here, capsys):
    assert main(["diff", str(fixture), "shop_of_diff.py:unpaid_orders"]) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0].endswith("unpaid under shop_of_diff.py:unpaid_orders: 2 of 6 rows fare otherwise")
    assert said[1:] == [
        "  unmatched -> matched: 2 rows",
        "    orders o-1 at 2026-01-01T10:00:00, micro-batch 0",
        "    payments o-1 at 2026-01-01T10:00:20, micro-batch 0",
    ]
    assert main(["diff", str(fixture), "shop_of_diff:unpaid_orders", "--threshold", "2", "--markdown"]) == 0
    said = capsys.readouterr().out
    assert "**2 of 6 rows fare otherwise**" in said
    assert "| unmatched | matched | 2 | orders o-1 at 2026-01-01T10:00:00, micro-batch 0; payments o-1" in said
    assert sorted(each.name for each in here.iterdir() if each.name != ".git") == ["shop_of_diff.py"]


WITH_A_FUNCTION = """

def known(text):
    return text is not None

def unpaid_known_orders(orders, payments):
    return unpaid_orders(orders.where(F.udf(known, "boolean")("id")), payments)
"""


def test_a_function_of_python_beside_the_code(spark, fixture, here, capsys):
    """Spark's workers import it by the name of its module."""
    (here / "jobs").mkdir()
    code = (HERE / "shop_streams.py").read_text(encoding="utf-8")
    (here / "jobs" / "shop_beside.py").write_text(code + WITH_A_FUNCTION, encoding="utf-8")
    assert main(["diff", str(fixture), "jobs/shop_beside.py:unpaid_known_orders"]) == 0
    assert "all rows fare as before" in capsys.readouterr().out


@pytest.mark.engine
@pytest.mark.nightly
def test_two_revisions_of_git(spark, fixture, here, capsys):
    assert main(["diff", str(fixture), "shop_of_diff.py:unpaid_orders", "--revisions", "main.."]) == 1
    assert "unmatched -> matched: 2 rows" in capsys.readouterr().out
    git("commit", "-q", "-a", "-m", "a wider bound")
    assert main(["diff", str(fixture), "shop_of_diff.py:unpaid_orders", "--revisions", "main~1..main"]) == 1
    assert "unmatched -> matched: 2 rows" in capsys.readouterr().out
    assert main(["diff", str(fixture), "shop_of_diff.py:unpaid_orders", "--revisions", "none..main"]) == 2
    assert "--revisions: fatal: " in capsys.readouterr().err


WRONG = {
    "no fixture": (
        ["nowhere", "shop_of_diff.py:unpaid_orders"],
        "FIXTURE: got 'nowhere'; there is no fixture.json in it",
    ),
    "no function": (["{}", "shop_of_diff.py"], "CODE: got 'shop_of_diff.py'; give a module and a function of it"),
    "no such function": (["{}", "shop_of_diff.py:none"], "has no function none"),
    "no such file": (["{}", "none.py:build"], "CODE: got 'none.py:build'; there is no file none.py"),
    "a threshold": (
        ["{}", "shop_of_diff.py:unpaid_orders", "--threshold", "few"],
        "--threshold: got 'few'; give how many rows",
    ),
    "one revision": (
        ["{}", "shop_of_diff.py:unpaid_orders", "--revisions", "main"],
        "--revisions: got 'main'; give two revisions",
    ),
    "an option as a revision": (
        ["{}", "shop_of_diff.py:unpaid_orders", "--revisions=--output=x..a"],
        "give two revisions",
    ),
    "other streams": (["{}", "shop_of_diff.py:per_minute"], "build: per_minute cannot be called with orders, payments"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_compared_is_one_sentence(spark, fixture, here, capsys, case):
    arguments, words = WRONG[case]
    assert main(["diff", *(each.format(fixture) for each in arguments)]) == 2
    said = capsys.readouterr()
    assert words in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""


@pytest.mark.engine
def test_the_steps_of_the_documentations_workflow(spark, fixture, here):
    """All but those that set up the machine."""
    page = (HERE.parents[2] / "docs" / "test-a-join.md").read_text(encoding="utf-8")
    workflow = yaml.safe_load(re.search(r"```yaml\n(.*?)```", page, re.S).group(1))
    steps = {each["name"]: each["run"] for each in workflow["jobs"]["rows"]["steps"] if "run" in each}
    project = tomllib.loads((HERE.parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert steps["Install"] == f"pip install {project['name']}"
    (here / "shop").mkdir()
    (here / "shop_of_diff.py").rename(here / "shop" / "jobs.py")
    shutil.copytree(fixture, here / "tests" / "unpaid")
    git("add", ".")
    git("commit", "-q", "-m", "moved, with a wider bound")
    git("update-ref", "refs/remotes/origin/main", "HEAD")
    code = here / "shop" / "jobs.py"
    code.write_text(code.read_text(encoding="utf-8").replace("25 SECONDS", "1 SECONDS"), encoding="utf-8")
    summary = here / "summary.md"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = os.environ | {"PATH": path, "GITHUB_BASE_REF": "main", "GITHUB_STEP_SUMMARY": str(summary)}
    done = subprocess.run(
        ["bash", "-e", "-c", steps["Rows that fare otherwise"]],
        cwd=here,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "**6 of 6 rows fare otherwise**" in summary.read_text(encoding="utf-8")
    assert "| matched | unmatched | 6 |" in summary.read_text(encoding="utf-8")


def table(*rows):
    return pd.DataFrame(
        [(each[0], each[1], [each[2]], each[3], each[4]) for each in rows],
        columns=["stream", "batch", "key", "time", "fate"],
    )


def test_rows_that_come_and_go_and_rows_that_are_alike():
    was = table(("a", 0, "x", "t", "late"), ("a", 0, "x", "t", "matched"), ("b", 1, "y", "t", "matched"))
    now = table(
        ("a", 0, "x", "t", "late"),
        ("a", 0, "x", "t", "late"),
        ("a", 2, "x", "t", "matched"),
        ("a", 0, "z", "t", "late"),
    )
    found = differences(was, now)
    assert [(each.was, each.now, each.rows) for each in found] == [
        ("matched", "gone", 1), ("matched", "late", 1), ("new", "matched", 1),
    ]  # fmt: skip
    assert differences(was, was) == []
    assert text("it", [], 3) == "it: all rows fare as before"
    assert markdown("it", [], 3) == "**All rows fare as before**: it"


def test_a_key_is_no_markup():
    told = markdown("a|b", [Difference("late", "matched", 1, ("orders <b>|*x*_`",))], 1)
    assert "| late | matched | 1 | orders &lt;b&gt;\\|\\*x\\*\\_\\` |" in told
    assert "a\\|b" in told
