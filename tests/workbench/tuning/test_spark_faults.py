"""Faults of Spark's own: those that a join meets are named, with what they cost this recording on that version."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import replace

import parts
import pyarrow.parquet as pq
import pytest
import scripts
import tiers
from helpers import stream

import generators
import workbench as wb
from workbench import model, spark_versions
from workbench.tuning import spark_faults

WINDOW = wb.Tumbling("10 seconds")
JOINS = [
    wb.IntervalJoin("-15 s", "-1 s", how="inner"),
    wb.IntervalJoin("-15 s", "-1 s", how="left"),
    wb.IntervalJoin("1 s", "9 s", how="right"),
    wb.IntervalJoin("-5 s", "1 s", how="full"),
    wb.IntervalJoin("-5 s", "1 s", how="semi"),
    wb.WindowJoin(WINDOW, how="left"),
    wb.WindowJoin(wb.Sliding("10 seconds", "5 seconds"), how="full"),
]
UNHARMED = [JOINS[0], JOINS[4]]
"""Those of which the fault takes nothing from these streams."""
ALL_SCRIPTS = """
import runpy, sys
for file in sys.argv[1:]:
    sys.argv = [file, "--drain", "--output", file + "-output", "--checkpoint", file + "-checkpoint"]
    runpy.run_path(file, run_name="__main__")
