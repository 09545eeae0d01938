"""The life of an exported script: its log, its metrics, its end; what it does after failures; which checkpoint it takes."""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import itertools
import json
import os
import runpy
import shutil
import signal
import subprocess
import sys
import urllib.request
from dataclasses import replace
from pathlib import Path
from unittest import mock

import fault_lab
import parts
import pytest
import scripts
import strategies
from hypothesis import assume, reject
from hypothesis import strategies as st
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from scripts import run_here

import workbench as wb
from workbench import script

JOIN = wb.IntervalJoin("-5 s", "5 s", how="left")


@pytest.fixture(scope="module")
def run(spark):
    return wb.run(JOIN, *fault_lab.streams(4), finish=False)


@pytest.mark.family("a script's life")
@pytest.mark.engine
def test_it_runs_until_it_is_told_to_end(run, tmp_path):
    file = scripts.job(run, tmp_path, dead_letters="parquet")
    port = parts.free_port()
    env = scripts.environment(tmp_path, **{"spark.ui.enabled": "true", "spark.ui.port": str(port)})
    running = scripts.start(
        file, "--trigger", "1 second", "--state-store", "memory", "--shuffle-partitions", 1, env=env
    )

    def metrics():
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics/prometheus/", timeout=5) as page:
                return page.read().decode()
        except OSError:
            return ""

    scripts.wait_for(lambda: len([each for each in scripts.lines(file) if each["event"] == "dropped"]) >= 4, 90)
    names = ("inputRate_total", "processingRate_total", "latency", "eventTime_watermark", "states_rowsTotal")
    exported = scripts.wait_for(
        lambda: text if all(name in (text := metrics()).replace("-", "_") for name in names) else "", 30
    )
    assert "spark_streaming" in exported.replace("-", "_")
    more = tmp_path / "job" / "main_data" / "orders" / "batch-00099.parquet"
    more.write_bytes((tmp_path / "job" / "main_data" / "orders" / "batch-00003.parquet").read_bytes())
    scripts.wait_for(
        lambda: any(each.get("batch", 0) > 3 and each.get("rows_in") == 6 for each in scripts.lines(file)), 30
    )
    os.kill(running.pid, signal.SIGTERM)
    running.wait(30)
    micro_batches = [each for each in scripts.lines(file) if each["event"] == "micro-batch"]
    assert {"rows_in_per_second", "watermark", "state_rows", "state_bytes", "rows_dropped", "inputs"} <= set(
        micro_batches[0]
    )


def failing(times, calls):
    def work():
        calls.append(1)
        if len(calls) <= times:
            raise StreamingQueryException("broken\nand a trace")

    return work


@pytest.mark.parametrize(
    ("restart", "attempts", "times", "lives", "within"),
    [
        ("none", 3, 1, False, 600),
        ("fixed-delay", 3, 3, True, 600),
        ("fixed-delay", 3, 4, False, 600),
        ("failure-rate", 2, 2, True, 600),
        ("failure-rate", 2, 3, False, 600),
        ("failure-rate", 2, 9, True, 0.01),  # never two in so short a time
    ],
)
def test_restart_strategies(run, tmp_path, capsys, restart, attempts, times, lives, within):
    made = scripts.module(scripts.job(run, tmp_path))
    args = argparse.Namespace(restart=restart, attempts=attempts, delay=0.02, within=within)
    calls = []
    if lives:
        made.keep_running(failing(times, calls), args)
        assert len(calls) == times + 1
    else:
        with pytest.raises(StreamingQueryException):
            made.keep_running(failing(times, calls), args)
        assert len(calls) == (attempts if restart != "none" else 0) + 1
    assert capsys.readouterr().out.count('"why": "broken"') == min(times, len(calls))


