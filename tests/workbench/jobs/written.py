"""Jobs in plain PySpark as others write them: each joins the streams of orders and payments, in a style of its own.

A job is a function of both streams. Its output has `order_no` and `payment_no`, by which rows are told apart (semi
joins and groups have what they give).
"""

from __future__ import annotations

from pyspark.sql import functions as F

WITHIN = "paid_at BETWEEN ordered_at - INTERVAL 2 SECONDS AND ordered_at + INTERVAL 6 SECONDS"
SAME = "order_id = oid"
NEVER = "paid_at BETWEEN ordered_at + INTERVAL 2 SECONDS AND ordered_at"
"""Bounds that the workbench does not make a join of: no pair is between them."""


def marked(orders, payments, one="3 seconds", other="2 seconds"):
    return orders.withWatermark("ordered_at", one), payments.withWatermark("paid_at", other)


def guide_inner(orders, payments):
    """Spark's guide: impressions and clicks."""
    orders, payments = marked(orders, payments)
    return orders.join(
        payments, F.expr(f"{SAME} AND paid_at >= ordered_at AND paid_at <= ordered_at + interval 6 seconds")
    )


def guide_outer(orders, payments):
    """Spark's guide: the same, left outer."""
    orders, payments = marked(orders, payments)
    within = F.expr(f"{SAME} AND paid_at >= ordered_at AND paid_at <= ordered_at + interval 6 seconds")
    return orders.join(payments, within, "leftOuter")


def columns(orders, payments):
    orders, payments = marked(orders, payments)
    early = payments.paid_at >= orders.ordered_at - F.expr("INTERVAL 2 SECONDS")
    late = payments.paid_at <= orders.ordered_at + F.expr("INTERVAL 6 SECONDS")
    return orders.join(payments, (orders.order_id == payments.oid) & early & late, "right")


def full(orders, payments):
    orders, payments = marked(orders, payments)
    return orders.join(payments, F.expr(f"{SAME} AND {WITHIN}"), "full_outer")


def semi(orders, payments):
    orders, payments = marked(orders, payments)
    return orders.join(payments, F.expr(f"{SAME} AND {WITHIN}"), "left_semi")


def anti(orders, payments):
    orders, payments = marked(orders, payments)
    return orders.join(payments, F.expr(f"{SAME} AND {WITHIN}"), "left").where("oid IS NULL").drop("oid", "payment_no")


def differences(orders, payments):
    orders, payments = marked(orders, payments)
    return orders.join(
        payments, F.expr(f"{SAME} AND paid_at - ordered_at BETWEEN INTERVAL '-2' SECOND AND INTERVAL '6' SECOND")
    )


def strict(orders, payments):
    orders, payments = marked(orders, payments)
    return orders.join(
        payments,
        F.expr(f"{SAME} AND paid_at > ordered_at - INTERVAL 2 SECONDS AND paid_at < ordered_at + INTERVAL 6 SECONDS"),
        "left",
    )


def reversed_sides(orders, payments):
    orders, payments = marked(orders, payments)
    return payments.alias("p").join(
        orders.alias("o"),
        F.expr("p.oid = o.order_id AND o.ordered_at BETWEEN p.paid_at - INTERVAL 6 SECONDS AND p.paid_at"),
        "left",
    )


def filtered_after(orders, payments):
    orders, payments = marked(orders, payments)
    return orders.join(payments, F.expr(SAME)).where(WITHIN).where("amount IS NOT NULL")


def renamed_before(orders, payments):
    orders = orders.withColumnRenamed("ordered_at", "at").withWatermark("at", "3 seconds").withColumnRenamed("at", "t")
    payments = payments.select(F.col("oid").alias("order_id"), F.col("paid_at").alias("u"), "payment_no")
    payments = payments.withWatermark("u", "2 seconds")
    return orders.join(payments, ["order_id"]).where("u BETWEEN t - INTERVAL 2 SECONDS AND t + INTERVAL 6 SECONDS")


