"""Runs of the workbench, the same join by hand under the same settings, and with PySpark's defaults."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import by_hand
import streams
from _report import report

import workbench as wb
from workbench import session
from workbench.engine import query
from workbench.model import Simulation

ROOM = Path(tempfile.mkdtemp(dir="/dev/shm"))
BATCHES = 4  # of the large joins: PySpark's defaults take over 20 s for each micro-batch, whatever is in it
TIMES = 3


def recorded(name: str, sides: tuple[wb.Stream, wb.Stream]) -> Path:
    folder = ROOM / name
    folder.mkdir()
    query.record(Simulation(streams.JOINS["interval"], *sides), folder)
    return folder


def defaults(recording: Path, kind: str) -> float:
    command = [sys.executable, by_hand.__file__, str(recording), kind]
    output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
    return float(output)


def hand(recording: Path, kind: str, rows: int) -> float:
    return by_hand.run(session.for_query(session.spark(), "min", rows), recording, kind)


def bench(kind: str, sides: tuple[wb.Stream, wb.Stream]) -> float:
    begun = time.perf_counter()
    wb.run(streams.JOINS[kind], *sides)
    return time.perf_counter() - begun


def main() -> None:
    small = streams.small()
    for _ in range(8):
        bench("interval", small)
    ours = statistics.median(bench("interval", small) for _ in range(5))
    theirs = defaults(recorded("small", small), "interval")
    report(
        "warm run of 5 micro-batches of 200 rows a side",
        "1.0 s, 10 times as fast as PySpark's defaults",
        f"{ours:.2f} s, {theirs / ours:.0f} times ({theirs:.0f} s)",
        ours < 1.0 and theirs / ours > 10,
    )
    large = streams.large(batches=BATCHES)
    recording = recorded("large", large)
    slow = defaults(recording, "interval")
    for kind in ("interval", "tumbling"):
        bench(kind, large)
        took = [(bench(kind, large), hand(recording, kind, 1_000_000 // BATCHES)) for _ in range(TIMES)]
        mine, manual = (statistics.median(each) for each in zip(*took, strict=True))
        beside = f", {slow / mine:.1f} times PySpark's defaults ({slow:.0f} s)" if kind == "interval" else ""
        report(
            f"{kind} join of 1,000,000 rows a side, everything recorded and verified against the model",
            "0.95 of the same by hand" + (", 2 times PySpark's defaults" if beside else ""),
            f"{2_000_000 / mine:,.0f} rows/s, {manual / mine:.2f} of the same by hand{beside}",
            manual / mine >= 0.95 and (not beside or slow / mine >= 2),
        )


if __name__ == "__main__":
    try:
        main()
    finally:
        shutil.rmtree(ROOM)
