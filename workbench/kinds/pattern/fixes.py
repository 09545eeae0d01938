"""The smallest change of one setting that would have brought a row into a match."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

import numpy as np
import pandas as pd

from workbench import times
from workbench.errors import TooLargeError
from workbench.fixes.search import COLUMNS, MS, NEVER, Search, needed_delay
from workbench.literals import DELAYS, SIDES, Side, other_side
from workbench.model import Micros, Outcome, Shared, Simulation, complete, replay
from workbench.patterns import Pattern
from workbench.spark_versions import facts
from workbench.streams import Stream, some_rows

__all__ = ["delays", "within"]

_NEXT_ROWS = 5
"""Rows after the end of a partial match that are tried as the last one of a match."""
_MOST_TRIALS = 60
"""Spans that are tried at most: each follows the rows of some keys again."""


def within(search: Search) -> pd.DataFrame:
    """A longer ``within`` for rows of partial matches that were given up, each tried on the rows of their keys."""
    pattern, partial = cast(Pattern, search.join), search.outcome.partial
    none = pd.DataFrame(columns=COLUMNS)
    if pattern.within is None or partial is None or pattern.steps[-1].contiguity == "not_followed_by":
        return none
    given_up = partial[(partial["cause"] == "timed out").to_numpy()].reset_index()
    lost = [not search.matched[side][row] for side, row in zip(given_up["side"], given_up["row"], strict=True)]
    given_up = given_up[np.array(lost, dtype=bool)]
    wanted: dict[int, list[tuple[Side, int]]] = {}
    for side, row, start, at in given_up[["side", "row", "start", "at"]].itertuples(index=False):
        for span in _next_spans(search, side, row, int(start), int(at)):
            wanted.setdefault(span, []).append((side, row))
    parts = [none]
    current = times.micros(pattern.within)
    done: set[tuple[Side, int]] = set()
    for span in sorted(wanted)[:_MOST_TRIALS]:
        rows = [each for each in wanted[span] if each not in done]
        found = _tried(search, rows, span) if rows else {}
        done |= set(found)
        for side in SIDES:
            mine = np.array([row for of, row in rows if of == side and (of, row) in found], dtype=np.int64)
            partner = np.array([found[side, int(row)] for row in mine], dtype=np.int64)
            every = np.full(len(mine), span)
            parts.append(search.candidates(side, mine, "within", value=every, change=every - current, partner=partner))
    return pd.concat(parts, ignore_index=True)


def _next_spans(search: Search, side: Side, row: int, start: int, at: int) -> list[int]:
    """How long matches would take that end with one of the next rows of the key after one was given up."""
    key = search.key[side][row]
    after = [search.time[of][(search.key[of] == key) & (search.time[of] >= at)] for of in SIDES]
    ends = np.unique(np.concatenate(after))[:_NEXT_ROWS]
    return sorted({-(-(end - start + 1) // MS) * MS for end in ends.tolist()})


def _tried(search: Search, rows: list[tuple[Side, int]], span: int) -> dict[tuple[Side, int], int]:
    """Those of some rows that are in a match with another ``within``, each with a row of the other side in it."""
    pattern = cast(Pattern, search.join)
    wider = Pattern(*pattern.steps, within=timedelta(microseconds=span), skip=pattern.skip, most=pattern.most)
    keys = np.unique([search.key[side][row] for side, row in rows])
    simulation = search.simulation
    numbers, streams = _of_keys(search, keys)
    shared = Shared(*streams, keys=tuple(search.key[side][numbers[side]] for side in SIDES))  # type: ignore[arg-type]
    try:
        outcome = replay(wider, simulation.outcome.marks, shared, facts(simulation.spark_version))
    except TooLargeError:
        return {}
    found = _partners(outcome, numbers)
    return {each: found[each] for each in rows if each in found}


def delays(search: Search) -> pd.DataFrame:
    """Longer delays that keep all late rows of a key up to the end of a match that there is if nothing is late."""
    late = {side: mine.loc[mine["late"], "row"].to_numpy() for side, mine in search.assignments.items()}
    keys = np.unique(np.concatenate([search.key[side][late[side]] for side in SIDES]))
    keys = keys[keys >= 0]
    none = pd.DataFrame(columns=COLUMNS)
    if not len(keys):
        return none
    numbers, streams = _of_keys(search, keys)
    shared = Shared(*streams, keys=tuple(search.key[side][numbers[side]] for side in SIDES))  # type: ignore[arg-type]
    try:
        outcome = complete(search.join, *streams, shared)
    except TooLargeError:
        return none
    parts = [none]
    rows = _needs(search, outcome, numbers, late)
    for delayed in SIDES:
        for side in SIDES:
            mine = [each for each in rows if each[0] == side and not search.matched[side][each[1]]]
            row, partner = (np.array([each[place] for each in mine], dtype=np.int64) for place in (1, 2))
            value = np.array([each[3][delayed] for each in mine], dtype=np.int64)
            if not search.finish:  # what the watermark has not passed at the end never comes out
                ends = np.array([each[4] for each in mine], dtype=np.int64)
                value = np.where(search.last_mark(delayed, value) >= ends, value, NEVER)
            change = value - search.delay[delayed]
            parts.append(search.candidates(side, row, DELAYS[delayed], value=value, change=change, partner=partner))
    return pd.concat(parts, ignore_index=True)


def _needs(
    search: Search, outcome: Outcome, numbers: dict[Side, Micros], late: dict[Side, Micros]
) -> list[tuple[Side, int, int, dict[Side, int], int]]:
    """Rows of matches, each with a row of the other side, the delay of either side that keeps what is before, the end.

    What comes after a match may still decide whether it comes out, where a skip strategy keeps one of several.
    """
    skips = cast(Pattern, search.join).skip != "no skip"
    found = []
    table, outputs = outcome.outputs.table, outcome.outputs
    of = {side: outputs.of(side) for side in SIDES}
    for output in np.flatnonzero(table["matched"].to_numpy()).tolist():
        members = {side: numbers[side][of[side]["row"].to_numpy()[of[side]["output"] == output]] for side in SIDES}
        some = next(side for side in SIDES if len(members[side]))
        key, end = search.key[some][members[some][0]], int(table["end"].iloc[output])
        lost = {
            side: rows[(search.key[side][rows] == key) & ((search.time[side][rows] <= end) | skips)]
            for side, rows in late.items()
        }
        if not any(len(rows) for rows in lost.values()):
            continue
        need = {delayed: _most_needed(search, delayed, lost) for delayed in SIDES}
        for side in SIDES:
            others = members[other_side(side)]
            found += [(side, int(row), int(others[0]) if len(others) else -1, need, end) for row in members[side]]
    return found


def _most_needed(search: Search, delayed: Side, lost: dict[Side, Micros]) -> int:
    """The least delay of a side that keeps all of some late rows."""
    index = np.concatenate([search.batch[side][rows] - 1 for side, rows in lost.items()])
    deadline = np.concatenate([search.time[side][rows] for side, rows in lost.items()])
    return int(needed_delay(search.outcome.marks, search.policy, delayed, index, deadline).max())


def _of_keys(search: Search, keys: Micros) -> tuple[dict[Side, Micros], tuple[Stream, Stream]]:
    """The rows of some keys, by their numbers, and the streams of them alone."""
    numbers = {side: np.flatnonzero(np.isin(search.key[side], keys)) for side in SIDES}
    simulation: Simulation = search.simulation
    left, right = (some_rows(simulation.side(side), numbers[side]) for side in SIDES)
    return numbers, (left, right)


def _partners(outcome: Outcome, numbers: dict[Side, Micros]) -> dict[tuple[Side, int], int]:
    """The rows of matches, each with a row of the other side in one of them; -1 where it has none."""
    matched = outcome.outputs.table["matched"].to_numpy()
    found: dict[tuple[Side, int], int] = {}
    for side in SIDES:
        other = outcome.outputs.first(other_side(side))
        members: Any = outcome.outputs.of(side)
        for row, output in zip(members["row"].tolist(), members["output"].tolist(), strict=True):
            if matched[output]:
                partner = int(numbers[other_side(side)][other[output]]) if other[output] >= 0 else -1
                found.setdefault((side, int(numbers[side][row])), partner)
    return found
