"""What an address of PostgreSQL says reaches both drivers of an exported script, or is refused."""

from __future__ import annotations

import argparse

import parts
import psycopg
import pytest
import scripts

import generators
import workbench as wb


def exported(folder, sink="postgresql"):
    preview = wb.preview(wb.IntervalJoin("0 s", "15 s"), *generators.generate("orders_payments", events=40, seed=7))
    return wb.export(preview, folder / "join.py", sink=sink)


@pytest.fixture
def script(tmp_path):
    return exported(tmp_path)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return scripts.module(exported(tmp_path_factory.mktemp("address")))


def jdbc(made, address):
    return made.jdbc(argparse.Namespace(database=address))


@pytest.fixture(autouse=True)
def without_settings_of_this_machine(monkeypatch):
    for name in ("PGHOST", "PGPORT", "PGUSER", "PGDATABASE", "PGSSLMODE", "PGPASSWORD", "PGSERVICE", "PGOPTIONS"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("address", "url", "settings"),
    [
        ("postgresql://me@host/db", "host:5432/db", {}),
        ("postgresql://me@host/db?sslmode=verify-full&sslrootcert=/a/root.crt", "host:5432/db", {"sslmode": "verify-full", "sslrootcert": "/a/root.crt"}),
        ("postgresql://me@[::1]:5433/db", "[::1]:5433/db", {}),
        ("postgresql://me@one,two:1234/db?target_session_attrs=read-write", "one:5432,two:1234/db", {"targetServerType": "primary"}),
        ("host=one,::1 port=1 dbname=db user=me", "one:1,[::1]:1/db", {}),
        ("postgresql://me@host/my%20db%3Fsslmode=disable", "host:5432/my%20db%3Fsslmode%3Ddisable", {}),
        ("postgresql://me@host/db?options=-csearch_path%3Dmine", "host:5432/db", {"options": "-csearch_path=mine"}),
        ("postgresql://me@host/db?application_name=a%26b&connect_timeout=7", "host:5432/db", {"ApplicationName": "a&b", "connectTimeout": "7"}),
        ("postgresql://me@host", "host:5432/me", {}),
    ],
)  # fmt: skip
def test_the_address_for_spark(made, address, url, settings):
    assert jdbc(made, address) == (
        "jdbc:postgresql://" + url,
        {"user": "me", "driver": "org.postgresql.Driver", **settings},
    )


def test_the_environment_counts_for_both(made, monkeypatch):
    monkeypatch.setenv("PGSSLMODE", "verify-full")
    monkeypatch.setenv("PGPASSWORD", "secret")
    _, settings = jdbc(made, "postgresql://me@host/db")
    assert settings["sslmode"] == "verify-full"
    assert settings["password"] == "secret"  # noqa: S105 - of no server


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("postgresql:///db", "name a host, such as localhost"),
        ("postgresql:///db?host=/var/run/postgresql", "name a host, such as localhost"),
        ("postgresql://me@host/db?service=x", "got service, which Spark's driver does not know"),
        ("postgresql://me@host/db?sslcrl=/a/list", "got sslcrl, which Spark's driver does not know"),
        ("host=a hostaddr=10.0.0.1 user=me", "got hostaddr, which Spark's driver does not know"),
    ],
)
def test_what_spark_s_driver_cannot_do_is_refused(made, address, words):
    with pytest.raises(SystemExit, match=words):
        jdbc(made, address)


@pytest.mark.parametrize(("sink", "room"), [("postgresql", 63), ("postgresql-transaction", 55)])
def test_a_name_that_the_server_would_cut_off_is_refused(tmp_path, sink, room):
    made = scripts.module(exported(tmp_path, sink))
    for name in ("t" * (room + 1), "é" * 32):
        with pytest.raises(SystemExit, match=f"--output: got a name of {len(name.encode())} bytes"):
            made.write(None, argparse.Namespace(database="postgresql://host/db", output=name))


@pytest.mark.family("scripts into PostgreSQL")
def test_an_unverified_server_gets_no_row(script, database, connectors, tmp_path):
    env = scripts.environment(tmp_path, [connectors]) | {"PGPASSWORD": parts.PASSWORD}
    running = scripts.start(
        script, "--database", f"{database}?sslmode=verify-full", "--output", "unverified", "--drain", env=env
    )
    assert running.wait(240) == 1
    assert "SSL" in (tmp_path / "join.py.err").read_text() + (tmp_path / "join.py.out").read_text()
    with psycopg.connect(database, password=parts.PASSWORD) as connection:
        found = connection.execute(
            "SELECT count(*) FROM pg_tables WHERE tablename LIKE 'unverified%' OR tablename LIKE 'ahead%'"
        ).fetchone()
    assert found == (0,)


@pytest.mark.family("scripts into PostgreSQL")
def test_options_of_the_address_reach_the_server(script, database, connectors, tmp_path):
    with psycopg.connect(database, password=parts.PASSWORD, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA mine")
        connection.execute("CREATE TABLE mine.rows_ahead AS SELECT 'a stranger''s' AS whose")
    env = scripts.environment(tmp_path, [connectors]) | {"PGPASSWORD": parts.PASSWORD}
    scripts.run(
        script, "--database", f"{database}?options=-csearch_path%3Dmine", "--output", "rows", "--drain", env=env
    )
    with psycopg.connect(database, password=parts.PASSWORD) as connection:
        assert connection.execute("SELECT schemaname FROM pg_tables WHERE tablename = 'rows'").fetchall() == [("mine",)]
        assert connection.execute("SELECT whose FROM mine.rows_ahead").fetchall() == [("a stranger's",)]
        left = "SELECT count(*) FROM pg_tables WHERE schemaname = 'mine'"
        assert connection.execute(left).fetchone() == (2,)
        assert connection.execute("SELECT count(*) > 5 FROM mine.rows").fetchone() == (True,)
