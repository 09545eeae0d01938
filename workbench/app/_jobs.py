"""What a page says of a job that was opened."""

from __future__ import annotations

from workbench.app._snapshot import RunConfiguration
from workbench.jobs import Job


def as_it_ran(configuration: RunConfiguration) -> str:
    """What is shown, where it is the job under its own settings."""
    return f"{configuration.job_name}, as it ran"


def remarks(job: Job) -> str:
    """What to know of what a page shows of a job; empty where there is nothing."""
    found = []
    if job.simulation.first:
        number = job.simulation.first
        found.append(f"charts count micro-batches from 0, which is {number:,} of the job, the first that is kept")
    if not job.choice.takes_all:
        found.append("only some keys were taken; watermarks are those of all rows")
    if job.where:
        found.append(f"previews heed {job.where}; a run on Spark from here, and the script, do not")
    found += job.missing
    return "; ".join(found)