def filtered_before(orders, payments):
    orders, payments = orders.where("amount > 20"), payments.where("paid <> 30")
    orders, payments = marked(orders, payments)
    return orders.join(payments, F.expr(f"{SAME} AND {WITHIN}"), "left")


def filtered_above_watermark(orders, payments):
    """What is filtered above a watermark is pushed below it, and does not move it."""
    orders, payments = marked(orders, payments)
    orders, payments = orders.where("amount > 20"), payments.where("paid <> 30")
    return orders.join(payments, F.expr(f"{SAME} AND {WITHIN}"), "left")


def literals(orders, payments):
    orders, payments = marked(orders, payments)
    orders = orders.withColumn("shop", F.lit("north")).withColumn("vat", F.col("amount") * 0.2)
    return orders.join(payments, F.expr(f"{SAME} AND {WITHIN} AND shop = 'north'"), "left")


def residual(orders, payments):
    orders, payments = marked(orders, payments)
    return orders.join(payments, F.expr(f"{SAME} AND {WITHIN} AND paid >= amount"), "left")


def enough(orders, payments, delay="3 seconds", reach="6", how="inner"):
    """A join with a condition beside equal keys and times, a filter above its watermark, and settings to change."""
    orders, payments = marked(orders, payments, delay, "2 seconds")
    condition = f"order_id = oid AND paid_at >= ordered_at AND paid_at <= ordered_at + INTERVAL {reach} SECONDS"
    return orders.where("order_no <> 3").join(payments, F.expr(f"{condition} AND paid >= amount"), how)


def residual_udf(orders, payments):
    orders, payments = marked(orders, payments)
    enough = F.udf(lambda paid, amount: paid is not None and amount is not None and paid >= amount, "boolean")
    return orders.join(payments, F.expr(f"{SAME} AND {WITHIN}") & enough("paid", "amount"))


def residual_of_both(orders, payments):
    orders, payments = marked(orders, payments)
    return orders.join(payments, F.expr(f"{SAME} AND {WITHIN} AND (paid > 30 OR amount < 50)"), "full")


def two_keys(orders, payments):
    orders, payments = marked(orders, payments)
    return orders.join(payments, F.expr(f"{SAME} AND amount = paid AND {WITHIN}"), "left")


def static_lookup(orders, payments):
    """A side that is first joined with a table that is no stream."""
    names = orders.sparkSession.createDataFrame([("a", "ada"), ("b", "bob"), ("c", "cy")], "who string, name string")
    orders, payments = marked(orders.join(names, F.expr("order_id = who"), "left"), payments)
    return orders.join(payments, F.expr(f"{SAME} AND {WITHIN}"), "left")


def exploded(orders, payments):
    orders = orders.withColumn("line", F.explode(F.array(F.lit(1), F.lit(2))))
    orders, payments = marked(orders, payments)
    return orders.join(payments, F.expr(f"{SAME} AND {WITHIN}")).where("line IS NOT NULL")


def union_of_orders(orders, payments):
    orders, payments = marked(orders.where("amount <= 50").union(orders.where("amount > 50")), payments)
    return orders.join(payments, F.expr(f"{SAME} AND {WITHIN}"))


def sql(orders, payments):
    orders, payments = marked(orders, payments)
    orders.createOrReplaceTempView("written_orders")
    payments.createOrReplaceTempView("written_payments")
    return orders.sparkSession.sql(
        f"WITH o AS (SELECT * FROM written_orders) SELECT * FROM o LEFT JOIN written_payments p ON {SAME} AND {WITHIN}"
    )


def another_time_zone_of_text(orders, payments):
    """Times that are text in the source."""
    orders = orders.withColumn("ordered_at", F.to_timestamp(F.date_format("ordered_at", "yyyy-MM-dd HH:mm:ss.SSSSSS")))
    orders, payments = marked(orders, payments)
    return orders.join(payments, F.expr(f"{SAME} AND {WITHIN}"), "left")


