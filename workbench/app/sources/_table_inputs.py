"""The inputs of a source whose sides are a table each: which table, its columns, what cuts it into micro-batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from workbench import frames, times
from workbench.app._form import Form, show
from workbench.app.sources._menus import Menus
from workbench.app.sources._source import Control, Notebook
from workbench.app.sources._triggers import show_cut, suggest
from workbench.literals import SIDES, Side, other_side
from workbench.sources.profile import Profile, profile
from workbench.streams import Stream

__all__ = ["TableInputs"]


@dataclass(frozen=True)
class TableInputs:
    """The inputs of a source of tables.

    Attributes
    ----------
    choice
        What the inputs are called, behind their side, that say which table; the first is the one that must be given.
    menus
        Those that say what its columns are.
    held
        Gives what is chosen on a side, to look at: a Stream, a table, or None where nothing is.
    trigger
        The input with the trigger interval.
    slices
        The input with the number of micro-batches; None: the source has its own.
    is_cut
        Whether that number counts for what is chosen, where it is not known when rows arrived; None: always.
    """

    choice: tuple[str, ...]
    menus: Menus
    held: Callable[[Form, Notebook, Side], Any]
    trigger: Control
    slices: Control | None = None
    is_cut: Callable[[Form], bool] | None = None

    def follow(self, form: Form, notebook: Notebook) -> None:
        """Offer the columns of a table whenever another one is chosen."""
        for side in SIDES:
            for part in self.choice:
                form.follow(f"{side}.{part}", partial(self._changed, form, notebook, side))
            form.follow(self.menus.name(side, "key2"), partial(self.show, form, notebook))
            if self.menus.arrival:
                form.follow(self.menus.name(side, "arrival"), partial(self.show, form, notebook))

    def _changed(self, form: Form, notebook: Notebook, side: Side) -> None:
        """Another table was chosen: its columns, and on the other side those that go with them."""
        self._fill(form, notebook, side, fresh=True)
        self._fill(form, notebook, other_side(side))
        self.show(form, notebook)

    def offer(self, form: Form, notebook: Notebook, found: Sequence[str]) -> None:
        """Offer the tables that there are now; what is chosen stays chosen where it is among them."""
        with form.changing():
            for place, side in enumerate(SIDES):
                choice = form.inputs[f"{side}.{self.choice[0]}"]
                before = choice.value
                if tuple(choice.options) != tuple(found):
                    choice.options = found
                    choice.value = before if before in found else (found[min(place, len(found) - 1)] if found else None)
            self.fill(form, notebook)

    def fill(self, form: Form, notebook: Notebook) -> None:
        """Offer the columns that there are now."""
        for side in SIDES:
            self._fill(form, notebook, side)
        self.show(form, notebook)

    def _sample(self, form: Form, notebook: Notebook, side: Side) -> Any:
        """Some rows of what is chosen on a side; None where nothing is."""
        value = self.held(form, notebook, side)
        if value is None:
            return None
        return notebook.once((self.choice, side, "rows"), (value,), lambda: frames.sample(value))

    def _fill(self, form: Form, notebook: Notebook, side: Side, fresh: bool = False) -> None:
        """Offer the columns of a table; a Stream has chosen its own."""
        value = self.held(form, notebook, side)
        if value is None or isinstance(value, Stream):
            self.menus.fill(form, side, None)
            return
        rows, theirs = (self._sample(form, notebook, each) for each in (side, other_side(side)))
        found: Profile = notebook.once((self.choice, side, "profile"), (rows, theirs), lambda: profile(rows, theirs))
        self.menus.fill(form, side, found, fresh)

    def show(self, form: Form, notebook: Notebook) -> None:
        """Show the menus of tables, and what cuts the micro-batches: a trigger where it is known when rows arrived."""
        timed = []
        for side in SIDES:
            value = self.held(form, notebook, side)
            stream = isinstance(value, Stream)
            self.menus.show(form, side, value is not None and not stream)
            arrival = form.value(self.menus.name(side, "arrival")) if self.menus.arrival else None
            if stream and value.arrivals is not None:
                timed.append(times.text(value.arrivals.trigger))
            elif not stream and value is not None and arrival:
                timed.append(suggest(self._sample(form, notebook, side), arrival))
        if self.menus.arrival:
            show_cut(form, self.trigger.name, timed)
            if self.slices is not None:
                show(form.inputs[self.slices.name], not timed and (self.is_cut is None or self.is_cut(form)))
