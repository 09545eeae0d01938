"""How the state of one key changes, event by event: rows that come, what comes out with them, rows that leave."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from workbench import schema
from workbench.arrays import RowNumbers
from workbench.kinds import HASH_JOIN, kind_of
from workbench.literals import SIDES, Side, Sides
from workbench.model import Simulation
from workbench.reasons import tables
from workbench.runs import holding

__all__ = ["ADDED", "EVICTED", "LATE", "NOT_KEPT", "NULL_KEY", "REMOVED", "events", "of_rows"]

ADDED, EVICTED = "added", "evicted"
LATE, NULL_KEY, REMOVED, NOT_KEPT = "late", "null key", "removed", "not kept"
_OURS = ("change", "left", "right", "emitted")


def of_rows(simulation: Simulation, rows: Mapping[Side, RowNumbers]) -> pd.DataFrame:
    """The table of `Result.state_changes`.

    Parameters
    ----------
    simulation
        The run.
    rows
        Per side the rows of the key.
    """
    happened = events(simulation, rows)
    parts, order = [], [np.flatnonzero(happened["side"] == side) for side in SIDES]
    for side, places in Sides(*order).items():
        mine = happened.iloc[places]
        shown = tables.plain_rows(simulation, side, mine["row"].to_numpy()).drop(columns=["side", "batch"])
        shown = shown.rename(columns=tables.renamed(list(shown.columns), _OURS))
        parts.append(shown)
    found = happened[["batch", "change", "side"]].join(tables.stack(parts, schema.ROWS).set_axis(np.concatenate(order)))
    if simulation.windowed:
        for name in ("start", "end"):
            found[f"window_{name}"] = tables.moments(happened[name], simulation.zone)
    found["watermark"] = tables.moments(happened["watermark"], simulation.zone)
    found[["left", "right", "emitted"]] = happened[["left", "right", "emitted"]]
    found["batch"] += simulation.first
    return found


def events(simulation: Simulation, rows: Mapping[Side, RowNumbers]) -> pd.DataFrame:
    """What happens, in the order in which Spark does it: left rows come, right rows come, rows leave.

    Parameters
    ----------
    simulation
        The run.
    rows
        Per side the rows of a key.

    Returns
    -------
    pandas.DataFrame
        ``batch``, ``change``, ``side``, ``row``, ``start``, ``end`` (of its window; microseconds), ``watermark``,
        ``left``, ``right``, ``emitted``, as in `of_rows`; ``leaves_at`` (the watermark with which the row leaves, 2**62
        if there is none); ``assignment`` (the place in `Outcome.assignments` of its side).
    """
    outcome = simulation.outcome
    parts = []
    for side in SIDES:
        mine = outcome.assignments[side]
        mine = mine[np.isin(mine["row"], rows[side])]
        mine = mine.assign(side=side, assignment=mine.index, leaves_at=holding.leaves_at(simulation, side, mine))
        keyless = (simulation.fates[side]["fate"] == "null_key").to_numpy()[mine["row"]]
        left_out = [mine["filtered"] & keyless, mine["filtered"]]
        what = np.select([*left_out, mine["late"], mine["held"]], [NULL_KEY, REMOVED, LATE, ADDED], NOT_KEPT)
        parts.append(mine.assign(change=what, leaves=False))
        gone = mine[mine["held"] & (mine["evicted_in"] < len(outcome.marks))]
        at = gone["evicted_in"].to_numpy()
        parts.append(gone.assign(change=EVICTED, leaves=True, batch=at, watermark=outcome.marks.eviction[at]))
    found = pd.concat(parts).sort_values(["batch", "leaves", "side", "row", "start"], kind="stable", ignore_index=True)
    if len(outcome.groups):
        inside = found["group"] >= 0
        for name in ("start", "end"):
            found.loc[inside, name] = outcome.groups[name].to_numpy()[found.loc[inside, "group"]]
    steps = (found["change"] == ADDED).astype(int) - (found["change"] == EVICTED).astype(int)
    for side in SIDES:
        found[side] = (steps * (found["side"] == side)).cumsum()
    return found.assign(emitted=_emitted(simulation, found))


def _emitted(simulation: Simulation, events: pd.DataFrame) -> RowNumbers:
    """How many rows come out with each event: with the last one of a member, in the micro-batch it comes out in.

    A pair of a hash join comes out as the second row comes, everything else as rows leave.
    """
    outputs = simulation.outcome.outputs
    of_events = events[["side", "assignment", "batch", "leaves"]].assign(event=events.index)
    parts = []
    for side in SIDES:
        members = outputs.of(side)
        members = members[np.isin(members["assignment"], of_events.loc[of_events["side"] == side, "assignment"])]
        parts.append(members[["output", "assignment"]].assign(side=side))
    members = pd.concat(parts)
    table = outputs.table
    for name in ("batch", "matched", "emitted"):
        members[name] = table[name].to_numpy()[members["output"]]
    if kind_of(simulation.join).one_partner:  # a left row comes out, whenever its partner leaves
        members = members[members["side"] == "left"]
    found = members[members["emitted"]].merge(of_events, on=["side", "assignment", "batch"])
    if kind_of(simulation.join).operator is HASH_JOIN:
        found = found[~(found["matched"] & found["leaves"])]
    last = found.groupby("output")["event"].max()
    return np.bincount(last, minlength=len(events))