"""


def sides():
    return generators.generate(
        "orders_payments", events=200, rate=4, late=0.2, late_by="30 s", watermark="1 s", batches=12, seed=5
    )


def case(join, left, right, idle=None):
    outcome = model.simulate(join, left, right, spark=spark_versions.facts("4.0"))
    streams, shared = {"left": left, "right": right}, model.Shared(left, right)
    return spark_faults.Case(join, streams, "min", outcome, shared, idle=idle)


def emitted(found, spark):
    """What comes out by the model: the event times of its rows, and the window."""
    join, streams = found.join, found.streams
    sides = ("left",) if join.how == "semi" else ("left", "right")
    times = {side: streams[side].event_times for side in sides}
    rows = found.by(spark).outputs.emitted(sides)
    return Counter(
        (*(times[s][getattr(row, s)] if getattr(row, s) >= 0 else None for s in sides), row.start)
        for row in rows.itertuples()
    )


def written(folder, left, right, join):
    """The same of what a script has written."""
    rows = pq.read_table(folder)
    names = [f"left_{left.time}", *([] if join.how == "semi" else [f"right_{right.time}"])]
    columns = [rows[name].cast("timestamp[us]").cast("int64").to_pylist() for name in names]
    starts = [0] * len(rows)
    if "window_start" in rows.column_names:
        starts = rows["window_start"].cast("timestamp[us]").cast("int64").to_pylist()
    return Counter(zip(*columns, starts, strict=True))


@pytest.fixture(scope="module")
def faulty(request, tmp_path_factory):
    """Where a Spark with the fault has written what the joins give that this run takes."""
    env = parts.real(lambda: parts.with_pyspark("3.5.1"))
    folder = tmp_path_factory.mktemp("faulty")
    files = {}
    for join in tiers.taken(request, "join"):
        place = folder / str(len(files))
        place.mkdir()
        files[join] = wb.export(wb.preview(join, *sides()), place / "join.py")
    env = scripts.environment(folder, over=env)
    words = [sys.executable, "-c", ALL_SCRIPTS, *files.values()]
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return {join: f"{file}-output" for join, file in files.items()}


@pytest.mark.engine
@pytest.mark.drawn(2)
@pytest.mark.parametrize("join", JOINS, ids=repr)
def test_the_model_says_what_a_faulty_spark_loses(faulty, join):
    left, right = sides()
    right_one = spark_versions.facts("4.0")
    wrong = replace(right_one, loses_expiring=True)
    found = case(join, left, right)
    expected = emitted(found, wrong)
    assert written(faulty[join], left, right, join) == expected
    lost = spark_faults.lost(found, right_one, wrong)
    counts = [len(lost.matches), len(lost.padded), len(lost.wrongly_padded)]
    assert sum(emitted(found, right_one).values()) - sum(expected.values()) == counts[0] + counts[1] - counts[2]
    assert any(counts) == (join not in UNHARMED)


def named(join, version, pair=None, policy="min"):
    """What is said of a join on a version: the tickets, and the problems."""
    found = [each for each in wb.advise(join, *(pair or sides()), policy=policy, spark_version=version) if each.example]
    assert all(each.problem.startswith(f"Spark {version} has ") for each in found)
    return [each.problem.split(", by which ")[1] for each in found]


@pytest.mark.parametrize(
    ("version", "expires", "semi"),
    [
        ("3.3.4", False, False), ("3.4.3", True, False), ("3.4.4", False, False), ("3.5.3", True, False),
        ("3.5.4", False, False), ("3.5", True, False), ("4.0", False, False), ("4.1.4", False, False),
        ("4.2", False, True), ("4.2.1", False, True), ("4.3.0", False, True), ("4.1.0-amzn-1", False, False),
    ],
)  # fmt: skip
def test_a_fault_is_named_on_the_versions_that_have_it(version, expires, semi):
    found = named(wb.IntervalJoin("-5 s", "1 s", how="semi"), version)
    assert any("rows that expire in the micro-batch" in each for each in found) == expires
    assert any("whose only partner comes in their micro-batch" in each for each in found) == semi


def test_a_fault_says_what_it_costs_this_recording():
    (found,) = named(wb.IntervalJoin("-15 s", "-1 s", how="left"), "3.5.3")
    assert "(here " in found
    assert "; the first is row " in found
    (found,) = named(wb.IntervalJoin("0 s", "2 hours"), "3.5.3")
    assert found.endswith("(here none: none of these rows expires so early)")


def test_before_spark_3_4_rows_are_lost_that_expire_before_they_are_late():
    assert named(wb.IntervalJoin("-15 s", "-1 s", how="left"), "3.3.4") == [
        "it loses rows of orders without partner that expire in the micro-batch they arrive in"
    ]
    assert not named(wb.IntervalJoin("-15 s", "-1 s", how="right"), "3.3.4")
    assert not named(wb.WindowJoin(WINDOW, how="full"), "3.3.4")


def test_groups_and_sessions_meet_no_fault_of_the_join():
    for join in (wb.CoGroup(WINDOW), wb.WindowJoin(wb.Session("5 seconds"))):
        assert not named(join, "3.5.3")


def test_null_keys_of_a_full_join():
    pair = [stream([("a", 1_767_225_600), (None, 1_767_225_601)], name) for name in ("orders", "payments")]
    (found,) = named(wb.IntervalJoin("-5 s", "5 s", how="full"), "4.3.0", pair)
    assert found.endswith("and 1 of orders and 1 of payments have one")
    assert not named(wb.IntervalJoin("-5 s", "5 s", how="left"), "4.3.0", pair)


def test_a_restart_while_one_side_is_idle():
    idle = [stream([("a", 1_767_225_600 + n, n) for n in range(count)], "ab"[count > 3]) for count in (9, 3)]
    (found,) = named(wb.IntervalJoin("0 s", "5 s"), "3.5.7", idle)
    assert found.startswith("it forgets each side's watermark in a restart")
    assert not named(wb.IntervalJoin("0 s", "5 s"), "3.5.7", idle, policy="max")


def test_a_version_that_is_not_known_is_refused():
    with pytest.raises(wb.ArgumentError, match=r"spark_version: got '3.2'; give a version from 3.3 to 4.3"):
        wb.advise(wb.IntervalJoin("0 s", "1 s"), *sides(), spark_version="3.2")
    with pytest.raises(wb.ArgumentError, match=r"spark_version: got 3.5; give a version"):
        wb.advise(wb.IntervalJoin("0 s", "1 s"), *sides(), spark_version=3.5)
