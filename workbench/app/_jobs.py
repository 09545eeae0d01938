"""What a page says of a job that was opened."""

from __future__ import annotations

from markupsafe import Markup

from workbench.app._snapshot import RunConfiguration
from workbench.app.html import html, table
from workbench.errors import WorkbenchError
from workbench.jobs import Job

_MOST_ROWS = 40


def as_it_ran(configuration: RunConfiguration) -> str:
    """What is shown, where it is the job under its own settings."""
    return f"{configuration.job_name}, as it ran"


def verified(job: Job) -> str:
    """What was compared with what a job left behind, of one without a mismatch; empty where nothing was."""
    if job.comparison.empty:
        return ""
    return f"verified: {int(job.comparison['model'].sum()):,} values of its logs and its state, no difference"


def remarks(job: Job, configuration: RunConfiguration) -> str:
    """What to know of what a page shows of a job, itself or a run of its rows; empty where there is nothing."""
    found = []
    if job.simulation.first:
        number = job.simulation.first
        found.append(f"charts count micro-batches from 0, the first one kept: number {number:,} of the job")
    if not job.choice.takes_all:
        found.append("only some keys were taken; the watermarks are those of all rows")
    if job.where and not configuration.heeds_where:
        found.append(f"this run does not apply {job.where}, as the job does, so it has more pairs")
    elif job.where:
        found.append(f"previews apply {job.where}; a run on Spark from here, and the script, do not")
    found += job.missing
    return "; ".join(found)


def made_of(job: Job, row: int) -> Markup:
    """The rows that an aggregate is made of, as a table; or why they cannot be read."""
    try:
        rows = job.made_of(row)
    except WorkbenchError as error:
        return html("<p>{}</p>", str(error))
    if rows.empty:
        return html("<p>What it is made of is not known: it was in state before the first micro-batch.</p>")
    shown = rows.drop(columns=["fate", "reason", "row"]).head(_MOST_ROWS)
    more = len(rows) - len(shown)
    words = html("<p>and {} more: job.made_of({})</p>", f"{more:,}", row) if more else html("")
    return html("{}{}", table(shown.columns, shown.itertuples(index=False)), words)
