"""Operators between a source and the join are followed, as Spark ran them, or named."""

from __future__ import annotations

import jobs
import pandas as pd
import pytest
from pyspark.sql import functions as F
from test_reports import SCHEMA, WITHIN, Desk, fates, reason

import workbench as wb

ON = WITHIN.format("15 SECONDS")
AFTER_WINDOW = "orders.id = payments.id AND payments.at BETWEEN orders.at - INTERVAL 10 SECONDS AND orders.at + INTERVAL 15 SECONDS"


@pytest.fixture
def desk(spark, tmp_path):
    return Desk(jobs.session(spark, session_timeZone="UTC"), tmp_path)


def joined(desk, orders, on=ON, how="left"):
    return orders.alias("orders").join(desk.read("payments"), F.expr(on), how)


def gone(job):
    return {row for row, why in zip(job.rows.row, job.rows.reason, strict=True) if "removes it" in why}


# --- dropDuplicates ---------------------------------------------------------------------------------------------------


def arrive_again(desk):
    """Rows of key a again while the first is kept, and after that; and a late one of key b before the first."""
    desk.each(
        [
            [("a", "10:00:00", "first"), ("a", "10:00:00", "twin")],
            [("a", "10:00:08", "within"), ("z", "10:01:00", "oz")],
            [("a", "10:00:20", "still"), ("a", "10:01:00", "kept"), ("y", "10:02:00", "oy")],
            [("a", "10:02:00", "again"), ("a", "10:02:00", "again twin"), ("b", "10:00:00", "long ago")],
            [("b", "10:02:05", "b")],
        ],
        [[("a", "10:00:05", "pa")], [("z", "10:01:00", "pz")], [("y", "10:02:00", "py")], [], []],
    )


def test_duplicates_within_the_watermark(desk):
    arrive_again(desk)
    orders = desk.read("orders").dropDuplicatesWithinWatermark(["id"])
    job = desk.opened(joined(desk, orders, how="full"))
    assert gone(job) == {"twin", "within", "still", "kept", "again twin", "long ago"}
    words = "which came before it, removes it before it reaches the join"
    assert reason(job, "within") == (
        f"dropDuplicatesWithinWatermark, as it has the same id as the row at 10:00:00 of micro-batch 0, {words}"
    )
    assert reason(job, "again twin") == (
        f"dropDuplicatesWithinWatermark, as it has the same id as the row at 10:02:00, {words}"
    )
    assert "the row at 10:00:00 of micro-batch 0" in reason(job, "kept")  # evicted at the end of its micro-batch
    assert reason(job, "long ago") == (
        "dropDuplicatesWithinWatermark, to which it came late, removes it before it reaches the join"
    )
    told = job.why(job.rows.index[job.rows.row == "pa"][0])
    assert "as it has the same id as the row at 10:00:00 of micro-batch 0, which came before it\n" in str(told)
    assert desk.dropped == 1
    assert len(job.output) == len(desk.out)


def test_a_late_row_is_the_first_of_none(desk):
    arrive_again(desk)
    job = desk.opened(joined(desk, desk.read("orders").dropDuplicates(["id"])))
    assert reason(job, "long ago") == "dropDuplicates, to which it came late, removes it before it reaches the join"
    assert "b" not in gone(job)
    assert "the same id as the row at 10:00:00 of micro-batch 0" in reason(job, "again")
    assert len(job.output) == len(desk.out)


def test_what_the_watermark_evicts_is_late_when_it_comes_again(desk):
    arrive_again(desk)
    desk.arrive(4, orders=[("a", "10:00:00", "evicted"), ("a", "10:02:00", "once more")])
    job = desk.opened(joined(desk, desk.read("orders").dropDuplicates(["id", "at"])))
    assert "to which it came late" in reason(job, "evicted")
    assert "the same id and at as the row at 10:02:00 of micro-batch 3" in reason(job, "once more")
    assert len(job.output) == len(desk.out)


def test_what_was_kept_before_the_first_micro_batch_is_named(desk):
    desk.spark.conf.set("spark.sql.streaming.minBatchesToRetain", "2")
    arrive_again(desk)
    frame = joined(desk, desk.read("orders").dropDuplicates(["id"]))
    desk.run(frame)
    job = wb.open_job(frame, desk.home / "checkpoint")
    assert job.missing == (
        f"what dropDuplicates of the left side held after micro-batch {job.simulation.first}, the first that is kept, is "
        "not read: rows that are duplicates of older ones may differ from what the job had",
    )


