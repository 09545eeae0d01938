"""Runs Flink SQL with PyFlink, in PyFlink's own environment: cases of statements in as JSON, plans and rows out."""

from __future__ import annotations

import json
import sys

from pyflink.table import EnvironmentSettings, TableEnvironment

LAST_EVENT = "9999-12-31"


def plain(value):
    """A value as JSON has it; a nested row as a list."""
    if isinstance(value, (list, tuple)) or hasattr(value, "as_dict"):
        return [plain(each) for each in value]
    return value if value is None or isinstance(value, (int, float, str, bool)) else value.isoformat()


def run(statements):
    tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    tables.get_config().set("parallelism.default", "1")
    tables.get_config().set("table.local-time-zone", "UTC")
    *before, query = statements
    for statement in before:
        tables.execute_sql(statement)
    plan = tables.explain_sql(query)
    with tables.execute_sql(query).collect() as rows:
        return {"plan": plan, "rows": [[str(row.get_row_kind()), *map(plain, row)] for row in rows]}


if __name__ == "__main__":
    cases = json.loads(sys.stdin.read())
    print("\n" + json.dumps([run(statements) for statements in cases]))
