"""When a query was started again, as the watermarks of its logs tell it.

A checkpoint keeps the query's watermark, and not that of each side: after a restart a side counts as 1970 until it has
rows again, and the watermark stands still though both sides have had newer rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.literals import Policy
from workbench.model import Micros, query_watermark
from workbench.streams import NOTHING

__all__ = ["restarts"]


def restarts(seen: Sequence[Micros], delays: Sequence[int], logged: Sequence[int], policy: Policy) -> tuple[int, ...]:
    """The micro-batches before which the query was started again.

    Parameters
    ----------
    seen
        Per side the newest event time of each micro-batch, in microseconds; `NOTHING` where it had no rows.
    delays
        Per side its watermark delay, in microseconds.
    logged
        The watermark of each micro-batch, and last of the one that would follow, as far as that is known.
    policy
        Which of two watermarks is the query's.

    Returns
    -------
    tuple of int
        Empty where the watermarks follow from the rows without a restart, and where no restart explains them. Each
        restart is the last that explains the next watermark.

    Examples
    --------
    The left side had a row of 100 s in the first micro-batch, the right side one of 20 s, and later one of 90 s, so
    that without a restart the watermark would be 90 s.

    >>> second = 1_000_000
    >>> left, right = [100 * second, NOTHING, NOTHING], [20 * second, NOTHING, 90 * second]
    >>> restarts([np.array(left), np.array(right)], [0, 0], [0, 20 * second, 20 * second, 20 * second], "min")
    (2,)
    """
    found: list[int] = []
    for batch in range(1, len(logged)):
        begin = found[-1] if found else 0
        before = logged[batch - 1]
        if _after(seen, delays, before, policy, begin, batch) <= logged[batch]:
            continue
        later = range(batch - 1, begin, -1)
        explains = (at for at in later if _after(seen, delays, before, policy, at, batch) == logged[batch])
        restart = next(explains, None)
        if restart is None:
            return ()
        found.append(restart)
    return tuple(found)


def _after(seen: Sequence[Micros], delays: Sequence[int], before: int, policy: Policy, begin: int, end: int) -> int:
    """The watermark after some micro-batches, of a query that was started with the first of them."""
    own = []
    for times, delay in zip(seen, delays, strict=True):
        newest = int(times[begin:end].max(initial=NOTHING))
        own.append(newest // 1_000 * 1_000 - delay if newest > NOTHING else 0)
    return max(before, int(query_watermark(policy, np.array(own[0]), np.array(own[1]))))
