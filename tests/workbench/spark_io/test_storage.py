"""Recordings and checkpoints in a folder that Spark's executors reach: HDFS, S3, on a cluster, over Spark Connect."""

from __future__ import annotations

import gc
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import parts
import pytest

import generators
import workbench as wb
from workbench.spark_io import scratch, storage

WORK = """
import gc, json, os, sys, time, traceback

from pyspark.sql import SparkSession

import generators
import workbench as wb

asked = json.loads(sys.argv[1])
try:
    builder = SparkSession.builder.config("spark.ui.enabled", "false")
    builder = builder.remote("local[1]") if asked.get("connect") else builder.master(asked.get("master", "local[2]"))
    for name, value in asked["settings"].items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    for name, value in asked.get("later", {}).items():
        spark.conf.set(name, value)
    left, right = generators.generate("orders_payments", events=60, batches=4, seed=2)
    told = {}
    for join in asked["joins"]:
        join = eval(join, {name: getattr(wb, name) for name in wb.__all__})
        try:
            run = wb.run(join, left, right, spark=spark, folder=asked["folder"])
        except wb.WorkbenchError as error:
            told[repr(join)] = str(error)
            continue
        told[repr(join)] = {
            "address": run.execution.scratch.address,
            "output": run.output.astype(str).values.tolist(),
            "fates": run.rows.fate.value_counts().to_dict(),
            "mismatch": run.mismatch,
            "state": len(run.state(1)),
        }
        if asked.get("savepoint"):
            kept = run.savepoint(asked["savepoint"] + str(len(told)), 2)
            again = wb.run(join, left, right, spark=spark, folder=asked["folder"], savepoint=kept)
            told[repr(join)]["resumed"] = again.output.equals(run.output) and not again.mismatch
        elif asked.get("connect"):
            try:
                run.savepoint("savepoint", 2)
            except wb.WorkbenchError as error:
                told["savepoint"] = str(error)
    again = None
    if asked.get("connect"):
        run = None
        gc.collect()
        time.sleep(2)  # the folder is removed beside what goes on
        print(json.dumps(told), flush=True)
        os._exit(0)  # Spark's own hook at exit waits for its server
    print(json.dumps(told), flush=True)  # the last run is still held
except BaseException:
    traceback.print_exc()
    sys.stderr.flush()
    os._exit(1)
"""
LEFT = wb.IntervalJoin("0 s", "15 s", how="left")
JOINS = (
    LEFT,
    wb.WindowJoin(wb.Sliding("10 s", "5 s")),
    wb.WindowJoin(wb.Session("5 s")),
    wb.CoGroup(wb.Tumbling("10 s")),
)
SMALL = {"spark.executor.memory": "512m", "spark.cores.max": "2", "spark.executor.cores": "1"}
SMALL |= {"spark.shuffle.readHostLocalDisk": "false"}  # workers in mount namespaces are of one host to Spark


def work(**asked):
    """What a process with a session of its own tells."""
    words = [sys.executable, "-W", "ignore", "-c", WORK, json.dumps(asked)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=400, check=False, env=os.environ)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def here(join):
    """The same of a run in a folder of this machine."""
    run = wb.run(join, *generators.generate("orders_payments", events=60, batches=4, seed=2))
    output = run.output.astype(str).values.tolist()
    return {
        "output": output,
        "fates": run.rows.fate.value_counts().to_dict(),
        "mismatch": "",
        "state": len(run.state(1)),
    }


def same(told, expected):
    assert isinstance(told, dict), told
    return {name: told[name] for name in expected} == expected


def names(spark, folder):
    """What is in a folder of Hadoop's."""
    path = spark.sparkContext._gateway.jvm.org.apache.hadoop.fs.Path(folder)
    system = path.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())
    return [status.getPath().getName() for status in system.listStatus(path)]


@pytest.fixture(scope="module")
def hdfs():
    with parts.real(parts.hdfs) as found:
        yield found


@pytest.mark.engine
@pytest.mark.family("runs on HDFS")
def test_runs_on_hdfs_are_those_here_and_leave_nothing(spark, hdfs, tmp_path):
    settings, address = hdfs
    folder = f"{address}/scratch"
    joins = [repr(join) for join in JOINS]
    told = work(settings=settings, folder=folder, joins=joins, savepoint=str(tmp_path / "savepoint"))
    for join in JOINS:
        found = told[repr(join)]
        assert found["address"].startswith(f"{folder}/stream-join-workbench-")
        assert found["resumed"] is True
        assert same(found, here(join))
    assert names(spark, folder) == []


