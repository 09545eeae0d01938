"""Runs: their tables, hostile names, stops, failures, and nothing left behind."""

from __future__ import annotations

import gc
import threading
from pathlib import Path

import pandas as pd
import pytest
from helpers import stream

import generators
import workbench as wb
from workbench import _scratch, plan
from workbench.explain import TOLD

JOINS = [
    wb.IntervalJoin("-5 seconds", "5 seconds", how="full"),
    wb.WindowJoin(wb.Tumbling("10 seconds"), how="left"),
    wb.WindowJoin(wb.Sliding("4 seconds", "10 seconds"), how="right"),
    wb.WindowJoin(wb.Session("5 seconds"), how="anti"),
    wb.CoGroup(wb.Sliding("10 seconds", "5 seconds")),
]
HOSTILE = "a\"b'`c{d}\\\n\t%s__import__('os')é;--"


def folders():
    return {path for root in ("/dev/shm", "/tmp") for path in Path(root).glob("stream-join-workbench-*")}


@pytest.mark.parametrize("join", JOINS, ids=repr)
def test_tables_have_the_columns_of_the_contract(spark, join):
    left, right = generators.generate("orders_payments", events=60, rate=4, late=0.1, batches=5, seed=2)
    run = wb.run(join, left, right)
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
    assert {"side", "batch", *left.columns, *right.columns, *TOLD} == set(run.rows)
    assert len(run.rows) == len(left) + len(right)
    assert set(run.rows["fate"]) <= {"matched", "unmatched", "late", "pending", "null_key"}
    assert (run.rows["reason"].str.len() > 0).all()
    assert {"side", "batch", *left.columns, *right.columns, *windowed, "watermark", "behind"} == set(run.late)
    assert (run.late["behind"] >= pd.Timedelta(0)).all()
    assert set(run.state(1)) == {"side", *left.columns, *right.columns, *windowed}


def test_runs_repeat(spark):
    sides = generators.generate("orders_payments", events=60, rate=4, late=0.1, batches=5, seed=2)
    runs = [wb.run(JOINS[0], *sides) for _ in range(2)]
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
    assert set(run.rows) == {"side", "batch", HOSTILE, "t.t", "row_side", "row_fate", *TOLD}
    compile(run.script, "join.py", "exec")
    assert run.rows["fate"].eq("matched").all()


def test_every_plan_is_code_whatever_the_names_are():
    frame = pd.DataFrame({"k": ["k"], "t": pd.to_datetime([0])})
    for name in ("F", "print", "class", "1", "üñï", "a b", "spark", "window", HOSTILE):
        sides = [wb.Stream.from_pandas(frame, name, key="k", time="t") for _ in range(2)]
        for join in JOINS:
            compile(plan.render(join, *sides), "plan", "exec")


def test_a_callers_session_is_used_and_left_as_it_was(spark):
    before = spark.conf.get("spark.sql.shuffle.partitions")
    mine = spark.newSession()
    mine.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    run = wb.run(JOINS[1], stream([("a", 100)]), stream([("a", 101)]), spark=mine)
    assert run.output["left_t"].tolist() == [pd.Timestamp(100, unit="s")]
    assert mine.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
    assert spark.conf.get("spark.sql.shuffle.partitions") == before


def test_progress_is_told_by_micro_batch(spark):
    told = []
    sides = generators.generate("orders_payments", events=60, batches=5, seed=2)
    wb.run(JOINS[0], *sides, progress=lambda done, expected: told.append((done, expected)))
    assert told == sorted(told)
    assert told[-1] == (7, 7)


def test_a_stop_ends_the_query_and_leaves_nothing(spark):
    before = folders()
    stop = threading.Event()
    sides = generators.generate("orders_payments", events=500, batches=200, seed=2)
    with pytest.raises(wb.QueryError, match="the run was stopped"):
        wb.run(JOINS[0], *sides, stop=stop, progress=lambda done, expected: stop.set())
    assert not spark.streams.active
    assert folders() <= before  # an earlier one may have gone


def test_a_stop_before_the_start(spark):
    stop = threading.Event()
    stop.set()
    with pytest.raises(wb.QueryError, match="the run was stopped"):
        wb.run(JOINS[0], *generators.generate("orders_payments", events=20), stop=stop)


def test_a_failure_is_one_sentence_and_leaves_nothing(spark, monkeypatch):
    before = folders()
    good = plan.render
    monkeypatch.setattr("workbench.plan.render", lambda *args: good(*args).replace("F.col", "no.col"))
    with pytest.raises(wb.QueryError) as told:
        wb.run(JOINS[0], stream([("a", 100)]), stream([("a", 101)]))
    assert "\n" not in str(told.value)
    monkeypatch.setattr(
        plan,
        "render",
        lambda *args: (
            good(*args)
            .replace("return ", "return F.broadcast(left).sparkSession.range(1) if 0 else ", 1)
            .replace('"left_key"', 'F.raise_error(F.lit("broken on purpose"))', 1)
        ),
    )
    with pytest.raises(wb.QueryError) as told:
        wb.run(JOINS[0], stream([("a", 100)]), stream([("a", 101)]))
    assert "\n" not in str(told.value)
    assert "\tat " not in str(told.value)
    assert told.value._render_traceback_() == [f"QueryError: {told.value}"]
    del told
    assert not spark.streams.active
    assert folders() <= before  # an earlier one may have gone


def test_folders_go_with_their_run_and_those_of_dead_processes(spark, request):
    request.addfinalizer(gc.enable)
    gc.disable()
    run = wb.run(JOINS[1], stream([("a", 100)]), stream([("a", 101)]))
    folder = run.folder
    assert folder.exists()
    assert len(run.rows) == 2
    assert run.why(0).text
    dead = folder.parent / "stream-join-workbench-999999999-x"
    dead.mkdir()
    del run
    assert not folder.exists()
    owner = type("Owner", (), {})()
    _scratch.folder(owner)
    assert not dead.exists()


def test_an_error_loses_nothing_of_an_earlier_run(spark):
    run = wb.run(JOINS[1], stream([("a", 100)]), stream([("a", 101)]))
    with pytest.raises(wb.ArgumentError):
        wb.run(JOINS[1], stream([("a", 100)]), None)
    assert len(run.output) == 1
    assert len(run.state(0)) == 2