def test_a_checkpoint_is_for_one_join(run, spark, tmp_path):
    made = scripts.module(scripts.job(run, tmp_path))
    args = scripts.arguments(made, checkpoint=str(tmp_path / "checkpoint"))
    mine = made.MADE_FOR | {"state store": "rocksdb", "shuffle partitions": "2"}
    assert made.check_checkpoint(spark, args, mine)
    begin(tmp_path / "checkpoint")
    assert not made.check_checkpoint(spark, args, mine)
    others = {
        "join": _made_for(run, wb.IntervalJoin("-6 s", "5 s", how="left")),
        "policy": _made_for(run, JOIN, policy="max"),
        "source": _made_for(run, JOIN, source="kafka"),
    }
    changes = {name: each[name] for name, each in others.items()}
    changes |= {"orders": "other columns", "state store": "memory", "shuffle partitions": "3"}
    for name, value in changes.items():
        assert value != mine[name]
        with pytest.raises(SystemExit) as raised:
            made.check_checkpoint(spark, args, mine | {name: value})
        assert f"was made for {name} {mine[name]!r}, this script has {value!r}" in str(raised.value)
        assert "start with a new --checkpoint" in str(raised.value)
    names = list(mine)
    swapped = {name: mine[name] for name in [names[0], names[2], names[1], *names[3:]]}
    renamed = {"purchases" if name == "orders" else name: each for name, each in mine.items()}
    for other, words in ((swapped, "payments and orders"), (renamed, "purchases and payments")):
        with pytest.raises(SystemExit) as raised:
            made.check_checkpoint(spark, args, other)
        assert f"was made for the streams orders and payments, this script has {words}; set it back" in str(
            raised.value
        )


def test_a_plain_script_takes_no_checkpoint_of_another(run, spark, tmp_path):
    sides = run.left, run.right
    own = scripts.own_session(spark)
    mine = made_for_of(script.render(JOIN, *sides))
    spark.createDataFrame([(mine,)], "value string").write.text(str(tmp_path / "checkpoint" / "made-for"))
    begin(tmp_path / "checkpoint")
    others = {
        "swapped": script.render(JOIN, *sides[::-1]),
        "renamed": script.render(JOIN, replace(sides[0], name="purchases"), sides[1]),
        "other key": script.render(JOIN, *(replace(each, key=(each.time,)) for each in sides)),
        "other join": script.render(wb.IntervalJoin("-6 s", "5 s", how="left"), *sides),
        "other policy": script.render(JOIN, *sides, policy="max"),
    }
    for name, text in others.items():
        file = tmp_path / f"{name}.py"
        file.write_text(text)
        said = outcome(file, own, tmp_path, "--drain")
        assert said.startswith(f"--checkpoint: {tmp_path / 'checkpoint'} was made for {mine}, this script for "), name
        assert made_for_of(text) in said
    said = outcome(scripts.job(run, tmp_path), own, tmp_path, "--drain")
    assert f"was made by a plain script for {mine}; give a new folder" in said


def test_a_plain_script_goes_on_with_its_own_checkpoint(run, spark, tmp_path):
    sides = [each.with_watermark("9 s") for each in (run.left, run.right)]
    assert made_for_of(script.render(JOIN, *sides)) == made_for_of(run.script)  # delays may change


@pytest.mark.slow
@pytest.mark.parametrize(
    ("argument", "got"), [("--output", "/proc/none"), ("--orders", "/nowhere"), ("--state-store", "memory")]
)
def test_a_start_that_was_refused_notes_nothing_that_binds(run, spark, tmp_path, argument, got):
    file = scripts.job(run, tmp_path)
    refused = [f"{argument}={got}", "--output=/proc/none"]
    assert outcome(file, spark, tmp_path, *refused).startswith(("--output: got", "--orders: got"))
    assert code_and_words(file, spark, tmp_path, "--drain") == (0, "")
    assert spark.read.parquet(str(tmp_path / "output")).count() > 0
    said = outcome(file, spark, tmp_path, f"--output={tmp_path}/other")  # a query has begun: now the note binds
    assert f"was made for output '{tmp_path}/output', this script has '{tmp_path}/other'" in said


JOINS = [
    JOIN,
    wb.IntervalJoin("-5 s", "5 s"),
    wb.WindowJoin(wb.Session("3 s"), how="full"),
    wb.CoGroup(wb.Tumbling("9 s")),
]


