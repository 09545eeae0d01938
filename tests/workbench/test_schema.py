"""The tables that are handed out have the columns of the schema, and a new column is one line and one function."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest

import workbench as wb
from workbench import charts, schema
from workbench.reasons import slots

JOINS = [
    wb.IntervalJoin("-2 seconds", "5 seconds", how="full"),
    wb.WindowJoin(wb.Sliding("10 seconds", "5 seconds"), how="left"),
    wb.WindowJoin(wb.Session("5 seconds")),
    wb.CoGroup(wb.Tumbling("10 seconds")),
    wb.AsOfJoin("backward"),
]
IS = {
    "integer": lambda values: pd.api.types.is_integer_dtype(values) or values.isna().all(),
    "timestamp": pd.api.types.is_datetime64_any_dtype,
    "timedelta": pd.api.types.is_timedelta64_dtype,
    "text": lambda values: all(value is None or isinstance(value, str) for value in values),
    "text or True": lambda values: all(value is None or value is True or isinstance(value, str) for value in values),
}


@pytest.fixture(scope="module")
def streams():
    import generators

    return generators.generate("orders_payments", events=60, late=0.3, late_by="40 s", watermark="2 s", batches=6)


@pytest.mark.parametrize("join", JOINS, ids=repr)
def test_tables_have_the_columns_of_the_schema(join, streams):
    preview = wb.preview(join, *streams)
    own = list(dict.fromkeys([*streams[0].columns, *streams[1].columns]))
    tables = {"rows": preview.rows, "late": preview.late, "batches": preview.batches, "state": preview.state(2)}
    for name, table in tables.items():
        described = schema.TABLES[name]
        columns = [c.name for c in described.columns if preview.windowed or not c.name.startswith("window_")]
        between = own if described.own else []
        first = len(described.first)
        assert list(table.columns) == [*columns[:first], *between, *columns[first:]]
        for column in described.columns:
            if column.name in table and len(table):
                assert IS[column.type](table[column.name]), column
    spans = [c.name for c in schema.OUTPUT.last if preview.windowed or not c.name.startswith("window_")]
    assert [name for name in preview.output.columns if name in spans] == spans
    assert preview.output.columns[-1] == "batch"


@pytest.mark.parametrize("name", schema.TABLES)
def test_a_table_is_described_where_it_is_given(name):
    """Each column stands in the docstring, with its unit; the page of the API shows it."""
    table = schema.TABLES[name]
    given = getattr(wb.Run, name)
    text = (given.fget if isinstance(given, property) else given).__doc__
    for column in table.columns:
        assert str(column) in text
        assert column.meaning
        assert (column.unit != "") is (column.name.endswith(("_rows", "_bytes", "_ms")) or column.name in COUNTS)


COUNTS = {"dropped", "model", "spark", "differences"}


def test_a_new_column_is_one_line_and_one_function(monkeypatch, streams):
    """It is in the table, behind the streams' own; a column of theirs with its name is renamed; a search leaves it."""
    column = schema.Column("windows", "integer", "how many windows the row is in", "windows")
    table = dataclasses.replace(schema.ROWS, last=(*schema.ROWS.last, column))
    monkeypatch.setattr(schema, "ROWS", table)
    monkeypatch.setitem(
        slots.COLUMNS, "windows", lambda of, side: of.simulation.fates[side]["all"].to_numpy()[of.asked[side]]
    )
    left, right = streams
    frame = left.to_pandas().assign(windows=7)
    named = wb.Stream.from_pandas(frame, left.name, left.key, left.time, watermark="2 s", batch=None)
    rows = wb.preview(wb.WindowJoin(wb.Sliding("10 seconds", "5 seconds")), named, right).rows
    assert rows.columns[-1] == "windows"
    assert set(rows["windows"]) == {2}
    assert set(rows["row_windows"].dropna()) == {7}


def lines_of_tooltips(layout):
    """The field and the title of each line of a tooltip in a layout."""
    if isinstance(layout, list):
        return [line for part in layout for line in lines_of_tooltips(part)]
    if not isinstance(layout, dict):
        return []
    lines = layout.get("tooltip", [])
    mine = (
        [(each["field"], each.get("title", each["field"])) for each in lines if "field" in each]
        if isinstance(lines, list)
        else []
    )
    return mine + [line for part in layout.values() for line in lines_of_tooltips(part)]


@pytest.mark.parametrize("join", JOINS, ids=repr)
def test_tooltips_call_a_column_as_the_schema_does(join, streams):
    preview = wb.preview(join, *streams)
    shown = set()
    for view in charts.views():
        try:
            layout = preview.charts.drawing(view.name).layout
        except wb.ArgumentError:  # of joins of another kind only
            continue
        shown |= set(lines_of_tooltips(layout.to_dict(validate=False)))
    called = {
        "batch": {"micro-batch", "after micro-batch"}, "fate": {"fate"}, "reason": {"reason"}, "behind": {"behind (s)"},
    }  # fmt: skip
    found = {name: {title for field, title in shown if field == name} for name in called}
    assert all(found[name] <= called[name] for name in called), found
    assert found["batch"] and found["fate"] and found["behind"]
