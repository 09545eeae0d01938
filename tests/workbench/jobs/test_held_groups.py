"""Jobs written as groups, of which only the last micro-batches are kept: what the groups held before is read as rows."""

from __future__ import annotations

import datetime
import decimal
from collections import Counter

import jobs
import pytest
import written
from pyspark.sql import functions as F
from pyspark.sql.types import DataType

import workbench as wb
from workbench.jobs import unsafe_rows

WINDOWS = {
    "tumbling": F.window,
    "sliding": F.window,
    "session": F.session_window,
}
SPANS = {"tumbling": ("5 seconds",), "sliding": ("6 seconds", "3 seconds"), "session": ("3 seconds",)}


def struct_of_each_side(orders, payments, window):
    """Each side's rows as a struct of its own, null on the other side."""
    orders, payments = written.marked(orders, payments)
    one = orders.select(F.col("order_id").alias("k"), F.col("ordered_at").alias("t"), F.struct("*").alias("o"))
    other = payments.select(F.col("oid").alias("k"), F.col("paid_at").alias("t"), F.struct("*").alias("p"))
    rows = one.unionByName(other, allowMissingColumns=True)
    lists = F.collect_list("o").alias("orders"), F.collect_list("p").alias("payments"), F.count("*").alias("n")
    return rows.groupBy("k", window).agg(*lists)


def struct_by_a_word(orders, payments, window):
    """Shared columns, with a word that says the side; the lists are of structs made above the union."""
    orders, payments = written.marked(orders, payments)
    one = orders.select(
        F.col("order_id").alias("k"), F.col("ordered_at").alias("t"), F.lit("o").alias("side"), "amount",
        F.col("order_no").alias("number"),
    )  # fmt: skip
    other = payments.select(
        F.col("oid").alias("k"), F.col("paid_at").alias("t"), F.lit("p").alias("side"), "paid", "payment_no"
    )
    row = F.struct("t", "number")
    lists = [F.collect_list(F.when(F.col("side") == each, row)).alias(each) for each in "po"]
    return one.union(other).groupBy(window, "k").agg(F.max("amount").alias("most"), *lists)


def without_times(orders, payments, window):
    """Only the numbers of the rows are collected."""
    return written.collected(written.sides(orders, payments), window)


STYLES = [struct_of_each_side, struct_by_a_word, without_times]


def number(row):
    """The number of a row, whatever a list has of it."""
    if not isinstance(row, dict):
        return row
    found = [row.get(name) for name in ("o", "p") if isinstance(row.get(name), dict)] or [row]
    return next(
        each[name] for each in found for name in ("order_no", "payment_no", "number") if each.get(name) is not None
    )


def numbers(rows):
    return tuple(sorted(map(number, rows)))


def cogroups(batch, row):
    names = next(each for each in (("orders", "payments"), ("o", "p"), ("order_nos", "payment_nos")) if each[0] in row)
    return batch, row["k"], *(numbers(row[name]) for name in names)


@pytest.fixture(scope="module")
def own(spark):
    return jobs.session(spark, shuffle_partitions="2", streaming_minBatchesToRetain="2")


@pytest.mark.parametrize("kind", WINDOWS)
@pytest.mark.parametrize("write", STYLES, ids=lambda each: each.__name__)
def test_rows_that_groups_held_before(own, folder, tmp_path, write, kind):
    joined = write(*jobs.streams(own, folder), WINDOWS[kind]("t", *SPANS[kind]))
    ran = jobs.run(joined, tmp_path / "checkpoint")
    job = wb.open_job(joined, ran.checkpoint)
    first = job.batches.batch[0]
    assert first > 0
    before = job.rows[job.rows.batch == first]
    assert len(before) > 4
    expected = Counter(
        cogroups(batch, row)
        for batch, rows in ran.output.items()
        for row in rows
        if row["k"] is not None and batch > first
    )
    assert len(expected) > 3
    found = Counter(
        cogroups(each["batch"], {"k": each["k"], "orders": each["left"], "payments": each["right"]})
        for each in job.output.to_dict("records")
    )
    assert found == expected
    assert job.mismatches.empty, job.mismatches.to_string()
    [compared] = job.comparison.what[job.comparison.what.str.contains("lists of groups")].index
    assert job.comparison.model[compared] > 0
    state = job.state(job.batches.batch.max())
    assert {"key_k", "value_buf", "value_buf_2"} <= set(state.columns)
    has_times = write is not without_times
    assert bool(job.missing) is not has_times
    if not has_times:
        where = "spread over their session" if kind == "session" else "shown at the start of their window"
        assert where in job.missing[0]


def test_lists_that_are_no_rows_are_said(own, folder, tmp_path):
    orders, payments = jobs.streams(own, folder)
    rows = written.sides(orders, payments)
    sets = [F.collect_list("order_no").alias("o"), F.collect_set("payment_no").alias("p")]
    joined = rows.groupBy("k", F.window("t", "5 seconds")).agg(*sets)
    job = wb.open_job(joined, jobs.run(joined, tmp_path / "checkpoint").checkpoint)
    assert any("(they collect no rows of the right side that are understood)" in each for each in job.missing)
    assert len(job.rows) > 0


VALUES = [
    ("long", [1, -2, None, 2**62]),
    ("int", [1, None, -(2**31)]),
    ("short", [3, -3]),
    ("byte", [7, None, -7, 1, 2, 3, 4, 5, 6]),
    ("boolean", [True, None, False]),
    ("float", [0.5, None]),
    ("double", [0.1, -1e300, None]),
    ("string", ["", None, "a word that is longer than a word of Spark's", "ä"]),
    ("binary", [b"", b"\x00\x01", None]),
    ("date", [datetime.date(1969, 12, 31), datetime.date(2026, 1, 1), None]),
    ("timestamp_ntz", [datetime.datetime(2026, 1, 1, 0, 0, 0, 1), datetime.datetime(1969, 12, 31, 23, 59, 59)]),
    ("decimal(10,2)", [decimal.Decimal("12345678.90"), None, decimal.Decimal("-0.01")]),
    ("decimal(38,10)", [decimal.Decimal("-1234567890123456789012345678.0123456789"), decimal.Decimal("0E-10")]),
    ("array<string>", [["a", None], [], None]),
    ("struct<a: int, b: array<struct<c: string, d: double>>>", [(1, [("x", 0.5), None]), (None, None), None]),
    ("long", list(range(200))),
]


@pytest.mark.parametrize(("kind", "values"), VALUES, ids=lambda each: each if isinstance(each, str) else "")
def test_spark_s_bytes_are_read_as_it_wrote_them(spark, kind, values):
    """The bytes are those of Spark's own projection."""
    frame = spark.createDataFrame([(values,)], f"list array<{kind}>")
    [row] = frame._jdf.queryExecution().executedPlan().executeCollect()
    assert unsafe_rows.entries(bytes(row.getBytes()), DataType.fromDDL(kind)) == [
        tuple(each) if isinstance(each, tuple) else each for each in values
    ]


def test_a_type_that_is_not_read(spark):
    frame = spark.sql("SELECT array(map('a', 1)) AS list")
    [row] = frame._jdf.queryExecution().executedPlan().executeCollect()
    with pytest.raises(unsafe_rows.NotDecodable, match="map"):
        unsafe_rows.entries(bytes(row.getBytes()), DataType.fromDDL("map<string, int>"))