def reversed_in_time(folder):
    """Files are as a copy may leave them: the last by name is the oldest."""
    for number, file in enumerate(sorted(folder.glob("*"), reverse=True)):
        os.utime(file, (1_800_000_000 + number, 1_800_000_000 + number))


def counted(capfd, what):
    """What the log of a script has printed of each micro-batch."""
    done = [json.loads(line) for line in capfd.readouterr().out.splitlines() if line.startswith("{")]
    return [each[what] for each in done if each["event"] == "micro-batch"]


@pytest.mark.slow
def test_a_copy_of_a_project_takes_its_recording_in_the_same_order(ran, spark, tmp_path, capfd):
    run = ran(JOIN)
    file = scripts.job(run, tmp_path)
    data = file.parent / "main_data" / "orders"
    reversed_in_time(data)
    assert code_and_words(file, spark, tmp_path, "--drain") == (0, "")
    assert sum(counted(capfd, "rows_dropped")) == len(run.late) > 0
    assert fault_lab.plain(spark.read.parquet(str(tmp_path / "output")).toArrow().to_pylist()) == fault_lab.rows_of(run)


def test_files_of_the_users_own_keep_their_times(run, tmp_path):
    made = scripts.module(file := scripts.job(run, tmp_path))
    recording, own = file.parent / "main_data" / "orders", tmp_path / "orders"
    shutil.copy(recording / "batch-00000.parquet", recording / "mine.parquet")
    shutil.copytree(recording, own)
    before = {}
    for folder in (recording, own):
        reversed_in_time(folder)
        before[folder] = {each.name: each.stat().st_mtime for each in folder.glob("*")}
        made.put_in_order(made.ORDERS, str(folder))
    after = {folder: {each.name: each.stat().st_mtime for each in folder.glob("*")} for folder in before}
    assert after[own] == before[own]
    assert after[recording]["mine.parquet"] == before[recording]["mine.parquet"]
    assert sorted(after[recording], key=after[recording].get) == sorted(after[recording])


@pytest.mark.slow
def test_how_many_files_a_micro_batch_takes(run, spark, tmp_path, capfd):
    file = scripts.job(run, tmp_path)
    assert code_and_words(file, spark, tmp_path, "--trigger=available-now") == (0, "")
    assert [each for each in counted(capfd, "rows_in") if each] == [12] * 4  # as recorded
    new = [f"--{name}={tmp_path}/new {name}" for name in ("checkpoint", "output")]
    assert code_and_words(file, spark, tmp_path, "--trigger=available-now", "--files-per-trigger=3", *new) == (0, "")
    assert [each for each in counted(capfd, "rows_in") if each] == [36, 12]


@pytest.mark.family("a drained checkpoint")
@pytest.mark.slow
@pytest.mark.parametrize("dead_letters", [None, "parquet"])
@pytest.mark.parametrize("join", JOINS, ids=repr)
def test_a_drained_checkpoint_takes_no_new_rows(spark, tmp_path, join, dead_letters):
    sides = fault_lab.streams(6)
    file = scripts.job(wb.preview(join, *sides), tmp_path, dead_letters=dead_letters)
    folders = {each.name: tmp_path / each.name for each in sides}
    later = {}
    for each in sides:
        each.write(folders[each.name])
        for number in (3, 4, 5):  # rows on time, with partners of their own
            new = folders[each.name] / f"batch-{number:05}.parquet"
            later[new] = shutil.move(new, tmp_path / f"{each.name}-{number}")
    words = [f"--{name}={folder}" for name, folder in folders.items()]
    words += [f"--dead-letters={tmp_path}/dead"] if dead_letters else []
    for _ in range(2):  # once more without new rows does no harm
        assert code_and_words(file, spark, tmp_path, *words, "--drain") == (0, "")
    before = letters(spark, tmp_path / "output")
    done = fault_lab.numbers(tmp_path / "checkpoint" / "commits")
    for new, held_back in later.items():
        shutil.move(held_back, new)
    for start in ("--trigger=available-now", "--trigger=1 second", "--drain", "--drain"):
        assert outcome(file, spark, tmp_path, *words, start) == refused_as_drained(tmp_path / "checkpoint")
    assert fault_lab.numbers(tmp_path / "checkpoint" / "commits") == done  # no row was taken in
    words += [f"--{name}={tmp_path}/new {name}" for name in ("checkpoint", "output")]
    words += [f"--dead-letters={tmp_path}/new dead"] if dead_letters else []
    assert code_and_words(file, spark, tmp_path, *words, "--drain") == (0, "")
    assert letters(spark, tmp_path / "new output") > before


