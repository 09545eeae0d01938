"""The exported script, run in a process of its own, gives the run's rows."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pyspark
import pytest
import scripts
from helpers import stream

import generators
import workbench as wb
from workbench import script

LEFT = [("a", 100, 0), ("a", 105, 0), (None, 112, 1), ("a", 112, 1), ("c", 300, 3), ("a", 101, 5)]
RIGHT = [("a", 100, 0), ("b", 110, 1), ("a", 117, 1), ("a", 117, 1), ("d", 400, 3), ("c", 303, 4)]
SUBMIT = str(Path(pyspark.__file__).parent / "bin" / "spark-submit")


def run_script(file, *arguments, launcher=(sys.executable,)):
    command = [*launcher, str(file), *arguments]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=file.parent,
        env=os.environ | {"PYSPARK_PYTHON": sys.executable},
    )


def rows(table, names):
    return sorted(map(repr, (tuple(row[name] for name in names) for row in table.to_pylist())))


def same(run, folder, *arguments, launcher=(sys.executable,)):
    file = wb.export(run, folder / "join.py")
    places = ("--output", str(folder / "out"), "--checkpoint", str(folder / "checkpoint"))
    done = run_script(file, "--drain", *places, *arguments, launcher=launcher)
    assert done.returncode == 0, done.stderr[-3000:]
    written = pq.read_table(folder / "out")
    names = written.column_names
    expected = run.execution.raw_output.select(names)
    if isinstance(run.join, wb.CoGroup):  # the run's lists also hold row numbers
        expected = expected.to_pylist()
        for row in expected:
            for side in ("left", "right"):
                row[side] = sorted(({k: v for k, v in each.items() if k != "__row"} for each in row[side]), key=repr)
        found = written.to_pylist()
        for row in found:
            for side in ("left", "right"):
                row[side] = sorted(row[side], key=repr)
        assert sorted(map(repr, found)) == sorted(map(repr, expected))
    else:
        assert {name for name in run.output if name != "batch"} == set(names)
        assert rows(written, names) == rows(expected, names)
    assert written.num_rows == len(run.output) > 0


def files(folder, kind, frame, cast=None):
    folder.mkdir()
    for number, (_, part) in enumerate(frame.groupby(frame.index // 2)):
        file = folder / f"{9 - number}.{kind}"
        if kind == "csv":
            part.to_csv(file, index=False)
        elif kind == "json":
            part.to_json(file, orient="records", lines=True, date_format="iso", date_unit="us")
        else:
            part.astype({"at": cast}).to_parquet(file)
        os.utime(file, (1000 + number, 1000 + number))
    return folder


def frame(moments, **more):
    keys = ["a", "b", "a", None, "b", "a"]
    at = pd.Timestamp("2026-01-01 10:00:00.123456") + pd.to_timedelta(moments, unit="s")
    return pd.DataFrame({"id": keys, "at": at, "price": [1.5, None, 2.0, 3.0, 4.0, 5.0], **more})


@pytest.mark.engine
@pytest.mark.family("a script gives the rows of the run")
def test_interval_join_from_memory(spark, tmp_path):
    join = wb.IntervalJoin("-2 seconds", "5 seconds", how="full")
    run = wb.run(join, stream(LEFT, "orders"), stream(RIGHT, "payments"))
    assert len(run.late) > 0
    same(run, tmp_path)


@pytest.mark.engine
@pytest.mark.family("a script gives the rows of the run")
def test_sessions_from_memory(spark, tmp_path):
    join = wb.WindowJoin(wb.Session("5 seconds"), how="left")
    same(wb.run(join, stream(LEFT, "orders"), stream(RIGHT, "payments")), tmp_path)


@pytest.mark.family("a script's life")
def test_without_drain_it_goes_on(tmp_path):
    preview = wb.preview(wb.IntervalJoin("0 s", "5 s"), stream(LEFT, "orders"), stream(RIGHT, "payments"))
    file = wb.export(preview, tmp_path / "join.py")
    running = subprocess.Popen(
        [sys.executable, str(file), "--trigger", "1 second"], cwd=tmp_path, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | {"PYSPARK_PYTHON": sys.executable},
    )  # fmt: skip
    try:
        commits = tmp_path / "checkpoint" / "commits"
        scripts.wait_for(lambda: len([each for each in commits.glob("*") if each.name.isdigit()]) >= 6, 120)
        assert running.poll() is None
    finally:
        scripts.kill(running)


@pytest.mark.parametrize(
    "join", [wb.IntervalJoin("-1 s", "5 s", how="left"), wb.WindowJoin(wb.Tumbling("10 s"), how="left")], ids=repr
)
def test_a_plain_script_is_short(join):
    sides = generators.generate("orders_payments", events=20)
    text = wb.preview(join, *sides).script
    assert len(text.splitlines()) < 115
    functions = [each.name for each in ast.parse(text).body if isinstance(each, ast.FunctionDef)]
    assert functions == ["escaped", "join_streams", "with_end", "main"]


@pytest.mark.parametrize("target", ["join.py", "job"])
def test_a_micro_batch_begins_every_ten_seconds_unless_told_otherwise(tmp_path, target):
    preview = wb.preview(wb.IntervalJoin("0 s", "5 s"), stream(LEFT, "orders"), stream(RIGHT, "payments"))
    text = preview.script if target == "join.py" else scripts.job(preview, tmp_path).read_text()
    assert re.search(r'add_argument\(\s*"--trigger",\s*default="10 seconds",', text)
    assert "trigger(processingTime=args.trigger)" in text


@pytest.mark.parametrize("target", ["join.py", "job"])
def test_the_trigger_interval_that_cut_the_streams_is_the_scripts_own(tmp_path, target):
    sides = generators.generate("orders_payments", events=20, trigger="5 seconds")
    preview = wb.preview(wb.IntervalJoin("0 s", "5 s"), *sides)
    text = preview.script if target == "join.py" else scripts.job(preview, tmp_path).read_text()
    assert re.search(r'add_argument\(\s*"--trigger",\s*default="5 seconds",', text)


@pytest.mark.parametrize("policy", ["min", "max"])
def test_a_plain_script_sets_its_policy_whatever_the_clusters_default_is(policy):
    sides = generators.generate("orders_payments", events=20)
    text = wb.preview(wb.IntervalJoin("0 s", "5 s"), *sides, policy=policy).script
    assert re.search(rf'"spark\.sql\.streaming\.multipleWatermarkPolicy": "{policy}"', text)
    assert f"the query's watermark is the {policy}imum of the two" in text


def test_a_plain_script_has_no_dead_letters(tmp_path):
    preview = wb.preview(wb.IntervalJoin("0 s", "5 s"), stream(LEFT, "orders"), stream(RIGHT, "payments"))
    with pytest.raises(
        wb.ArgumentError, match=r"dead_letters: got 'parquet'; a plain script has none; export a project"
    ):
        wb.export(preview, tmp_path / "join.py", dead_letters="parquet")


def test_a_project_is_a_package_of_modules(ran, tmp_path):
    main = wb.export(ran(wb.IntervalJoin("0 s", "5 s")), tmp_path / "job", dead_letters="parquet")
    assert main == tmp_path / "job" / "main.py"
    modules = {each.name: ast.parse(each.read_text()) for each in main.parent.glob("*.py")}
    names = {"main", "join", "draining", "sources", "sinks", "operations", "dead_letters"}
    assert set(modules) == {f"{name}.py" for name in names}
    names = [each.name for each in modules["join.py"].body if isinstance(each, ast.FunctionDef)]
    assert names == ["join_streams"]
    assert max(len(each.read_text().splitlines()) for each in main.parent.glob("*.py")) < 200
    assert (main.parent / "tests" / "test_join.py").is_file()
    without = wb.export(ran(wb.IntervalJoin("0 s", "5 s")), tmp_path / "other")
    assert not (without.parent / "dead_letters.py").exists()


@pytest.mark.parametrize(
    ("join", "words"),
    [
        (wb.IntervalJoin("0 s", "5 s"), "Interval join of orders and payments"),
        (wb.CoGroup(wb.Session("5 s")), "coGroup of orders and payments, session windows"),
    ],
    ids=["one part", "two parts"],
)
def test_the_readme_of_a_project_says_what_it_is_and_how_much_it_takes_at_once(join, words):
    sides = stream(LEFT, "orders"), stream(RIGHT, "payments")
    for source, argument in (("files", "--files-per-trigger"), ("kafka", "--max-offsets-per-trigger")):
        readme = script.project(join, *sides, "min", script.check(*sides, source, "parquet", None))["README.md"]
        assert readme.splitlines()[0] == f"# {words}"
        assert f"* `{argument}`: " in readme
        assert "What works is a new checkpoint" in readme


def own_test(main):
    """What pytest says of a project's own test, in a process of its own, as its README has it."""
    env = {name: value for name, value in scripts.environment(main.parent).items() if name != "PYTEST_ADDOPTS"}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q"],
        capture_output=True, text=True, timeout=300, check=False, cwd=main.parent, env=env,
    )  # fmt: skip


