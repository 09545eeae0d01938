"""Two runs side by side: their settings and figures, how many rows changed from which fate to which, and those rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import ipywidgets as widgets
import pandas as pd
from itables.widget import ITable

from workbench.app._form import show
from workbench.app._listing import blank
from workbench.app._looks import IN_LINES, PAGE
from workbench.app._run_differences import differing, side_by_side
from workbench.app._run_records import Entry
from workbench.app._settings import describe
from workbench.app.html import HTML, html
from workbench.counts import counted, have
from workbench.errors import ArgumentError, TooLargeError
from workbench.literals import SIDES, Sides
from workbench.runs.result import Result
from workbench.runs.summary import figures, with_units
from workbench.streams import same_rows

__all__ = ["Comparison", "of_the_same_rows"]

_NO_RUN = "No run yet: Run on Spark, and it is listed here with its settings and figures."


class Comparison:
    """Two runs held against each other.

    Parameters
    ----------
    submit
        Does a job of a kind in the thread that draws, as `CoalescingWorker.submit` does.

    Attributes
    ----------
    parts
        What it consists of, from top to bottom.
    note
        What is said of the rows that differ.
    """

    def __init__(self, submit: Callable[[str, Callable[[], None]], None]) -> None:
        self._submit = submit
        self._of: tuple[Entry, Entry] | None = None
        self._moved, self._shown = pd.DataFrame(), pd.DataFrame()
        self._kinds: dict[str, pd.Series] = {}
        self._said = ""
        self._first = 0
        self._filling = False
        self._text = HTML()
        self._text.add_class("sjw-compared")
        self._close = widgets.Checkbox(True, description="compare with every window closed in both", indent=False)
        self._close.tooltip = "The run that left windows open is simulated to the end of a bounded input."
        self._close.layout.width = "auto"
        self._kind = widgets.ToggleButtons(options=[], style={"button_width": "auto"})
        self._kind.add_class("sjw-kinds")
        self._back = _turner("chevron-left", f"The {PAGE} rows before")
        self._on = _turner("chevron-right", f"The next {PAGE} rows")
        self._turns = widgets.HBox([self._back, self._on])
        self.note, self._table = HTML(), ITable()
        self._rows = widgets.VBox([self._table])
        self._rows.add_class("sjw-changes")
        self._close.observe(lambda _: self._submit("comparison", self._again), "value")
        self._kind.observe(lambda _: self._chosen(), "value")
        self._back.on_click(lambda _: self._turn(-PAGE))
        self._on.on_click(lambda _: self._turn(PAGE))
        self.parts = [self._text, self._close, self._kind, self.note, self._turns, self._rows]

    def compare(self, one: Entry | None, other: Entry | None) -> None:
        """Hold a run against another one, or show it alone; None: there is none."""
        for each in (self._close, self._kind, self._turns, self._rows):
            show(each, False)
        self.note.value, self._of = "", None
        if one is None or other is None:
            self._text.value = _NO_RUN
            return
        if one.record is other.record:
            self._text.value = side_by_side([one.short], _column(one, one.record.run))
            return
        self._of = one, other
        self._again()

    def _beside(self, runs: Sequence[Result]) -> None:
        """Show settings and figures of the two beside each other, as they ran or with every window closed."""
        entries = self._of or ()
        made = [each.record.configuration.generated for each in entries]
        moved = differing(*made) if all(made) else []
        columns = [
            {name: each[name] for name in moved if name in each} | _column(entry, run)
            for entry, run, each in zip(entries, runs, made, strict=True)
        ]
        self._text.value = side_by_side([each.short for each in entries], *columns)

    def _again(self) -> None:
        """Find the rows that differ between the two."""
        if self._of is None:
            return
        one, other = self._of
        open_still = [each for each in self._of if not each.record.run.finish]
        ends_differ = len(open_still) == 1
        show(self._close, ends_differ)
        try:
            runs: list[Result] = [each.record.run for each in self._of]
            self._beside(runs)
            if not of_the_same_rows(*runs):
                show(self._close, False)
                self.note.value = html(
                    "{} has other rows than {}: press <b>Go back to it</b> on one, change a setting, and run again.",
                    one.short,
                    other.short,
                )
                return
            if ends_differ and self._close.value:
                runs = [each.record.closed for each in self._of]
                self._beside(runs)
            moved = runs[0].against(runs[1])
        except ArgumentError as error:
            self.note.value = error.remedy
            show(self._close, False)
            return
        except TooLargeError as error:
            self.note.value = str(error)
            return
        self._said = (
            f"{counted(len(moved), 'row')} {have(len(moved))} another fate in {one.short} than in {other.short}"
        )
        if ends_differ:
            name = open_still[0].short
            closed = f", with every window closed in both: {name} left windows open, and is simulated to its end"
            self._said += closed if self._close.value else f"; {name} left windows open, where rows are pending"
        else:
            self._said += _other_batches(one, other)
        self._moved, self._shown = moved, _as_shown(moved, runs[0], one.short, other.short)
        self._offer(one, other)
        self._list()

    def _offer(self, one: Entry, other: Entry) -> None:
        """Offer the kinds of change, each with how many rows changed so, the most frequent first."""
        change = _words(self._moved["other_fate"]) + " → " + _words(self._moved["fate"])
        counts = change.value_counts()
        self._kinds = {f"all {len(change):,}": pd.Series(True, index=change.index)}
        self._kinds |= {f"{kind} {count:,}": change == kind for kind, count in counts.items()}
        before, self._first = self._kind.value, 0
        self._filling = True
        try:
            self._kind.options = list(self._kinds)
            self._kind.tooltips = [f"From the fate in {other.short} to that in {one.short}."] * len(self._kinds)
            self._kind.value = before if before in self._kinds else next(iter(self._kinds))
        finally:
            self._filling = False
        show(self._kind, bool(len(change)))

    def _chosen(self) -> None:
        if not self._filling:
            self._first = 0
            self._submit("changes", self._list)

    def _turn(self, by: int) -> None:
        self._first += by
        self._submit("changes", self._list)

    def _list(self) -> None:
        """List the rows of the chosen kind of change, so many at a time."""
        wanted = self._kinds.get(self._kind.value)
        if wanted is None:
            return
        found = self._shown[wanted.to_numpy()]
        rows = found.iloc[self._first : self._first + PAGE]
        several = len(found) > PAGE
        words = f"; rows {self._first + 1:,} to {self._first + len(rows):,} of {len(found):,}" if several else ""
        self.note.value = self._said + words
        self._back.disabled, self._on.disabled = self._first == 0, self._first + PAGE >= len(found)
        show(self._turns, several)
        show(self._rows, bool(len(found)))
        self._table.update(rows, allow_html=False, **IN_LINES)


def _turner(icon: str, tooltip: str) -> widgets.Button:
    return widgets.Button(icon=icon, tooltip=tooltip, layout=widgets.Layout(width="auto", flex="0 0 auto"))


def of_the_same_rows(one: Result, other: Result) -> bool:
    """Whether two runs can be compared: what became of each row, under other settings."""
    return all(same_rows(one.side(side), other.side(side)) for side in SIDES)


def _other_batches(one: Entry, other: Entry) -> str:
    """That one of two runs had more micro-batches, which evict rows whatever the settings; empty: both had as many."""
    more, fewer = sorted((one, other), key=lambda each: len(each.record.run.batches), reverse=True)
    apart = len(more.record.run.batches) - len(fewer.record.run.batches)
    if not apart:
        return ""
    return (
        f"; {more.short} had {counted(apart, 'more micro-batch')}: a row that is pending in {fewer.short} may be "
        "decided there, whatever the settings"
    )


def _words(fates: pd.Series) -> pd.Series:
    return fates.astype(str).str.replace("_", " ")


def _column(entry: Entry, run: Result) -> dict[str, object]:
    """The settings of a past run, and the figures of it, or of the same rows with every window closed."""
    return {**describe(entry.record.configuration), **with_units(run, figures(run))}


def _as_shown(rows: pd.DataFrame, run: Result, one: str, other: str) -> pd.DataFrame:
    """Rows that have another fate, as a page shows them: streams by name, fates and reasons first.

    What a row does not have is left empty.
    """
    names = Sides(run.left.name, run.right.name)
    other = f"the other {other}" if one == other else other
    fates = {"other_fate": f"fate in {other}", "fate": f"fate in {one}"}  # as the kinds of change read
    reasons = {"other_reason": f"why in {other}", "reason": f"why in {one}"}
    between = [name for name in rows if name not in {"side", *fates, *reasons}]
    shown = rows.assign(side=rows["side"].map(names), **{name: blank(rows[name]) for name in between})
    keys = [name for name in between if name in run.left.key]
    shown = shown[["side", *fates, *keys, *reasons, *(name for name in between if name not in keys)]]
    return shown.rename(columns={"side": "stream", **fates, **reasons})
