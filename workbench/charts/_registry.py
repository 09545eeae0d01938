"""The charts that are known: each is a method of `Run.charts` or `Tuning.charts`, and a tab or a button of the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.charts import (
    _arrival,
    _delays,
    _differences,
    _heat,
    _keys,
    _late,
    _misses,
    _pareto,
    _state,
    _timeline,
    _tracks,
    _watermarks,
    _windows,
)
from workbench.charts._run_charts import VIEWS, RunCharts, run_method
from workbench.charts._tuning_charts import TUNING_VIEWS, TuningCharts, tuning_method
from workbench.charts._view import TuningView, View
from workbench.errors import wrong
from workbench.untyped import Record

_OWNERS: dict[type, tuple[type, Record, Callable[[Any], Callable[..., Any]]]] = {
    View: (RunCharts, VIEWS, run_method),
    TuningView: (TuningCharts, TUNING_VIEWS, tuning_method),
}
"""For each type of view the class whose methods they are, where they are kept, and what makes the method."""


def views() -> tuple[View, ...]:
    """All views of a run, in the order of the page's tabs."""
    return tuple(VIEWS.values())


def tuning_views() -> tuple[TuningView, ...]:
    """All charts of a tuning, in the order of the page's buttons."""
    return tuple(TUNING_VIEWS.values())


def register(view: View | TuningView) -> None:
    """Make a view known: to `Run.charts` or `Tuning.charts`, and the page."""
    owner, known, method_of = _owner(view)
    if hasattr(owner, view.name):
        raise wrong("view", view.name, f"{owner.__name__} has that name already; use another")
    known[view.name] = view
    method = method_of(view)
    method.__name__, method.__qualname__, method.__doc__ = view.name, f"{owner.__name__}.{view.name}", view.doc
    setattr(owner, view.name, method)


def unregister(view: View | TuningView) -> None:
    """Take a view back."""
    owner, known, _ = _owner(view)
    if known.pop(view.name, None) is not None:
        delattr(owner, view.name)


def _owner(view: View | TuningView) -> tuple[type, Record, Callable[[Any], Callable[..., Any]]]:
    for kind, owner in _OWNERS.items():
        if isinstance(view, kind):
            return owner
    raise wrong("view", type(view).__name__, "give a View or a TuningView")


for _each in (
    _tracks.LANES_VIEW,
    _windows.VIEW,
    _misses.VIEW,
    _tracks.VIEW,
    _timeline.VIEW,
    _watermarks.VIEW,
    _late.VIEW,
    _arrival.VIEW,
    _state.VIEW,
    _keys.VIEW,
    _pareto.VIEW,
    _delays.DELAYS_VIEW,
    _delays.WAITS_VIEW,
    _heat.VIEW,
    _differences.VIEW,
):
    register(_each)
