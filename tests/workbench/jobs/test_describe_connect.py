"""Joins of Spark Connect are described from what its explain prints, as those of a classic session are from their plan.

This file is run by a process with a session of Spark Connect, too: this one has a classic session.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import traceback
from types import SimpleNamespace

import parts
import pytest
import scripts
import spellings
from pyspark.sql import functions as F

import generators
import workbench as wb
from workbench.jobs import explained, understanding
from workbench.joins import HOWS


def streams(spark, folder):
    def read(name, columns):
        return spark.readStream.schema(columns).parquet(f"{folder}/{name}")

    orders = read("orders", "order_id string, ordered_at timestamp, amount double").withWatermark(
        "ordered_at", "10 seconds"
    )
    payments = read("payments", "oid string, paid_at timestamp, paid double").withWatermark(
        "paid_at", "5 seconds 500 milliseconds"
    )
    columns = "id int, big bigint, name string, amount double, ts timestamp, ts2 timestamp, tsn timestamp_ntz"
    made = read("orders", columns)
    a, b = [made.withWatermark("ts", delay).alias(name) for name, delay in (("a", "10 minutes"), ("b", "5 minutes"))]
    return orders, payments, a, b


BOUNDS = [
    *spellings.BOUNDS,
    "-(ordered_at - paid_at) >= INTERVAL '-2.000000' SECOND AND unix_micros(paid_at) < unix_micros(ordered_at) + 5000001",
    "paid_at BETWEEN ordered_at - INTERVAL '1 02:03:04.5' DAY TO SECOND AND ordered_at + INTERVAL '3 4' DAY TO HOUR",
    "paid_at BETWEEN ordered_at - INTERVAL 1 DAY 2 HOURS 3 MINUTES AND ordered_at + INTERVAL '90' MINUTE",
    "paid_at >= ordered_at AND paid_at <= ordered_at + make_interval(0, 0, 1, 2, 3, 4, 5.678)",
    "NOT (paid_at <= timestampadd(MICROSECOND, -2000001, ordered_at)) AND paid_at <= ordered_at + INTERVAL '1' DAY / 2",
    "paid_at >= ordered_at AND paid_at <= CAST(ordered_at + INTERVAL '01:10' HOUR TO MINUTE AS timestamp)",
]
WITHIN = "oid = order_id AND paid_at BETWEEN ordered_at AND ordered_at + INTERVAL 1 MINUTE"
KEY = "a.id = b.id"
NEAR = "b.ts BETWEEN a.ts AND a.ts + INTERVAL 1 HOUR"


def spelled(spark, folder):
    """One join in many spellings."""
    orders, payments, *_ = streams(spark, folder)
    for place, each in enumerate(BOUNDS):
        yield f"bounds {place}", orders.join(payments, F.expr(f"order_id = oid AND {each}"), "left")


def built(spark, folder):
    """One join built in many ways."""
    orders, payments, *_ = streams(spark, folder)
    yield from spellings.built(orders, payments)


def kinds(spark, folder):
    """Joins that keep other rows, and joins of windows."""
    orders, payments, *_ = streams(spark, folder)
    for how in ("inner", "left", "right", "full", "semi"):
        yield f"how {how}", orders.join(payments, F.expr(WITHIN), how)
    for place, words in enumerate(
        [
            ("10 seconds",),
            ("1 hour", "1 hour", "15 minutes"),
            ("10 seconds", "5 seconds"),
            ("10 seconds", "4 seconds", "1 second"),
        ]
    ):
        left = orders.withColumn("w", F.window("ordered_at", *words))
        right = payments.select("*", F.window("paid_at", *words).alias("v"))
        yield (
            f"windows {place}",
            left.join(right, (F.col("w") == F.col("v")) & (F.col("order_id") == F.col("oid")), "full"),
        )
    left = orders.withColumn("w", F.window("ordered_at", "10 seconds"))
    right = payments.withColumn("w", F.window("paid_at", "20 seconds")).withColumnRenamed("oid", "order_id")
    yield "windows that differ", left.join(right, ["order_id", "w"])


def residuals(spark, folder):
    """What else a condition says, and what is not understood."""
    orders, payments, *_ = streams(spark, folder)
    yield "residual", orders.join(payments, F.expr(f"{WITHIN} AND paid >= amount AND upper(oid) <> 'X'"), "left")
    yield "several keys", orders.join(payments, F.expr(f"paid = amount AND {WITHIN}"))
    ok = F.udf(lambda one, other: True, "boolean")
    yield "a UDF", orders.join(payments, F.expr(WITHIN) & ok("paid", "amount"))
    for place, each in enumerate(
        [
            "oid = order_id",
            "oid = order_id AND paid_at >= ordered_at",
            "oid = order_id AND paid_at <= ordered_at",
            "oid = order_id AND paid_at <= ordered_at + INTERVAL 1 MONTH",
            "oid = order_id AND unix_timestamp(paid_at) BETWEEN unix_timestamp(ordered_at) AND 9",
            "oid = order_id AND cast(paid_at AS long) BETWEEN cast(ordered_at AS long) AND 9",
            "oid <=> order_id AND paid_at = ordered_at",
            "oid = order_id AND paid_at BETWEEN ordered_at + INTERVAL 2 SECONDS AND ordered_at",
            "oid = order_id AND (paid_at BETWEEN ordered_at AND ordered_at + INTERVAL 2 SECONDS OR paid > 3)",
        ]
    ):
        yield f"not understood {place}", orders.join(payments, F.expr(each))


def chained(spark, folder):
    """Sides without a watermark, with operators, with joins of their own, and joins that Spark runs as others."""
    orders, payments, *_ = streams(spark, folder)
    unmarked = spark.readStream.schema("oid string, paid_at timestamp").parquet(f"{folder}/payments")
    yield "no watermark", orders.join(unmarked, F.expr(WITHIN))
    yield "no watermark, semi", orders.join(unmarked, F.expr(WITHIN), "semi")
    pairs = orders.join(payments.dropDuplicatesWithinWatermark(["oid"]), F.expr(WITHIN))
    yield "deduplicated", pairs
    refunds = payments.select(F.col("oid").alias("rid"), F.col("paid_at").alias("refunded_at"))
    yield (
        "a chain",
        pairs.join(refunds, F.expr("rid = order_id AND refunded_at BETWEEN paid_at AND paid_at + INTERVAL 1 HOUR")),
    )
    yield "a left join that is inner", orders.join(payments, F.expr(WITHIN), "left").where("paid > 3")
    yield "a full join that is left", orders.join(payments, F.expr(WITHIN), "full").where("amount > 3")
    yield "a filter that is none", orders.join(payments, F.expr(WITHIN), "left").where("paid IS NULL")


def grouped(spark, folder):
    """Joins that are written as groups of a union."""
    orders, payments, *_ = streams(spark, folder)
    one = orders.select(
        F.col("order_id").alias("k"), F.col("ordered_at").alias("at"), F.lit("o").alias("side"), "amount"
    )
    other = payments.select(
        F.col("oid").alias("k"), F.col("paid_at").alias("at"), F.lit("p").alias("side"), F.col("paid")
    )
    rows = one.union(other)
    lists = [F.collect_list(F.when(F.col("side") == side, F.col("amount"))).alias(side) for side in "op"]
    yield "groups of windows", rows.groupBy("k", F.window("at", "10 minutes")).agg(*lists)
    yield "groups of sliding windows", rows.groupBy("k", F.window("at", "10 minutes", "2 minutes")).agg(*lists)
    yield "groups of sessions", rows.groupBy("k", "side", F.session_window("at", "1 minute")).agg(*lists)
    yield "groups without a window", rows.groupBy("k").agg(*lists)
    yield "groups that sum", rows.groupBy("k", F.window("at", "1 hour")).agg(F.sum("amount"))
    whole = [
        orders.select(F.col("order_id").alias("k"), F.col("ordered_at").alias("t"), F.struct("*").alias("o")),
        payments.select(F.col("oid").alias("k"), F.col("paid_at").alias("t"), F.struct("*").alias("p")),
    ]
    grouped = whole[0].unionByName(whole[1], allowMissingColumns=True).groupBy("k", F.session_window("t", "3 seconds"))
    grouped = grouped.agg(F.collect_list("o").alias("os"), F.collect_list("p").alias("ps"))
    yield "structs in sessions", grouped
    exploded = grouped.select("k", F.explode("os").alias("o"), "ps")
    yield "exploded", exploded.select("k", "o", F.explode("ps").alias("p"))
    yield "exploded, outer", exploded.select("k", "o", F.explode_outer("ps").alias("p"))
    yield "exploded, some", exploded.where("size(ps) > 0")
    yield "exploded, none", exploded.where("size(ps) = 0").select("k", "o.*")


def timed(spark, folder):
    """Times that are no event times, and keys that are cast."""
    orders, _, a, b = streams(spark, folder)
    rate = spark.readStream.format("rate").load().withWatermark("timestamp", "1 second")
    yield (
        "rate",
        rate.alias("a").join(
            rate.alias("b"),
            F.expr("a.value = b.value AND b.timestamp BETWEEN a.timestamp AND a.timestamp + INTERVAL 1 SECOND"),
        ),
    )
    yield "no join", orders
    yield "a join with a table", orders.join(spark.range(3), F.expr("id = amount"))
    for place, each in enumerate(
        [
            f"{KEY} AND b.ts BETWEEN a.ts AND a.ts2",
            f"{KEY} AND b.ts >= a.ts2 AND b.ts <= a.ts + INTERVAL 1 HOUR",
            f"{KEY} AND {NEAR} AND a.ts2 < b.ts2",
            f"{KEY} AND b.ts2 BETWEEN a.ts2 AND a.ts2 + INTERVAL 1 HOUR",
            f"{KEY} AND b.tsn BETWEEN a.ts AND a.ts + INTERVAL 1 HOUR",
            f"{KEY} AND {NEAR} AND NOT (a.amount > 5)",
            f"{KEY} AND {NEAR} AND a.amount BETWEEN b.amount AND b.amount + 10",
            f"{KEY} AND b.ts >= a.ts AND CAST(b.ts - a.ts AS INTERVAL HOUR) <= INTERVAL 1 HOUR",
            f"{KEY} AND b.ts >= a.ts AND CAST(CAST(b.ts - a.ts AS INTERVAL SECOND) AS BIGINT) <= 600",
            f"{KEY} AND {NEAR} AND a.ts2 = b.ts2 AND a.id = b.id",
            f"a.id = b.big AND {NEAR}",
            f"a.name = b.id AND {NEAR}",
            f"{KEY} AND b.ts - a.ts BETWEEN INTERVAL '0' HOUR AND INTERVAL '1' HOUR",
        ]
    ):
        yield f"times {place}", a.join(b, F.expr(each))
        yield f"times {place} semi", a.join(b, F.expr(each), "semi")


def derived(spark, folder):
    """Times and windows that are derived."""
    *_, a, b = streams(spark, folder)
    hours = [
        each.withColumn("h", F.date_trunc("hour", "ts")).alias(name) for each, name in zip((a, b), "ab", strict=True)
    ]
    yield "truncated times", hours[0].join(hours[1], F.expr(f"{KEY} AND a.h = b.h AND {NEAR}"))
    due = b.withColumn("due", F.expr("ts - INTERVAL 5 MINUTES")).alias("b")
    yield "due", a.join(due, F.expr(f"{KEY} AND b.due BETWEEN a.ts AND a.ts + INTERVAL 1 HOUR"))
    shifted = a.withColumn("w", F.window(F.expr("ts + INTERVAL 2 MINUTES"), "5 minutes")).alias("a")
    yield (
        "shifted",
        shifted.join(b.withColumn("w", F.window("ts", "5 minutes")).alias("b"), F.expr(f"{KEY} AND a.w = b.w")),
    )
    w = [
        each.withColumn("w", F.window("ts2", "5 minutes")).alias(name) for each, name in zip((a, b), "ab", strict=True)
    ]
    yield "windows of unmarked", w[0].join(w[1], F.expr(f"{KEY} AND a.w = b.w"))
    w = [
        each.withColumn("w", F.session_window("ts", "5 minutes")).alias(name)
        for each, name in zip((a, b), "ab", strict=True)
    ]
    yield "sessions joined", w[0].join(w[1], F.expr(f"{KEY} AND a.w = b.w"))
    w = [
        each.withColumn("w", F.window("ts", "1 hour")).withColumn("v", F.window("ts", "5 minutes")).alias(name)
        for each, name in zip((a, b), "ab", strict=True)
    ]
    yield "windows of two kinds", w[0].join(w[1], F.expr(f"{KEY} AND a.w = b.w AND a.v = b.v"))
    w = [
        each.withColumn("k", F.expr("struct(id % 8 AS b, id + 16 AS n)")).alias(name)
        for each, name in zip((a, b), "ab", strict=True)
    ]
    yield "structs that are keys", w[0].join(w[1], F.expr(f"a.k = b.k AND {NEAR}"))
    outer = a.join(b, F.expr(f"{KEY} AND {NEAR}"), "left")
    yield "an anti join", outer.select("a.id", F.col("b.id").alias("b_id")).where("b_id IS NULL")
    yield "an anti join, another", outer.withColumn("missing", F.col("b.id").isNull()).where("missing")
    yield "a right anti join", a.join(b, F.expr(f"{KEY} AND {NEAR}"), "right").where("a.id IS NULL")
    pairs = a.join(b, F.expr(KEY)).select("a.id", F.col("a.ts").alias("t1"), F.col("b.ts").alias("t2"))
    yield "filters after renaming", pairs.where("t2 >= t1 AND t2 <= t1 + INTERVAL 1 HOUR")


def below(spark, folder):
    """What is below a side."""
    *_, a, b = streams(spark, folder)
    for name, each in zip("ab", (a, b), strict=True):
        each.createOrReplaceTempView(f"explained_{name}")
    yield (
        "CTEs",
        spark.sql(
            "WITH a AS (SELECT id, ts FROM explained_a), b AS (SELECT id, ts FROM explained_b) "
            f"SELECT a.id, b.ts FROM a JOIN b ON {KEY} AND {NEAR}"
        ),
    )
    yield (
        "a CTE twice",
        spark.sql(
            f"WITH c AS (SELECT id, ts FROM explained_a) SELECT a.id, b.ts FROM c a JOIN c b ON {KEY} AND {NEAR}"
        ),
    )
    yield "a union below", a.union(a.withWatermark("ts", "1 hour")).alias("a").join(b, F.expr(f"{KEY} AND {NEAR}"))
    shops = spark.range(3).withColumnRenamed("id", "shop")
    yield "a table below", a.join(shops, F.expr("shop = big")).alias("a").join(b, F.expr(f"{KEY} AND {NEAR}"))
    yield "months", a.withWatermark("ts2", "1 month").alias("a").join(b, F.expr(f"{KEY} AND {NEAR}"))
    c = (
        spark.readStream.schema("id int, ts timestamp")
        .parquet(f"{folder}/orders")
        .withWatermark("ts", "1 second")
        .alias("c")
    )
    both = a.join(b, F.expr(f"{KEY} AND {NEAR}")).select("a.id", "a.ts").alias("ab")
    yield (
        "a semi join above",
        both.join(c, F.expr("ab.id = c.id AND c.ts BETWEEN ab.ts AND ab.ts + INTERVAL 1 HOUR"), "left_semi"),
    )
    rows = spark.readStream.schema("id int, ts timestamp, x double, y double").parquet(f"{folder}/orders")
    both = rows.select("id", "ts", "x", F.lit(None).cast("double").alias("y")).unionByName(
        rows.select("id", "ts", F.lit(None).cast("double").alias("x"), "y")
    )
    yield (
        "a watermark of the union",
        both.withWatermark("ts", "1 minute")
        .groupBy("id", F.window("ts", "5 minutes"))
        .agg(F.collect_list("x"), F.collect_list("y")),
    )


def named(spark, folder):
    """Wide streams, and names that are no words."""
    wide = [
        spark.readStream.schema(
            f"{name}_id string, {name}_ts timestamp, " + ", ".join(f"{name}{n} double" for n in range(40))
        )
        .parquet(f"{folder}/orders")
        .withWatermark(f"{name}_ts", "1 second")
        for name in "lr"
    ]
    yield (
        "wide",
        wide[0].join(wide[1], F.expr("l_id = r_id AND r_ts BETWEEN l_ts AND l_ts + INTERVAL 1 HOUR AND l39 > r39")),
    )
    odd = spark.readStream.schema("`the id` string, `a.b` timestamp, `c[0], (d` double, `x#7 AS y` int").parquet(
        f"{folder}/orders"
    )
    odd = [odd.withWatermark("`a.b`", "1 second").alias(name) for name in "pq"]
    yield (
        "odd names",
        odd[0].join(
            odd[1],
            F.expr(
                "p.`the id` = q.`the id` AND q.`a.b` BETWEEN p.`a.b` AND p.`a.b` + INTERVAL 1 HOUR AND p.`c[0], (d` > q.`c[0], (d` AND p.`x#7 AS y` < q.`x#7 AS y`"
            ),
        ),
    )


def scripted(spark, folder):
    """What exported scripts join."""
    asked = json.loads((folder / "scripts.json").read_text())
    for name, (path, schemas) in asked.items():
        made = scripts.module(path)
        rows = (spark.readStream.schema(schema).parquet(f"{folder}/{side}") for side, schema in schemas.items())
        yield name, made.join_streams(*rows)


def unlike(spark, folder):
    """Joins of which Spark's explain says less than its plan, or that Spark does not plan."""
    orders, payments, *_ = streams(spark, folder)
    ok = F.udf(lambda one, other: True, "boolean")
    within = F.expr(WITHIN)
    yield (
        "a UDF in an outer join",
        orders.join(payments, within & ok("paid", "amount") & F.expr("paid >= amount"), "left"),
    )
    yield (
        "an AND in a string",
        orders.join(payments, F.expr(WITHIN + " AND oid <> 'a) AND (b' AND order_id IN ('x, y', 'z')")),
    )
    yield "a bracket in a string", orders.join(payments, F.expr(WITHIN + " AND oid <> 'smile :)'"))
    yield "lines in a string", orders.join(payments, F.expr(WITHIN) & (F.col("oid") != "two\nlines"))
    yield "a plan in a string", orders.join(payments, within & (F.col("oid") != "two\n+- Join\n:- lines"))
    yield "an anti join", orders.join(payments, within, "anti")
    yield "a cross join", orders.crossJoin(payments).where(within)