# --- unions -----------------------------------------------------------------------------------------------------------


def arrive_in_two_branches(desk):
    arrive_again(desk)
    desk.arrive(0, more=[("a", "10:00:01", "ma"), ("b", "10:00:02", "mb")])
    desk.arrive(1, more=[("z", "10:01:01", "mz")])
    desk.arrive(2, more=[("y", "10:02:00", "my"), ("a", "10:00:05", "late")])


@pytest.mark.parametrize("after", [False, True])
def test_a_union_of_two_sources(desk, after):
    arrive_in_two_branches(desk)
    delay = None if after else "10 seconds"
    rows = desk.read("orders", delay).union(desk.read("more", delay).where("id <> 'b'"))
    job = desk.opened(joined(desk, rows.withWatermark("at", "10 seconds") if after else rows, how="full"))
    assert job.unknown == ()
    assert {"ma", "mz", "my", "first", "late"} <= set(fates(job))
    assert reason(job, "mb").startswith("the filter ")
    assert len(job.output) == len(desk.out)
    assert len(job.late) == desk.dropped


def test_a_union_of_branches_that_differ_is_said_to_be_described_in_part(desk):
    arrive_in_two_branches(desk)
    rows = desk.read("orders").union(desk.read("more", "50 seconds"))
    job = desk.opened(joined(desk, rows))
    assert job.unknown == ("the left side has a union below the join, of which only the first branch is described",)
    desk.out.clear()
    rows = desk.read("orders").select("id", "at", F.lit(None).cast("string").alias("row")).union(desk.read("more"))
    job = desk.opened(joined(desk, rows))
    assert job.unknown == ()
    assert len(job.output) == len(desk.out)


# --- functions of Python ----------------------------------------------------------------------------------------------


def test_functions_over_all_rows_are_asked_again_for_each_micro_batch(desk):
    def twice(parts):
        for each in parts:
            yield pd.concat([each, each.assign(row=each.row + " copy")])

    def as_they_are(parts):
        yield from parts

    arrive_again(desk)
    rows = desk.read("orders", None).where("row <> 'twin'").mapInPandas(twice, SCHEMA)
    job = desk.opened(joined(desk, rows.withWatermark("at", "10 seconds")))
    assert job.unknown == ()
    assert fates(job)["first copy"] == "matched"
    assert fates(job)["long ago copy"] == "late"
    assert "twin" not in fates(job)
    assert len(job.output) == len(desk.out)
    assert len(job.late) == desk.dropped
    rows = desk.read("orders", None).mapInArrow(as_they_are, SCHEMA)
    desk.out.clear()
    job = desk.opened(joined(desk, rows.withWatermark("at", "10 seconds")))
    assert len(job.output) == len(desk.out)


def test_a_filter_with_a_udf_that_spark_runs_before_the_watermark(desk):
    desk.each([[("a", "10:00:00", "oa"), ("b", "10:05:00", "far")], [("c", "10:00:20", "oc")]], [[], []])
    desk.arrive(1, payments=[("a", "10:00:30", "pa")])
    is_near = F.udf(lambda row: row != "far", "boolean")
    job = desk.opened(joined(desk, desk.read("orders").where(is_near("row")), how="full"))
    assert gone(job) == {"far"}
    assert job.comparison.what.str.startswith("watermark").any()


# --- aggregations -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("time", "how"),
    [(lambda w: w.end, "inner"), (lambda w: w.start, "inner"), (lambda w: F.window_time(w.w), "left")],
    ids=["end", "start", "window_time"],
)
def test_an_edge_of_the_window_that_is_kept_as_a_time(desk, time, how):
    arrive_again(desk)
    rows = desk.read("orders").groupBy(F.window("at", "10 seconds").alias("w"), "id").agg(F.max("row").alias("row"))
    column = time(type("W", (), {"end": F.col("w.end"), "start": F.col("w.start"), "w": "w"}))
    job = desk.opened(joined(desk, rows.select("id", column.alias("at"), "row"), AFTER_WINDOW, how))
    assert job.unknown == ()
    assert len(job.output) == len(desk.out)
    assert set(fates(job).values()) >= {"matched"}


# --- what changes no row ----------------------------------------------------------------------------------------------


