"""Runs Flink SQL with PyFlink, in PyFlink's own environment: cases of statements in as JSON, plans and rows out."""

from __future__ import annotations

import json
import sys

from pyflink.table import EnvironmentSettings, TableEnvironment


def plain(value):
    """A value of Java's as JSON has it; a nested row as a list."""
    if value is None or isinstance(value, (int, float, str, bool)):
        return value
    if hasattr(value, "__len__"):
        return [plain(each) for each in value]
    return fields(value) if value.getClass().getSimpleName() == "Row" else value.toString()


def fields(row):
    return [plain(row.getField(place)) for place in range(row.getArity())]


def run(statements):
    tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    tables.get_config().set("parallelism.default", "1")
    tables.get_config().set("table.local-time-zone", "UTC")
    *before, query = statements
    for statement in before:
        tables.execute_sql(statement)
    plan = tables.explain_sql(query)
    rows = tables.execute_sql(query)._j_table_result.collect()  # PyFlink's own way knows no Instant
    found = []
    while rows.hasNext():
        row = rows.next()
        found.append([row.getKind().shortString(), *fields(row)])
    return {"plan": plan, "rows": found}


if __name__ == "__main__":
    cases = json.loads(sys.stdin.read())
    print("\n" + json.dumps([run(statements) for statements in cases]))
