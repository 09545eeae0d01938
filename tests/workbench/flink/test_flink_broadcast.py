"""Rules joins as jobs of Flink's broadcast state: compiled, run on a mini cluster, and held to the model row by row."""

from __future__ import annotations

import os
import random
import re
import subprocess
from pathlib import Path

import helpers
import pandas as pd
import parts
import pytest

import generators
import workbench as wb
from workbench import flink

HERE = Path(__file__).parent
START = pd.Timestamp("2026-01-01 10:00")
OPENED = [f"--add-opens=java.base/{each}=ALL-UNNAMED" for each in ("java.util", "java.lang", "java.time")]
OPS = ["<", "<=", ">", ">=", "=", "==", "!=", "<>", "?"]
ON_ARRIVAL = [wb.RulesJoin(as_of="arrival", copies=copies) for copies in (None, 3)]
BY_EVENT_TIME = [wb.RulesJoin(copies=copies) for copies in (None, 3)]


def recorded(seed, folder=None):
    """Both sides, a row a micro-batch, so that the order of arrival is one; in files where there is a folder."""
    chance = random.Random(seed)
    order = [chance.random() < 0.4 for _ in range(60)]
    rows = {True: [], False: []}
    for batch, is_rule in enumerate(order):
        at = START + pd.Timedelta(seconds=chance.randrange(30))
        if is_rule:
            rule = chance.choice(["r1", "r1", "r2", None])
            asks = (chance.choice(["a", "b", "c"]), chance.choice(OPS), float(chance.randrange(4)))
            own = (rule, *asks, chance.choice([False, False, True, None]))
        else:
            own = (float(chance.randrange(4)), chance.choice([0.0, -0.0, 1.0, None]))
        rows[is_rule].append((chance.choice("ab"), at, *own, len(rows[is_rule]), batch))
    left = pd.DataFrame(rows[False], columns=["key", "t", "a", "b", "n", "batch"])
    right = pd.DataFrame(
        rows[True], columns=["key", "t", "rule_id", "field", "op", "value", "withdrawn", "m", "batch"]
    ).astype({"withdrawn": "boolean", "rule_id": "string"})
    made = []
    for frame, name in ((left, "readings"), (right, "rules")):
        if folder is None:
            made.append(wb.Stream.from_pandas(frame, name, "key", "t", "1 minute", batch="batch"))
            continue
        place = folder / name
        place.mkdir()
        lines = frame.drop(columns="batch").to_json(orient="records", lines=True, date_format="iso")
        (place / "rows.json").write_text(re.sub(r"(\d\d\.\d{3})Z?\"", r'\1"', lines))
        made.append(wb.Stream.from_files(place, name, "key", "t", "1 minute", format="json"))
    return tuple(made)


def in_lines(left, right):
    """What `RulesInLockStep.java` reads."""
    found = []
    for number, stream in enumerate((left, right)):
        for batch, row in zip(stream.arrival.tolist(), stream.to_pandas().to_dict("records"), strict=True):
            cells = [
                each.isoformat() if isinstance(each, pd.Timestamp) else "" if pd.isna(each) else str(each)
                for each in row.values()
            ]
            found.append((batch, "\t".join([str(number), *cells])))
    return "\n".join(line for _, line in sorted(found))


def pairs(printed):
    """The numbers of the rows of each pair that a job has printed: the columns ``n`` and ``m``."""
    found = [line.split("[", 1)[1].rstrip("]").split(", ") for line in printed.splitlines() if "+I[" in line]
    return sorted((int(cells[4]), int(cells[-1])) for cells in found)


@pytest.fixture(scope="module")
def jobs(pyflink, javac, tmp_path_factory):
    """Compiles a join's job, in a package of its own, and gives what runs it."""
    jars = f"{parts.flink_jars(pyflink)}/*"

    def made(join, left, right, driver=None):
        folder = tmp_path_factory.mktemp("rules")
        name = flink.class_name(left, right)
        (folder / f"{name}.java").write_text(f"package job;\n\n{flink.java(join, left, right)}")
        if driver is not None:
            (folder / driver.name).write_text(f"package job;\n\n{driver.read_text()}")
            service = folder / "classes/META-INF/services/org.apache.flink.metrics.reporter.MetricReporterFactory"
            service.parent.mkdir(parents=True)
            service.write_text(f"job.{driver.stem}$Counters\n")
        done = subprocess.run(
            [javac, "-Werror", "-Xlint:all,-classfile,-processing,-serial,-deprecation", "-cp", jars, "-d", folder / "classes", *folder.glob("*.java")],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-4000:]

        def run(*words):
            main = f"job.{driver.stem if driver else name}"
            command = [
                "java",
                "-Xmx1g",
                parts.ONE_COMPILER,
                *OPENED,
                "-cp",
                f"{folder / 'classes'}{os.pathsep}{jars}",
                main,
                *words,
            ]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
            assert done.returncode == 0, "\n".join(re.findall("Caused by.*", done.stderr)) or done.stderr[-4000:]
            return pairs(done.stdout)

        return run

    return made


@pytest.mark.parametrize("join", ON_ARRIVAL, ids=repr)
def test_rules_on_arrival_row_by_row(join, jobs, tmp_path):
    """Flink's broadcast state, given the rows one after the other, pairs what the model does."""
    run = jobs(join, *recorded(0), HERE / "RulesInLockStep.java")
    count = 0
    for seed in range(3):
        left, right = recorded(seed)
        (tmp_path / "rows").write_text(in_lines(left, right))
        meant = helpers.expected(join, left, right)
        count += len(meant)
        assert run(str(tmp_path / "rows")) == meant
        assert (
            sorted(wb.preview(join, left, right).output[["left_n", "right_m"]].itertuples(index=False, name=None))
            == meant
        )
    assert count > 10


@pytest.mark.parametrize("join", BY_EVENT_TIME, ids=repr)
def test_rules_by_event_time(join, jobs, tmp_path):
    left, right = recorded(5, tmp_path)
    meant = helpers.expected(join, left, right)
    assert len(meant) > 5
    assert jobs(join, left, right)() == meant


def test_flink_sql_has_no_broadcast_state():
    with pytest.raises(wb.ArgumentError, match=r"a job of the DataStream API \(wb\.flink\.java\)"):
        flink.sql(wb.RulesJoin(), *generators.generate("readings_thresholds", events=10))


@pytest.mark.parametrize("call", [wb.flink.preview, wb.flink.run], ids=["preview", "run"])
def test_flinks_own_rules_of_lateness_do_not_cover_it(call):
    with pytest.raises(wb.ArgumentError, match="join: got"):
        call(wb.RulesJoin(), *generators.generate("readings_thresholds", events=10))
