"""`Moment`: a run at the end of a micro-batch."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from workbench.counts import counted
from workbench.model import FINISH, Simulation, checked_batch
from workbench.reasons.spans import spans
from workbench.streams import SIDES

__all__ = ["Moment", "at"]


@dataclass(frozen=True)
class Moment:
    """A run at the end of one of its micro-batches.

    Attributes
    ----------
    batch
        The micro-batch.
    arrived
        Rows of each side that arrived in it.
    late, out
        Rows dropped as late in it, and rows that came out.
    watermark
        The watermark that closed windows and evicted state at its end, in the time zone of `Run.batches`; None while
        it stands at 1970-01-01, and once the input has ended.
    held_by
        The stream whose watermark is the query's, where the two differ; empty where they do not, and once the input has
        ended.
    ended
        Whether the input has ended: the watermark has passed every row, and every window is closed.
    open_windows
        Windows or sessions with rows in them that are not closed; None in an interval join.
    kept, added, evicted
        Rows in state, once for each window: those that stay, those that are added, those that are evicted.
    """

    batch: int
    arrived: tuple[int, int]
    late: int
    out: int
    watermark: pd.Timestamp | None
    open_windows: int | None
    kept: int
    added: int
    evicted: int
    held_by: str = ""
    ended: bool = False

    @property
    def in_state(self) -> int:
        """Rows in state, once for each window, at the end of the micro-batch."""
        return self.kept + self.added

    def __str__(self) -> str:
        mark = "the input has ended, and the watermark has passed every row" if self.ended else "no watermark yet"
        if self.watermark is not None:
            mark = f"watermark {self.watermark:%Y-%m-%d %H:%M:%S.%f}"[:-3]
            mark += f", that of {self.held_by}" if self.held_by else ""
        late = f", {self.late:,} late" if self.late else ""
        parts = [
            f"{self.arrived[0]:,} + {counted(self.arrived[1], 'row')} came{late}",
            mark,
            f"in state {self.in_state:,} ({self.kept:,} kept, {self.added:,} added, {self.evicted:,} evicted)",
            f"{counted(self.out, 'row')} out",
        ]
        if self.open_windows is not None:
            parts.insert(2, f"{counted(self.open_windows, 'window')} open")
        return f"micro-batch {self.batch}: " + " · ".join(parts)


def at(simulation: Simulation, micro_batches: pd.DataFrame, batch: int) -> Moment:
    """A run at the end of a micro-batch, given by Spark's number; `micro_batches` counts them from 0.

    Raises
    ------
    ArgumentError
        If there is no such micro-batch.
    """
    number, batch = batch, checked_batch(batch, len(simulation.outcome.marks), simulation.first)
    reported = micro_batches[micro_batches["batch"] == batch].iloc[0]
    entering, leaving = zip(*(simulation.outcome.moves(side) for side in SIDES), strict=True)
    added, evicted = (int(sum(rows[batch] for rows in each)) for each in (entering, leaving))
    held = int(sum(rows[batch] for rows in simulation.outcome.state_rows().values()))
    windows = None
    if simulation.windowed:
        every = spans(simulation)
        windows = int(((every["opened"] <= batch) & (every["closed"] > batch)).sum())
    marks = simulation.outcome.marks
    ended = FINISH in marks.kinds[:batch]
    return Moment(
        int(number),
        (int(reported["left_rows"]), int(reported["right_rows"])),
        int(reported["late_rows"]),
        int(reported["output_rows"]),
        reported["watermark"] if marks.eviction[batch] and not ended else None,
        windows,
        held - added,
        added,
        evicted,
        "" if ended else _held_by(simulation, batch),
        ended,
    )


def _held_by(simulation: Simulation, batch: int) -> str:
    """The stream whose watermark is the query's after a micro-batch, where the two differ."""
    own = {side: int(simulation.outcome.marks.own[side][batch]) for side in SIDES}
    if own["left"] == own["right"]:
        return ""
    choose = min if simulation.policy == "min" else max
    return simulation.side(choose(SIDES, key=own.__getitem__)).name
