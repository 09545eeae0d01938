"""`Moment`: a run at the end of a micro-batch."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from workbench.model import Simulation, checked_batch
from workbench.runs.spans import spans
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
        it stands at 1970-01-01.
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

    @property
    def in_state(self) -> int:
        """Rows in state, once for each window, at the end of the micro-batch."""
        return self.kept + self.added

    def __str__(self) -> str:
        mark = (
            f"watermark {self.watermark:%Y-%m-%d %H:%M:%S.%f}"[:-3]
            if self.watermark is not None
            else "no watermark yet"
        )
        parts = [
            f"{self.arrived[0]:,} + {self.arrived[1]:,} rows came" + (f", {self.late:,} late" if self.late else ""),
            mark,
            f"in state {self.in_state:,} ({self.kept:,} kept, {self.added:,} added, {self.evicted:,} evicted)",
            f"{self.out:,} rows out",
        ]
        if self.open_windows is not None:
            parts.insert(2, f"{self.open_windows:,} windows open")
        return f"micro-batch {self.batch}: " + " · ".join(parts)


def at(simulation: Simulation, micro_batches: pd.DataFrame, batch: int) -> Moment:
    """A run at the end of a micro-batch.

    Raises
    ------
    ArgumentError
        If there is no such micro-batch.
    """
    batch = checked_batch(batch, len(simulation.outcome.marks))
    reported = micro_batches[micro_batches["batch"] == batch].iloc[0]
    entering, leaving = zip(*(simulation.outcome.moves(side) for side in SIDES), strict=True)
    added, evicted = (int(sum(rows[batch] for rows in each)) for each in (entering, leaving))
    held = int(sum(rows[batch] for rows in simulation.outcome.state_rows().values()))
    windows = None
    if simulation.windowed:
        every = spans(simulation)
        windows = int(((every["opened"] <= batch) & (every["closed"] > batch)).sum())
    return Moment(
        batch,
        (int(reported["left_rows"]), int(reported["right_rows"])),
        int(reported["late_rows"]),
        int(reported["output_rows"]),
        reported["watermark"] if simulation.outcome.marks.eviction[batch] else None,
        windows,
        held - added,
        added,
        evicted,
    )
