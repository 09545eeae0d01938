"""The join as Flink SQL and Java: what Flink plans, compiles and gives, verified against the reference and the run on Spark."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
from collections import Counter
from decimal import Decimal
from pathlib import Path

import helpers
import pandas as pd
import parts
import pytest
import tiers

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
AS_OF = [
    wb.AsOfJoin(),
    wb.AsOfJoin(how="left"),
    wb.AsOfJoin(tolerance="2 seconds"),
    wb.AsOfJoin(tolerance="5250 ms", how="left"),
]
AS_OF_JAVA = [
    wb.AsOfJoin("backward", "5 seconds", "left", False),
    wb.AsOfJoin("forward", None, "left"),
    wb.AsOfJoin("forward", "2 seconds", "inner", False),
    wb.AsOfJoin("nearest", None, "left", False),
    wb.AsOfJoin("nearest", "2 seconds", "left"),
    wb.AsOfJoin("nearest"),
]
"""Those that Flink SQL does not have."""
UNEVEN = wb.CoGroup(wb.Sliding("10 seconds", "3 seconds"))
SOME = [
    wb.IntervalJoin("-2 seconds", "5 seconds"),
    INTERVALS[3],
    WINDOWS[0],
    WINDOWS[3],
    WINDOWS[9],
    GROUPS[0],
    GROUPS[2],
    AS_OF[3],
]
"""One of each way that Flink does a join."""
WHERE = (wb.col("left_n") * 2 > wb.col("right_n")) | wb.col("right_words").like("%3")
WHERE &= ~wb.col(f"left_{KEY}").is_null() & ~wb.col("left_words").isin('it\'s "*/" \\u0022', "")
ASKING = [wb.IntervalJoin("-2 seconds", "5250 ms", how, where=WHERE) for how in HOWS]
ASKING += [wb.WindowJoin(wb.Tumbling("10 seconds"), how, where=WHERE) for how in HOWS]
ASKING += [wb.WindowJoin(wb.Sliding("10 seconds", "5 seconds"), "full", where=WHERE)]
CASES = [("plain", join) for join in [*INTERVALS, *WINDOWS, *GROUPS, *AS_OF, *ASKING]]
CASES += [(form, join) for form in ("zoned", "two keys") for join in SOME]
JAVA_CASES = [*CASES, ("plain", UNEVEN), *(("plain", join) for join in AS_OF_JAVA)]


def wanted(join, left, right):
    """What the definition says comes out."""
    asks = getattr(join, "where", None) is not None
    return helpers.expected(join, left, right, _satisfies if asks else None)


def _satisfies(left, right):
    return left * 2 > right or right % 10 == 3


def name_of(case):
    return f"{case[0]}: {case[1]!r}"


@pytest.fixture(scope="module")
def streams(tmp_path_factory):
    """By form two recordings as JSON, on the edges of every window and bound; nothing comes late."""
    return {form: recorded(form, tmp_path_factory) for form in ("plain", "zoned", "two keys")}


def recorded(form, folders):
    chance = random.Random(SEED)
    made = []
    for name, time in (("orders", "at"), ("payments", "paid at")):
        folder = folders.mktemp(name)
        moments = [1000 * chance.randrange(60) + chance.choice([0, 0, 0, 1, -1, 250]) for _ in range(24)]
        times = [pd.Timestamp("2026-01-01 10:00") + pd.Timedelta(milliseconds=each) for each in moments]
        rows = [
            {
                KEY: chance.choice("aab"),
                "part": chance.choice([1, 1, 2]),
                time: at.isoformat(timespec="milliseconds") + "Z" * (form == "zoned"),
                "n": number,
                "words": f"{name} {number}",
            }
            for number, at in enumerate(times)
        ]
        (folder / "rows.json").write_text("\n".join(map(json.dumps, rows)))
        key = [KEY, "part"] if form == "two keys" else KEY
        made.append(wb.Stream.from_files(folder, name, key=key, time=time, watermark="2 minutes", format="json"))
    return made


def micros(text):
    return None if text is None else int(pd.Timestamp(text).value // 1000)


@pytest.fixture(scope="module")
def by_sql(request, pyflink, streams):
    """What PyFlink plans for each case that is taken, and gives."""
    taken = [case for case in CASES if case in tiers.taken(request, "case")]
    cases = [statements(flink.sql(join, *streams[form])) for form, join in taken]
    script = Path(__file__).parent / "flink_sql.py"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [pyflink, script], input=json.dumps(cases), capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(zip(map(name_of, taken), json.loads(done.stdout.splitlines()[-1]), strict=True))


def statements(text):
    return [each.strip() for each in text.strip().removesuffix(";").split(";\n")]


@pytest.mark.drawn(12)
@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_sql_gives_the_rows_of_the_definition(case, by_sql, streams):
    form, join = case
    left, right = streams[form]
    changes = by_sql[name_of(case)]["rows"]
    assert {row[0] for row in changes} <= {"+I"}  # nothing is taken back
    columns = [f"left_{name}" for name in left.columns]
    if isinstance(join, wb.CoGroup):
        place = left.columns.index("n")
        found = [
            (tuple(key), micros(start), micros(end), *(sorted(row[place] for row in side or ()) for side in sides))
            for _, *key, start, end, sides in ((*row[:-2], row[-2:]) for row in changes)
        ]
        assert sorted(found) == wanted(join, left, right)
        return
    if join.how not in ("semi", "anti"):
        columns += [f"right_{name}" for name in right.columns]
    spans = ["window_start", "window_end"] * isinstance(join, wb.WindowJoin)
    rows = [dict(zip(columns + spans, row[1:], strict=True)) for row in changes]
    found = [(row["left_n"], row.get("right_n"), *(micros(row[span]) for span in spans)) for row in rows]
    assert helpers.reference.sort(found) == wanted(join, left, right)


@pytest.mark.parametrize("join", [INTERVALS[3], WINDOWS[1], WINDOWS[7], WINDOWS[9], GROUPS[2], *AS_OF[1:3]], ids=repr)
def test_the_run_on_spark_gives_the_same(join, streams, spark):
    run = wb.run(join, *streams["plain"])
    assert not len(run.late)
    assert helpers.actual(run) == wanted(join, *streams["plain"])


def test_flink_plans_its_own_joins(by_sql, streams):
    for case in CASES:
        if name_of(case) not in by_sql:
            continue
        form, join = case
        plan = by_sql[name_of(case)]["plan"]
        if isinstance(join, wb.CoGroup):
            assert "WindowAggregate" in plan
        elif isinstance(join, wb.AsOfJoin):
            assert "TemporalJoin" in plan
        elif isinstance(join, wb.WindowJoin):
            assert "WindowJoin" in plan
        elif join.how == "semi":
            assert "IntervalJoin" not in plan
            assert "table.exec.state.ttl" in flink.sql(join, *streams[form])
        else:
            assert "IntervalJoin" in plan


@pytest.mark.parametrize("join", AS_OF_JAVA, ids=repr)
def test_flink_sql_says_which_as_of_joins_it_has(join, streams):
    with pytest.raises(wb.ArgumentError, match=r"jobs of the DataStream API \(wb\.flink\.java\)"):
        flink.sql(join, *streams["plain"])


def compile_all(javac, pyflink, target, *words):
    command = [javac, "-Werror", "-cp", f"{parts.flink_jars(pyflink)}/*", "-d", target, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]


@pytest.fixture(scope="module")
def by_java(request, pyflink, javac, streams, tmp_path_factory):
    """What the compiled jobs of the cases that are taken print, each in one micro cluster."""
    taken = [case for case in JAVA_CASES if case in tiers.taken(request, "case")]
    jars = f"{parts.flink_jars(pyflink)}/*"
    folder = tmp_path_factory.mktemp("java")
    name = flink.class_name(*streams["plain"])
    for number, (form, join) in enumerate(taken):
        home = folder / f"job{number}"
        home.mkdir()
        (home / f"{name}.java").write_text(f"package job{number};\n\n{flink.java(join, *streams[form])}")
    shutil.copy(Path(__file__).parent / "FlinkJobs.java", folder)
    files = [str(each) for each in folder.rglob("*.java")]
    compile_all(javac, pyflink, folder / "classes", "-Xlint:all,-classfile,-processing", *files)
    names = [f"job{number}.{name}" for number in range(len(taken))]
    opened = [f"--add-opens=java.base/{each}=ALL-UNNAMED" for each in ("java.util", "java.lang", "java.time")]
    done = subprocess.run(
        ["java", "-Xmx1g", parts.ONE_COMPILER, *opened, "-cp", f"{folder / 'classes'}:{jars}", "FlinkJobs", *names],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, "\n".join(re.findall("Caused by.*", done.stderr)) or done.stderr[-4000:]
    printed = re.split(r"^== job\d+\.\w+$", done.stdout, flags=re.M)[1:]
    return dict(zip(map(name_of, taken), printed, strict=True))


@pytest.mark.drawn(12)
@pytest.mark.parametrize("case", JAVA_CASES, ids=name_of)
def test_the_datastream_job_compiles_and_gives_the_pairs(case, by_java, streams):
    form, join = case
    printed = [line.split("+I", 1)[1] for line in by_java[name_of(case)].splitlines() if "+I" in line]
    number = {name: re.compile(rf"\b{name} (\d+)\b") for name in ("orders", "payments")}
    meant = wanted(join, *streams[form])
    if isinstance(join, wb.CoGroup):
        found = Counter(
            tuple(tuple(sorted(map(int, number[name].findall(line)))) for name in ("orders", "payments"))
            for line in printed
        )
        assert found == Counter((tuple(row[-2]), tuple(row[-1])) for row in meant)
        return

    def one(name, line):
        known = number[name].search(line)
        return int(known[1]) if known else None

    found = Counter((one("orders", line), one("payments", line)) for line in printed)
    assert found == Counter(row[:2] for row in meant)


def test_names_are_quoted_and_times_have_milliseconds(streams):
    plain = streams["plain"]
    assert f"`{KEY.replace('`', '``')}`" in flink.sql(INTERVALS[0], *plain)
    with pytest.raises(wb.ArgumentError, match="upper: got '1 microsecond'; Flink's event times have milliseconds"):
        flink.sql(wb.IntervalJoin("0 s", "1 us"), *plain)
    with pytest.raises(wb.ArgumentError, match="slide: got '3 seconds'; Flink SQL groups sliding windows only where"):
        flink.sql(UNEVEN, *plain)


def compiled(javac, pyflink, folder, join, *sides):
    file = folder / f"{flink.class_name(*sides)}.java"
    file.write_text(flink.java(join, *sides))
    compile_all(javac, pyflink, folder, file)


def test_every_type_has_its_name(javac, pyflink, tmp_path):
    frame = pd.DataFrame(
        {
            "a": ["x"], "b": [1], "t": pd.to_datetime(["2026-01-01"]), "small": pd.Series([1], dtype="int8"),
            "real": [1.5], "yes": [True], "day": [pd.Timestamp("2026-01-01").date()], "more": [["p", "q"]],
            "inner": [{"u": 1}], "raw": [b"\x00"], "exact": [Decimal("1.50")], "seen": pd.to_datetime(["2026-01-01"]),
        }
    )  # fmt: skip
    sides = [wb.Stream.from_pandas(frame, name, key=["a", "b"], time="t") for name in ("new", "class")]
    text = flink.sql(wb.CoGroup(wb.Session("4 s")), *sides)
    for kind in (
        "TINYINT", "DOUBLE", "BOOLEAN", "DATE", "ARRAY<STRING>", "ROW<`u` BIGINT>", "BYTES", "DECIMAL(3, 2)",
        "TIMESTAMP(6)",
    ):  # fmt: skip
        assert kind in text
    for join in (wb.CoGroup(wb.Session("4 s")), wb.WindowJoin(wb.Tumbling("1 day"), "full")):
        compiled(javac, pyflink, tmp_path, join, *sides)


def test_keys_that_are_alike_but_not_the_same(javac, pyflink, tmp_path):
    def side(name, keys):
        return wb.Stream.from_pandas(pd.DataFrame({"k": keys, "t": pd.Timestamp("2026-01-01")}), name, "k", "t")

    narrow, wide = side("narrow", pd.Series([1], dtype="int32")), side("wide", [1])
    join = wb.WindowJoin(wb.Tumbling("1 day"))
    assert 'row.<Number>getFieldAs("k").longValue()' in flink.java(join, narrow, wide)
    compiled(javac, pyflink, tmp_path, join, narrow, wide)
    raw = side("raw", [b"x"])
    with pytest.raises(wb.ArgumentError, match="key: got 'k'; a DataStream job cannot group by BYTES"):
        flink.java(join, raw, raw)
    assert "`k` BYTES" in flink.sql(join, raw, raw)
