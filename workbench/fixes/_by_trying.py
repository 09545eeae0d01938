"""Fixes that are found by trying: a session takes in what it merges with, and SQL's caches depend on all keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from workbench import times
from workbench.arrays import RowNumbers, Times
from workbench.errors import TooLargeError
from workbench.fixes.search import COLUMNS, MS, NEVER, Search, kept_until
from workbench.literals import DELAYS, SIDES, Setting, Side, Sides, other_side
from workbench.model import Simulation, in_sql, matches

__all__ = ["trials"]

_MOST = 24
_MOST_ROWS = 200_000
"""Rows that are simulated in all: so many trials of so many rows."""


def trials(simulation: Simulation, search: Search) -> list[pd.DataFrame]:
    """Fixes of the rows that are not matched, each the least of those tried with which its row is matched.

    Tried are values with which one of the late rows, or of SQL's pairs, would come in time: of an allowed lateness, and
    of the delay of either side. Of more than 24 in all some are tried, evenly spread; of very many rows none.

    Parameters
    ----------
    simulation
        The recording under Flink's rules.
    search
        The rows that fixes are asked for.
    """
    count = sum(len(each) for each in search.time.values())
    settings: list[Setting] = [*["allowed_lateness"] * search.windowed, *DELAYS.values()]  # type: ignore[list-item]
    most = min(_MOST, _MOST_ROWS // max(1, count)) // len(settings)
    every = Search(simulation)  # whichever rows are asked for, the same values are tried
    parts = []
    for setting in settings:
        values = _values(simulation, every, setting)
        tried = values[np.unique(np.linspace(0, len(values) - 1, min(most, len(values))).astype(np.int64))]
        parts.append(_found(simulation, search, setting, tried))
    return parts


def _found(simulation: Simulation, search: Search, setting: Setting, tried: Times) -> pd.DataFrame:
    """The fixes by one setting, of values in ascending order."""
    open_still = {side: ~search.matched[side] & (search.key[side] >= 0) for side in SIDES}
    now = search.lateness if setting == "allowed_lateness" else search.delay[_delayed(setting)]
    parts = []
    for value in tried.tolist():
        if not any(each.any() for each in open_still.values()):
            break
        changed = _changed(simulation, setting, value)
        for side in SIDES:
            matched = (changed.fates[side]["fate"] == "matched").to_numpy()
            rows = np.flatnonzero(open_still[side] & matched)
            open_still[side][rows] = False
            found = {"value": np.full(len(rows), value), "change": np.full(len(rows), value - now)}
            parts.append(search.candidates(side, rows, setting, **found, partner=_partners(changed, side)[rows]))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS)


def _values(simulation: Simulation, search: Search, setting: Setting) -> Times:
    """The values of a setting with which one more row, or pair, would come in time, above the present one."""
    if setting == "allowed_lateness":
        late = [each[each["late"]] for each in search.assignments.values()]
        needed = np.concatenate([(each["watermark"] - each["end"]).to_numpy() + 2 * MS for each in late])
        return np.unique(needed[needed > search.lateness])
    delayed = _delayed(setting)
    marks, policy = search.outcome.marks, search.policy
    needed = np.concatenate(
        [marks.needed_delays(policy, delayed, index, until) for index, until in _deadlines(simulation, search)]
    )
    return np.unique(needed[(needed > search.delay[delayed]) & (needed < NEVER)])


def _deadlines(simulation: Simulation, search: Search) -> Iterator[tuple[Times, Times]]:
    """Micro-batches, and the times below which the watermark must be after each for one more row, or pair."""
    if not in_sql(simulation.join):
        for each in search.assignments.values():
            late = each[each["late"]]
            yield late["batch"].to_numpy() - 1, kept_until(late)
        return
    try:
        places = matches(simulation.join, search.assignments["left"], search.assignments["right"])
    except TooLargeError:
        return
    pairs = {side: search.assignments[side].iloc[place] for side, place in Sides(*places).items()}
    lost = ~(pairs["left"]["matched"].to_numpy() & pairs["right"]["matched"].to_numpy())
    came = {side: each["batch"].to_numpy() for side, each in pairs.items()}
    for first in SIDES:
        later = came[other_side(first)]
        chosen = lost & (came[first] <= later)
        yield later[chosen] - 1, pairs[first]["leaves_at"].to_numpy()[chosen] - MS


def _delayed(setting: Setting) -> Side:
    """The side whose watermark delay a setting is."""
    return "left" if setting == DELAYS["left"] else "right"


def _changed(simulation: Simulation, setting: Setting, value: int) -> Simulation:
    if setting == "allowed_lateness" and simulation.flink is not None:
        return replace(simulation, flink=replace(simulation.flink, allowed_lateness=value))
    side = _delayed(setting)
    stream = simulation.side(side).with_watermark(times.exact(pd.Timedelta(value, unit="us").to_pytimedelta()))
    return replace(simulation, left=stream) if side == "left" else replace(simulation, right=stream)


def _partners(simulation: Simulation, side: Side) -> RowNumbers:
    """For each row of a side the first row of the other that it meets; -1 where it meets none."""
    outputs = simulation.outcome.outputs
    members = outputs.of(side)
    output = members["output"].to_numpy()
    met = outputs.table["matched"].to_numpy()[output]
    found = np.full(len(simulation.side(side)), -1)
    found[members["row"].to_numpy()[met][::-1]] = outputs.first(other_side(side))[output[met]][::-1]
    return found
