"""The right panel: what a run gave, as tabs."""

from __future__ import annotations

import altair as alt
import ipywidgets as widgets
import pandas as pd
from itables.widget import ITable
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from workbench.results import Run

_TABS = ("Timeline", "Arrival", "Output", "Rows", "Script")
_MOST_TABLE_ROWS = 5_000


class ResultsPanel:
    """Charts, tables and the script.

    Attributes
    ----------
    widget
        The panel.
    """

    def __init__(self) -> None:
        alt.JupyterChart.enable_offline()
        self._charts = [widgets.Box(), widgets.Box()]
        self._tables = [ITable(), ITable()]
        self._notes = [widgets.HTML(), widgets.HTML()]
        self._script = widgets.HTML()
        tables = [widgets.VBox([note, table]) for note, table in zip(self._notes, self._tables, strict=True)]
        self.widget = widgets.Tab([*self._charts, *tables, self._script], titles=_TABS)
        self.widget.add_class("sjw-views")

    def show(self, run: Run) -> None:
        """Show a run, or a preview of one, in every tab."""
        for box, chart in zip(self._charts, (run.charts.timeline(), run.charts.arrival()), strict=True):
            if box.children:
                box.children[0].chart = chart
            else:
                box.children = [alt.JupyterChart(chart)]
        self._script.value = highlight(run.script, PythonLexer(), HtmlFormatter(noclasses=True, style="friendly"))
        self._fill(1, run.rows)
        if run.ran:
            self._fill(0, run.output)
        else:
            self._notes[0].value = "This is a preview. Run it on Spark to see the output."
            self._tables[0].update(pd.DataFrame())

    def _fill(self, place: int, frame: pd.DataFrame) -> None:
        cut = len(frame) > _MOST_TABLE_ROWS
        self._notes[place].value = (
            f"the first {_MOST_TABLE_ROWS:,} of {len(frame):,} rows" if cut else f"{len(frame):,} rows"
        )
        self._tables[place].update(frame.head(_MOST_TABLE_ROWS))
