"""Chains of joins, opened as a whole: its joins are those opened by themselves, its rows those that Spark put out."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import jobs
import numpy as np
import pandas as pd
import pytest
import written
from pandas.testing import assert_frame_equal
from pyspark.sql import functions as F
from test_chains import inner_inner, inner_outer, line_of_three, outer_inner, three, two_pairs

import workbench as wb
from workbench.__main__ import main
from workbench.charts import renderer
from workbench.jobs import chain_rows, entering, sources

NUMBERS = ("order_no", "payment_no", "refund_no", "more_no")
OPERATORS = {line_of_three: (2, 1, 0), two_pairs: (1, 2, 0)}
"""Spark's number of each join: it counts from the last one on."""


def write(how, session, folder):
    return how(session, folder) if how in OPERATORS else how(*three(session, folder))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Rows of which some are late for the first join, and some for the second."""
    return jobs.put(jobs.recorded(seed=1), tmp_path_factory.mktemp("rows"))


@pytest.fixture(scope="module")
def opened(session, folder, tmp_path_factory):
    """What opens a chain of a kind: it, the DataFrame, and what Spark did; each once."""
    known = {}

    def of(how):
        if how not in known:
            joined = write(how, session, folder)
            ran = jobs.run(joined, tmp_path_factory.mktemp("chain") / "checkpoint")
            known[how] = SimpleNamespace(chain=wb.open_job(joined, ran.checkpoint), joined=joined, ran=ran)
        return known[how]

    return of


def rows_out(ran, name):
    """In how many rows of what Spark put out each number of a stream is."""
    return Counter(int(each[name]) for rows in ran.output.values() for each in rows if each[name] is not None)


ALL = pytest.mark.parametrize(
    "how", [inner_inner, outer_inner, inner_outer, line_of_three, two_pairs], ids=lambda each: each.__name__
)


@pytest.mark.family("a chain as a whole")
@ALL
def test_its_joins_are_those_opened_by_themselves(opened, how):
    case = opened(how)
    chain = case.chain
    assert isinstance(chain, wb.Chain)
    assert chain.mismatches.empty, chain.mismatches.to_string()
    assert chain.mismatch == ""
    assert chain.missing == chain.unknown == ()
    for number, job in enumerate(chain.joins):
        alone = wb.open_job(case.joined, case.ran.checkpoint, join=number)
        assert_frame_equal(job.rows, alone.rows)
        assert_frame_equal(job.late, alone.late)
        assert_frame_equal(job.output, alone.output)
        assert_frame_equal(job.comparison, alone.comparison)
    assert_frame_equal(chain.output, alone.output)


@pytest.mark.family("a chain as a whole")
@ALL
def test_its_rows_are_in_what_spark_put_out(opened, how):
    """In how many rows that come out each row of a stream is; a stream's rows are listed at the join they enter."""
    chain, ran = opened(how).chain, opened(how).ran
    rows = chain.rows
    names = [each for each in NUMBERS if each in next(filter(None, ran.output.values()))[0]]
    assert [*rows.columns[:4]] == ["join", "side", "stream", "batch"]
    assert [*rows.columns[-2:]] == ["later", "out"]
    for name in names:
        own = rows[rows[name].notna()]
        assert sorted(own[name]) == list(range(40))
        assert {int(no): out for no, out in zip(own[name], own["out"], strict=True) if out} == rows_out(ran, name)
    assert len(rows) == 40 * len(names)


@pytest.mark.family("a chain as a whole")
@ALL
def test_its_late_rows_are_those_that_spark_dropped(opened, how):
    chain, ran = opened(how).chain, opened(how).ran
    late = chain.late
    dropped = [
        sum(each["stateOperators"][place]["numRowsDroppedByWatermark"] for each in ran.progress)
        for place in OPERATORS.get(how, (1, 0))
    ]
    assert all(dropped[:2])
    assert late.groupby("join").size().reindex(range(len(chain.joins)), fill_value=0).tolist() == dropped
    assert late.from_join.isna().all()  # Spark holds the watermark back for what comes out of a join
    assert set(late.stream) <= {"orders", "payments"}
    assert len(late) == (chain.rows.fate == "late").sum()


