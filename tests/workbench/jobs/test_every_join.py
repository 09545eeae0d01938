"""Every stateful join that Spark starts opens: without bounds, without watermarks, on windows, of aggregates."""

from __future__ import annotations

import jobs
import pytest
from page import Page
from pyspark.sql import functions as F
from test_reports import Desk, fates, reason, said

import workbench as wb

KEY = "orders.id = payments.id"
ORDERS = [[("a", "10:00:00", "oa"), ("b", "10:00:10", "ob")], [("c", "10:20:00", "oc")], [("d", "09:59:30", "od")]]
PAYMENTS = [[("a", "10:00:05", "pa")], [("b", "10:19:00", "pb"), ("d", "10:00:01", "pd")], [("d", "10:40:00", "pd2")]]

IN_SESSIONS = (
    [
        [("a", "10:00:00", "o1"), ("a", "10:03:00", "o2"), ("b", "10:00:00", "o3")],
        [("a", "10:01:30", "bridges"), ("b", "10:06:00", "o4")],
        [("b", "10:01:00", "joins one"), ("a", "10:06:30", "new"), ("c", "10:20:00", "o5")],
        [("a", "10:07:00", "o8"), ("d", "10:40:00", "o6")],
        [("d", "10:41:00", "o7"), ("a", "10:10:00", "late")],
    ],
    [
        [("a", "10:00:00", "p1"), ("b", "10:00:30", "p2")],
        [("a", "10:01:30", "p3"), ("a", "10:03:00", "p4"), ("b", "10:06:00", "p5")],
        [("c", "10:20:10", "p6"), ("b", "10:19:00", "p7")],
        [("d", "10:40:00", "p8")],
        [("d", "10:42:00", "p9")],
    ],
)
"""Rows of sessions with gaps of two minutes: some merge two, or come late, or after their session has closed."""


@pytest.fixture
def desk(spark, tmp_path):
    made = Desk(jobs.session(spark, session_timeZone="UTC"), tmp_path)
    made.each(ORDERS, PAYMENTS)
    return made


def rows_out(desk):
    return sorted(tuple(str(each) for each in row[1:]) for row in desk.out)


def pairs(job):
    found = job.output
    return sorted(zip(found.left_row.astype(str), found.right_row.astype(str), strict=True))


def missing_as_none(found):
    return sorted(tuple("None" if each == "nan" else each for each in row) for row in found)


@pytest.mark.parametrize("delays", [(None, None), ("10 seconds", None), (None, "10 seconds")])
@pytest.mark.parametrize(
    "condition", [KEY, f"{KEY} AND payments.at > orders.at", f"{KEY} AND payments.at <= orders.at"]
)
def test_a_side_without_a_watermark(desk, delays, condition):
    sides = (desk.read(name, delay) for name, delay in zip(("orders", "payments"), delays, strict=True))
    orders, payments = sides
    job = desk.opened(orders.join(payments, F.expr(condition)).select("orders.row", "payments.row"))
    assert pairs(job) == rows_out(desk)
    assert len(job.late) == desk.dropped
    assert (job.description.left.watermark is None, job.description.right.watermark is None) == tuple(
        each is None for each in delays
    )
    waits = job.rows[job.rows.fate == "pending"]
    assert all(waits.reason.str.startswith("stays in state forever: as "))
    assert set(waits.verdict) <= {"stays_forever"}
    assert not any("sends nothing" in each for each in said(job).split(";"))


def test_who_has_no_watermark_is_said(desk):
    orders, payments = desk.read("orders", None), desk.read("payments", None)
    job = desk.opened(orders.join(payments, F.expr(KEY)).select("orders.row", "payments.row"))
    assert reason(job, "oc") == (
        "stays in state forever: as neither stream has a watermark, any row of its key that arrives on payments could "
        "still match it"
    )
    assert fates(job) == {
        "oa": "matched", "ob": "matched", "oc": "pending", "od": "matched", "pa": "matched", "pb": "matched",
        "pd": "matched", "pd2": "matched",
    }  # fmt: skip
    assert job.why(0)
    assert str(job.why(0)).count("payments, whatever its event time") == 1


