"""The composition root: what stands above a package and is called from it, imported by name here and nowhere else.

A package imports only those below it. The registry of kinds, `Run.report`, `Job.fixture` and the display of a `Watch`
lead upwards, each in one function.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from workbench.untyped import Argument, Value

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["kinds", "view_of_watch", "write_fixture", "write_report"]

_KINDS = ("interval", "window", "session", "cogroup", "as_of", "rules", "pattern")
"""Packages of kinds of join, in the order of the page's menu."""


def kinds() -> Iterator[Value]:
    """The kinds of join that the workbench has; called by the registry when the first of them is asked for."""
    for name in _KINDS:
        yield from import_module(f"workbench.builtin_kinds.{name}").KINDS


def write_report(run: Any, path: Argument, tuning: Argument) -> Path:
    """What `Run.report` and `Job.report` call."""
    written: Path = import_module("workbench.report").write(run, path, tuning)
    return written


def write_fixture(job: Any, path: Argument, **options: Value) -> Path:
    """What `Job.fixture` and `Chain.fixture` call."""
    written: Path = import_module("workbench.testing.fixtures").write(job, path, **options)
    return written


def view_of_watch(watch: Any) -> Any:
    """The widget of a query that is watched; called when a notebook displays it."""
    return import_module("workbench.app.watch_view").view(watch)
