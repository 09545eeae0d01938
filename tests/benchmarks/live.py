"""How soon a live query reacts: rows after a resume, and the end of the query after a stop."""

from __future__ import annotations

import time
from collections.abc import Callable

from _report import report

import generators
import workbench as wb


def main() -> None:
    join = wb.IntervalJoin("0 seconds", "15 seconds", how="left")
    resumed, stopped = [], []
    for seed in range(3):
        feed = generators.Feed("orders_payments", rate=10, seed=seed)
        live = wb.live(join, feed, speed=8, trigger="500 ms")
        wait_for(lambda live=live: len(live.rates) >= 3)
        live.pause()
        time.sleep(2)
        rows = live.rates["input_rows"].sum()
        resumed.append(took(live.resume, lambda live=live, rows=rows: live.rates["input_rows"].sum() > rows))
        stopped.append(took(live.stop, lambda live=live: not live.active))
    for what, seconds in (("resumed, to its first micro-batch with rows", resumed), ("stopped", stopped)):
        report(f"a live query {what}, the slowest of three", "2 s", f"{max(seconds):.1f} s", max(seconds) < 2)


def took(act: Callable[[], object], done: Callable[[], bool]) -> float:
    """Seconds from an act until what it does is there."""
    begun = time.perf_counter()
    act()
    wait_for(done)
    return time.perf_counter() - begun


def wait_for(done: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.01)


if __name__ == "__main__":
    main()