CASES = (spelled, built, kinds, residuals, chained, grouped, timed, derived, below, named, scripted)


def described(cases, spark, folder):
    """What is said of each join: the parts of its description, or an error."""
    told = {}
    for name, joined in cases(spark, folder):
        try:
            found = wb.describe(joined)
        except wb.ArgumentError as error:
            told[name] = {"error": str(error)}
            continue
        own = {part: repr(getattr(found, part)) for part in ("join", "left", "right", "unknown")}
        how = repr(getattr(found.join, "how", None))
        told[name] = {**own, "how": how, "where": found.where, "notes": list(found.notes)}
    return told


def refused(function, *given):
    """What a function says that refuses something."""
    try:
        function(*given)
    except wb.ArgumentError as error:
        return str(error)
    return ""


def in_connect(folder):
    """What a session of Spark Connect tells."""
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.remote("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    told = {each.__name__: described(each, spark, folder) for each in (*CASES, unlike)}
    [(_, joined), *_] = spelled(spark, folder)
    told["refused"] = [refused(each, joined, folder / "checkpoint") for each in (wb.open_job, wb.watch)]
    try:
        wb.describe(spark.range(3))
    except wb.ArgumentError as error:
        told["not streaming"] = str(error)
    width = "spark.sql.debug.maxToStringFields"
    told["settings"] = [spark.conf.getAll.get(width)]
    spark.conf.set(width, "7")
    [*_, (_, joined)] = named(spark, folder)
    told["narrow"] = list(wb.describe(joined).unknown)
    told["settings"].append(spark.conf.getAll.get(width))
    return told


if __name__ == "__main__":
    from pathlib import Path

    try:
        print(json.dumps(in_connect(Path(sys.argv[1]))), flush=True)
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)  # Spark's own hook at exit waits for its server


