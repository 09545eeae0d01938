"""Menus of a table's columns: key, event time and time of arrival, the likely ones first, each with its type."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import ipywidgets as widgets

from workbench.app._form import Form, choices, show
from workbench.app._repair_list import RepairList
from workbench.app.sources._source import Control, Values
from workbench.literals import SIDES, Side, other_side
from workbench.sources.findings import Finding, Offer
from workbench.sources.profile import Profile
from workbench.untyped import Value

__all__ = ["KEYS", "Menus"]

KEYS = ("key", "key2", "key3")
_NO_KEY = ("none", "")
_NO_ARRIVAL = ("not known", "")


@dataclass(frozen=True)
class Menus:
    """The inputs of a source that say what the columns of either side are.

    Attributes
    ----------
    prefix
        What the names of its inputs have before their own, as no two sources share an input.
    arrival
        Whether a column may tell when rows arrived.
    """

    prefix: str = ""
    arrival: bool = True

    def name(self, side: Side, part: str) -> str:
        """The name of an input."""
        return f"{side}.{self.prefix}{part}"

    def controls(self, side: Side) -> tuple[Control, ...]:
        """The inputs of one side."""
        more = "One more column that must be equal on both sides."
        made = [
            Control(self.name(side, "key"), "Key", "The column that must be equal on both sides.", widgets.Dropdown),
            Control(self.name(side, "key2"), "Key 2", more, widgets.Dropdown),
            Control(self.name(side, "key3"), "Key 3", more, widgets.Dropdown),
            Control(self.name(side, "time"), "Event time", "The column with the event time.", widgets.Dropdown),
        ]
        if self.arrival:
            tip = "The column with the time at which a row arrived; a trigger interval then cuts the micro-batches."
            made.append(Control(self.name(side, "arrival"), "Arrival", tip, widgets.Dropdown))
        made.append(Control(self.name(side, "repairs"), "Repairs", "What is done to the rows first.", RepairList))
        return tuple(made)

    def parts(self, side: Side) -> tuple[str, ...]:
        """The names of the inputs of one side."""
        return tuple(each.name for each in self.controls(side))

    def fill(self, form: Form, side: Side, found: Profile | None, fresh: bool = False) -> None:
        """Offer the columns of a table; where what was chosen is among them it stays.

        Parameters
        ----------
        form, side
            Where.
        found
            The columns; None: there is no table, and nothing to choose.
        fresh
            Choose the likely ones anew.
        """
        for part in (*KEYS, "time", *(["arrival"] if self.arrival else [])):
            box = form.inputs[self.name(side, part)]
            options = [] if found is None else _options(found, part)
            before = box.value
            if list(box.options) != options:
                box.options = options
            offered = choices(box)
            if not offered:
                box.value = None
            elif not fresh and before is not None and before in offered:
                box.value = before
            elif part in KEYS[1:]:
                box.value = ""
            elif part == "arrival":
                box.value = (found.arrival if found is not None else None) or ""
            else:
                box.value = offered[0]
        if fresh:
            form.inputs[self.name(side, "repairs")].value = ()

    def show(self, form: Form, side: Side, on: bool) -> None:
        """Show the inputs of a side; of the further keys one more than are chosen."""
        for name in self.parts(side):
            show(form.inputs[name], on)
        for before, part in itertools.pairwise(KEYS[1:]):
            show(form.inputs[self.name(side, part)], on and bool(form.value(self.name(side, before))))

    def keys(self, values: Values, side: Side) -> list[str]:
        """The key columns that are chosen."""
        found = [values[self.name(side, part)] for part in KEYS]
        return [each for each in found if each]

    def chosen(self, values: Values, side: Side, part: str) -> str | None:
        """The column that is chosen for a part."""
        column: str | None = values.get(self.name(side, part))
        return column or None

    def done(self, values: Values, side: Side) -> tuple[Value, ...]:
        """The repairs that are chosen."""
        found: tuple[Value, ...] = values[self.name(side, "repairs")]
        return found

    def tell(self, form: Form, findings: Iterable[Finding]) -> None:
        """Say what was found about either side; a repair that is pressed is done to the sides that it is about."""
        found: Sequence[Finding] = list(findings)
        for side in SIDES:
            mine = [each for each in found if each.side == side]
            form.inputs[self.name(side, "repairs")].tell(mine, partial(self._choose, form, side))

    def _choose(self, form: Form, of: Side, offer: Offer) -> None:
        side = offer.side or of
        with form.changing():
            for each, repair in ((side, offer.repair), (other_side(side), offer.also)):
                box = form.inputs[self.name(each, "repairs")]
                if repair is not None and repair not in box.value:
                    box.value = (*box.value, repair)


def _options(found: Profile, part: str) -> list[tuple[str, str]]:
    names = found.keys if part in KEYS else found.times if part == "time" else found.arrivals
    none = {"key2": [_NO_KEY], "key3": [_NO_KEY], "arrival": [_NO_ARRIVAL]}.get(part, [])
    return [*none, *((found[name].label, name) for name in names)]
