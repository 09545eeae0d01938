"""Time and memory of runs of 10,000 to 5,000,000 rows a side, in micro-batches of 100,000 rows at most."""

from __future__ import annotations

import threading
import time

import psutil
import streams
from _report import report

import workbench as wb

ROWS = (10_000, 100_000, 1_000_000, 5_000_000)


class Peak(threading.Thread):
    """The most memory that a process held, in GB."""

    def __init__(self, process: psutil.Process) -> None:
        super().__init__(daemon=True)
        self.process, self.gigabytes, self.done = process, 0.0, threading.Event()

    def run(self) -> None:
        while not self.done.wait(0.2):
            self.gigabytes = max(self.gigabytes, self.process.memory_info().rss / 2**30)


def main() -> None:
    wb.run(streams.JOINS["interval"], *streams.small())
    me = psutil.Process()
    (java,) = (each for each in me.children(recursive=True) if each.name() == "java")
    peaks = [Peak(each) for each in (me, java)]
    for each in peaks:
        each.start()
    found = {}
    for rows in ROWS:
        sides = streams.large(rows, max(1, rows // 100_000))
        begun = time.perf_counter()
        run = wb.run(streams.JOINS["interval"], *sides)
        found[rows] = time.perf_counter() - begun
        assert not len(run.mismatches)
        del run, sides
    for each in peaks:
        each.done.set()
    words = ", ".join(f"{rows:,}: {took:.1f} s" for rows, took in found.items())
    ratio = (found[5_000_000] / 5) / found[1_000_000]
    report(
        "growth: an interval join run on Spark, rows a side",
        "linear: a row of 5,000,000 costs at most 1.2 times one of 1,000,000",
        f"{words}; {ratio:.2f} times",
        ratio < 1.2,
    )
    python, java = (each.gigabytes for each in peaks)
    words = f"Python {python:.2f} GB, Java {java:.1f} GB"
    target = "on a machine of 8 GB: Python below 1.5 GB, both below 6 GB"
    report("growth: memory at 5,000,000 rows a side", target, words, python < 1.5 and python + java < 6)


if __name__ == "__main__":
    main()
