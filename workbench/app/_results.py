"""The right panel: what a run gave, as tabs."""

from __future__ import annotations

import altair as alt
import ipywidgets as widgets
import pandas as pd
from itables.widget import ITable
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from workbench import script
from workbench.joins import Join
from workbench.results import Run
from workbench.streams import Stream

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
        """Show a run in every tab."""
        for box, chart in zip(self._charts, (run.charts.timeline(), run.charts.arrival()), strict=True):
            if box.children:
                box.children[0].chart = chart
            else:
                box.children = [alt.JupyterChart(chart)]
        for place, frame in enumerate((run.output, run.rows)):
            self._fill(place, frame)

    def _fill(self, place: int, frame: pd.DataFrame) -> None:
        cut = len(frame) > _MOST_TABLE_ROWS
        self._notes[place].value = (
            f"the first {_MOST_TABLE_ROWS:,} of {len(frame):,} rows" if cut else f"{len(frame):,} rows"
        )
        self._tables[place].update(frame.head(_MOST_TABLE_ROWS))

    def show_script(self, join: Join, left: Stream, right: Stream, finish: bool) -> None:
        """Show the script that these settings make."""
        text = script.render(join, left, right, finish)
        self._script.value = highlight(text, PythonLexer(), HtmlFormatter(noclasses=True, style="friendly"))
