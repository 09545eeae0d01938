"""What each setting of `workbench.session` brings: ``python tests/benchmarks settings``, some twenty minutes.

Each variant runs in a process of its own, small and large joins, between two runs of the settings as they are; what is
reported is its time as a share of theirs.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time

import streams
from _report import report

import workbench as wb
from workbench import session

ROWS, BATCHES, TIMES = 300_000, 6, 3
STATE, JAVA = "spark.sql.streaming.stateStore", "spark.driver.extraJavaOptions"
ROCKS = {f"{STATE}.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"}
FORMAT = "spark.sql.streaming.join.stateFormatVersion"
PARTITIONS = "spark.sql.shuffle.partitions"
GIVEN = session.SETTINGS[JAVA]
VARIANTS: dict[str, dict[str, str]] = {
    "state store: RocksDB": ROCKS,
    "state store: RocksDB, join state format 3": ROCKS | {FORMAT: "3"},
    "state store: RocksDB, join state format 4": ROCKS | {FORMAT: "4"},
    "state compressed by zstd": {f"{STATE}.compression.codec": "zstd"},
    "partitions: 1": {PARTITIONS: "1"},
    "partitions: 4": {PARTITIONS: "4"},
    "partitions: 20": {PARTITIONS: "20"},
    "micro-batches: twice as many, half as large": {"batches": str(2 * BATCHES)},
    "micro-batches: half as many, twice as large": {"batches": str(BATCHES // 2)},
    "G1": {JAVA: GIVEN.replace("Parallel", "G1")},
    "serial garbage collection": {JAVA: GIVEN.replace("Parallel", "Serial")},
    "Java's first compiler only": {JAVA: f"{GIVEN} -XX:TieredStopAtLevel=1"},
    "Java's second compiler as soon as it would": {JAVA: GIVEN.split()[0]},
    "Parquet not compressed": {"spark.sql.parquet.compression.codec": "uncompressed"},
    "shuffle not compressed": {"spark.shuffle.compress": "false"},
    "whole-stage code generation": {"spark.sql.codegen.wholeStage": "true"},
    "Hadoop's own local file system": {"hadoop": "its own"},
    "checkpoint files as Spark writes them": {
        "spark.sql.streaming.checkpointFileManagerClass": (
            "org.apache.spark.sql.execution.streaming.checkpointing.FileContextBasedCheckpointFileManager"
        )
    },
}


def measure(changes: dict[str, str]) -> tuple[float, float]:
    """Seconds of a small and of a large run under changed settings, in this process."""
    batches = int(changes.pop("batches", BATCHES))
    if changes.pop("hadoop", None):
        session.hadoop.use_local_files = session.hadoop.trim = lambda *_: None  # type: ignore[assignment]
    for name, value in changes.items():
        (session.SETTINGS if name in session.SETTINGS else session.QUERY_SETTINGS)[name] = value
    if PARTITIONS in changes:
        session.MANY_ROWS = 10**9
    small, large = streams.small(), streams.large(ROWS, batches)
    for _ in range(6):
        run(small)
    return typical(small), typical(large)


def typical(sides: tuple[wb.Stream, wb.Stream]) -> float:
    run(sides)
    return statistics.median(run(sides) for _ in range(TIMES))


def run(sides: tuple[wb.Stream, wb.Stream]) -> float:
    begun = time.perf_counter()
    wb.run(streams.JOINS["interval"], *sides)
    return time.perf_counter() - begun


def apart(changes: dict[str, str]) -> tuple[float, float]:
    command = [sys.executable, __file__, json.dumps(changes)]
    output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
    small, large = output.split()[-2:]
    return float(small), float(large)


def main() -> None:
    before = apart({})
    for name, changes in VARIANTS.items():
        found, after = apart(changes), apart({})
        small, large = (2 * f / (b + a) for f, b, a in zip(found, before, after, strict=True))
        report(name, "", f"small {small:.2f}, large {large:.2f} of the time", reached=True)
        before = after


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(*measure(json.loads(sys.argv[1])))
    else:
        main()
