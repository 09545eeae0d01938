"""What changes from micro-batch to micro-batch: watermarks, state, and what a moment of the run looked like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from workbench import charts
from workbench._views._rows import spans
from workbench.model import DATA
from workbench.streams import SIDES

if TYPE_CHECKING:
    from workbench.results import Run


def watermarks(run: Run) -> charts.Drawing:
    """Each side's own watermark and the query's, over micro-batches."""
    marks, names = run.outcome.marks, (run.left.name, run.right.name)
    count = sum(kind == DATA for kind in marks.kinds)
    batch = np.arange(count)
    own = [
        pd.DataFrame({"batch": batch, "stream": name, "watermark": marks.own[side][:count].astype("datetime64[us]")})
        for side, name in zip(SIDES, names, strict=True)
    ]
    behind = marks.own["left"] <= marks.own["right"]
    holder = np.where(behind == (run.policy == "min"), *names)[:count]
    mark = marks.eviction[:count].astype("datetime64[us]")
    held = pd.DataFrame({"batch": batch, "watermark": mark, "holder": holder})
    return charts.watermarks(pd.concat(own, ignore_index=True), held, names)


def state(run: Run) -> charts.Drawing:
    """Rows in state by side, and bytes, with what was added and evicted."""
    names = (run.left.name, run.right.name)
    batch, in_state = np.arange(len(run.outcome.marks)), run.outcome.state_rows()
    held, moved = [], []
    for side, name in zip(SIDES, names, strict=True):
        held.append(pd.DataFrame({"batch": batch, "stream": name, "rows": in_state[side]}))
        for what, sign, rows in zip(("added", "evicted"), (1, -1), moves(run, side), strict=True):
            moved.append(pd.DataFrame({"batch": batch, "stream": name, "rows": sign * rows, "what": what}))
    size = run.batches[["batch", "state_bytes"]].rename(columns={"state_bytes": "bytes"})
    size["bytes"] = size["bytes"].astype(float)
    return charts.state(pd.concat(held), pd.concat(moved), size, names)


def moves(run: Run, side: str) -> tuple[np.ndarray, np.ndarray]:
    """How many copies of a side's rows are added to state, and evicted from it, in each micro-batch."""
    count = len(run.outcome.marks)
    mine = run.outcome.copies[side][run.outcome.copies[side]["held"]]
    added, evicted = (np.bincount(mine[name], minlength=count + 1)[:count] for name in ("batch", "leaves"))
    return added, evicted


@dataclass(frozen=True)
class Moment:
    """A run at the end of one of its micro-batches.

    Attributes
    ----------
    batch
        The micro-batch.
    arrived
        Rows of each side that came in it.
    late, out
        Rows dropped as late in it, and rows that came out.
    watermark
        The watermark that closed windows and evicted state at its end; None while it stands at 1970-01-01.
    open_windows
        Windows or sessions with rows in them that are not closed; None in an interval join.
    kept, added, evicted
        Copies of rows in state: those that were there before and still are, those that came, those that went.
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
        """Copies of rows in state at the end of the micro-batch."""
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


def moment(run: Run, batch: int) -> Moment:
    """What a run looked like at the end of a micro-batch."""
    told = run.batches[run.batches["batch"] == batch].iloc[0]
    came, went = zip(*(moves(run, side) for side in SIDES), strict=True)
    added, evicted = (int(sum(rows[batch] for rows in each)) for each in (came, went))
    held = int(sum(rows[batch] for rows in run.outcome.state_rows().values()))
    windows = None
    if run.windowed:
        every = spans(run)
        windows = int(((every["opened"] <= batch) & (every["closed"] > batch)).sum())
    mark = int(run.outcome.marks.eviction[batch])
    return Moment(
        batch,
        (int(told["left_rows"]), int(told["right_rows"])),
        int(told["late_rows"]),
        int(told["output_rows"]),
        pd.Timestamp(mark, unit="us") if mark else None,
        windows,
        held - added,
        added,
        evicted,
    )
