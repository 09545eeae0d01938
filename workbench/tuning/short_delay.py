"""The delay that advice and health check name where a side's is short; that of Tune is in `trials`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

import pandas as pd

from workbench import model, times
from workbench.kinds import NEVER
from workbench.literals import Policy, Side, other_side
from workbench.model import Outcome
from workbench.streams import Stream

__all__ = ["MUCH_LATE", "NeededDelay", "delay_for", "late_rows"]

MUCH_LATE = 0.001
"""The share of late rows above which a delay is called short."""


@dataclass(frozen=True)
class NeededDelay:
    """A watermark delay, and whether both sides need it, as under the policy ``max``."""

    delay: timedelta
    both: bool


def delay_for(
    outcome: Outcome, streams: Mapping[Side, Stream], policy: Policy, side: Side, most: float
) -> NeededDelay | None:
    """The least delay of a side with which so many of its rows are late at most; of both sides where one does not do.

    Parameters
    ----------
    outcome, streams, policy
        What was computed, of what.
    side, most
        Of which side how many rows may be late, of those that a delay can keep.

    Returns
    -------
    NeededDelay or None
        Exact, in whole milliseconds. None: no delay does, or rows are late that are not by these delays, as where a
        query went on with the watermark of a checkpoint.
    """
    kept = model.kept_rows(outcome, policy, (side,))
    delays = {each: times.micros(stream.watermark) for each, stream in streams.items()}
    late = late_rows(outcome, side)
    if most < 0 or not kept.count or round((1 - kept.share(delays)) * kept.count) != int((late["end"] > 0).sum()):
        return None
    share = 1 - min(1.0, most / kept.count)
    for both, needed in ((False, kept.needed(side, delays[other_side(side)])), (True, kept.needed_by_both())):
        least = kept.least(needed, share)
        if least < NEVER:
            return NeededDelay(timedelta(microseconds=least), both)
    return None


def late_rows(outcome: Outcome, side: Side) -> pd.DataFrame:
    """The last assignment of each row of a side that is late for all of its windows."""
    last = outcome.assignments[side].drop_duplicates("row", keep="last")
    return last[last["late"] & ~last["filtered"]]