@pytest.mark.family("a drained checkpoint")
@pytest.mark.slow
def test_a_plain_script_refuses_a_drained_checkpoint(run, spark, tmp_path):
    file = wb.export(run, tmp_path / "join.py")
    later = held_back(tmp_path / "join_data", 3)
    for _ in range(2):  # once more without new rows does no harm
        assert code_and_words(file, spark, tmp_path, "--drain") == (0, "")
    for new, place in later.items():
        shutil.move(place, new)
    was_drained = f"--checkpoint: {tmp_path}/checkpoint was drained"
    said = outcome(file, spark, tmp_path)
    assert said == f"{was_drained}, so that all new rows would be late; give a new folder"
    said = outcome(file, spark, tmp_path, "--drain")
    assert said == f"{was_drained} when 12 rows came, all late; give a new folder"
    assert code_and_words(file, spark, tmp_path, "--drain") == (0, "")


@pytest.mark.family("a drained checkpoint")
@pytest.mark.slow
@pytest.mark.parametrize("dead_letters", [None, "parquet"])
def test_rows_that_come_while_a_drain_runs_are_told_or_kept(run, spark, tmp_path, dead_letters):
    """What comes in the last row's own micro-batch is on time, and in the next one, as Spark drops by the one before."""
    file = scripts.job(run, tmp_path, dead_letters=dead_letters)
    made = scripts.module(file)
    later = held_back(file.parent / "main_data", 1, 2, 3)
    places = {name: str(tmp_path / name) for name in ("checkpoint", "output", "dead_letters")}
    args = scripts.arguments(made, **places, drain=True, files_per_trigger=1)
    own = scripts.own_session(spark)
    settled = {"state store": "rocksdb", "shuffle partitions": "2", "output": places["output"]}
    assert made.check_checkpoint(own, args, made.MADE_FOR | settled)
    end_input = made.end_input

    def end_and_go_on(*words):
        end_input(*words)
        for new, place in later.items():
            if place.exists():
                shutil.move(place, new)

    with mock.patch.object(made, "end_input", end_and_go_on):
        if dead_letters:
            made.run(own, args)
            assert own.read.parquet(places["dead_letters"]).count() == 12
        else:
            with pytest.raises(SystemExit, match=r"^12 more rows came while the input was drained, and"):
                made.run(own, args)


def held_back(folder, *batches):
    """Take micro-batches out of an export's recording: where each file was, and where it is."""
    later = {}
    for new in sorted(folder.glob("*/*.parquet")):
        if int(new.stem.partition("-")[2]) in batches:
            later[new] = folder.parent / f"{new.parent.name}-{new.name}"
            shutil.move(new, later[new])
    return later


