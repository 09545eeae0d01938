"""Flink's words for a join: what Flink plans, compiles and gives, held to the reference and to the run on Spark."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import helpers
import pandas as pd
import parts
import pytest

import workbench as wb
from workbench import flink
from workbench.joins import HOWS

KEY = 'the `key` of "it\'s" \\u0022'  # a column's name may be anything
SEED = 11
INTERVALS = [wb.IntervalJoin("-2 seconds", "5250 ms", how) for how in HOWS]
INTERVALS += [
    wb.IntervalJoin("-2 seconds", "5 seconds", "full", True, False),
    wb.IntervalJoin("0 seconds", "2 minutes", "inner", False, True),
    wb.IntervalJoin("-10 seconds", "-10 seconds"),
]
WINDOWS = [wb.WindowJoin(wb.Tumbling("10 seconds", "-3 seconds"), how) for how in HOWS]
WINDOWS += [
    wb.WindowJoin(wb.Sliding("10 seconds", "5 seconds"), "full"),
    wb.WindowJoin(wb.Sliding("10 seconds", "3 seconds", "1 second"), "left"),
    wb.WindowJoin(wb.Sliding("4 seconds", "10 seconds"), "right"),
    *(wb.WindowJoin(wb.Session("4 seconds"), how) for how in HOWS),
]
GROUPS = [
    wb.CoGroup(each) for each in (wb.Tumbling("10 seconds"), wb.Sliding("10 seconds", "5 seconds"), wb.Session("4 s"))
]
UNEVEN = wb.CoGroup(wb.Sliding("10 seconds", "3 seconds"))
JOINS = [*INTERVALS, *WINDOWS, *GROUPS]


@pytest.fixture(scope="module")
def pyflink():
    try:
        return parts.pyflink()
    except parts.MissingError as missing:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def streams(tmp_path_factory):
    """Two recordings as JSON, on the edges of every window and bound; nothing comes late."""
    chance = random.Random(SEED)
    made = []
    for name, time in (("orders", "at"), ("payments", "paid at")):
        folder = tmp_path_factory.mktemp(name)
        moments = [1000 * chance.randrange(60) + chance.choice([0, 0, 0, 1, -1, 250]) for _ in range(24)]
        rows = [
            {
                KEY: chance.choice("aab"),
                time: (pd.Timestamp("2026-01-01 10:00") + pd.Timedelta(milliseconds=each)).isoformat(
                    timespec="milliseconds"
                ),
                "n": number,
                "words": f"{name} {number}",
            }
            for number, each in enumerate(moments)
        ]
        (folder / "rows.json").write_text("\n".join(map(json.dumps, rows)))
        made.append(wb.Stream.from_files(folder, name, key=KEY, time=time, watermark="2 minutes", format="json"))
    return made


def micros(text):
    return None if text is None else int(pd.Timestamp(text).value // 1000)


@pytest.fixture(scope="module")
def by_sql(pyflink, streams):
    """What PyFlink plans for each join, and gives."""
    cases = [statements(flink.sql(join, *streams)) for join in JOINS]
    script = Path(__file__).parent / "flink_sql.py"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [pyflink, script], input=json.dumps(cases), capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(zip(map(repr, JOINS), json.loads(done.stdout.splitlines()[-1]), strict=True))


def statements(text):
    return [each.strip() for each in text.strip().removesuffix(";").split(";\n")]


@pytest.mark.parametrize("join", JOINS, ids=repr)
def test_sql_gives_the_rows_of_the_definition(join, by_sql, streams):
    told = by_sql[repr(join)]["rows"]
    assert {row[0] for row in told} <= {"RowKind.INSERT", "+I"}  # nothing is taken back
    columns = [f"left_{name}" for name in streams[0].columns]
    if isinstance(join, wb.CoGroup):
        place = streams[0].columns.index("n")
        found = [
            ((key,), micros(start), micros(end), *(sorted(row[place] for row in side or ()) for side in sides))
            for _, key, start, end, *sides in told
        ]
        assert sorted(found) == helpers.expected(join, *streams)
        return
    if join.how not in ("semi", "anti"):
        columns += [f"right_{name}" for name in streams[1].columns]
    windowed = isinstance(join, wb.WindowJoin)
    columns += ["window_start", "window_end"] * windowed
    rows = [dict(zip(columns, row[1:], strict=True)) for row in told]
    found = [
        (
            row["left_n"],
            row.get("right_n"),
            *((micros(row["window_start"]), micros(row["window_end"])) if windowed else ()),
        )
        for row in rows
    ]
    assert helpers.reference.sort(found) == helpers.expected(join, *streams)


@pytest.mark.parametrize("join", [INTERVALS[3], WINDOWS[1], WINDOWS[7], WINDOWS[9], GROUPS[2]], ids=repr)
def test_the_run_on_spark_gives_the_same(join, streams, spark):
    run = wb.run(join, *streams)
    assert not len(run.late)
    assert helpers.actual(run) == helpers.expected(join, *streams)


def test_flink_plans_its_own_joins(by_sql):
    for join in JOINS:
        plan = by_sql[repr(join)]["plan"]
        if isinstance(join, wb.CoGroup):
            assert "WindowAggregate" in plan
        elif isinstance(join, wb.WindowJoin):
            assert "WindowJoin" in plan
        elif join.how == "semi":
            assert "IntervalJoin" not in plan
            assert "table.exec.state.ttl" in flink.sql(join, *helpers_streams())
        else:
            assert "IntervalJoin" in plan


def helpers_streams():
    return helpers.stream([("a", 1)], "orders"), helpers.stream([("a", 2)], "payments")


@pytest.fixture(scope="module")
def by_java(pyflink, streams, tmp_path_factory):
    """What the compiled jobs print, each in one micro cluster."""
    if shutil.which("javac") is None:
        if os.environ.get("CI"):
            raise parts.MissingError("no javac (a JDK)")
        pytest.skip("no javac (a JDK)")
    jars = f"{parts.flink_jars(pyflink)}/*"
    folder = tmp_path_factory.mktemp("java")
    joins = [*JOINS, UNEVEN]
    for number, join in enumerate(joins):
        home = folder / f"job{number}"
        home.mkdir()
        (home / f"{flink.class_name(*streams)}.java").write_text(
            f"package job{number};\n\n{flink.java(join, *streams)}"
        )
    shutil.copy(Path(__file__).parent / "FlinkJobs.java", folder)
    files = [str(each) for each in folder.rglob("*.java")]
    compiled = subprocess.run(
        ["javac", "-Xlint:all,-classfile,-processing", "-Werror", "-cp", jars, "-d", folder / "classes", *files],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert compiled.returncode == 0, compiled.stderr[-4000:]
    names = [f"job{number}.{flink.class_name(*streams)}" for number in range(len(joins))]
    opened = [f"--add-opens=java.base/{each}=ALL-UNNAMED" for each in ("java.util", "java.lang", "java.time")]
    done = subprocess.run(
        ["java", "-Xmx1g", *opened, "-cp", f"{folder / 'classes'}:{jars}", "FlinkJobs", *names],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, "\n".join(re.findall("Caused by.*", done.stderr)) or done.stderr[-4000:]
    printed = re.split(r"^== job\d+\.\w+$", done.stdout, flags=re.M)[1:]
    return dict(zip(map(repr, joins), printed, strict=True))


@pytest.mark.parametrize("join", [*JOINS, UNEVEN], ids=repr)
def test_the_datastream_job_compiles_and_gives_the_pairs(join, by_java, streams):
    printed = [line.split("+I", 1)[1] for line in by_java[repr(join)].splitlines() if "+I" in line]
    number = {name: re.compile(rf"\b{name} (\d+)\b") for name in ("orders", "payments")}
    wanted = helpers.expected(join, *streams)
    if isinstance(join, wb.CoGroup):
        found = Counter(
            tuple(tuple(sorted(map(int, number[name].findall(line)))) for name in ("orders", "payments"))
            for line in printed
        )
        assert found == Counter((tuple(row[-2]), tuple(row[-1])) for row in wanted)
        return

    def one(name, line):
        known = number[name].search(line)
        return int(known[1]) if known else None

    found = Counter((one("orders", line), one("payments", line)) for line in printed)
    assert found == Counter(row[:2] for row in wanted)


def test_names_are_quoted_and_times_have_milliseconds(streams):
    text = flink.sql(INTERVALS[0], *streams)
    assert f"`{KEY.replace('`', '``')}`" in text
    with pytest.raises(wb.ArgumentError, match="upper: got '1 microsecond'; Flink's event times have milliseconds"):
        flink.sql(wb.IntervalJoin("0 s", "1 us"), *streams)
    with pytest.raises(wb.ArgumentError, match="slide: got '3 seconds'; Flink SQL groups sliding windows only where"):
        flink.sql(UNEVEN, *streams)


def test_keys_of_several_columns_and_every_type(pyflink, tmp_path):
    frame = pd.DataFrame(
        {
            "a": ["x"], "b": [1], "t": pd.to_datetime(["2026-01-01"]), "small": pd.Series([1], dtype="int8"),
            "real": [1.5], "yes": [True], "day": [pd.Timestamp("2026-01-01").date()], "more": [["p", "q"]],
            "inner": [{"u": 1}], "raw": [b"\x00"],
        }
    )  # fmt: skip
    sides = [wb.Stream.from_pandas(frame, name, key=["a", "b"], time="t") for name in ("new", "class")]
    text = flink.sql(wb.CoGroup(wb.Session("4 s")), *sides)
    for kind in ("TINYINT", "DOUBLE", "BOOLEAN", "DATE", "ARRAY<STRING>", "ROW<`u` BIGINT>", "BYTES"):
        assert kind in text
    if shutil.which("javac") is None:
        pytest.skip("no javac (a JDK)")
    for join in (wb.CoGroup(wb.Session("4 s")), wb.WindowJoin(wb.Tumbling("1 day"), "full")):
        file = tmp_path / f"{flink.class_name(*sides)}.java"
        file.write_text(flink.java(join, *sides))
        command = ["javac", "-Werror", "-cp", f"{parts.flink_jars(pyflink)}/*", "-d", tmp_path, file]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