JOINS = (
    wb.IntervalJoin("-3 s", "7 s", how="full"),
    wb.IntervalJoin("0 s", "5 s", how="anti"),
    wb.WindowJoin(wb.Sliding("10 s", "4 s")),
    wb.WindowJoin(wb.Tumbling("10 s", "2 s"), how="anti"),
    *(wb.WindowJoin(wb.Session("5 s"), how=how) for how in HOWS),
    wb.CoGroup(wb.Tumbling("10 s")),
    wb.CoGroup(wb.Sliding("10 s", "4 s", "1 s")),
    wb.CoGroup(wb.Session("7 s")),
)


@pytest.fixture(scope="module")
def folder(spark, tmp_path_factory):
    """Folders of rows, and scripts of joins."""
    made = tmp_path_factory.mktemp("connect")
    sides = generators.generate("orders_payments", events=20, seed=1)
    schemas = {}
    for side in sides:
        (made / side.name).mkdir()
        empty = spark.createDataFrame(side.to_pandas().drop(columns="batch")).limit(0)
        schemas[side.name] = ", ".join(f"`{each.name}` {each.dataType.simpleString()}" for each in empty.schema)
    asked = {}
    for place, join in enumerate(JOINS):
        script = wb.export(wb.preview(join, *sides), made / f"join{place}.py", data=False)
        asked[repr(join)] = str(script), schemas
    (made / "scripts.json").write_text(json.dumps(asked))
    return made


