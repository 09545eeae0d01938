"""A job that was opened with ``wb.open_job`` and is a variable of the notebook: the rows that entered its join."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from workbench.app._form import Form
from workbench.app.sources._source import Control, Notebook, PageSource, Streams, Values, WrongSettingsError
from workbench.jobs import Job

__all__ = ["SOURCE", "VARIABLE"]

VARIABLE = "job.variable"


def _arrange(form: Form, notebook: Notebook) -> list[widgets.Widget]:
    again = widgets.Button(description="Look again", icon="refresh", tooltip="Look for new variables.")
    again.on_click(lambda _: notebook.look_again())
    return [*form.row(VARIABLE), again]


def _refresh(form: Form, notebook: Notebook) -> None:
    """Look for jobs in the notebook."""
    chosen, field = form.value(VARIABLE), form.inputs[VARIABLE]
    names = [name for name, value in notebook.variables.items() if name[:1] != "_" and isinstance(value, Job)]
    if tuple(field.options) != tuple(names):
        with form.without_rule(VARIABLE):  # a list that changes moves what is chosen, and back
            field.options = names
            field.value = chosen if chosen in names else next(iter(names), None)


def _make(values: Values, variables: Values) -> Streams:
    name = values[VARIABLE]
    if name is None:
        words = (
            "this notebook has no job yet; run the cell that makes it, such as "
            'import workbench as wb; job = wb.open_job(joined, checkpoint="…"), then Look again'
        )
        raise WrongSettingsError(f"job: {words}", {VARIABLE: words})
    job: Any = variables.get(name)
    if not isinstance(job, Job):
        words = f"this notebook has no job {name} any more; run the cell that makes {name}, then Look again"
        raise WrongSettingsError(f"job: {words}", {VARIABLE: words})
    if not job.is_understood:
        words = (
            f"its join was not understood ({'; '.join(job.unknown)}); see {name}.late, {name}.state(n), {name}.batches"
        )
        raise WrongSettingsError(f"job: {words}", {VARIABLE: words})
    return Streams(job.left, job.right, (f"left, right = {name}.recording()",), job=job, job_name=name)


SOURCE = PageSource(
    "job",
    "a job that runs",
    "a job opened with wb.open_job",
    (Control(VARIABLE, "Job", "What wb.open_job returned.", widgets.Dropdown),),
    _make,
    arrange=_arrange,
    refresh=_refresh,
    variables=(VARIABLE,),
)
