"""Killed at any step and started again, an exported script's sink holds what it promises.

At which steps is drawn by the commit; with ``--every-kill`` at all of them.
"""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import deltalake
import fault_lab
import lakes
import parts
import psycopg
import pytest
import scripts
from confluent_kafka import KafkaException
from fault_lab import plain, rows_of
from topics import drain, pour

import workbench as wb

pytestmark = pytest.mark.engine  # scripts in processes of their own
KILLED = pytest.mark.family("killed and started again")
JOIN = fault_lab.JOINS["interval"]


@pytest.fixture(scope="module", params=list(fault_lab.JOINS))
def killed(spark, request):
    """A run whose script is killed, of each join: Spark's own operator keeps its rows in one way, a processor in another."""
    return wb.run(fault_lab.JOINS[request.param], *fault_lab.streams(12), finish=False)


@pytest.fixture(scope="module")
def undisturbed(spark):
    return wb.run(JOIN, *fault_lab.streams(12), finish=False)


def started(run: wb.Run, file: Path, *words: object, **more: object):
    return fault_lab.started(file, *words, store=fault_lab.store_of(run.join), **more)


@KILLED
def test_files_after_kills(killed, kills, spark, tmp_path):
    steps = kills.of(fault_lab.STEPS, 3, 20)
    run = wb.run(killed.join, *fault_lab.streams(24), finish=False) if kills.every else killed
    file = scripts.job(run, tmp_path)
    written = fault_lab.files_written(tmp_path)
    fault_lab.torment(file, steps, kills.seed, written, lambda: started(run, file))
    found = spark.read.parquet(str(tmp_path / "output")).toArrow().to_pylist()
    assert plain(found) == rows_of(run), kills


@KILLED
@pytest.mark.parametrize("sink", ["postgresql", "postgresql-transaction"])
def test_a_table_after_kills(killed, kills, database, connectors, tmp_path, sink):
    run, steps = killed, kills.of(fault_lab.SINK_STEPS, 2, 6)
    file = scripts.job(run, tmp_path, sink=sink)
    env = scripts.environment(tmp_path, [connectors]) | {"PGPASSWORD": parts.PASSWORD}
    table = f"{sink.replace('-', '_')}_{type(run.join).__name__.lower()}"

    with psycopg.connect(database, password=parts.PASSWORD, autocommit=True, row_factory=psycopg.rows.dict_row) as link:

        def ask(query):
            try:
                return link.execute(query).fetchall()
            except psycopg.errors.UndefinedTable:
                return []

        def written():
            rows = ask(f"SELECT count(*) AS n FROM {table}{'_batches' if sink.endswith('transaction') else ''}")
            return sum(each["n"] for each in rows)

        words = ("--database", database, "--output", table)
        fault_lab.torment(file, steps, kills.seed, written, lambda: started(run, file, *words, env=env))
        rows = ask(f"SELECT * FROM {table}")
    for each in rows:
        each.pop("id", None)
    assert plain(rows) == rows_of(run), kills


@KILLED
def test_a_topic_after_kills(killed, kills, broker, connectors, tmp_path):
    run, steps = killed, kills.of(fault_lab.SINK_STEPS, 2, 6)
    file = scripts.job(run, tmp_path, sink="kafka")
    env = scripts.environment(tmp_path, [connectors])
    topic = f"tormented-{type(run.join).__name__}"
    words = ("--brokers", broker.brokers, "--output", topic)

    def written():
        try:
            return len(drain(broker, topic))
        except KafkaException:
            return 0

    fault_lab.torment(file, steps, kills.seed, written, lambda: started(run, file, *words, env=env))
    found = {dict(each.headers())["id"]: json.loads(each.value()) for each in drain(broker, topic)}
    assert plain(found.values()) == rows_of(run), kills


