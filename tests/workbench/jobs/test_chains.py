"""Chains of joins, opened join by join: what each puts out, drops and holds is what Spark's operators say."""

from __future__ import annotations

import re
from collections import Counter

import jobs
import pytest
import written
from page import wait_for
from pyspark.sql import functions as F

import workbench as wb
from workbench.jobs import health


def three(session, folder):
    orders, payments = written.marked(*jobs.streams(session, folder))
    _, refunds = written.marked(*jobs.streams(session, folder), other="4 seconds")
    refunds = refunds.selectExpr("oid AS rid", "paid_at AS refunded_at", "payment_no AS refund_no")
    return orders, payments, refunds


def inner_inner(orders, payments, refunds):
    pairs = orders.join(payments, F.expr(f"{written.SAME} AND {written.WITHIN}"))
    within = F.expr("rid = order_id AND refunded_at BETWEEN ordered_at AND ordered_at + INTERVAL 5 SECONDS")
    return pairs.select("order_id", "ordered_at", "order_no", "payment_no").join(refunds, within).drop("refunded_at")


def outer_inner(orders, payments, refunds):
    pairs = orders.join(payments, F.expr(f"{written.SAME} AND {written.WITHIN} AND paid >= amount"), "left")
    within = F.expr("rid = order_id AND refunded_at BETWEEN ordered_at AND ordered_at + INTERVAL 9 SECONDS")
    pairs = pairs.where("order_no <> 5").select("order_no", "payment_no", "ordered_at", "order_id")
    return pairs.join(refunds, within).drop("refunded_at")


def inner_outer(orders, payments, refunds):
    pairs = orders.join(payments, F.expr(f"{written.SAME} AND {written.WITHIN}"))
    within = F.expr("rid = order_id AND refunded_at BETWEEN ordered_at AND ordered_at + INTERVAL 5 SECONDS")
    pairs = pairs.select("order_id", "ordered_at", "order_no", "payment_no")
    return refunds.join(pairs, within, "right").drop("refunded_at")


def line_of_three(session, folder):
    """A pair, its refund, and the refund's order of the same key within seconds."""
    pairs = inner_inner(*three(session, folder))
    orders, _ = written.marked(*jobs.streams(session, folder), one="6 seconds")
    more = orders.selectExpr("order_id AS mid", "ordered_at AS more_at", "order_no AS more_no")
    return pairs.join(more, F.expr("mid = order_id AND more_at BETWEEN ordered_at AND ordered_at + INTERVAL 4 SECONDS"))


def two_pairs(session, folder):
    """Two joins below a third."""
    orders, payments, refunds = three(session, folder)
    pairs = orders.join(payments, F.expr(f"{written.SAME} AND {written.WITHIN}")).drop("paid_at", "oid")
    more, _ = written.marked(*jobs.streams(session, folder), one="6 seconds")
    more = more.selectExpr("order_id AS mid", "ordered_at AS more_at", "order_no AS more_no")
    within = F.expr("rid = mid AND refunded_at BETWEEN more_at AND more_at + INTERVAL 5 SECONDS")
    others = more.join(refunds, within).drop("refunded_at", "rid")
    return pairs.join(
        others, F.expr("mid = order_id AND more_at BETWEEN ordered_at AND ordered_at + INTERVAL 4 SECONDS")
    )


def by_windows(how, *size):
    """Streams that select their window and not their event time, each joined by key and window."""

    def write(orders, payments, refunds):
        one = orders.select("order_id", "order_no", F.window("ordered_at", *size).alias("w"))
        other = payments.selectExpr("oid AS order_id", "payment_no", "paid_at")
        other = other.select("order_id", "payment_no", F.window("paid_at", *size).alias("w"))
        third = refunds.selectExpr("rid AS order_id", "refund_no", "refunded_at")
        third = third.select("order_id", "refund_no", F.window("refunded_at", *size).alias("w"))
        return one.join(other, ["order_id", "w"], how).join(third, ["order_id", "w"], "left").drop("w")

    write.__name__ = f"by_windows_{how}"
    return write


