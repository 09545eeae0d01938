"""Code of a shop's streams, as its users would have it: what the tests here test."""

from pyspark.sql import functions as F

ORDERS, PAYMENTS = "id string, at timestamp", "id string, at timestamp, amount int"


def unpaid_orders(orders, payments):
    """Orders with their payment within 15 seconds, or without one."""
    o = orders.withWatermark("at", "10 seconds").alias("o")
    p = payments.withWatermark("at", "10 seconds").alias("p")
    near = F.expr("o.id = p.id AND p.at BETWEEN o.at AND o.at + INTERVAL 15 SECONDS")
    return o.join(p, near, "left").select("o.id", F.col("o.at").alias("ordered"), F.col("p.at").alias("paid"))


def paid_orders(orders, payments):
    """The same, without orders that were not paid."""
    o, p = orders.withWatermark("at", "10 seconds").alias("o"), payments.withWatermark("at", "10 seconds").alias("p")
    return o.join(p, F.expr("o.id = p.id AND p.at BETWEEN o.at AND o.at + INTERVAL 15 SECONDS"))


def paid_within(orders, payments, seconds):
    o, p = orders.withWatermark("at", "10 seconds").alias("o"), payments.withWatermark("at", "10 seconds").alias("p")
    return o.join(p, F.expr(f"o.id = p.id AND p.at BETWEEN o.at AND o.at + INTERVAL {seconds} SECONDS"))


def per_minute(orders):
    return orders.withWatermark("at", "0 seconds").groupBy(F.window("at", "1 minute")).count()


def paid_per_minute(orders, payments):
    """An aggregation above a join."""
    paid = paid_orders(orders, payments).select(F.col("o.at").alias("ordered"), "amount")
    return paid.groupBy(F.window("ordered", "1 minute")).agg(F.sum("amount").alias("amount"))


def again(orders):
    """Orders of one customer within a minute: a stream joined with itself."""
    first = orders.withWatermark("at", "10 seconds").alias("a")
    second = orders.withWatermark("at", "10 seconds").alias("b")
    return first.join(second, F.expr("a.id = b.id AND b.at > a.at AND b.at < a.at + INTERVAL 1 MINUTE"))


def shipped(orders, payments, shipments):
    """A chain of two joins."""
    paid = unpaid_orders(orders, payments).where("paid IS NOT NULL").drop("paid")
    s = shipments.withWatermark("at", "10 seconds").alias("s")
    return paid.alias("j").join(s, F.expr("j.id = s.id AND s.at BETWEEN j.ordered AND j.ordered + INTERVAL 1 HOUR"))


def averages(orders, payments):
    """Aggregations by windows, joined by these."""

    def of(rows, name):
        window = F.window("at", "15 seconds").alias(f"{name}_window")
        return rows.withWatermark("at", "20 seconds").groupBy(window, F.col("id").alias(f"{name}_id")).count()

    return of(orders, "o").join(of(payments, "p"), F.expr("o_id = p_id AND o_window = p_window"), "full_outer")


def in_windows(orders, payments):
    """Rows joined by the windows that they are in, their times not selected."""
    o = orders.withWatermark("at", "10 seconds").select("id", F.window("at", "30 seconds").alias("w"))
    p = payments.withWatermark("at", "10 seconds").select("id", F.window("at", "30 seconds").alias("w"), "amount")
    return o.join(p, ["id", "w"])


def by_key_alone(orders, payments):
    """No bound: rows stay in state."""
    return orders.withWatermark("at", "10 seconds").join(payments, "id")
