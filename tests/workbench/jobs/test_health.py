"""The health of jobs that ran in plain PySpark: figures by hand, limits on both sides, and what the command says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import fields, replace
from datetime import timedelta
from pathlib import Path

import jobs
import pandas as pd
import pytest
import written
from pyspark.sql import functions as F

import workbench as wb
from workbench import times
from workbench.__main__ import main
from workbench.jobs.check_command import text
from workbench.jobs.checkpoint import check_local
from workbench.jobs.health import Health, KnownFault, Limits, SideHealth, crossed, figures

IDLE_FROM = 4  # the micro-batch from which on there are no payments


@pytest.fixture(scope="module")
def rows():
    orders, payments = jobs.recorded(seed=3)
    return orders, payments[:IDLE_FROM]


@pytest.fixture(scope="module")
def folder(rows, tmp_path_factory):
    return jobs.put(rows, tmp_path_factory.mktemp("health"))


@pytest.fixture(scope="module")
def ran(session, folder, tmp_path_factory):
    joined = written.guide_outer(*jobs.streams(session, folder))
    return joined, jobs.run(joined, tmp_path_factory.mktemp("ran"))


@pytest.fixture(scope="module")
def job(ran):
    return wb.open_job(ran[0], ran[1].checkpoint)


@pytest.fixture(scope="module")
def health(job):
    return figures(job)


SIDES = (("left", "order_no", "ordered_at", "order_id"), ("right", "payment_no", "paid_at", "oid"))


def moment(value):
    return pd.Timestamp(value).tz_localize("UTC") if pd.Timestamp(value).tzinfo is None else pd.Timestamp(value)


def marks(progress):
    return [pd.Timestamp(each["eventTime"]["watermark"]) for each in progress]


def late_by_hand(rows, progress):
    """The numbers of the late rows of each side: at or behind the watermark of the micro-batch before."""
    before = [pd.Timestamp(0, tz="UTC"), *marks(progress)]
    found = []
    for mine, (side, number, time, key) in zip(rows, SIDES, strict=True):
        stays = side == "left"  # a left outer join filters the right rows whose key is null before all else
        found.append(
            {
                each[number]
                for batch, several in enumerate(mine)
                for each in several
                if moment(each[time]) <= before[batch] and (stays or each[key] is not None)
            }
        )
    return found


def newest_by_hand(rows, count):
    found, newest = [], None
    for batch in range(count):
        for mine, (_, _, time, _) in zip(rows, SIDES, strict=True):
            times = [moment(each[time]) for each in (mine[batch] if batch < len(mine) else [])]
            newest = max([*times, *([] if newest is None else [newest])], default=None)
        found.append(newest)
    return found


def test_late_shares_are_counted_by_side(health, rows, ran):
    late = late_by_hand(rows, ran[1].progress)
    assert all(late)
    assert sum(map(len, late)) == sum(
        each["stateOperators"][0]["numRowsDroppedByWatermark"] for each in ran[1].progress
    )
    for mine, numbers, found in zip(rows, late, (health.left, health.right), strict=True):
        count = sum(map(len, mine))
        assert (found.rows, found.late_rows) == (count, len(numbers))
        assert found.late_share == len(numbers) / count
    assert (health.left.name, health.right.name) == ("orders", "payments")


def test_the_most_frequent_key_by_side(health, rows):
    for mine, (side, _, _, key) in zip(rows, SIDES, strict=True):
        counts = Counter(each[key] for several in mine for each in several if each[key] is not None)
        [(_, most)] = counts.most_common(1)
        found = health.side(side)
        assert counts[found.frequent_key] == most
        assert found.frequent_key_share == most / counts.total()


def test_the_wait_is_how_long_rows_without_partner_were_in_spark_s_state(health, job, rows, ran):
    _, run = ran
    late, count = late_by_hand(rows, run.progress), len(run.progress)
    newest, longest = newest_by_hand(rows, count), timedelta(0)
    state = [job.state(batch) for batch in job.batches.batch]
    for place, (mine, (side, number, time, key)) in enumerate(zip(rows, SIDES, strict=True)):
        met = {
            each[number]
            for out in run.output.values()
            for each in out
            if None not in (each["order_no"], each["payment_no"])
        }
        for batch, several in enumerate(mine):
            for each in several:
                if each[key] is None or each[number] in met or each[number] in late[place]:
                    continue
                held = [set(table[table.side == side][number]) for table in state[batch:]]
                until = next((batch + n for n, numbers in enumerate(held) if each[number] not in numbers), count - 1)
                longest = max(longest, newest[until] - moment(each[time]))
    assert longest > timedelta(seconds=6)
    assert health.wait == longest


def test_the_watermark_lag_is_the_largest(health, rows, ran):
    progress = ran[1].progress
    newest = newest_by_hand(rows, len(progress))
    lags = [one - mark for one, mark in zip(newest, marks(progress), strict=True) if mark > pd.Timestamp(0, tz="UTC")]
    assert health.watermark_lag == max(lags)


@pytest.mark.parametrize("allowed", [None, 0.0, 0.05])
def test_the_delay_that_a_side_needs_is_the_least(ran, allowed):
    job = wb.open_job(ran[0], ran[1].checkpoint)
    limits = None if allowed is None else Limits(max_late_share=allowed)
    found = figures(job, limits)
    share = 0.001 if allowed is None else allowed
    assert found.allowed_late_share == share
    assert found.left.late_share > share
    for side, each in (("left", found.left), ("right", found.right)):
        if each.late_share <= share:
            assert each.needed_delay is None
            continue
        assert not each.delay_on_both
        for less, enough in ((0, True), (1, False)):
            changed = job.under(**{f"{side}_watermark": each.needed_delay - timedelta(milliseconds=less)})
            rows = changed.rows[changed.rows.side == side]
            assert ((rows.fate == "late").mean() <= share) == enough


def test_the_state_now_and_its_growth(health, ran):
    state = [each["stateOperators"][0]["numRowsTotal"] for each in ran[1].progress]
    half = len(state) // 2
    earlier, later = sum(state[:half]) / half, sum(state[-half:]) / half
    assert health.state_rows == state[-1] > 0
    assert health.state_growth == pytest.approx(later / earlier - 1)


def test_the_idle_side(health, rows, ran):
    assert (health.idle_side, health.idle_micro_batches) == ("right", len(rows[0]) - IDLE_FROM)
    assert (health.first_micro_batch, health.last_micro_batch) == (0, ran[1].progress[-1]["batchId"])


def test_a_sample_tells_idleness_and_state_of_all_and_no_skew(ran, health):
    some = figures(wb.open_job(ran[0], ran[1].checkpoint, keys=["a"]))
    assert some.left.rows < health.left.rows
    for name in ("idle_side", "idle_micro_batches", "state_rows", "watermark_lag"):
        assert getattr(some, name) == getattr(health, name)
    assert some.left.frequent_key_share is None


def test_rows_that_were_in_state_before_are_not_counted(spark, rows, folder, tmp_path):
    session = jobs.session(spark, streaming_minBatchesToRetain="2")
    joined = written.guide_outer(*jobs.streams(session, folder))
    ran = jobs.run(joined, tmp_path / "checkpoint")
    found = figures(wb.open_job(joined, ran.checkpoint))
    first = found.first_micro_batch
    assert first > 0
    assert found.left.rows == sum(len(each) for each in rows[0][first + 1 :])
    late = sum(each["stateOperators"][0]["numRowsDroppedByWatermark"] for each in ran.progress[first + 1 :])
    assert found.left.late_rows + found.right.late_rows == late


def test_a_join_that_is_not_understood(session, folder, tmp_path):
    orders, payments = written.marked(*jobs.streams(session, folder))
    joined = orders.join(payments, F.expr(f"{written.SAME} AND {written.NEVER}"))
    ran = jobs.run(joined, tmp_path / "checkpoint")
    found = figures(wb.open_job(joined, ran.checkpoint))
    assert found.join is None
    assert found.unknown == ("the lower bound is above the upper: no pair meets the condition",)
    assert found.state_rows == ran.progress[-1]["stateOperators"][0]["numRowsTotal"]
    assert (found.wait, found.state_growth, found.faults) == (None, None, ())
    assert found.left.late_rows is not None
    [one] = crossed(found, Limits(max_wait="1 hour"))
    assert (one.found, one.above) == (None, None)
    assert "is not known, so that it cannot be compared with 60 min" in one.text


def test_a_known_fault(session, folder, tmp_path):
    """Rows with null keys of both sides are paired by a full outer join, on every version."""
    joined = written.full(*jobs.streams(session, folder))
    ran = jobs.run(joined, tmp_path / "checkpoint")
    found = figures(wb.open_job(joined, ran.checkpoint))
    assert any("it pairs null keys in a full outer join" in each.problem for each in found.faults)


PLAIN = Health(
    join="IntervalJoin()",
    where="",
    spark_version="4.3.0",
    first_micro_batch=3,
    last_micro_batch=9,
    allowed_late_share=0.001,
    left=SideHealth("orders", 1000, 10, 0.01, "a", 0.5),
    right=SideHealth("payments", 800, 0, 0.0, "b", 0.25),
    wait=timedelta(minutes=10),
    watermark_lag=timedelta(seconds=9),
    state_rows=5000,
    state_growth=0.25,
    idle_side="right",
    idle_micro_batches=10,
    faults=(KnownFault("SPARK-1", "it loses rows", "use another"),),
    missing=("a file is gone",),
    unknown=(),
)

BOUNDARIES = [
    ("max_late_share", 0.01, 0.0075, "the share of late rows of orders is 1%, which is 0.25 percentage points above 0.75%"),
    ("max_skew", 0.5, 0.375, "the share of the most frequent key of orders is 50%, which is 12.5 percentage points above 37.5%"),
    ("max_wait", "10 minutes", "9 minutes 30 seconds", "the wait of rows without partner is 10 min, which is 30 s above 9 min 30 s"),
    ("max_state_rows", 5000, 4999, "the number of rows in state is 5,000, which is 1 above 4,999"),
    ("max_state_growth", 0.25, 0.125, "the growth of the state is 25%, which is 12.5 percentage points above 12.5%"),
    ("max_idle", 10, 9, "the number of micro-batches at the end without rows of payments is 10, which is 1 above 9"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "equal", "below", "words"), BOUNDARIES, ids=[each[0] for each in BOUNDARIES])
def test_a_limit_is_crossed_above_it_only(name, equal, below, words):
    assert crossed(PLAIN, Limits(**{name: equal})) == ()
    [one] = crossed(PLAIN, Limits(**{name: below}))
    assert (one.limit, one.text) == (name, words)
    assert one.above == pytest.approx(one.found - one.allowed)


def test_each_limit_has_its_boundary():
    assert {each[0] for each in BOUNDARIES} == {each.name for each in fields(Limits)}
    assert crossed(PLAIN, Limits()) == ()


def test_what_is_not_known_is_not_fine_and_no_wait_is():
    assert crossed(replace(PLAIN, wait=None), Limits(max_wait="1 second")) == ()
    for name, changed in (
        ("max_wait", {"wait": None, "join": None}),
        ("max_state_rows", {"state_rows": None}),
        ("max_state_growth", {"state_growth": None}),
        ("max_idle", {"idle_micro_batches": None, "idle_side": None}),
    ):
        allowed = "1 day" if name == "max_wait" else 10**6
        [one] = crossed(replace(PLAIN, **changed), Limits(**{name: allowed}))
        assert "is not known" in one.text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"max_late_share": 1.5}, "max_late_share: got 1.5; give a share from 0 to 1"),
        ({"max_skew": "much"}, "max_skew: got 'much'; give a share from 0 to 1"),
        ({"max_state_growth": float("nan")}, "max_state_growth: got nan; give a share of 0 or more"),
        ({"max_state_rows": 2.5}, "max_state_rows: got 2.5; give a whole number, 0 or more"),
        ({"max_idle": -1}, "max_idle: got -1; give a whole number, 0 or more"),
        ({"max_idle": True}, "max_idle: got True; give a whole number"),
        ({"max_wait": "soon"}, "max_wait: got 'soon'"),
    ],
)
def test_wrong_limits(arguments, words):
    with pytest.raises(wb.ArgumentError) as raised:
        Limits(**arguments)
    assert str(raised.value).startswith(words)


JOB = """
import sys
sys.path.insert(0, {here!r})
import jobs, written

