"""An as-of join in both ways that Spark has it: two operators with a tolerance, and a processor in Python without one.

``python tests/benchmarks/as_of.py`` runs both on the same rows, with a tolerance that leaves none out, warm, and prints a
table.
"""

from __future__ import annotations

import time

import generators
import workbench as wb

SIZES = {"small": (200, 5), "20,000 rows a side": (20_000, 5), "100,000 rows a side": (100_000, 5)}
WAYS = {"two operators": "1 day", "processor": None}


def main() -> None:
    for name, (events, batches) in SIZES.items():
        keys = max(5, events // 20)
        streams = generators.generate(
            "orders_prices", events=events, keys=keys, batches=batches, rate=events / 50, seed=1
        )
        for way, tolerance in WAYS.items():
            join = wb.AsOfJoin("backward", tolerance, "left")
            taken = []
            for _ in range(1 if events > 1_000 else 2):
                began = time.perf_counter()
                run = wb.run(join, *streams)
                taken.append(time.perf_counter() - began)
            waited = run.output["batch"].mean() - run.batches["batch"].mean()
            state = run.batches["state_rows"].max()
            print(
                f"| {name} | {way} | {min(taken):.1f} s | {state:,} rows in state at most | "
                f"out {waited:+.1f} micro-batches |{' ' + run.mismatch if run.mismatch else ''}",
                flush=True,
            )


if __name__ == "__main__":
    wb.run(wb.AsOfJoin("backward", "1 day"), *generators.generate("orders_prices", events=100, batches=3))
    main()
