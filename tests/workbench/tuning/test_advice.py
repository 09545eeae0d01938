"""Advice before a run: each is given where it is due, not where it is not, and its fix does what it says."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from helpers import stream

import generators
import workbench as wb

INTERVAL = wb.IntervalJoin("0 seconds", "15 seconds", how="inner")
START = 1_767_225_600


def calm(**settings):
    return generators.generate(
        "orders_payments", **{"events": 400, "rate": 5, "disorder": 0, "late": 0, "seed": 3} | settings
    )


def found(advice, words):
    (one,) = [each for each in advice if words in each.problem]
    return one


def test_nothing_is_said_of_a_join_that_is_well_set():
    assert wb.advise(INTERVAL, *calm()) == []


def test_events_before_1970():
    left = stream([("a", -5), ("a", 0), ("a", START)])
    advice = found(wb.advise(INTERVAL, left, stream([("a", START)], "right")), "1970")
    assert advice.problem.startswith("2 rows of left have an event time at or before 1970-01-01")
    assert advice.setting is None
    assert advice.apply(INTERVAL, left, left, "max") == (INTERVAL, left, left, "max")


@pytest.mark.parametrize(
    ("seconds", "share"), [((1_767_225, 1_767_226), "all"), ((1_767_225, 1_767_226, START), "most"), ((5, START), "")]
)
def test_most_times_in_1970_beside_a_row_from_another_year(seconds, share):
    """Seconds that were divided by 1,000, and one row that was not."""
    left, right = stream([("a", at) for at in seconds], "orders"), stream([("a", START), ("b", START)], "payments")
    told = [each.problem for each in wb.advise(INTERVAL, left, right) if "are in 1970" in each.problem]
    assert told == [f"{share} event times of orders are in 1970, and those of payments are not"] * bool(share)


def test_a_delay_shorter_than_the_disorder():
    left, right = calm(late=0.1, watermark="0 seconds")
    advice = found(wb.advise(INTERVAL, left, right), "rows of orders are late")
    assert "it has no watermark delay for the disorder of these rows" in advice.problem
    assert advice.setting == "left.watermark"
    changed = advice.apply(INTERVAL, left, right)
    assert changed[3] == "min"
    run = wb.preview(*changed[:3])
    assert sum(fates["fate"].eq("late").sum() for fates in run.fates.values()) <= 0.001 * len(run.rows) + 1
    left, right = calm(late=0.1, watermark="5 seconds")
    assert "its delay of 5 seconds is short" in found(wb.advise(INTERVAL, left, right), "rows of orders").problem


@pytest.mark.parametrize("policy", ["min", "max"])
def test_a_delay_that_is_advised_is_enough_under_either_policy(policy):
    left = stream([("a", START + 10 * n - (40 if n % 2 else 0)) for n in range(40)], "l")
    sides = tuple(wb.frames.sliced(left, stream([("a", START + 10 * n) for n in range(40)], "r"), 40))
    advice = found(wb.advise(INTERVAL, *sides, policy=policy), "rows of l are late")
    before = wb.preview(INTERVAL, *sides, policy=policy)
    if policy == "min":
        changed = advice.apply(INTERVAL, *sides)[1:3]
    else:  # each side's own watermark passes them
        delay = re.search(r"a watermark delay of (.*) on both streams", advice.remedy)[1]
        assert advice.setting is None
        changed = [each.with_watermark(delay) for each in sides]
    assert len(before.late) > 10
    assert len(wb.preview(INTERVAL, *changed, policy=policy).late) == 0


def test_an_idle_side():
    sides = calm(idle=("right", 0.3, 0.8), batches=20)
    advice = found(wb.advise(INTERVAL, *sides), "sends nothing")
    assert "payments sends nothing for" in advice.problem
    assert "orders goes on" in advice.problem
    assert (advice.setting, advice.value) == ("policy", "max")
    assert advice.apply(INTERVAL, *sides) == (INTERVAL, *sides, "max")
    assert not [each for each in wb.advise(INTERVAL, *sides, policy="max") if "sends nothing" in each.problem]
    slow, fast = (wb.preview(INTERVAL, *sides, policy=policy).batches["state_rows"].max() for policy in ("min", "max"))
    assert fast < slow


def test_a_side_that_begins_after_the_other_is_not_idle():
    orders = [("k", START + n, n) for n in range(4, 20)]
    prices = [("k", START + n, n) for n in range(20)]
    late = [("k", START + n, n) for n in range(12, 20)]
    for left, idle in ((orders, False), (late, True)):
        advice = wb.advise(INTERVAL, stream(left, "orders"), stream(prices, "prices"))
        assert any("orders sends nothing" in each.problem for each in advice) == idle


def test_bounds_far_wider_than_the_differences():
    sides = calm()
    wide = wb.IntervalJoin("-10 minutes", "10 minutes")
    advice = wb.advise(wide, *sides)
    upper, lower = found(advice, "the upper bound"), found(advice, "the lower bound")
    assert "keeps every left row in state for 10 min" in upper.problem
    narrow = wb.IntervalJoin(lower.value, upper.value)
    kept = [wb.preview(join, *sides).outcome for join in (wide, narrow)]
    assert kept[1].outputs.pairs() >= 0.998 * kept[0].outputs.pairs()
    assert kept[1].state_counts().max() < kept[0].state_counts().max()


@pytest.mark.parametrize(
    ("join", "words"),
    [
        (wb.IntervalJoin("5 s", "5 s", lower_exclusive=True), "is above 5 s and at or below 5 s"),
        (wb.IntervalJoin("5 s", "5 s", upper_exclusive=True), "is at or above 5 s and below 5 s"),
        (wb.IntervalJoin("0 s", "1 us", lower_exclusive=True, upper_exclusive=True), "is above 0 s and below 1 µs"),
    ],
)
def test_bounds_that_nothing_lies_between(join, words):
    assert words in found(wb.advise(join, *calm()), "no pair can match").problem
    assert wb.preview(join, *calm()).simulation.outcome.outputs.pairs() == 0


def test_bounds_between_which_one_difference_lies():
    for join in (wb.IntervalJoin("5 s", "5 s"), wb.IntervalJoin("0 s", "1 us", lower_exclusive=True)):
        assert not [each for each in wb.advise(join, *calm()) if "no pair can match" in each.problem]


def test_a_session_gap_below_the_usual_distance():
    rows = [(key, START + 10 * n) for key in "ab" for n in range(20)]
    sides = stream(rows), stream([(key, t + 5) for key, t in rows], "right")
    advice = found(wb.advise(wb.WindowJoin(wb.Session("1 second")), *sides), "session gap")
    assert "the usual distance of two events of one key, 5 s" in advice.problem
    assert (advice.setting, advice.value) == ("gap", "10 seconds")
    assert not wb.advise(wb.WindowJoin(wb.Session(advice.value)), *sides)


def test_sliding_windows_that_overlap_much():
    sliding = wb.WindowJoin(wb.Sliding("10 minutes", "10 seconds"))
    advice = found(wb.advise(sliding, *calm()), "once for each")
    assert "each row is in 60 windows" in advice.problem
    changed, *_ = advice.apply(sliding, *calm())
    assert changed.window.slide == wb.Sliding("10 minutes", "150 seconds").slide
    assert not wb.advise(changed, *calm())


def test_no_row_has_a_key():
    left, right = calm()
    frame = left.to_pandas()
    frame[left.key[0]] = frame[left.key[0]].mask(frame[left.key[0]].notna(), None)
    without = wb.Stream.from_pandas(frame, "left", left.key, left.time, batch="batch")
    advice = found(wb.advise(INTERVAL, without, right), "no row of left has a key")
    assert "is null in each" in advice.problem
    assert not [each for each in wb.advise(INTERVAL, left, right) if "has a key" in each.problem]


def test_key_skew():
    advice = found(wb.advise(INTERVAL, *calm(keys=200, skew=2.0)), "rows of orders, and as much")
    assert advice.problem.startswith("one key of 21 has 60% of the rows of orders")
    assert "salt" in advice.remedy


@pytest.mark.parametrize(
    "join", [wb.IntervalJoin("0 s", "2 hours", how="left"), wb.WindowJoin(wb.Tumbling("2 hours"), how="full")]
)
def test_nulls_that_wait_for_hours(join):
    assert "rows without partner come out 2 h" in found(wb.advise(join, *calm()), "come out").problem
    assert not [each for each in wb.advise(wb.IntervalJoin("0 s", "2 hours"), *calm()) if "come out" in each.problem]


def test_it_prints_as_a_sentence_and_checks_its_arguments():
    advice = wb.advise(INTERVAL, *calm(late=0.1, watermark="0 seconds"))[0]
    assert str(advice) == f"{advice.problem}: {advice.remedy}"
    with pytest.raises(wb.ArgumentError, match="policy: got 'avg'"):
        wb.advise(INTERVAL, *calm(), policy="avg")


def missed(join, left, right):
    sides = [
        stream([(key, START + at) for key, at in rows], name) for rows, name in ((left, "orders"), (right, "paid"))
    ]
    return [each.problem for each in wb.advise(join, *(each.with_watermark("1 day") for each in sides))]


START = 1_767_225_600


def test_times_in_another_zone_are_told():
    left = [(key, 60 * place) for place, key in enumerate("abcdef")]
    shifted = [(key, at + 8 * 3600 + 5) for key, at in left]
    join = wb.IntervalJoin("0 s", "15 s", how="left")
    (found,) = [each for each in missed(join, left, shifted) if "beside what the bounds allow" in each]
    assert found == "6 rows of orders miss the paid of their key by 8 h later, beside what the bounds allow"
    near = [(key, at + 5) for key, at in left]
    scattered = [(key, at + 8 * 3600 + 700 * place) for place, (key, at) in enumerate(left)]
    for other in (near, scattered, shifted[:2]):
        assert not [each for each in missed(join, left, other) if "beside what" in each]


def test_keys_that_are_written_in_two_ways_are_told():
    join = wb.IntervalJoin("0 s", "15 s")
    (found,) = [each for each in missed(join, [("A7", 0), ("b", 0)], [("a7 ", 5), ("b", 5)]) if "zeros before" in each]
    assert found == (
        "a key of orders differs from one of paid in case, blanks or zeros before numbers only, such as 'A7' and 'a7 '"
    )
    assert [each for each in missed(join, [("0042", 0)], [("42", 5)]) if "zeros before" in each]
    assert [each for each in missed(join, [("A0042", 0)], [("a42", 5)]) if "zeros before" in each]
    assert not [each for each in missed(join, [("A7", 0), ("b", 0)], [("A8", 5), ("b", 5)]) if "zeros before" in each]


def test_one_row_is_late():
    rows = pd.DataFrame({"k": ["a", "b", "c"], "t": pd.to_datetime([100, 200, 10], unit="s"), "batch": [0, 1, 2]})
    one, other = (
        wb.Stream.from_pandas(each, name=name, key="k", time="t", batch="batch")
        for each, name in ((rows, "orders"), (rows.head(2), "payments"))
    )
    problems = [each.problem for each in wb.advise(wb.IntervalJoin("0 s", "1 s"), one, other)]
    assert any(each.startswith("1 of 3 rows of orders is late (33.3%)") for each in problems), problems
