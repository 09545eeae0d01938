"""The views of the page, in groups: those of a run that are registered, and the page's own; and the choice of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import ipywidgets as widgets

from workbench import charts
from workbench.app._form import show
from workbench.kinds import kind_of
from workbench.runs.result import Result


@dataclass(frozen=True)
class Tab:
    """A view of the page.

    Attributes
    ----------
    name, help
        What is written on its tab, and what it shows.
    group
        The group that it is in.
    parts
        The parts of the page that it shows.
    view
        The view of the run that it shows; None for the page's own tabs.
    nothing
        What is said where there is nothing to show yet.
    of_live
        Whether it shows a live query: it is offered from the first one on.
    """

    name: str
    help: str
    group: str
    parts: tuple[str, ...]
    view: charts.View | None = None
    nothing: str = ""
    of_live: bool = False

    @property
    def mute(self) -> bool:
        """Whether the explanation of what is picked is left out beside it."""
        return bool({"code", "runs", "tune", "flink"} & set(self.parts))

    @property
    def of_rows(self) -> bool:
        """Whether it shows a stretch of event time, which is chosen by dragging."""
        return self.view.of_rows if self.view is not None else "flink" in self.parts

    @property
    def of_time(self) -> bool:
        """Whether it shows a moment of the run, or a stretch of its event time."""
        return self.name not in ("Throughput", "Tune", "Flink")

    @property
    def of_windows(self) -> bool:
        """Whether it shows windows, which not every join has."""
        return self.view is not None and self.view.of_windows


_SCRIPT = "The PySpark script of this join, the same for Flink, a test of it, and a cell that does what this page does."
_NOT_LIVE = "No live query yet: Go live, and the generators write while the query runs."
_LIVE = "How a live query keeps up: rates, duration of micro-batches, waiting rows, backpressure."
_FLINK = "The same rows under Flink's rules: those that differ, the reasons, and the nearest settings."
_TUNE = "What each watermark delay keeps and costs; click a point to apply its setting."
_OWN = (
    Tab("Output", "The rows that the join wrote.", "Rows", ("table",)),
    Tab("Throughput", _LIVE, "State", ("chart",), nothing=_NOT_LIVE, of_live=True),
    Tab("Tune", _TUNE, "Tune", ("tune", "chart", "advice")),
    Tab("Script", _SCRIPT, "Hand on", ("code",)),
    Tab("Flink", _FLINK, "Hand on", ("flink", "chart", "stories")),
    Tab("Runs", "Past runs: go back to one, compare two side by side.", "Hand on", ("runs",)),
)
_GROUPS = {
    "Rows": "What became of each row, and why.",
    "Watermark and late": "How the watermark moved, who held it back, and which rows came behind it.",
    "State": "What the join holds, since when and until when.",
    "Tune": "What other settings would keep, and what they cost.",
    "Hand on": "The script, the same join for Flink, a test, and past runs.",
}


def tabs() -> tuple[Tab, ...]:
    """The views of a run that are registered, and the page's own, in the order of their groups."""
    every = [*(Tab(view.tab, view.tip, view.group, _parts(view), view) for view in charts.views() if view.tab), *_OWN]
    return tuple(sorted(every, key=lambda tab: charts.GROUPS.index(tab.group)))


def _parts(view: charts.View) -> tuple[str, ...]:
    below = {"table": view.listed is not None or view.lists_state}
    below |= dict.fromkeys(("steps", "lifetimes"), view.has_steps)
    return ("chart", *(name for name, is_there in below.items() if is_there))


class TabChoice:
    """The choice of a view: a row of groups, and below it the views of the one that is chosen.

    Parameters
    ----------
    changed
        Called when another view is chosen.

    Attributes
    ----------
    widget
        Both rows.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self._tabs = {tab.name: tab for tab in tabs()}
        self._changed = [changed]
        self._live, self._windowed = False, True
        self._of_group = {group: next(each for each in self._tabs.values() if each.group == group) for group in _GROUPS}
        auto = {"button_width": "auto"}
        self._groups = widgets.ToggleButtons(options=list(_GROUPS), tooltips=list(_GROUPS.values()), style=auto)
        self._groups.add_class("sjw-groups")
        self._views = widgets.ToggleButtons(options=[self.tab.name], style=auto)
        self._views.add_class("sjw-tabs")
        self._offering = False
        self._offer()
        self._groups.observe(lambda _: self._turn(), "value")
        self._views.observe(lambda change: self._chosen(change["new"]), "value")
        self.widget = widgets.HBox([self._groups, self._views])
        self.widget.add_class("sjw-choice")

    @property
    def tab(self) -> Tab:
        """The view that is chosen."""
        return self._of_group[self._groups.value]

    def open(self, name: str) -> None:
        """Choose a view, if there is one of this name."""
        tab = self._tabs.get(name)
        if tab is None or tab not in self._there():
            return
        self._of_group[tab.group] = tab
        if self._groups.value == tab.group:
            self._views.value = name
        else:
            self._groups.value = tab.group

    def offer_live(self) -> None:
        """Offer the views of a live query, too."""
        if not self._live:
            self._live = True
            self._offer()

    def fit(self, run: Result) -> None:
        """Offer the views that a run has something for; where the open one has nothing, open the first of its group."""
        if (windowed := kind_of(run.join).windowed) == self._windowed:
            return
        self._windowed, before = windowed, self.tab
        there = self._there()
        self._of_group = {
            group: tab if tab in there else next(each for each in there if each.group == group)
            for group, tab in self._of_group.items()
        }
        self._offer()
        if self.tab is not before:
            self._tell()

    def _there(self) -> list[Tab]:
        """The views that there are of what is shown."""
        of_run = [each for each in self._tabs.values() if self._windowed or not each.of_windows]
        return [each for each in of_run if self._live or not each.of_live]

    def call_when_changed(self, function: Callable[[], None]) -> None:
        """Call a function, too, when another view is chosen."""
        self._changed.append(function)

    def _turn(self) -> None:
        """Show the views of another group, and the one of them that was chosen last."""
        self._offer()
        self._tell()

    def _offer(self) -> None:
        chosen = self.tab
        offered = [each for each in self._there() if each.group == chosen.group]
        self._offering = True
        self._views.options = [each.name for each in offered]
        self._views.tooltips = [each.help for each in offered]
        self._views.value = chosen.name
        self._offering = False
        show(self._views, len(offered) > 1)

    def _chosen(self, name: str) -> None:
        if not self._offering:
            self._of_group[self._groups.value] = self._tabs[name]
            self._tell()

    def _tell(self) -> None:
        for each in self._changed:
            each()
