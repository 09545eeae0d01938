"""What is in state after a micro-batch, row by row and key by key: since when, until which watermark, how large."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from workbench import schema
from workbench.arrays import Flags, RowNumbers, Texts, Times
from workbench.engine import pruning
from workbench.kinds import NEVER, kind_of
from workbench.literals import SIDES, Side, Sides
from workbench.model import Simulation
from workbench.reasons import tables
from workbench.reasons.labels import key_words
from workbench.untyped import Series

__all__ = ["by_key", "leaves_at", "of_rows", "simulated"]

_NO_KEY = "the end of the input: its key is null, and no row can meet it"


def simulated(simulation: Simulation, batch: int) -> pd.DataFrame:
    """What the model says is in state after a micro-batch: ``side``, ``row``, ``start``, ``end``.

    A session is the one that a row is in at last; Spark has it as it is at the time.
    """
    parts, groups = [], simulation.outcome.groups
    for side in SIDES:
        mine = simulation.outcome.held_after(batch, side)
        for name in ("start", "end"):
            if len(groups):
                mine = mine.assign(**{name: groups[name].to_numpy()[mine["group"]]})
        mine = mine[["row", "start", "end"]]
        parts.append(mine if simulation.windowed else mine.assign(start=0, end=0))
    found = pd.concat([each.assign(side=side) for side, each in Sides(*parts).items()])
    return found.sort_values(["side", "row", "start"], ignore_index=True)


def of_rows(
    simulation: Simulation, held: pd.DataFrame, size: float | None, only: dict[Side, RowNumbers] | None = None
) -> pd.DataFrame:
    """The table of `Run.state`.

    Parameters
    ----------
    simulation
        The run.
    held
        Columns ``side``, ``row``, ``start``, ``end`` (microseconds; 0 without windows).
    size
        How many bytes it all takes; None: nobody knows.
    only
        Per side the rows that are wanted; None: all.
    """
    zone, known = simulation.zone, _known(simulation, held, size)
    if only is not None:
        wanted = np.any([(held["side"] == side) & held["row"].isin(only[side]) for side in SIDES], axis=0)
        held, known = held[wanted], known[wanted]
    parts = []
    for side in SIDES:
        mine = held[held["side"] == side]
        facts = known[(held["side"] == side).to_numpy()]
        rows = tables.plain_rows(simulation, side, mine["row"].to_numpy()).drop(columns="batch")
        rows = rows.rename(columns=tables.renamed(list(rows.columns), [column.name for column in schema.STATE.last]))
        if simulation.windowed:
            for name in ("start", "end"):
                rows[f"window_{name}"] = tables.moments(mine[name], zone).to_numpy()
        rows["since"] = simulation.first + facts["since"].to_numpy()
        rows["evicted_in"] = facts["evicted_in"].array + simulation.first
        rows["leaves_at"] = _moments(facts["leaves_at"], zone)
        rows["state_bytes"] = facts["bytes"].to_numpy()
        parts.append(rows)
    return tables.stack(parts, schema.STATE)


def by_key(simulation: Simulation, held: pd.DataFrame, size: float | None, most: int) -> pd.DataFrame:
    """The table of `Run.state_by_key`; arguments as in `of_rows`."""
    known = _known(simulation, held, size)
    known["key"], words, keyless = _keys(simulation, held)
    known["side"] = held["side"].to_numpy()
    known["is_left"] = known["side"] == "left"
    groups = known.groupby("key", sort=False)
    found = groups.agg(
        rows=("is_left", "size"), left=("is_left", "sum"), since=("since", "min"), leaves_at=("leaves_at", "max"),
        state_bytes=("bytes", "sum"), weight=("weight", "sum"),
    )  # fmt: skip
    found.insert(2, "right", found["rows"] - found["left"])
    if size is None:
        found["state_bytes"] = None
    found["share"] = found.pop("weight") / max(known["weight"].sum(), 1)
    longest = known.loc[groups["leaves_at"].idxmax(), ["key", "side"]].set_index("key")["side"]
    kept = {side: kind_of(simulation.join).held_by(simulation.join, side) for side in SIDES}
    alone = keyless[found.index] & (found["leaves_at"] >= NEVER)
    found["held_by"] = [_NO_KEY if alone[key] else kept[longest[key]] for key in found.index]
    found = found.sort_values(["share", "rows"], ascending=False, kind="stable").head(most).reset_index()
    found["key"] = words[found["key"]]
    found["since"] += simulation.first
    found["leaves_at"] = _moments(found["leaves_at"], simulation.zone)
    return found


def leaves_at(simulation: Simulation, side: Side, assignments: pd.DataFrame) -> Times:
    """The watermark with which some assignments of a side leave state, in microseconds; 2**62: never."""
    groups = simulation.outcome.groups
    found: Times = kind_of(simulation.join).leaves_at(simulation.join, side, assignments["end"].to_numpy())
    if "leaves_at" in assignments:
        found = assignments["leaves_at"].to_numpy()
    if len(groups):
        group = assignments["group"].to_numpy()
        found = np.where(group >= 0, groups["end"].to_numpy()[group], found)
    return found


def _known(simulation: Simulation, held: pd.DataFrame, size: float | None) -> pd.DataFrame:
    """Of each row that is held ``since``, ``evicted_in`` (None: never), ``leaves_at``, ``weight`` and ``bytes``."""
    count, end = len(held), len(simulation.outcome.marks)
    since, gone, leaves, weight = (np.zeros(count, dtype=kind) for kind in (np.int64, np.int64, np.int64, np.float64))
    kind = kind_of(simulation.join)
    for side in SIDES:
        here = np.flatnonzero((held["side"] == side).to_numpy())
        mine = simulation.outcome.assignments[side]
        mine = mine.iloc[_places(mine, held.iloc[here], simulation.windowed)]
        leaves[here] = leaves_at(simulation, side, mine)
        since[here], gone[here] = mine["batch"], mine["evicted_in"]
        weight[here] = kind.state_bytes + pruning.widths(simulation.side(side).table.take(mine["row"].to_numpy()))
    share = weight / max(weight.sum(), 1)
    return pd.DataFrame(
        {
            "since": since,
            "evicted_in": pd.Series(gone, dtype="Int64").where(gone < end),
            "leaves_at": leaves,
            "weight": weight,
            "bytes": None if size is None else np.round(share * size),
        }
    )


def _places(mine: pd.DataFrame, held: pd.DataFrame, windowed: bool) -> RowNumbers:
    """Where the rows that are held are among a side's assignments."""
    on = ["row", "start"] if windowed and len(mine) != mine["row"].nunique() else ["row"]
    places: RowNumbers = pd.MultiIndex.from_frame(mine[on]).get_indexer(pd.MultiIndex.from_frame(held[on]))
    return places


