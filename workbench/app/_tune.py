"""Tuning in the page: what other settings would keep and cost, and taking one of them by a click."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress

import ipywidgets as widgets

from workbench.app._answer import answer, best_of, changed
from workbench.app._form import show
from workbench.app.html import HTML, html
from workbench.charts import Drawing, tuning_views
from workbench.errors import ArgumentError, WorkbenchError
from workbench.literals import DELAYS, Setting
from workbench.reasons.labels import Labels
from workbench.runs.result import Result
from workbench.tuning import Advice, Tuning, advised, tuned

MOST_ROWS = 200_000
"""Rows of both sides up to which the page tunes by itself."""


_ASKED = {
    "keep": (
        "99.9",
        "Keep at least, %",
        "The share of the complete result to keep, which is that of the same join with no row late; empty: as much as "
        "possible.",
    ),
    "rows": ("", "Rows in state, at most", "The most rows in state at once; empty: any number."),
    "time": ("", "Time in state, at most", "The longest time of a row in state, such as 60 s; empty: any time."),
}
"""What the tab asks: by name the value, the words, and the tooltip of each field."""


class TunePanel:
    """One question, how much to keep and how much to hold in state, and the setting that answers it.

    Parameters
    ----------
    changed
        Called when another chart is chosen.
    apply
        Called with the settings that an advice is to set.

    Attributes
    ----------
    widget
        The question, its answer, and the choice of a chart.
    advice
        What else there is to do, below the chart.
    """

    def __init__(self, changed: Callable[[], None], apply: Callable[[dict[str, str]], None]) -> None:
        self._apply = apply
        self._of: Result | None = None
        self._tuning: Tuning | None = None
        self._refused = ""
        self._named: Callable[[Setting, str], str] = "{} = {}".format
        self._known = {view.tab: view.name for view in tuning_views()}
        self._views = widgets.ToggleButtons(
            options=list(self._known),
            tooltips=[view.tip for view in tuning_views()],
            style={"button_width": "auto"},
        )
        self._text = HTML()
        self._text.add_class("sjw-tuned")
        self._recommended: dict[str, str] = {}
        self._take = widgets.Button(description="Apply", icon="check", layout=widgets.Layout(width="auto"))
        self._take.tooltip = "Apply the recommended setting to the page."
        self._take.on_click(lambda _: self._apply(self._recommended))
        self._advised: list[tuple[Advice, widgets.HBox]] = []
        self._listening: list[Callable[[], None]] = []
        self._views.observe(lambda _: changed(), "value")
        self.advice = widgets.VBox()
        self._asked = {
            name: widgets.Text(
                value,
                description=words,
                placeholder="any",
                tooltip=tip,
                continuous_update=False,
                layout=widgets.Layout(width="auto"),
            )
            for name, (value, words, tip) in _ASKED.items()
        }
        for field in self._asked.values():
            field.style.description_width = "auto"
            field.observe(lambda _: self._answer(), "value")
        for each in (self._views, *self._asked.values()):
            each.observe(lambda _: self._tell(), "value")
        self._question = widgets.HBox(list(self._asked.values()))
        self._question.add_class("sjw-asked")
        answered = widgets.HBox([self._text, self._take])
        answered.add_class("sjw-answered")
        self.widget = widgets.VBox([self._question, answered, self._views])

    def call_when_changed(self, function: Callable[[], None]) -> None:
        """Call a function when something else is asked, or another chart is chosen."""
        self._listening.append(function)

    def _tell(self) -> None:
        for each in self._listening:
            each()

    @property
    def view(self) -> str:
        """The chart that is chosen."""
        return self._known[self._views.value]

    def drawing(self, run: Result) -> Drawing | None:
        """The chosen chart of a run's tuning; None where there are too many rows."""
        rows = len(run.left) + len(run.right)
        if rows > MOST_ROWS:
            self._text.value = f"{rows:,} rows are too many to tune while you wait: use wb.tune(join, left, right)"
            return None
        if self._of is not run:
            named = Labels(run.simulation, whole=False).setting
            self._text.value = "trying other watermark delays …"
            self._advised = [(each, self._line(each, named)) for each in advised(run.simulation)]
            tuning: Tuning | None = None
            try:
                tuning = tuned(run.simulation)
            except ArgumentError as error:  # nothing of this join can be tuned
                self._refused = error.remedy
            self._of, self._tuning, self._named = run, tuning, named
        self._answer()
        for part in (self._views, self._question):
            show(part, self._tuning is not None)
        return None if self._tuning is None else self._tuning.charts.drawing(self.view)

    @property
    def asked(self) -> dict[str, str]:
        """What is asked, by name, and as ``view`` the chart that is chosen."""
        return {name: field.value for name, field in self._asked.items()} | {"view": self._views.value}

    def ask(self, asked: Mapping[str, str]) -> None:
        """Ask what was asked before, as `asked` gives it; what it does not know is left out."""
        for name, text in asked.items():
            if name in self._asked:
                self._asked[name].value = text
        if (view := asked.get("view")) in self._known:
            self._views.value = view

    def of(self, run: Result) -> Tuning | None:
        """The tuning of a run, if there was one."""
        return self._tuning if self._of is run else None

    def _answer(self) -> None:
        """Say which setting does what is asked for, and what else there is to do."""
        self._recommended = {}
        answered: tuple[Setting, ...] = ()
        if self._tuning is None:
            self._text.value = self._refused
        else:
            asked = {name: field.value.strip() for name, field in self._asked.items()}
            try:
                best = best_of(self._tuning, asked)
                self._text.value = answer(self._tuning, best, asked, self._named)
                self._recommended = changed(self._tuning, best)
                answered = tuple(DELAYS.values())  # of these the answer is the only one
            except WorkbenchError as error:
                self._text.value = html('<p class="sjw-trouble">{}</p>', error)
                with suppress(WorkbenchError):  # of limits the error names the setting that keeps most
                    self._recommended = changed(self._tuning, best_of(self._tuning, asked | {"keep": ""}))
        show(self._take, bool(self._recommended))
        self.advice.children = [line for each, line in self._advised if each.setting not in answered]

    def _line(self, one: Advice, named: Callable[[Setting, str], str]) -> widgets.HBox:
        """An advice, with a button that takes it."""
        words = HTML(str(one))
        words.add_class("sjw-advice")
        if one.setting is None or one.value is None:
            return widgets.HBox([words])
        settings: dict[str, str] = {one.setting: one.value}
        tip, own = f"Set {named(one.setting, one.value)}.", widgets.Layout(width="auto", flex="0 0 auto")
        take = widgets.Button(description="Apply", icon="check", tooltip=tip, layout=own)
        take.on_click(lambda _: self._apply(settings))
        return widgets.HBox([words, take])

    def settings(self, place: int) -> dict[str, str]:
        """The settings of a row of the tuning's table."""
        if self._tuning is None:
            return {}
        row = self._tuning.table.iloc[place]
        return {str(name): str(row[name]) for name in self._tuning.settings}
