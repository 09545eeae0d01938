"""Orders of many whole numbers, held against NumPy's own and against plain loops."""

from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import workbench as wb
from workbench.model import matches
from workbench.model.ordering import along_keys, among, equal, numbered, order

FAR = st.integers(-(2**62), 2**62 - 1)
NEAR = st.integers(-20, 20)
ROWS = st.lists(st.tuples(st.integers(-3, 4), NEAR | FAR), max_size=12)


@pytest.mark.parametrize("count", [0, 1, 9_999, 10_000, 30_000])
@pytest.mark.parametrize(
    "low, high", [(0, 1), (-5, 5), (0, 2**16), (-(2**16), 2**17), (-(2**50), 2**50), (-(2**63), 2**63 - 1)]
)
def test_the_order_is_that_of_a_stable_sort(count, low, high):
    values = np.random.default_rng(count).integers(low, high, count, endpoint=True)
    assert np.array_equal(order(values), np.argsort(values, kind="stable"))


@given(ROWS, ROWS)
def test_keys_come_one_after_the_other_each_with_its_times_in_order(left, right):
    parts = [
        tuple(np.array([row[place] for row in rows], dtype=np.int64) for place in (0, 1)) for rows in (left, right)
    ]
    found = np.concatenate(along_keys(*parts)).tolist()
    rows = [*left, *right]
    assert sorted(range(len(rows)), key=found.__getitem__) == sorted(range(len(rows)), key=rows.__getitem__)
    assert [found[0] == each for each in found] == [rows[0] == each for each in rows]


def test_many_keys_over_a_long_time_are_ranked():
    keys, times = np.array([0, 2**31, 2**31, 0]), np.array([2**61, -(2**61), 0, 2**61])
    [found] = along_keys((keys, times))
    assert np.argsort(found, kind="stable").tolist() == [0, 3, 1, 2]
    assert found[0] == found[3]


@given(st.lists(NEAR | FAR, max_size=12))
def test_equal_numbers_are_a_group_in_the_order_of_their_first(values):
    group, heads = numbered(equal(np.array(values, dtype=np.int64)))
    firsts = list(dict.fromkeys(values))
    assert [values[head] for head in heads] == firsts
    assert group.tolist() == [firsts.index(each) for each in values]
    assert heads.tolist() == [values.index(each) for each in firsts]


@given(st.lists(NEAR), st.lists(NEAR))
def test_what_is_among_others_is_what_a_set_says_but_for_what_is_below_0(values, others):
    found = among(np.array(values, dtype=np.int64), np.array(others, dtype=np.int64))
    assert found.tolist() == [each >= 0 and each in set(others) for each in values]


@given(ROWS, ROWS, NEAR, NEAR)
def test_pairs_at_any_times_are_those_of_plain_loops(left, right, one, other):
    join = wb.IntervalJoin(timedelta(microseconds=min(one, other)), timedelta(microseconds=max(one, other)))
    frames = [pd.DataFrame(rows, columns=["key", "start"], dtype=np.int64) for rows in (left, right)]
    wanted = [
        (place, partner)
        for place, (key, start) in enumerate(left)
        for partner in sorted(range(len(right)), key=lambda each: right[each][1])
        if key == right[partner][0] >= 0 and min(one, other) <= right[partner][1] - start <= max(one, other)
    ]
    assert list(zip(*(each.tolist() for each in matches(join, *frames)), strict=True)) == wanted