def several_watermarks(orders, payments):
    """Both parts of a side have a watermark of their own."""
    small = orders.where("amount <= 50").withWatermark("ordered_at", "3 seconds")
    large = orders.where("amount > 50").withWatermark("ordered_at", "9 seconds")
    return small.union(large).join(
        payments.withWatermark("paid_at", "2 seconds"), F.expr(f"{SAME} AND {WITHIN}"), "left"
    )


def deduplicated_after(orders, payments):
    orders, payments = marked(orders, payments)
    pairs = orders.join(payments, F.expr(f"{SAME} AND {WITHIN}"))
    pairs = pairs.select("order_no", "payment_no", "ordered_at")
    return pairs.dropDuplicatesWithinWatermark(["order_no", "payment_no"])


def tumbling(orders, payments):
    orders, payments = marked(orders, payments)
    left = orders.withColumn("w", F.window("ordered_at", "5 seconds")).drop("ordered_at")
    right = payments.withColumn("v", F.window("paid_at", "5 seconds")).drop("paid_at")
    return left.join(right, F.expr(f"{SAME} AND w = v"), "left")


def tumbling_in_join(orders, payments):
    orders, payments = marked(orders, payments)
    left = orders.select("order_id", "order_no", F.window("ordered_at", "5 seconds", "5 seconds", "2 seconds"))
    right = payments.select(
        F.col("oid").alias("order_id"), "payment_no", F.window("paid_at", "5 seconds", "5 seconds", "2 seconds")
    )
    return left.join(right, ["order_id", "window"])


def sliding(orders, payments):
    orders, payments = marked(orders, payments)
    left = orders.withColumn("w", F.window("ordered_at", "6 seconds", "3 seconds")).drop("ordered_at")
    right = payments.withColumn("v", F.window("paid_at", "6 seconds", "3 seconds")).drop("paid_at")
    return left.join(right, F.expr(f"{SAME} AND w = v"), "full")


def tumbling_semi(orders, payments):
    orders, payments = marked(orders, payments)
    left = orders.withColumn("w", F.window("ordered_at", "5 seconds")).drop("ordered_at")
    right = payments.withColumn("v", F.window("paid_at", "5 seconds")).drop("paid_at")
    return left.join(right, F.expr(f"{SAME} AND w = v"), "left_semi")


def sides(orders, payments):
    """Both streams under each other, as joins of sessions and coGroups are written."""
    orders, payments = marked(orders, payments)
    one = orders.select(
        F.col("order_id").alias("k"),
        F.col("ordered_at").alias("t"),
        "order_no",
        F.lit(None).cast("long").alias("payment_no"),
    )
    other = payments.select(
        F.col("oid").alias("k"), F.col("paid_at").alias("t"), F.lit(None).cast("long").alias("order_no"), "payment_no"
    )
    return one.union(other)


LISTS = ["order_no", "payment_no"]


def collected(rows, window):
    return rows.groupBy("k", window).agg(*(F.collect_list(name).alias(f"{name}s") for name in LISTS))


def session_join(orders, payments):
    groups = collected(sides(orders, payments), F.session_window("t", "3 seconds"))
    return groups.select("k", F.explode("order_nos").alias("order_no"), "payment_nos").select(
        "k", "order_no", F.explode("payment_nos").alias("payment_no")
    )


def session_cogroup(orders, payments):
    return collected(sides(orders, payments), F.session_window("t", "3 seconds"))


def tumbling_cogroup(orders, payments):
    return collected(sides(orders, payments), F.window("t", "5 seconds"))


def sliding_cogroup(orders, payments):
    return collected(sides(orders, payments), F.window("t", "6 seconds", "3 seconds"))


JOINS = [
    guide_inner, guide_outer, columns, full, semi, anti, differences, strict, reversed_sides, filtered_after,
    renamed_before, filtered_before, filtered_above_watermark, literals, residual, residual_udf, residual_of_both,
    two_keys, static_lookup, exploded, union_of_orders, sql, another_time_zone_of_text, several_watermarks,
    deduplicated_after, tumbling, tumbling_in_join, sliding, tumbling_semi, session_join,
]  # fmt: skip
GROUPS = [session_cogroup, tumbling_cogroup, sliding_cogroup]