def test_what_became_of_pairs_is_told_by_the_join_they_enter(opened):
    """For each order the rows of the next join that have it, by fate; those that a filter takes out come apart."""
    chain = opened(outer_inner).chain
    second = chain.joins[1].rows
    pairs = second[second.side == "left"]
    orders = chain.rows[chain.rows.order_no.notna() & (chain.rows.stream == "orders")]
    for order in orders.itertuples():
        mine = pairs[pairs.order_no == order.order_no]
        counts = Counter(mine.fate)
        found = dict(reversed(each.split(" ", 1)) for each in order.later.removeprefix("join 1: ").split(", ") if each)
        if order.order_no == 5:
            assert set(found) <= {"taken out before it"}
        else:
            assert {fate: int(count) for fate, count in found.items()} == counts
    assert (orders.later != "").any()
    assert (orders.later == "").any()


def test_a_row_s_story_goes_through_all_joins(opened):
    case = opened(inner_inner)
    chain, rows = case.chain, case.chain.rows
    out = rows_out(case.ran, "payment_no")
    [at] = rows.index[(rows["join"] == 0) & (rows.payment_no == max(out, key=out.get))]
    story = chain.why(int(at))
    assert str(story) == story.text
    assert story.text.startswith("join 0, of orders and payments\npayments, payment_no ")
    assert "join 1, of orders_payments and payments: " in story.text
    assert story.text.endswith(f"in all: it is in {max(out.values())} rows that come out of the last join")
    put_out = [each for rows_of_batch in case.ran.output.values() for each in rows_of_batch]
    partners = {int(each["order_no"]) for each in put_out if each["payment_no"] == rows.payment_no[at]}
    told = re.findall(r"out of join 0: order_no (\d+) with payment_no (\d+)", story.text)
    assert partners <= {int(order) for order, _ in told}
    assert {int(payment) for _, payment in told} == {int(rows.payment_no[at])}
    assert [number for number, _ in story.steps] == [0, *[1] * len(told)]
    for number, each in story.steps:
        assert each.text in story.text
        assert each.candidates is not None, number


def test_the_story_of_a_row_that_came_out_of_an_outer_join_alone(opened):
    chain = opened(outer_inner).chain
    rows = chain.rows
    alone = rows[(rows["join"] == 0) & (rows.side == "left") & (rows.fate == "unmatched") & (rows.out > 0)]
    story = chain.why(int(alone.index[0])).text
    assert f"out of join 0: order_no {int(alone.order_no.iloc[0])}, without partner\n" in story


def test_the_story_of_a_row_of_a_later_stream_and_of_one_that_goes_no_further(opened):
    chain = opened(inner_inner).chain
    rows = chain.rows
    refund = chain.why(int(rows.index[(rows["join"] == 1) & (rows.fate == "late")][0]))
    assert refund.text.startswith("join 1, of orders_payments and payments\npayments, refund_no ")
    assert [number for number, _ in refund.steps] == [1]
    late = chain.why(int(rows.index[(rows["join"] == 0) & (rows.fate == "late")][0]))
    assert "join 1, of orders_payments and payments: no row with it came\n" in late.text
    assert late.text.endswith("in all: it is in 0 rows that come out of the last join")
    for wrong in (-1, len(rows), "1", None, True):
        with pytest.raises(wb.ArgumentError, match=f"use an index of job.rows, 0 to {len(rows) - 1}"):
            chain.why(wrong)


def test_sources_are_read_and_joins_opened_once(opened, monkeypatch):
    case, count = opened(line_of_three), Counter()
    for module, name in ((sources, "taken"), (entering, "entered")):
        real = getattr(module, name)

        def counting(*given, real=real, name=name, **named):
            count[name] += 1
            return real(*given, **named)

        monkeypatch.setattr(module, name, counting)
    wb.open_job(case.joined, case.ran.checkpoint)
    assert count == {"taken": 1, "entered": 6}


def test_only_the_last_micro_batches_are_kept(spark, folder, tmp_path):
    own = jobs.session(spark, streaming_minBatchesToRetain="2")
    joined = inner_outer(*three(own, folder))
    ran = jobs.run(joined, tmp_path / "checkpoint")
    chain = wb.open_job(joined, ran.checkpoint)
    first = int(chain.batches.batch[0])
    assert first > 0
    assert chain.mismatches.empty
    pairs = chain.joins[1].origins["right"]
    assert (pairs == -2).any()
    assert (pairs >= 0).any()
    rows = chain.rows
    assert not rows.stream.str.contains("_").any()  # no pair that was in state is taken for a row of a stream
    assert len(rows) == len(chain.joins[0].rows) + len(chain.joins[1].left)
    assert f"micro-batch {first}, the first that is kept: it was in state after it" in chain.why(0).text