def test_operators_that_are_no_concern_of_the_join_are_not_called_unknown(desk):
    arrive_again(desk)
    shops = desk.spark.createDataFrame([("a", 1), ("y", 2), ("z", 3)], "k string, n int")
    rows = desk.read("orders").join(shops, F.expr("id = k")).repartition(2).coalesce(1)
    job = desk.opened(joined(desk, rows.withColumn("letter", F.explode(F.split("row", "")))))
    assert job.unknown == ()
    assert len(job.output) == len(desk.out)


# --- what cannot be followed ------------------------------------------------------------------------------------------


def first_rows(desk):
    return desk.read("orders").limit(3), "Spark's operator GlobalLimit, between the rows of orders and the join"


@pytest.mark.parametrize("build", [first_rows])
def test_what_cannot_be_followed_is_named_and_the_rest_is_shown(desk, build):
    arrive_again(desk)
    rows, words = build(desk)
    made = joined(desk, rows, how="inner")
    job = desk.opened(made, progress=None)
    assert job.unknown[0] == f"the rows of the left side cannot be followed through {words}"
    assert any(each.startswith("the rows of the left side cannot be read again") for each in job.missing)
    assert set(job.rows.side) == {"right"}
    assert sorted(job.rows.row) == ["pa", "py", "pz"]
    assert job.rows.fate.isna().all()
    assert len(job.batches) == len(job.checkpoint.batches)
    assert not job.is_understood


# --- rows that are removed, and have no key ---------------------------------------------------------------------------


def test_a_row_without_key_that_an_operator_removes_is_told_of_the_operator(desk):
    """The key of a removed row may be null, as the operator would have made it."""
    desk.each(
        [[("a", "10:00:00", "oa"), ("b", "10:00:01", "ob")], [("c", "10:10:00", "oc")], [("z", "10:30:00", "oz")]],
        [[("a", "10:00:05", "pa")], [("b", "10:00:05", "pb")], [("z", "10:30:00", "pz")]],
    )
    shops = desk.spark.createDataFrame([("a", "A"), ("c", "C"), ("z", "Z")], "id string, shop string")
    orders = desk.read("orders").join(shops, "id").alias("orders")
    payments = desk.read("payments").join(shops, "id", "left").alias("payments")
    on = F.expr(ON.replace(".id", ".shop"))
    job = desk.opened(orders.join(payments, on, "full").select("orders.row", F.col("payments.row").alias("p")))
    table = "the inner join with the table of id, shop (no row of which fits) removes it before it reaches the join"
    assert reason(job, "ob") == table
    assert fates(job) == {
        "oa": "matched", "ob": "unmatched", "oc": "unmatched", "oz": "matched",
        "pa": "matched", "pb": "null_key", "pz": "matched",
    }  # fmt: skip
    assert len(job.output) == len(desk.out)


def test_an_empty_list_below_explode_is_no_null_key(desk):
    rows = {"o": ["A", "b"], "empty": [], "null": ["C", None]}
    for number, (row, ids) in enumerate(rows.items()):
        desk.arrive(number, orders=[{"ids": ids, "at": f"2026-01-01T10:0{number}:00Z", "row": row}])
        desk.arrive(number, payments=[("abc"[number], f"10:0{number}:05", f"p{number}")])
    lists = desk.read("orders", schema="ids array<string>, at timestamp, row string")
    orders = lists.select(F.explode("ids").alias("each"), "at", "row").withColumn("id", F.lower("each"))
    job = desk.opened(joined(desk, orders))
    told = job.rows[job.rows.row == "empty"]
    assert told.fate.tolist() == ["unmatched"]
    assert "explode" in told.reason.iloc[0]
    assert "removes it before it reaches the join" in told.reason.iloc[0]
    assert job.rows.fate[job.rows.row == "null"].tolist() == ["matched", "null_key"]


def test_a_row_without_key_that_a_filter_removes_is_told_of_the_filter(desk):
    desk.each(
        [[("a", "10:00:00", "oa"), (None, "10:00:01", "test"), (None, "10:00:01", "on"), ("b", "10:00:01", "test")]],
        [[("a", "10:00:05", "pa")]],
    )
    desk.arrive(1, orders=[("z", "10:30:00", "oz")], payments=[("z", "10:30:00", "pz")])
    job = desk.opened(joined(desk, desk.read("orders").where("row <> 'test'")))
    tests = job.rows[job.rows.row == "test"]
    assert set(tests.fate) == {"unmatched"}
    assert set(tests.reason) == {"the filter (NOT (orders.row = 'test')) removes it before it reaches the join"}
    assert fates(job)["on"] == "null_key"
    assert job.state_changes("b").change.tolist() == ["removed"]