@pytest.fixture(scope="module")
def told(folder):
    """What a process with a session of Spark Connect tells."""
    with parts.only_one("spark-connect"):
        words = [sys.executable, "-W", "ignore", __file__, str(folder)]
        env = {name: value for name, value in os.environ.items() if name != "PYSPARK_SUBMIT_ARGS"}
        env["PYTHONPATH"] = os.pathsep.join(each for each in sys.path if each)
        done = subprocess.run(words, capture_output=True, text=True, timeout=400, check=False, env=env)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def bare(where):
    """A condition without what is spelled in another way."""
    return re.sub(r", Some\([^)]*\), true|[\s'`]", "", where).lower()


KEPT = re.compile(
    "^Spark (derives no|refuses to start|ends this query)|never leave the state|as whole numbers of|keeps the rows of the (left|right) side forever"
)
"""How long Spark keeps rows, and what it refuses: no part of what explain prints."""

TYPELESS = "times 4 semi"
"""A semi join that compares a time of the right side without a watermark: explain prints no type of such a column."""


@pytest.mark.engine
@pytest.mark.parametrize("cases", CASES, ids=lambda each: each.__name__)
def test_what_a_classic_session_says(spark, folder, told, cases):
    expected = described(cases, spark, folder)
    found = told[cases.__name__]
    assert list(found) == list(expected)
    for name, each in expected.items():
        if "error" in each:
            assert found[name] == each, name
            continue
        where, notes = each.pop("where"), [one for one in each.pop("notes") if not KEPT.search(one)]
        assert bare(found[name].pop("where")) == bare(where), name
        assert found[name].pop("notes") == notes, name
        if name == TYPELESS:
            found[name]["unknown"], each["unknown"] = (one["unknown"].split("'")[1] for one in (found[name], each))
        if where and "bound on the difference" in each["unknown"]:  # which may be in what a text does not say
            assert found[name].pop("join") == found[name].pop("how") == "None"
            each = {part: words for part, words in each.items() if part not in ("join", "how")}
        assert found[name] == each, name


