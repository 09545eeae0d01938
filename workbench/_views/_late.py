"""The late rows, and what each watermark delay keeps."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from workbench import charts
from workbench._views._rows import Cut, arrived
from workbench._words import key_words
from workbench.model import Micros, Outcome
from workbench.streams import SIDES
from workbench.times import short

if TYPE_CHECKING:
    from workbench.results import Run

_MOST_KEYS = 20_000


def late(run: Run, cut: Cut) -> charts.Drawing:
    """How late rows were, and the share of rows that each delay keeps."""
    names = (run.left.name, run.right.name)
    parts, kept, needs = [], [], []
    inside = cut.rows(run)
    for side, name in zip(SIDES, names, strict=True):
        stream, copies = run.side(side), run.outcome.copies[side]
        mine = copies[copies["late"]].drop_duplicates("row", keep="last")
        mine = mine[np.isin(mine["row"], inside[side])]
        row = mine["row"].to_numpy()
        keys = key_words(stream, row) if len(row) <= _MOST_KEYS else None
        late = {"row_id": [f"{side}-{each}" for each in row.tolist()], "stream": name, "key": keys}
        behind = (mine["watermark"] - mine["end"]).to_numpy() / 1e6
        parts.append(
            pd.DataFrame(
                {**late, "batch": stream.arrival[row], "arrived": arrived(stream.arrival)[row], "behind": behind}
            )
        )
        need = np.sort(common_delay(run.outcome, run.policy, side)) / 1e6
        needs.append(need)
        share = np.arange(1, len(need) + 1) / max(1, len(need))
        curve = pd.DataFrame({"stream": name, "delay": need, "share": share})
        kept.append(curve.drop_duplicates("delay", keep="last"))
    every = np.sort(np.concatenate(needs))
    marks = [(f"{name} now, {short(each)}", each.total_seconds()) for name, each in _delays(run)]
    for part in (0.99, 1.0) if len(every) else ():
        least = float(every[int(np.ceil(part * len(every))) - 1])
        marks.append((f"{part:.0%} kept with {short(timedelta(seconds=least))}", least))
    marked = pd.DataFrame(marks, columns=["label", "delay"])
    marked["place"] = 0.1 + 0.12 * marked.index
    return charts.late(_joined(parts), _joined(kept), marked, names)


def _joined(parts: list[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)


def _delays(run: Run) -> list[tuple[str, timedelta]]:
    if run.left.watermark == run.right.watermark:
        return [("delay", run.left.watermark)]
    return [(f"delay of {stream.name}", stream.watermark) for stream in (run.left, run.right)]


def common_delay(outcome: Outcome, policy: str, side: str) -> Micros:
    """Per row the least delay, the same on both sides, that keeps it for one of its windows, in microseconds."""
    copies = outcome.copies[side].drop_duplicates("row", keep="last")
    copies = copies[~copies["filtered"]]
    index = copies["batch"].to_numpy() - 1
    newest = [np.maximum(outcome.marks.newest[each], 0) for each in SIDES]
    mark = np.minimum(*newest) if policy == "min" else np.maximum(*newest)
    end = copies["end"].to_numpy()
    needed = np.where(index >= 0, mark[np.maximum(index, 0)], 0) - (end - 1) // 1000 * 1000
    return np.maximum(needed, 0)[end > 0]
