"""Joins that somebody else wrote, in many spellings: one join gives one description."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta

import parts
import pytest
import scripts
import spellings
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import functions as F

import generators
import workbench as wb
from workbench.joins import HOWS

SECONDS = timedelta(seconds=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("jobs")
    for name in ("orders", "payments"):
        (made / name).mkdir()
    return made


@pytest.fixture(scope="module")
def orders(spark, folder):
    columns = "order_id string, ordered_at timestamp, amount double"
    return spark.readStream.schema(columns).parquet(str(folder / "orders")).withWatermark("ordered_at", "10 seconds")


@pytest.fixture(scope="module")
def payments(spark, folder):
    columns = "oid string, paid_at timestamp, paid double"
    return spark.readStream.schema(columns).parquet(str(folder / "payments")).withWatermark("paid_at", "5 seconds")


@pytest.mark.parametrize("bounds", spellings.BOUNDS)
def test_one_join_in_many_spellings(orders, payments, bounds):
    found = wb.describe(orders.join(payments, F.expr(f"order_id = oid AND {bounds}"), "left"))
    assert found.join == wb.IntervalJoin("-2 seconds", "5 seconds", how="left")
    assert (found.where, found.unknown) == ("", ())
    left, right = found.left, found.right
    assert (left.name, left.key, left.time, left.watermark) == ("orders", "order_id", "ordered_at", 10 * SECONDS)
    assert (right.name, right.key, right.time, right.watermark) == ("payments", "oid", "paid_at", 5 * SECONDS)
    assert right.columns == ("oid", "paid_at", "paid")


@pytest.mark.parametrize(
    "bounds",
    [
        "paid_at > ordered_at - INTERVAL 2 SECONDS AND paid_at < ordered_at + INTERVAL 5 SECONDS",
        "NOT (paid_at <= ordered_at - INTERVAL 2 SECONDS) AND NOT paid_at - ordered_at >= INTERVAL 5 SECONDS",
        "paid_at >= ordered_at - INTERVAL 2 SECONDS AND ordered_at < paid_at + INTERVAL 2 SECONDS "
        "AND ordered_at > paid_at - INTERVAL 5 SECONDS",
    ],
)
def test_strict_bounds_are_exclusive_ones(orders, payments, bounds):
    found = wb.describe(orders.join(payments, F.expr(f"order_id = oid AND {bounds}")))
    assert found.join == wb.IntervalJoin("-2 s", "5 s", lower_exclusive=True, upper_exclusive=True)
    assert (found.where, found.unknown) == ("", ())


EXACT = wb.IntervalJoin("-2 seconds", "5 seconds")


def spelled(orders, payments):
    """The same join in many ways to build a DataFrame."""
    within = F.expr("paid_at BETWEEN ordered_at - INTERVAL 2 SECONDS AND ordered_at + INTERVAL 5 SECONDS")
    same = orders.order_id == payments.oid
    yield "all in a filter", orders.crossJoin(payments).where(within & same).select("order_id", "paid")
    yield from spellings.built(orders, payments)


def test_one_join_built_in_many_ways(orders, payments):
    for name, joined in spelled(orders, payments):
        found = wb.describe(joined)
        assert found.join == EXACT, name
        assert (found.where, found.unknown) == ("", ()), name
        assert (found.left.watermark, found.right.watermark) == (10 * SECONDS, 5 * SECONDS), name
    assert found.left.name == "o"


@pytest.mark.parametrize("how", ["inner", "left", "right", "full", "semi"])
def test_how(orders, payments, how):
    spark_how = {"semi": "left_semi", "full": "full_outer"}.get(how, how)
    within = F.expr("oid = order_id AND paid_at BETWEEN ordered_at AND ordered_at + INTERVAL 1 MINUTE")
    assert wb.describe(orders.join(payments, within, spark_how)).join == wb.IntervalJoin("0 s", "1 minute", how=how)


@pytest.mark.parametrize(
    ("words", "window"),
    [
        (("10 seconds",), wb.Tumbling("10 seconds")),
        (("1 hour", "1 hour", "15 minutes"), wb.Tumbling("1 hour", "15 minutes")),
        (("10 seconds", "5 seconds"), wb.Sliding("10 seconds", "5 seconds")),
        (("10 seconds", "4 seconds", "1 second"), wb.Sliding("10 seconds", "4 seconds", "1 second")),
    ],
)
def test_windows_before_the_join(orders, payments, words, window):
    left = orders.withColumn("w", F.window("ordered_at", *words))
    right = payments.select("*", F.window("paid_at", *words).alias("v"))
    found = wb.describe(left.join(right, (F.col("w") == F.col("v")) & (F.col("order_id") == F.col("oid")), "full"))
    assert found.join == wb.WindowJoin(window, how="full")
    assert found.unknown == ()
    assert (found.left.key, found.left.time, found.right.time) == ("order_id", "ordered_at", "paid_at")


def test_windows_that_differ(orders, payments):
    left = orders.withColumn("w", F.window("ordered_at", "10 seconds"))
    right = payments.withColumn("w", F.window("paid_at", "20 seconds")).withColumnRenamed("oid", "order_id")
    found = wb.describe(left.join(right, ["order_id", "w"]))
    assert found.join is None
    assert found.unknown == (
        "the windows of the sides differ: Tumbling(size='10 seconds') and Tumbling(size='20 seconds')",
    )


def test_what_else_the_condition_says(orders, payments):
    within = "oid = order_id AND paid_at BETWEEN ordered_at AND ordered_at + INTERVAL 1 MINUTE"
    found = wb.describe(orders.join(payments, F.expr(f"{within} AND paid >= amount AND upper(oid) <> 'X'"), "left"))
    assert found.join == wb.IntervalJoin("0 s", "1 minute", how="left")
    assert found.where == "(paid >= amount) AND (NOT (upper(oid) = 'X'))"
    assert found.unknown == ()


def test_several_keys(orders, payments):
    within = F.expr(
        "oid = order_id AND paid = amount AND paid_at BETWEEN ordered_at AND ordered_at + INTERVAL 1 MINUTE"
    )
    found = wb.describe(orders.join(payments, within))
    assert (found.left.key, found.right.key) == (("order_id", "amount"), ("oid", "paid"))


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("oid = order_id", "the condition has no lower and no upper bound on the difference of the event times"),
        ("oid = order_id AND paid_at >= ordered_at", "the condition has no upper bound"),
        ("oid = order_id AND paid_at <= ordered_at", "the condition has no lower bound"),
        ("oid = order_id AND paid_at <= ordered_at + INTERVAL 1 MONTH", "the condition has no lower and no upper bound"),
        ("oid = order_id AND unix_timestamp(paid_at) BETWEEN unix_timestamp(ordered_at) AND 9", "has no upper bound"),
        ("oid = order_id AND cast(paid_at AS long) BETWEEN cast(ordered_at AS long) AND 9", "has no upper bound"),
        ("oid > order_id AND paid_at = ordered_at", "the condition has no equality of a column"),
        ("oid = order_id AND paid_at BETWEEN ordered_at + INTERVAL 2 SECONDS AND ordered_at", "no pair meets the condition"),
    ],
)  # fmt: skip
def test_what_is_not_understood_is_said(orders, payments, condition, words):
    found = wb.describe(orders.join(payments, F.expr(condition)))
    assert len(found.unknown) == 1
    assert words in found.unknown[0]
    if "bound " in words:
        assert None in (found.join.lower, found.join.upper)
    elif "no pair" in words:
        assert found.join is None


def test_a_side_without_a_watermark(spark, folder, orders):
    payments = spark.readStream.schema("oid string, paid_at timestamp").parquet(str(folder / "payments"))
    found = wb.describe(
        orders.join(
            payments, F.expr("oid = order_id AND paid_at BETWEEN ordered_at AND ordered_at + INTERVAL 1 MINUTE")
        )
    )
    assert found.join == wb.IntervalJoin("0 s", "1 minute")
    assert (found.right.time, found.right.watermark) == ("paid_at", None)
    assert found.unknown == ("the right side has no watermark: its rows are never dropped as late",)


def test_a_chain_of_joins_and_other_operators(orders, payments):
    within = F.expr("oid = order_id AND paid_at BETWEEN ordered_at AND ordered_at + INTERVAL 1 MINUTE")
    pairs = orders.join(payments.dropDuplicatesWithinWatermark(["oid"]), within)
    assert wb.describe(pairs).unknown == ()
    refunds = payments.select(F.col("oid").alias("rid"), F.col("paid_at").alias("refunded_at"))
    chain = pairs.join(refunds, F.expr("rid = order_id AND refunded_at BETWEEN paid_at AND paid_at + INTERVAL 1 HOUR"))
    found = wb.describe(chain)
    assert found.join == wb.IntervalJoin("0 s", "1 hour")
    assert found.unknown[0] == (
        "the plan has another join of two streams: describe the DataFrame that joins them to see more"
    )


def test_an_outer_join_that_spark_runs_as_another(orders, payments):
    within = F.expr("oid = order_id AND paid_at BETWEEN ordered_at AND ordered_at + INTERVAL 1 MINUTE")
    found = wb.describe(orders.join(payments, within, "left").where("paid > 3"))
    assert found.join == wb.IntervalJoin("0 s", "1 minute")
    assert found.notes == (
        "a filter after the left join drops rows without a partner, so what Spark runs is the inner join",
    )
    found = wb.describe(orders.join(payments, within, "full").where("amount > 3"))
    assert found.join == wb.IntervalJoin("0 s", "1 minute", how="left")
    found = wb.describe(orders.join(payments, within, "left").where("paid IS NULL"))  # which a partner may have, too
    assert (found.join, found.notes) == (wb.IntervalJoin("0 s", "1 minute", how="left"), ())


def test_groups_in_another_style(orders, payments):
    one = orders.select(
        F.col("order_id").alias("k"), F.col("ordered_at").alias("at"), F.lit("o").alias("side"), "amount"
    )
    other = payments.select(
        F.col("oid").alias("k"), F.col("paid_at").alias("at"), F.lit("p").alias("side"), F.col("paid")
    )
    rows = one.union(other)
    lists = [F.collect_list(F.when(F.col("side") == side, F.col("amount"))).alias(side) for side in "op"]
    found = wb.describe(rows.groupBy("k", F.window("at", "10 minutes")).agg(*lists))
    assert found.join == wb.CoGroup(wb.Tumbling("10 minutes"))
    assert (found.left.key, found.left.time, found.left.watermark) == ("order_id", "ordered_at", 10 * SECONDS)
    assert (found.right.key, found.right.time, found.right.watermark) == ("oid", "paid_at", 5 * SECONDS)
    assert found.unknown == ()
    found = wb.describe(rows.groupBy("k", "side", F.session_window("at", "1 minute")).agg(*lists))
    assert found.join == wb.CoGroup(wb.Session("1 minute"))
    assert found.unknown == ("rows are also grouped by side, which is not understood",)
    found = wb.describe(rows.groupBy("k").agg(*lists))
    assert found.join is None
    assert "rows are grouped by no window that is understood" in found.unknown
    for grouped in (rows.groupBy("k", F.window("at", "1 hour")).agg(F.sum("amount")), rows.groupBy("k").count()):
        with pytest.raises(wb.ArgumentError, match="without a join of two streams"):
            wb.describe(grouped)


def test_names_of_other_sources(spark):
    stream = spark.readStream.format("rate").load().withWatermark("timestamp", "1 second")
    same = F.expr("a.value = b.value AND b.timestamp BETWEEN a.timestamp AND a.timestamp + INTERVAL 1 SECOND")
    found = wb.describe(stream.alias("a").join(stream.alias("b"), same))
    assert (found.left.name, found.right.name) == ("a", "b")
    assert found.join == wb.IntervalJoin("0 s", "1 s")


@pytest.mark.parametrize("joined", [3, None, "orders"])
def test_no_dataframe(joined):
    with pytest.raises(
        wb.ArgumentError, match=r"joined: got .*; give a streaming DataFrame in which two streams are joined"
    ):
        wb.describe(joined)


def test_no_join_of_two_streams(spark, orders):
    with pytest.raises(wb.ArgumentError, match="joined: got 'a DataFrame that is not streaming'"):
        wb.describe(spark.range(3))
    with pytest.raises(wb.ArgumentError, match="a streaming DataFrame without a join of two streams"):
        wb.describe(orders)
    with pytest.raises(wb.ArgumentError, match=r"a join of the stream .* with the right side, which is static"):
        wb.describe(orders.join(spark.range(3), F.expr("id = amount")))


MICROS = st.integers(-(10**10), 10**10)


@settings(max_examples=40)
@given(data=st.data())
def test_any_bounds_in_any_spelling(orders, payments, data):
    low, high = sorted((data.draw(MICROS, "lower"), data.draw(MICROS, "upper")))
    parts, exclusive = [], []
    for limit, sign in ((low, ">"), (high, "<")):
        exclusive.append(strict := data.draw(st.booleans(), "strict"))
        seconds = f"INTERVAL '{'-' if limit < 0 else ''}{abs(limit) // 10**6}.{abs(limit) % 10**6:06}' SECOND"
        sign += "" if strict else "="
        back = sign.translate(str.maketrans("<>", "><"))
        forms = (
            f"paid_at {sign} ordered_at + {seconds}",
            f"ordered_at + {seconds} {back} paid_at",
            f"paid_at - {seconds} {sign} ordered_at",
            f"paid_at - ordered_at {sign} {seconds}",
            f"-(ordered_at - paid_at) {sign} {seconds}",
            f"unix_micros(paid_at) {sign} unix_micros(ordered_at) + {limit}",
            f"NOT (paid_at {back + '=' if strict else back[0]} timestampadd(MICROSECOND, {limit}, ordered_at))",
        )
        parts.append(data.draw(st.sampled_from(forms), "form"))
    condition = " AND ".join(data.draw(st.permutations(["oid = order_id", *parts]), "order"))
    found = wb.describe(orders.join(payments, F.expr(condition)))
    assert found.unknown == ()
    assert found.join == wb.IntervalJoin(*(timedelta(microseconds=each) for each in (low, high)), "inner", *exclusive)


@pytest.mark.parametrize(
    "join",
    [
        wb.IntervalJoin("-3 s", "7 s", how="full"),
        wb.WindowJoin(wb.Tumbling("10 s", "2 s"), how="left"),
        wb.WindowJoin(wb.Sliding("10 s", "4 s")),
        *(wb.WindowJoin(wb.Session("5 s"), how=how) for how in HOWS),
        *(wb.IntervalJoin("0 s", "5 s", how=how) for how in HOWS),
        wb.WindowJoin(wb.Tumbling("10 s"), how="anti"),
        wb.CoGroup(wb.Tumbling("10 s")),
        wb.CoGroup(wb.Sliding("10 s", "4 s", "1 s")),
        wb.CoGroup(wb.Session("7 s")),
    ],
    ids=repr,
)
def test_the_script_of_a_run_is_described_as_its_join(spark, folder, tmp_path, join):
    sides = generators.generate("orders_payments", events=20, seed=1)
    made = scripts.module(wb.export(wb.preview(join, *sides), tmp_path / "join.py", data=False))
    frames = []
    for side in sides:
        empty = spark.createDataFrame(side.to_pandas().drop(columns="batch")).limit(0)
        frames.append(spark.readStream.schema(empty.schema).parquet(str(folder / side.name)))
    found = wb.describe(made.join_streams(*frames))
    assert found.join == join
    assert (found.left.watermark, found.right.watermark) == (10 * SECONDS, 10 * SECONDS)
    assert found.unknown == ()
    if "order_id" in found.left.key:
        assert (found.left.time, found.right.time, found.left.name) in {
            ("ordered_at", "paid_at", "orders"),
            ("left_ordered_at", "right_paid_at", "orders"),
        }


@pytest.mark.engine
@pytest.mark.parametrize("version", ["4.0"])
def test_other_versions_of_spark(version):
    words = ["-m", "pytest", "-q", "-n", "0", "-p", "no:randomly", __file__, "-m", "not engine", "-k", "not any_bounds"]
    env = {
        name: value
        for name, value in parts.real(lambda: parts.with_pyspark(version)).items()
        if name != "PYTEST_ADDOPTS"
    }
    done = subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        check=False,
        env=env,
    )
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.fixture(scope="module")
def streams(spark, folder):
    """Two streams, called a and b, with times beside the event time."""
    columns = "id int, big bigint, name string, amount double, ts timestamp, ts2 timestamp, tsn timestamp_ntz"
    made = spark.readStream.schema(columns).parquet(str(folder / "orders"))
    return [made.withWatermark("ts", delay).alias(name) for name, delay in (("a", "10 minutes"), ("b", "5 minutes"))]


KEY = "a.id = b.id"
WITHIN = "b.ts BETWEEN a.ts AND a.ts + INTERVAL 1 HOUR"
HOUR = wb.IntervalJoin("0 s", "1 hour")
UNBOUNDED, FROM_ZERO = wb.IntervalJoin(None, None), wb.IntervalJoin("0 s", None)
WRITE = "Spark derives no state watermark for the {} side from the condition as written"


@pytest.mark.parametrize(
    ("condition", "join", "where"),
    [
        (f"{KEY} AND b.ts BETWEEN a.ts AND a.ts2", FROM_ZERO, "ts2"),
        (f"{KEY} AND b.ts >= a.ts2 AND b.ts <= a.ts + INTERVAL 1 HOUR", wb.IntervalJoin(None, "1 hour"), "ts2"),
        (f"{KEY} AND {WITHIN} AND a.ts2 < b.ts2", HOUR, "(a.ts2 < b.ts2)"),
        (f"{KEY} AND b.ts2 BETWEEN a.ts2 AND a.ts2 + INTERVAL 1 HOUR", UNBOUNDED, "ts2"),
        (f"{KEY} AND b.tsn BETWEEN a.ts AND a.ts + INTERVAL 1 HOUR", UNBOUNDED, "tsn"),
        (f"{KEY} AND {WITHIN} AND NOT (a.amount > 5)", HOUR, "(NOT (a.amount > "),
        (f"{KEY} AND {WITHIN} AND a.amount BETWEEN b.amount AND b.amount + 10", HOUR, "between(a.amount"),
        (f"{KEY} AND b.ts >= a.ts AND CAST(b.ts - a.ts AS INTERVAL HOUR) <= INTERVAL 1 HOUR", FROM_ZERO, "CAST("),
        (f"{KEY} AND b.ts >= a.ts AND CAST(CAST(b.ts - a.ts AS INTERVAL SECOND) AS BIGINT) <= 600", FROM_ZERO, "CAST("),
    ],
)  # fmt: skip
def test_a_bound_is_of_the_event_times_only(streams, condition, join, where):
    a, b = streams
    found = wb.describe(a.join(b, F.expr(condition)))
    assert found.join == join
    assert where in found.where
    assert "commonexpression" not in found.where
    assert (found.left.time, found.right.time) == ("ts", "ts")
    assert bool(found.unknown) == (join != HOUR)


def test_keys_that_are_times_or_wider_numbers(streams):
    a, b = streams
    found = wb.describe(a.join(b, F.expr(f"{KEY} AND {WITHIN} AND a.ts2 = b.ts2 AND a.id = b.id")))
    assert (found.join, found.left.key) == (HOUR, ("id", "ts2"))
    hours = [
        each.withColumn("h", F.date_trunc("hour", "ts")).alias(name) for each, name in zip(streams, "ab", strict=True)
    ]
    found = wb.describe(hours[0].join(hours[1], F.expr(f"{KEY} AND a.h = b.h AND {WITHIN}")))
    assert (found.join, found.left.key) == (HOUR, ("id", "h"))
    found = wb.describe(a.join(b, F.expr(f"a.id = b.big AND {WITHIN}")))
    assert (found.join, found.left.key, found.right.key, found.unknown) == (HOUR, "id", "big", ())


def test_a_derived_time_is_not_the_event_time(streams):
    a, b = streams
    due = b.withColumn("due", F.expr("ts - INTERVAL 5 MINUTES")).alias("b")
    found = wb.describe(a.join(due, F.expr(f"{KEY} AND b.due BETWEEN a.ts AND a.ts + INTERVAL 1 HOUR")))
    assert (found.join, "due" in found.where) == (UNBOUNDED, True)
    shifted = a.withColumn("w", F.window(F.expr("ts + INTERVAL 2 MINUTES"), "5 minutes")).alias("a")
    other = b.withColumn("w", F.window("ts", "5 minutes")).alias("b")
    found = wb.describe(shifted.join(other, F.expr(f"{KEY} AND a.w = b.w")))
    assert found.join is None  # Spark evicts by the window of b, which has the watermark
    assert any("w of the right side, a window of the event time, is compared with w" in each for each in found.unknown)
    unmarked = [
        each.withColumn("w", F.window("ts2", "5 minutes")).alias(name) for each, name in zip(streams, "ab", strict=True)
    ]
    windows = wb.describe(unmarked[0].join(unmarked[1], F.expr(f"{KEY} AND a.w = b.w")))
    assert (windows.join, windows.left.key) == (UNBOUNDED, ("id", "w"))


def test_windows_that_are_no_join_of_windows(streams):
    a, b = (
        each.withColumn("w", F.session_window("ts", "5 minutes")).alias(name)
        for each, name in zip(streams, "ab", strict=True)
    )
    found = wb.describe(a.join(b, F.expr(f"{KEY} AND a.w = b.w")))
    assert found.join is None
    assert any("session windows are compared before they are merged" in each for each in found.unknown)
    a, b = (
        each.withColumn("w", F.window("ts", "1 hour")).withColumn("v", F.window("ts", "5 minutes")).alias(name)
        for each, name in zip(streams, "ab", strict=True)
    )
    found = wb.describe(a.join(b, F.expr(f"{KEY} AND a.w = b.w AND a.v = b.v")))
    assert found.join is None
    assert found.unknown[0].startswith("the condition has windows of two kinds: ")
    a, b = (
        each.withColumn("k", F.expr("struct(id % 8 AS b, id + 16 AS n)")).alias(name)
        for each, name in zip(streams, "ab", strict=True)
    )
    found = wb.describe(a.join(b, F.expr(f"a.k = b.k AND {WITHIN}")))
    assert (found.join, found.left.key) == (HOUR, "k")


def test_a_way_to_write_it_from_which_spark_derives_no_watermark(streams):
    a, b = streams
    assert wb.describe(a.join(b, F.expr(f"{KEY} AND {WITHIN}"))).notes == ()
    difference = "b.ts - a.ts BETWEEN INTERVAL '0' HOUR AND INTERVAL '1' HOUR"
    found = wb.describe(a.join(b, F.expr(f"{KEY} AND {difference}")))
    assert found.join == HOUR
    assert [each.startswith(WRITE.format(side)) for each, side in zip(found.notes, ("left", "right"), strict=True)] == [
        True
    ] * 2


def test_days_are_by_the_clock(spark, folder):
    own = scripts.own_session(spark)
    own.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    columns = "id int, ts timestamp"
    a, b = (
        own.readStream.schema(columns).parquet(str(folder / "orders")).withWatermark("ts", "1 minute").alias(name)
        for name in "ab"
    )
    [note] = wb.describe(a.join(b, F.expr(f"{KEY} AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 1 DAY"))).notes
    assert note.startswith("the session's time zone is Europe/Berlin: where clocks change, Spark computes days")
    assert wb.describe(a.join(b, F.expr(f"{KEY} AND {WITHIN}"))).notes == ()


def test_an_anti_join_in_other_words(streams):
    a, b = streams
    outer = a.join(b, F.expr(f"{KEY} AND {WITHIN}"), "left")
    anti = wb.IntervalJoin("0 s", "1 hour", how="anti")
    renamed = outer.select("a.id", F.col("b.id").alias("b_id")).where("b_id IS NULL")
    assert wb.describe(renamed).join == anti
    assert wb.describe(outer.withColumn("missing", F.col("b.id").isNull()).where("missing")).join == anti
    found = wb.describe(a.join(b, F.expr(f"{KEY} AND {WITHIN}"), "right").where("a.id IS NULL"))
    assert found.unknown[0].startswith("a filter after the right join keeps rows without a left row only")


def test_no_anti_join_where_nulls_meet(streams):
    """A row without an id may have a partner without one, so its null says nothing."""
    a, b = streams
    for equal in ("a.id <=> b.id", "a.id = coalesce(b.id, 0)"):
        found = wb.describe(a.join(b, F.expr(f"{equal} AND {WITHIN}"), "left").where("b.id IS NULL"))
        assert found.join == wb.IntervalJoin("0 s", "1 hour", how="left"), equal
    within = f"upper(cast(a.id AS string)) = upper(cast(b.id AS string)) AND {WITHIN}"
    found = wb.describe(a.join(b, F.expr(within), "left").where("b.id IS NULL"))
    assert found.join == wb.IntervalJoin("0 s", "1 hour", how="anti")


def test_null_asked_for_in_the_condition(streams):
    """The filter of an anti join that was written into ON: every row comes out padded."""
    a, b = streams
    found = wb.describe(a.join(b, F.expr(f"{KEY} AND {WITHIN} AND b.id IS NULL"), "left"))
    [note] = [each for each in found.notes if "IS NULL" in each]
    assert "no pair satisfies both" in note
    assert ".where" in note
    found = wb.describe(a.join(b, F.expr(f"a.id <=> b.id AND {WITHIN} AND b.id IS NULL"), "left"))
    assert not any("no pair satisfies" in each for each in found.notes)


def test_filters_after_renaming(streams):
    a, b = streams
    pairs = a.join(b, F.expr(KEY)).select("a.id", F.col("a.ts").alias("t1"), F.col("b.ts").alias("t2"))
    found = wb.describe(pairs.where("t2 >= t1 AND t2 <= t1 + INTERVAL 1 HOUR"))
    assert (found.join, found.unknown) == (HOUR, ())


def test_common_table_expressions(spark, streams):
    for name, each in zip("ab", streams, strict=True):
        each.createOrReplaceTempView(f"described_{name}")
    found = wb.describe(
        spark.sql(
            "WITH a AS (SELECT id, ts FROM described_a), b AS (SELECT id, ts FROM described_b) "
            f"SELECT a.id, b.ts FROM a JOIN b ON {KEY} AND {WITHIN}"
        )
    )
    assert (found.join, found.unknown) == (HOUR, ())
    assert (found.left.watermark, found.right.watermark) == (600 * SECONDS, 300 * SECONDS)


def test_unions_and_joins_below_a_side(spark, streams):
    a, b = streams
    found = wb.describe(a.union(a.withWatermark("ts", "1 hour")).alias("a").join(b, F.expr(f"{KEY} AND {WITHIN}")))
    assert "the left side has a union below the join, of which only the first branch is described" in found.unknown
    shops = spark.range(3).withColumnRenamed("id", "shop")
    found = wb.describe(a.join(shops, F.expr("shop = big")).alias("a").join(b, F.expr(f"{KEY} AND {WITHIN}")))
    assert found.unknown == ()  # a row joins with what the table has for it, and comes to this join then
    found = wb.describe(a.withWatermark("ts2", "1 month").alias("a").join(b, F.expr(f"{KEY} AND {WITHIN}")))
    assert "the left side has a watermark delay in months, which are not equally long" in found.unknown


def test_a_semi_join_above_a_join(spark, streams, folder):
    a, b = streams
    c = (
        spark.readStream.schema("id int, ts timestamp")
        .parquet(str(folder / "orders"))
        .withWatermark("ts", "1 second")
        .alias("c")
    )
    both = a.join(b, F.expr(f"{KEY} AND {WITHIN}")).select("a.id", "a.ts").alias("ab")
    within = F.expr("ab.id = c.id AND c.ts BETWEEN ab.ts AND ab.ts + INTERVAL 1 HOUR")
    found = wb.describe(both.join(c, within, "left_semi"))
    assert (found.join, found.notes) == (wb.IntervalJoin("0 s", "1 hour", how="semi"), ())


def test_a_watermark_of_the_union(spark, folder):
    rows = spark.readStream.schema("id int, ts timestamp, x double, y double").parquet(str(folder / "orders"))
    both = rows.select("id", "ts", "x", F.lit(None).cast("double").alias("y")).unionByName(
        rows.select("id", "ts", F.lit(None).cast("double").alias("x"), "y")
    )
    grouped = both.withWatermark("ts", "1 minute").groupBy("id", F.window("ts", "5 minutes"))
    found = wb.describe(grouped.agg(F.collect_list("x"), F.collect_list("y")))
    assert (found.join, found.unknown) == (wb.CoGroup(wb.Tumbling("5 minutes")), ())
    assert (found.left.key, found.right.key) == ("id", "id")
    assert (found.left.watermark, found.right.watermark) == (60 * SECONDS, 60 * SECONDS)
