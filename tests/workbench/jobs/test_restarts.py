"""Restarts that are read from watermarks explain them, whenever the query was started again."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from workbench.jobs.restarts import restarts
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
