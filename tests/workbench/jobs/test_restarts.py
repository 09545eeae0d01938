"""Restarts that are read from watermarks explain them, whenever the query was started again."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from workbench.jobs.restarts import OtherDelay, other_delay, restarts
from workbench.streams import NOTHING

SECOND = 1_000_000
TIMES = st.lists(st.one_of(st.none(), st.integers(1, 20)), min_size=6, max_size=6)


def logged(seen, begun):
    """The watermark of each micro-batch, and of the next, by a plain loop: each start forgets what came before."""
    marks, own = [0], [0, 0]
    for batch in range(len(seen[0])):
        if batch in begun:
            own = [0, 0]
        own = [
            max(mark, int(times[batch])) if times[batch] > NOTHING else mark
            for mark, times in zip(own, seen, strict=True)
        ]
        marks.append(max(marks[-1], min(own)))
    return marks


def sides(left, right):
    return [np.array([NOTHING if each is None else each * SECOND for each in side]) for side in (left, right)]


@given(TIMES, TIMES, st.sets(st.integers(1, 5)))
def test_they_explain_the_watermarks(left, right, begun):
    seen = sides(left, right)
    marks = logged(seen, begun)
    assert logged(seen, set(restarts(seen, [0, 0], marks, "min"))) == marks


@given(TIMES, TIMES)
def test_there_are_none_where_there_were_none(left, right):
    seen = sides(left, right)
    assert restarts(seen, [0, 0], logged(seen, set()), "min") == ()


def test_watermarks_that_no_restart_explains_are_left_alone():
    seen = sides([5, 9, None, None, None, None], [5, 9, None, None, None, None])
    assert restarts(seen, [0, 0], [0, 5 * SECOND, 7 * SECOND, 7 * SECOND], "min") == ()


DELAYS = st.tuples(st.integers(0, 15), st.sampled_from([(1, 0), (0, 1), (1, 1)]))


@given(TIMES, TIMES, st.integers(1, 5), DELAYS, st.booleans())
def test_another_delay_explains_the_watermarks(left, right, begun, delay, since):
    """Some delay and restart do, if not always those that there were: what no row shows cannot be told."""
    seen = sides(left, right)
    changed = [delay[0] * SECOND * each for each in delay[1]]
    marks = started_again(seen, begun, [0, 0], changed) if since else started_again(seen, begun, changed, [0, 0])
    found = other_delay(seen, [0, 0], marks, "min")
    if found is not None:
        told = [found.delay if found.side in (name, None) else 0 for name in ("left", "right")]
        lives = ([0, 0], told) if found.since else (told, [0, 0])
        assert started_again(seen, found.batch, *lives) == marks
        assert marks != logged(seen, set())


def started_again(seen, begun, first, then):
    """The watermarks of a query that was started once more, with other delays, by a plain loop."""
    marks, own = [0], [0, 0]
    for batch in range(len(seen[0])):
        if batch == begun:
            own = [0, 0]
        now = then if batch >= begun else first
        own = [
            max(mark, int(times[batch]) - delay) if times[batch] > NOTHING else mark
            for mark, times, delay in zip(own, seen, now, strict=True)
        ]
        marks.append(max(marks[-1], min(own)))
    return marks


def test_another_delay_is_found():
    seen = sides([10, 12, 14, 16, 18, 20], [10, 12, 14, 16, 18, 20])
    none, three = [0, 0], [3 * SECOND, 0]
    marks = started_again(seen, 2, none, three)
    assert other_delay(seen, none, marks, "min") == OtherDelay(2, "left", 3 * SECOND, since=True)
    assert other_delay(seen, three, marks, "min") == OtherDelay(2, "left", 0, since=False)
    turns = sides([10, 12, 14, 16, 18, 20], [11, 11, 15, 15, 19, 19])
    both = started_again(turns, 2, [3 * SECOND] * 2, none)
    assert other_delay(turns, none, both, "min") == OtherDelay(2, None, 3 * SECOND, since=False)
    assert other_delay(seen, none, logged(seen, {2}), "min") is None
    assert other_delay(seen, none, [0, 10 * SECOND, 11 * SECOND, 10 * SECOND], "min") is None
