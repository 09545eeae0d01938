"""Runs: their tables, hostile names, stops, failures, and nothing left behind."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

import pandas as pd
import pytest
from helpers import active, stream

import generators
import workbench as wb
from workbench import schema
from workbench.engine import query
from workbench.kinds import plan_of
from workbench.literals import FATES
from workbench.spark_io import scratch, stopping

JOINS = [
    wb.IntervalJoin("-5 seconds", "5 seconds", how="full"),
    wb.WindowJoin(wb.Tumbling("10 seconds"), how="left"),
    wb.WindowJoin(wb.Sliding("4 seconds", "10 seconds"), how="right"),
    wb.WindowJoin(wb.Session("5 seconds"), how="anti"),
    wb.CoGroup(wb.Sliding("10 seconds", "5 seconds")),
]
HOSTILE = "a\"b'`c{d}\\\n\t%s__import__('os')é;--"


def folders():
    """The folders of this process; others may come and go."""
    named = f"stream-join-workbench-{os.getpid()}-*"
    return {path for root in ("/dev/shm", tempfile.gettempdir()) for path in Path(root).glob(named)}


@pytest.mark.parametrize("join", JOINS, ids=repr)
def test_tables_have_the_columns_of_the_contract(ran, join):
    run = ran(join)
    left, right = run.left, run.right
    windowed = ["window_start", "window_end"] if not isinstance(join, wb.IntervalJoin) else []
    if isinstance(join, wb.CoGroup):
        assert list(run.output) == ["order_id", *windowed, "left", "right", "batch"]
        assert set(run.output["left"].map(len)) <= {0, 1, 2}
        assert {name for rows in run.output["left"] for row in rows for name in row} == set(left.columns)
    else:
        sides = [("left_", left)] + ([("right_", right)] if join.how != "anti" else [])
        assert list(run.output) == [*(p + name for p, side in sides for name in side.columns), *windowed, "batch"]
    assert list(run.batches)[:10] == [
        "batch",
        "watermark",
        "late_watermark",
        "left_rows",
        "right_rows",
        "output_rows",
        "late_rows",
        "state_rows",
        "state_bytes",
        "duration_ms",
    ]
    assert run.batches["output_rows"].sum() == len(run.output)
    assert run.batches["left_rows"].sum() == len(left)
    assert {"side", "batch", *left.columns, *right.columns, *schema.ROWS.names} == set(run.rows)
    assert len(run.rows) == len(left) + len(right)
    assert set(run.rows["fate"]) <= set(FATES)
    assert (run.rows["reason"].str.len() > 0).all()
    assert {"side", "batch", *left.columns, *right.columns, *windowed, "watermark", "behind"} == set(run.late)
    assert len(run.late) > 0
    assert (run.late["behind"] >= pd.Timedelta(0)).all()
    assert set(run.state(1)) == {
        "side",
        *left.columns,
        *right.columns,
        *windowed,
        "since",
        "evicted_in",
        "leaves_at",
        "state_bytes",
    }


def test_runs_repeat(ran):
    first = ran(JOINS[0])
    runs = [first, wb.run(JOINS[0], first.left, first.right)]
    pd.testing.assert_frame_equal(runs[0].output, runs[1].output)
    pd.testing.assert_frame_equal(runs[0].rows, runs[1].rows)
    assert runs[0].batches["watermark"].equals(runs[1].batches["watermark"])


@pytest.mark.parametrize("join", JOINS, ids=repr)
def test_hostile_names(spark, join):
    frame = pd.DataFrame(
        {HOSTILE: ["k", "k"], "t.t": pd.to_datetime([10**9, 2 * 10**9], unit="s"), "side": [1, 2], "fate": "x"}
    )
    sides = [wb.Stream.from_pandas(frame, name, key=HOSTILE, time="t.t") for name in (HOSTILE, "class")]
    run = wb.run(join, *sides)
    assert len(run.rows) == 4
    assert set(run.rows) == {"side", "batch", HOSTILE, "t.t", "row_side", "row_fate", *schema.ROWS.names}
    compile(run.script, "join.py", "exec")
    assert run.rows["fate"].eq("matched").all()


def test_every_plan_is_code_whatever_the_names_are():
    frame = pd.DataFrame({"k": ["k"], "t": pd.to_datetime([0])})
    for name in ("F", "print", "class", "1", "üñï", "a b", "spark", "window", HOSTILE):
        sides = [wb.Stream.from_pandas(frame, name, key="k", time="t") for _ in range(2)]
        for join in JOINS:
            compile(plan_of(join, *sides), "plan", "exec")


def test_a_callers_session_is_used_and_left_as_it_was(spark):
    before = spark.conf.get("spark.sql.shuffle.partitions")
    mine = spark.newSession()
    mine.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    run = wb.run(JOINS[1], stream([("a", 100)]), stream([("a", 101)]), spark=mine)
    assert run.output["left_t"].tolist() == [pd.Timestamp(100, unit="s")]
    assert mine.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
    assert spark.conf.get("spark.sql.shuffle.partitions") == before


def test_progress_is_told_by_micro_batch(spark):
    reported = []
    sides = generators.generate("orders_payments", events=60, batches=5, seed=2)
    wb.run(JOINS[0], *sides, progress=lambda done, expected: reported.append((done, expected)))
    assert reported == sorted(reported)
    assert reported[-1] == (7, 7)


def test_a_stop_ends_the_query_and_leaves_nothing(spark, request):
    request.addfinalizer(gc.enable)
    gc.disable()  # what is left to it may stay for hours
    before = folders()
    stop = threading.Event()
    sides = generators.generate("orders_payments", events=500, batches=200, seed=2)
    with pytest.raises(wb.QueryError, match="the run was stopped"):
        wb.run(JOINS[0], *sides, stop=stop, progress=lambda done, expected: stop.set())
    assert not active(spark)
    assert folders() <= before  # an earlier one may have gone


def test_a_stop_waits_for_tasks_that_are_slow_to_end(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(spark.sparkContext, "pythonExec", sys.executable)
    begun = tmp_path / "begun"

    def slow(rows):
        begun.touch()
        time.sleep(60)
        yield from rows

    (tmp_path / "in").mkdir()
    pd.DataFrame({"n": [1]}).to_parquet(tmp_path / "in" / "rows.parquet")
    rows = spark.readStream.schema("n long").parquet(str(tmp_path / "in")).mapInPandas(slow, "n long")
    query = rows.writeStream.format("noop").option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    while query.isActive and not begun.exists():
        time.sleep(0.05)
    assert running_tasks(spark) == 1
    stopping.stop_query(query, spark)
    time.sleep(0.1)  # a thread is renamed a moment after Spark was told that its task has ended
    assert running_tasks(spark) == 0


def running_tasks(spark):
    threads = spark.sparkContext._jvm.java.lang.Thread.getAllStackTraces().keys()
    return sum(thread.getName().startswith("Executor task launch worker for task") for thread in threads)


def test_a_stop_before_the_start(spark):
    stop = threading.Event()
    stop.set()
    with pytest.raises(wb.QueryError, match="the run was stopped"):
        wb.run(JOINS[0], *generators.generate("orders_payments", events=20), stop=stop)


def test_a_failure_is_one_sentence_and_leaves_nothing(spark, monkeypatch):
    before = folders()
    good = plan_of
    monkeypatch.setattr("workbench.engine.query.plan_of", lambda *args: good(*args).replace("F.col", "no.col"))
    with pytest.raises(wb.QueryError) as raised:
        wb.run(JOINS[0], stream([("a", 100)]), stream([("a", 101)]))
    assert "\n" not in str(raised.value)
    monkeypatch.setattr(
        "workbench.engine.query.plan_of",
        lambda *args: (
            good(*args)
            .replace("return ", "return F.broadcast(left).sparkSession.range(1) if 0 else ", 1)
            .replace('"left_key"', 'F.raise_error(F.lit("broken on purpose"))', 1)
        ),
    )
    with pytest.raises(wb.QueryError) as raised:
        wb.run(JOINS[0], stream([("a", 100)]), stream([("a", 101)]))
    assert "\n" not in str(raised.value)
    assert "\tat " not in str(raised.value)
    assert raised.value._render_traceback_() == [f"QueryError: {raised.value}"]
    del raised
    assert not active(spark)
    assert folders() <= before  # an earlier one may have gone


def test_folders_go_with_their_run_and_those_of_dead_processes(spark, request):
    request.addfinalizer(gc.enable)
    gc.disable()
    run = wb.run(JOINS[1], stream([("a", 100)]), stream([("a", 101)]))
    folder = run.execution.scratch.path
    assert folder.exists()
    assert len(run.rows) == 2
    assert run.why(0).text
    dead = folder.parent / "stream-join-workbench-999999999-x"
    dead.mkdir()
    unfinished = dead.with_name(f".{dead.name}")  # its process was killed before it had marked it
    unfinished.mkdir()
    del run
    assert not folder.exists()
    scratch.Scratch()
    assert not dead.exists()
    assert not unfinished.exists()


def test_a_folder_of_a_process_whose_number_means_nothing_here_stays_while_it_is_in_use(spark):
    mine = scratch.Scratch()
    others = mine.path.rename(mine.path.with_name("stream-join-workbench-999999999-x"))
    kept = scratch.Scratch()
    assert others.exists()
    others.rename(mine.path)
    del mine
    others.mkdir()
    (others / ".in-use").touch()
    del kept
    scratch.Scratch()
    assert not others.exists()


def test_an_interrupt_while_a_query_starts_leaves_none(spark, monkeypatch):
    sessions = []

    def interrupted(simulation, folder, own, *more, **trigger):
        sessions.append(own)
        start(simulation, folder, own, *more, processingTime="1 hour")
        assert own.streams.active
        raise KeyboardInterrupt

    start = query.start
    monkeypatch.setattr(query, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        wb.run(JOINS[1], stream([("a", 100)]), stream([("a", 101)]))
    assert sessions[0].streams.active == []


def test_groups_come_in_the_order_of_their_rows(spark):
    left = stream([(key, 100) for key in "dcbafe"], "l")
    right = stream([(key, 101) for key in "gfedcb"], "r")
    join = wb.CoGroup(wb.Tumbling("10 s"))
    found = wb.run(join, left, right).output
    assert [[row["n"] for row in rows] for rows in found["left"]] == [[0], [1], [2], [3], [4], [5], []]
    pd.testing.assert_frame_equal(found, wb.preview(join, left, right).output)


def test_an_error_loses_nothing_of_an_earlier_run(spark):
    run = wb.run(JOINS[1], stream([("a", 100)]), stream([("a", 101)]))
    with pytest.raises(wb.ArgumentError):
        wb.run(JOINS[1], stream([("a", 100)]), None)
    assert len(run.output) == 1
    assert len(run.state(0)) == 2


def test_a_progress_function_that_raises_is_named(spark):
    left, right = stream([("a", 100)]), stream([("a", 101)])
    with pytest.raises(wb.QueryError, match=r"progress: your function raised ZeroDivisionError"):
        wb.run(JOINS[1], left, right, progress=lambda *_: 1 / 0)
    assert not active(spark)
