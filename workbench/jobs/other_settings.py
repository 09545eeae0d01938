"""Other settings than a chain's own: what they are, and the watermark of the query under them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

from workbench.arrays import Times
from workbench.jobs.description import Description
from workbench.joins import Join
from workbench.literals import SIDES, Policy, Side, Sides
from workbench.model import NOTHING, query_watermark
from workbench.sources.key_choice import newest_times
from workbench.times import micros

if TYPE_CHECKING:
    from workbench.jobs.job import Job

__all__ = ["Settings", "Supposed", "query_marks"]


@dataclass(frozen=True, eq=False)
class Settings:
    """The settings of one join of a chain.

    Attributes
    ----------
    join
        The join.
    delays
        The watermark delays of its sides that are other than the job's.
    marks
        The watermark of the query in each micro-batch, and in the one that would follow, in microseconds.
    policy
        Whether that is the least or the greatest of all streams'.
    """

    join: Join
    delays: Mapping[Side, timedelta]
    marks: Times
    policy: Policy

    def described(self, description: Description) -> Description:
        """A description of the job's join under these settings."""
        left, right = (
            replace(each, watermark=self.delays[side]) if side in self.delays else each
            for side, each in Sides(description.left, description.right).items()
        )
        return replace(description, join=self.join, left=left, right=right)


@dataclass(frozen=True, eq=False)
class Supposed:
    """Other settings of a chain.

    Attributes
    ----------
    joins
        The join of each number.
    delays
        The watermark delays that are other than the job's, by the number of a join and its side.
    marks, policy
        As in `Settings`.
    """

    joins: Sequence[Join]
    marks: Times
    policy: Policy
    delays: Mapping[tuple[int, Side], timedelta] = field(default_factory=dict)

    def of(self, number: int) -> Settings:
        """The settings of one join."""
        delays = {side: self.delays[number, side] for side in SIDES if (number, side) in self.delays}
        return Settings(self.joins[number], delays, self.marks, self.policy)


def query_marks(
    joins: Sequence[Job],
    streams: Sequence[tuple[int, Side]],
    delays: Mapping[tuple[int, Side], timedelta],
    policy: Policy,
) -> Times:
    """The watermark of a query in each micro-batch and in the one that would follow, from its streams' newest times.

    Parameters
    ----------
    joins
        The joins, with the streams of each.
    streams
        The number and side of each stream with a watermark.
    delays
        The delays that are other than the job's.
    policy
        Whether it is the least or the greatest of all streams'.

    Notes
    -----
    A watermark that micro-batch n leads to holds in micro-batch n + 1, in whole milliseconds, and never goes back.
    """
    own = []
    for number, side in streams:
        stream = joins[number].side(side)
        newest = stream.newest
        if newest is None:
            newest = newest_times(stream.batch_count, stream.arrival, stream.event_times)
        seen = np.maximum.accumulate(newest)
        delay = micros(delays.get((number, side), stream.watermark))
        own.append(np.where(seen > NOTHING, np.maximum(seen, 0) // 1000 * 1000 - delay, 0))
    both = own[0]
    for each in own[1:]:
        both = query_watermark(policy, both, each)
    first = joins[0].checkpoint.batches[0].watermark
    return np.maximum.accumulate(np.concatenate([[first], both]))
