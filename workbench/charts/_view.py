"""`View`, one chart of a run, and `TuningView`, one of a tuning: all that others need to know of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from workbench.charts._drawing import Drawing
from workbench.charts._rows import Cut
from workbench.joins import Join
from workbench.literals import Setting, Side
from workbench.model import KeptByDelays, Simulation
from workbench.streams import Stream

__all__ = ["GROUPS", "Scene", "TuningScene", "TuningView", "View"]

GROUPS = ("Rows", "Watermark and late", "State", "Tune", "Hand on")
"""The groups of the page's views, in their order."""


@dataclass(frozen=True, eq=False)
class Scene:
    """What of a run a chart is to show.

    Attributes
    ----------
    simulation
        The run.
    micro_batches
        Gives the table `Run.batches`.
    cut
        The stretch of event time.
    moment
        The micro-batch at whose end to show it; `LATEST`: at its end.
    reasons
        Whether rows drawn one by one bear their reasons, which take longest to compute.
    """

    simulation: Simulation
    micro_batches: Callable[[], pd.DataFrame]
    cut: Cut
    moment: int
    reasons: bool


@dataclass(frozen=True)
class View:
    """One chart of a run.

    Attributes
    ----------
    name
        Of the method of `Run.charts`.
    tab, tip
        The page's tab for it, and what the tab says when it is pointed at; an empty one: it has no tab.
    doc
        The method's docstring.
    draw
        Makes its tables of a scene, and fills its layout with them.
    group
        The group of the page that the tab is in, one of `GROUPS`.
    of_rows
        Whether it shows a stretch of event time, and so takes ``between``.
    of_moment
        Whether it shows the run at the end of a micro-batch, and so takes ``batch``.
    of_axes
        Whether it can be shown along other axes than event time, and so takes ``axis``.
    listed
        The rows that the page lists below it, as `pandas.DataFrame.eval` takes it of `Run.fates`, such as
        ``"late > 0"``; None: it lists none.
    lists_state
        Whether the page lists what is in state below it.
    has_steps
        Whether the page steps through the state of one key below it.
    of_windows
        Whether it shows windows: the page offers it where the join has some.
    """

    name: str
    tab: str
    tip: str
    doc: str
    draw: Callable[[Scene], Drawing]
    group: str = "Rows"
    of_rows: bool = True
    of_moment: bool = True
    of_axes: bool = False
    listed: str | None = None
    lists_state: bool = False
    has_steps: bool = False
    of_windows: bool = False


@dataclass(frozen=True, eq=False)
class TuningScene:
    """What the charts of a tuning show.

    Attributes
    ----------
    join, left, right
        What was tuned.
    table, settings
        `Tuning.table`, and its columns that are settings.
    differences
        Gives `Tuning.differences`.
    kept
        What each pair of delays keeps; None: it is known of those in the table only.
    """

    join: Join
    left: Stream
    right: Stream
    table: pd.DataFrame
    settings: list[Setting]
    differences: Callable[[], pd.DataFrame]
    kept: KeptByDelays | None = None

    def side(self, side: Side) -> Stream:
        """The stream of a side."""
        return self.left if side == "left" else self.right


@dataclass(frozen=True)
class TuningView:
    """One chart of a tuning.

    Attributes
    ----------
    name
        Of the method of `Tuning.charts`.
    tab, tip
        The page's button for it, and what the button says when it is pointed at.
    doc
        The method's docstring.
    draw
        Makes its tables of a tuning, and fills its layout with them. What it takes beside the scene, all with defaults,
        the method takes too.
    """

    name: str
    tab: str
    tip: str
    doc: str
    draw: Callable[..., Drawing]
