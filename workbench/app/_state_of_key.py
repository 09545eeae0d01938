"""The state of one key, changed step by step: a row comes, what comes out with it, rows leave."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as widgets
import pandas as pd
from markupsafe import Markup

from workbench.app._form import show
from workbench.app.html import HTML, html, together
from workbench.charts import Drawing
from workbench.kinds import NEVER, kind_of
from workbench.literals import SIDES, RowId
from workbench.reasons.labels import Labels, rows_of_key
from workbench.runs import key_history
from workbench.runs.result import Result
from workbench.sources.arrow import AFTER_ALL
from workbench.untyped import Series

__all__ = ["KeySteps"]

_MOST_ROWS = 12
"""Rows in state that are listed."""
_AFTER_ALL = AFTER_ALL.value // 1000
_WORDS = {
    key_history.ADDED: "comes, and is added to state",
    key_history.EVICTED: "leaves state",
    key_history.LATE: "comes late, and is dropped",
    key_history.NULL_KEY: "comes without a key, and is filtered out",
    key_history.REMOVED: "comes, and is removed before it reaches the join",
    key_history.NOT_KEPT: "comes, and is not kept: the watermark of its micro-batch is past it",
}


class KeySteps:
    """A key, a slider over what happens to its state, and what is held after it.

    Parameters
    ----------
    pick
        Called with the row of the step that was chosen.

    Attributes
    ----------
    widget
        The panel.
    """

    def __init__(self, pick: Callable[[list[RowId]], None]) -> None:
        self._pick = pick
        self._run: Result | None = None
        self._events = pd.DataFrame()
        self._filling = False
        narrow = widgets.Layout(width="36px")
        wide = widgets.Layout(width="240px")
        self._key = widgets.Combobox(description="Key", ensure_option=False, continuous_update=False, layout=wide)
        self._key.tooltip = "Any key; the list has those with the most rows in state."
        self._key.style.description_width = "auto"
        back = widgets.Button(icon="step-backward", tooltip="One step back", layout=narrow)
        on = widgets.Button(icon="step-forward", tooltip="One step on", layout=narrow)
        self._slider = widgets.IntSlider(1, min=1, max=1, readout=False, layout=widgets.Layout(flex="1 1 auto"))
        self._slider.tooltip = "The changes of the key's state, one event after the other."
        back.on_click(lambda _: self._go(-1))
        on.on_click(lambda _: self._go(1))
        self._key.observe(lambda _: self._chosen(), "value")
        self._slider.observe(lambda _: self._moved(), "value")
        self._stepping = widgets.HBox([back, on, self._slider])
        self._story = HTML()
        self._story.add_class("sjw-steps")
        self.widget = widgets.VBox([self._key, self._stepping, self._story])

    def show(self, run: Result, drawing: Drawing | None) -> None:
        """Step through a run; offer the keys of its chart."""
        self._run = run
        offered = [] if drawing is None else list(dict.fromkeys(drawing.tables["held"]["of_key"]))
        self._filling = True
        try:
            self._key.options = tuple(offered)
            if offered and self._key.value not in set(run.keys):
                self._key.value = offered[0]
        finally:
            self._filling = False
        self._follow()

    def choose(self, key: str) -> None:
        """Step through the state of another key."""
        self._key.value = key

    def _chosen(self) -> None:
        if not self._filling:
            self._follow()

    def _follow(self) -> None:
        """Look up what happens to the key, and go to the first step."""
        run = self._run
        if run is None:
            return
        rows = rows_of_key(run.simulation, run.keys.to_numpy(), self._key.value)
        self._events = key_history.events(run.simulation, rows)
        self._filling = True
        try:
            count = max(len(self._events), 1)
            self._slider.value = min(self._slider.value, count)
            self._slider.max, self._slider.value = count, 1
        finally:
            self._filling = False
        show(self._stepping, len(self._events) > 0)
        self._tell()

    def _go(self, by: int) -> None:
        self._slider.value = max(1, min(self._slider.max, self._slider.value + by))

    def _moved(self) -> None:
        if self._filling or self._events.empty:
            return
        self._tell()
        event = self._events.iloc[self._slider.value - 1]
        self._pick([RowId(event["side"], int(event["row"]))])

    def _tell(self) -> None:
        run, events = self._run, self._events
        if run is None or events.empty:
            words = f"No row has the key {self._key.value!r}." if self._key.value else "No key is ever in state."
            self._story.value = html("<p>{}</p>", words)
            return
        labels, step = Labels(run.simulation, whole=False), self._slider.value
        event = events.iloc[step - 1]
        of = html("<b>Step {} of {}</b>", f"{step:,}", f"{len(events):,}")
        batch, watermark = run.simulation.first + int(event["batch"]), _watermark(labels, event)
        self._story.value = html(
            "<p>{} · micro-batch {} · watermark {}</p><p>{}</p>{}",
            of, batch, watermark, _what_happens(run, labels, event), _held(run, labels, events.iloc[:step]),
        )  # fmt: skip


def _what_happens(run: Result, labels: Labels, event: Series) -> str:
    stream = run.side(event["side"])
    label = labels.label(event["side"], int(event["row"]))
    if stream.identity is not None:  # else it is called by its time
        label += f", {labels.moment(int(stream.event_times[event['row']]))},"
    window = f" of the window {_span(labels, event)}" if run.windowed else ""
    out = int(event["emitted"])
    result = f"; {out:,} {'row comes' if out == 1 else 'rows come'} out" if out else ""
    return f"{stream.name}: {label}{window} {_WORDS[event['change']]}{result}."


def _watermark(labels: Labels, event: Series) -> str:
    watermark = int(event["watermark"])
    if watermark <= 0:
        return "not yet known"
    return "at the end of the input" if watermark >= _AFTER_ALL else labels.moment(watermark)


def _span(labels: Labels, event: Series) -> str:
    return f"{labels.moment(int(event['start']))} to {labels.moment(int(event['end']))}"


def _held(run: Result, labels: Labels, events: pd.DataFrame) -> Markup:
    """What is in state after some events."""
    last = events.iloc[-1]
    counts = " and ".join(f"{last[side]:,} of {run.side(side).name}" for side in SIDES)
    added, gone = (
        events[events["change"] == change].set_index(["side", "assignment"], drop=False)
        for change in (key_history.ADDED, key_history.EVICTED)
    )
    rows = added[~added.index.isin(gone.index)]
    if rows.empty:
        return html("<p>Nothing of the key is in state.</p>")
    shown = rows.tail(_MOST_ROWS)
    lines = [_line(run, labels, row, row.equals(last)) for _, row in shown.iterrows()]
    window = ["window"] if run.windowed else []
    known_later = kind_of(run.join).merging or "leaves_at" in run.simulation.outcome.assignments["right"]
    until = "until (later rows decide)" if known_later else "until"
    head = together(html("<th>{}</th>", each) for each in ("in state", "", *window, "since micro-batch", until))
    more = len(rows) - len(lines)
    rest = html("<p>and {} that came before</p>", f"{more:,}") if more else html("")
    table = html('<table class="sjw-in-state"><tr>{}</tr>{}</table>', head, together(lines))
    return html("<p>In state: {}</p>{}{}", counts, table, rest)


def _line(run: Result, labels: Labels, row: Series, is_new: bool) -> Markup:
    until = f"watermark {labels.moment(int(row['leaves_at']))}" if row["leaves_at"] < NEVER else "nothing evicts it"
    since = str(run.simulation.first + int(row["batch"]))
    window = [_span(labels, row)] if run.windowed else []
    cells = [labels.label(row["side"], int(row["row"])), run.side(row["side"]).name, *window, since, until]
    marked = "sjw-differs" if is_new else ""
    return html('<tr class="{}">{}</tr>', marked, together(html("<td>{}</td>", each) for each in cells))