def put_out(rows, names):
    return Counter(tuple(None if each[name] is None else int(each[name]) for name in names) for each in rows)


def out_of(job, names):
    found = {}
    for each in job.output.to_dict("records"):
        plain = {name.partition("_")[2]: value for name, value in each.items() if name.startswith(("left_", "right_"))}
        values = (plain[name] for name in names)
        found.setdefault(each["batch"], Counter())[
            tuple(None if each != each or each is None else int(each) for each in values)
        ] += 1
    return found


@pytest.mark.family("each join of a chain")
@pytest.mark.parametrize(
    "write",
    [inner_inner, outer_inner, inner_outer, *(by_windows(how, "5 seconds") for how in ("inner", "left", "right"))],
    ids=lambda each: each.__name__,
)
def test_each_join_of_a_chain(session, folder, tmp_path, write):
    joined = write(*three(session, folder))
    ran = jobs.run(joined, tmp_path / "checkpoint")
    first, last = (wb.open_job(joined, ran.checkpoint, join=number) for number in (0, 1))
    for job, place in ((last, 0), (first, 1)):  # Spark counts its operators from the last one on
        reports = [each["stateOperators"][place] for each in ran.progress]
        assert job.mismatches.empty, job.mismatches.to_string()
        assert job.missing == job.unknown == ()
        assert job.batches.state_rows.tolist() == [each["numRowsTotal"] for each in reports]
        assert len(job.late) == sum(each["numRowsDroppedByWatermark"] for each in reports)
    names = ("order_no", "payment_no", "refund_no")
    expected = {batch: put_out(rows, names) for batch, rows in ran.output.items() if rows}
    assert out_of(last, names) == expected
    with pytest.raises(wb.WorkbenchError, match="one of several"):
        first.under(left_watermark="1 minute")


@pytest.mark.family("each join of a chain")
@pytest.mark.parametrize(("write", "operators"), [(line_of_three, (2, 1, 0)), (two_pairs, (1, 2, 0))])
def test_each_of_three_joins(session, folder, tmp_path, write, operators):
    names = ("order_no", "payment_no", "refund_no", "more_no")
    joined = write(session, folder).select(*names, "ordered_at")
    ran = jobs.run(joined, tmp_path / "checkpoint")
    for number, place in enumerate(operators):
        job = wb.open_job(joined, ran.checkpoint, join=number)
        reports = [each["stateOperators"][place] for each in ran.progress]
        assert job.mismatches.empty, job.mismatches.to_string()
        assert job.missing == job.unknown == ()
        assert job.batches.state_rows.tolist() == [each["numRowsTotal"] for each in reports]
        assert len(job.late) == sum(each["numRowsDroppedByWatermark"] for each in reports)
    expected = {batch: put_out(rows, names) for batch, rows in ran.output.items() if rows}
    assert expected
    assert out_of(job, names) == expected


@pytest.mark.family("each join of a chain")
@pytest.mark.parametrize(
    ("how", "run"), [("inner", ["semi", "inner"]), ("left", ["semi", "left"]), ("left_semi", None)]
)
def test_a_semi_join_that_spark_runs_before_the_join_below_it(session, folder, tmp_path, how, run):
    """Its condition has columns of one side of that join only."""
    orders, payments, refunds = three(session, folder)
    names = ("order_no", "payment_no") if run else ("order_no",)
    pairs = orders.join(payments, F.expr(f"{written.SAME} AND {written.WITHIN}"), how)
    pairs = pairs.select("order_id", "ordered_at", *names)
    within = F.expr("rid = order_id AND refunded_at BETWEEN ordered_at AND ordered_at + INTERVAL 5 SECONDS")
    joined = pairs.join(refunds, within, "left_semi").select(*names)
    ran = jobs.run(joined, tmp_path / "checkpoint")
    chain = wb.open_job(joined, ran.checkpoint, progress=ran.progress)
    assert [job.join.how for job in chain.joins] == (run or ["semi", "semi"])
    assert chain.mismatches.empty, chain.mismatches.to_string()
    assert chain.missing == chain.unknown == ()
    expected = {batch: put_out(rows, names) for batch, rows in ran.output.items() if rows}
    assert expected
    assert out_of(chain, names) == expected


