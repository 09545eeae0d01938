"""The workbench's own session: quick, and no different in what it gives."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import matrix
import psutil
import pytest
import quick_java
from helpers import stream
from page import wait_for

import generators
import workbench as wb
from workbench import session, spark_versions
from workbench.runs import verification
from workbench.session import memory
from workbench.spark_io import scratch

MANY = generators.generate("orders_payments", events=22_000, rate=200, late=0.05, batches=4, seed=5)


def test_pyspark_can_be_imported_while_the_session_starts():
    """As the cell after ``%load_ext workbench`` does, in a notebook whose cells are all run."""
    code = """
from workbench import session
session.begin()
from pyspark.sql import functions
import threading
for each in threading.enumerate():
    if each.name == "workbench session":
        each.join()
"""
    environment = os.environ | {"JAVA_HOME": "nowhere"}  # it is the import that counts
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "join",
    [
        wb.IntervalJoin("0 seconds", "5 seconds", how="full"),
        wb.WindowJoin(wb.Session("2 seconds")),
        wb.CoGroup(wb.Tumbling("10 seconds")),
    ],
    ids=repr,
)
def test_many_rows_are_shared_out_and_give_the_same(spark, join):
    run = wb.run(join, *MANY)
    (operator, *_) = run.execution.progress[0]["stateOperators"]
    assert operator["numShufflePartitions"] == min(spark.sparkContext.defaultParallelism, 8)
    assert not len(run.mismatches)


def test_few_rows_are_not_shared_out(spark):
    run = wb.run(wb.IntervalJoin("0 s", "1 s"), stream([("a", 100)]), stream([("a", 100)]))
    assert run.execution.progress[0]["stateOperators"][0]["numShufflePartitions"] == 1


def test_state_is_not_read_back_after_very_many_rows_unless_asked_for(spark, monkeypatch):
    monkeypatch.setattr(verification, "MOST_ROWS", 3)
    few = [("a", 100), ("b", 101)]
    run = wb.run(wb.IntervalJoin("0 s", "1 s"), stream(few), stream(few), finish=False)
    assert list(run.comparison["spark"])[-1] == 0
    asked = run.compare()
    assert list(asked["spark"])[-1] > 0
    assert not asked["differences"].any()


def test_hadoops_defaults_are_gone_but_not_what_serves_which_file_system(spark):
    configuration = spark.sparkContext._jsc.hadoopConfiguration()
    assert configuration.size() < 100
    assert configuration.get("fs.s3a.impl") == "org.apache.hadoop.fs.s3a.S3AFileSystem"
    assert configuration.get("yarn.resourcemanager.address") is None
    wb.run(wb.IntervalJoin("0 s", "1 s"), stream([("a", 100)]), stream([("a", 100)]))
    assert configuration.size() < 100


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_files_have_the_permissions_that_hadoop_gives_them_and_no_checksums_beside_them(spark, tmp_path):
    spark.range(1).write.parquet(str(tmp_path / "table"))
    written = list((tmp_path / "table").iterdir())
    assert {path.suffix for path in written} == {"", ".parquet"}
    assert {path.stat().st_mode & 0o777 for path in written} == {0o644}
    assert (tmp_path / "table").stat().st_mode & 0o777 == 0o755
    path = spark._jvm.org.apache.hadoop.fs.Path(str(tmp_path / "table"))
    files = path.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())
    files.setPermission(path, spark._jvm.org.apache.hadoop.fs.permission.FsPermission("700"))
    assert (tmp_path / "table").stat().st_mode & 0o777 == 0o700


def test_what_makes_recorded_runs_quick_is_in_no_exported_script():
    script = wb.preview(wb.IntervalJoin("0 s", "1 s"), stream([("a", 100)]), stream([("a", 100)])).script
    meant = {"spark.sql.shuffle.partitions", "spark.sql.session.timeZone"}
    for name in (session.SETTINGS.keys() | session.QUERY_SETTINGS.keys()) - meant:
        assert name not in script


def test_the_model_is_done_when_the_run_is(spark):
    run = wb.run(wb.IntervalJoin("0 s", "1 s"), stream([("a", 100)]), stream([("a", 100)]))
    assert "outcome" in vars(run.simulation)
    assert "workbench model" not in {each.name for each in threading.enumerate()}


@pytest.mark.slow
def test_java_starts_from_the_archive_that_was_kept():
    """Made with the environment; the nightly run makes one anew."""
    archive = session.archive()
    assert archive.exists(), "python -m workbench.prepare keeps it"
    assert archives_in_use(quick_java.without(os.environ)) == [archive]


def archives_in_use(environment):
    """The archives that the Java of a session in a process of its own has been started with."""
    code = "import psutil, workbench as wb\nwb.spark()\n"
    code += (
        "for each in psutil.Process().children(recursive=True):\n    try:\n        print(*each.cmdline(), sep='\\n')\n"
    )
    code += "    except psutil.NoSuchProcess:  # it has just ended\n        pass"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    option = "-XX:SharedArchiveFile="
    return [Path(line.removeprefix(option)) for line in done.stdout.splitlines() if line.startswith(option)]


def test_a_java_that_is_newer_than_spark_runs_on():
    for version, javas in (
        ("4.0.1", "17 to 23"),
        ("4.1.2", "17 to 23"),
        ("4.2.0", "17 or later"),
        ("4.3.0", "17 or later"),
    ):
        known = spark_versions.facts(version)
        assert known.java_words == javas
        assert [each for each in (8, 16, 17, 21, 23) if known.runs_on_java(each)] == [17, 21, 23]
        assert known.runs_on_java(25) == javas.endswith("later")


@pytest.mark.slow
@pytest.mark.parametrize("version", ["21", "25"])
def test_a_run_on_a_java_of_another_version(version):
    home = matrix.java_of(version)
    if home is None:
        pytest.skip(f"needs Java {version}")
    code = (
        "import generators, workbench as wb\n"
        "sides = generators.generate('orders_payments', events=40, seed=1)\n"
        "for join in (wb.IntervalJoin('0 s', '15 s', how='left'), wb.AsOfJoin()):\n"
        "    run = wb.run(join, *sides)\n"
        "    print(len(run.output), len(run.mismatches))\n"
        "print(wb.spark()._jvm.System.getProperty('java.version'))"
    )
    env = quick_java.without(os.environ) | {"JAVA_HOME": home}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    *runs, java = done.stdout.splitlines()
    assert [run.split()[1] for run in runs] == ["0", "0"], done.stderr
    assert java.startswith(version)
    assert done.stderr == ""


@pytest.mark.nightly
def test_java_starts_from_the_archive_of_its_classes(tmp_path):
    environment = quick_java.without(os.environ) | {"XDG_CACHE_HOME": str(tmp_path)}
    made = subprocess.run(
        [sys.executable, "-m", "workbench.prepare"], env=environment, capture_output=True, text=True, check=False
    )
    archive = Path(made.stdout.strip())
    assert archive.is_relative_to(tmp_path), made.stderr
    scripts = [path for path in archive.parent.iterdir() if path.suffix == ".js"]
    assert len(scripts) == 1  # of the page
    assert {path.name for path in archive.parent.iterdir()} == {archive.name, *(path.name for path in scripts)}
    assert archives_in_use(environment) == [archive]


@pytest.mark.slow
def test_what_is_imported_while_java_is_started_does_not_disturb_the_fork():
    """PySpark forks with a function of its own, so Python calls what `os.register_at_fork` knows, before and after."""
    code = (
        "import importlib, os\n"
        "from workbench import session\n"
        "os.register_at_fork(before=lambda: importlib.import_module('concurrent.futures.thread'))\n"
        "session.launch().stop()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "Exception ignored" not in done.stderr


@pytest.mark.slow
def test_what_a_killed_java_leaves_is_removed_by_the_next_process(tmp_path):
    code = (
        "import os, psutil, workbench as wb\n"
        "spark = wb.spark()\n"
        "spark.range(100).repartition(3).count()\n"
        "print(spark._jvm.java.lang.System.getProperty('java.io.tmpdir'))\n"
        "for each in psutil.Process().children(recursive=True):\n    each.kill()\n"
        "os.abort()"
    )
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    left = Path(done.stdout.strip())
    assert left.parent == tmp_path
    assert any(each.name.startswith("blockmgr-") for each in left.iterdir())
    scratch.Scratch(tmp_path).remove()
    assert not left.exists()


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_process_leaves_no_folder_of_javas(tmp_path, sent):
    code = "import time, workbench as wb; wb.spark(); print(flush=True); time.sleep(300)"
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True) as running:
        running.stdout.readline()
        (folder,) = tmp_path.glob(f"{scratch.PREFIX}*")
        running.send_signal(sent)
    wait_for(lambda: not folder.exists(), 60)


def test_another_java_has_another_archive(monkeypatch):
    here = session.archive()
    monkeypatch.setattr(session, "check_java", lambda: 'openjdk version "21.0.1"')
    assert session.archive() != here
    assert session.archive().parent == here.parent


@pytest.mark.slow
def test_the_script_of_the_pages_chart_is_bundled_once(tmp_path):
    code = "from workbench.app.chart import ChartBox\nprint(len(ChartBox._esm))"
    outputs = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"XDG_CACHE_HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        outputs.append(done.stdout)
    kept = {len(file.read_text()) for file in (tmp_path / "stream-join-workbench").iterdir()}
    assert outputs[0] == outputs[1]
    assert {int(outputs[0])} == kept, done.stderr


def test_altair_is_imported_without_the_grammar_it_has_no_use_for():
    code = "import sys, workbench.charts; print('altair' in sys.modules, 'rfc3987_syntax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["True", "False"], done.stderr


@pytest.mark.parametrize(
    ("groups", "files", "limit"),
    [
        ("0::/app\n", {"app/memory.max": "2147483648"}, 2 * 1024**3),
        ("0::/app/part\n", {"app/memory.max": "1073741824", "app/part/memory.max": "max"}, 1024**3),
        ("0::/outside/of/the/container\n", {"memory.max": "2147483648"}, 2 * 1024**3),
        ("5:cpu:/\n4:memory:/app\n0::/\n", {"memory/app/memory.limit_in_bytes": "2147483648"}, 2 * 1024**3),
        ("4:memory:/app\n", {"memory/app/memory.limit_in_bytes": "9223372036854771712"}, None),
        ("0::/app\n", {"app/memory.max": "max"}, None),
        ("", {}, None),
    ],
)
def test_memory_is_what_the_container_allows(tmp_path, groups, files, limit):
    for name, text in files.items():
        file = tmp_path / "groups" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "mine").write_text(groups)
    total = psutil.virtual_memory().total
    assert memory.available(tmp_path / "groups", tmp_path / "mine") == (min(total, limit) if limit else total)
    assert memory.available(tmp_path / "groups", tmp_path / "nothing") == total


@pytest.mark.parametrize(("gigabytes", "heap"), [(0.5, "512m"), (2, "682m"), (6, "2048m"), (24, "2048m")])
def test_the_heap_is_a_third_of_a_small_machine(monkeypatch, gigabytes, heap):
    monkeypatch.setattr(memory, "available", lambda: int(gigabytes * 1024**3))
    assert memory.heap() == heap
