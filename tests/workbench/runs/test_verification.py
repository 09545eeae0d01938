"""A difference between model and Spark is told, and loses nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from helpers import stream
from same_day import DAY, SameDay, SameDayJoin

import generators
import workbench as wb
from workbench.kinds import register, unregister

T = 1_767_225_600  # seconds: 2026-01-01
JOINS = [wb.IntervalJoin("0 seconds", "15 seconds", how="left")]


def test_a_difference_is_told_and_saved(spark, tmp_path, monkeypatch):
    run = wb.run(JOINS[0], stream([("a", T)], "l"), stream([("a", T + 1)], "r"))
    run.outcome.outputs.table["batch"] += 1
    run = replace(run)  # which has not been compared yet
    assert run.mismatches["differences"].tolist() == [2]
    assert "model only: (0, 0, 0, 0, 1)" in run.mismatches["examples"].iloc[0]
    assert "differ" in repr(run)
    folder = run.save_report(tmp_path / "report")
    again = generators.load(folder / "recording")
    assert not wb.run(
        eval((folder / "report.json").read_text().split('"join": "')[1].split('"')[0], vars(wb)), *again
    ).mismatches.size


def test_a_run_that_cannot_be_compared_is_not_lost(spark, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr("workbench.runs.verification.compare", lambda *_, **__: broken())
    with pytest.warns(UserWarning, match="was not compared with the workbench's model.*on purpose"):
        run = wb.run(JOINS[0], stream([("a", T)], "l"), stream([("a", T + 1)], "r"))
    assert len(run.output) == 1


class WrongDay(SameDay):
    """A kind whose model puts rows into other windows than its plan."""

    def assign(self, join, moments):
        return super().assign(join, moments + DAY)


def test_a_mismatch_is_warned_of(spark):
    register(WrongDay())
    try:
        with pytest.warns(UserWarning, match="the workbench's model and Spark differ on this run"):
            wb.run(SameDayJoin(), stream([("a", T)], "l"), stream([("a", T + 1)], "r"))
    finally:
        unregister(WrongDay.name)