@KILLED
def test_a_delta_table_after_kills(killed, kills, delta, tmp_path):
    python, _ = delta
    run, steps = killed, kills.of(fault_lab.SINK_STEPS, 2, 6)
    file = scripts.job(run, tmp_path, sink="delta")
    env = scripts.of_delta(tmp_path, delta)

    def written():
        return len(list((tmp_path / "output" / "_delta_log").glob("*.json")))

    fault_lab.torment(file, steps, kills.seed, written, lambda: started(run, file, env=env, launcher=(python,)))
    rows = deltalake.DeltaTable(str(tmp_path / "output")).to_pyarrow_table().to_pylist()
    assert plain(rows) == rows_of(run), kills


@KILLED
def test_an_iceberg_table_after_kills(killed, kills, tmp_path):
    run, steps = killed, kills.of(fault_lab.SINK_STEPS, 2, 6)
    file = scripts.job(run, tmp_path, sink="iceberg")
    env, table = lakes.ICEBERG.environment(tmp_path), tmp_path / "lake" / "shop" / "joined"
    words = ("--output", lakes.ICEBERG.table(tmp_path, "joined"))

    def written():
        return len(list((table / "metadata").glob("v*.metadata.json")))

    fault_lab.torment(file, steps, kills.seed, written, lambda: started(run, file, *words, env=env))
    assert plain(lakes.iceberg_rows(table)) == rows_of(run), kills


@pytest.mark.family("a fault beside the script")
def test_a_delta_table_that_has_the_micro_batch_already(spark, delta, tmp_path):
    """Killed after Delta's commit and before Spark's: Spark 4.2 wants the state committed, though Delta reads nothing."""
    python, _ = delta
    run = wb.run(JOIN, *fault_lab.streams(3), finish=False)
    file = scripts.job(run, tmp_path, sink="delta")
    env = scripts.of_delta(tmp_path, delta)
    for _ in range(2):
        code = scripts.ended(fault_lab.started(file, env=env, launcher=(python,)), 240)
        assert code == 0, Path(f"{file}.err").read_text()[-3000:]
        commits = tmp_path / "checkpoint" / "commits"
        last = max(fault_lab.numbers(commits))
        for name in (f"{last}", f".{last}.crc"):
            (commits / name).unlink()
    rows = deltalake.DeltaTable(str(tmp_path / "output")).to_pyarrow_table().to_pylist()
    assert plain(rows) == rows_of(run)


@pytest.mark.family("a fault beside the script")
def test_a_broker_is_killed_and_comes_back(undisturbed, connectors, tmp_path, spark):
    run = undisturbed
    with parts.broker() as own:
        for side in (run.left, run.right):
            pour(own, side.name, side, 6)
        file = scripts.job(run, tmp_path, source="kafka")
        words = ("--brokers", own.brokers, "--max-offsets-per-trigger", 6, "--restart", "failure-rate", "--delay", 1)
        running = fault_lab.started(file, *words, env=scripts.environment(tmp_path, [connectors]))
        scripts.wait_for(lambda: fault_lab.numbers(tmp_path / "checkpoint" / "commits"), 90)
        own.kill()
        time.sleep(3)
        assert running.poll() is None
        own.start()
        assert running.wait(180) == 0, Path(f"{file}.err").read_text()[-3000:]
    assert plain(spark.read.parquet(str(tmp_path / "output")).toArrow().to_pylist()) == rows_of(run)


@pytest.mark.family("a fault beside the script")
def test_a_full_disk_under_the_checkpoint(undisturbed, tmp_path, spark):
    run = undisturbed
    file = scripts.job(run, tmp_path)
    checkpoint = tmp_path / "checkpoint"
    checkpoint.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", checkpoint]

    def mounted():
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            raise parts.MissingError("no right to mount a small disk here")

    parts.real(mounted)
    try:
        running = fault_lab.started(file)
        assert running.wait(120) == 1
        failed = [each for each in scripts.lines(file) if each["event"] == "failed"]
        assert "No space left on device" in json.dumps(failed) + Path(f"{file}.err").read_text()
        subprocess.run(["mount", "-o", "remount,size=64m", checkpoint], check=True)
        assert fault_lab.started(file).wait(120) == 0
    finally:
        subprocess.run(["umount", checkpoint], check=False)
    assert plain(spark.read.parquet(str(tmp_path / "output")).toArrow().to_pylist()) == rows_of(run)
