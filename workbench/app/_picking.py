"""What is picked: the rows of a mark that was clicked, and how charts show them. To the browser a row is a text."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from markupsafe import Markup

from workbench.app._kept_settings import Filter
from workbench.app.html import html
from workbench.arrays import RowNumbers
from workbench.charts import LATEST, MOMENT, PICKED, PICKED_ARRIVED, PICKED_EVICTED, Drawing
from workbench.errors import TooLargeError
from workbench.literals import SIDES, RowId, Side
from workbench.reasons.causes import not_matched
from workbench.runs.result import Result
from workbench.runs.why import Why
from workbench.untyped import Record, Value

_MOST_PICKED = 2_000


def rows_not_matched(run: Result) -> list[RowId]:
    """The rows of both sides that were not matched, the first 2,000 of each; none where only Spark can tell."""
    lost = _lost(run)
    return [RowId(side, row) for side, rows in lost.items() for row in rows[:_MOST_PICKED].tolist()]


def leads_on(run: Result) -> bool:
    """Whether keys lead to rows that were not matched."""
    return any(map(len, _lost(run).values()))


def _lost(run: Result) -> Mapping[Side, RowNumbers]:
    """The rows that were not matched, by side; nothing where only Spark can tell."""
    try:
        return not_matched(run.simulation)
    except TooLargeError:
        return {}


def rows_of_filter(run: Result, chosen: Filter) -> list[RowId]:
    """The rows that are filtered by, the first 2,000 of them."""
    side, first = chosen["side"], 0 if chosen["side"] == "left" else len(run.left)
    wanted = (run.simulation.fates[side]["fate"] == chosen["fate"]).to_numpy()
    if chosen["cause"]:
        wanted &= (run.causes.to_numpy() == chosen["cause"])[first : first + len(wanted)]
    return [RowId(side, row) for row in np.flatnonzero(wanted)[:_MOST_PICKED].tolist()]


def rows_of_mark(clicked: Mapping[str, Value], drawing: Drawing | None) -> list[RowId]:
    """The rows of a mark that was clicked: one, those of a window, or none."""
    if clicked.get("row_id"):
        return [RowId.parse(clicked["row_id"])]
    if clicked.get("window") is not None and drawing is not None:
        rows = drawing.tables["rows"]
        return [RowId.parse(each) for each in rows.loc[rows["window"] == clicked["window"], "row_id"]]
    return []


def window_of_mark(clicked: Mapping[str, Value], drawing: Drawing | None) -> Markup | None:
    """What is to be said of a window that was clicked; None where none was."""
    if clicked.get("row_id") or clicked.get("window") is None or drawing is None or "spans" not in drawing.tables:
        return None
    spans = drawing.tables["spans"]
    found = spans[spans["window"] == clicked["window"]] if "window" in spans else spans.iloc[:0]
    if found.empty:
        return None
    span = found.iloc[0]
    until = f"closed in micro-batch {span['closed']}" if span["closed"] < LATEST else "still open"
    name = html("Session of {}", span["key"]) if span["key"] is not None and span["key"] == span["key"] else "Window"
    words = f"opened in micro-batch {span['opened']}, {until}"
    return html("<h4>{}</h4><p>from {} to {}: {}</p>", name, span["start"], span["end"], words)


def params(run: Result | None, picked: list[RowId], moment: int) -> Record:
    """The moment and what is picked, as charts take them."""
    arrived = evicted = -1
    if len(picked) == 1 and run is not None:
        (of,) = picked
        arrived = int(run.side(of.side).arrival[of.row])
        evicted = int(run.simulation.fates[of.side]["evicted_in"].iloc[of.row])
    return {MOMENT: moment, PICKED: [str(each) for each in picked], PICKED_ARRIVED: arrived, PICKED_EVICTED: evicted}


def nearest(why: Why, fate: str, count: int) -> Record:
    """The nearest candidate of a row that was not matched, as charts take it; none of one that was.

    Parameters
    ----------
    why
        The row's story.
    fate
        What became of it.
    count
        How many rows the left side has.
    """
    if fate == "matched" or why.candidates.empty:
        return {"nearest": "", "gap": ""}
    first = why.candidates.iloc[0]
    return {"nearest": str(RowId.at(int(first["row"]), count)), "gap": str(first["apart"])}


def same_rows(one: Result, other: Result) -> bool:
    """Whether a `RowId` means the same row in both runs."""
    return all(one.side(side).table is other.side(side).table for side in SIDES)
