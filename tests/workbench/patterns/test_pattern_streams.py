"""Cases of generated patterns as two streams: the join finds what the search in a list of rows does."""

from __future__ import annotations

import random
from collections import Counter

import pattern_cases
import pattern_streams
import pytest

import workbench as wb


def generated(seed, count):
    """Cases with what is found in them."""
    chance, cases = random.Random(seed), []
    while len(cases) < count:
        pattern, rows = pattern_cases.pattern(chance), pattern_cases.rows(chance)
        try:
            cases.append((pattern, rows, pattern_cases.found(pattern, rows)))
        except pattern_cases.TooManyError:
            continue
    return cases


@pytest.mark.parametrize("batches", [1, 3])
def test_the_join_finds_what_is_found_in_the_rows(batches):
    """Matches and partial matches that were given up, in however many micro-batches the rows come."""
    cases = generated(7, 60)
    for pattern, rows, meant in cases:
        seen = wb.preview(pattern, *pattern_streams.streams(rows, batches))
        assert Counter(pattern_streams.found(seen)) == Counter(meant), (pattern, rows)
    assert sum(bool(meant) for *_, meant in cases) > 20


def test_the_streams_have_all_rows():
    chance = random.Random(3)
    rows = pattern_cases.rows(chance)
    left, right = pattern_streams.streams(rows)
    numbers = [n for stream in (left, right) for n in stream.to_pandas()["n"] if n >= 0]
    assert sorted(numbers) == list(range(len(rows)))
    assert (left.name, right.name) == ("left", "right")
    assert left.to_pandas().columns.tolist()[:5] == ["k", "t", "kind", "x", "n"]
