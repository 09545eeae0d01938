"""How long a test of three micro-batches takes with `workbench.testing`, from the second on: ``python tests/benchmarks/played_test.py``."""

import time

from pyspark.sql import functions as F

import workbench as wb
from workbench.testing import micro_batches, play


def unpaid_orders(orders, payments):
    o, p = orders.withWatermark("at", "10 seconds").alias("o"), payments.withWatermark("at", "10 seconds").alias("p")
    within = F.expr("o.id = p.id AND p.at BETWEEN o.at AND o.at + INTERVAL 15 SECONDS")
    return o.join(p, within, "left").select("o.id", F.col("p.at").alias("paid_at"))


def once():
    """The example of the documentation: played, opened, asked."""
    job = play(
        unpaid_orders,
        orders=micro_batches("id string, at timestamp", [("o-1", "10:00:00")], [], [("o-2", "10:05:00")]),
        payments=micro_batches("id string, at timestamp", [], [("o-1", "10:00:20")], [("o-2", "10:05:03")]),
    )
    played = time.perf_counter()
    assert job.fate(orders="o-1") == "unmatched"
    job.expect(unmatched=1, late=0)
    return played


if __name__ == "__main__":
    wb.spark()
    times = []
    for _ in range(9):
        start = time.perf_counter()
        played = once()
        times.append((time.perf_counter() - start, played - start))
    times = sorted(times[2:])
    print(
        f"a test of three micro-batches: {times[len(times) // 2][0]:.2f} s, of which the query {times[len(times) // 2][1]:.2f} s (median of 7, warm)"
    )
