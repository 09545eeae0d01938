"""The right panel: what a run, or a preview of one, gave. One chart and one table serve all views."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from typing import Any

import ipywidgets as widgets
import numpy as np
import pandas as pd
from itables.widget import ITable

from workbench import times
from workbench.app._chart import ChartBox
from workbench.app._code import CodeBox, flink_java, flink_sql
from workbench.app._form import show
from workbench.app._scrubber import Scrubber
from workbench.app._tune import TunePanel
from workbench.charts import MOMENT, PICKED, PICKED_CAME, PICKED_WENT, Drawing
from workbench.errors import ArgumentError
from workbench.joins import CoGroup
from workbench.results import Run
from workbench.streams import ROW, SIDES

MOST_TABLE_ROWS = 2_000
_LIVE_SPAN = 90_000_000
"""Microseconds of event time that the charts of a live query show, up to the newest row."""
_COLUMNS = ["side", "batch", "fate", "reason", "fix_setting", "fix_value"]


@dataclass(frozen=True)
class View:
    """A view in the row of views: its name, what it shows, and the chart that does."""

    name: str
    help: str
    chart: str = ""
    parts: tuple[str, ...] = field(default=("chart",))


VIEWS = (
    View("Timeline", "Both streams on event time: windows or intervals, matched pairs, fates.", "timeline"),
    View("Arrival", "Event time against arrival, and the watermark that late rows are judged by.", "arrival"),
    View("Watermarks", "Each stream's own watermark, the query's, and who holds it back.", "watermarks"),
    View("Windows", "What each window held, when it opened and when it closed.", "windows"),
    View("Late", "How late rows were, and which delay would have kept how many.", "late", ("chart", "table")),
    View("Unmatched", "Rows without partner, each with its reason, and near misses.", "misses", ("chart", "table")),
    View("State", "What is held in state after each micro-batch, added and evicted.", "state"),
    View("Output", "What came out of the join.", "", ("table",)),
    View(
        "Script",
        "The PySpark script of this join, the same in Flink's words, and the cell that does what this page does.",
        "",
        ("code",),
    ),
    View("Live", "How a live query keeps up: rates, duration of micro-batches, rows that wait, backpressure.", "rates"),
    View(
        "Tune",
        "What each watermark delay keeps and costs; click a point to take its setting.",
        "tune",
        ("tune", "chart"),
    ),
    View("Runs", "Past runs: go back to one, compare two side by side.", "", ("runs",)),
)
_OF_NO_TIME = ("rates", "tune")
"""The charts that show neither a moment of the run nor a stretch of its event time."""
_VIEWS = {view.name: view for view in VIEWS}


class ResultsPanel:
    """Views of a run with linked selection and a scrubber over its micro-batches.

    Parameters
    ----------
    submit
        Does a job in the thread that draws.
    cell
        Gives the text of the cell that does what the page does.
    runs
        The panel of past runs.
    rates
        Gives the chart of the live query; None where there is none.
    apply
        Called with settings and their values that are to be applied: a row's fix, or a setting of a tuning.

    Attributes
    ----------
    widget
        The panel.
    picked
        The ``row_id`` of what is picked.
    """

    def __init__(
        self,
        submit: Callable[[Callable[[], None]], None],
        cell: Callable[[], str],
        runs: widgets.Widget,
        rates: Callable[[], Drawing | None],
        apply: Callable[[dict[str, Any]], None],
    ) -> None:
        self._submit, self._cell, self._rates, self._apply = submit, cell, rates, apply
        self.run: Run | None = None
        self.picked: list[str] = []
        self._between: tuple[pd.Timestamp, pd.Timestamp] | None = None
        self._drawn: Any = None
        self._ids: list[list[str]] = []
        self._selecting = False
        self.view = widgets.ToggleButtons(
            options=list(_VIEWS), tooltips=[view.help for view in VIEWS], style={"button_width": "auto"}
        )
        self.view.add_class("sjw-tabs")
        self.remark = widgets.HTML()
        self.remark.add_class("sjw-remark")
        self.chart, self.table, self.code = ChartBox(), ITable(), CodeBox()
        self._whole = widgets.Button(description="Show the whole run", icon="search-minus")
        self._whole.layout.width = "auto"
        self._note = widgets.HTML()
        self._texts: dict[str, Callable[[Run], tuple[str, str]]] = {
            "PySpark script": lambda run: (run.script, "join.py"),
            "Flink SQL": flink_sql,
            "Flink DataStream": flink_java,
            "Notebook cell": lambda _: (self._cell(), "cell.py"),
        }
        self._text = widgets.ToggleButtons(
            options=list(self._texts),
            tooltips=[
                "Runs anywhere Spark does.",
                "The same join as Flink SQL.",
                "The same join as a job of Flink's DataStream API, in Java.",
                "Does in code what this page does.",
            ],
            style={"button_width": "auto"},
        )
        self.story = widgets.HTML()
        self.story.add_class("sjw-story")
        self._fix = widgets.Button(icon="check", layout=widgets.Layout(width="auto"))
        self._fix.on_click(lambda _: self._apply(self._fixes))
        self._fixes: dict[str, Any] = {}
        self.tune = TunePanel(self.draw, self._apply)
        self.scrubber = Scrubber(self.draw)
        table = widgets.VBox([self._note, self.table])
        table.add_class("sjw-table")
        story = widgets.VBox([self.story, self._fix])
        self._parts = {
            "tune": self.tune.widget,
            "chart": widgets.VBox([self.chart, self._whole, self.scrubber.widget]),
            "story": story,
            "table": table,
            "code": widgets.VBox([self._text, self.code]),
            "runs": runs,
        }
        self.widget = widgets.VBox([self.view, self.remark, *self._parts.values()])
        self.widget.add_class("sjw-views")
        self.view.observe(lambda _: self.draw(), "value")
        self._text.observe(lambda _: self.draw(), "value")
        self._whole.on_click(lambda _: self._zoom(None))
        self.chart.observe(self._clicked, "clicked")
        self.chart.observe(lambda change: self._zoom(change["new"]), "brushed")
        self.table.observe(self._selected, "selected_rows")
        show(self._whole, False)
        show(story, False)
        self._story_box = story

    def show(self, run: Run) -> None:
        """Show a run, or a preview of one; from the thread that draws."""
        before = self.run
        self.run = run
        if before is None or not _same_rows(before, run):
            self.picked, self._between = [], None
        if run.live is not None and run.live.active:
            newest = max((int(run.side(side).event_times.max()) for side in SIDES if len(run.side(side))), default=0)
            self._between = (pd.Timestamp(newest - _LIVE_SPAN, unit="us"), pd.Timestamp(newest, unit="us"))
        elif before is not None and before.live is not None:
            self._between = None
        self.scrubber.fit(run)
        self._drawn = None
        self._draw()

    def draw(self) -> None:
        """Draw what is chosen, soon."""
        if self.run is not None and not self.chart_moved():
            self._submit(self._draw)

    def chart_moved(self) -> bool:
        """Move the chart that is shown to another moment at once, where that is all there is to do."""
        drawing = self.chart.shown
        view = _VIEWS[self.view.value]
        if drawing is None or drawing.aggregated or view.parts != ("chart",) or self._drawn != self._wanted(view):
            return False
        self.chart.params = self._params()
        self._submit(self._tell)
        return True

    def _params(self) -> dict[str, Any]:
        """The moment and what is picked, as charts take them."""
        came = went = -1
        if len(self.picked) == 1 and self.run is not None:
            side, row = self.picked[0].split("-")
            came, went = int(self.run.side(side).arrival[int(row)]), int(self.run.fates[side]["leaves"].iloc[int(row)])
        return {MOMENT: self.scrubber.moment, PICKED: self.picked, PICKED_CAME: came, PICKED_WENT: went}

    def _wanted(self, view: View) -> Any:
        """What a drawing depends on, but the moment and what is picked, which it takes as parameters."""
        moment = self.scrubber.moment if "table" in view.parts else None
        return id(self.run), view.name, self._between, moment, self._text.value, self.tune.view

    def _draw(self) -> None:
        run = self.run
        if run is None:
            return
        view = _VIEWS[self.view.value]
        for name in ("tune", "chart", "table", "code", "runs"):
            show(self._parts[name], name in view.parts)
        show(self.scrubber.widget, view.chart not in _OF_NO_TIME)
        self.remark.value = ""
        wanted = self._wanted(view)
        aggregated = self.chart.shown is not None and self.chart.shown.aggregated
        if self._drawn != wanted or aggregated:
            self._fill(run, view)
            self._drawn = wanted
        else:
            self.chart.params = self._params()
        self._tell()

    def _fill(self, run: Run, view: View) -> None:
        if "chart" in view.parts and view.chart:
            self._fill_chart(run, view.chart)
        if "table" in view.parts:
            self._fill_table(run, view.name)
        if "code" in view.parts:
            self.code.show(*self._texts[self._text.value](run))

    def _fill_chart(self, run: Run, chart: str) -> None:
        drawing = self._drawing(run, chart)
        show(self._parts["chart"], drawing is not None)
        show(self._whole, self._between is not None and chart not in _OF_NO_TIME)
        if drawing is None:
            return
        self.chart.show(drawing, **self._params())
        if drawing.aggregated:
            self.remark.value = "Too many rows to draw one by one: drag over a stretch of time to see single rows."

    def _drawing(self, run: Run, chart: str) -> Drawing | None:
        """The chart of a view; None, with the reason in the remark, where there is none."""
        if chart == "tune":
            return self.tune.drawing(run)
        if chart == "rates":
            rates = self._rates()
            if rates is None:
                self.remark.value = "No live query yet: Go live, and the generators write while the query runs."
            return rates
        given: dict[str, Any] = {"between": self._between} if chart not in ("watermarks", "misses", "state") else {}
        try:
            return run.charts.drawing(chart, **given, batch=self.scrubber.batch)
        except ArgumentError as error:
            self.remark.value = escape(error.remedy)
            return None

    def _fill_table(self, run: Run, view: str) -> None:
        frame, self._ids = _table(run, view, self.scrubber.batch)
        if view == "Output" and not run.ran:
            self._note.value = "This is a preview. Run it on Spark to see the output."
        else:
            shown = min(len(frame), MOST_TABLE_ROWS)
            words = f"the first {shown:,} of {len(frame):,} rows" if shown < len(frame) else f"{shown:,} rows"
            self._note.value = f"{words}; pick one to see it in all views"
        self._selecting = True
        try:
            self.table.update(frame.head(MOST_TABLE_ROWS), selected_rows=self._chosen(), select=True)
        finally:
            self._selecting = False

    def _chosen(self) -> list[int]:
        """The table's rows that are picked."""
        wanted = set(self.picked)
        return [place for place, ids in enumerate(self._ids[:MOST_TABLE_ROWS]) if wanted & set(ids)] if wanted else []

    def _clicked(self, change: Any) -> None:
        clicked = change["new"]
        if clicked.get("place") is not None:
            self._apply(self.tune.settings(clicked["place"]))
        elif clicked.get("row_id"):
            self.pick([clicked["row_id"]])
        elif clicked.get("window") is not None and self.chart.shown is not None:
            rows = self.chart.shown.tables["rows"]
            self.pick(list(rows.loc[rows["window"] == clicked["window"], "row_id"]))
        else:
            self.pick([])

    def _selected(self, change: Any) -> None:
        if self._selecting:
            return
        places = [place for place in change["new"] if place < len(self._ids)]
        if places:
            self.pick(self._ids[places[-1]])

    def pick(self, row_ids: list[str]) -> None:
        """Pick rows in all views."""
        self.picked = row_ids
        self.chart.params = self._params()
        self._submit(self._draw)

    def _zoom(self, brushed: list[float] | None) -> None:
        self._between = None
        if brushed:
            low, high = (pd.Timestamp(each * 1000 // 1, unit="us") for each in brushed)
            self._between = (low, high)
        self._drawn = None
        self._submit(self._draw)

    def _tell(self) -> None:
        """Tell of the moment and of what is picked."""
        run = self.run
        if run is None:
            return
        self.scrubber.tell(run)
        show(self._story_box, bool(self.picked) and not {"code", "runs", "tune"} & set(_VIEWS[self.view.value].parts))
        show(self._fix, False)
        if "table" in _VIEWS[self.view.value].parts and self.table.selected_rows != self._chosen():
            self._selecting = True
            self.table.selected_rows = self._chosen()
            self._selecting = False
        if len(self.picked) == 1:
            self._tell_row(run, self.picked[0])
        elif self.picked:
            counts = {side: sum(each.startswith(side) for each in self.picked) for side in SIDES}
            words = " and ".join(f"{counts[side]:,} of {run.side(side).name}" for side in SIDES)
            self.story.value = f"{words} are picked"

    def _tell_row(self, run: Run, row_id: str) -> None:
        side, row = row_id.split("-")
        index = int(row) + (len(run.left) if side == "right" else 0)
        self.story.value = f"<pre>{escape(run.why(index).text)}</pre>"
        told = run.tell([index]).iloc[0]
        if told["fix_setting"] is not None:
            setting, value = told["fix_setting"], told["fix_value"]
            self._fixes = {setting: value}
            words = "Close every window" if value is True else f"Set {setting} to {_short(str(value))}"
            self._fix.description = words
            show(self._fix, True)


def _same_rows(one: Run, other: Run) -> bool:
    """Whether the numbers of the rows mean the same rows in both runs."""
    if one.live is not None and one.live is other.live:
        return True
    return all(one.side(side).table is other.side(side).table for side in SIDES)


def _short(span: str) -> str:
    return times.short(times.parse(span, "value"))


def _table(run: Run, view: str, batch: int | None) -> tuple[pd.DataFrame, list[list[str]]]:
    """The table of a view up to a micro-batch, and for each of its rows the ``row_id`` of the rows it tells of."""
    if view == "Output":
        if not run.ran:
            return pd.DataFrame(), []
        frame = run.output
        known = np.flatnonzero(frame["batch"] <= batch) if batch is not None else np.arange(len(frame))
        return frame.iloc[known], _output_ids(run, known[:MOST_TABLE_ROWS])
    parts = []
    for side in SIDES:
        fates = run.fates[side]
        wanted = fates["fate"] == "late" if view == "Late" else fates["fate"].isin(("unmatched", "pending", "null_key"))
        if view == "Late":
            wanted = wanted | (fates["late"] > 0)
        if batch is not None:
            wanted &= run.side(side).arrival <= batch
        parts.append(wanted.to_numpy().nonzero()[0])
    index = [*parts[0].tolist(), *(len(run.left) + parts[1]).tolist()]
    ids = [[f"left-{row}"] for row in parts[0].tolist()] + [[f"right-{row}"] for row in parts[1].tolist()]
    rows = run.tell(index[:MOST_TABLE_ROWS])
    return rows[[*_COLUMNS, *(name for name in rows if name not in _COLUMNS)]], ids


def _output_ids(run: Run, places: np.ndarray) -> list[list[str]]:
    """The ``row_id`` of the rows in some rows of the output."""
    raw = run.raw_output.take(places)
    if isinstance(run.join, CoGroup):
        lists = {side: raw.column(side).to_pylist() for side in SIDES}
        return [
            [f"{side}-{row[ROW]}" for side, rows in zip(SIDES, both, strict=True) for row in rows]
            for both in zip(lists["left"], lists["right"], strict=True)
        ]
    names = [side for side in SIDES if f"{side}_{ROW}" in raw.column_names]
    columns = [raw.column(f"{side}_{ROW}").to_pylist() for side in names]
    return [
        [f"{side}-{row}" for side, row in zip(names, both, strict=True) if row is not None]
        for both in zip(*columns, strict=True)
    ]
