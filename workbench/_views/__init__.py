"""`Run.charts`: the tables of a run, made ready for the charts."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workbench import _arrow, charts
from workbench._renderer import show_without_network
from workbench._views import _batches
from workbench._views._batches import Moment, moment
from workbench._views._late import late
from workbench._views._misses import misses
from workbench._views._rows import Cut, counts, many, pairs, rows, spans
from workbench._views._windows import windows
from workbench.errors import one_of, wrong
from workbench.joins import CoGroup, IntervalJoin
from workbench.times import exact

if TYPE_CHECKING:
    import altair as alt

    from workbench.results import Run

__all__ = ["VIEWS", "Moment", "RunCharts", "at"]

VIEWS = ("timeline", "arrival", "watermarks", "windows", "late", "misses", "state")
Between = tuple[Any, Any]


class RunCharts:
    """The charts of a run: one call a view.

    All take ``batch``, the micro-batch at whose end to show the run (None: at its end), and those of rows ``between``,
    two event times: of more than 2,000 rows a side counts are drawn, and a shorter time shows single rows.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        show_without_network()

    def timeline(self, between: Between | None = None, batch: int | None = None) -> alt.LayerChart:
        """Both sides as lanes on event time: windows or intervals behind, matched pairs joined, fate by colour."""
        return self.drawing("timeline", between, batch).chart()

    def arrival(self, between: Between | None = None, batch: int | None = None) -> alt.LayerChart:
        """Event time against arrival, with the watermark as a staircase; late rows lie below it."""
        return self.drawing("arrival", between, batch).chart()

    def late(self, between: Between | None = None, batch: int | None = None) -> alt.VConcatChart:
        """How late rows were, by side, over their arrival, and the share of rows that each watermark delay keeps."""
        return self.drawing("late", between, batch).chart()

    def watermarks(self, batch: int | None = None) -> alt.LayerChart:
        """Each side's own watermark and the query's, over micro-batches, and who holds it back."""
        return self.drawing("watermarks", None, batch).chart()

    def windows(self, between: Between | None = None, batch: int | None = None) -> alt.LayerChart:
        """Which event is in which windows, with each window's opening, closing and content.

        Raises
        ------
        ArgumentError
            For an interval join, which has no windows.
        """
        return self.drawing("windows", between, batch).chart()

    def misses(self) -> alt.LayerChart:
        """Near misses: time differences between rows without partner and the nearest of their key, with the bounds."""
        return self.drawing("misses").chart()

    def state(self, batch: int | None = None) -> alt.VConcatChart:
        """Rows in state by side, and bytes, over micro-batches, with what was added and evicted."""
        return self.drawing("state", None, batch).chart()

    def drawing(
        self, view: str, between: Between | None = None, batch: int | None = None, reasons: bool = True
    ) -> charts.Drawing:
        """A view as layout and tables: what a page needs that redraws it while settings move.

        Parameters
        ----------
        view
            One of `VIEWS`.
        between, batch
            As above.
        reasons
            Whether rows drawn one by one bear their reasons, which takes longest to work out.
        """
        one_of("view", view, VIEWS)
        run, cut = self._run, _cut(between)
        at = charts.LATEST if batch is None else _checked_batch(run, batch)
        match view:
            case "timeline":
                drawing = self._timeline(cut, at, reasons)
            case "arrival":
                drawing = self._arrival(cut, at, reasons)
            case "late":
                drawing = late(run, cut)
            case "watermarks":
                drawing = _batches.watermarks(run)
            case "windows":
                if isinstance(run.join, IntervalJoin):
                    raise wrong("join", run.join, "an interval join has no windows; use charts.timeline()")
                drawing = windows(run, run.join, cut, f"{_kind(run)}: what each window held", reasons)
            case "misses":
                drawing = misses(run, f"{_kind(run)}: near misses")
            case _:
                drawing = _batches.state(run)
        drawing.params[charts.MOMENT] = at
        return drawing

    def _timeline(self, cut: Cut, at: int, reasons: bool) -> charts.Drawing:
        run, title = self._run, f"{_kind(self._run)} on event time"
        if many(run, cut):
            table, step = counts(run, cut, at)
            return charts.counts(table, self._names, title, step)
        shown = rows(run, cut.rows(run), reasons)
        eviction = run.outcome.marks.eviction
        marks = pd.DataFrame({"batch": np.arange(len(eviction)), "watermark": eviction.astype("datetime64[us]")})
        behind = _near(spans(run), cut)
        return charts.timeline(shown, pairs(run, shown), behind, self._names, title, self._reach, marks)

    def _arrival(self, cut: Cut, at: int, reasons: bool) -> charts.Drawing:
        run = self._run
        marks = run.batches.loc[run.batches["kind"] == "data", ["batch", "late_watermark"]].copy()
        marks["late_watermark"] = _utc(marks["late_watermark"])
        if many(run, cut):
            table, step = counts(run, cut, at, by_batch=True)
            return charts.arrival_counts(table, marks, self._names, "Arrival and watermark", step)
        return charts.arrival(rows(run, cut.rows(run), reasons), marks, self._names, "Arrival and watermark")

    def of_key(self, side: str, row: int) -> alt.LayerChart:
        """The timeline of all rows of one row's key."""
        run = self._run
        keys = dict(zip(("left", "right"), run.outcome.keys, strict=True))
        shown = rows(run, {each: np.flatnonzero(keys[each] == keys[side][row]) for each in keys}, reasons=False)
        key = shown["key"].iloc[0]
        behind = spans(run)
        behind = behind[(behind["key"].isna() | (behind["key"] == key)) & (behind["start"] <= shown["time"].max())]
        behind = behind[behind["end"] >= shown["time"].min()]
        drawing = charts.timeline(shown, pairs(run, shown), behind, self._names, f"Key {key}", self._reach)
        drawing.params[charts.PICKED] = [f"{side}-{row}"]
        return drawing.chart().properties(height=180)

    @property
    def _reach(self) -> tuple[timedelta, timedelta] | None:
        join = self._run.join
        return (exact(join.lower), exact(join.upper)) if isinstance(join, IntervalJoin) else None

    @property
    def _names(self) -> tuple[str, str]:
        return self._run.left.name, self._run.right.name


