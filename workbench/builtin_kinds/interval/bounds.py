"""The bounds of interval joins in microseconds."""

from __future__ import annotations

from workbench import times
from workbench.joins import IntervalJoin
from workbench.kinds import UNBOUNDED

__all__ = ["edges"]


def edges(join: IntervalJoin) -> tuple[int, int]:
    """The lower and the upper bound, in microseconds; minus or plus `UNBOUNDED` for one that the join does not have.

    Examples
    --------
    >>> edges(IntervalJoin("-2 seconds", "5 seconds"))
    (-2000000, 5000000)
    >>> edges(IntervalJoin(None, "5 seconds"))[0] == -UNBOUNDED
    True
    """
    lower = -UNBOUNDED if join.lower is None else times.micros(join.lower)
    upper = UNBOUNDED if join.upper is None else times.micros(join.upper)
    return lower, upper