@pytest.mark.engine
def test_what_explain_does_not_say(told):
    found = told["unlike"]
    minute = repr(wb.IntervalJoin("0 s", "1 minute"))
    assert found["a UDF in an outer join"]["join"] == repr(wb.IntervalJoin("0 s", "1 minute", how="left"))
    assert found["a UDF in an outer join"]["where"] == "<lambda>(paid, amount) AND (paid >= amount)"
    assert found["an AND in a string"]["join"] == minute
    assert found["an AND in a string"]["where"] == "(NOT (oid = 'a')) AND (b) AND order_id IN (x, y,z)"
    assert found["a bracket in a string"]["join"] == "None"
    assert "no lower and no upper bound" in found["a bracket in a string"]["unknown"]
    assert "that is understood" in found["a bracket in a string"]["unknown"]
    assert "(oid = smile :))" in found["a bracket in a string"]["where"]
    assert found["lines in a string"]["join"] == minute
    assert found["a plan in a string"]["error"].endswith("its plan cannot be read; give one of a classic session")
    for name, kind in (("an anti join", "LeftAnti"), ("a cross join", "Cross")):
        assert found[name]["error"].startswith(
            "joined: got 'a DataFrame that Spark cannot plan'; give one of another join"
        )
        assert f"should not take {kind} as the JoinType" in found[name]["error"]