@pytest.mark.parametrize(("times", "late"), [(["orders.at", "payments.at"], 1), ([], 0)])
def test_a_join_on_keys_alone_with_watermarks(desk, times, late):
    """Spark prunes event times that nobody selects, and then drops no late row."""
    frame = desk.read("orders").join(desk.read("payments"), F.expr(KEY)).select("orders.row", "payments.row", *times)
    job = desk.opened(frame)
    assert job.join == wb.IntervalJoin(None, None)
    assert pairs(job) == sorted(each[:2] for each in rows_out(desk))
    assert len(job.late) == desk.dropped == late
    assert "as the join has no upper bound" in reason(job, "oc")


@pytest.mark.parametrize(
    ("bound", "join"),
    [
        ("payments.at >= orders.at", wb.IntervalJoin("0 s", None)),
        ("payments.at < orders.at + INTERVAL 1 MINUTE", wb.IntervalJoin(None, "1 minute", upper_exclusive=True)),
    ],
)
def test_a_bound_on_one_side_only(desk, bound, join):
    condition = F.expr(f"{KEY} AND {bound}")
    job = desk.opened(desk.read("orders").join(desk.read("payments"), condition).select("orders.row", "payments.row"))
    assert job.join == join
    assert pairs(job) == rows_out(desk)
    assert len(job.late) == desk.dropped


def test_what_else_a_join_without_bounds_asks_for_is_asked_of_spark(desk):
    condition = F.expr(f"{KEY} AND unix_timestamp(payments.at) / 60 < unix_timestamp(orders.at) / 60 + 1")
    job = desk.opened(desk.read("orders").join(desk.read("payments"), condition).select("orders.row", "payments.row"))
    assert job.join == wb.IntervalJoin(None, None)
    assert "unix_timestamp" in job.where
    assert pairs(job) == rows_out(desk)
    assert reason(job, "oc") == (
        "stays in state forever: as Spark derives no upper bound from the join condition, any row of its key that "
        f"arrives on payments and with which it satisfies {job.where} could still match it"
    )


@pytest.mark.parametrize("side", ["left", "right"])
def test_an_outer_join_with_the_bound_that_spark_asks_for(desk, side):
    bound = "payments.at <= orders.at + INTERVAL 1 MINUTE" if side == "left" else "payments.at >= orders.at"
    condition = F.expr(f"{KEY} AND {bound}")
    job = desk.opened(
        desk.read("orders").join(desk.read("payments"), condition, side).select("orders.row", "payments.row")
    )
    assert pairs(job) == rows_out(desk)


@pytest.mark.parametrize(("on", "told"), [("both", True), ("left", False)])
def test_a_watermark_on_a_window_stands_still(desk, on, told):
    def windowed(name, marked):
        rows = desk.read(name, None).withColumn("w", F.window("at", "10 minutes"))
        return (rows.withWatermark("w", "10 seconds") if marked else rows).alias(name)

    orders, payments = windowed("orders", True), windowed("payments", on == "both")
    condition = F.expr(f"{KEY} AND orders.w = payments.w")
    job = desk.opened(orders.join(payments, condition).select("orders.row", "payments.row"))
    assert job.join == wb.WindowJoin(wb.Tumbling("10 minutes"))
    assert pairs(job) == rows_out(desk)
    assert set(job.batches.watermark.astype(str).str[:10]) == {"1970-01-01"}
    notes = [each for each in job.description.notes if "which Spark does not read as a time" in each]
    assert len(notes) == (2 if told else 1)
    assert notes[0].endswith("call withWatermark on at before window()")


def windowed_counts(desk, name, *window):
    rows = desk.read(name).groupBy(F.window("at", *window).alias("w"), "id")
    names = F.array_join(F.sort_array(F.collect_list("row")), " ").alias("row")
    return rows.agg(names, F.count("*").alias("many")).alias(name)


@pytest.mark.parametrize("how", ["inner", "left", "full"])
@pytest.mark.parametrize("window", [("10 minutes",), ("10 minutes", "5 minutes")])
def test_windowed_counts_joined_by_their_windows(desk, how, window):
    orders, payments = (windowed_counts(desk, name, *window) for name in ("orders", "payments"))
    condition = F.expr(f"{KEY} AND orders.w = payments.w")
    job = desk.opened(orders.join(payments, condition, how).select("orders.row", "payments.row"))
    assert missing_as_none(pairs(job)) == rows_out(desk)
    assert "many" in job.rows
    assert job.unknown == ()


