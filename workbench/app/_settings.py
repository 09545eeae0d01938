"""The left panel: two streams, a join, watermark delays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from html import escape
from typing import Any, cast

import ipywidgets as widgets

import generators
from workbench import times
from workbench.app._fields import KINDS
from workbench.errors import ArgumentError, WorkbenchError
from workbench.joins import How, Join
from workbench.streams import Stream

_FULL = widgets.Layout(width="100%")
_FLAG_WORDS = {"lower_exclusive": "without the lower bound itself", "upper_exclusive": "without the upper bound itself"}
_FIRST_JOIN = {
    "impressions_clicks": ("interval", {"lower": "0 seconds", "upper": "30 seconds"}, "left"),
    "orders_payments": ("interval", {"lower": "0 seconds", "upper": "15 seconds"}, "left"),
    "goods_info_price": ("interval", {"lower": "-6 seconds", "upper": "-4 seconds"}, "left"),
    "transfers": ("cogroup_tumbling", {"size": "1 minute"}, "inner"),
    "page_views_searches": ("session", {"gap": "15 seconds"}, "inner"),
}


class SettingsPanel:
    """The settings, and the descriptions they make.

    Attributes
    ----------
    widget
        The panel.
    """

    def __init__(self, streams: tuple[Stream, ...], changed: Callable[[], None]) -> None:
        self._given = streams
        self._changed = changed
        self._made: tuple[tuple[Any, ...], tuple[Stream, Stream]] | None = None
        self._texts: dict[str, widgets.Text] = {}
        self._flags: dict[str, widgets.Checkbox] = {}
        self._quiet = False
        self._source()
        self._join()
        self._watermarks()
        self.widget = widgets.VBox(
            [
                _heading("Streams"),
                *self._source_rows,
                _heading("Join"),
                self._kind,
                self._fields,
                self._how,
                _heading("Watermark delay"),
                *self._delays,
                self._finish,
            ],
            layout=widgets.Layout(width="300px", min_width="300px"),
        )
        self.widget.add_class("sjw-settings")
        if not streams:
            self._suit()

    def _source(self) -> None:
        self._scenario = _labelled(
            widgets.Dropdown(options=list(generators.scenarios())),
            "Scenario",
            "Two generated streams; each suits a join.",
        )
        self._numbers = {
            "events": _labelled(
                widgets.IntSlider(200, min=10, max=2_000, step=10), "Events", "Rows of the left stream."
            ),
            "rate": _labelled(
                widgets.FloatLogSlider(4, min=-1, max=2, step=0.1, readout_format=".1f"),
                "Rate",
                "Events a second and side, in event time.",
            ),
            "disorder": _labelled(
                widgets.FloatSlider(0.1, min=0, max=1, step=0.01, readout_format=".0%"),
                "Disorder",
                "Share of rows that arrive out of order, by up to three seconds.",
            ),
            "late": _labelled(
                widgets.FloatSlider(0.03, min=0, max=0.5, step=0.01, readout_format=".0%"),
                "Late",
                "Share of rows that arrive about half a minute late.",
            ),
            "seed": _labelled(
                widgets.BoundedIntText(7, min=0, max=10**9), "Seed", "The same seed gives the same rows."
            ),
        }
        if self._given:
            words = "<br>".join(f"<b>{escape(each.name)}</b> {len(each):,} rows" for each in self._given)
            self._source_rows: list[widgets.Widget] = [widgets.HTML(words)]
            return
        self._source_rows = [self._scenario, *self._numbers.values()]
        self._scenario.observe(lambda _: self._suit(), "value")
        for each in self._numbers.values():
            each.observe(lambda _: self._tell(), "value")

    def _join(self) -> None:
        self._kind = _labelled(
            widgets.Dropdown(options=[(kind.label, name) for name, kind in KINDS.items()]),
            "Kind",
            "What makes two rows partners: a time difference, or a window they share.",
        )
        self._how = _labelled(
            widgets.Dropdown(),
            "How",
            "inner: pairs only. left, right, full: rows without a partner too, padded with nulls. "
            "semi, anti: left rows with, or without, a partner.",
        )
        self._fields = widgets.VBox(layout=_FULL)
        self._kind.observe(lambda _: self._show_fields(), "value")
        self._how.observe(lambda _: self._tell(), "value")
        self._show_fields()

    def _show_fields(self) -> None:
        kind = KINDS[self._kind.value]
        before = {name: text.value for name, text in self._texts.items()}
        self._texts = {}
        for field in kind.fields:
            text = _labelled(widgets.Text(before.get(field.argument, field.first)), field.label, field.help)
            text.observe(lambda _: self._tell(), "value")
            self._texts[field.argument] = text
        self._flags = {}
        for flag in kind.flags:
            self._flags[flag] = widgets.Checkbox(False, description=_FLAG_WORDS[flag], indent=False)
            self._flags[flag].observe(lambda _: self._tell(), "value")
        self._marks = {name: widgets.HTML() for name in (*self._texts, "left.watermark", "right.watermark")}
        for name in self._texts:
            self._marks[name].add_class("sjw-mark")
        rows = [part for name, text in self._texts.items() for part in (text, self._marks[name])]
        self._fields.children = [*rows, *self._flags.values()]
        self._how.layout.display = None if kind.hows else "none"
        how = self._how.value
        self._how.options = kind.hows
        self._how.value = how if how in kind.hows else (kind.hows[0] if kind.hows else None)
        self._tell()

    def _watermarks(self) -> None:
        self._delay = {}
        self._delays = []
        for place, side in enumerate(("left", "right")):
            first = times.text(self._given[place].watermark) if self._given else "10 seconds"
            text = _labelled(
                widgets.Text(first),
                side.capitalize(),
                "How far behind the newest event time a row may be and still be kept; results wait as long.",
            )
            text.observe(lambda _: self._tell(), "value")
            self._delay[side] = text
            mark = widgets.HTML()
            mark.add_class("sjw-mark")
            self._delays += [text, mark]
        self._finish = widgets.Checkbox(True, description="close every window at the end", indent=False)
        self._finish.tooltip = "As the end of a bounded input would; without it, what is pending stays in state."
        self._finish.observe(lambda _: self._tell(), "value")

    def _suit(self) -> None:
        """Set the join that suits the scenario."""
        kind, texts, how = _FIRST_JOIN[self._scenario.value]
        self._quiet = True
        self._kind.value = kind
        for name, value in texts.items():
            self._texts[name].value = value
        if KINDS[kind].hows:
            self._how.value = how
        self._quiet = False
        self._tell()

    def _tell(self) -> None:
        if not self._quiet:
            self._changed()

    def join(self) -> Join:
        """The join as it is set.

        Raises
        ------
        ArgumentError
            If a field is wrong; it is marked.
        """
        texts = {name: text.value for name, text in self._texts.items()}
        flags = {name: flag.value for name, flag in self._flags.items()}
        for name in self._texts:
            self._marks[name].value = ""
        try:
            return KINDS[self._kind.value].make(texts, flags, cast(How, self._how.value or "inner"))
        except ArgumentError as error:
            if error.argument in self._marks:
                self._marks[error.argument].value = escape(error.remedy)
            raise

    def streams(self) -> tuple[Stream, Stream]:
        """The two streams as they are set, with their watermark delays.

        Raises
        ------
        ArgumentError
            If a setting is wrong; it is marked.
        """
        left, right = self._given or self._generated()
        return self._delayed(left, 0), self._delayed(right, 1)

    def _generated(self) -> tuple[Stream, Stream]:
        settings = {name: number.value for name, number in self._numbers.items()}
        asked = (self._scenario.value, *settings.items())
        if self._made is None or self._made[0] != asked:
            self._made = asked, generators.generate(self._scenario.value, **settings)
        return self._made[1]

    def _delayed(self, stream: Stream, place: int) -> Stream:
        side = ("left", "right")[place]
        mark = self._delays[2 * place + 1]
        self._delay[side].description = stream.name
        mark.value = ""
        try:
            return replace(stream, watermark=times.delay(self._delay[side].value, f"{side}.watermark"))
        except WorkbenchError as error:
            mark.value = escape(str(error).split(":", 1)[-1].strip())
            raise

    @property
    def finish(self) -> bool:
        """Whether every window is closed at the end."""
        return bool(self._finish.value)

    def enable(self, on: bool) -> None:
        """Make the settings usable, or not (while a run is under way)."""
        all_of = [self._scenario, *self._numbers.values(), self._kind, self._how, *self._delay.values(), self._finish]
        for each in [*all_of, *self._texts.values(), *self._flags.values()]:
            each.disabled = not on


def _heading(words: str) -> widgets.HTML:
    heading = widgets.HTML(escape(words))
    heading.add_class("sjw-heading")
    return heading


def _labelled(widget: Any, label: str, tooltip: str) -> Any:
    widget.description = label
    widget.tooltip = tooltip
    widget.layout = widgets.Layout(width="auto")
    widget.style.description_width = "92px"
    if hasattr(widget, "continuous_update"):
        widget.continuous_update = isinstance(widget, widgets.Text)
    return widget
