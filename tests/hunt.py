"""Hunts for a recording on which the workbench's model and Spark differ.

``python tests/hunt.py --cases 2000 --seed 1`` prints every differing case as the code that makes it, and a last line
with the count; ``--spark 4.0 4.1`` does so on the newest PySpark of each, ``--spark all`` on that of every
version the workbench runs on. Rows in state are compared after three micro-batches, in every fourth case
after all. It ends with exit code 1 if there was one.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

import parts
import pattern_streams
import pyspark
import rule_cases
import strategies
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import workbench as wb
from workbench import spark_versions

_RULES = rule_cases.cases(delay="2 seconds").filter(lambda case: case.left and case.right)
_OTHERS = [_RULES, pattern_streams.cases] * spark_versions.here().has_processor
CASES = st.one_of(*[strategies.cases()] * 8, *_OTHERS)
"""Of all kinds; one case in five of rules and patterns, which take longest."""


def differences(case, every_state):
    """What the model and Spark say differently of a case."""
    try:
        comparison = case.run().compare(every_state=every_state)
    except wb.TooLargeError:  # more partial matches than are held
        return ()
    return comparison[comparison["differences"] > 0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--spark", nargs="*", default=[], help="minor versions of Spark, or all; else the one that is installed"
    )
    asked = parser.parse_args()
    versions = spark_versions.SUPPORTED if asked.spark == ["all"] else asked.spark
    if versions:
        words = [sys.executable, "-W", "ignore", __file__, "--cases", str(asked.cases), "--seed", str(asked.seed)]
        codes = [subprocess.run(words, env=parts.with_pyspark(each), check=False).returncode for each in versions]
        return int(any(codes))  # one that a signal killed has a code below zero
    run, bad = 0, 0
    begin = time.monotonic()

    @seed(asked.seed)
    @settings(
        max_examples=asked.cases,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(CASES)
    def hunt(case):
        nonlocal run, bad
        run += 1
        found = differences(case, every_state=run % 4 == 0)
        if len(found):
            bad += 1
            print(case, found.to_string(), sep="\n", flush=True)
        if run % 100 == 0:
            print(f"{run} cases, {bad} differ, {time.monotonic() - begin:.0f} s", flush=True)

    hunt()
    print(f"Spark {pyspark.__version__}, seed {asked.seed}: {run} cases, {bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