def test_a_stream_joined_with_its_own_counts(desk):
    counts = windowed_counts(desk, "orders", "10 minutes").alias("counts")
    condition = F.expr("orders.id = counts.id AND orders.at >= counts.w.start AND orders.at < counts.w.end")
    job = desk.opened(desk.read("orders").join(counts, condition).select("orders.row", "counts.row"))
    assert job.join == wb.IntervalJoin("0 s", "10 minutes", lower_exclusive=True)
    assert pairs(job) == rows_out(desk)
    assert job.right.time == "w_end"


def test_counts_joined_with_rows_of_their_window(desk):
    counts = windowed_counts(desk, "orders", "10 minutes").alias("counts")
    payments = desk.read("payments").withColumn("w", F.window("at", "10 minutes")).alias("payments")
    condition = F.expr("counts.id = payments.id AND counts.w = payments.w")
    job = desk.opened(counts.join(payments, condition).select("counts.row", "payments.row"))
    assert job.join == wb.WindowJoin(wb.Tumbling("10 minutes"))
    assert pairs(job) == rows_out(desk)


def sessions(desk, name, gap="2 minutes"):
    rows = desk.read(name).groupBy(F.session_window("at", gap).alias("w"), "id")
    names = F.array_join(F.sort_array(F.collect_list("row")), " ").alias("row")
    return rows.agg(names, F.count("*").alias("many")).alias(name)


@pytest.mark.parametrize("how", ["inner", "full"])
def test_sessions_that_are_aggregated_and_joined_by_their_windows(desk, how):
    desk.each(*IN_SESSIONS)
    orders, payments = sessions(desk, "orders"), sessions(desk, "payments")
    on = F.expr(f"{KEY} AND orders.w = payments.w")
    job = desk.opened(orders.join(payments, on, how).select("orders.row", "payments.row"))
    assert job.unknown == ()
    assert len(desk.out) > 0
    assert missing_as_none(pairs(job)) == rows_out(desk)
    assert job.left.time == "w_end"


@pytest.mark.parametrize("grouped", [sessions, windowed_counts])
def test_the_ends_of_windows_are_compared(desk, grouped):
    """Spark takes the ends out below the join, and keeps nothing else of the windows."""
    desk.each(*IN_SESSIONS)
    orders, payments = (grouped(desk, name, "2 minutes") for name in ("orders", "payments"))
    on = f"{KEY} AND payments.w.end BETWEEN orders.w.end AND orders.w.end + INTERVAL 2 MINUTES"
    job = desk.opened(orders.join(payments, F.expr(on)).select("orders.row", "payments.row"))
    assert job.join == wb.IntervalJoin("0 s", "2 minutes")
    assert pairs(job) == rows_out(desk)
    assert max(desk.state) == desk.state[-1] > 0


def test_the_times_of_sessions_are_compared(desk):
    desk.each(*IN_SESSIONS)
    orders, payments = (
        sessions(desk, name).select("id", "row", F.window_time("w").alias("t")).alias(name)
        for name in ("orders", "payments")
    )
    on = F.expr(f"{KEY} AND payments.t BETWEEN orders.t AND orders.t + INTERVAL 2 MINUTES")
    job = desk.opened(orders.join(payments, on, "left").select("orders.row", "payments.row"))
    assert job.join == wb.IntervalJoin("0 s", "2 minutes", how="left")
    assert missing_as_none(pairs(job)) == rows_out(desk)


@pytest.mark.parametrize(
    ("grouped", "window"),
    [(windowed_counts, ["2 minutes"]), (windowed_counts, ["4 minutes", "2 minutes"]), (sessions, [])],
)
def test_what_an_aggregate_is_made_of(desk, grouped, window):
    """Spark's own aggregate lists the names of the rows that it is made of."""
    desk.each(*IN_SESSIONS)
    desk.arrive(5, orders=[("a", None, "timeless"), ("d", "10:43:00", "open")])
    orders = grouped(desk, "orders", *window)
    job = desk.opened(orders.join(grouped(desk, "payments", *window), F.expr(f"{KEY} AND orders.w = payments.w")))
    for row, names in enumerate(job.rows.row):
        assert " ".join(sorted(job.made_of(row).row_row)) == names
    page = Page("job", namespace={"job": job})
    page.wait()
    page.pick(row_id="left-0")
    assert page.html("parts") == ""
    page.click("Rows it is made of")
    assert all(f"<td>{name}</td>" in page.html("parts") for name in job.rows.row[0].split())
    page.close()
    found = job.aggregated("left")
    assert dict.fromkeys(found.fate[found.row_row == "open"]) == {"open": None}
    assert set(found.fate[found.row_row == "late"]) == {"late"}
    assert found.reason[found.row_row == "timeless"].str.endswith("removes it before it reaches the aggregation").all()
    assert set(found.row[found.fate != "aggregated"].isna()) == {True}
    assert len(job.rows[job.rows.side == "left"]) == found.row.nunique()


