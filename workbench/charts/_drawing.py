"""A chart in two parts: how it looks, and what it shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from workbench.charts._style import QUIET
from workbench.untyped import AltairChart, Record, Series, Value

MOMENT = "moment"
"""The parameter of all charts over micro-batches: the one up to which they show the run."""
PICKED = "picked"
"""The parameter of all charts of rows: the ``row_id`` of those to mark."""
PICKED_ARRIVED, PICKED_EVICTED = "picked_arrived", "picked_evicted"
"""The parameters of charts over micro-batches: in which the picked row arrived, and was evicted; -1 for none."""
LATEST = 10**9
"""The value of `MOMENT` that shows the whole run."""


_NOT_A_TIME = -9e15
"""In milliseconds; NumPy's missing time lies below it, every time Spark knows above."""


@dataclass(frozen=True, eq=False)
class Drawing:
    """A chart as its layout, and what to fill it with.

    The layout is made once for all charts that look alike, so a page that shows it need only be sent new tables and
    parameters while a setting moves: building and checking a chart anew costs a tenth of a second, and as much again
    in the browser.

    Attributes
    ----------
    layout
        An Altair chart whose data are names, the keys of `tables`, and whose variable parts are parameters.
    tables
        What it shows.
    params
        The values of the layout's parameters.
    title, subtitle
        What stands over it.
    aggregated
        Whether it shows counts in place of single rows, because there are too many.
    along
        The direction in which its shared axis runs, of which a stretch can be chosen by dragging: ``x``, ``y``, or
        empty where it has none. The stretch that is shown is from the parameter ``low`` to ``high``.
    """

    layout: AltairChart
    tables: dict[str, pd.DataFrame]
    title: str
    subtitle: str
    params: Record = field(default_factory=dict)
    aggregated: bool = False
    along: str = ""

    @property
    def columns(self) -> dict[str, dict[str, list[Value]]]:
        """The tables, column by column, times in milliseconds since 1970-01-01 UTC."""
        return {name: {each: _plain(table[each]) for each in table} for name, table in self.tables.items()}

    @property
    def data(self) -> dict[str, list[Record]]:
        """The tables, row by row."""
        return {name: _records(columns) for name, columns in self.columns.items()}

    def chart(self) -> AltairChart:
        """The Altair chart."""
        chart: AltairChart = self.layout.copy(deep=False)
        words = alt.TitleParams(
            self.title, subtitle=self.subtitle, anchor="start", subtitleColor=QUIET, offset=10, fontSize=15
        )
        chart.title = words
        chart.datasets = self.data
        own = [] if chart.params is alt.Undefined else list(chart.params)
        chart.params = [_valued(each, self.params) for each in own]
        return chart


def _valued(param: Any, values: Record) -> AltairChart:
    name = str(param.name)
    if name not in values:
        return param
    valued = param.copy(deep=False)
    valued.value = values[name]
    return valued


def _records(columns: dict[str, list[Value]]) -> list[Record]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _plain(column: Series) -> list[Value]:
    """A column's values as JSON has them."""
    if column.dtype.kind == "M":
        numbers = column.to_numpy(dtype="datetime64[us]").astype(np.int64) / 1000
        return [None if value < _NOT_A_TIME else value for value in numbers.tolist()]
    if column.dtype.kind == "f":
        column = column.round(6)  # a millionth of a micro-batch, a lane or a second
    if column.dtype.kind in "fO" and column.isna().any():
        return column.astype(object).where(column.notna(), None).tolist()
    return column.tolist()
