"""Killed at any step and started again, an exported script's sink holds what it promises."""

from __future__ import annotations

import json

import fault_lab
import parts
import psycopg
import pytest
import scripts
from confluent_kafka import KafkaException
from fault_lab import plain, rows_of
from test_real_parts import drain

import workbench as wb

MANY, FEW = 20, 3


@pytest.fixture(scope="module")
def undisturbed(spark):
    return {
        kills: wb.run(wb.IntervalJoin("-5 s", "5 s", how="left"), *fault_lab.streams(kills + 4), finish=False)
        for kills in (MANY, FEW)
    }


def test_files_after_twenty_kills(undisturbed, spark, tmp_path):
    run = undisturbed[MANY]
    file = wb.export(run, tmp_path / "join.py")
    written = fault_lab.files_written(tmp_path)
    tally = fault_lab.torment(file, MANY, 7, written, lambda: fault_lab.started(file))
    assert sum(tally.values()) == MANY
    assert set(tally) == set(fault_lab.STEPS), "seed 7"
    found = spark.read.parquet(str(tmp_path / "output")).toArrow().to_pylist()
    assert plain(found) == rows_of(run), "seed 7"


@pytest.mark.parametrize("sink", ["postgresql", "postgresql-transaction"])
def test_a_table_after_kills(undisturbed, database, connectors, tmp_path, sink):
    run = undisturbed[FEW]
    file = wb.export(run, tmp_path / "join.py", sink=sink)
    env = scripts.environment(tmp_path, [connectors]) | {"PGPASSWORD": parts.PASSWORD}
    table = sink.replace("-", "_")

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
        fault_lab.torment(file, FEW, 8, written, lambda: fault_lab.started(file, *words, env=env))
        rows = ask(f"SELECT * FROM {table}")
    for each in rows:
        each.pop("id", None)
    assert plain(rows) == rows_of(run), "seed 8"


def test_a_topic_after_kills_of_script_and_broker(undisturbed, broker, connectors, tmp_path):
    run = undisturbed[FEW]
    file = wb.export(run, tmp_path / "join.py", sink="kafka")
    env = scripts.environment(tmp_path, [connectors])
    words = ("--brokers", broker.brokers, "--output", "tormented", "--restart", "fixed-delay", "--delay", 1)

    def written():
        try:
            return len(drain(broker, "tormented"))
        except KafkaException:
            return 0

    fault_lab.torment(file, FEW, 9, written, lambda: fault_lab.started(file, *words, env=env))
    found = {dict(each.headers())["id"]: json.loads(each.value()) for each in drain(broker, "tormented")}
    assert plain(found.values()) == rows_of(run), "seed 9"


def test_a_delta_table_after_kills(undisturbed, delta, tmp_path):
    deltalake = pytest.importorskip("deltalake")
    python, jars = delta
    run = undisturbed[FEW]
    file = wb.export(run, tmp_path / "join.py", sink="delta")
    env = scripts.environment(tmp_path, [jars]) | {"PYSPARK_PYTHON": python}

    def written():
        return len(list((tmp_path / "output" / "_delta_log").glob("*.json")))

    fault_lab.torment(file, FEW, 10, written, lambda: fault_lab.started(file, env=env, launcher=(python,)))
    rows = deltalake.DeltaTable(str(tmp_path / "output")).to_pyarrow_table().to_pylist()
    assert plain(rows) == rows_of(run), "seed 10"
