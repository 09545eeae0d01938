"""Joins that are processors in Python, beside one that is not, each on the rows of its own scenario.

``python tests/benchmarks/processors.py`` runs them warm, everything recorded and verified, and prints a table.
"""

from __future__ import annotations

import time

import generators
import workbench as wb
from workbench.kinds import kinds

KINDS = ("interval", "as_of_any_age", "rules", "pattern")
EVENTS, BATCHES = 10_000, 10


def main() -> None:
    print("| join | rows | keys | seconds | rows a second |\n|---|---|---|---|---|")
    for name in KINDS:
        kind = kinds()[name]
        join = kind.example()
        wb.run(join, *generators.generate(kind.scenario, events=100, batches=3, seed=1))
        left, right = generators.generate(kind.scenario, events=EVENTS, batches=BATCHES, rate=EVENTS / 500, seed=1)
        rows, keys = len(left) + len(right), len(left.to_pandas()[list(left.key)].drop_duplicates())
        began = time.perf_counter()
        run = wb.run(join, left, right)
        took = time.perf_counter() - began
        print(
            f"| {kind.label} | {rows:,} | {keys:,} | {took:.1f} | {rows / took:,.0f} |{run.mismatch}",
            flush=True,
        )


if __name__ == "__main__":
    main()