@pytest.mark.family("a drained checkpoint")
@pytest.mark.slow
def test_a_drain_that_was_killed_goes_on_but_no_other_start_does(run, spark, tmp_path):
    """Its last row is written, and not taken in yet."""
    file = scripts.job(run, tmp_path)
    made = scripts.module(file)
    places = {name: str(tmp_path / name) for name in ("checkpoint", "output")}
    args = scripts.arguments(made, **places, drain=True)
    own = scripts.own_session(spark)
    settled = {"state store": "rocksdb", "shuffle partitions": "2", "output": places["output"]}
    assert made.check_checkpoint(own, args, made.MADE_FOR | settled)
    with mock.patch.object(made, "end_input", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        made.run(own, args)
    open_windows = own.read.parquet(places["output"]).count()
    made.end_input(own, made.ORDERS, args)
    assert outcome(file, spark, tmp_path, "--trigger=available-now") == refused_as_drained(tmp_path / "checkpoint")
    assert code_and_words(file, spark, tmp_path, "--drain") == (0, "")
    assert own.read.parquet(places["output"]).count() > open_windows


@pytest.mark.family("a drained checkpoint")
@pytest.mark.engine
def test_a_start_on_a_drained_checkpoint_ends_with_a_sentence(spark, tmp_path):
    """A processor keeps its rows in another way; in a process, as users start it."""
    file = scripts.job(wb.run(fault_lab.JOINS["as-of"], *fault_lab.streams(3)), tmp_path)
    scripts.run(file, "--drain")
    rows = spark.read.parquet(str(tmp_path / "output")).count()
    recording = file.parent / "main_data" / "orders"
    shutil.copy(recording / "batch-00002.parquet", recording / "batch-00003.parquet")
    for words in (("--trigger", "available-now"), ("--drain", "--restart", "fixed-delay")):
        Path(f"{file}.err").unlink()
        assert scripts.ended(scripts.start(file, *words), 240) == 1
        assert Path(f"{file}.err").read_text().splitlines()[-1] == refused_as_drained("checkpoint")
    assert all(each["event"] != "failed" for each in scripts.lines(file))  # it does not try again
    scripts.run(file, "--drain", "--checkpoint", "other", "--output", "more")
    assert spark.read.parquet(str(tmp_path / "more")).count() > rows


def letters(spark, folder):
    """How much is written, also in the lists of a group's rows."""
    return sum(len(repr(row)) for row in spark.read.parquet(str(folder)).collect())


def refused_as_drained(checkpoint):
    return (
        f"--checkpoint: {checkpoint} was drained, so that all new rows would be late; start with a new --checkpoint, "
        "which reads the input from the beginning and writes all rows again"
    )


def begin(checkpoint):
    """What Spark writes when a query begins with a checkpoint."""
    (checkpoint / "metadata").write_text('{"id":"1"}')


def made_for_of(text):
    (found,) = [
        each.value for each in ast.parse(text).body if isinstance(each, ast.Assign) and each.targets[0].id == "MADE_FOR"
    ]
    return ast.literal_eval(found)


@pytest.mark.parametrize("place", ["a file", "a file/beneath", "/proc/none"])
def test_a_checkpoint_that_cannot_be_written_is_told_in_a_line(run, spark, tmp_path, place):
    made = scripts.module(scripts.job(run, tmp_path))
    (tmp_path / "a file").write_text("")
    args = scripts.arguments(made, checkpoint=str(tmp_path / place))
    with pytest.raises(SystemExit, match=r"^--checkpoint: .* cannot be written: [^\n]+$"):
        made.check_checkpoint(spark, args, made.MADE_FOR)


def outcome(file, spark, folder, *words):
    """What a script that is started, and refuses to run, says at its end; as in `code_and_words`."""
    code, said = code_and_words(file, spark, folder, *words)
    assert code != 0
    return said


def code_and_words(file, spark, folder, *words):
    """How a script that is started here ends, in the tests' session; its checkpoint and output are in a folder."""
    own = scripts.own_session(spark)
    own.stop = lambda: None
    places = {f"--{name}": str(folder / name) for name in ("checkpoint", "output")}
    words = [*itertools.chain(*places.items()), *words]
    said = io.StringIO()
    with (
        mock.patch.object(sys, "argv", [str(file), *words]),
        mock.patch.object(sys, "path", [str(file.parent), *sys.path]),
        mock.patch.object(SparkSession.Builder, "getOrCreate", lambda _: own),
        mock.patch.dict(sys.modules),
        contextlib.redirect_stderr(said),
    ):
        for name in scripts.MODULES:
            sys.modules.pop(name, None)
        try:
            runpy.run_path(str(file), run_name="__main__")
        except SystemExit as end:
            return 1, said.getvalue().splitlines()[-1] if isinstance(end.code, int) else end.code
    return 0, said.getvalue()


BOTH = [
    ("--trigger", "x", "--trigger: got 'x'; use a number and a unit, such as 10 seconds"),
    ("--trigger", "-1 second", "--trigger: got '-1 second'; use a number and a unit"),
    ("--trigger", "1 month", "--trigger: got '1 month'; use a number and a unit"),
    ("--checkpoint", "", "--checkpoint: got ''; give a value, or leave it out"),
    ("--checkpoint", "/proc/none", "/proc/none"),
    ("--checkpoint", "foo://x", "foo://x"),
    ("--orders", "/nowhere", "Path does not exist: /nowhere"),
    ("--orders", "foo://x", "foo://x"),
    ("--orders", "x:y", "--orders"),
    ("--output", "/proc/none", "--output"),
    ("--output", "foo://x", "foo://x"),
]
PROJECT = [
    ("--orders", "/nowhere", "--orders: got '/nowhere'; give a place that can be read ("),
    ("--output", "/proc/none", "--output: got '/proc/none'; give a place that can be written ("),
    ("--output", "foo://x", "--output: got 'foo://x'; give a new folder ("),
    ("--dead-letters", "foo://x", "--dead-letters: got 'foo://x'; give a new folder ("),
    ("--checkpoint", "foo://x", "--checkpoint: got 'foo://x'; give a folder for offsets and state ("),
    ("--shuffle-partitions", "x", "--shuffle-partitions: got 'x'; use a whole number, 1 or more"),
    ("--shuffle-partitions", "99999999999", "--shuffle-partitions: got '99999999999'; use a whole number"),
    ("--files-per-trigger", "0", "--files-per-trigger: got '0'; use a whole number, 1 or more"),
    ("--files-per-trigger", "all", "--files-per-trigger: got 'all'; use a whole number, 1 or more"),
    ("--attempts", "-1", "--attempts: got '-1'; use a whole number, 0 or more"),
    ("--delay", "nan", "--delay: got 'nan'; use a number, 0 or more"),
    ("--within", "inf", "--within: got 'inf'; use a number, 0 or more"),
    ("--restart", "always", "--restart: invalid choice: 'always' (choose from"),
]


@pytest.mark.parametrize(("argument", "got", "words"), BOTH)
def test_a_wrong_argument_of_a_plain_script_is_told_in_a_line(run, spark, tmp_path, argument, got, words):
    said = outcome(wb.export(run, tmp_path / "join.py"), spark, tmp_path, f"{argument}={got}")
    assert words in said
    assert argument in said
    assert "\n" not in said


@pytest.mark.parametrize(("argument", "got", "words"), [*BOTH, *PROJECT])
def test_a_wrong_argument_of_a_project_is_told_in_a_line(run, spark, tmp_path, argument, got, words):
    said = outcome(scripts.job(run, tmp_path, dead_letters="parquet"), spark, tmp_path, f"{argument}={got}")
    assert words in said
    assert argument in said
    assert "\n" not in said


def test_what_ends_a_query_is_told_in_a_line(run, spark, tmp_path):
    (tmp_path / "a file").write_text("")
    said = outcome(scripts.job(run, tmp_path), spark, tmp_path, f"--orders={tmp_path}/a file", "--drain")
    assert said.startswith("the query failed: ")
    assert "\n" not in said


def _made_for(run, join, policy="min", source="files"):
    """What the checkpoint of another job is made for."""
    text = _modules(join, run.left, run.right, policy, source)["main.py"]
    return made_for_of(text)


def _modules(join, left, right, policy="min", source="files", sink="parquet", dead_letters=None):
    files = script.project(join, left, right, policy, script.check(left, right, source, sink, dead_letters))
    return {name: text for name, text in files.items() if name.endswith(".py") and "/" not in name}


@pytest.mark.family("a script's life")
@pytest.mark.slow
def test_what_may_change_with_a_checkpoint(run, spark, tmp_path):
    run_here(spark, run, tmp_path)
    longer = [each.with_watermark("4 s") for each in fault_lab.streams(6)]
    other = wb.run(JOIN, *longer, finish=False)
    before = spark.read.parquet(str(tmp_path / "output")).count()
    savepoint = tmp_path / "savepoint"
    shutil.copytree(tmp_path / "checkpoint", savepoint)
    # a longer delay; from a copy of the checkpoint it goes on with the two new micro-batches
    run_here(spark, other, tmp_path, checkpoint=str(savepoint))
    assert spark.read.parquet(str(tmp_path / "output")).count() > before
    made = [scripts.module(scripts.job(each, tmp_path)).MADE_FOR for each in (run, other)]
    assert made[0] == made[1]
    found = spark.read.parquet(str(tmp_path / "dead_letters"))  # written once, though the copy wrote them again
    assert found.count() == found.distinct().count()


PIECES = [*"ab\"'\\\n;#(){}$%`é\x00\u2028", '"); import os; #', "'''", '"""']
NASTY = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join)


