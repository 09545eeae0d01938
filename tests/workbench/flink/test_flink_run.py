"""`wb.flink.run`: a recording through a real Flink, verified, and nothing left behind."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace

import pandas as pd
import parts
import psutil
import pytest

import generators
import workbench as wb
from workbench.flink import FlinkRun, cluster
from workbench.spark_io import scratch


@pytest.fixture(scope="module")
def jars(pyflink, javac):
    return parts.flink_jars(pyflink)


def recording(**more):
    return generators.generate("orders_payments", **{"events": 60, "late": 0.3, "watermark": "1 s", "seed": 3} | more)


def mine():
    """The Javas of Flink that this process has started and that still run, and its temporary folders."""
    found = {each.name for each in scratch.MEMORY.glob(f"{scratch.PREFIX}{os.getpid()}-*")}
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it has just ended, or nobody has asked for its exit code yet
            if "LockStep" in child.cmdline():
                found.add(child.pid)
    return found


@pytest.mark.parametrize(
    ("join", "more"),
    [
        (wb.IntervalJoin("0 s", "10 s", upper_exclusive=True), {}),
        (wb.IntervalJoin("0 s", "10 s", how="full"), {}),
        (wb.IntervalJoin("0 s", "10 s", how="anti"), {}),
        (wb.WindowJoin(wb.Sliding("10 s", "5 s"), how="full"), {"allowed_lateness": "5 s"}),
        (wb.WindowJoin(wb.Session("5 s"), how="semi"), {"watermarks": "row"}),
        (wb.CoGroup(wb.Tumbling("10 s", "3 s")), {"allowed_lateness": "3 s", "idleness": 2}),
        (wb.CoGroup(wb.Session("3 s")), {}),
    ],
    ids=str,
)
def test_flink_emits_what_the_preview_says(jars, join, more):
    before = mine()
    sides = recording()
    run = wb.flink.run(join, *sides, jars=jars, **more)
    assert mine() <= before
    expected = wb.flink.preview(join, *sides, **more)
    assert run.mismatch == ""
    assert (run.comparison["model"] == run.comparison["flink"]).all()
    pd.testing.assert_frame_equal(run.output, expected.output)
    pd.testing.assert_frame_equal(run.late, expected.late)
    assert run.batches["dropped"].sum() == len(run.late)
    assert run.batches["output_rows"].sum() == expected.batches["output_rows"].sum()
    assert repr(run).endswith("emitted>")
    assert expected.against(run).empty


def test_what_differs_from_the_model_is_told(jars):
    join, sides = wb.WindowJoin(wb.Tumbling("10 s")), recording(events=300)
    run = wb.flink.run(join, *sides, jars=jars)
    other = wb.flink.preview(join, *sides, allowed_lateness="1 minute")
    mixed = FlinkRun(other.simulation, run.outputs, run.dropped)
    assert "the workbench's model and Flink differ" in mixed.mismatch
    assert "see .comparison" in repr(mixed)
    assert (mixed.comparison["differences"] > 0).all()
    assert "Flink only: " in mixed.comparison["examples"][1]
    fewer = replace(run, dropped=run.dropped.iloc[1:])
    assert fewer.comparison["differences"].tolist() == [0, 1]


def test_no_flink_is_one_sentence(monkeypatch, tmp_path):
    monkeypatch.delenv("FLINK_HOME", raising=False)
    monkeypatch.setattr(cluster.metadata, "distribution", _missing)
    sides, join = recording(events=10), wb.IntervalJoin("0 s", "10 s")
    with pytest.raises(
        wb.WorkbenchError, match=r"^Flink's jars are not installed: pip install \"stream-join-workbench"
    ):
        wb.flink.run(join, *sides)
    monkeypatch.setenv("FLINK_HOME", str(tmp_path))
    with pytest.raises(wb.WorkbenchError, match=r"^FLINK_HOME is .*, where lib has no jars of Flink: pip install"):
        wb.flink.run(join, *sides)
    with pytest.raises(wb.ArgumentError, match=r"^jars: got '/nowhere'; give the folder lib of Flink 2\.3"):
        wb.flink.run(join, *sides, jars="/nowhere")


def _missing(name):
    raise cluster.metadata.PackageNotFoundError(name)


def test_jars_of_flink_home_and_of_another_flink(monkeypatch, tmp_path, jars, javac):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "flink-dist-1.9.jar").write_bytes(b"")
    monkeypatch.setenv("FLINK_HOME", str(tmp_path))
    assert cluster.find_jars() == tmp_path / "lib"
    before = mine()
    with pytest.raises(wb.QueryError, match=r"^jars: got .*; these are not of a Flink 2\.3: pip install"):
        wb.flink.run(wb.IntervalJoin("0 s", "10 s"), *recording(events=10))
    assert mine() <= before
    monkeypatch.setattr(cluster.shutil, "which", lambda name, path=None: None if name == "javac" else f"/bin/{name}")
    with pytest.raises(wb.JavaError, match=r"not its javac: wb\.flink\.run needs a whole JDK"):
        wb.flink.run(wb.IntervalJoin("0 s", "10 s"), *recording(events=10), jars=jars)


def test_a_flink_that_fails_is_one_sentence(jars):
    with cluster.Cluster(jars) as started:
        with pytest.raises(wb.QueryError, match=r"^Flink failed: ") as failed:
            started.run(["case tumbling 0 0 0", "delay 0 0", "row 0 0 1 5", "step"])
        assert "\n" not in str(failed.value)
        with pytest.raises(wb.QueryError, match=r"^Flink failed: "):
            started.run(["case tumbling 0 1 0", "delay 0 0"])


def test_what_flink_does_otherwise_is_refused(monkeypatch):
    sides = recording(events=10)
    with pytest.raises(wb.ArgumentError, match="Flink does a semi join of an interval as a regular join"):
        wb.flink.run(wb.IntervalJoin("0 s", "10 s", how="semi"), *sides)
    with pytest.raises(wb.ArgumentError, match="no whole millisecond lies within its bounds"):
        wb.flink.run(wb.IntervalJoin("0 s", "1 ms", "left", True, True), *sides)
    with pytest.raises(wb.ArgumentError, match="Flink's DataStream API has no as-of join"):
        wb.flink.run(wb.AsOfJoin(), *sides)
    with pytest.raises(wb.TooLargeError, match="got 228,000 rows"):
        wb.flink.run(wb.IntervalJoin("0 s", "10 s"), *recording(events=120_000))
