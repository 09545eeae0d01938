"""Worked examples: what a click sets the page to, what is to be seen there, and what to try."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import ipywidgets as widgets
from markupsafe import Markup

from workbench.app.html import HTML, html
from workbench.untyped import Record, Value


@dataclass(frozen=True)
class Example:
    """A worked example.

    Attributes
    ----------
    label, tip
        What is written on its button, and what it shows.
    words
        What is to be seen, and what to try.
    tab
        The tab to look at.
    settings
        Values of the page's inputs; all others are as on a new page.
    """

    label: str
    tip: str
    words: str
    tab: str
    settings: Mapping[str, Value]


_OTHERS = "The settings differ from the example by now."
_OF_AN_EXAMPLE = ("source", "scenario", "kind")
"""The inputs without whose values nothing that an example says holds."""


@dataclass(frozen=True)
class Guide:
    """What an example says to see and to try, while the page is still set to it.

    Attributes
    ----------
    example
        The example.
    values
        What the page's inputs held when it was chosen.
    """

    example: Example
    values: Mapping[str, Value]

    def words(self, values: Mapping[str, Value]) -> Markup:
        """What to say where the inputs hold some values by now; nothing where they are of something else."""
        moved = {name for name, value in self.values.items() if values.get(name) != value}
        if moved & {*_OF_AN_EXAMPLE}:
            return html("")
        others = _OTHERS if moved else ""
        return html("<b>{}</b> {} {}", self.example.label, self.example.words, others)


_ORDERS: Record = {"source": "scenario", "scenario": "orders_payments"}

EXAMPLES = (
    Example(
        "Late data",
        "Rows that come behind the watermark and are dropped: why, and which delay would have kept them.",
        "Red crosses are late rows: they came behind the watermark, and Spark dropped them. Click one to read by how "
        "much, and press the fix that it offers; “late” falls, and “rows in state at most” says what it costs.",
        "Tracks",
        _ORDERS | {"late": 0.12, "left.watermark": "5 seconds", "right.watermark": "5 seconds"},
    ),
    Example(
        "Idle side",
        "One stream is silent for a while, and its watermark holds back the query's.",
        "While payments are silent their watermark stands still, and so does the query's: nothing is evicted, and "
        "state grows. Set “Follows” to the faster side: the state stays small, and what payments send afterwards "
        "comes late.",
        "Watermarks",
        _ORDERS | {"idle": "right", "idle_part": (0.35, 0.7), "late": 0.0},
    ),
    Example(
        "Near misses",
        "Rows whose partner lies just outside the bounds of the join.",
        "Many orders have no partner because their payment came more than 4 seconds after them. The chart shows "
        "how far they miss the bound; click a row, and press the fix that it offers, or set the upper bound.",
        "Unmatched",
        _ORDERS | {"interval/upper": "4 seconds", "late": 0.0},
    ),
)


def example_buttons(choose: Callable[[Example], None]) -> widgets.VBox:
    """A button for each example.

    Parameters
    ----------
    choose
        Called with the one that is clicked.
    """
    buttons = []
    for each in EXAMPLES:
        button = widgets.Button(description=each.label, tooltip=each.tip, layout=widgets.Layout(width="auto"))
        button.on_click(lambda _, chosen=each: choose(chosen))
        buttons.append(button)
    words = HTML("Try")
    words.add_class("sjw-examples-label")
    row = widgets.HBox([words, *buttons])
    row.add_class("sjw-examples")
    return row