def test_what_it_says_of_all_joins(opened):
    case = opened(inner_inner)
    chain = case.chain
    assert repr(chain) == (
        "<Chain of 2 joins, micro-batches 0 to 6: "
        "join 0 IntervalJoin(lower='-2 seconds', upper='6 seconds') of orders and payments; "
        "join 1 IntervalJoin(lower='0 seconds', upper='5 seconds') of orders_payments and payments; "
        "120 rows of its streams>"
    )
    assert chain.description == tuple(each.description for each in chain.joins)
    assert chain.is_understood
    assert chain.batches.groupby("batch")["join"].agg(list).tolist() == [[0, 1]] * 7
    assert set(chain.comparison["join"]) == {0, 1}
    held = chain.state(3)
    assert held.operator.value_counts().to_dict() == {
        place: each["numRowsTotal"] for place, each in enumerate(case.ran.progress[3]["stateOperators"])
    }
    changed = chain.rows
    changed["fate"] = "changed"
    assert (chain.rows.fate != "changed").all()


def chained(session, folder, delays=("2 seconds", "3 seconds", "4 seconds"), upper=5, first=6, how="inner"):
    """Orders with their payments and refunds under settings that a test may change."""
    orders, payments = written.marked(*jobs.streams(session, folder), one=delays[0], other=delays[1])
    _, refunds = written.marked(*jobs.streams(session, folder), other=delays[2])
    refunds = refunds.selectExpr("oid AS rid", "paid_at AS refunded_at", "payment_no AS refund_no").alias("refunds")
    within = "BETWEEN ordered_at AND ordered_at + INTERVAL {} SECONDS"
    on = F.expr(f"{written.SAME} AND paid_at {within.format(first)}")
    pairs = orders.alias("orders").join(payments.alias("payments"), on, how)
    pairs = pairs.select("order_id", "ordered_at", "order_no", "payment_no")
    return pairs.join(refunds, F.expr(f"rid = order_id AND refunded_at {within.format(upper)}")).drop("refunded_at")


@pytest.mark.family("other settings of a chain")
@pytest.mark.parametrize(
    ("how", "changed", "under"),
    [
        ("left", {}, {}),
        ("inner", {"delays": ("2 seconds", "3 seconds", "0 seconds")}, {"watermarks": {"refunds": "0 seconds"}}),
        ("left", {"delays": ("0 seconds", "0 seconds", "0 seconds")}, {
            "watermarks": dict.fromkeys(["orders", "payments", "refunds"], "0 seconds")
        }),
        ("inner", {"upper": 1}, {"joins": {1: wb.IntervalJoin("0 s", "1 s")}}),
        ("left", {"first": 2, "upper": 9, "delays": ("8 seconds", "3 seconds", "4 seconds")}, {
            "joins": {0: wb.IntervalJoin("0 s", "2 s", "left"), 1: wb.IntervalJoin("0 s", "9 s")},
            "watermarks": {"orders": "8 seconds"},
        }),
    ],
)  # fmt: skip
def test_other_settings_of_a_chain_are_what_spark_does_under_them(session, folder, tmp_path, how, changed, under):
    """The job is run under the other settings, too: what it drops and puts out is what was simulated."""
    joined = chained(session, folder, how=how)
    ran = jobs.run(joined, tmp_path / "own")
    found = wb.open_job(joined, ran.checkpoint).under(**under)
    other = chained(session, folder, how=how, **changed)
    again = jobs.run(other, tmp_path / "other")
    chain = wb.open_job(other, again.checkpoint)
    assert chain.mismatches.empty
    batches = min(len(each.joins[0].checkpoint.batches) for each in (found, chain))

    def compared(frame):
        return frame[frame.batch < batches].reset_index(drop=True)

    for mine, spark in zip(found.joins, chain.joins, strict=True):
        assert_frame_equal(compared(mine.output), compared(spark.output))
        assert_frame_equal(compared(mine.late), compared(spark.late))
    if not changed:
        assert_frame_equal(found.rows, wb.open_job(joined, ran.checkpoint).rows)


