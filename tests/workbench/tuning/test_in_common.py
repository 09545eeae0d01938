"""What rows that miss their partners have in common is told before a delay or a bound is."""

from __future__ import annotations

import pandas as pd
import pytest

import generators
import workbench as wb

START = pd.Timestamp("2026-03-01 10:00")
JOIN = wb.IntervalJoin("0 s", "10 s")


def made(name, rows):
    frame = pd.DataFrame(rows, columns=["k", "at", "device", "n", "batch"])
    return wb.Stream.from_pandas(frame, name, "k", "at", "2 s", batch="batch")


def rows(late_of, device_of=lambda n: f"d{n % 4}"):
    """A hundred rows a second apart, ten a micro-batch; those that are late are half a minute old."""
    return [
        (f"k{n}", START + pd.Timedelta(seconds=n - (30 if late_of(n) else 0)), device_of(n), n, n // 10)
        for n in range(100)
    ]


def told(*streams, words):
    return [each for each in wb.advise(JOIN, *streams) if words in each.problem]


def test_late_rows_of_one_source_name_it():
    right = made("payments", rows(lambda n: False))
    [found] = told(made("orders", rows(lambda n: n > 40 and n % 4 == 2)), right, words="late rows of orders have")
    assert found.problem == "15 of the 15 late rows of orders have device 'd2', and 25% of all its rows"
    assert "clock of that source" in found.remedy
    assert found.setting is None


@pytest.mark.parametrize(
    ("late_of", "device_of"),
    [
        (lambda n: n > 40 and n % 3 == 2, lambda n: f"d{n % 4}"),  # of all devices
        (lambda n: n in (50, 54, 58), lambda n: f"d{n % 4}"),  # too few
        (lambda n: n > 40 and n % 4 == 2, lambda n: "d"),  # there is one device
        (lambda n: n > 40 and n % 4 == 2, lambda n: f"d{n}"),  # each row has one of its own
    ],
)
def test_where_no_source_is_to_blame_none_is_named(late_of, device_of):
    sides = made("orders", rows(late_of, device_of)), made("payments", rows(lambda n: False))
    assert not told(*sides, words="late rows of orders have")


def test_rows_that_come_again_are_counted():
    once = rows(lambda n: False)
    again = made("orders", once + once[20:24])
    right = made("payments", once)
    [found] = told(again, right, words="are the same as another")
    assert found.problem.startswith("4 of 104 rows of orders are the same as another in every column")
    assert "dropDuplicatesWithinWatermark" in found.remedy
    assert not told(right, made("other", once), words="are the same as another")


def test_rows_of_key_and_time_alone_are_not_told_apart():
    frame = pd.DataFrame({"k": ["a"] * 50, "at": [START] * 50})
    sides = [wb.Stream.from_pandas(frame, name, "k", "at", "2 s") for name in ("orders", "payments")]
    assert not told(*sides, words="are the same as another")


@pytest.mark.parametrize("scenario", ["orders_payments", "impressions_clicks"])
def test_generated_streams_are_no_one_s_fault(scenario):
    sides = generators.generate(scenario, events=400, late=0.1, seed=3)
    advice = wb.advise(JOIN, *sides)
    assert not [
        each for each in advice if "rows of" in each.problem and "have " in each.problem and "late rows" in each.problem
    ]
    assert not [each for each in advice if "are the same as another" in each.problem]


def test_rows_of_a_self_join_meet_themselves():
    once = rows(lambda n: False)
    [found] = told(made("a", once), made("b", once), words="joined with itself")
    assert found.problem.startswith("100 of 100 matched rows of a meet a row of b that is the same in every column")
    assert found.setting is None
    assert found.remedy.endswith(
        "by a column that tells rows of a key apart: a.n <> b.n"
    )  # never the key, which is equal
    twice = [(k, at, "d", 1, batch) for k, at, _, _, batch in once for _ in range(2)]
    [found] = told(made("a", twice), made("b", twice), words="joined with itself")
    assert found.remedy.startswith("rows of a key differ in no column")
    other = [(k, at, device, n + 1, batch) for k, at, device, n, batch in once]
    assert not told(made("a", once), made("b", other), words="joined with itself")
    assert told(
        made("a", [(k, at, None, n, b) for k, at, _, n, b in once]),
        made("b", [(k, at, None, n, b) for k, at, _, n, b in once]),
        words="joined with itself",
    )
