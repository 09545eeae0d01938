"""What a time to live of the right rows in state would cost an as-of join without tolerance."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import ipywidgets as widgets
import pandas as pd
from markupsafe import Markup

from workbench.app._form import show
from workbench.app.html import HTML, html, together
from workbench.counts import counted
from workbench.errors import ArgumentError
from workbench.kinds import kind_of, part_of
from workbench.reasons.labels import Labels
from workbench.runs import expiry
from workbench.runs.result import Result

__all__ = ["LifetimesPanel"]

_MOST_ROWS = 8
"""Rows that lose their partner that are listed."""
_CLOCKS = {"by_event_time": "Event time", "by_processing_time": "Processing time"}
_NOTES = {
    "by_event_time": "like a tolerance of {}: a replay gives the same",
    "by_processing_time": "Spark's TTLConfig, Flink's StateTtlConfig: differs in a replay, or after a pause",
}


class LifetimesPanel:
    """A time to live for the right rows of an as-of join without tolerance, and what it costs on this recording.

    Parameters
    ----------
    submit
        Does a job in the thread that draws, as `CoalescingWorker.submit` does.

    Attributes
    ----------
    widget
        The panel; it hides itself for other joins.
    """

    def __init__(self, submit: Callable[[str, Callable[[], None]], None]) -> None:
        self._run: Result | None = None
        self._ttl = widgets.Text("", description="Time to live", placeholder="forever", continuous_update=False)
        self._ttl.tooltip = "How long a right row stays in state, in event time or in processing time."
        self._trigger = widgets.Text("", description="Micro-batch every", continuous_update=False)
        self._trigger.placeholder = "as the rows arrived"
        self._trigger.tooltip = "How often a micro-batch runs: in processing time the result depends on it."
        for each in (self._ttl, self._trigger):
            each.style.description_width = "auto"
            each.layout.width = "230px"
            each.observe(lambda _: submit("lifetimes", self._tell), "value")
        self._text = HTML()
        self._text.add_class("sjw-lifetimes")
        fields = widgets.HBox([self._ttl, self._trigger], layout=widgets.Layout(margin="14px 0 0 0"))
        fields.add_class("sjw-tools")
        self._shown = widgets.VBox([fields, self._text])
        self.widget = widgets.VBox([self._shown])

    def show(self, run: Result) -> None:
        """Show what the time to live would do to a run's rows."""
        self._run = run
        show(self._shown, part_of(run.join, expiry.Expiring) is not None)
        self._tell()

    def _tell(self) -> None:
        run = self._run
        if run is None or part_of(run.join, expiry.Expiring) is None:
            return
        ttl, trigger = self._ttl.value.strip(), self._trigger.value.strip() or None
        if not ttl:
            held_by = kind_of(run.join).held_by(run.join, "right")
            self._text.value = html("<p>What holds rows of {} in state is {}.</p>", run.right.name, held_by)
            return
        try:
            lives = expiry.lifetimes(run.simulation, ttl, trigger)
        except ArgumentError as error:
            self._text.value = str(error)
            return
        partners = expiry.partners(lives)
        self._text.value = html("{}{}", _counts(run, partners, expiry.expired(lives), ttl), _lost(run, partners))


def _counts(run: Result, partners: pd.DataFrame, expired: pd.DataFrame, ttl: str) -> Markup:
    """What either clock does to partners, and how many right rows expire."""
    lines = []
    for clock, name in _CLOCKS.items():
        found = partners[clock].value_counts()
        cells = [name, *(f"{found.get(fate, 0):,}" for fate in ("the same", "another", "none"))]
        cells += [f"{expired[clock].notna().sum():,}", _NOTES[clock].format(ttl)]
        lines.append(cells)
    names = ["", "same partner", "another", "none", f"{run.right.name} that expire", ""]
    return _table(names, lines)


def _lost(run: Result, partners: pd.DataFrame) -> Markup:
    """The left rows whose partner another clock changes, the first of them."""
    changed = partners[(partners["by_event_time"] != "the same") | (partners["by_processing_time"] != "the same")]
    if changed.empty:
        return html("<p>No row of {} has another partner.</p>", run.left.name)
    labels, first = Labels(run.simulation, whole=False), len(run.left)
    lines = []
    for place, row in changed.head(_MOST_ROWS).iterrows():
        cells = [labels.label("left", place), labels.label("right", row["partner"] - first)]
        cells += [labels.span(row[name] // pd.Timedelta(1, "us")) for name in ("apart", "in_state")]
        cells += [row[clock] for clock in _CLOCKS]
        lines.append(cells)
    names = [run.left.name, "partner", "apart", "in state for", *(f"in {each.lower()}" for each in _CLOCKS.values())]
    more = len(changed) - len(lines)
    rest = html("<p>and {} more</p>", counted(more, "row")) if more else html("")
    return html("{}{}", _table(names, lines), rest)


def _table(names: Iterable[str], lines: Iterable[Iterable[str]]) -> Markup:
    """A table with a head."""
    head = html("<tr>{}</tr>", together(html("<th>{}</th>", each) for each in names))
    rows = (html("<tr>{}</tr>", together(html("<td>{}</td>", each) for each in line)) for line in lines)
    return html('<table class="sjw-in-state">{}{}</table>', head, together(rows))
