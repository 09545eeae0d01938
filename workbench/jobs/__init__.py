"""Joins that somebody else wrote: what a plan of Spark's says, and what a checkpoint says of its rows."""

from __future__ import annotations

from workbench.jobs.chain import Chain
from workbench.jobs.description import Description, SideDescription
from workbench.jobs.job import Job
from workbench.jobs.opening import open_job
from workbench.jobs.pipelines import flows
from workbench.jobs.understanding import describe
from workbench.jobs.watching import Watch, watch

__all__ = ["Chain", "Description", "Job", "SideDescription", "Watch", "describe", "flows", "open_job", "watch"]
