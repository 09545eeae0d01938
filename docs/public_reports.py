"""What people asked about in public, as jobs that Spark runs: the join as they wrote it, and rows that show it."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from workbench.jobs import Job
from workbench.testing import micro_batches, play

__all__ = [
    "deduplicated_first",
    "large_orders",
    "one_payment_an_order",
    "padded_at_once",
    "paid_within_15_seconds",
    "whole_seconds",
]


def large_orders(orders: DataFrame, payments: DataFrame) -> DataFrame:
    """Each order, and its payment if it is a large one."""
    orders = orders.withWatermark("at", "10 seconds").alias("orders")
    payments = payments.withWatermark("at", "10 seconds").alias("payments")
    within = F.expr(
        "orders.id = payments.id AND payments.at BETWEEN orders.at AND orders.at + INTERVAL 15 SECONDS "
        "AND orders.amount > 50"
    )
    return orders.join(payments, within, "left").select(
        "orders.id", "orders.at", "orders.amount", F.col("payments.at").alias("paid")
    )


def padded_at_once() -> Job:
    """A left join whose condition asks something of the left row alone."""
    return play(
        large_orders,
        orders=micro_batches(
            "id string, at timestamp, amount int",
            [("o-1", "10:00:00", 10), ("o-2", "10:00:01", 80)],
            [("o-3", "10:00:20", 60)],
            [("o-4", "10:10:00", 90)],
        ),
        payments=micro_batches(
            "id string, at timestamp",
            [("o-1", "10:00:03")],
            [("o-2", "10:00:12"), ("o-3", "10:00:24")],
            [("o-4", "10:10:02")],
        ),
    )


def paid_within_15_seconds(orders: DataFrame, payments: DataFrame) -> DataFrame:
    """Each order, and its payment within 15 seconds, counted in whole seconds."""
    orders = orders.withWatermark("at", "10 seconds").alias("orders")
    payments = payments.withWatermark("at", "10 seconds").alias("payments")
    within = F.expr("orders.id = payments.id AND CAST(payments.at AS LONG) - CAST(orders.at AS LONG) BETWEEN 0 AND 15")
    return orders.join(payments, within, "left").select("orders.id", "orders.at", F.col("payments.at").alias("paid"))


def whole_seconds() -> Job:
    """A pair that is 15.9 seconds apart, of which the order has left the state."""
    return play(
        paid_within_15_seconds,
        orders=micro_batches(
            "id string, at timestamp",
            [("o-1", "10:00:00")],
            [("o-2", "10:00:25.5")],
            [("o-3", "10:00:26")],
            [("o-4", "10:00:27")],
            [("o-5", "10:10:00")],
        ),
        payments=micro_batches(
            "id string, at timestamp",
            [],
            [("o-2", "10:00:25.5")],
            [("o-3", "10:00:26")],
            [("o-1", "10:00:15.9")],
            [("o-5", "10:10:00")],
        ),
    )


def one_payment_an_order(orders: DataFrame, payments: DataFrame) -> DataFrame:
    """Each order, and its payment, of payments of which each order has one."""
    orders = orders.withWatermark("at", "10 seconds").alias("orders")
    payments = payments.dropDuplicates(["id"]).withWatermark("at", "10 seconds").alias("payments")
    within = F.expr("orders.id = payments.id AND payments.at BETWEEN orders.at AND orders.at + INTERVAL 15 SECONDS")
    return orders.join(payments, within, "left").select("orders.id", "orders.at", F.col("payments.at").alias("paid"))


def deduplicated_first() -> Job:
    """An id that is used again ten minutes later."""
    return play(
        one_payment_an_order,
        orders=micro_batches(
            "id string, at timestamp",
            [("o-1", "10:00:00")],
            [("o-2", "10:10:00")],
            [("o-1", "10:11:40")],
            [("o-3", "10:20:00")],
        ),
        payments=micro_batches(
            "id string, at timestamp",
            [("o-1", "10:00:05")],
            [("o-2", "10:10:04")],
            [("o-1", "10:11:45")],
            [("o-3", "10:20:03")],
        ),
    )
