"""What is said below the fields of a join where its time spans do not suit one's own rows, with those that would."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import ipywidgets as widgets
import numpy as np

from workbench import times
from workbench.app._form import show
from workbench.app._snapshot import RunConfiguration
from workbench.app.html import HTML
from workbench.arrays import Codes, RowNumbers, Times
from workbench.kinds import AGGREGATION, HASH_JOIN, kind_of
from workbench.runs.result import Result

_MOST = 50_000  # rows whose nearest partners are looked for


class Suggestion:
    """A note and a button that sets the join's time spans.

    Parameters
    ----------
    choose
        Called with the texts of the time spans, by setting, when the button is pressed.

    Attributes
    ----------
    widget
        What is shown.
    """

    def __init__(self, choose: Callable[[Mapping[str, str]], None]) -> None:
        self._texts: dict[str, str] = {}
        self._note = HTML()
        self._note.add_class("sjw-note")
        self._note.add_class("sjw-warning")
        own = widgets.Layout(width="auto", height="auto")
        self._button = widgets.Button(icon="wrench", tooltip="Sets these fields; undo takes it back.", layout=own)
        self._button.on_click(lambda _: choose(self._texts))
        self.widget = widgets.VBox([self._note, self._button])
        self.widget.add_class("sjw-repairs")
        show(self.widget, False)

    def tell(self, found: tuple[str, Mapping[str, str]] | None, kept: str = "") -> None:
        """Say what does not suit, and offer what would; None: nothing is to be said.

        Parameters
        ----------
        found
            Why, and the texts of the time spans that would do, by setting.
        kept
            What the fields are still set to suit; empty: nothing.
        """
        show(self.widget, found is not None)
        if found is None:
            return
        words, self._texts = found[0], dict(found[1])
        self._note.value = f"{words}; the fields are still as for the scenario {kept}" if kept else words
        named = " and ".join(f"{name} = {text}" for name, text in self._texts.items())
        self._button.description = f"Set {named}"

    def enable(self, on: bool) -> None:
        """Make the button usable, or not."""
        self._button.disabled = not on


def suggestion(configuration: RunConfiguration, result: Result) -> tuple[str, dict[str, str]] | None:
    """Why the join's time spans do not suit the rows, and the texts of those that would; None: they do.

    Parameters
    ----------
    configuration, result
        What the page is set to, and what it gives.
    """
    if configuration.job is not None:
        return None
    left, right = result.outcome.keys
    times_of = result.left.event_times, result.right.event_times
    apart, rows = nearest(left, times_of[0], right, times_of[1])
    if kind_of(configuration.join).operator in (HASH_JOIN, AGGREGATION):  # which pair rows, rather than look one up
        back, _ = nearest(right[rows], times_of[1][rows], left, times_of[0])
        apart = apart[np.abs(back) == np.abs(apart)]  # of a row whose partner is missing the nearest is another's
    found = kind_of(configuration.join).suggested_spans(configuration.join, apart)
    return None if found is None else (found[0], {name: times.text(each) for name, each in found[1].items()})


def nearest(left: Codes, left_times: Times, right: Codes, right_times: Times) -> tuple[Times, RowNumbers]:
    """By how much the nearest right row of its key comes later than a left row, where there is one; and which it is.

    Parameters
    ----------
    left, left_times, right, right_times
        Of both sides the keys as numbers, below 0 for none, and the event times.
    """
    order = np.lexsort((right_times, right))
    keys, moments = right[order], right_times[order]
    places = np.flatnonzero(left >= 0)
    places = places[np.linspace(0, len(places) - 1, _MOST).astype(int)] if len(places) > _MOST else places
    wanted, at = left[places], left_times[places]
    begin, end = np.searchsorted(keys, wanted), np.searchsorted(keys, wanted, side="right")
    there = begin < end
    wanted, at, begin, end = wanted[there], at[there], begin[there], end[there]
    low = begin.copy()
    high = end.copy()
    while (low < high).any():  # the first row of the key that is not before the left row
        middle = (low + high) // 2
        open_still = low < high
        before = open_still & (moments[np.minimum(middle, len(moments) - 1)] < at)
        low = np.where(before, middle + 1, low)
        high = np.where(open_still & ~before, middle, high)
    after, before = np.minimum(low, end - 1), np.maximum(low - 1, begin)
    found = np.where(np.abs(moments[before] - at) < np.abs(moments[after] - at), before, after)
    return moments[found] - at, order[found]