@pytest.mark.family("each join of a chain")
def test_an_aggregate_beside_a_join_heeds_the_watermark_of_its_own_stream(session, folder, tmp_path):
    """And not the one that the join on the other side passes on, which is behind it by that join's bounds."""
    orders, payments, refunds = three(session, folder)
    pairs = orders.join(payments, F.expr(f"{written.SAME} AND {written.WITHIN}")).select("order_id", "ordered_at")
    sold = pairs.groupBy("order_id", F.window("ordered_at", "5 seconds").alias("w")).count()
    back = refunds.groupBy("rid", F.window("refunded_at", "5 seconds").alias("v")).agg(F.count("*").alias("refunds"))
    joined = sold.join(back, F.expr("order_id = rid AND w = v"), "left").select("order_id", "count", "refunds")
    ran = jobs.run(joined, tmp_path / "checkpoint")
    chain = wb.open_job(joined, ran.checkpoint, progress=ran.progress)
    assert chain.mismatches.empty, chain.mismatches.to_string()
    assert chain.missing == chain.unknown == ()
    last = chain.joins[1]
    assert {*last.rows["fate"]} >= {"matched", "unmatched"}


@pytest.mark.family("each join of a chain")
def test_joins_that_a_union_brings_together(session, folder, tmp_path):
    """One stream is read twice, and the last of the sources is told from it."""
    orders, payments, refunds = three(session, folder)
    pairs = orders.join(payments, F.expr(f"{written.SAME} AND {written.WITHIN}")).select("order_no", "payment_no")
    again, _ = written.marked(*jobs.streams(session, folder))
    within = F.expr("rid = order_id AND refunded_at BETWEEN ordered_at AND ordered_at + INTERVAL 5 SECONDS")
    others = again.join(refunds, within, "left").select("order_no", F.col("refund_no").alias("payment_no"))
    joined = pairs.union(others)
    ran = jobs.run(joined, tmp_path / "checkpoint")
    chain = wb.open_job(joined, ran.checkpoint, progress=ran.progress)
    assert [job.join.how for job in chain.joins] == ["inner", "left"]
    assert chain.mismatches.empty, chain.mismatches.to_string()
    assert chain.missing == chain.unknown == ()
    expected = {batch: len(rows) for batch, rows in ran.output.items() if rows}
    outputs = [job.output.groupby("batch").size() for job in chain.joins]
    assert outputs[0].add(outputs[1], fill_value=0).astype(int).to_dict() == expected
    assert set(chain.rows["later"]) == {""}
    with pytest.raises(wb.WorkbenchError, match=re.escape("see job.joins[0].output and job.joins[1].output")):
        _ = chain.output
    with pytest.raises(wb.ArgumentError, match="of several joins, which a union brings together"):
        wb.open_job(joined, ran.checkpoint, output=str(tmp_path))
    assert wb.open_job(joined, ran.checkpoint, join=1).join.how == "left"


def test_pairs_of_sliding_windows_are_not_followed(session, folder, tmp_path):
    """Each is of one window, and its event time is in several."""
    joined = by_windows("inner", "6 seconds", "3 seconds")(*three(session, folder))
    ran = jobs.run(joined, tmp_path / "checkpoint")
    why = "there is a join by sliding windows, each of whose rows is of one window only"
    opened_in_part(session, joined, ran, f"join 1 is not opened: the rows of the left side cannot be followed: {why}")
    with pytest.raises(wb.ArgumentError, match=why):
        wb.open_job(joined, ran.checkpoint, join=1)


