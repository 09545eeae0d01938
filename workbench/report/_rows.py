"""The rows of a report: those that were not matched, grouped by why; reasons and stories, as far as there is room."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from workbench.charts.glyphs import paths
from workbench.literals import FATES, SIDES, RowId, Sides
from workbench.model import Simulation
from workbench.reasons.causes import lost_rows
from workbench.reasons.labels import key_words
from workbench.runs import why
from workbench.runs.result import Result
from workbench.untyped import Record, Value

__all__ = ["Unmatched", "shortened", "unmatched"]

_MOST_LISTED, _MOST_STORIES = 4_000, 1_000
_LONGEST, _LONGEST_REASON, _LONGEST_STORY = 200, 800, 4_000
_SHARE = 0.45  # of the room, for the table; the rest is for stories


@dataclass(frozen=True)
class Unmatched:
    """The rows that were not matched.

    Attributes
    ----------
    total
        How many there are.
    groups
        Why: ``label``, ``fate``, ``rows`` (how many), ``of`` (how many rows their side has), ``glyphs`` (of the
        unmatched ones in the chart, as SVG paths). Rows that came late first: settings can help these.
    listed
        The rows in the table, column by column: ``id``, ``side``, ``batch``, ``time`` (milliseconds since 1970-01-01
        UTC), ``key``, ``group`` (its place among the groups), ``reason``.
    stories
        By ``id`` the whole story of some of them.
    """

    total: int
    groups: list[Record]
    listed: dict[str, list[Value]]
    stories: dict[str, str]


def unmatched(result: Result, room: int) -> Unmatched:
    """The rows that were not matched, in so many bytes of JSON."""
    simulation = result.simulation
    table = _grouped(simulation)
    grouped = table.groupby(["fate", "label"], sort=False)
    counted = grouped.agg(rows=("row", "size"), side=("side", "first"), glyphs=("obstacle", paths)).reset_index()
    counted["of"] = counted["side"].map({side: len(result.side(side)) for side in SIDES})
    counted["order"] = counted["fate"].map(sorted(FATES, key=lambda fate: fate != "late").index)
    counted = counted.sort_values(["order", "rows"], ascending=[True, False], ignore_index=True)
    groups = counted[["label", "fate", "rows", "of", "glyphs"]].to_dict("records")
    table["group"] = table["label"].map({each["label"]: place for place, each in enumerate(groups)})
    # some of every group, before more of any
    first = table.groupby("label").cumcount().argsort(kind="stable").to_numpy()
    chosen = table.iloc[first[:_MOST_LISTED]]
    listed = _listed(result, chosen)
    listed = listed.iloc[: _fitting(listed.to_dict("records"), int(room * _SHARE))]
    told = [RowId.parse(each) for each in listed["id"].head(_MOST_STORIES)]
    stories = {
        str(row): shortened(text, _LONGEST_STORY) for row, text in zip(told, why.stories(simulation, told), strict=True)
    }
    pairs = list(stories.items())
    kept = dict(pairs[: _fitting(pairs, room - _bytes(listed.to_dict("list")))])
    ordered = listed.sort_values(["side", "row"]).drop(columns="row")
    return Unmatched(len(table), groups, ordered.to_dict("list"), kept)


def shortened(text: Any, most: int = _LONGEST) -> Any:
    """A text that is not longer than so many characters; anything else as it is."""
    return text[: most - 1] + "…" if isinstance(text, str) and len(text) > most else text


def _grouped(simulation: Simulation) -> pd.DataFrame:
    """Columns ``side``, ``row``, ``fate``, ``obstacle``, ``label``: one row for each that was not matched."""
    table = lost_rows(simulation)
    names = Sides(*simulation.names)
    label = table["side"].map(names).astype(object) + ": " + table.pop("cause")
    return table.assign(label=label.astype(object))


def _listed(result: Result, chosen: pd.DataFrame) -> pd.DataFrame:
    """The chosen rows as the table has them, in their order."""
    simulation = result.simulation
    places = chosen["row"].to_numpy() + np.where(chosen["side"] == "left", 0, len(result.left))
    reasons = result.explain(places.tolist())["reason"]
    parts = []
    for side in SIDES:
        mine = chosen[chosen["side"] == side]
        rows, stream = mine["row"].to_numpy(), simulation.side(side)
        parts.append(
            pd.DataFrame(
                {
                    "batch": stream.arrival[rows],
                    "time": stream.event_times[rows] / 1000,
                    "key": [shortened(str(each)) for each in key_words(stream, rows)],
                },
                index=mine.index,
            )
        )
    more = pd.concat(parts).loc[chosen.index]
    return pd.DataFrame(
        {
            "id": [str(RowId(side, row)) for side, row in zip(chosen["side"], chosen["row"], strict=True)],
            "side": chosen["side"].to_numpy(),
            "row": chosen["row"].to_numpy(),
            "batch": more["batch"].to_numpy(),
            "time": more["time"].to_numpy(),
            "key": more["key"].to_numpy(),
            "group": chosen["group"].to_numpy(),
            "reason": [shortened(reasons[place], _LONGEST_REASON) for place in places.tolist()],
        }
    )


def _fitting(values: list[Value], room: int) -> int:
    """How many values, from the first, fit into so many bytes of JSON."""
    sizes = np.cumsum([_bytes(each) for each in values]) if values else np.zeros(0)
    return int(np.searchsorted(sizes, room, side="right"))


def _bytes(value: Value) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode()) + 1