@pytest.mark.engine
def test_what_opening_a_job_refuses(told):
    words = "joined: got 'a DataFrame of Spark Connect'; its plan cannot be read; give one of a classic session"
    assert told["refused"] == [words, words]
    assert told["not streaming"].startswith("joined: got 'a DataFrame that is not streaming'")


@pytest.mark.engine
def test_settings_are_as_before(told):
    assert told["settings"] == [None, "7"]
    assert told["narrow"] == []


PLAN = """== Parsed Logical Plan ==
'Join Inner

== Analyzed Logical Plan ==
{columns}
~Join {how}, {condition}
:- ~SubqueryAlias o
:  +- ~EventTimeWatermark 3b50edea-53c8, {left_time}#2: timestamp, 10 seconds
:     +- StreamingRelation FileSource[/rows/orders], [{left}], name=<Unassigned>
+- ~EventTimeWatermark 824e1492-e9c4, paid_at#6: timestamp, 5.5 seconds
   +- ~StreamingRelationV2 org.KafkaSourceProvider@1f, kafka, org.KafkaTable@2a, [a=b, subscribe=payments], [{right}]

== Optimized Logical Plan ==
{optimised}

== Physical Plan ==
none
"""
LEFT = "order_id#1, ordered_at#2, amount#3, count#4L"
RIGHT = "oid#5, paid_at#6, paid#7, number#8L"
TIMES = (
    "between(paid_at#6-T5500ms, ordered_at#2-T10000ms, cast(ordered_at#2-T10000ms + INTERVAL '05' SECOND as timestamp))"
)
SAME = "(order_id#1 = oid#5)"
CLOCK = SimpleNamespace(conf=SimpleNamespace(get=lambda _: "UTC"))
FIVE = wb.IntervalJoin("0 s", "5 s")
ERROR = "org.apache.spark.sql.AnalysisException: not so"


def explanation(condition, **parts):
    """What ``explain`` prints of a join with this condition."""
    given = {"columns": "order_id: string", "how": "Inner", "left": LEFT, "right": RIGHT, "left_time": "ordered_at"}
    return PLAN.format(**{**given, "optimised": ERROR, **parts, "condition": condition})


def read(condition, **parts):
    """What a plan with this condition says."""
    return understanding.described(CLOCK, explained.parsed(explanation(condition, **parts)))


