"""The least watermark delay with which enough rows of a side are on time: what advice and health check name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from workbench import model, times
from workbench.kinds import NEVER
from workbench.literals import Policy, Side, other_side
from workbench.model import Outcome
from workbench.streams import Stream

__all__ = ["NeededDelay", "needed_delay"]


@dataclass(frozen=True)
class NeededDelay:
    """A watermark delay, and whether both sides need it, as under the policy ``max``."""

    delay: timedelta
    both: bool


def needed_delay(
    outcome: Outcome, streams: Mapping[Side, Stream], policy: Policy, side: Side, share: float
) -> NeededDelay | None:
    """The least delay of a side with which a share of its rows is on time; of both sides where one does not do.

    Parameters
    ----------
    outcome, streams, policy
        What was computed, of what.
    side, share
        Of which rows which share, from 0 to 1.

    Returns
    -------
    NeededDelay or None
        Exact, in whole milliseconds. None: no delay does, as of rows at or before 1970.
    """
    steps = model.row_steps(outcome, policy, (side,))
    other = times.micros(streams[other_side(side)].watermark)
    for both, needed in ((False, steps.needed(side, other)), (True, steps.needed_by_both())):
        least = steps.least(needed, share)
        if least < NEVER:
            return NeededDelay(timedelta(microseconds=least), both)
    return None