def test_a_fix_of_a_chain_keeps_the_row(session, folder, tmp_path):
    """A fix names the delay of a stream, never of what comes out of a join; under it the row is late no longer."""
    joined = chained(session, folder, how="inner", delays=("0 seconds", "0 seconds", "0 seconds"))
    chain = wb.open_job(joined, jobs.run(joined, tmp_path / "own").checkpoint)
    delays = chain.rows[
        chain.rows.fix_setting.isin(["left.watermark", "right.watermark"]) & (chain.rows.fate == "late")
    ]
    assert set(delays["join"]) == {0, 1}
    for number, mine in delays.groupby("join"):
        job = chain.joins[number]
        names = [(job.left if each == "left.watermark" else job.right).name for each in mine.fix_setting]
        assert set(names) <= {"orders", "payments", "refunds"}
        assert chain.under(watermarks={names[-1]: mine.fix_value.iloc[-1]}).rows.fate[mine.index[-1]] != "late"
    every = " ".join(str(chain.why(row)) for row in range(len(chain.rows)))
    assert "orders_payments would" not in every
    by_max = chain.under(policy="max")
    assert not by_max.rows.fix_setting.isin(["left.watermark", "right.watermark"]).any()


def test_other_settings_that_are_none(opened):
    chain = opened(inner_inner).chain
    for given, words in [
        ({"joins": {5: wb.IntervalJoin("0 s", "1 s")}}, "joins: got 5; the joins are 0 to 1"),
        (
            {"joins": {0: wb.IntervalJoin("0 s", "1 s", "left")}},
            r"joins\[0\]: got IntervalJoin.*give one of the kind and",
        ),
        ({"joins": {0: "tumbling"}}, r"joins\[0\]: got 'tumbling'; give one of the kind and the how of IntervalJoin"),
        ({"joins": [wb.IntervalJoin("0 s", "1 s")]}, "joins: got .*; give a dict of numbers of joins and joins"),
        ({"watermarks": {"nobody": "1 s"}}, "watermarks: got 'nobody'; the streams with a watermark are"),
        ({"watermarks": {"orders": "soon"}}, r"watermarks\['orders'\]: got 'soon'"),
        ({"policy": "mean"}, "policy: got 'mean'; use 'min' or 'max'"),
    ]:
        with pytest.raises(wb.ArgumentError, match=words):
            chain.under(**given)
    found = chain.under(policy="max")
    for call in (lambda: found.state(0), lambda: found.comparison, lambda: found.under(policy="min")):
        with pytest.raises(wb.WorkbenchError, match="simulated under other settings"):
            call()


def test_what_a_chain_has_not(opened):
    chain = opened(inner_inner).chain
    for call in (chain.advise, chain.tune):
        with pytest.raises(wb.WorkbenchError, match=r"try other settings with job\.under"):
            call()
    with pytest.raises(
        AttributeError, match=re.escape("a chain has no left, each of its joins has: job.joins[0].left")
    ):
        chain.left  # noqa: B018 - raises
    with pytest.raises(AttributeError, match="no attribute 'no_such'"):
        chain.no_such  # noqa: B018 - raises


def test_a_picture_of_the_chain(opened):
    chain = opened(outer_inner).chain
    spec = chain.charts.chain().to_dict()
    bars = pd.DataFrame(spec["datasets"]["rows"])
    for number, job in enumerate(chain.joins):
        found = bars[bars["join"] == number].groupby("fate")["rows"].sum()
        assert found[found > 0].to_dict() == job.rows.fate.value_counts().to_dict()
    out = pd.DataFrame(spec["datasets"]["out"])
    assert out.line.tolist() == ["passes on to join 1", "comes out"]
    assert out.rows.tolist() == [len(each.output) for each in chain.joins]
    assert renderer.png(spec)


