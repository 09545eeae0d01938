"""The pytest plugin: one quick Spark session for the run, and a file of each job of a test.

pytest loads it in every run where the workbench is installed: it imports nothing until a test needs it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from workbench.testing import Played

__all__ = ["pytest_addoption", "pytest_assertrepr_compare", "pytest_configure", "pytest_runtest_call", "streams"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("workbench", "tests of streaming code")
    group.addoption("--workbench-update", action="store_true", help="write the snapshots of job.matches anew")
    group.addoption(
        "--workbench-report", metavar="DIR", help="write a report and a picture of each job that a test plays"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Let `Played.matches` know, in workers of pytest-xdist, too."""
    if config.getoption("--workbench-update"):
        os.environ["WORKBENCH_UPDATE"] = "1"


@pytest.fixture(scope="session")
def streams() -> Iterator[SparkSession]:
    """One quick local Spark session for the run; `play` takes it."""
    from pyspark.sql import SparkSession  # when needed: PySpark is slow to import

    from workbench import session  # the same

    before = SparkSession.getActiveSession()
    yield session.spark()
    if before is None:
        session.spark().stop()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Keep the jobs of a test, where files of them are asked for."""
    folder = item.config.getoption("--workbench-report")
    if not folder:
        return (yield)
    from workbench import testing  # when needed: it imports pandas

    played: list[Played] = []
    testing.observers.append(played.append)
    try:
        return (yield)
    finally:
        testing.observers.remove(played.append)
        for number, job in enumerate(played):
            _write(job, Path(folder), item.nodeid, number)


def _write(job: Played, folder: Path, test: str, number: int) -> None:
    """The report of a job, and its picture."""
    from workbench.errors import WorkbenchError  # when needed: pytest loads this module in every run

    name = re.sub(r"[^\w.-]+", "_", test.replace(".py::", "-")).strip("_") + (f"-{number + 1}" if number else "")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        job.charts.tracks().save(str(folder / f"{name}.png"))
        job.report(str(folder / f"{name}.html"))
    except WorkbenchError as error:
        (folder / f"{name}.txt").write_text(f"{error}\n", encoding="utf-8")


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Tell the story of a row whose fate is another than a test says."""
    stories = [getattr(each, "story", None) for each in (left, right)]
    story = next((each for each in stories if isinstance(each, str)), None)
    if story is None or op not in ("==", "in", "!="):
        return None
    return [f"{left!r} {op} {right!r}", *story.splitlines()]
