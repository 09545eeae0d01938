"""A join in Apache Flink: its text in Flink SQL and Java, and what Flink's rules make of a recording.

For people who come from there, or go there, and to lay side by side with Spark.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.flink._code import class_name, java, sql
    from workbench.flink._compare import Comparison, Nearest, compare
    from workbench.flink._kinds import DIFFERENCES
    from workbench.flink._preview import preview
    from workbench.flink._result import FlinkPreview, FlinkRun
    from workbench.flink._run import run

__all__ = [
    "DIFFERENCES",
    "Comparison",
    "FlinkPreview",
    "FlinkRun",
    "Nearest",
    "class_name",
    "compare",
    "java",
    "preview",
    "run",
    "sql",
]

_LATER = {
    "DIFFERENCES": "flink._kinds",
    "Comparison": "flink._compare",
    "Nearest": "flink._compare",
    "compare": "flink._compare",
    "FlinkPreview": "flink._result",
    "FlinkRun": "flink._result",
    "class_name": "flink._code",
    "java": "flink._code",
    "preview": "flink._preview",
    "run": "flink._run",
    "sql": "flink._code",
}


def __getattr__(name: str) -> Any:
    """What is asked for is loaded then: kinds of joins import what their Flink texts share from here."""
    if name not in _LATER:
        raise AttributeError(f"module 'workbench.flink' has no attribute {name!r}")
    value = getattr(import_module(f"workbench.{_LATER[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