@pytest.mark.engine
@pytest.mark.family("runs on HDFS")
def test_the_session_s_default_file_system_takes_no_local_folder(hdfs):
    """Its own temporary folders are of this machine, whatever a path without a scheme means to the session."""
    settings, address = hdfs
    told = work(settings=settings | {"spark.hadoop.fs.defaultFS": address}, folder=None, joins=[repr(LEFT)])
    assert same(told[repr(LEFT)], here(LEFT))
    told = work(
        settings=settings | {"spark.hadoop.fs.defaultFS": address}, folder="hdfs:///scratch2", joins=[repr(LEFT)]
    )
    assert same(told[repr(LEFT)], here(LEFT))


@pytest.mark.skipif(
    Path(sys.prefix).is_relative_to("/dev/shm"),
    reason="this environment stands where the driver's folders are, which are hidden",
)
@pytest.mark.engine
@pytest.mark.family("runs on HDFS")
def test_workers_that_cannot_read_the_driver_s_folders(hdfs, tmp_path):
    settings, address = hdfs
    with parts.real(lambda: parts.cluster(tmp_path, own_root=True)) as (master, _):
        asked = {"master": master, "settings": settings | SMALL, "joins": [repr(LEFT)]}
        told = work(folder=None, **asked)[repr(LEFT)]
        assert told.startswith("Spark's executors do not reach this machine's folders: give folder= a place"), told
        assert same(work(folder=f"{address}/scratch", **asked)[repr(LEFT)], here(LEFT))


@pytest.mark.family("runs on HDFS")
@pytest.mark.engine
def test_a_run_over_spark_connect_on_hdfs(spark, connect_port, hdfs):
    settings, address = hdfs
    told = work(connect=True, settings=settings, folder=f"{address}/connect", joins=[repr(LEFT)])
    assert same(told[repr(LEFT)], here(LEFT))
    assert "over Spark Connect, so there are no savepoints" in told["savepoint"]
    [left] = names(spark, f"{address}/connect")  # Spark Connect can empty a folder, not remove it
    assert all(name == "_SUCCESS" or name.endswith(".parquet") for name in names(spark, f"{address}/connect/{left}"))


@pytest.mark.engine
def test_runs_on_s3_are_those_here_and_leave_nothing(tmp_path):
    with parts.real(parts.s3) as (settings, address, listed):
        key = "fs.s3a.secret.key"
        later = {key: settings.pop(f"spark.hadoop.{key}")}  # set in the session while it runs
        asked = {"settings": settings, "later": later, "joins": [repr(LEFT)], "savepoint": str(tmp_path / "savepoint")}
        told = work(folder=f"{address}/scratch", **asked)
        assert told[repr(LEFT)]["resumed"] is True
        assert same(told[repr(LEFT)], here(LEFT))
        assert [name for name in listed() if not name.endswith("/")] == []
        assert "Spark cannot use s3a://nowhere/scratch" in work(folder="s3a://nowhere/scratch", **asked)[repr(LEFT)]


