"""Streams and DataFrames that are variables of the notebook."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from workbench import frames
from workbench.app._form import Form
from workbench.app.sources._menus import Menus
from workbench.app.sources._source import Control, Notebook, PageSource, Streams, Values, WrongSettingsError
from workbench.app.sources._table_inputs import TableInputs
from workbench.app.sources._tables import Given, made_of
from workbench.app.sources._triggers import slices, trigger
from workbench.literals import Side
from workbench.streams import SIDES

__all__ = ["SOURCE"]

_MENUS = Menus()
_SLICES, _TRIGGER = slices("slices"), trigger("table_trigger")


def _controls(side: Side) -> tuple[Control, ...]:
    tip = "A Stream or DataFrame of this notebook."
    return (Control(f"{side}.variable", side.capitalize(), tip, widgets.Dropdown), *_MENUS.controls(side))


def _held(form: Form, notebook: Notebook, side: Side) -> Any:
    """What the variable holds that is chosen on a side; None: nothing that can be joined."""
    value = notebook.variables.get(form.value(f"{side}.variable") or "")
    return value if value is not None and frames.joinable({"it": value}) else None


_TABLES = TableInputs(("variable",), _MENUS, _held, _TRIGGER, _SLICES)


def _arrange(form: Form, notebook: Notebook) -> list[widgets.Widget]:
    _TABLES.follow(form, notebook)
    again = widgets.Button(description="Look again", icon="refresh", tooltip="Look for new variables.")
    again.on_click(lambda _: notebook.look_again())
    return [*form.row(*SOURCE.inputs), again]


def _refresh(form: Form, notebook: Notebook) -> None:
    """Look for Streams and DataFrames in the notebook."""
    notebook.forget()
    _TABLES.offer(form, notebook, frames.joinable(notebook.variables))


def _make(values: Values, variables: Values) -> Streams:
    given, marks = [], {}
    for side in SIDES:
        name = values[f"{side}.variable"]
        if name is None or name not in variables:
            words = "this notebook has no Stream or DataFrame yet; make one and look again"
            marks[f"{side}.variable"] = words if name is None else f"this notebook has no {name} any more; look again"
        else:
            given.append(Given(side, name, variables[name], name))
    if marks:
        place, words = next(iter(marks.items()))
        raise WrongSettingsError(f"{place.split('.')[0]}: {words}", marks)
    return made_of((given[0], given[1]), values, _MENUS, _SLICES.name, _TRIGGER.name)


SOURCE = PageSource(
    "notebook",
    "this notebook",
    "Streams or DataFrames of this notebook",
    (*(each for side in SIDES for each in _controls(side)), _SLICES, _TRIGGER),
    _make,
    arrange=_arrange,
    refresh=_refresh,
    variables=tuple(f"{side}.variable" for side in SIDES),
    tell=_MENUS.tell,
    trigger=_TRIGGER.name,
)
