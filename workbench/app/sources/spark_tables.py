"""Tables of the Spark session: temporary views, and the tables of its catalog."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from workbench import session
from workbench.app._form import Form
from workbench.app.sources._menus import Menus
from workbench.app.sources._source import Control, Notebook, PageSource, Streams, Values, WrongSettingsError
from workbench.app.sources._table_inputs import TableInputs
from workbench.app.sources._tables import Given, made_of
from workbench.app.sources._triggers import slices, trigger
from workbench.errors import DataError, WorkbenchError, excerpt
from workbench.literals import SIDES, Side
from workbench.quoting import quoted
from workbench.spark_io.cause import spark_errors_as

__all__ = ["SOURCE"]

_MENUS = Menus("table_")
_SLICES, _TRIGGER = slices("table_slices"), trigger("spark_trigger")


def _controls(side: Side) -> tuple[Control, ...]:
    tip = "A temporary view, or a table of the catalog, of the session that wb.spark() gives."
    return (Control(f"{side}.table", f"{side.capitalize()} table", tip, widgets.Dropdown), *_MENUS.controls(side))


def _names() -> list[str]:
    """The tables of the session's current database and its temporary views, in the order of their names.

    Raises
    ------
    DataError
        If Spark cannot list them.
    """
    with spark_errors_as(lambda why: DataError(f"table: Spark cannot list its tables ({why}); make a temporary view")):
        spark = session.spark()
        return sorted(
            each.name for each in spark.catalog.listTables() if not spark.table(quoted(each.name)).isStreaming
        )


def _table(name: str) -> Any:
    """A table of the session.

    Raises
    ------
    DataError
        If there is none of that name any more.
    """
    with spark_errors_as(lambda why: DataError(f"table: Spark cannot read {excerpt(name)} ({why}); look again")):
        return session.spark().table(quoted(name))


def _held(form: Form, notebook: Notebook, side: Side) -> Any:
    name = form.value(f"{side}.table")
    try:
        return None if name is None else notebook.once(("table", side), (name,), lambda: _table(name))
    except WorkbenchError:
        return None  # said where the streams are made


_TABLES = TableInputs(("table",), _MENUS, _held, _TRIGGER, _SLICES)


def _arrange(form: Form, notebook: Notebook) -> list[widgets.Widget]:
    _TABLES.follow(form, notebook)
    again = widgets.Button(description="Look for tables", icon="refresh", tooltip="List the current tables.")
    again.on_click(lambda _: notebook.look_again())
    return [*form.row(*SOURCE.inputs), again]


def _refresh(form: Form, notebook: Notebook) -> None:
    """List the tables."""
    notebook.forget()
    try:
        found = _names()
    except WorkbenchError:
        found = []
    _TABLES.offer(form, notebook, found)


def _make(values: Values, _: Values) -> Streams:
    given, marks = [], {}
    for side in SIDES:
        name = values[f"{side}.table"]
        try:
            if name is None:
                _names()  # where they cannot be listed, this is why
                raise DataError("table: there is none yet; make one with createOrReplaceTempView and look for tables")
            given.append(Given(side, name, _table(name), f"wb.spark().table({quoted(name)!r})"))
        except WorkbenchError as error:
            marks[f"{side}.table"] = str(error).removeprefix("table: ")
    if marks:
        place, words = next(iter(marks.items()))
        raise WrongSettingsError(f"{place}: {words}", marks)
    return made_of((given[0], given[1]), values, _MENUS, _SLICES.name, _TRIGGER.name)


SOURCE = PageSource(
    "spark",
    "tables of Spark",
    "tables of the Spark session",
    (*(each for side in SIDES for each in _controls(side)), _SLICES, _TRIGGER),
    _make,
    arrange=_arrange,
    refresh=_refresh,
    tell=_MENUS.tell,
    trigger=_TRIGGER.name,
)