@strategies.in_parts(
    5,
    8,  # each writes and formats two scripts
    names=st.lists(NASTY, min_size=6, max_size=6, unique_by=str.lower),
    source=st.sampled_from(sorted(script.SOURCES)),
    sink=st.sampled_from(sorted(script.SINKS)),
    dead_letters=st.sampled_from([None, *script.DEAD_LETTERS]),
)
def test_names_reach_a_script_as_literals_only(names, source, sink, dead_letters):
    def structure(stream_names, columns):
        import pandas as pd

        sides = []
        for place, name in enumerate(stream_names):
            frame = pd.DataFrame({columns[place]: ["x"], columns[place + 2]: [pd.Timestamp("2026-01-01")]})
            sides.append(wb.Stream.from_pandas(frame, name, key=columns[place], time=columns[place + 2]))
        with mock.patch("black.format_str", lambda text, mode: text):  # which takes most of the time
            texts = [script.render(JOIN, *sides, source=source, sink=sink)]
            texts += _modules(JOIN, *sides, "min", source, sink, dead_letters).values()
        return [type(node).__name__ for text in texts for node in ast.walk(ast.parse(text))]

    assume(all(name.strip() for name in names[:2]))
    try:
        found = structure(names[:2], names[2:])
    except (wb.ArgumentError, wb.DataError):
        reject()  # too many of these, and Hypothesis says so
    assert found == structure(["left", "right"], ["a", "b", "c", "d"])


