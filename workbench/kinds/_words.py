"""What is said of a join of a kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench import times
from workbench.kinds._inputs import J, Micros
from workbench.kinds._settings import Settings, SharedRows
from workbench.literals import Setting, Side
from workbench.streams import Stream

if TYPE_CHECKING:
    import pandas as pd


Advised = tuple[str, str] | tuple[str, str, Setting, str]
"""What to know before a run: problem, remedy, and, if one setting helps, that setting and its value as text."""


@dataclass(frozen=True)
class NearMiss:
    """A row without partner, and the change of one setting of its join that would have matched it, in words.

    Attributes
    ----------
    side
        The row's.
    setting, change
        The setting, and by how many microseconds it would have to change.
    partner, distance
        The nearest partner, and how far it is away.
    beyond
        The change in words.
    changed
        The changed setting in words.
    """

    side: Side
    setting: Setting
    change: int
    partner: str
    distance: str
    beyond: str
    changed: str


class Words(Settings[J]):
    """What is said of a join and its rows.

    `workbench.reasons` asks it row by row, `workbench.fixes` once for all rows, `workbench.tuning` before a run; a kind
    whose rows fare otherwise brings its own reasons along (`workbench.reasons.own`).

    Attributes
    ----------
    window_noun
        What a window is called.
    """

    window_noun: str = "window"

    def held_by(self, join: J, side: Side) -> str:
        """What holds rows in state beside the watermark delay: a setting of the join and its value, in words."""
        found = [f"{setting} = {times.text(span)}" for setting, span in self.settings(join).items()]
        return found[0] if found else "the watermark"

    def window_word(self, join: J) -> str:
        """What a row is late for: its ``window``, its ``last window``; empty where there are no windows."""
        return self.window_noun

    def waits_until(self, join: J, side: Side, other: str, end: int, moment: Callable[[int], str]) -> str:
        """Until when a row in state waits, in words.

        Parameters
        ----------
        join, side
            The join, and the row's side.
        other
            The name of the other stream.
        end
            The row's, or its group's, ``end``.
        moment
            Gives a time in words.
        """
        return f"its {self.window_noun} ends at {moment(end)}"

    def near_miss(self, join: J, miss: NearMiss) -> str:
        """Why two rows did not meet that a changed setting of the join would have brought together."""
        return f"{nearest(miss)}, in another window; {miss.changed} would hold both"

    def alone(self, join: J, side: Side, other: str) -> str:
        """Why a row found no partner, where no change of a setting would have given it one.

        Parameters
        ----------
        join, side, other
            As in `waits_until`.
        """
        return "no partner on time in reach"

    def missed(self, join: J, apart: Micros) -> Micros:
        """Why rows did not meet the nearest row of their key on the other side, in a few words that many share.

        Parameters
        ----------
        join
            The join.
        apart
            How much later the right row of each pair is than the left one, in microseconds; negative: earlier.
        """
        return np.full(len(apart), f"the nearest row of its key is in another {self.window_noun}", dtype=object)

    def interval(self, join: J) -> tuple[int, int] | None:
        """Lower and upper bound of an interval of event time in microseconds; None where windows make partners."""
        return None

    def right_retention(self, join: J) -> int:
        """Microseconds that a right row stays in state after its ``end``."""
        return 0

    def limits(self, join: J) -> list[tuple[str, int]]:
        """Time differences, in microseconds, that are worth a line in a chart of differences, with their labels."""
        return []

    def fixes(self, search: Any) -> list[pd.DataFrame]:
        """Searches for the smallest change that would match a row, the better kinds of change first.

        Parameters
        ----------
        search
            A `workbench.fixes.search.Search`, whose ``candidates`` give frames as they are expected.
        """
        return []

    def advice(self, join: J, streams: Mapping[Side, Stream], shared: SharedRows) -> Iterator[Advised]:
        """What to know of the join and these streams before a run."""
        yield from ()


def nearest(miss: NearMiss) -> str:
    """How near the nearest partner was."""
    return f"near miss: the nearest partner is {miss.partner}, {miss.distance} away"
