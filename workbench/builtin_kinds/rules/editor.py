"""Rules set and withdrawn by hand, while a live query runs."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets
import pyarrow as pa
import pyarrow.compute as pc

from workbench.app.html import HTML, html
from workbench.builtin_kinds.rules.fields import compared
from workbench.builtin_kinds.rules.versions import OPERATORS
from workbench.errors import ArgumentError, WorkbenchError, excerpt, wrong
from workbench.joins import RulesJoin
from workbench.kinds import LiveRun
from workbench.streams import Stream, pair_types
from workbench.untyped import Record

__all__ = ["RuleEditor"]


class RuleEditor:
    """Inputs for one version of a rule, which goes into the next micro-batch.

    Attributes
    ----------
    widget
        The inputs, which are hidden where no live query has rules.
    """

    def __init__(self) -> None:
        self._live: LiveRun | None = None
        self._keys: dict[str, widgets.Text] = {}
        self._key_box = widgets.HBox()
        self._rule = widgets.Text(placeholder="rule", layout=widgets.Layout(width="90px"), tooltip="The rule's name")
        self._field = widgets.Dropdown(layout=widgets.Layout(width="120px"), tooltip="The column that is compared")
        self._op = widgets.Dropdown(
            options=OPERATORS, value=">", tooltip="How it is compared", layout=widgets.Layout(width="56px")
        )
        self._value = widgets.Text(
            placeholder="value", tooltip="What it is compared with", layout=widgets.Layout(width="80px")
        )
        self._set = widgets.Button(description="Set rule", tooltip="In force from the newest event time on")
        self._withdraw = widgets.Button(description="Withdraw", tooltip="Take the rule back from now on")
        for button in (self._set, self._withdraw):
            button.layout.width = "auto"
        self._note = HTML()
        self._set.on_click(lambda _: self._send(withdrawn=False))
        self._withdraw.on_click(lambda _: self._send(withdrawn=True))
        line = [self._key_box, self._rule, self._field, self._op, self._value, self._set, self._withdraw]
        self._inputs = widgets.VBox([widgets.HBox(line, layout=widgets.Layout(flex_flow="row wrap")), self._note])
        self._inputs.layout.display = "none"
        self.widget = widgets.VBox([self._inputs])
        self.widget.add_class("sjw-rules")

    def offer(self, live: LiveRun | None) -> None:
        """Take rules for a live query; None, or one whose right rows are no rules: take none."""
        self._live = live if live is not None and isinstance(live.join, RulesJoin) else None
        self._note.value = html("")
        if live is not None and isinstance(live.join, RulesJoin):
            join, (left, right) = live.join, live.sides
            columns = compared(join, pair_types(left, right))[1]
            self._field.options, self._field.value = columns, columns[0]
            keys = () if join.copies else right.key
            wide = widgets.Layout(width="110px")
            self._keys = {name: widgets.Text(placeholder=name, tooltip=f"Key: {name}", layout=wide) for name in keys}
            self._key_box.children = tuple(self._keys.values())
            self._withdraw.layout.display = "none" if join.withdrawn is None else None
        self._inputs.layout.display = None if self._live is not None else "none"

    def _send(self, withdrawn: bool) -> None:
        live = self._live
        if live is None or not isinstance(live.join, RulesJoin):
            return
        try:
            row = self._row(live.join, live.sides[1], withdrawn)
            live.send("right", row)
        except WorkbenchError as error:
            remedy = error.remedy if isinstance(error, ArgumentError) else str(error)
            self._note.value = html('<span class="sjw-trouble">{}</span>', remedy)
            return
        done = "withdrawn" if withdrawn else f"set to {self._field.value} {self._op.value} {self._value.value}"
        self._note.value = html("{} is {} from the next micro-batch on", self._rule.value, done)

    def _row(self, join: RulesJoin, right: Stream, withdrawn: bool) -> Record:
        """The version that the inputs describe, by column."""
        texts = {name: each.value for name, each in self._keys.items()}
        texts |= {join.rule: self._rule.value}
        if not withdrawn:
            texts |= {join.field: self._field.value, join.op: self._op.value, join.value: self._value.value}
        row = {name: _typed(right.table.schema.field(name), text) for name, text in texts.items()}
        return row if join.withdrawn is None else row | {join.withdrawn: withdrawn}


def _typed(field: pa.Field, text: str) -> Any:
    """A value of a column, of its text."""
    if not text:
        raise wrong(field.name, text, f"give a value for {field.name}")
    try:
        return pc.cast(pa.scalar(text), field.type).as_py()
    except pa.ArrowException:
        raise wrong(
            field.name, text, f"{field.name} holds {field.type} values, and {excerpt(text)} is not one"
        ) from None
