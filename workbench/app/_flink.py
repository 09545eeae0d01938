"""The tab Flink: the same rows under Flink's rules, what fares differently there, and both stories of a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import ipywidgets as widgets
from markupsafe import Markup

from workbench import flink
from workbench.app._form import show
from workbench.app.html import HTML, html, together
from workbench.charts import WHOLE, Cut, Drawing
from workbench.counts import counted
from workbench.errors import ArgumentError, WorkbenchError
from workbench.kinds import kind_of
from workbench.literals import RowId, Setting
from workbench.reasons.labels import Labels
from workbench.runs.result import Result
from workbench.untyped import Record, Value

MOST_ROWS = 200_000
"""Rows of both sides up to which the page compares."""
_MOST_TRIED = 5_000
"""Rows of both sides up to which it looks for the settings that come nearest."""
_MOST_LISTED = 200
_STEPS = {"after each micro-batch": "micro-batch", "after each row": "row"}
_IDLE = {"never": None, "after 1 micro-batch": 1, "after 2 micro-batches": 2, "after 5 micro-batches": 5}


class FlinkPanel:
    """What Flink makes of the rows of a run.

    Parameters
    ----------
    changed
        Called when other rules are chosen.
    apply
        Called with the settings of the page that come nearest.
    pick
        Called with the row that is chosen in the list.

    Attributes
    ----------
    rules, stories
        What stands above the chart, and below it.
    """

    def __init__(
        self,
        changed: Callable[[], None],
        apply: Callable[[Record], None],
        pick: Callable[[list[RowId]], None],
    ) -> None:
        self._pick = pick
        self._of: tuple[Value, ...] = ()
        self._comparison: flink.Comparison | None = None
        self._settings: Record = {}
        self._listing = False
        lateness = "How long after its end a window in Flink still takes rows; it fires again for each."
        self.lateness = widgets.Text("0 seconds", description="Allowed lateness", tooltip=lateness)
        self.lateness.continuous_update = False
        self.steps = widgets.Dropdown(options=list(_STEPS), description="Watermark moves")
        self.steps.tooltip = "Flink moves the watermark with the rows; after each micro-batch is closest to Spark."
        self.idle = widgets.Dropdown(options=list(_IDLE), description="A side is idle")
        self.idle.tooltip = "withIdleness: after this time without rows, a side no longer holds the watermark back."
        for each in (self.lateness, self.steps, self.idle):
            each.style.description_width = "auto"
            each.layout.width = "auto"
            each.observe(lambda _: changed(), "value")
        self.text = HTML()
        self.text.add_class("sjw-tuned")
        own = widgets.Layout(width="auto", flex="0 0 auto")
        self._take = widgets.Button(icon="check", description="Set these on Spark", layout=own)
        self._take.on_click(lambda _: apply(self._settings))
        choices = widgets.HBox([self.lateness, self.steps, self.idle])
        choices.add_class("sjw-tools")
        self.rules = widgets.VBox([choices, self.text, self._take])
        self.list = widgets.Dropdown(options=[("none", "")], description="Both stories of")
        self.list.tooltip = "The rows that differ; or pick one in the chart."
        self.list.style.description_width = "auto"
        self.list.layout.width = "auto"
        self.list.observe(lambda change: self._chosen(change["new"]), "value")
        self.story = HTML()
        self.story.add_class("sjw-stories")
        self.stories = widgets.VBox([self.list, self.story])
        show(self._take, False)

    @property
    def asked(self) -> tuple[str, str, str]:
        """The rules that are chosen."""
        return self.lateness.value, self.steps.value, self.idle.value

    def drawing(self, run: Result, cut: Cut) -> Drawing | None:
        """The chart of a stretch of event time; None where nothing can be compared, and then the text says why."""
        show(self.lateness, run.windowed)
        if self._of != (run, *self.asked):
            self._of, self._comparison, self._settings = (run, *self.asked), None, {}
            self.text.value = self._compared(run)
            show(self._take, bool(self._settings))
            self._offer()
        show(self.stories, self._comparison is not None)
        between = cut.between if cut.axis == WHOLE.axis else None
        return None if self._comparison is None else self._comparison.drawing(between)

    def explain(self, picked: list[RowId]) -> None:
        """Both stories of the row that is picked."""
        comparison = self._comparison
        if comparison is None:
            return
        one = picked[0] if len(picked) == 1 else None
        self._listing = True
        try:
            known = [value for _, value in self.list.options]
            self.list.value = str(one) if one is not None and str(one) in known else ""
        finally:
            self._listing = False
        if one is None:
            self.story.value = html("<p>Pick a row, in the chart or in the list: its story on Spark, and in Flink.</p>")
            return
        place = one.row + (len(comparison.here.left) if one.side == "right" else 0)
        self.story.value = _side_by_side(comparison.why(place).itertuples(index=False))

    def _compared(self, run: Result) -> str:
        """Compare; gives what is to be said of it."""
        rows, kind = len(run.left) + len(run.right), kind_of(run.join)
        for each in (self.steps, self.idle):
            show(each, not kind.not_compared)
        if kind.not_compared:
            return f"Nothing to compare: {kind.not_compared}"
        if rows > MOST_ROWS:
            return f"{rows:,} rows are too many to compare while you wait: use wb.flink.compare"
        if run.simulation.logged is not None:
            return "The fates of a running job follow its log: compare a preview of its streams instead"
        lateness = self.lateness.value if run.windowed else "0 seconds"
        try:
            there = flink.preview(
                run.join,
                run.left,
                run.right,
                allowed_lateness=lateness,
                watermarks=_STEPS[self.steps.value],
                idleness=_IDLE[self.idle.value],
            )
            self._comparison = flink.compare(run, there)
            return self._nearest(run) if rows <= _MOST_TRIED else ""
        except WorkbenchError as error:
            self._comparison = None
            return error.remedy if isinstance(error, ArgumentError) else str(error)

    def _nearest(self, run: Result) -> Markup:
        """What settings of either engine come nearest to the other, if rows have another fate."""
        comparison = self._comparison
        if comparison is None or not len(comparison.counts):
            return html("")
        named = Labels(run.simulation, whole=False).setting
        parts = []
        for engine, words in (("spark", "On Spark"), ("flink", "In Flink")):
            nearest = comparison.nearest(engine)
            now, best = nearest.now, nearest.table.iloc[0]
            if best["other_fate"] < now:
                settings = ", ".join(_words(named, name, value) for name, value in nearest.settings.items())
                left = f"{counted(best['other_fate'], 'row')} in place of {now:,} with another fate"
                parts.append(html("<p><b>{}, nearest is</b> {}: {}.</p>", words, settings, left))
                if engine == "spark":
                    self._settings = {
                        name: value == "True" if name == "finish" else value for name, value in nearest.settings.items()
                    }
        if not parts:
            return html("<p>No other delay or allowed lateness that was tried brings them nearer.</p>")
        return together(parts)

    def _offer(self) -> None:
        """List the rows that fare differently."""
        options = [("a row", "")]
        if self._comparison is not None:
            run, kinds = self._comparison.here, self._comparison.kinds
            labels, first = Labels(run.simulation, whole=False), len(run.left)
            for place in (kinds >= 0).nonzero()[0][:_MOST_LISTED].tolist():
                of = RowId.at(place, first)
                name = f"{run.side(of.side).name}: {labels.label(*of)} · {flink.DIFFERENCES[kinds[place]]}"
                options.append((name, str(of)))
        self._listing = True
        try:
            self.list.options = options
        finally:
            self._listing = False

    def _chosen(self, row: str) -> None:
        if not self._listing:
            self._pick([RowId.parse(row)] if row else [])


def _words(named: Callable[[Setting, str], str], name: str, value: str) -> str:
    if name == "finish":
        return "every window closed at the end" if value == "True" else "no window closed at the end"
    return f"an allowed lateness of {value}" if name == "allowed_lateness" else named(name, value)  # type: ignore[arg-type]


def _side_by_side(steps: Iterable[tuple[str, str, str]]) -> Markup:
    """A table of what each step of a story is about, and what it says on Spark and in Flink."""
    lines = []
    for about, here, there in steps:
        marked = "sjw-differs" if here != there else ""
        lines.append(html('<tr class="{}"><th>{}</th><td>{}</td><td>{}</td></tr>', marked, about, here, there))
    head = html("<tr><th></th><th>on Spark</th><th>in Flink</th></tr>")
    return html('<table class="sjw-both">{}{}</table>', head, together(lines))
