"""The recorded streams of the benchmarks."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import workbench as wb

START = 1_767_225_600_000_000  # 2026-01-01 UTC, in microseconds
JOINS = {
    "interval": wb.IntervalJoin("-5 seconds", "5 seconds"),
    "tumbling": wb.WindowJoin(wb.Tumbling("10 seconds")),
    "sliding": wb.WindowJoin(wb.Sliding("10 seconds", "5 seconds")),
    "session": wb.WindowJoin(wb.Session("1 second")),
    "coGroup": wb.CoGroup(wb.Tumbling("10 seconds")),
}


def two(rows: int, batches: int, keys: int, rate: int) -> tuple[wb.Stream, wb.Stream]:
    """Two streams of so many rows a second, two seconds out of order, five seconds of watermark delay."""
    return _one("left", 1, rows, batches, keys, rate), _one("right", 2, rows, batches, keys, rate)


def _one(name: str, seed: int, rows: int, batches: int, keys: int, rate: int) -> wb.Stream:
    draw = np.random.default_rng(seed)
    moments = np.arange(rows) * 1_000_000 // rate + draw.integers(0, 2_000_000, rows)
    table = pa.table(
        {
            "key": draw.integers(0, keys, rows),
            "t": pa.array(START + moments, pa.timestamp("us", "UTC")),
            "value": draw.random(rows),
        }
    )
    arrival = np.arange(rows) * batches // rows
    return wb.Stream.from_arrow(
        table, name, key="key", time="t", watermark="5 seconds", arrival=arrival, batch_count=batches
    )


def small() -> tuple[wb.Stream, wb.Stream]:
    """Five micro-batches of 200 rows a side."""
    return two(rows=1_000, batches=5, keys=50, rate=20)


def large(rows: int = 1_000_000, batches: int = 10) -> tuple[wb.Stream, wb.Stream]:
    """A million rows a side, 100,000 keys, a thousand rows a second."""
    return two(rows=rows, batches=batches, keys=100_000, rate=1_000)
