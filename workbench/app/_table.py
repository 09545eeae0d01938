"""The table below a view: the rows that the view lists, or the output, with those that are picked selected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import ipywidgets as widgets
import pandas as pd
from itables.widget import ITable

from workbench import charts
from workbench.app._code_box import CodeBox, together
from workbench.app._form import show
from workbench.app._kept_settings import Filter
from workbench.app._listing import Listing, Query, listing
from workbench.app._looks import LOOKS, PAGE, wrapped
from workbench.app._picking import leads_on
from workbench.app.html import HTML
from workbench.charts import WHOLE, Cut
from workbench.jobs import Job
from workbench.literals import SIDES, RowId
from workbench.runs.result import Result
from workbench.runs.run import Run
from workbench.untyped import Change, Value

__all__ = ["TablePanel"]

_FATE, _SIDE = "Only rows of this fate.", "Only rows of this side."
_LEAVE = "The page is filtered by a fate or a cause of the band above: this shows all rows again."
_PICK, _NEXT = "pick one to see it in all views", ", or press n for the next that was not matched"
_SENTENCES = ("reason", "would match with")


class TablePanel:
    """A table whose rows can be picked, with what it shows of how many.

    Parameters
    ----------
    pick
        Called with the input rows of the row that was selected.
    changed
        Called when other rows are asked for.
    opening
        Gives the lines of a cell that make what is shown, as ``run``.

    Attributes
    ----------
    widget
        The panel.
    all_rows
        The button that is there while the page is filtered by a fate or a cause: it ends that.
    """

    def __init__(
        self, pick: Callable[[list[RowId]], None], changed: Callable[[], None], opening: Callable[[], str]
    ) -> None:
        self._pick, self._changed, self._opening = pick, changed, opening
        self._note, self._table = HTML(), ITable()
        self._ids: list[list[RowId]] = []
        self._listing: Listing | None = None
        self._query, self._within = Query(), WHOLE
        self._of: tuple[Value, ...] = ()
        self._count, self._first = 0, 0
        self._filling = False
        self._filter: Filter | None = None
        self._text = _tool(widgets.Text, "Search", "Rows that contain this text in a column.", continuous_update=False)
        self._fate = _tool(widgets.Dropdown, "Fate", _FATE, options=[("any", "")])
        self._side = _tool(widgets.Dropdown, "Side", _SIDE, options=[("both", "")])
        self._key = _tool(widgets.Text, "One key", "Only rows of this key.", continuous_update=False)
        self._by = _tool(widgets.Dropdown, "Sort by", "Sort all rows by this column.", options=[("arrival", "")])
        self._descending = widgets.ToggleButton(
            icon="sort-amount-desc", tooltip="The largest first", layout=widgets.Layout(width="auto")
        )
        small = widgets.Layout(width="auto", flex="0 0 auto")
        self._back = widgets.Button(icon="chevron-left", tooltip=f"The {PAGE} rows before", layout=small)
        self._on = widgets.Button(icon="chevron-right", tooltip=f"The next {PAGE} rows", layout=small)
        self._back.on_click(lambda _: self._turn(-PAGE))
        self._on.on_click(lambda _: self._turn(PAGE))
        self._asking = (self._text, self._fate, self._side, self._key, self._by, self._descending)
        for each in self._asking:
            each.observe(self._asked, "value")
        self._copy = widgets.ToggleButton(description="As pandas", icon="code", layout=small)
        self._copy.tooltip = "The code of a cell that gives these rows."
        self._copy.observe(lambda _: self._show_code(), "value")
        self._code = CodeBox()
        show(self._code, False)
        own = widgets.Layout(width="auto", flex="0 0 auto")
        self.all_rows = widgets.Button(description="show all rows", icon="times", tooltip=_LEAVE, layout=own)
        show(self.all_rows, False)
        tools = widgets.HBox([*self._asking, self.all_rows, self._back, self._on, self._copy])
        tools.add_class("sjw-tools")
        self.widget = widgets.VBox([self._note, tools, self._code, self._table])
        self.widget.add_class("sjw-table")
        self._table.observe(self._selected, "selected_rows")

    @property
    def asked(self) -> tuple[Query, int]:
        """Which rows are asked for, and the first of them that is shown."""
        chosen = self._filter
        query = Query(
            text=self._text.value.strip(),
            fate=self._fate.value if chosen is None else chosen["fate"],
            side=self._side.value if chosen is None else chosen["side"],
            cause="" if chosen is None else chosen["cause"],
            key=self._key.value.strip(),
            by=self._by.value,
            descending=self._descending.value,
        )
        return query, self._first

    def fill(self, run: Result, view: charts.View | None, batch: int | None, picked: list[RowId], cut: Cut) -> None:
        """Show rows that a view lists up to a micro-batch and in a stretch; without a view, of the output."""
        of = run, view, batch, self._filter is not None
        if self._listing is None or self._of != of:
            self._listing, self._of, self._first = listing(run, view, batch, every=self._filter is not None), of, 0
            self._offer(run, self._listing)
        if self._within != cut:
            self._within, self._first = cut, 0
        shown, (query, first) = self._listing, self.asked
        query = replace(query, cut=cut)
        found = shown.places(query, shown.asked(query))
        places = found[first : first + PAGE]
        frame, self._ids = shown.page(places)
        self._count, self._query = len(found), query
        every = f" of {len(shown):,}" if len(found) < len(shown) else ""
        inside = "" if cut.whole else " in this stretch"
        words = f"{len(found):,}{every} row{'' if len(found) == len(shown) == 1 else 's'}{inside}"
        if len(places) < len(found):
            words = f"rows {first + 1:,} to {first + len(places):,} of {words}"
        kind = "" if isinstance(run, Run | Job) else "Preview (simulated): "
        hint = _PICK if len(shown) else shown.none
        if len(shown) and leads_on(run):
            hint += _NEXT
        self._note.value = f"{kind}{words}{'; ' * bool(hint)}{hint}"
        self._back.disabled, self._on.disabled = first == 0, first + PAGE >= len(found)
        self._filling = True
        try:
            self._table.update(
                frame, selected_rows=self._places(picked), allow_html=False, **LOOKS | wrapped(frame, _SENTENCES)
            )
        finally:
            self._filling = False
        self._show_code()

    def refuse(self, words: str) -> None:
        """Say why there are no rows to show."""
        self._listing, self._ids, self._count, self._note.value = None, [], 0, words
        self._filling = True
        try:
            self._table.update(pd.DataFrame(), selected_rows=[], allow_html=False, **LOOKS)
        finally:
            self._filling = False

    def _show_code(self) -> None:
        """Show the code of what is shown, if it is wanted."""
        show(self._code, self._copy.value)
        if self._copy.value and self._listing is not None:
            self._code.show(together(self._opening(), self._listing.code(self._query)), "rows.py")

    def _offer(self, run: Result, shown: Listing) -> None:
        """Offer the columns, fates and sides that there are."""
        self._filling = True
        try:
            _set_options(self._by, shown.order, {name: name for name in shown.columns})
            _set_options(self._fate, "any", {each.replace("_", " "): each for each in shown.fates})
            _set_options(self._side, "both", {run.side(side).name: side for side in SIDES})
            for name, each in (("fate", self._fate), ("side", self._side), ("key", self._key)):
                show(each, name in shown.filters)
        finally:
            self._filling = False

    def filter_by(self, chosen: Filter | None) -> None:
        """List only rows of a side, a fate and a cause, whatever the fields beside say; None: as these say."""
        self._filter, self._first = chosen, 0
        show(self.all_rows, chosen is not None)
        for each, tooltip in ((self._fate, _FATE), (self._side, _SIDE)):
            each.disabled = chosen is not None
            each.tooltip = tooltip if chosen is None else _LEAVE

    def _turn(self, by: int) -> None:
        if 0 <= self._first + by < self._count:
            self._first += by
            self._changed()

    def _asked(self, _: Any) -> None:
        if not self._filling:
            self._first = 0
            self._changed()

    def mark(self, picked: list[RowId]) -> None:
        """Select the rows that are picked."""
        selected = self._places(picked)
        if self._table.selected_rows != selected:
            self._filling = True
            self._table.selected_rows = selected
            self._filling = False

    def _places(self, picked: list[RowId]) -> list[int]:
        """The table's rows that are picked."""
        wanted = set(picked)
        return [place for place, ids in enumerate(self._ids) if wanted & set(ids)] if wanted else []

    def _selected(self, change: Change) -> None:
        if self._filling:
            return
        places = [place for place in change["new"] if place < len(self._ids)]
        if places:
            self._pick(self._ids[places[-1]])


def _tool(kind: type[widgets.Widget], label: str, tooltip: str, **given: Value) -> Any:
    """An input beside others in one line."""
    layout = widgets.Layout(width="auto", min_width="120px", flex="1 1 120px")
    return kind(description=label, tooltip=tooltip, layout=layout, style={"description_width": "auto"}, **given)


def _set_options(choice: widgets.Dropdown | widgets.ToggleButtons, neutral: str, options: dict[str, str]) -> None:
    """Set the entries of a list, and keep what is chosen if it is among them."""
    entries = ((neutral, ""), *options.items())
    if tuple(choice.options) != entries:
        before = choice.value
        choice.options = entries
        choice.value = before if before in options.values() else ""
