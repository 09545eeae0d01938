"""`RunCharts`: a run's charts, a method for each view that is registered."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd

from workbench.charts import _timeline
from workbench.charts._axes import AxisName, axes, axis_of
from workbench.charts._drawing import LATEST, MOMENT, Drawing
from workbench.charts._rows import Between, Cut
from workbench.charts._view import Scene, View
from workbench.charts.renderer import show_without_network
from workbench.errors import one_of, wrong
from workbench.literals import RowId, Side
from workbench.model import Simulation, checked_batch
from workbench.untyped import AltairChart

if TYPE_CHECKING:
    import altair as alt

VIEWS: dict[str, View] = {}
"""All views of a run, by name."""


class RunCharts:
    """The charts of a run: one call a view.

    Those over time take ``batch``, the micro-batch at whose end to show the run (None: its last), and those of rows
    ``between``, two event times: of more than 2,000 rows a side counts are drawn, and a shorter time shows single rows.
    """

    def __init__(self, simulation: Simulation, micro_batches: Callable[[], pd.DataFrame]) -> None:
        self._simulation, self._micro_batches = simulation, micro_batches
        show_without_network()

    if TYPE_CHECKING:  # a view's method is added when the view is registered

        def __getattr__(self, name: str) -> Callable[..., Any]: ...

    def drawing(
        self,
        view: str,
        *,
        between: Between | None = None,
        batch: int | None = None,
        axis: AxisName = "event time",
        reasons: bool = True,
    ) -> Drawing:
        """A view as layout and tables: what a page needs that redraws it while settings move.

        Parameters
        ----------
        view
            The name of a view.
        between, batch
            As above; along another axis, times of arrival or numbers of micro-batches.
        axis
            The axis, of a view that can be shown along several: ``event time``, ``arrival time`` or ``micro-batch``.
        reasons
            Whether rows drawn one by one bear their reasons, which take longest to compute.
        """
        one_of("view", view, tuple(VIEWS))
        if not isinstance(reasons, bool):
            raise wrong("reasons", reasons, "use True or False")
        moment = LATEST if batch is None else checked_batch(batch, len(self._simulation.outcome.marks))
        chosen = axis_of(self._simulation, axis)
        if chosen.name != "event time" and not VIEWS[view].of_axes:
            raise wrong("axis", axis, f'{view} is shown on "event time" only')
        cut = Cut.of(between, chosen)
        drawing = VIEWS[view].draw(Scene(self._simulation, self._micro_batches, cut, moment, reasons))
        drawing.params[MOMENT] = moment
        return drawing

    @property
    def axes(self) -> tuple[AxisName, ...]:
        """The axes that this run can be shown along; times of arrival are known where a trigger interval cuts them."""
        return axes(self._simulation)

    def of_key(self, side: Side, row: int) -> alt.LayerChart:
        """The timeline of all rows of one row's key."""
        return _timeline.of_key(self._simulation, RowId(side, row))


def run_method(view: View) -> Callable[..., Any]:
    """The method of a view: it takes a stretch of event time and a moment where the view does."""
    if view.of_axes:

        def of_axes(
            self: RunCharts, between: Between | None = None, batch: int | None = None, axis: AxisName = "event time"
        ) -> AltairChart:
            return self.drawing(view.name, between=between, batch=batch, axis=axis).chart()

        return of_axes
    if view.of_rows:

        def of_rows(self: RunCharts, between: Between | None = None, batch: int | None = None) -> AltairChart:
            return self.drawing(view.name, between=between, batch=batch).chart()

        return of_rows
    if view.of_moment:

        def of_moment(self: RunCharts, batch: int | None = None) -> AltairChart:
            return self.drawing(view.name, batch=batch).chart()

        return of_moment

    def of_run(self: RunCharts) -> AltairChart:
        return self.drawing(view.name).chart()

    return of_run