def _keys(simulation: Simulation, held: pd.DataFrame) -> tuple[RowNumbers, Texts, Flags]:
    """A number for the key of each row that is held, the same where Spark finds keys equal.

    With it, for each number, the key's text, and whether it is no key to match on (a part of it is null); of rows that
    are kept without one those with the same text have one number.
    """
    words, codes = np.full(len(held), None, dtype=object), np.full(len(held), -1)
    for side, of_side in Sides(*simulation.outcome.keys).items():
        here, rows = (held["side"] == side).to_numpy(), held.loc[held["side"] == side, "row"].to_numpy()
        words[here], codes[here] = key_words(simulation.side(side), rows), of_side[rows]
    of_text = pd.factorize(words)[0]
    numbers = pd.factorize(np.where(codes >= 0, codes, -1 - of_text))[0]
    texts = np.full(len(held), None, dtype=object)
    texts[numbers[::-1]] = words[::-1]  # that of the first row
    keyless = np.zeros(len(held), dtype=bool)
    keyless[numbers] = codes < 0
    return numbers, texts, keyless


def _moments(micros: Series, zone: str | None) -> Any:
    """Times in microseconds as timestamps; those that never come as none."""
    found = tables.moments(micros.where(micros < NEVER, 0), zone)
    return found.where((micros < NEVER).to_numpy()).array
