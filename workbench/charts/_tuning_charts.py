"""`TuningCharts`: a tuning's charts, a method for each view that is registered."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd

from workbench.charts._drawing import Drawing
from workbench.charts._pareto import labelled
from workbench.charts._view import TuningScene, TuningView
from workbench.charts.renderer import show_without_network
from workbench.errors import one_of
from workbench.untyped import AltairChart, Value

TUNING_VIEWS: dict[str, TuningView] = {}
"""All charts of a tuning, by name."""


class TuningCharts:
    """The charts of a tuning: one call a view."""

    def __init__(self, scene: TuningScene) -> None:
        self._scene = scene
        show_without_network()

    if TYPE_CHECKING:  # a view's method is added when the view is registered

        def __getattr__(self, name: str) -> Callable[..., Any]: ...

    def drawing(self, view: str) -> Drawing:
        """A view as layout and tables, by its name."""
        one_of("view", view, tuple(TUNING_VIEWS))
        return TUNING_VIEWS[view].draw(self._scene)

    def labelled(self) -> pd.DataFrame:
        """The table with each setting in words, in column ``setting``, and its row, in ``place``."""
        return labelled(self._scene)


def tuning_method(view: TuningView) -> Callable[..., Any]:
    """The method of a view: it takes what its `draw` takes beside the scene."""

    def method(self: TuningCharts, *arguments: Value, **named: Value) -> AltairChart:
        given = signature.bind(self, *arguments, **named)
        return view.draw(self._scene, *given.args[1:], **given.kwargs).chart()

    own = inspect.signature(method).parameters["self"]
    signature = inspect.Signature([own, *list(inspect.signature(view.draw).parameters.values())[1:]])
    method.__signature__ = signature  # type: ignore[attr-defined]
    return method
