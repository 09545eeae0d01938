"""Every kind of join, run on Spark, against the plain loops of the reference."""

from __future__ import annotations

import pytest
from helpers import actual, expected, stream

import workbench as wb

HOWS = ("inner", "left", "right", "full", "semi", "anti")
WINDOWS = (
    wb.Tumbling("10 seconds"),
    wb.Tumbling("10 seconds", offset="-3 seconds"),
    wb.Sliding("10 seconds", "5 seconds"),
    wb.Sliding("10 seconds", "3 seconds", offset="1 second"),
    wb.Sliding("4 seconds", "10 seconds", offset="2 seconds"),
    wb.Session("5 seconds"),
)

# boundaries on purpose: window edges (0, 10, 20), one gap (5 s) apart, bounds hit exactly, duplicates, null keys
LEFT = [
    ("a", 100, 0),
    ("a", 105, 0),
    ("a", 110, 0),
    ("b", 109.999999, 0),
    (None, 112, 1),
    ("a", 112, 1),
    ("a", 112, 1),
    ("c", 120, 3),
]
RIGHT = [
    ("a", 100, 0),
    ("a", 107, 0),
    ("b", 110, 1),
    (None, 112, 1),
    ("a", 117, 1),
    ("a", 117, 1),
    ("d", 122, 3),
    ("c", 125.000001, 3),
]


def sides():
    return stream(LEFT, "orders", "1 minute"), stream(RIGHT, "payments", "1 minute")


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("window", WINDOWS, ids=repr)
def test_window_join(spark, window, how):
    join = wb.WindowJoin(window, how=how)
    left, right = sides()
    assert actual(wb.run(join, left, right)) == expected(join, left, right)


@pytest.mark.parametrize("window", WINDOWS, ids=repr)
def test_cogroup(spark, window):
    left, right = sides()
    assert actual(wb.run(wb.CoGroup(window), left, right)) == expected(wb.CoGroup(window), left, right)


@pytest.mark.parametrize("how", HOWS)
def test_interval_join(spark, how):
    join = wb.IntervalJoin("-2 seconds", "5 seconds", how=how)
    left, right = sides()
    assert actual(wb.run(join, left, right)) == expected(join, left, right)


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        ("0 s", "0 s"),
        ("5 s", "5 s"),
        ("-5 s", "-5 s"),
        ("2 s", "7 s"),
        ("-7 s", "-2 s"),
        ("-5 s", "5 s"),
        ("-500 ms", "1500 ms"),
    ],
)
@pytest.mark.parametrize("exclusive", [(False, False), (True, False), (False, True), (True, True)], ids=str)
def test_interval_bounds(spark, lower, upper, exclusive):
    join = wb.IntervalJoin(lower, upper, lower_exclusive=exclusive[0], upper_exclusive=exclusive[1])
    left, right = sides()
    assert actual(wb.run(join, left, right)) == expected(join, left, right)