def opened_in_part(session, joined, ran, words):
    """The first join is told as Spark ran it, of the second why it is not."""
    chain = wb.open_job(joined, ran.checkpoint)
    assert chain.unopened == (words,)
    assert words in repr(chain)
    assert words in chain.unknown
    assert not chain.is_understood
    [first] = chain.joins
    assert chain.mismatches.empty
    reports = [each["stateOperators"] for each in ran.progress]
    assert first.batches.state_rows.tolist() == [each[1]["numRowsTotal"] for each in reports]
    assert len(chain.late) == len(first.late) == sum(each[1]["numRowsDroppedByWatermark"] for each in reports)
    last = int(chain.batches.batch.max())
    assert len(chain.state(last)) == sum(each["numRowsTotal"] for each in reports[-1])
    met = chain.rows.fate == "matched"
    assert met.any()
    assert set(chain.rows.later[met]) == {"in a later join: not known"}
    assert chain.rows.out.isna().all()
    story = chain.why(int(met.idxmax())).text
    assert f"that came out with it is not known: {words}" in story
    for asked in (lambda: chain.output, chain.under):
        with pytest.raises(wb.WorkbenchError, match="not known: join 1 is not opened"):
            asked()
    with pytest.raises(wb.ArgumentError, match="output: it has the rows of the last join, and join 1 is not opened"):
        wb.open_job(joined, ran.checkpoint, output=session.createDataFrame([(1,)], "order_no long"))


def test_a_window_that_is_compared_with_what_is_none(session, folder, tmp_path):
    """The key of a full join is the window of whichever side there is: Spark bounds the state of the next by it."""
    joined = by_windows("full", "5 seconds")(*three(session, folder))
    ran = jobs.run(joined, tmp_path / "checkpoint")
    about = wb.describe(joined)
    assert about.join is None
    words = (
        "w of the right side, a window of the event time, is compared with w of the left, which is not known to be one"
    )
    assert words in about.unknown
    with pytest.raises(wb.ArgumentError, match=f"{words}, so which rows are late is not known"):
        wb.open_job(joined, ran.checkpoint, join=1)
    opened_in_part(session, joined, ran, f"join 1 is not opened: {words}, so which rows are late is not known")


def test_only_the_last_micro_batches_are_kept(spark, folder, tmp_path):
    own = jobs.session(spark, streaming_minBatchesToRetain="2")
    joined = inner_outer(*three(own, folder))
    ran = jobs.run(joined, tmp_path / "checkpoint")
    names = ("order_no", "payment_no", "refund_no")
    last = wb.open_job(joined, ran.checkpoint, join=1)
    first = int(last.batches.batch[0])
    assert first > 0
    assert last.mismatches.empty
    expected = {batch: put_out(rows, names) for batch, rows in ran.output.items() if rows and batch > first}
    assert out_of(last, names) == expected


def test_a_chain_is_watched(session, folder, tmp_path):
    joined = inner_inner(*three(session, folder))
    ran = jobs.run(joined, tmp_path / "checkpoint")
    watch = wb.watch(joined, ran.checkpoint)
    try:
        wait_for(lambda: len(watch.state))
        assert watch.trouble == ""
        assert watch.state.rows.sum() == ran.progress[-1]["stateOperators"][0]["numRowsTotal"]
        assert watch.open().mismatches.empty
    finally:
        watch.close()


def test_which_join(session, folder, tmp_path):
    joined = inner_inner(*three(session, folder))
    ran = jobs.run(joined, tmp_path / "checkpoint")
    for join, words in (
        (-1, "join: got -1; the plan has 2 joins of streams: give a number from 0 to 1"),
        (2, "join: got 2; the plan has 2 joins of streams: give a number from 0 to 1"),
        (True, "join: got True"),
    ):
        with pytest.raises(wb.ArgumentError, match=re.escape(words)):
            wb.open_job(joined, ran.checkpoint, join=join)
    known = health.figures(wb.open_job(joined, ran.checkpoint, join=0))
    assert known.state_rows == ran.progress[-1]["stateOperators"][1]["numRowsTotal"]
    with pytest.raises(wb.ArgumentError, match="output: it has the rows of the last join; give join=1"):
        wb.open_job(joined, ran.checkpoint, join=0, output=str(tmp_path))