def test_sides_of_a_text():
    found = read(f"((order_id#1 = oid#5) AND {TIMES})")
    assert (found.join, found.where, found.unknown) == (FIVE, "", ())
    assert (found.left.name, found.left.key, found.left.time) == ("o", "order_id", "ordered_at")
    assert (found.right.name, found.right.key, found.right.time) == ("payments", "oid", "paid_at")
    assert found.right.columns == ("oid", "paid_at", "paid", "number")


@pytest.mark.parametrize(
    ("condition", "where"),
    [
        ("<lambda>(paid#7, amount#3)#47", "<lambda>(paid, o.amount)"),
        ("(oid#5 = x AND (y))", "(oid = 'x AND (y)')"),
        ("(order_id#1 = it's -T5ms > 3)", "(o.order_id = 'it's -T5ms > 3')"),
        ("oid#5 IN (a,b, c)", "oid IN (a,b, c)"),
        ("(a AND b = oid#5)", "a AND b = oid"),
        ("NOT (paid#7 = amount#3)", "(NOT (paid = o.amount))"),
        ("((paid#7 > amount#3) OR (ordered_at#2-T10000ms > paid_at#6-T5500ms))", "OR"),
        ("(CASE WHEN (paid#7 > 3.0) THEN paid_at#6-T5500ms ELSE ordered_at#2-T10000ms END > paid_at#6-T5500ms)", "CASE"),
        ("if ((paid#7 > 3.0)) true else (paid_at#6-T5500ms > ordered_at#2-T10000ms)", "if ("),
        ("(paid_at#6-T5500ms >= cast(ordered_at#2-T10000ms as date))", "AS DATE)"),
        ("(paid_at#6-T5500ms >= cast(day#9 as timestamp))", "AS TIMESTAMP)"),
        ("(cast(cast(paid_at#6-T5500ms as bigint) as timestamp) >= ordered_at#2-T10000ms)", "AS BIGINT)"),
        ("(paid_at#6-T5500ms <= ordered_at#2-T10000ms + INTERVAL '1' MONTH)", "MONTH"),
        ("(paid_at#6-T5500ms <= ordered_at#2-T10000ms + 1 months 2 seconds)", "months"),
        ("(paid_at#6-T5500ms <= ordered_at#2-T10000ms + cast(INTERVAL '90' SECOND as interval minute))", "interval minute)"),
        ("(paid_at#6-T5500ms - ordered_at#2-T10000ms - paid_at#6-T5500ms)", "paid_at"),
        ("(paid_at#6-T5500ms <= timestampadd(DAY, 1, ordered_at#2-T10000ms, Some(UTC)))", "timestampadd(DAY"),
        ("(paid_at#6-T5500ms <= date_trunc(hour, ordered_at#2-T10000ms, Some(UTC)))", "date_trunc("),
        ("greatest(paid_at#6-T5500ms, (ordered_at#2-T10000ms <= paid_at#6-T5500ms))", "greatest("),
    ],
)  # fmt: skip
def test_what_is_no_bound(condition, where):
    found = read(f"(({SAME} AND {TIMES}) AND {condition})")
    assert (found.join, found.left.key, found.unknown) == (FIVE, "order_id", ())
    assert where in found.where
    assert not re.search(r"#\d|-T\d+ms", found.where) or "it's" in found.where


@pytest.mark.parametrize(
    ("condition", "join"),
    [
        ("(paid_at#6-T5500ms <= ordered_at#2-T10000ms + INTERVAL '1 02:03:04.5' DAY TO SECOND)", "93784.5 seconds"),
        ("(paid_at#6-T5500ms - INTERVAL '-01:30' HOUR TO MINUTE <= ordered_at#2-T10000ms + 2 hours)", "30 minutes"),
        ("(paid_at#6-T5500ms <= ordered_at#2-T10000ms - -INTERVAL '03' SECOND)", "3 seconds"),
        ("((paid_at#6-T5500ms - ordered_at#2-T10000ms) <= cast(1 minutes 0.5 seconds as interval day to second))", "60.5 seconds"),
        ("(paid_at#6-T5500ms <= ordered_at#2-T10000ms + (INTERVAL '1' DAY / 2) - INTERVAL '1' HOUR)", "11 hours"),
        ("(paid_at#6-T5500ms <= ordered_at#2-T10000ms + (3 * (INTERVAL '2' SECOND - INTERVAL '1' SECOND)))", "3 seconds"),
        ("(paid_at#6-T5500ms <= ordered_at#2-T10000ms + make_interval(0, 0, 1, 2, 0, 0, 0.25, true))", "777600.25 seconds"),
        ("(unix_micros(paid_at#6-T5500ms) <= (unix_micros(ordered_at#2-T10000ms) + cast(7 as bigint)))", "7 microseconds"),
        ("NOT (paid_at#6-T5500ms > timestampadd(MINUTE, cast(-2 as bigint), ordered_at#2-T10000ms, None))", None),
    ],
)  # fmt: skip
def test_intervals_of_a_text(condition, join):
    found = read(f"(({SAME} AND (paid_at#6-T5500ms >= ordered_at#2-T10000ms)) AND {condition})")
    assert found.join == (None if join is None else wb.IntervalJoin("0 s", join))
    assert found.unknown == (() if join else ("the lower bound is above the upper: no pair meets the condition",))