@pytest.mark.engine
@pytest.mark.family("a project's own test")
@pytest.mark.parametrize(
    "join", [wb.IntervalJoin("-2 s", "5 s", how="left"), wb.CoGroup(wb.Tumbling("10 s"))], ids=["rows", "groups"]
)
def test_a_projects_own_test_passes(ran, tmp_path, join):
    done = own_test(wb.export(ran(join), tmp_path / "job"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^1 passed", done.stdout, re.MULTILINE)


def dated(folder, how):
    """The modification times of the files in a folder are set anew, as a copy does."""
    files = sorted(each for each in folder.rglob("*") if each.is_file())
    if how == "reversed":
        files.reverse()
    for number, file in enumerate(files):
        at = 1_800_000_000 + (0 if how == "all the same" else number)
        os.utime(file, (at, at))


def states(folder):
    """What is in the files of a folder, and when they were modified."""
    files = [each for each in folder.rglob("*") if each.is_file() and "cache" not in str(each.relative_to(folder))]
    return {str(each): (each.read_bytes(), each.stat().st_mtime_ns) for each in files}


@pytest.mark.engine
@pytest.mark.family("a project's own test")
@pytest.mark.parametrize("how", ["reversed", "all the same"])
def test_a_projects_own_test_passes_whenever_its_files_were_modified(ran, tmp_path, how):
    main = wb.export(ran(wb.IntervalJoin("-2 s", "5 s", how="left")), tmp_path / "job")
    dated(main.parent, how)
    before = states(main.parent / "tests")
    done = own_test(main)
    assert done.returncode == 0, done.stdout + done.stderr
    assert states(main.parent / "tests") == before


@pytest.mark.engine
@pytest.mark.family("a project's own test")
def test_a_projects_own_test_fails_where_the_join_was_changed(ran, tmp_path):
    main = wb.export(ran(wb.IntervalJoin("-2 s", "5 s", how="left")), tmp_path / "job")
    file = main.parent / "join.py"
    text = file.read_text()
    assert text.count("5 SECONDS") == 1, text
    file.write_text(text.replace("5 SECONDS", "3 SECONDS"))
    done = own_test(main)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "test_the_recording_gives_the_rows_that_are_expected" in done.stdout
    assert "AssertionError" in done.stdout


@pytest.mark.engine
@pytest.mark.family("a script gives the rows of the run")
@pytest.mark.parametrize(
    ("kinds", "launcher"), [(("csv", "json"), (SUBMIT,)), (("parquet", "parquet"), (sys.executable,))]
)
def test_streams_from_files(spark, tmp_path, kinds, launcher):
    casts = "datetime64[ns]", "datetime64[ms]"  # what pandas writes by default, which Spark cannot read as timestamps
    frames = frame([0, 1, 9, 12, 15, 40], note=list("xyz  w")), frame([1, 1, 10, 12, 14.5, 70])
    sides = [
        wb.Stream.from_files(
            files(tmp_path / name, kind, each, cast), name=name, key="id", time="at", watermark="1 s", format=kind
        )
        for name, kind, each, cast in zip(("clicks", "views"), kinds, frames, casts, strict=True)
    ]
    join = (
        wb.CoGroup(wb.Sliding("10 s", "4 s"))
        if kinds[0] == "parquet"
        else wb.WindowJoin(wb.Tumbling("10 s"), how="full")
    )
    same(wb.run(join, *sides), tmp_path, launcher=launcher)


@pytest.mark.engine
@pytest.mark.family("a script gives the rows of the run")
def test_hostile_names_in_a_script(spark, tmp_path):
    key, time = "a\"b'`c{d}\\é;--", "t.t"
    sides = [
        wb.Stream.from_pandas(
            frame([0, 1, 2, 3, 4, 5]).rename(columns={"id": key, "at": time}), name, key=key, time=time
        )
        for name in ('x"\n\'\'\'"""y', "class")
    ]
    same(
        wb.run(wb.WindowJoin(wb.Sliding("2 s", "3 s"), how="anti"), sides[0], sides[1].with_watermark("9 s")), tmp_path
    )


def test_a_script_reads_as_an_engineers():
    run = wb.preview(wb.IntervalJoin("0 s", "5 s"), stream(LEFT, "orders"), stream(RIGHT, "payments"))
    tree = ast.parse(run.script)
    imports = {
        each.module if isinstance(each, ast.ImportFrom) else each.names[0].name
        for each in ast.walk(tree)
        if isinstance(each, ast.Import | ast.ImportFrom)
    }
    assert {name.split(".")[0] for name in imports} <= {"pyspark", *sys.stdlib_module_names}
    assert run.code in run.script
    assert "def join_streams(orders: DataFrame, payments: DataFrame) -> DataFrame:" in run.script
    assert '"--orders"' in run.script
    assert "__row" not in run.script
    assert max(map(len, run.script.splitlines())) <= 170


def test_a_stream_whose_name_is_too_long_for_a_folder_is_named(tmp_path):
    sides = generators.generate("orders_payments", events=20, seed=1)
    long = replace(sides[0], name="o" * 300)
    run = wb.preview(wb.IntervalJoin("0 s", "5 s"), long, sides[1])
    with pytest.raises(wb.ArgumentError, match=r"name: got 'ooo.*; its recording is written .* or data=False"):
        wb.export(run, tmp_path / "join.py")
    assert list(tmp_path.iterdir()) == []
    assert wb.export(run, tmp_path / "join.py", data=False).exists()


def test_wrong_paths(spark, tmp_path):
    run = wb.run(wb.IntervalJoin("0 s", "5 s"), stream(LEFT, "orders"), stream(RIGHT, "payments"))
    with pytest.raises(wb.ArgumentError, match=r"path: got '.*join.txt'; give a file that ends in .py"):
        wb.export(run, tmp_path / "join.txt")
    with pytest.raises(wb.ArgumentError, match="there is no folder"):
        wb.export(run, tmp_path / "none" / "join.py")
    with pytest.raises(wb.ArgumentError, match="run: got 'str'"):
        wb.export("run", tmp_path / "join.py")
