"""What is picked: the rows of a mark that was clicked, and how charts show them. To the browser a row is a text."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup

from workbench.app.html import html
from workbench.charts import LATEST, MOMENT, PICKED, PICKED_ARRIVED, PICKED_EVICTED, Drawing
from workbench.literals import SIDES, RowId
from workbench.runs.result import Result
from workbench.untyped import Record, Value


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


def same_rows(one: Result, other: Result) -> bool:
    """Whether a `RowId` means the same row in both runs."""
    return all(one.side(side).table is other.side(side).table for side in SIDES)
