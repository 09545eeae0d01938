"""The worked examples of Flink's documentation on joining, in milliseconds.

https://nightlies.apache.org/flink/flink-docs-stable/docs/dev/datastream/operators/joining/

Its figures count milliseconds from 0; here they count from a later instant, because Spark drops what lies at 1970-01-01.
"""

from __future__ import annotations

from helpers import stream

import workbench as wb

BASE = 1_767_225_600_000  # milliseconds: 2026-01-01


def join(kind, orange, green):
    sides = [
        stream([("k", BASE + t) for t in each], name, unit=1000)
        for name, each in (("orange", orange), ("green", green))
    ]
    out = wb.run(kind, *sides).output
    pairs = [
        (left.value // 10**6 - BASE, right.value // 10**6 - BASE)
        for left, right in zip(out["left_t"], out["right_t"], strict=True)
    ]
    if "window_start" not in out:
        return sorted(pairs)
    return sorted((start.value // 10**6 - BASE, *pair) for start, pair in zip(out["window_start"], pairs, strict=True))


def test_tumbling(spark):
    # "in the tumbling window [6,7] nothing is emitted because no elements exist in the green stream"
    found = join(wb.WindowJoin(wb.Tumbling("2 ms")), range(8), [0, 1, 3, 4])
    assert found == [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), (2, 2, 3), (2, 3, 3), (4, 4, 4), (4, 5, 4)]


def test_sliding(spark):
    # "orange 2 is joined with green 3 in the window [2,3], but is not joined with anything in the window [1,2]"
    found = join(wb.WindowJoin(wb.Sliding("2 ms", "1 ms")), range(5), [0, 3, 4])
    assert found == [
        (-1, 0, 0),
        *[(0, 0, 0), (0, 1, 0)],
        *[(2, 2, 3), (2, 3, 3)],
        *[(3, 3, 3), (3, 3, 4), (3, 4, 3), (3, 4, 4)],
        (4, 4, 4),
    ]


def test_session(spark):
    # "In the third session there are no elements in the green stream, so 8 and 9 are not joined"
    found = join(wb.WindowJoin(wb.Session("1 ms")), [1, 2, 5, 6, 8, 9], [0, 4, 5])
    assert found == [(0, 1, 0), (0, 2, 0), (4, 5, 4), (4, 5, 5), (4, 6, 4), (4, 6, 5)]


def test_interval(spark):
    # "a lower bound of -2 milliseconds and an upper bound of +1 millisecond", both inclusive
    found = join(wb.IntervalJoin("-2 ms", "1 ms"), [0, 2, 3, 4, 5, 7], [0, 1, 6, 7])
    assert found == [(0, 0), (0, 1), (2, 0), (2, 1), (3, 1), (5, 6), (7, 6), (7, 7)]
