"""One join in many spellings: for descriptions from a plan, and from what ``explain`` prints of it."""

from pyspark.sql import functions as F

BOUNDS = [
    "paid_at BETWEEN ordered_at - INTERVAL 2 SECONDS AND ordered_at + INTERVAL 5 SECONDS",
    "paid_at >= ordered_at - INTERVAL '2' SECOND AND paid_at <= ordered_at + INTERVAL '5' SECOND",
    "ordered_at <= paid_at + INTERVAL 2 SECONDS AND ordered_at >= paid_at - INTERVAL 5 SECONDS",
    "ordered_at BETWEEN paid_at - INTERVAL 5 SECONDS AND paid_at + INTERVAL 2 SECONDS",
    "paid_at - ordered_at BETWEEN INTERVAL '-2' SECOND AND INTERVAL '5' SECOND",
    "ordered_at - paid_at <= INTERVAL '2' SECOND AND INTERVAL '5' SECOND >= paid_at - ordered_at",
    "NOT (paid_at < ordered_at - INTERVAL 2 SECONDS) AND NOT paid_at > ordered_at + INTERVAL 5 SECONDS",
    "paid_at + INTERVAL 2 SECONDS >= ordered_at AND paid_at - INTERVAL 5 SECONDS <= ordered_at",
    "paid_at >= ordered_at - INTERVAL '00:02' MINUTE TO SECOND AND ordered_at >= paid_at - INTERVAL 5000 MILLISECONDS",
    "unix_micros(paid_at) - unix_micros(ordered_at) BETWEEN -2000000 AND 5000000",
    "paid_at >= ordered_at - make_dt_interval(0, 0, 0, 2) AND paid_at <= ordered_at + make_interval(0, 0, 0, 0, 0, 0, 5)",
    "paid_at <= timestampadd(SECOND, 5, ordered_at) AND ordered_at <= dateadd(MILLISECOND, 2000, paid_at)",
    "paid_at <= ordered_at + 5 * INTERVAL 1 SECOND AND paid_at >= ordered_at - (INTERVAL 1 SECOND + INTERVAL 1 SECOND)",
    "paid_at <= ordered_at + INTERVAL 1 HOUR AND paid_at BETWEEN ordered_at - INTERVAL 2 SECONDS AND ordered_at + INTERVAL 5 SECONDS",
]
"""Conditions that say, each in its way, that a payment comes from 2 seconds before to 5 seconds after its order."""


def built(orders, payments):
    """The same join in many ways to build a DataFrame: its name, and what it gives."""
    within = F.expr("paid_at BETWEEN ordered_at - INTERVAL 2 SECONDS AND ordered_at + INTERVAL 5 SECONDS")
    same = orders.order_id == payments.oid
    yield "columns", orders.join(payments, same & within)
    yield "a list of conditions", orders.join(payments, [same, within])
    yield "the other way round", orders.join(payments, within & (payments.oid == orders.order_id))
    yield "a filter after it", orders.join(payments, same).where(within)
    yield (
        "aliases",
        orders.alias("o").join(
            payments.alias("p"),
            F.expr("o.order_id = p.oid AND p.paid_at >= o.ordered_at - INTERVAL 2 SECONDS")
            & (F.col("p.paid_at") <= F.col("o.ordered_at") + F.expr("INTERVAL 5 SECONDS")),
        ),
    )
    renamed = payments.withColumnRenamed("oid", "order_id").select("order_id", F.col("paid_at").alias("at"), "paid")
    yield (
        "a column of both",
        orders.join(renamed, "order_id").where(
            "at BETWEEN ordered_at - INTERVAL 2 SECONDS AND ordered_at + INTERVAL 5 SECONDS"
        ),
    )
    more = orders.where("amount > 3").withColumn("vat", F.col("amount") * 0.2).withColumn("shop", F.lit("north"))
    yield "filters and literals between", more.join(payments, same & within)
    late = payments.select(F.col("oid").alias("k"), F.col("paid_at").alias("t1")).select("k", F.col("t1").alias("t2"))
    yield (
        "renamed twice",
        orders.join(
            late,
            F.expr("k = order_id AND t2 BETWEEN ordered_at - INTERVAL 2 SECONDS AND ordered_at + INTERVAL 5 SECONDS"),
        ),
    )
    session = orders.sparkSession
    orders.createOrReplaceTempView("described_orders")
    payments.createOrReplaceTempView("described_payments")
    yield (
        "SQL",
        session.sql(
            "SELECT o.*, p.paid FROM described_orders o JOIN described_payments AS p ON o.order_id = p.oid AND "
            "p.paid_at BETWEEN o.ordered_at - INTERVAL 2 SECONDS AND o.ordered_at + INTERVAL 5 SECONDS"
        ),
    )