VALUE = 3

def build(spark):
    print("from the job")
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    return written.guide_outer(*jobs.streams(spark, {folder!r}))

def fails(spark):
    raise RuntimeError("no\\nsuch table")

def ends(spark):
    sys.exit(3)

def enough(spark):
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    return written.enough(*jobs.streams(spark, {folder!r}))

def seven(spark):
    return 7

def nothing(spark):
    pass

def at_rest(spark):
    return spark.range(3)
"""


@pytest.fixture
def here(folder, tmp_path, monkeypatch):
    """A folder with the module of a job, which is the current one."""
    made = tmp_path / "here"
    made.mkdir()
    name = f"job_of_{tmp_path.name}"
    (made / f"{name}.py").write_text(JOB.format(here=str(Path(__file__).parent), folder=str(folder)))
    (made / f"{name}_broken.py").write_text("import no_such_thing_at_all\n")
    monkeypatch.chdir(made)
    yield name
    for each in (name, f"{name}_broken"):
        sys.modules.pop(each, None)


@pytest.mark.parametrize(
    ("job", "words"),
    [
        ("{}", "--job: got '{}'; give a module and a function of it, such as my_job:build"),
        (":build", "--job: got ':build'; give a module and a function"),
        ("{}:", "--job: got '{}:'; give a module and a function"),
        ("{}:a:b", "--job: got '{}:a:b'; give a module and a function"),
        ("none_such:build", "there is no module none_such in the current folder or among the installed ones"),
        ("none_such.inner:build", "there is no module none_such.inner in the current folder"),
        ("{}_broken:build", "cannot be imported: ModuleNotFoundError, No module named 'no_such_thing_at_all'"),
        ("{}:other", "has no function other; name the one that returns the job's DataFrame"),
        ("{}:VALUE", "has no function, but a value, VALUE"),
        ("{}:fails", "the function failed: RuntimeError, no"),
        ("{}:ends", "the function failed: SystemExit, 3"),
        ("{}:seven", "it returned something of type int; let it return the streaming DataFrame that the job runs"),
        ("{}:nothing", "it returned nothing"),
        ("{}:at_rest", "it returned a DataFrame that is not streaming; let it return the streaming DataFrame that"),
    ],
)
def test_a_bad_job_is_one_sentence(spark, here, capsys, job, words):
    path = list(sys.path)
    assert main(["check", "--checkpoint", "nowhere", "--job", job.format(here)]) == 2
    said = capsys.readouterr()
    assert words.format(here) in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert [each for each in sys.path if each not in path] == []
    assert sorted(each.name for each in Path.cwd().iterdir()) == [f"{here}.py", f"{here}_broken.py"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "--checkpoint: got 'nowhere'; there is no such folder"),
        (["--sample", "2"], "--sample: got 2; give the share of the keys"),
        (["--sample", "some"], "--sample: got 'some'; give the share of the keys"),
        (["--join", "1"], "--join: got 1; the plan has 1 joins of streams: give a number from 0 to 0"),
        (["--max-wait", "soon"], "--max-wait: got 'soon'"),
        (["--max-late-share", "5%"], "--max-late-share: got '5%'; give a share from 0 to 1"),
        (["--max-skew", "0.5", "--sample", "0.1"], "--max-skew: got '0.5'; leave it out, or --sample"),
    ],
)
def test_wrong_arguments_are_one_sentence(spark, here, capsys, arguments, words):
    assert main(["check", "--checkpoint", "nowhere", "--job", f"{here}:build", *arguments]) == 2
    said = capsys.readouterr().err.removeprefix("from the job\n")
    assert said.startswith(words)
    assert said.count("\n") == 1


@pytest.mark.parametrize("arguments", [[], ["check"], ["check", "--job", "a:b"], ["mend"], ["check", "--what"]])
def test_arguments_that_are_missing_or_unknown(capsys, arguments):
    with pytest.raises(SystemExit) as raised:
        main(arguments)
    assert raised.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


SIDE_KEYS = {
    "name", "rows", "late_rows", "late_share", "frequent_key", "frequent_key_share", "needed_delay_seconds",
    "delay_on_both", "causes",
}  # fmt: skip
KEYS = {
    "fine", "join", "where", "spark_version", "first_micro_batch", "last_micro_batch", "left", "right", "wait_seconds",
    "allowed_late_share", "mismatch",
    "watermark_lag_seconds", "state_rows", "state_growth", "idle_side", "idle_micro_batches", "faults", "missing",
    "unknown", "crossed",
}  # fmt: skip


def test_the_figures_in_words_and_as_json(ran, health, here, capsys):
    given = ["check", "--checkpoint", ran[1].checkpoint, "--job", f"{here}:build"]
    assert main(given) == 0
    said = capsys.readouterr()
    lines = dict(line.split(": ", 1) for line in said.out.splitlines())
    assert said.err == "from the job\n"
    left = health.left
    assert lines["late rows of orders"] == f"{left.late_rows} of {left.rows} ({100 * left.late_share:.4g}%)"
    assert lines["rows in state"] == str(health.state_rows)
    assert lines["idle side"] == "payments, without rows in the last 2 micro-batches with rows"
    needed = times.short(left.needed_delay)
    assert lines["delay that orders needs"] == f"{needed} on orders, with which at most 0.1% of its rows are late"
    said_causes = lines["rows of orders without a match"].split("; ")
    assert said_causes == [f"{count}: {cause}" for cause, count in left.causes.items()]
    assert "crossed" not in said.out
    assert "where" not in lines
    assert main([*given, "--json", "--max-late-share", "1", "--max-idle", "2"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == KEYS
    assert set(found["left"]) == set(found["right"]) == SIDE_KEYS
    assert found["fine"] is True
    assert found["wait_seconds"] == health.wait.total_seconds()


def test_the_causes_are_those_of_the_job(job, health):
    """Of the rows that were not matched, as the page and reports count them."""
    for side in ("left", "right"):
        lost = (job.rows["side"] == side) & (job.rows["fate"] != "matched")
        assert health.side(side).causes == job.causes[lost].value_counts().to_dict()
        assert sum(health.side(side).causes.values()) == lost.sum() > 0


def test_what_else_the_join_asks_for_is_said(session, folder, here, tmp_path, capsys):
    ran = jobs.run(written.enough(*jobs.streams(session, folder)), tmp_path / "checkpoint")
    given = ["check", "--checkpoint", ran.checkpoint, "--job", f"{here}:enough"]
    assert main(given) == 0
    join, where, *_ = capsys.readouterr().out.splitlines()
    assert join.startswith("join: IntervalJoin(")
    assert where == "where: (paid >= amount)"
    assert main([*given, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["where"] == "(paid >= amount)"


def test_what_differs_from_what_the_job_left_behind_is_said(job, monkeypatch):
    assert figures(job).mismatch == ""
    other = replace(job)
    line = {"what": "watermark of each micro-batch", "model": 1, "spark": 1, "differences": 2, "examples": ""}
    monkeypatch.setattr("workbench.jobs.verifying.compare", lambda *_: pd.DataFrame([line]))
    found = figures(other)
    assert found.mismatch.startswith(
        "the model differs from what the job left behind in watermark of each micro-batch (2 differ), so reasons may"
    )
    assert any(line.startswith("differs: the model differs") for line in text(found, ()).splitlines())


def test_a_condition_of_several_lines_is_one():
    lines = text(replace(PLAIN, where="(note = 'a\nb')"), ()).splitlines()
    assert lines[:2] == ["join: IntervalJoin()", "where: (note = 'a b')"]


def files(folder):
    return sorted((path, path.stat().st_mtime_ns) for path in Path(folder).rglob("*"))


def command(*arguments, **environment):
    words = [sys.executable, "-m", "workbench", "check", *arguments]
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    root = str(Path(__file__).parents[3])
    return subprocess.run(
        words, env=kept | {"PYTHONPATH": root} | environment, capture_output=True, text=True, check=False
    )


def test_the_command_leaves_nothing_and_needs_no_notebook(ran, here, tmp_path):
    scratch, current = tmp_path / "scratch", Path.cwd()
    scratch.mkdir()
    for name in ("ipywidgets", "altair", "anywidget"):  # found before the installed ones
        (current / f"{name}.py").write_text(f"raise SystemExit('{name} is imported')")
    (current / "IPython.py").write_text("raise ImportError")  # which PySpark tries to import by itself
    before = files(ran[1].checkpoint), files(current)
    done = command(
        *("--checkpoint", ran[1].checkpoint, "--job", f"{here}:build", "--json", "--max-idle", "1"),
        TMPDIR=str(scratch),
    )
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    [one] = found["crossed"]
    assert set(one) == {"limit", "side", "allowed", "found", "above", "text"}
    assert (one["limit"], one["allowed"], one["found"], one["above"]) == ("--max-idle", 1, 2, 1)
    assert done.stderr == "from the job\n"
    assert (files(ran[1].checkpoint), files(current)) == before
    assert list(scratch.iterdir()) == []


def test_the_command_s_exit_code_for_wrong_arguments(here):
    done = command("--checkpoint", "nowhere", "--job", "none_such:build")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("--job: got 'none_such:build'; there is no module none_such")
    assert done.stderr.count("\n") == 1


def without_java(checkpoint, name, tmp_path, *more, **environment):
    """The command where Spark cannot be started: what it says otherwise it knew before."""
    no_java = {"PATH": str(tmp_path), "JAVA_HOME": "", "TMPDIR": str(tmp_path)}
    return command("--checkpoint", checkpoint, "--job", f"{name}:build", *more, **(no_java | environment))


@pytest.mark.parametrize("address", ["nowhere", "gone/../nowhere/", "file:{}/nowhere", "file://{}/nowhere"])
def test_a_folder_that_is_not_there_is_told_before_spark_starts(here, tmp_path, address):
    given = address.format(Path.cwd())
    done = without_java(given, here, tmp_path)
    words = "there is no such folder; give the query's checkpointLocation"
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"--checkpoint: got {given.rstrip('/')!r}; {words}\n"


def test_what_else_is_told_before_spark_starts(here, tmp_path):
    (tmp_path / "empty" / "offsets").mkdir(parents=True)
    done = without_java(str(tmp_path / "empty"), here, tmp_path)
    assert done.returncode == 2
    assert "it has no offsets, so no query ran a micro-batch with it" in done.stderr
    assert "--sample: got 2; give the share" in without_java("nowhere", here, tmp_path, "--sample", "2").stderr


def test_whose_folder_it_is_spark_says_where_hadoop_is_set_up(here, tmp_path):
    done = without_java("nowhere", here, tmp_path, HADOOP_CONF_DIR=str(tmp_path))
    assert done.returncode == 2
    assert "no Java found" in done.stderr
    done = without_java(f"file:{tmp_path}/nowhere", here, tmp_path, HADOOP_CONF_DIR=str(tmp_path))
    assert "there is no such folder" in done.stderr


@pytest.mark.parametrize(
    "address", ["hdfs://a/b", "s3a://bucket/job", "//host/job", "file://host/job", "file:job", "my:job", "", "/"]
)
def test_only_folders_of_this_machine_are_looked_at_without_spark(address):
    check_local(address, plain=True)


def test_a_folder_without_a_scheme_is_spark_s_where_it_has_another_file_system(tmp_path):
    for name in ("none", "none at 10:00"):
        check_local(str(tmp_path / name), plain=False)
        with pytest.raises(wb.ArgumentError, match="there is no such folder"):
            check_local(str(tmp_path / name), plain=True)


def test_a_folder_with_offsets_is_left_to_spark(tmp_path):
    (tmp_path / "offsets").mkdir()
    (tmp_path / "offsets" / "0").touch()
    check_local(str(tmp_path), plain=True)
