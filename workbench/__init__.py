"""An interactive workbench for stream-stream joins on Spark: see what joined, what did not, and why.

>>> import workbench as wb
>>> wb.IntervalJoin("-2 seconds", "5 seconds", how="left")
IntervalJoin(lower='-2 seconds', upper='5 seconds', how='left')
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from workbench.conditions import col, row
from workbench.errors import ArgumentError, DataError, JavaError, QueryError, TooLargeError, WorkbenchError
from workbench.joins import AsOfJoin, CoGroup, IntervalJoin, RulesJoin, WindowJoin
from workbench.patterns import (
    Pattern,
    Step,
    followed_by,
    followed_by_any,
    group,
    next,  # noqa: A004 - the word of the field
    not_followed_by,
    not_next,
    step,
)
from workbench.streams import Stream
from workbench.windows import Session, Sliding, Tumbling

if TYPE_CHECKING:
    from workbench import flink, frames
    from workbench._version import __version__ as __version__
    from workbench.exporting import export
    from workbench.jobs import Chain, Description, Job, SideDescription, Watch, describe, flows, open_job, watch
    from workbench.runs.backends import Backends, backends
    from workbench.runs.live import Live, live
    from workbench.runs.loaded import load
    from workbench.runs.preview import Preview
    from workbench.runs.run import Run
    from workbench.runs.running import preview, run
    from workbench.runs.session_settings import session_settings
    from workbench.session import spark
    from workbench.spark_io.explaining import Explanation, explain
    from workbench.spark_io.stopping import stop
    from workbench.tuning import Advice, Tuning, advise, tune

__all__ = [
    "Advice",
    "ArgumentError",
    "AsOfJoin",
    "Backends",
    "Chain",
    "CoGroup",
    "DataError",
    "Description",
    "Explanation",
    "IntervalJoin",
    "JavaError",
    "Job",
    "Live",
    "Pattern",
    "Preview",
    "QueryError",
    "RulesJoin",
    "Run",
    "Session",
    "SideDescription",
    "Sliding",
    "Step",
    "Stream",
    "TooLargeError",
    "Tumbling",
    "Tuning",
    "Watch",
    "WindowJoin",
    "WorkbenchError",
    "advise",
    "backends",
    "col",
    "describe",
    "explain",
    "export",
    "flink",
    "flows",
    "followed_by",
    "followed_by_any",
    "frames",
    "group",
    "live",
    "load",
    "next",
    "not_followed_by",
    "not_next",
    "open_job",
    "preview",
    "row",
    "run",
    "session_settings",
    "spark",
    "step",
    "stop",
    "tune",
    "watch",
]

_LATER = {
    "Advice": "tuning",
    "Backends": "runs.backends",
    "Chain": "jobs",
    "Description": "jobs",
    "Explanation": "spark_io.explaining",
    "Job": "jobs",
    "Live": "runs.live",
    "Preview": "runs.preview",
    "Run": "runs.run",
    "SideDescription": "jobs",
    "Tuning": "tuning",
    "Watch": "jobs",
    "__version__": "_version",
    "advise": "tuning",
    "backends": "runs.backends",
    "describe": "jobs",
    "explain": "spark_io.explaining",
    "export": "exporting",
    "flows": "jobs",
    "live": "runs.live",
    "load": "runs.loaded",
    "open_job": "jobs",
    "preview": "runs.running",
    "run": "runs.running",
    "session_settings": "runs.session_settings",
    "spark": "session",
    "stop": "spark_io.stopping",
    "tune": "tuning",
    "watch": "jobs",
}


def __getattr__(name: str) -> Any:
    """What needs Spark's or pandas' import is loaded when it is first used."""
    if name in ("flink", "frames"):
        return import_module(f"workbench.{name}")
    if name not in _LATER:
        raise AttributeError(f"module 'workbench' has no attribute {name!r}")
    value = getattr(import_module(f"workbench.{_LATER[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def load_ipython_extension(ipython: Any) -> None:
    """Register ``%workbench`` (what ``%load_ext workbench`` calls)."""
    from workbench.magics import register  # in a notebook only: IPython is slow to import

    register(ipython)


def unload_ipython_extension(ipython: Any) -> None:
    """Stop what the workbench runs (what ``%unload_ext workbench`` calls)."""
    from workbench.magics import unregister  # in a notebook only: IPython is slow to import

    unregister(ipython)