def test_a_query_of_a_chain(opened, session, folder, tmp_path):
    query = (
        inner_inner(*three(session, folder))
        .writeStream.format("noop")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    chain = wb.open_job(query)
    assert_frame_equal(chain.rows, opened(inner_inner).chain.rows)
    counters = chain.comparison[chain.comparison.what.str.contains("numRows")]
    assert counters["join"].tolist() == [0, 0, 1, 1]  # each join is compared with its own operator's
    assert (counters[counters.what.str.contains("Dropped")].spark > 0).all()
    assert chain.batches.dropped.tolist() == [
        each["stateOperators"][place]["numRowsDroppedByWatermark"] for each in query.recentProgress for place in (1, 0)
    ]
    assert chain.mismatches.empty


def test_keys_are_those_of_one_join(opened):
    case = opened(inner_inner)
    words = "it chooses by the key of one join, and the plan has 2 joins of streams: give join=0 to 1, too"
    for given in ({"keys": ["a"]}, {"sample": 0.5}):
        with pytest.raises(wb.ArgumentError, match=f"{next(iter(given))}: got .*; {words}"):
            wb.open_job(case.joined, case.ran.checkpoint, **given)
    assert set(wb.open_job(case.joined, case.ran.checkpoint, join=1, keys=["a"]).keys) == {"a"}


def test_the_output_of_a_chain_is_compared(opened, spark):
    case = opened(inner_inner)
    written = [{**each, "batch_id": batch} for batch, rows in case.ran.output.items() for each in rows]
    put_out = spark.createDataFrame(pd.DataFrame(written))
    chain = wb.open_job(case.joined, case.ran.checkpoint, output=put_out)
    line = chain.comparison.iloc[-1]
    assert line["join"] == 1
    assert line["what"].startswith("rows that the job put out")
    assert (line["model"], line["differences"]) == (len(written), 0)


def test_a_join_above_one_that_keeps_one_side_forever_is_not_opened(session, folder, tmp_path):
    """Which watermark the one below passes on is not known, so nothing is told of the other, alone or in the chain."""
    orders, payments, refunds = three(session, folder)
    odd = orders.join(payments, F.expr("order_id = oid AND paid_at >= ordered_at AND order_no % 50 + 1 > 0"))
    within = F.expr("rid = order_id AND refunded_at BETWEEN ordered_at AND ordered_at + INTERVAL 5 SECONDS")
    joined = odd.select("order_id", "ordered_at", "order_no").join(refunds, within).drop("refunded_at")
    ran = jobs.run(joined, tmp_path / "checkpoint")
    with pytest.raises(wb.ArgumentError, match=r"join: the one before it, of orders and payments, .*; open that one"):
        wb.open_job(joined, ran.checkpoint, join=1)
    chain = wb.open_job(joined, ran.checkpoint)
    assert chain.unopened == (
        "join 1 is not opened: the one before it, of orders and payments, passes on a watermark that is not known, as "
        "Spark keeps the rows of one side forever",
    )
    assert [each.is_understood for each in chain.joins] == [True]
    assert chain.mismatches.empty


def test_the_health_of_each_join(opened, folder, tmp_path, monkeypatch, capsys):
    case = opened(inner_inner)
    name = f"chain_of_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(
        f"import sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\nimport test_chains\n\n"
        'def build(spark):\n    spark.conf.set("spark.sql.shuffle.partitions", "1")\n'
        f"    return test_chains.inner_inner(*test_chains.three(spark, {str(folder)!r}))\n"
    )
    monkeypatch.chdir(tmp_path)
    given = ["check", "--checkpoint", case.ran.checkpoint, "--job", f"{name}:build"]
    try:
        assert main([*given, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["fine"] is True
        held = [each["numRowsTotal"] for each in case.ran.progress[-1]["stateOperators"]]
        assert [each["state_rows"] for each in found["joins"]] == held[::-1]
        assert main([*given, "--max-state-rows", str(min(held))]) == 1
        lines = capsys.readouterr().out.splitlines()
        assert [line for line in lines if "rows in state: " in line] == [
            f"join {number}: rows in state: {count}" for number, count in enumerate(held[::-1])
        ]
        assert main([*given, "--join", "0", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["state_rows"] == held[1]
        assert main([*given, "--sample", "0.5"]) == 2
        assert "--sample: got 0.5; it chooses by the key of one join" in capsys.readouterr().err
    finally:
        sys.modules.pop(name, None)


def test_where_rows_come_from():
    job = SimpleNamespace(origins={"left": np.array([-2, 4, -1, 0])})
    rows = {"left": np.array([0, 1, 2, 3, 3]), "right": np.array([0, 7])}
    assert chain_rows.from_join(job, {"left": 2}, rows).tolist() == [2, 2, -1, 2, 2, -1, -1]