def test_names_that_are_no_words():
    left = "the id#1, a.b#2, c[0], (d#3, x#7 AS y#4L"
    times = TIMES.replace("ordered_at", "a.b")
    more = "(c[0], (d#3 > paid#7)"
    found = read(
        f"(((the id#1 = oid#5) AND {times}) AND ({more} AND (x#7 AS y#4L = number#8L)))", left=left, left_time="a.b"
    )
    assert found.join == FIVE
    assert (found.left.key, found.left.time) == (("the id", "x#7 AS y"), "a.b")
    assert found.left.columns == ("the id", "a.b", "c[0], (d", "x#7 AS y")
    assert found.where == "(o.`c[0], (d` > paid)"


def test_a_bracket_in_a_string_spoils_the_condition_only():
    found = read(f"(({SAME} AND {TIMES}) AND (oid#5 = smile :)))")
    assert (found.join, found.left.key, found.left.time) == (None, (), "ordered_at")
    assert "(oid = smile :))" in found.where
    assert "that is understood" in found.unknown[0]


def test_text_that_was_cut_off():
    found = read(f"({SAME} AND {TIMES})", left="order_id#1, ordered_at#2, ... 3 more fields")
    assert found.join == FIVE
    assert found.unknown == (
        "Spark's explain leaves out parts of this plan (3 more fields), which are not in the description",
    )
    found = read(f"({SAME} AND ... 2 more fields)")
    assert found.join is None
    for text in (
        "",
        "== Analyzed Logical Plan ==\n",
        "== Analyzed Logical Plan ==\na: int\nProject [a#1]\n+- Range (0, 3)\n",
    ):
        assert explained.parsed(text) is None
    whole = explanation(f"({SAME} AND {TIMES})", columns="", optimised="")
    for end in range(0, len(whole), 7):  # wherever it ends
        found = explained.parsed(whole[:end])
        with contextlib.suppress(wb.ArgumentError):
            assert found is None or understanding.described(CLOCK, found).join in (None, FIVE)


def test_the_join_that_spark_runs():
    condition = f"({SAME} AND {TIMES})"
    run = "~Join Inner, (order_id#1 = oid#5)\n:- StreamingRelation FileSource[/a], [order_id#1]\n+- StreamingRelation FileSource[/b], [oid#5]"
    assert read(condition, how="LeftOuter").join.how == "left"
    assert read(condition, how="LeftOuter", optimised=run).join.how == "inner"
    assert read(f"{condition}, leftHint=(strategy=merge)", how="LeftOuter").join.how == "left"
    found = read(condition, how="LeftSemi")
    assert (found.join.how, found.right.columns) == ("semi", ("oid", "paid_at", "paid", "number"))


def test_a_time_without_a_watermark():
    right = "oid#5, paid_at#6, paid#7, number#8L"
    condition = f"({SAME} AND between(paid#7, ordered_at#2-T10000ms, ordered_at#2-T10000ms))"
    assert read(condition, right=right).join is None  # it may be a date that is cast
    shown = f"({SAME} AND ((paid#7 >= ordered_at#2-T10000ms) AND (paid#7 <= ordered_at#2-T10000ms)))"
    assert "event times" in read(shown, right=right).unknown[0]


def test_the_type_of_a_key_that_is_widened():
    types = [
        (name, "int" if name == "amount" else "bigint" if name in ("count", "number") else "string")
        for name in ("order_id", "ordered_at", "amount", "count", "oid", "paid_at", "paid", "number")
    ]
    text = explanation(f"((cast(amount#3 as bigint) = number#8L) AND {TIMES})", columns="", optimised="")
    widened, cast = (understanding.described(CLOCK, explained.parsed(text, *more)) for more in ([types], []))
    assert (widened.left.key, widened.notes) == ("amount", ())
    assert cast.left.key == "amount"
    assert cast.notes == ("keys are compared as CAST(o.amount AS BIGINT) = number",)