def places_that_have_each():
    """Some of the places that go together: each source, sink and target of dead letters is in one of them."""
    left, met, chosen = scripts.places_that_go_together(*fault_lab.streams(1)), set(), []
    while new := max((set(enumerate(each)) - met for each in left), key=len):
        chosen += [each for each in left if new <= set(enumerate(each))][:1]
        met |= set(enumerate(chosen[-1]))
    return chosen


@pytest.mark.slow
@pytest.mark.parametrize("join", [JOIN, wb.CoGroup(wb.Session("3 s"))], ids=["rows", "groups"])
@pytest.mark.parametrize("places", places_that_have_each(), ids=str)
def test_scripts_are_typed_and_lint_clean(places, join, tmp_path):
    left, right = fault_lab.streams(1)
    source, sink, dead_letters = places
    folders = [tmp_path / "job", tmp_path / "plain"]
    for each in folders:
        each.mkdir()
    for name, text in _modules(join, left, right, "max", source, sink, dead_letters).items():
        (folders[0] / name).write_text(text)
    (folders[1] / "script.py").write_text(script.render(join, left, right, source=source, sink=sink))
    lint = [
        "ruff",
        "check",
        "--isolated",
        "--select",
        "F,E4,E7,E9,W,I,B,UP,SIM,C4,PIE,RET,ANN",
        "--ignore",
        "ANN401,B023",
        "--config",
        f"lint.isort.known-first-party={list(scripts.MODULES)}",
    ]
    # PySpark's `config(map=…)` takes a dict of unions, which is invariant
    ignored = {"job": [], "plain": ["--disable-error-code=arg-type"]}
    tools = [(tmp_path, [*lint, tmp_path])]
    for each in folders:
        # a cache for each set of options: other options make mypy check PySpark anew
        typed = ["mypy", "--strict", f"--cache-dir={parts.CACHE / 'mypy' / each.name}", *ignored[each.name]]
        tools.append((each, [*typed, *sorted(each.glob("*.py"))]))
    for where, tool in tools:
        done = subprocess.run(
            [sys.executable, "-m", *map(str, tool)], capture_output=True, text=True, check=False, cwd=where
        )
        assert done.returncode == 0, done.stdout
