"""A played job is opened from the rows that the test gave, which are in memory: as it is from their files."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import shop_streams as shop
from pyspark.sql import functions as F

import workbench as wb
from workbench.jobs import entering, reported, residual, sources
from workbench.sources.key_choice import Choice
from workbench.testing import micro_batches, play

ORDERS = micro_batches(
    shop.ORDERS,
    [("o-1", "10:00:00"), ("o-2", "10:00:01"), (None, "10:00:02")],
    [],
    [],
    [("o-3", "10:05:00"), ("o-1", "10:05:01")],
    [("o-4", "10:00:00"), ("o-5", "10:05:02"), ("o-6", None)],
    [("o-9", "10:09:00")],
)
PAYMENTS = micro_batches(
    shop.PAYMENTS,
    [],
    [("o-1", "10:00:20", 5), ("o-2", "10:00:10", None)],
    [],
    [("o-3", "10:05:03", 7), ("o-3", "10:05:03", 7)],
    [("o-2", "10:00:02", 1)],
)


def shifted(orders, payments):
    """Filters and a projection below the watermark, and a condition of both sides."""
    o = orders.where("id <> 'o-5'").withColumn("due", F.expr("at + INTERVAL 5 SECONDS"))
    o = o.withWatermark("due", "10 seconds").alias("o")
    p = payments.where("amount > 1").withWatermark("at", "10 seconds").alias("p")
    return o.join(p, F.expr("o.id = p.id AND p.at BETWEEN o.due AND o.due + INTERVAL 20 SECONDS AND amount < 100"))


def first_of_each(orders, payments):
    o = orders.withWatermark("at", "10 seconds").dropDuplicates(["id", "at"]).alias("o")
    p = payments.withWatermark("at", "10 seconds").alias("p")
    return o.join(p, F.expr("o.id = p.id AND p.at BETWEEN o.at AND o.at + INTERVAL 15 SECONDS"))


def both(orders, payments):
    """A union of streams, whose rows' places must not meet."""
    every = orders.select("id", "at").unionByName(payments.select("id", "at")).withWatermark("at", "10 seconds")
    later = payments.withWatermark("at", "10 seconds").alias("p")
    return every.alias("o").join(later, F.expr("o.id = p.id AND p.at BETWEEN o.at AND o.at + INTERVAL 15 SECONDS"))


def with_the_file(orders, payments):
    """Code that asks for what only files have."""
    return with_all(orders.select("id", "at", "_metadata.file_name"), payments)


def with_its_name(orders, payments):
    return with_all(orders.select("id", "at", F.input_file_name().alias("file_name")), payments)


def with_all(orders, payments):
    """All columns of orders, with the payment."""
    o, p = orders.withWatermark("at", "10 seconds").alias("o"), payments.withWatermark("at", "10 seconds").alias("p")
    near = F.expr("o.id = p.id AND p.at BETWEEN o.at AND o.at + INTERVAL 15 SECONDS")
    return o.join(p, near, "left").select("o.*", F.col("p.at").alias("paid"))


def check_same(job, never_read=None):
    """What is known of a played job is what `open_job` says of its checkpoint and files."""
    listed, reports = reported.listed, []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(reported, "listed", lambda given: reports.append(given) or listed(given))
        if never_read is not None:
            patched.setattr(sources, "existing", never_read)
        known = job.opened
    first = getattr(known, "joins", [known])[0]
    told = reports[0] if reports else list(first.reports.values())  # of a job that was opened before
    read = wb.open_job(job.joined, first.checkpoint.address, progress=told)
    jobs = list(zip(getattr(known, "joins", [known]), getattr(read, "joins", [read]), strict=True))
    for mine, other in jobs:
        pd.testing.assert_frame_equal(mine.rows, other.rows)
        pd.testing.assert_frame_equal(mine.late, other.late)
        pd.testing.assert_frame_equal(mine.batches, other.batches)
        for number in mine.batches["batch"]:
            pd.testing.assert_frame_equal(mine.state(int(number)), other.state(int(number)))
        assert mine.missing == other.missing
        assert mine.simulation.left.table.schema == other.simulation.left.table.schema
        assert mine.simulation.right.table.schema == other.simulation.right.table.schema
        assert [mine.why(row).text for row in range(len(mine.rows))] == [
            other.why(row).text for row in range(len(other.rows))
        ]
    pd.testing.assert_frame_equal(known.mismatches, read.mismatches)


def unread(*_arguments):
    raise AssertionError("files were read")


@pytest.mark.parametrize(
    "build",
    [shop.unpaid_orders, shop.paid_orders, shifted, first_of_each, both, shop.averages],
    ids=lambda b: b.__name__,
)
def test_rows_fates_state_and_reasons_are_those_of_the_files(spark, build):
    check_same(play(build, orders=ORDERS, payments=PAYMENTS), unread)


