"""A scenario: two generated streams."""

from __future__ import annotations

import ipywidgets as widgets

import generators
from workbench.app._form import Form, group
from workbench.app.sources._source import (
    Control,
    LiveFeed,
    Notebook,
    PageSource,
    Streams,
    Values,
    WrongSettingsError,
)
from workbench.counts import number_or_text
from workbench.errors import ArgumentError
from workbench.streams import SIDES
from workbench.untyped import Record, Value

__all__ = ["SOURCE"]

_RATES = [float(f"{digit}e{power}") for power in (-1, 0, 1, 2) for digit in (1, 1.5, 2, 3, 4, 5, 7)] + [1_000.0]
"""A slider of powers would send what it makes of a number back as soon as a browser shows it."""
_SHARE = {"min": 0, "max": 1, "step": 0.01, "readout_format": ".0%"}
_AUTO = {"placeholder": "as suits the scenario"}
_SIDES = [("no side", ""), *((f"the {side} side", side) for side in SIDES)]
_FIRST = (
    Control(
        "scenario",
        "Scenario",
        "Two generated streams, made for a kind of join.",
        lambda: widgets.Dropdown(options=list(generators.scenarios())),
    ),
    Control("events", "Events", "Rows of the left stream.", lambda: widgets.IntSlider(200, min=10, max=2_000, step=10)),
    Control(
        "rate",
        "Rate",
        "Events a second and side, in event time.",
        lambda: widgets.SelectionSlider(value=4.0, options=[(f"{each:g}/s", each) for each in _RATES]),
    ),
    Control(
        "trigger",
        "Trigger interval",
        "How often a micro-batch starts, live too; empty: the number of micro-batches below, and a second live.",
        lambda: widgets.Text("5 seconds", placeholder="none: a number of micro-batches"),
    ),
    Control(
        "disorder",
        "Disorder",
        "Share of rows that arrive out of order, by up to three seconds.",
        lambda: widgets.FloatSlider(0.1, **_SHARE),
    ),
    Control(
        "late",
        "Late",
        "Share of rows that arrive about half a minute late.",
        lambda: widgets.FloatSlider(0.03, **_SHARE | {"max": 0.5}),
    ),
)
_MORE = (
    Control("keys", "Keys", "The number of distinct keys.", lambda: widgets.Text(**_AUTO)),
    Control(
        "skew",
        "Skew",
        "0: all keys equally frequent; 1: a few keys have most rows.",
        lambda: widgets.FloatSlider(0, min=0, max=2, step=0.1),
    ),
    Control(
        "unmatched",
        "No partner",
        "Share of left rows made without a partner, such as 0.2.",
        lambda: widgets.Text(**_AUTO),
    ),
    Control("duplicates", "Twice", "Share of rows that come twice.", lambda: widgets.FloatSlider(0, **_SHARE)),
    Control(
        "idle",
        "Idle",
        "A side without rows for a part of the time, which holds the watermark back.",
        lambda: widgets.Dropdown(options=_SIDES),
    ),
    Control(
        "idle_part",
        "Idle from, to",
        "The part of the time of arrival in which the side has no rows.",
        lambda: widgets.FloatRangeSlider(value=(0.4, 0.7), **_SHARE),
    ),
    Control(
        "batches",
        "Micro-batches",
        "Equal slices of the time of arrival, if no trigger interval is set.",
        lambda: widgets.BoundedIntText(10, min=1, max=500),
    ),
    Control("seed", "Seed", "The same seed gives the same rows.", lambda: widgets.BoundedIntText(7, min=0, max=10**9)),
)
_CONTROLS = (*_FIRST, *_MORE)
_SHARES = ("disorder", "late", "unmatched", "duplicates", "idle_part")


def _arrange(form: Form, _: Notebook) -> list[widgets.Widget]:
    """What matters most, and the rest behind a heading."""
    more = group(*form.row(*(each.name for each in _MORE)))
    return [
        *form.row(*(each.name for each in _FIRST)),
        widgets.Accordion([more], titles=("More about the streams",)),
    ]


def _settings(values: Values) -> Record:
    """A scenario's settings as `generators.generate` takes them, those that are as they suit it left out."""
    cut = "trigger" if values["trigger"].strip() else "batches"
    given = {name: values[name] for name in ("events", "rate", "disorder", "late", cut, "seed")}
    given["rate"] = round(given["rate"], 2)
    given |= {name: number_or_text(values[name]) for name in ("keys", "unmatched") if values[name].strip()}
    given |= {name: values[name] for name in ("skew", "duplicates") if values[name]}
    if values["idle"]:
        given["idle"] = (values["idle"], *(round(each, 2) for each in values["idle_part"]))
    return given


def _make(values: Values, _: Values) -> Streams:
    settings = _settings(values)
    try:
        left, right = generators.generate(values["scenario"], **settings)
    except ArgumentError as error:
        place = {error.argument: error.remedy} if error.argument in SOURCE.inputs else {}
        raise WrongSettingsError(str(error), place) from error
    words = "".join(f", {name}={value!r}" for name, value in settings.items())
    line = f"left, right = generators.generate({values['scenario']!r}{words})"
    return Streams(left, right, ("import generators", line), generated=_told(values))


def _told(values: Values) -> dict[str, str]:
    """What the streams are made with, in words, by label; what has no effect under the other settings is left out."""
    without = {"batches" if values["trigger"].strip() else "trigger", "" if values["idle"] else "idle_part"}
    told = [each for each in _CONTROLS if each.name not in without]
    return {each.label.lower(): _in_words(each.name, values[each.name]) for each in told}


def _in_words(name: str, value: Value) -> str:
    """What an input holds, with its unit, as the page shows it."""
    match value:
        case "" if name == "idle":
            return "no side"
        case "":
            return "as suits the scenario"
        case (float() | int() as low, float() | int() as high):
            return f"{_in_words(name, low)} to {_in_words(name, high)}"
        case str() if name == "unmatched":
            share = number_or_text(value)
            return value if isinstance(share, str) else _in_words(name, float(share))
        case float() | int() if name in _SHARES:
            return f"{value * 100:.4g} %"
        case float() if name == "rate":
            return f"{value:g}/s"
        case float():
            return f"{value:g}"
        case int() if name != "seed":
            return f"{value:,}"
    return str(value)


def _feed(values: Values) -> generators.Feed:
    settings = _settings(values)
    idle = settings.pop("idle", None)
    for name in ("events", "batches", "trigger"):
        settings.pop(name, None)
    return generators.Feed(values["scenario"], **settings, idle=idle[0] if idle else None)


def _change(feed: generators.Feed, values: Values) -> None:
    settings = _settings(values)
    chosen = {name: settings[name] for name in ("rate", "disorder", "late")}
    feed.change(**chosen, duplicates=settings.get("duplicates", 0.0), idle=values["idle"] or None)


SOURCE = PageSource(
    "scenario",
    "a scenario",
    "generated streams",
    _CONTROLS,
    _make,
    arrange=_arrange,
    trigger="trigger",
    live=LiveFeed(("rate", "disorder", "late", "duplicates", "idle"), _feed, _change),
)
