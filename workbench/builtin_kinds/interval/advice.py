"""What to know of an interval join before a run."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import numpy as np

from workbench import times
from workbench.arrays import RowNumbers, Times
from workbench.builtin_kinds.interval.bounds import edges
from workbench.joins import IntervalJoin
from workbench.kinds import UNBOUNDED, Advised, SharedRows
from workbench.literals import Setting
from workbench.streams import SIDES

__all__ = ["empty", "is_wide", "nearly_all", "nearly_all_lie", "wide_bounds"]

_SECOND = 1_000_000
_STEP = 100_000  # bounds are rounded up to tenths of a second
_FAR = 4  # how many times wider than nearly all differences a bound is when it is called wide
_ENOUGH = 100
"""Of fewer pairs it is not told how far others may be apart."""
_SHARED_BY = 1_000
"""Fewer are all of them."""


def nearly_all(far: Times, share: float = 0.999) -> int:
    """How far 99.9 % of some pairs, or another share, are apart, in microseconds, rounded up."""
    return -(-int(np.quantile(far, share, method="inverted_cdf")) // _STEP) * _STEP


def nearly_all_lie(count: int, noun: str) -> str:
    """How a sentence on the reach of nearly all begins, with what it rests on.

    Examples
    --------
    >>> nearly_all_lie(2_000, "pair"), nearly_all_lie(40, "pair"), nearly_all_lie(1, "pair")
    ('99.9 % of the 2,000 pairs lie', 'all 40 pairs lie', 'the only pair lies')
    """
    if count == 1:
        return f"the only {noun} lies"
    return f"99.9 % of the {count:,} {noun}s lie" if count >= _SHARED_BY else f"all {count} {noun}s lie"


def is_wide(bound: int, reach: int) -> bool:
    """Whether a bound is far wider than nearly all pairs are apart."""
    return bound > _FAR * max(reach, _SECOND)


def empty(join: IntervalJoin) -> Iterator[Advised]:
    """No difference of two times lies between the bounds."""
    if join.lower is None or join.upper is None:
        return
    width = times.micros(join.upper) - times.micros(join.lower)
    if width < join.lower_exclusive + join.upper_exclusive:
        lower, upper = (times.short(times.exact(each)) for each in (join.lower, join.upper))
        above = "above" if join.lower_exclusive else "at or above"
        below = "below" if join.upper_exclusive else "at or below"
        yield (
            f"no pair can match: no time difference is {above} {lower} and {below} {upper}",
            "make both bounds inclusive, or the upper one longer",
        )


def wide_bounds(join: IntervalJoin, shared: SharedRows) -> Iterator[Advised]:
    """A bound is far wider than nearly all differences of the rows."""
    one, other = shared.matches(join)
    if len(one) < _ENOUGH:
        return
    moments = [shared.assignments(join, side)["start"].to_numpy() for side in SIDES]
    apart = moments[1][other] - moments[0][one]
    sides: tuple[tuple[Setting, RowNumbers, int], ...] = (
        ("upper", np.maximum(apart, 0), edges(join)[1]),
        ("lower", np.maximum(-apart, 0), -edges(join)[0]),
    )
    for name, far, bound in sides:
        reach = nearly_all(far)
        if bound == UNBOUNDED:
            continue
        if is_wide(bound, reach):
            value = times.text(timedelta(microseconds=reach if name == "upper" else -reach))
            waits = "left" if name == "upper" else "right"
            yield (
                f"the {name} bound keeps every {waits} row in state for {times.short(timedelta(microseconds=bound))}, "
                f"but {nearly_all_lie(len(far), 'pair')} within {times.short(timedelta(microseconds=reach))}",
                f"{'an' if name == 'upper' else 'a'} {name} bound of {value} keeps them with less state",
                name,
                value,
            )