def test_a_side_without_an_aggregation_has_no_rows_below_it(desk):
    counts = windowed_counts(desk, "orders", "10 minutes").alias("counts")
    condition = F.expr("orders.id = counts.id AND orders.at >= counts.w.start AND orders.at < counts.w.end")
    job = desk.opened(desk.read("orders").join(counts, condition))
    with pytest.raises(wb.ArgumentError, match="side: got 'left'; give 'right'"):
        job.aggregated("left")
    with pytest.raises(wb.ArgumentError, match="row: got 0; it is a row of orders, which is not aggregated by windows"):
        job.made_of(0)
    with pytest.raises(wb.ArgumentError, match=r"row: got 99; use an index of job\.rows"):
        job.made_of(99)


def test_a_semi_join_that_spark_may_move_below_an_aggregation_is_named(desk):
    def counts(name):
        rows = desk.read(name).withColumn("w", F.window("at", "10 minutes")).where("id = 'a'")
        return rows.groupBy("w", "id").agg(F.max("row").alias("row")).alias(name)

    orders, payments = counts("orders"), counts("payments")
    condition = F.expr(f"{KEY} AND orders.w = payments.w")
    found = wb.describe(orders.join(payments, condition, "left_semi").select("orders.row"))
    assert found.join is None
    assert "Spark may run the semi join below the aggregation of the left side" in " ".join(found.unknown)


# --- what bounds would keep -------------------------------------------------------------------------------------------


def test_what_bounds_would_keep_and_hold_is_what_they_do(desk):
    """The join with the bounds that are given keeps, holds and drops on Spark what the table says."""
    orders, payments = desk.read("orders", None), desk.read("payments", None)
    job = desk.opened(orders.join(payments, F.expr(KEY)).select("orders.row", "payments.row"))
    found = job.bounding()
    last, widest = found.table.iloc[-1], found.table.iloc[-2]
    assert (last["lower"], last["upper"], last["left_watermark"]) == (None, None, None)
    assert (widest["kept"], widest["late"]) == (1.0, 0)
    assert found.table["pairs"].is_monotonic_increasing
    namespace = {"orders": desk.read("orders", None), "payments": desk.read("payments", None)}
    exec(found.code(1.0), namespace)
    run = Desk(desk.spark, desk.home)
    again = run.opened(namespace["joined"].select("orders.row", "payments.row"))
    assert len(run.out) == widest["pairs"] == last["pairs"]
    assert max(run.state) == widest["state_peak"]
    assert again.join == wb.IntervalJoin(widest["lower"], widest["upper"])
    assert f"{widest['state_peak']} rows in state at most in place of {last['state_peak']}" in found.sentence(1.0)
    gains = widest["state_peak"] < last["state_peak"]
    assert any(str(found) in str(each) for each in job.advise()) is bool(gains)  # else it is no advice
    assert found.chart.to_dict()


def test_bounding_of_a_bounded_join_is_refused(desk):
    condition = F.expr(f"{KEY} AND payments.at BETWEEN orders.at AND orders.at + INTERVAL 1 MINUTE")
    job = desk.opened(desk.read("orders").join(desk.read("payments"), condition).select("orders.row", "payments.row"))
    with pytest.raises(wb.WorkbenchError, match="has both bounds, and watermarks on both sides"):
        job.bounding()


@pytest.mark.parametrize("keep", [0, 1.5, True, "all"])
def test_a_share_that_is_none(desk, keep):
    orders, payments = desk.read("orders", None), desk.read("payments", None)
    found = desk.opened(orders.join(payments, F.expr(KEY)).select("orders.row", "payments.row")).bounding()
    with pytest.raises(wb.ArgumentError, match=r"keep: got .*give a share above 0 and at most 1"):
        found.at(keep)
