"""A PostgreSQL table, by a row's id."""

from __future__ import annotations

from workbench.script._places import JOINED, Argument, Sink, beside
from workbench.script.connectors import POSTGRESQL

__all__ = ["SINK"]

SINK = Sink(
    name="postgresql",
    target="a PostgreSQL table",
    guarantee="exactly once",
    reason=": a row's id is its primary key, inserted if it is new",
    template=beside(__file__),
    is_checked=True,
    arguments=(
        Argument(
            "--database",
            "postgresql://localhost/postgres",
            "where the joined rows go; the password is PGPASSWORD in the environment",
        ),
        Argument("--output", JOINED, "table for the joined rows; made if it is missing"),
    ),
    connectors=(POSTGRESQL,),
)
