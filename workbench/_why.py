"""One row's whole story."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from workbench import explain, times
from workbench.errors import wrong
from workbench.explain import Story
from workbench.joins import IntervalJoin
from workbench.streams import SIDES
from workbench.windows import Session

if TYPE_CHECKING:
    import altair as alt

    from workbench.results import Run

_CANDIDATES = 5


@dataclass(frozen=True, repr=False, eq=False)
class Why:
    """Why a row became what it became.

    Attributes
    ----------
    text
        The story, a line a step.
    """

    text: str
    _run: Run
    _row: tuple[str, int]

    @cached_property
    def chart(self) -> alt.LayerChart:
        """The row and all rows of its key on event time."""
        return self._run.charts.of_key(*self._row)

    def __repr__(self) -> str:
        return self.text

    def _ipython_display_(self) -> None:
        from IPython.display import display

        display({"text/plain": self.text}, raw=True)
        display(self.chart)


def why(run: Run, row: int) -> Why:
    """The story of one row of `Run.rows`."""
    count = len(run.left) + len(run.right)
    if isinstance(row, bool) or not isinstance(row, int | np.integer) or not 0 <= row < count:
        raise wrong("row", row, f"use an index of run.rows, 0 to {count - 1}")
    side, number = ("left", int(row)) if row < len(run.left) else ("right", int(row) - len(run.left))
    return Why("\n".join(_lines(run, side, number)), run, (side, number))


def _lines(run: Run, side: str, row: int) -> list[str]:
    story = explain.Story(run, {each: np.array([row] if each == side else [], dtype=np.int64) for each in SIDES})
    words = story.words
    stream = run.side(side)
    told = story.told[side].loc[row]
    moment = int(stream.event_times[row])
    mark = words.moment(_mark(story, side, row))
    lines = [
        f"{stream.name}, {words.label(side, row)}: {told['fate'].replace('_', ' ')}",
        f"  event time  {words.moment(moment)}, key {words.key(side, row)}",
        f"  arrival     micro-batch {stream.arrival[row]}, in which late rows were judged by {mark}",
        *_windows(run, story, side, row),
        *_candidates(run, story, side, row),
        f"  verdict     {told['reason']}",
    ]
    if told["fix_setting"] is not None:
        lines.append(f"  fix         {told['fix_setting']} = {told['fix_value']!r}")
    return lines


def _mark(story: Story, side: str, row: int) -> int:
    return int(story.marks.late[story.streams[side].arrival[row]])


def _windows(run: Run, story: Story, side: str, row: int) -> list[str]:
    join, words = run.join, story.words
    if isinstance(join, IntervalJoin):
        low, high = times.micros(join.lower), times.micros(join.upper)
        begin, end = (low, high) if side == "left" else (-high, -low)
        moment = int(run.side(side).event_times[row])
        other = words.names[1 - SIDES.index(side)]
        return [f"  in reach    {other} from {words.moment(moment + begin)} to {words.moment(moment + end)}"]
    lines = []
    groups = story.outcome.groups
    for copy in story.copies(side, row).itertuples():
        grouped = isinstance(join.window, Session) and copy.group >= 0
        start, end = (groups.loc[copy.group, name] for name in ("start", "end")) if grouped else (copy.start, copy.end)
        word = "late" if copy.late else "on time"
        lines.append(f"  window      [{words.moment(int(start))}, {words.moment(int(end))}) {word}")
    return lines or ["  window      none: it lies in a gap between windows"]


def _candidates(run: Run, story: Story, side: str, row: int) -> list[str]:
    words, other = story.words, SIDES[1 - SIDES.index(side)]
    keys = dict(zip(SIDES, story.outcome.keys, strict=True))
    if keys[side][row] < 0:
        return []
    found = np.flatnonzero(keys[other] == keys[side][row])
    distance = run.side(other).event_times[found] - run.side(side).event_times[row]
    order = np.argsort(np.abs(distance), kind="stable")
    name = words.names[SIDES.index(other)]
    lines = [f"  candidates  {len(found):,} of its key on {name}"]
    for place in order[:_CANDIDATES]:
        copies = story.copies(other, int(found[place]))
        late = " late" if len(copies) and copies["late"].all() else ""
        apart = words.span(abs(int(distance[place])))
        when = (
            "at the same time" if not distance[place] else f"{apart} {'after' if distance[place] > 0 else 'before'} it"
        )
        met = " met" if story.met(*_in_order(side, row, int(found[place]))) else ""
        lines.append(f"              {words.label(other, int(found[place]))}, {when}{late}{met}")
    if len(found) > _CANDIDATES:
        lines.append(f"              and {len(found) - _CANDIDATES:,} more")
    return lines


def _in_order(side: str, row: int, partner: int) -> tuple[int, int]:
    return (row, partner) if side == "left" else (partner, row)
