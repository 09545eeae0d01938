"""Exported scripts with a real Kafka broker, a real PostgreSQL server and Delta Lake give the rows of the run."""

from __future__ import annotations

import json

import deltalake
import pandas as pd
import parts
import psycopg
import pytest
import scripts
from confluent_kafka import Producer
from fault_lab import plain, rows_of
from scripts import late_in, late_of
from topics import drain, pour

import generators
import workbench as wb

pytestmark = pytest.mark.engine  # scripts in processes of their own
LEFT, RIGHT, BATCHES = 40, 41, 6  # rows of a micro-batch; the left topic has a message that is no row in each


def streams():
    """Micro-batches of the same size each, as a topic gives them with a most for each trigger."""
    sides = generators.generate("orders_payments", events=300, seed=9, late=0.2, disorder=0.3)
    made = []
    for side, size in zip(sides, (LEFT, RIGHT), strict=True):
        frame = side.to_pandas().iloc[: BATCHES * size].assign(batch=lambda rows, size=size: range(len(rows)))
        frame["batch"] //= size
        made.append(
            wb.Stream.from_pandas(frame, side.name, key="order_id", time=side.time, watermark="1 s", batch="batch")
        )
    return made


@pytest.fixture(scope="module")
def interval(spark):
    run = wb.run(wb.IntervalJoin("-1 second", "15 seconds", how="left"), *streams(), finish=False)
    assert len(run.late) > 5
    assert len(run.output) > 20
    return run


@pytest.mark.family("scripts on Kafka")
def test_kafka_to_kafka(interval, broker, connectors, tmp_path):
    topics = {
        "--orders": "orders-json",
        "--payments": "payments-json",
        "--output": "joined",
        "--dead-letters": "dead-letters",
    }
    pour(broker, "orders-json", interval.left, LEFT, malformed=True)
    pour(broker, "payments-json", interval.right, RIGHT)
    file = scripts.job(interval, tmp_path, source="kafka", sink="kafka", dead_letters="kafka")
    words = [word for pair in topics.items() for word in pair]
    log = scripts.run(
        file, *words, "--brokers", broker.brokers, "--trigger", "available-now", "--max-offsets-per-trigger", LEFT + 1,
        env=scripts.environment(tmp_path, [connectors]),
    )  # fmt: skip
    messages = drain(broker, "joined")
    assert plain(json.loads(each.value()) for each in messages) == rows_of(interval)
    ids = [dict(each.headers())["id"] for each in messages]
    assert len(set(ids)) == len(ids)
    assert {json.loads(each.key())["order_id"] for each in messages} <= set(interval.left.table["order_id"].to_pylist())
    found = pd.DataFrame([json.loads(each.value()) for each in drain(broker, "dead-letters")])
    found["window"] = None
    assert late_in(found) == late_of(interval)
    malformed = found[found["why"] == "malformed"]
    assert len(malformed) == BATCHES
    assert json.loads(malformed["row"].iloc[0])["__corrupt"].endswith("no row")
    assert sum(each["inputs"]["orders"]["malformed"] for each in log if each["event"] == "micro-batch") == BATCHES
    assert sum(each["rows_dropped"] for each in log if each["event"] == "micro-batch") == len(interval.late)


@pytest.mark.family("scripts on Kafka")
def test_drained_topics_take_no_new_messages(interval, broker, connectors, tmp_path):
    pour(broker, "drained-orders", interval.left, LEFT)
    pour(broker, "drained-payments", interval.right, RIGHT)
    file = scripts.job(interval, tmp_path, source="kafka")
    words = ["--brokers", broker.brokers, "--orders", "drained-orders", "--payments", "drained-payments"]
    env = scripts.environment(tmp_path, [connectors])
    scripts.run(file, *words, "--drain", env=env)
    before = pd.read_parquet(tmp_path / "output")
    producer = Producer({"bootstrap.servers": broker.brokers})
    row = interval.left.table.to_pylist()[-1] | {"order_id": "new"}
    producer.produce("drained-orders", value=json.dumps(row, default=str).encode())
    assert producer.flush(30) == 0
    for more in (["--trigger", "available-now"], ["--drain"]):
        assert scripts.ended(scripts.start(file, *words, *more, env=env), 240) == 1
        assert (tmp_path / "job" / "main.py.err").read_text().splitlines()[-1] == (
            "--checkpoint: checkpoint was drained, so that all new rows would be late; start with a new --checkpoint, "
            "which reads the input from the beginning and writes all rows again"
        )
    scripts.run(file, *words, "--drain", "--checkpoint", "other", "--output", "more", env=env)
    found = pd.read_parquet(tmp_path / "more")
    assert len(found) == len(before) + 1  # a left row without partner
    assert "new" in set(found["left_order_id"])


@pytest.mark.family("scripts on Kafka")
def test_avro_to_postgresql(interval, broker, database, connectors, tmp_path):
    pour(broker, "orders", interval.left, LEFT, "avro", malformed=True)
    pour(broker, "payments", interval.right, RIGHT, "avro")
    file = scripts.job(interval, tmp_path, source="kafka-avro", sink="postgresql", dead_letters="parquet")
    env = scripts.environment(tmp_path, [connectors]) | {"PGPASSWORD": parts.PASSWORD}
    words = ["--brokers", broker.brokers, "--trigger", "available-now", "--max-offsets-per-trigger", LEFT + 1]
    scripts.run(file, *words, "--database", database, "--output", "by id", env=env)
    with psycopg.connect(database, password=parts.PASSWORD, row_factory=psycopg.rows.dict_row) as connection:
        rows = connection.execute('SELECT * FROM "by id"').fetchall()
    assert len({row.pop("id") for row in rows}) == len(rows)
    assert plain(rows) == rows_of(interval)
    found = pd.read_parquet(tmp_path / "dead-letters")
    assert late_in(found) == late_of(interval)
    assert sum(found["why"] == "malformed") == BATCHES
    everything = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert parts.PASSWORD.encode() not in everything