def at(run: Run, batch: int) -> Moment:
    """What a run looked like at the end of a micro-batch.

    Raises
    ------
    ArgumentError
        If there is no such micro-batch.
    """
    return moment(run, _checked_batch(run, batch))


def _cut(between: Between | None) -> Cut:
    try:
        return Cut.of(between)
    except (TypeError, ValueError):
        raise wrong(
            "between", between, 'give two event times, such as ("2026-01-01 09:00", "2026-01-01 09:10")'
        ) from None


def _checked_batch(run: Run, batch: object) -> int:
    last = len(run.outcome.marks) - 1
    if isinstance(batch, bool) or not isinstance(batch, int) or not 0 <= batch <= last:
        raise wrong("batch", batch, f"this run has micro-batches 0 to {last}")
    return batch


def _near(spans: pd.DataFrame, cut: Cut) -> pd.DataFrame:
    if cut == Cut():
        return spans
    low, high = (pd.Timestamp(each, unit="us") for each in (cut.low, cut.high))
    return spans[(spans["end"] > low) & (spans["start"] <= high)]


def _utc(moments: pd.Series) -> pd.Series:
    return _arrow.in_zone(moments, None) if moments.dt.tz is None else moments.dt.tz_convert("UTC").dt.tz_localize(None)


def _kind(run: Run) -> str:
    if isinstance(run.join, IntervalJoin):
        return "Interval join"
    words = {"Tumbling": "Tumbling window", "Sliding": "Sliding window", "Session": "Session window"}
    window = words[type(run.join.window).__name__]
    return f"coGroup, {window.lower()}s" if isinstance(run.join, CoGroup) else f"{window} join"