def test_a_folder_of_this_machine(spark, tmp_path):
    sides = generators.generate("orders_payments", events=20, batches=2, seed=2)
    for folder in (tmp_path, str(tmp_path), f"file://{tmp_path}", f"file:{tmp_path}"):
        run = wb.run(LEFT, *sides, folder=folder)
        assert [each.name for each in tmp_path.iterdir()] == [run.execution.scratch.path.name]
        assert not run.mismatch
        assert len(run.state(1))
        del run
        gc.collect()
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("folder", "words"),
    [
        (3, "folder: got 3; give a path or an address, such as /shared/scratch, hdfs:///tmp/scratch or s3a://"),
        ("", "folder: got ''; give a path"),
        ("no/such/folder", "folder: got 'no/such/folder'; it is no folder of this machine that can be written to"),
        ("s3a://key:hidden@bucket/x", "folder: got an address with a password in it; give it without"),
        ("s3a://bucket/x?token=hidden", "folder: got 's3a://bucket/x'; use letters, digits and"),
        ("s3a://bucket/*", "use letters, digits and"),
        ("s3a://", "folder: got 's3a://'; use letters, digits and"),
        ("no:folder", "folder: got 'no:folder'; it is no folder of this machine"),
        ("/proc", "it cannot be written to ("),
        ("s3a://bucket/a b", "use letters, digits and"),
        ("s3a://bucket/a\nb", "give a path or an address"),
    ],
)
def test_wrong_folders(folder, words):
    sides = generators.generate("orders_payments", events=20, batches=2, seed=2)
    with pytest.raises(wb.ArgumentError) as caught:
        wb.run(LEFT, *sides, folder=folder)
    assert words in str(caught.value)
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize("name", ["sp ace", "pct%20x", "hash#x", 'q"uote', "b`t"])
def test_a_folder_that_spark_s_reader_of_state_would_not_find(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(wb.ArgumentError, match="Spark's reader of state finds no folder with spaces or any of"):
        storage.check_folder(tmp_path / name)


def test_temporary_files_in_a_folder_that_spark_s_reader_of_state_would_not_find(spark, tmp_path, monkeypatch):
    (tmp_path / "sp ace").mkdir()
    monkeypatch.setattr(scratch, "MEMORY", tmp_path / "none")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "sp ace"))
    run = wb.run(LEFT, *generators.generate("orders_payments", events=20, batches=2, seed=2))
    assert not run.mismatch
    assert len(run.state(1))


def test_ways_to_name_a_folder_of_this_machine(tmp_path, monkeypatch):
    (tmp_path / "é").mkdir()
    monkeypatch.chdir(tmp_path)
    names = (tmp_path / "é", "é", (tmp_path / "é").as_uri(), f"file://localhost{tmp_path}/é", f"FILE:{tmp_path}/é")
    assert {storage.check_folder(name) for name in names} == {str(tmp_path / "é")}


def test_the_files_of_a_run_were_removed(spark, tmp_path):
    run = wb.run(LEFT, *generators.generate("orders_payments", events=20, batches=2, seed=2), folder=tmp_path)
    shutil.rmtree(run.execution.scratch.path)
    for call in (
        lambda: run.save(tmp_path / "saved"),
        lambda: run.savepoint(tmp_path / "kept", 1),
        lambda: run.state(1),
    ):
        with pytest.raises(wb.WorkbenchError, match=r"^the files of this run, in .*, have been removed; run it again"):
            call()


def test_a_folder_whose_name_is_a_pattern(tmp_path):
    (tmp_path / "a[b]").mkdir()
    with pytest.raises(wb.ArgumentError, match="for a pattern"):
        storage.check_folder(tmp_path / "a[b]")


def test_a_file_system_that_spark_does_not_know(spark):
    sides = generators.generate("orders_payments", events=20, batches=2, seed=2)
    with pytest.raises(
        wb.QueryError,
        match=r"^folder: Spark cannot use gs://bucket/scratch \(Class \S+GoogleHadoopFileSystem not found\)",
    ):
        wb.run(LEFT, *sides, folder="gs://bucket/scratch")


def test_what_a_killed_process_left_is_removed_by_the_next(spark, tmp_path):
    """A remote folder is swept as one of this machine; here the remote file system is Hadoop's view of the disk."""
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    host = storage.host()
    left, others = f"{scratch.PREFIX}{host}-{dead.pid}-1", f"{scratch.PREFIX}{host}-{os.getpid()}-1"
    elsewhere = f"{scratch.PREFIX}another{host}-{dead.pid}-1"
    for name in (left, others, elsewhere, "data"):
        (tmp_path / name).mkdir()
    place = storage.RemoteScratch(f"file://{tmp_path}", spark)
    assert {each.name for each in tmp_path.iterdir()} == {others, elsewhere, "data", place.address.rsplit("/", 1)[1]}
    place.remove()


def test_a_removal_that_has_begun_is_finished_before_the_process_ends(tmp_path):
    """The folder of a run that is given up just before the end: what removes it is slow."""
    work = f"""
import pathlib, time
from workbench.spark_io import storage

class Slow:
    make = staticmethod(str)
    sweep = staticmethod(lambda folder: None)

    def remove(self, address):
        time.sleep(1)
        pathlib.Path({str(tmp_path / "removed")!r}).write_text(address)

storage._files = lambda spark: Slow()
place = storage.RemoteScratch("far://away", None)
place = None
"""
    subprocess.run([sys.executable, "-c", work], check=True, timeout=60)
    assert (tmp_path / "removed").read_text().startswith("far://away/")
