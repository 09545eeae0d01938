"""The right panel: what a run, or a preview of one, gave: charts, tables, the script."""

from __future__ import annotations

from html import escape

import altair as alt
import ipywidgets as widgets
import pandas as pd
from itables.widget import ITable
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from workbench.errors import ArgumentError
from workbench.results import Run

_VIEWS = {
    "Timeline": ("timeline", "Both streams on event time: windows or intervals, matched pairs, fates."),
    "Arrival": ("arrival", "Event time against arrival, and the watermark that late rows are judged by."),
    "Watermarks": ("watermarks", "Each stream's own watermark, the query's, and who holds it back."),
    "Late": ("late", "How late rows were, and which delay would have kept how many."),
    "Windows": ("windows", "What each window held, when it opened and when it closed."),
    "Near misses": ("misses", "How far rows without partner were from the nearest row of their key."),
    "State": ("state", "What is held in state after each micro-batch, added and evicted."),
}
_TABS = ("Charts", "Output", "Rows and reasons", "Script")
_MOST_TABLE_ROWS = 5_000


class ResultsPanel:
    """Charts, tables and the script. Only the chart that is looked at is drawn.

    Attributes
    ----------
    widget
        The panel.
    """

    def __init__(self) -> None:
        alt.JupyterChart.enable_offline()
        self._run: Run | None = None
        self._view = widgets.ToggleButtons(
            options=list(_VIEWS), tooltips=[words for _, words in _VIEWS.values()], style={"button_width": "auto"}
        )
        self._view.observe(lambda _: self._draw(), "value")
        self._remark = widgets.HTML()
        self._chart = widgets.Box()
        self._tables = [ITable(), ITable()]
        self._notes = [widgets.HTML(), widgets.HTML()]
        self._script = widgets.HTML()
        charts = widgets.VBox([self._view, self._remark, self._chart])
        tables = [widgets.VBox([note, table]) for note, table in zip(self._notes, self._tables, strict=True)]
        self.widget = widgets.Tab([charts, *tables, self._script], titles=_TABS)
        self.widget.add_class("sjw-views")

    def show(self, run: Run) -> None:
        """Show a run, or a preview of one."""
        self._run = run
        self._draw()
        self._script.value = highlight(run.script, PythonLexer(), HtmlFormatter(noclasses=True, style="friendly"))
        first = ["side", "fate", "reason", "fix_setting", "fix_value"]
        self._fill(1, run.rows[[*first, *(name for name in run.rows if name not in first)]])
        if run.ran:
            self._fill(0, run.output)
        else:
            self._notes[0].value = "This is a preview. Run it on Spark to see the output."
            self._tables[0].update(pd.DataFrame())

    def _draw(self) -> None:
        """Draw the chosen view; one chart widget serves all, because each weighs a megabyte."""
        if self._run is None:
            return
        try:
            chart = getattr(self._run.charts, _VIEWS[self._view.value][0])()
        except ArgumentError as error:
            self._remark.value = escape(error.remedy)
            self._chart.layout.display = "none"
            return
        self._remark.value = ""
        self._chart.layout.display = None
        if self._chart.children:
            self._chart.children[0].chart = chart
        else:
            self._chart.children = [alt.JupyterChart(chart)]

    def _fill(self, place: int, frame: pd.DataFrame) -> None:
        cut = len(frame) > _MOST_TABLE_ROWS
        self._notes[place].value = (
            f"the first {_MOST_TABLE_ROWS:,} of {len(frame):,} rows" if cut else f"{len(frame):,} rows"
        )
        self._tables[place].update(frame.head(_MOST_TABLE_ROWS))
