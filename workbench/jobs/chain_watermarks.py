"""Joins of joins: the watermark that one passes on to the next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from workbench.arrays import Times
from workbench.jobs.not_followed import NotFollowedError
from workbench.kinds import kind_of
from workbench.literals import Side

if TYPE_CHECKING:
    from workbench.jobs.job import Job

__all__ = ["behind", "passed_on"]


def passed_on(job: Job) -> Times | None:
    """The watermark that a join passes on in each micro-batch: what may still come out of it is not behind it.

    None where the rows of neither side leave the state: the next join then heeds the watermarks of its other side only.

    It is the one up to which the state of either side has been evicted, as Spark derives it
    (``StreamingSymmetricHashJoinExec.produceOutputWatermark``).

    Raises
    ------
    NotFollowedError
        If the rows of one side only stay in state forever, or what comes out of it is not known.
    """
    if not job.is_understood:
        left, right = job.left.name, job.right.name
        raise NotFollowedError(
            f"join: the one before it, of {left} and {right}, could not be analyzed ({'; '.join(job.unknown)}), so "
            "that what comes out of it is not known; open that one"
        )
    logged, retention = job.simulation.logged, job.known.retention
    if logged is None or logged.eviction is None:
        raise ValueError("a job has the watermarks of its logs")
    join = job.simulation.join
    if join != job.simulation.facts.join and retention is not None:  # under other bounds than the job's
        evicted = kind_of(join).evicted_up_to(join, logged.eviction)
        return np.maximum(np.minimum(*evicted) // 1000 * 1000, 0)
    if retention is not None and len(retention) == 1:
        left, right = job.left.name, job.right.name
        raise NotFollowedError(
            f"join: the one before it, of {left} and {right}, passes on a watermark that is not known, as Spark "
            "keeps the rows of one side forever; open that one"
        )
    return behind(retention, logged.eviction)


def behind(retention: Mapping[Side, int] | None, eviction: Times) -> Times | None:
    """The watermark that a join passes on, where its state is evicted by one, and its rows leave so far behind it.

    Parameters
    ----------
    retention
        As `Understood.retention` has it: of both sides, of none, or None of windows.
    eviction
        For each micro-batch the watermark that evicts state.
    """
    if retention is None:  # windows, which end at the watermark
        return eviction
    if not retention:
        return None
    return np.maximum((eviction - max(retention.values())) // 1000 * 1000, 0)