@pytest.mark.parametrize("given", [{"restart_after": (0, 3)}, {"finish": True}], ids=str)
def test_after_restarts_and_to_the_end_of_input(spark, given):
    check_same(play(shop.unpaid_orders, orders=ORDERS, payments=PAYMENTS, **given), unread)


def test_of_a_stream_that_is_joined_with_itself(spark):
    check_same(play(shop.again, orders=ORDERS), unread)


def test_of_a_chain(spark):
    shipments = micro_batches(shop.ORDERS, [], [], [], [("o-2", "10:30:00"), ("o-3", "10:31:00")])
    check_same(play(shop.shipped, orders=ORDERS, payments=PAYMENTS, shipments=shipments, finish=True), unread)


def test_of_logs_that_spark_has_begun_to_delete(spark):
    few = {"spark.sql.streaming.minBatchesToRetain": "2"}
    job = play(shop.unpaid_orders, orders=ORDERS, payments=PAYMENTS, settings=few)
    assert job.opened.checkpoint.batches[0].number > 0
    check_same(job)


@pytest.mark.parametrize("build", [with_the_file, with_its_name], ids=lambda b: b.__name__)
def test_of_code_that_asks_for_the_file_of_a_row(spark, build):
    job = play(build, orders=ORDERS, payments=PAYMENTS)
    assert job.mismatches.empty
    files = job.rows.file_name[job.rows.side == "left"]
    assert files.str.endswith(".parquet").all()
    assert set(job.output.file_name) <= set(files)
    check_same(job)


def test_values_of_all_types(spark):
    """In a session whose times are not those of UTC, with times of years in which clocks were other ones."""
    kinds = (
        "id string, at timestamp, plain timestamp_ntz, day date, cents decimal(20,4), some array<struct<a:int,b:string>>, "
        "by map<string,timestamp>, raw binary, yes boolean, one tinyint, two smallint, eight bigint, real float, wide double"
    )
    values = (
        dt.datetime(1899, 5, 6, 7, 8, 9, 10),
        dt.date(1850, 1, 1),
        Decimal("1234567890.1234"),
        [{"a": 1, "b": None}, None],
        {"k": "2026-07-01 00:00:00", "n": None},
        b"\x00\xff",
        True,
        -128,
        -32768,
        -(2**63),
        float("nan"),
        -0.0,
    )
    none = (None,) * len(values)
    left = micro_batches(kinds, [("a", "2026-03-29 01:30:00", *values)], [], [], [("b", "2026-03-29 03:30:00", *none)])
    right = micro_batches(shop.PAYMENTS, [("a", "2026-03-29 01:30:05", 1)])
    zone = {"spark.sql.session.timeZone": "Europe/Berlin"}
    job = play(with_all, orders=left, payments=right, settings=zone)
    check_same(job, unread)


def test_files_are_read_where_spark_reads_other_dates_than_were_written(spark):
    mode = "spark.sql.parquet.datetimeRebaseModeInRead"
    before = spark.conf.get(mode)
    spark.conf.set(mode, "LEGACY")
    try:
        job = play(shop.unpaid_orders, orders=ORDERS, payments=PAYMENTS)
        with pytest.raises(wb.QueryError, match="files were read"):
            check_same(job, unread)
    finally:
        spark.conf.set(mode, before)


def test_no_row_is_lost_after_chunks_without_any(spark):
    """Spark takes two chunks without rows for the end of a table: those of a job may have lost their rows to a filter."""
    rows = pa.table({"id": ["o-1", "o-2"], "amount": [1, 2]})
    chunked = pa.concat_tables([rows.slice(0, 0), rows.slice(0, 0), rows])
    assert Choice((("o-2",),)).taken(spark, chunked, ["id"]).tolist() == [1]

    def build(orders, payments):
        o, p = (
            orders.withWatermark("at", "10 seconds").alias("o"),
            payments.withWatermark("at", "10 seconds").alias("p"),
        )
        return o.join(p, F.expr("upper(o.id) = upper(p.id) AND p.at BETWEEN o.at AND o.at + INTERVAL 15 SECONDS"))

    job = play(build, orders=ORDERS, payments=PAYMENTS)
    table, shown = job.simulation.left.table, entering.columns(job.known, 0)
    told = table.select([name for name in table.column_names if name in shown.names])
    chunked = pa.concat_tables([told.slice(0, 0), told.slice(0, 0), told])
    whole = residual.compared(spark, job.known, 0, shown, told)
    assert whole is not None
    assert np.array_equal(residual.compared(spark, job.known, 0, shown, chunked).to_pandas(), whole.to_pandas())
