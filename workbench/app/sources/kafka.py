"""Kafka topics, of which the newest messages are recorded."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from workbench import times
from workbench.app._form import Form, choices
from workbench.app.html import HTML
from workbench.app.sources._menus import Menus
from workbench.app.sources._source import (
    Control,
    Notebook,
    PageSource,
    Streams,
    Values,
    WrongSettingsError,
    both,
    marking,
)
from workbench.app.sources._table_inputs import TableInputs
from workbench.app.sources._tables import check_streams, overlaps
from workbench.app.sources._triggers import trigger
from workbench.errors import ArgumentError, WorkbenchError
from workbench.literals import SIDES, Side
from workbench.sources import kafka
from workbench.streams import Stream

__all__ = ["SOURCE"]

_MENUS = Menus("kafka_", arrival=False)
_TRIGGER = trigger("kafka_trigger", "10 seconds")
_SERVERS = Control(
    "brokers",
    "Servers",
    "Kafka's bootstrap servers; what the environment says of security is used.",
    lambda: widgets.Text(placeholder="localhost:9092", continuous_update=False),
)


def _controls(side: Side) -> tuple[Control, ...]:
    tip = "A topic of JSON objects; its newest messages are recorded."
    menus = tuple(each for each in _MENUS.controls(side))
    return (Control(f"{side}.topic", f"{side.capitalize()} topic", tip, widgets.Dropdown), *menus)


def _held(form: Form, notebook: Notebook, side: Side) -> Any:
    servers, topic = form.value("brokers").strip(), form.value(f"{side}.topic")
    if not servers or topic is None:
        return None
    try:
        return notebook.once(("topic", side), (servers, topic), lambda: kafka.some_rows(servers, topic))
    except WorkbenchError:
        return None  # said where the streams are made


_TABLES = TableInputs(("topic",), _MENUS, _held, _TRIGGER)


def _arrange(form: Form, notebook: Notebook) -> list[widgets.Widget]:
    _TABLES.follow(form, notebook)
    said = HTML()
    said.add_class("sjw-mark")
    ask = widgets.Button(description="List topics", icon="list", tooltip="Ask the servers for their topics.")
    ask.on_click(lambda _: _list(form, notebook, said))
    first, rest = form.row("brokers"), form.row(*(name for name in SOURCE.inputs if name != "brokers"))
    return [*first, ask, said, *rest]


def _list(form: Form, notebook: Notebook, said: HTML) -> None:
    """Ask the servers for their topics; what is wrong is said below the button."""
    notebook.forget()
    try:
        found = kafka.topics(form.value("brokers").strip())
        said.value = "" if found else "the servers have no topic yet"
    except WorkbenchError as error:
        found, said.value = [], str(error).split(":", 1)[-1].strip()
    (said.add_class if said.value else said.remove_class)("sjw-said")
    with form.changing():
        for place, side in enumerate(SIDES):
            choice = form.inputs[f"{side}.topic"]
            before = choice.value
            if choices(choice) != found:
                choice.options = found
                choice.value = before if before in found else (found[min(place, len(found) - 1)] if found else None)
        _TABLES.fill(form, notebook)


def _make(values: Values, _: Values) -> Streams:
    interval = values[_TRIGGER.name]
    try:
        times.trigger(interval)
    except ArgumentError as error:
        raise WrongSettingsError(str(error), {_TRIGGER.name: error.remedy}) from error
    if not values["brokers"].strip():
        words = "name Kafka's servers, such as localhost:9092"
        raise WrongSettingsError(f"servers: {words}", {"brokers": words})
    (left, one), (right, other) = both(lambda side: _topic(values, side, interval))
    check_streams(left, right, _MENUS)
    return Streams(left, right, (one, other), tuple(overlaps(left, right)))


def _topic(values: Values, side: Side, interval: str) -> tuple[Stream, str]:
    servers, topic = values["brokers"].strip(), values[f"{side}.topic"]
    if topic is None:
        words = "list the topics and choose one"
        raise WrongSettingsError(f"{side} topic: {words}", {f"{side}.topic": words})
    key, time = _MENUS.keys(values, side), _MENUS.chosen(values, side, "time")
    places = ("topic", "kafka_key", "kafka_time")
    if not key or time is None:
        marking(side, places, lambda: kafka.some_rows(servers, topic))
        words = "choose its key and event time"
        raise WrongSettingsError(f"{side} topic: {words}", {f"{side}.topic": words})
    line = f"{side} = wb.Stream.from_kafka({servers!r}, {topic!r}, {key!r}, {time!r}, trigger={interval!r})"
    return marking(side, places, lambda: Stream.from_kafka(servers, topic, key, time, trigger=interval)), line


SOURCE = PageSource(
    "kafka",
    "Kafka topics",
    "topics of Kafka",
    (_SERVERS, *(each for side in SIDES for each in _controls(side)), _TRIGGER),
    _make,
    arrange=_arrange,
    refresh=_TABLES.fill,
    tell=_MENUS.tell,
    trigger=_TRIGGER.name,
)
