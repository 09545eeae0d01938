"""Cases of Flink's own operator tests, retold as recordings: what Flink's authors expect is what the preview gives.

From Flink 2's `IntervalJoinOperatorTest`, `RowTimeIntervalJoinTest` and `WindowOperatorTest`. Their watermarks are
written by hand; here a row of another key on both sides, later by the delay and a millisecond, moves the watermark there.
Not retold: triggers that purge, timers, snapshots, and what SQL keeps longer than it must (``minCleanUpInterval``), which
these jobs do not ask for.
"""

from __future__ import annotations

import pytest
from helpers import stream

import workbench as wb
from workbench.literals import SIDES

MARK = "watermark"
MS = 1000
DELAY = 100_000
"""The watermark delay in milliseconds, so that no other row moves the watermark."""


def recorded(script):
    """Two streams of a script of ``"L key time"``, ``"R key time"`` (a row) and ``"W time"`` (a watermark, of one side too)."""
    rows, batch = {"left": [], "right": []}, 0
    for word, *rest in (each.split() for each in script):
        if word in ("L", "R"):
            rows["left" if word == "L" else "right"].append((rest[0], int(rest[1]), batch))
            continue
        for side in SIDES if word == "W" else (("left",) if word == "WL" else ("right",)):
            rows[side].append((MARK, int(rest[0]) + 1 + DELAY, batch))
        batch += 1
    return [stream(rows[side], side, f"{DELAY} ms", unit=MS) for side in SIDES]


def pairs(preview):
    """The times of the rows of what comes out, without those that only move the watermark."""
    rows = preview.outcome.outputs.emitted()
    keys = {side: preview.side(side).table["key"].to_pylist() for side in SIDES}
    found = []
    for left, right in rows[["left", "right"]].to_numpy().tolist():
        if MARK in (keys["left"][left] if left >= 0 else "", keys["right"][right] if right >= 0 else ""):
            continue
        found.append(
            tuple(
                int(preview.side(side).event_times[row]) // MS if row >= 0 else None
                for side, row in zip(SIDES, (left, right), strict=True)
            )
        )
    return sorted(found, key=str)


