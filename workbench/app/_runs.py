"""Past runs: the list, the way back, and two of them side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from html import escape

import ipywidgets as widgets
import pandas as pd
from itables.widget import ITable

from workbench.app._figures import figures, side_by_side
from workbench.app._form import State, show
from workbench.app._settings import Asked, describe
from workbench.errors import ArgumentError
from workbench.results import Run

MOST_RUNS = 20
_MOST_ROWS = 1_000


@dataclass(frozen=True)
class Past:
    """A run with what the page was set to."""

    number: int
    run: Run
    asked: Asked
    state: State
    seconds: float

    @cached_property
    def figures(self) -> dict[str, int]:
        """What it gave, in figures."""
        return figures(self.run)

    @property
    def title(self) -> str:
        """Its line in the list."""
        words = ", ".join(f"{count:,} {name}" for name, count in self.figures.items() if name != "rows out")
        return f"{self.number} · {self.asked.join!r} · {words} · {self.seconds:.1f} s"


class RunsPanel:
    """Past runs.

    Parameters
    ----------
    back
        Called with the run to go back to.
    submit
        Does a job in the thread that draws.

    Attributes
    ----------
    widget
        The panel.
    past
        The runs, the last of them last.
    """

    def __init__(self, back: Callable[[Past], None], submit: Callable[[Callable[[], None]], None]) -> None:
        self.past: list[Past] = []
        self._submit = submit
        wide = widgets.Layout(flex="1 1 auto", min_width="0")
        self.one = widgets.Dropdown(description="Run", layout=wide, tooltip="A past run.")
        self.other = widgets.Dropdown(description="against", layout=wide, tooltip="The run to hold it against.")
        self.go = widgets.Button(description="Go back to it", icon="history", tooltip="Its settings and what it gave.")
        self.go.layout.width = "auto"
        self.words = widgets.HTML()
        self.words.add_class("sjw-compared")
        self.note, self.table = widgets.HTML(), ITable()
        self.go.on_click(lambda _: self._back(back))
        for each in (self.one, self.other):
            each.observe(lambda _: self._submit(self.compare), "value")
        first, second = widgets.HBox([self.one, self.go]), widgets.HBox([self.other])
        self.widget = widgets.VBox([first, second, self.words, self.note, self.table])
        self.widget.add_class("sjw-table")
        self._fill()

    def _back(self, back: Callable[[Past], None]) -> None:
        chosen = self._find(self.one.value)
        if chosen is not None:
            back(chosen)

    def _find(self, number: int | None) -> Past | None:
        return next((each for each in self.past if each.number == number), None)

    def add(self, run: Run, asked: Asked, state: State, seconds: float) -> Past:
        """Keep a run; beyond `MOST_RUNS` the oldest is given up, and its folder with it."""
        number = self.past[-1].number + 1 if self.past else 1
        self.past = [*self.past, Past(number, run, asked, state, seconds)][-MOST_RUNS:]
        self._fill()
        return self.past[-1]

    def _fill(self) -> None:
        options = [(each.title, each.number) for each in reversed(self.past)]
        self.one.options = self.other.options = options
        if options:
            self.one.value, self.other.value = options[0][1], options[min(1, len(options) - 1)][1]
        for each in (self.one, self.other, self.go):
            each.disabled = not options
        self.compare()

    def compare(self) -> None:
        """Hold the two chosen runs against each other."""
        one, other = self._find(self.one.value), self._find(self.other.value)
        show(self.table, False)
        self.note.value = ""
        if one is None or other is None:
            self.words.value = "No run yet: Run on Spark, and it is listed here with its settings and figures."
            return
        titles = [f"run {each.number}" for each in (one, other)]
        told: list[dict[str, object]] = [{**describe(each.asked), **each.figures} for each in (one, other)]
        if one is other:
            self.words.value = side_by_side(titles[:1], told[0])
            return
        self.words.value = side_by_side(titles, *told)
        try:
            moved = one.run.against(other.run)
        except ArgumentError as error:
            self.note.value = escape(error.remedy)
            return
        self.note.value = f"{len(moved):,} rows have another fate in run {one.number} than in run {other.number}"
        if len(moved):
            show(self.table, True)
            first = ["side", "fate", "other_fate", "reason", "other_reason"]
            ordered: pd.DataFrame = moved[[*first, *(name for name in moved if name not in first)]]
            self.table.update(ordered.head(_MOST_ROWS))
