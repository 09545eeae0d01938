"""Large runs of the workbench and of Flink's DataStream API, on the same files and cores; the first one in a session."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import streams
from _report import report

import workbench as wb
from workbench import session
from workbench.engine import query
from workbench.model import Simulation

sys.path.insert(0, str(Path(__file__).parents[1]))
import parts

ROOM = Path(tempfile.mkdtemp(dir="/dev/shm"))
TIMES = 1 if "--quick" in sys.argv else 3
KINDS = ("interval", "tumbling")


def compiled() -> str:
    """A class path with the jobs; Spark's jars have what reads Parquet."""
    import pyspark

    flink = parts.flink_jars(parts.pyflink())
    jars = f"{flink}/*:{Path(pyspark.__file__).parent / 'jars'}/*"
    source = Path(__file__).with_name("FlinkJoins.java")
    subprocess.run(["javac", "-nowarn", "-cp", jars, "-d", ROOM / "classes", source], check=True, capture_output=True)
    return f"{ROOM / 'classes'}:{jars}"


def flink(classes: str, kind: str) -> float:
    """Seconds of a run, after one that warms it up."""
    words = ["java", "-Xmx4g", "-cp", classes, "FlinkJoins", ROOM / "recording", kind, ROOM / kind, str(TIMES + 1)]
    output = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
    return statistics.median(float(each) for each in output.split()[1:])


def bench(kind: str, sides: tuple[wb.Stream, wb.Stream]) -> float:
    begun = time.perf_counter()
    run = wb.run(streams.JOINS[kind], *sides)
    _ = run.output
    took = time.perf_counter() - begun
    assert run.mismatches.empty
    return took


def main() -> None:
    classes, sides = compiled(), streams.large()
    (ROOM / "recording").mkdir()
    query.record(Simulation(streams.JOINS["interval"], *sides), ROOM / "recording")
    bench("interval", streams.small())
    first = bench("interval", sides)
    rates, ratios = [], []
    for kind in KINDS:
        bench(kind, sides)
        theirs, ours = flink(classes, kind), statistics.median(bench(kind, sides) for _ in range(TIMES))
        if kind == "interval":
            words = f"{first:.1f} s, {first / ours:.2f} times"
            report(
                "the first run of 1,000,000 rows a side in a session",
                "1.25 times a warm one",
                words,
                first / ours <= 1.25,
            )
        rates.append(f"{kind} {ours:.1f} s, Flink {theirs:.1f} s: {ours / theirs:.2f}")
        ratios.append(ours / theirs)
    report(
        "runs of 1,000,000 rows a side, recorded, verified and read, against Flink on the same files",
        "as fast: 1.0",
        "; ".join(rates),
        max(ratios) <= 1.0,
    )
    session.spark().stop()


if __name__ == "__main__":
    try:
        main()
    finally:
        shutil.rmtree(ROOM)