@pytest.mark.family("scripts into PostgreSQL")
def test_groups_to_postgresql_in_transactions(spark, database, connectors, tmp_path):
    run = wb.run(wb.CoGroup(wb.Tumbling("10 seconds")), *streams())
    file = scripts.job(run, tmp_path, sink="postgresql-transaction")
    env = scripts.environment(tmp_path, [connectors]) | {"PGPASSWORD": parts.PASSWORD}
    scripts.run(file, "--drain", "--database", database, "--output", "groups", "--state-store", "memory", env=env)
    with psycopg.connect(database, password=parts.PASSWORD, row_factory=psycopg.rows.dict_row) as connection:
        rows = connection.execute("SELECT * FROM groups").fetchall()
        noted = connection.execute("SELECT count(*), count(DISTINCT query) AS queries FROM groups_batches").fetchone()
    assert noted["queries"] == 1
    assert noted["count"] > BATCHES
    assert len(rows) == len(run.output) > 20
    for row in rows:
        row |= {side: sorted(json.loads(row[side]), key=repr) for side in ("left", "right")}
    expected = run.execution.raw_output.drop(["batch"]).to_pylist()
    for row in expected:
        for side in ("left", "right"):
            row[side] = plain({k: v for k, v in each.items() if k != "__row"} for each in row[side])
    assert plain(rows) == plain(expected)


@pytest.mark.family("scripts into PostgreSQL")
@pytest.mark.parametrize("sink", ["postgresql", "postgresql-transaction"])
def test_a_new_checkpoint_does_not_write_into_a_table_with_rows(interval, database, connectors, tmp_path, sink):
    """It would read the input from the beginning, and write all rows again, under ids of their own."""
    file = scripts.job(interval, tmp_path, sink=sink)
    env = scripts.environment(tmp_path, [connectors]) | {"PGPASSWORD": parts.PASSWORD}
    words = [
        "--database",
        database,
        "--output",
        f"twice {sink}",
        "--state-store",
        "memory",
        "--trigger",
        "available-now",
    ]
    scripts.run(file, *words, env=env)

    def count():
        with psycopg.connect(database, password=parts.PASSWORD) as connection:
            return connection.execute(f'SELECT count(*) FROM "twice {sink}"').fetchone()[0]

    before = count()
    assert before == len(interval.output)
    scripts.run(file, *words, env=env)  # the same checkpoint goes on
    running = scripts.start(file, *words, "--checkpoint", "cp2", env=env)
    assert scripts.ended(running, 240) == 1
    errors = (tmp_path / "job" / "main.py.err").read_text()
    assert f"--output: twice {sink} holds rows, and the checkpoint cp2 is new" in errors
    assert count() == before
    assert not (tmp_path / "cp2").exists()


def test_a_password_among_the_arguments_is_refused(interval, connectors, tmp_path):
    file = scripts.job(interval, tmp_path, sink="postgresql")
    running = scripts.start(file, "--database", "postgresql://joiner:secret@localhost/x")
    assert running.wait(120) == 1
    errors = (tmp_path / "job" / "main.py.err").read_text()
    assert "--database: it holds a password; take it out and set PGPASSWORD in the environment" in errors
    assert "secret" not in errors


@pytest.mark.family("tables of a lake")
def test_delta(interval, delta, tmp_path):
    python, _ = delta
    env = scripts.of_delta(tmp_path, delta)
    file = scripts.job(interval, tmp_path, sink="delta")
    scripts.run(file, "--trigger", "available-now", env=env, launcher=(python,))
    table = str(tmp_path / "output")
    assert plain(deltalake.DeltaTable(table).to_pyarrow_table().to_pylist()) == rows_of(interval)

    running = scripts.start(file, "--checkpoint", "cp2", "--trigger", "available-now", env=env, launcher=(python,))
    assert scripts.ended(running, 240) == 1
    assert (
        "--output: output holds rows, and the checkpoint cp2 is new" in (tmp_path / "job" / "main.py.err").read_text()
    )

    # and from Delta tables: each one a micro-batch
    sides = []
    for side in (interval.left, interval.right):
        deltalake.write_deltalake(tmp_path / side.name, side.table)
        given = {"key": "order_id", "time": side.time, "format": "delta", "watermark": "1 s"}
        sides.append(wb.Stream.from_files(tmp_path / side.name, name=side.name, **given))
    again = wb.run(interval.join, *sides, finish=False)
    with pytest.raises(wb.ArgumentError, match="dead_letters: got 'parquet'; which rows of a Delta table"):
        wb.export(again, tmp_path / "again", dead_letters="parquet")
    file = wb.export(again, tmp_path / "again", sink="delta")
    words = ("--checkpoint", "other", "--output", "other-output", "--trigger", "available-now")
    scripts.run(file, *words, env=env, launcher=(python,))
    found = deltalake.DeltaTable(str(tmp_path / "other-output")).to_pyarrow_table().to_pylist()
    assert plain(found) == rows_of(again)
