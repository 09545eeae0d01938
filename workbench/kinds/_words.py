"""What is said of a join of a kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from workbench import times
from workbench.kinds._inputs import J
from workbench.kinds._settings import Settings, SharedRows
from workbench.literals import Setting, Side, Sides
from workbench.streams import Stream
from workbench.verdicts import IN_ANOTHER_WINDOW, NO_PARTNER, WINDOW_ENDS, Verdict, WindowVerdict

if TYPE_CHECKING:
    import pandas as pd


Search: TypeAlias = Any
"""A `workbench.fixes.search.Search`: that package stands above this one."""
Advised = tuple[str, str] | tuple[str, str, Setting, str]
"""What to know before a run: problem, remedy, and, if one setting helps, that setting and its value as text."""


class Words(Settings[J]):
    """What is said of a join and its rows.

    `workbench.reasons` asks it row by row, `workbench.fixes` once for all rows, `workbench.tuning` before a run; a kind
    whose rows fare otherwise brings its own reasons along (`workbench.reasons.own`).

    Attributes
    ----------
    window_noun
        What a window is called.
    missed
        The verdict of a row that a change of a setting of the join would have matched, by that setting.
    """

    window_noun: str = "window"
    missed: Mapping[Setting, Verdict] = dict.fromkeys(("size", "offset", "gap"), WindowVerdict.OTHER_WINDOW)

    def held_by(self, join: J, side: Side) -> str:
        """What holds rows in state beside the watermark delay: a setting of the join and its value, in words."""
        found = [f"{setting} = {times.text(span)}" for setting, span in self.settings(join).items()]
        return found[0] if found else "the watermark"

    def window_word(self, join: J) -> str:
        """What a row is late for: its ``window``, its ``last window``; empty where there are no windows."""
        return self.window_noun

    def waiting(self, join: J, side: Side) -> str:
        """Until when a row in state waits, as a template.

        Its slots, as those of the templates below, are methods of `workbench.reasons.slots.SentenceSlots`, such as
        ``{other}``, ``{end}`` (when the row's window, or its group, ends) and ``{wait_end}`` (later by `waits`).
        """
        return WINDOW_ENDS

    def near_miss(self, join: J, side: Side, change: int) -> str:
        """Why a row did not meet a partner that a changed setting of the join would have given it, as a template.

        Parameters
        ----------
        join, side
            The join, and the row's side.
        change
            By how many microseconds the setting would have to change.
        """
        return IN_ANOTHER_WINDOW

    def alone(self, join: J, side: Side) -> str:
        """Why a row found no partner, where no change of a setting would have given it one, as a template."""
        return NO_PARTNER

    def interval(self, join: J) -> tuple[int, int] | None:
        """Lower and upper bound of an interval of event time in microseconds; None where windows make partners."""
        return None

    def right_retention(self, join: J) -> int:
        """Microseconds that a right row stays in state after its ``end``."""
        return 0

    def limits(self, join: J) -> list[tuple[str, int]]:
        """Time differences, in microseconds, that are worth a line in a chart of differences, with their labels."""
        return []

    def fixes(self, search: Search) -> list[pd.DataFrame]:
        """Searches for the smallest change that would match a row, the better kinds of change first.

        Parameters
        ----------
        search
            A `workbench.fixes.search.Search`, whose ``candidates`` give frames as they are expected.
        """
        return []

    def advice(self, join: J, streams: Sides[Stream], shared: SharedRows) -> Iterator[Advised]:
        """What to know of the join and these streams before a run."""
        yield from ()
