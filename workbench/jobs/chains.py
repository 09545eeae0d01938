"""Joins of joins: the watermark that one passes on to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from workbench.arrays import Times
from workbench.errors import ArgumentError

if TYPE_CHECKING:
    from workbench.jobs.job import Job

__all__ = ["passed_on"]


def passed_on(job: Job) -> Times:
    """The watermark that a join passes on in each micro-batch: what may still come out of it is not behind it.

    It is the one up to which the state of either side has been evicted, as Spark derives it
    (``StreamingSymmetricHashJoinExec.produceOutputWatermark``).

    Raises
    ------
    ArgumentError
        If a side is kept forever, so that none is passed on, or what comes out of it is not known.
    """
    if not job.is_understood:
        left, right = job.left.name, job.right.name
        raise ArgumentError(
            f"join: the one before it, of {left} and {right}, could not be analyzed ({'; '.join(job.unknown)}), so "
            "that what comes out of it is not known; open that one"
        )
    logged, retention = job.simulation.logged, job.known.retention
    if logged is None or logged.eviction is None:
        raise ValueError("a job has the watermarks of its logs")
    if retention is None:  # windows, which end at the watermark
        return logged.eviction
    if len(retention) < 2:
        left, right = job.left.name, job.right.name
        raise ArgumentError(
            f"join: the one before it, of {left} and {right}, passes on no watermark, as Spark keeps some of its rows "
            "forever; open that one"
        )
    behind = logged.eviction - max(retention.values())
    return np.maximum(behind // 1000 * 1000, 0)