def late(preview):
    rows = preview.late
    return sorted(
        (side, key, int(at.value) // 1_000_000) for side, key, at in rows[["side", "key", "t"]].itertuples(index=False)
    )


def fired(preview):
    """Of each group that comes out, in order: key, how many left rows, its first and its last time."""
    output = preview.output.sort_values("batch", kind="stable")
    found = []
    for key, left, start, end in output[["key", "left", "window_start", "window_end"]].itertuples(index=False):
        if key != MARK:
            found.append((key, len(left), *(int(each.value) // 1_000_000 for each in (start, end))))
    return found


ONE_SIDE_FIRST = {
    "left": [*(word for t in range(1, 5) for word in (f"L k {t}", f"WL {t}")), *(word for t in range(1, 5) for word in (f"R k {t}", f"WR {t}"))],
    "right": [*(word for t in range(1, 5) for word in (f"R k {t}", f"WR {t}")), *(word for t in range(1, 5) for word in (f"L k {t}", f"WL {t}"))],
}  # fmt: skip
"""``processElementsAndWatermarks(1, 4)``: all rows and watermarks of one side, then those of the other."""


@pytest.mark.parametrize("first", ONE_SIDE_FIRST)
@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ((-2, True, -1, True), [(2, 1), (3, 1), (3, 2), (4, 2), (4, 3)]),
        (
            (-1, True, 1, True),
            [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 2), (3, 3), (3, 4), (4, 3), (4, 4)],
        ),
        ((1, True, 2, True), [(1, 2), (1, 3), (2, 3), (2, 4), (3, 4)]),
        ((-3, False, -1, False), [(3, 1), (4, 2)]),
        ((-1, False, 1, False), [(1, 1), (2, 2), (3, 3), (4, 4)]),
        ((1, False, 3, False), [(1, 3), (2, 4)]),
    ],
    ids=str,
)
def test_interval_join_by_bounds(first, bounds, expected):
    lower, with_lower, upper, with_upper = bounds
    join = wb.IntervalJoin(f"{lower} ms", f"{upper} ms", "inner", not with_lower, not with_upper)
    preview = wb.flink.preview(join, *recorded(ONE_SIDE_FIRST[first]))
    assert pairs(preview) == expected
    assert late(preview) == []


@pytest.mark.parametrize(
    ("bounds", "left", "right"),
    [
        ((-1, True, 0, True), [[2, 3, 4, 5], [5], []], [[1, 2, 3, 4, 5], [4, 5], []]),
        ((-2, False, 1, False), [[2, 3, 4, 5], [5], []], [[1, 2, 3, 4, 5], [4, 5], []]),
        ((0, True, 1, True), [[1, 2, 3, 4, 5], [4, 5], []], [[2, 3, 4, 5], [5], []]),
        ((-1, False, 2, False), [[1, 2, 3, 4, 5], [4, 5], []], [[2, 3, 4, 5], [5], []]),
    ],
    ids=str,
)
def test_interval_join_cleans_its_state(bounds, left, right):
    lower, with_lower, upper, with_upper = bounds
    join = wb.IntervalJoin(f"{lower} ms", f"{upper} ms", "inner", not with_lower, not with_upper)
    rows = [f"{side} k {t}" for side in "LR" for t in range(1, 6)]
    preview = wb.flink.preview(join, *recorded([*rows, "W 1", "W 4", "W 6"]))
    for batch in range(3):
        held = preview.state(batch)
        held = held[held["key"] != MARK]
        found = [sorted(int(each.value) // 1_000_000 for each in held.loc[held["side"] == side, "t"]) for side in SIDES]
        assert found == [left[batch], right[batch]], batch


def test_interval_join_discards_late_rows():
    script = ["L k 1", "R k 1", "L k 2", "R k 2", "L k 3", "R k 3", "W 3", "L k 1", "L k 4", "R k 4", "L k 5", "R k 5"]
    preview = wb.flink.preview(wb.IntervalJoin("-1 ms", "1 ms"), *recorded([*script, "W 5"]))
    assert pairs(preview) == [
        (1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 2), (3, 3), (3, 4), (4, 3), (4, 4), (4, 5), (5, 4), (5, 5),
    ]  # fmt: skip
    assert late(preview) == [("left", "k", 1)]


def test_interval_join_gives_late_rows_to_the_side_output():
    script = ["L k 3", "R k 3", "W 3", "L k 4", "R k 4", "L k 1", "R k 2", "L k 5", "R k 5", "W 5"]
    preview = wb.flink.preview(wb.IntervalJoin("-1 ms", "1 ms"), *recorded(script))
    assert pairs(preview) == [(3, 3), (3, 4), (4, 3), (4, 4), (4, 5), (5, 4), (5, 5)]
    assert late(preview) == [("left", "k", 1), ("right", "k", 2)]


OUTER = [
    "L k1 1", "R k2 1", "W 14", "W 18", "L k1 2", "R k2 2", "L k1 19", "L k1 20", "R k1 26", "R k1 25", "L k1 21",
    "R k2 39", "R k2 40", "L k2 50", "L k2 49", "R k2 41", "W 100",
]  # fmt: skip


@pytest.mark.parametrize("how", ["left", "right", "full"])
def test_outer_interval_join_of_sql(how):
    """``a.rowtime >= b.rowtime - 5 and a.rowtime <= b.rowtime + 9``"""
    preview = wb.flink.preview(wb.IntervalJoin("-9 ms", "5 ms", how=how), *recorded(OUTER))
    expected = [(20, 25), (21, 25), (21, 26), (49, 40), (49, 41), (50, 41)]
    expected += [(1, None), (2, None), (19, None)] if how != "right" else []
    expected += [(None, 1), (None, 2), (None, 39)] if how != "left" else []
    assert pairs(preview) == sorted(expected, key=str)


def grouped(window, script, lateness="0 s"):
    return wb.flink.preview(wb.CoGroup(window), *recorded(script), allowed_lateness=lateness)


def test_window_with_lateness():
    """As `testLateness`; there the trigger purges, so that its second firing has the late row alone."""
    script = ["L key2 500", "W 1500", "L key2 1300", "W 2300", "L key2 1997", "W 6000", "L key2 1998", "W 7000"]
    preview = grouped(wb.Tumbling("2 s"), script, "500 ms")
    assert fired(preview) == [("key2", 2, 0, 2000), ("key2", 3, 0, 2000)]
    assert late(preview) == [("left", "key2", 1998)]


def test_tumbling_window_gives_late_rows_to_the_side_output():
    script = ["L key2 1000", "W 1985", "L key2 1980", "W 1999", "L key2 1998", "L key2 2001", "W 2999", "W 3999"]
    preview = grouped(wb.Tumbling("2 s"), script)
    assert fired(preview) == [("key2", 2, 0, 2000), ("key2", 1, 2000, 4000)]
    assert late(preview) == [("left", "key2", 1998)]


def test_sliding_window_gives_late_rows_to_the_side_output():
    script = [
        "L key2 1000", "W 1999", "L key2 2000", "W 3000", "L key1 3001", "L key2 2400", "L key2 2400", "L key1 3001",
        "L key2 3900", "W 6000", "L key1 3001", "W 25000",
    ]  # fmt: skip
    preview = grouped(wb.Sliding("3 s", "1 s"), script)
    assert fired(preview)[:2] == [("key2", 1, -1000, 2000), ("key2", 2, 0, 3000)]
    assert sorted(fired(preview)[2:]) == [
        ("key1", 2, 1000, 4000), ("key1", 2, 2000, 5000), ("key1", 2, 3000, 6000),
        ("key2", 1, 3000, 6000), ("key2", 4, 2000, 5000), ("key2", 5, 1000, 4000),
    ]  # fmt: skip
    assert late(preview) == [("left", "key1", 3001)]


SESSION = [
    "L key2 1000", "W 1999", "L key2 2000", "W 4998", "L key2 4500", "L key2 8500", "W 7400", "L key2 7000", "W 11501",
    "L key2 11600", "W 14600",
]  # fmt: skip
"""A session that is extended, a second one, and a row that merges both; then a new session, which has ended."""


@pytest.mark.parametrize(
    ("lateness", "expected", "dropped"),
    [
        ("0 ms", [("key2", 1, 14500, 17500)], [("left", "key2", 10000), ("left", "key2", 10100)]),
        ("10 ms", [("key2", 2, 10000, 14600), ("key2", 3, 10000, 17500)], []),
        ("10 s", [("key2", 7, 1000, 14600), ("key2", 8, 1000, 17500)], []),
    ],
)
def test_sessions_with_lateness(lateness, expected, dropped):
    again = ["L key2 10000"] + ["L key2 10100"] * (lateness == "0 ms") + ["L key2 14500", "W 20000", "W 100000"]
    preview = grouped(wb.Session("3 s"), [*SESSION, *again], lateness)
    assert fired(preview) == [("key2", 5, 1000, 11500), ("key2", 1, 11600, 14600), *expected]
    assert late(preview) == dropped
