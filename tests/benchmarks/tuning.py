"""How long it takes to try settings, in the model and on Spark: ``python tests/benchmarks/tuning.py``."""

from __future__ import annotations

import resource
import time

import generators
import workbench as wb

DELAYS = [f"{seconds} seconds" for seconds in range(0, 42, 3)]
JOINS = {
    "interval": wb.IntervalJoin("0 seconds", "15 seconds", how="left"),
    "tumbling": wb.WindowJoin(wb.Tumbling("10 seconds"), how="left"),
    "sliding": wb.WindowJoin(wb.Sliding("10 seconds", "5 seconds")),
    "session": wb.WindowJoin(wb.Session("5 seconds")),
    "coGroup": wb.CoGroup(wb.Tumbling("10 seconds")),
}


def main() -> None:
    sides = generators.generate("orders_payments", events=100_000, rate=100, late=0.05, batches=20, seed=3)
    join = JOINS["interval"]
    wb.run(join, *sides)
    begun = time.perf_counter()
    wb.run(join, *sides)
    once = time.perf_counter() - begun
    print(f"one run on Spark, warm session, interval join, 100,000 rows a side: {once:.1f} s")
    over = {"left.watermark": DELAYS, "right.watermark": DELAYS}
    for name, each in JOINS.items():
        begun = time.perf_counter()
        tuning = wb.tune(each, *sides, over=over)
        took = time.perf_counter() - begun
        sampled = "all rows" if tuning.sampled == 1 else f"{tuning.sampled:.0%} of the rows"
        ratio = f"{once * len(tuning.table) / took:,.0f} times as fast as running each" if name == "interval" else ""
        print(f"{name:10}{len(tuning.table)} settings in {took:.1f} s ({sampled}) {ratio}", flush=True)
    print(f"at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GB in Python")


if __name__ == "__main__":
    main()
