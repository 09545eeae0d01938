"""What became of every input row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workbench import _state, _tables, model
from workbench.joins import CoGroup

if TYPE_CHECKING:
    from workbench.results import Run

SIDES = ("left", "right")


def fates(run: Run) -> dict[str, pd.DataFrame]:
    """Per side a frame with ``fate`` and ``reason``, one row an input row, in order.

    A row with a partner in Spark's output is matched. Else it has a null key; or it was late for every window it is
    in; or it is pending (still in state at the end of a run that was not finished); or it is unmatched.
    """
    codes = dict(zip(SIDES, model.key_codes(run.left, run.right), strict=True))
    matched = _matched(run)
    late = _tables.late_copies(run)
    told = {}
    for side in SIDES:
        stream = run.side(side)
        count = len(stream)
        mine = late[late["side"] == side]
        copies = np.bincount(model.copies(run.join, stream.event_times)["row"], minlength=count)
        late_copies = np.bincount(mine["row"], minlength=count)
        all_late = (late_copies > 0) & (late_copies == copies)
        pending = _pending(run, side)
        fate = np.select(
            [matched[side], codes[side] < 0, all_late, pending],
            ["matched", "null_key", "late", "pending"],
            "unmatched",
        )
        words = {
            "matched": "joined with a partner",
            "null_key": "its key is null, and a null key equals nothing",
            "pending": "still waiting in state when the run ended",
            "unmatched": "no partner in reach",
        }
        reason = pd.Series(fate).map(words).to_numpy(dtype=object)
        worst = mine.groupby("row").first() if len(mine) else mine.set_index("row")
        for row in np.flatnonzero(all_late & (fate == "late")):
            reason[row] = _late_reason(worst.loc[row])
        told[side] = pd.DataFrame({"fate": fate, "reason": reason})
    return told


def rows(run: Run) -> pd.DataFrame:
    """The table of `Run.rows`."""
    parts = []
    told = fates(run)
    for side in SIDES:
        part = _tables.plain_rows(run, side)
        part["fate"], part["reason"] = told[side]["fate"], told[side]["reason"]
        parts.append(part)
    return _tables.stack(parts)


def _late_reason(copy: Any) -> str:
    from datetime import timedelta

    from workbench import times

    mark = pd.Timestamp(int(copy["watermark"]), unit="us")
    if copy["watermark"] == 0:
        return "late: Spark starts every watermark at 1970-01-01, and drops what is at or before it"
    behind = times.short(timedelta(microseconds=int(copy["behind"])))
    what = "it" if copy["start"] == copy["end"] else "its window's end"
    stood = f"{mark:%Y-%m-%d %H:%M:%S.%f} in micro-batch {int(copy['batch'])}"
    return f"late: {what} was {behind} behind the watermark, which stood at {stood}"


def _matched(run: Run) -> dict[str, np.ndarray[Any, Any]]:
    """Per side, which rows found a partner, as Spark's output shows it."""
    if isinstance(run.join, CoGroup) or run.join.how not in ("semi", "anti"):
        return _tables.matched_rows(run)
    # semi and anti joins show left rows only; their right rows are those of the definition
    complete = model.pairs(run.join, run.left, run.right)
    late = _tables.late_copies(run)
    for side in SIDES:
        gone = late.loc[late["side"] == side, ["row", "start", "end"]].rename(columns={"row": side})
        on = [side, "start", "end"] if run.windowed and not _session(run) else [side]
        marked = complete.merge(gone[on].drop_duplicates(), on=on, how="left", indicator="gone")
        complete = complete[(marked["gone"] == "left_only").to_numpy()]
    found = {side: np.zeros(len(run.side(side)), dtype=bool) for side in SIDES}
    shown = _tables.shown_rows(run, "left")
    if run.join.how == "semi":
        complete = complete[shown[complete["left"]]]
        found["left"] = shown
    else:
        complete = complete[~shown[complete["left"]]] if not run.windowed else complete
        found["left"][complete["left"]] = True
    found["right"][complete["right"]] = True
    return found


def _session(run: Run) -> bool:
    from workbench.windows import Session

    return run.windowed and isinstance(getattr(run.join, "window", None), Session)


def _pending(run: Run, side: str) -> np.ndarray[Any, Any]:
    pending = np.zeros(len(run.side(side)), dtype=bool)
    if not run.finish:
        held = _state.held(run, int(run.batches["batch"].iloc[-1]))
        pending[held.loc[held["side"] == side, "row"]] = True
    return pending
