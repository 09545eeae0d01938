"""Tuning in the page: what other settings would keep and cost, and taking one of them by a click."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import ipywidgets as widgets

from workbench.app._form import show
from workbench.app.html import HTML, html
from workbench.charts import Drawing, tuning_views
from workbench.errors import ArgumentError, WorkbenchError, read_whole, wrong
from workbench.literals import Setting
from workbench.reasons.labels import Labels
from workbench.runs.result import Result
from workbench.tuning import Advice, Best, Tuning, advised, tuned

MOST_ROWS = 200_000
"""Rows of both sides up to which the page tunes by itself."""


_ASKED = {
    "keep": (
        "99.9",
        "Keep at least, %",
        "The share of the complete result to keep; empty: as much as possible.",
    ),
    "rows": ("", "Rows in state, at most", "The most rows in state at once; empty: any number."),
    "time": ("", "Time in state, at most", "The longest time of a row in state, such as 60 s; empty: any time."),
}
"""What the tab asks: by name the value, the words, and the tooltip of each field."""


class TunePanel:
    """What other watermark delays would keep and cost.

    Parameters
    ----------
    changed
        Called when another chart is chosen.
    apply
        Called with the settings that an advice is to set.

    Attributes
    ----------
    widget
        The panel.
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
        self.text = HTML()
        self.text.add_class("sjw-tuned")
        self._views.observe(lambda _: changed(), "value")
        self.advice = widgets.VBox()
        self._asked = {
            name: widgets.Text(value, description=words, placeholder="any", tooltip=tip, continuous_update=False)
            for name, (value, words, tip) in _ASKED.items()
        }
        for field in self._asked.values():
            field.layout, field.style.description_width = widgets.Layout(width="auto"), "auto"
            field.observe(lambda _: self._answer(), "value")
        row = widgets.HBox(list(self._asked.values()), layout=widgets.Layout(flex_flow="row wrap"))
        self.question = row
        self.widget = widgets.VBox([self.advice, self._views, row, self.text])

    @property
    def view(self) -> str:
        """The chart that is chosen."""
        return self._known[self._views.value]

    def drawing(self, run: Result) -> Drawing | None:
        """The chosen chart of a run's tuning; None where there are too many rows."""
        rows = len(run.left) + len(run.right)
        if rows > MOST_ROWS:
            self.text.value = f"{rows:,} rows are too many to tune while you wait: use wb.tune(join, left, right)"
            return None
        if self._of is not run:
            named = Labels(run.simulation, whole=False).setting
            self.text.value = "trying other watermark delays …"
            advice = [self._line(each, named) for each in advised(run.simulation)]
            tuning: Tuning | None = None
            try:
                tuning = tuned(run.simulation)
            except ArgumentError as error:  # nothing of this join can be tuned
                self._refused = error.remedy
            self._of, self._tuning, self._named = run, tuning, named
            self.advice.children = advice
        self._answer()
        for part in (self._views, self.question):
            show(part, self._tuning is not None)
        return None if self._tuning is None else self._tuning.charts.drawing(self.view)

    def of(self, run: Result) -> Tuning | None:
        """The tuning of a run, if there was one."""
        return self._tuning if self._of is run else None

    def _answer(self) -> None:
        """Say which setting does what is asked for."""
        if self._tuning is None:
            self.text.value = self._refused
            return
        asked = {name: field.value.strip() for name, field in self._asked.items()}
        try:
            self.text.value = html("<b>{}</b>: {}", _question(asked), _best(self._tuning, asked).text(self._named))
        except WorkbenchError as error:
            self.text.value = html("{}", error)

    def _line(self, one: Advice, named: Callable[[Setting, str], str]) -> widgets.HBox:
        """An advice, with a button that takes it."""
        words = HTML(str(one))
        words.add_class("sjw-advice")
        if one.setting is None or one.value is None:
            return widgets.HBox([words])
        settings: dict[str, str] = {one.setting: one.value}
        take = widgets.Button(description="Take it", icon="check", tooltip=f"Set {named(one.setting, one.value)}.")
        take.layout = widgets.Layout(width="auto", flex="0 0 auto")
        take.on_click(lambda _: self._apply(settings))
        return widgets.HBox([words, take])

    def settings(self, place: int) -> dict[str, str]:
        """The settings of a row of the tuning's table."""
        if self._tuning is None:
            return {}
        row = self._tuning.table.iloc[place]
        return {str(name): str(row[name]) for name in self._tuning.settings}


def _best(tuning: Tuning, asked: Mapping[str, str]) -> Best:
    """The setting that is recommended.

    Raises
    ------
    WorkbenchError
        If what is asked for cannot be read, or no setting does it.
    """
    keep, rows = asked["keep"].removesuffix("%"), asked["rows"]
    try:
        share = float(keep) / 100 if keep else None
    except ValueError:
        raise wrong("keep", asked["keep"], "write a share in percent, such as 99.9, or nothing") from None
    most = read_whole("rows in state", rows, "write a number of rows, such as 10000, or nothing") if rows else None
    return tuning.best(share, most_rows=most, most_time=asked["time"] or None)


def _question(asked: Mapping[str, str]) -> str:
    """What is asked for, in words."""
    kept = f"To keep {asked['keep'].removesuffix('%')} %" if asked["keep"] else "To keep as much as possible"
    rows = f"with at most {asked['rows']} rows in state" if asked["rows"] else ""
    time = f"each for at most {asked['time']} in state" if asked["time"] else ""
    return " ".join(filter(None, (kept, ", ".join(filter(None, (rows, time))))))
