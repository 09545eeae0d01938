"""The smallest change of one setting that would have brought a row into a match."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

import numpy as np
import pandas as pd

from workbench import times
from workbench.arrays import Codes, RowNumbers
from workbench.errors import TooLargeError
from workbench.fixes.search import COLUMNS, MS, NEVER, Search
from workbench.literals import DELAYS, SIDES, Side, other_side
from workbench.model import Outcome, Shared, Simulation, complete, judge_and_join
from workbench.patterns import Pattern
from workbench.spark_versions import facts
from workbench.streams import Stream, some_rows

__all__ = ["delays", "within"]

_SPANS = 5
"""Spans that are tried for each row, the shortest of the matches that it would be in."""
_LATER = (16, 4, 2)
"""How many times the present ``within`` is tried where without an end there would be too many partial matches."""
_MOST_TRIALS = 60
"""Spans that are tried at most: each follows the rows of some keys again. Of more, rows share the next longer one."""


def within(search: Search) -> pd.DataFrame:
    """A longer ``within`` for rows of keys of which partial matches were given up."""
    pattern, partial = cast(Pattern, search.join), search.outcome.partial
    none = pd.DataFrame(columns=COLUMNS)
    if pattern.within is None or partial is None or pattern.steps[-1].contiguity == "not_followed_by":
        return none
    given_up = partial[(partial["cause"] == "timed out").to_numpy()].reset_index()
    keys = np.unique([search.key[side][row] for side, row in zip(given_up["side"], given_up["row"], strict=True)])
    found = _longer(search, keys) if len(keys) else {}
    if pattern.skip != "no skip":  # a match may be left out for another one, which only following the rows can tell
        found = _taken(search, found)
    parts, current = [none], times.micros(pattern.within)
    for side in SIDES:
        mine = [(row, spans[0]) for (of, row), spans in found.items() if of == side]
        row, value, partner = (
            np.array(each, dtype=np.int64)
            for each in ([row for row, _ in mine], [span for _, (span, _) in mine], [other for _, (_, other) in mine])
        )
        parts.append(search.candidates(side, row, "within", value=value, change=value - current, partner=partner))
    return pd.concat(parts, ignore_index=True)


_Spans = dict[tuple[Side, int], list[tuple[int, int]]]
"""Of rows the spans of matches, shortest first, each with a row of the other side; -1 for none."""


def _longer(search: Search, keys: Codes) -> _Spans:
    """The shortest matches that the rows of some keys that are in none would be in, if nothing were given up.

    Of a key whose partial matches would then hold too many rows, if they were given up later.
    """
    pattern = cast(Pattern, search.join)
    current = times.micros(cast(Any, pattern.within))
    for later in (None, *_LATER):
        within = None if later is None else timedelta(microseconds=current * later)
        endless = Pattern(*pattern.steps, within=within, skip="no skip", most=pattern.most)
        numbers, outcome = _followed(search, endless, keys)
        if outcome is not None:
            break
        if len(keys) > 1:
            return _longer(search, keys[: len(keys) // 2]) | _longer(search, keys[len(keys) // 2 :])
    else:
        return {}
    table = outcome.outputs.table
    spans = -(-(table["end"] - table["start"] + 1).to_numpy() // MS) * MS
    longer = table["matched"].to_numpy() & (spans > current)
    found: dict[tuple[Side, int], dict[int, int]] = {}
    for side in SIDES:
        other, members = outcome.outputs.first(other_side(side)), outcome.outputs.of(side)
        for row, output in zip(numbers[side][members["row"]].tolist(), members["output"].tolist(), strict=True):
            if longer[output] and not search.matched[side][row]:
                partner = int(numbers[other_side(side)][other[output]]) if other[output] >= 0 else -1
                found.setdefault((side, row), {}).setdefault(int(spans[output]), partner)
    return {row: sorted(mine.items())[:_SPANS] for row, mine in found.items()}


def _taken(search: Search, found: _Spans) -> _Spans:
    """Of rows the shortest of their spans with which they are in a match, by following the rows of their keys again."""
    pattern = cast(Pattern, search.join)
    every = np.unique([span for spans in found.values() for span, _ in spans])
    if len(every) > _MOST_TRIALS:
        every = np.unique(np.quantile(every, np.linspace(0, 1, _MOST_TRIALS), method="higher"))
    wanted: dict[int, set[tuple[Side, int]]] = {}
    for row, spans in found.items():
        for span, _ in spans:
            wanted.setdefault(int(every[np.searchsorted(every, span)]), set()).add(row)
    taken: _Spans = {}
    for span in sorted(wanted):
        rows = wanted[span] - taken.keys()
        if rows:
            wider = Pattern(*pattern.steps, within=timedelta(microseconds=span), skip=pattern.skip, most=pattern.most)
            numbers, outcome = _followed(search, wider, np.unique([search.key[side][row] for side, row in rows]))
            there = {} if outcome is None else _partners(outcome, numbers)
            taken |= {each: [(span, there[each])] for each in rows if each in there}
    return taken


def _followed(search: Search, pattern: Pattern, keys: Codes) -> tuple[dict[Side, RowNumbers], Outcome | None]:
    """What another pattern gives of the rows of some keys, and their numbers; None where that holds too much."""
    numbers, _, shared = _of_keys(search, keys)
    simulation = search.simulation
    try:
        return numbers, judge_and_join(pattern, simulation.outcome.marks, shared, facts(simulation.spark_version))
    except TooLargeError:
        return numbers, None


def delays(search: Search) -> pd.DataFrame:
    """Longer delays that keep all late rows of a key up to the end of a match that there is if nothing is late."""
    late = {side: mine.loc[mine["late"], "row"].to_numpy() for side, mine in search.assignments.items()}
    keys = np.unique(np.concatenate([search.key[side][late[side]] for side in SIDES]))
    keys = keys[keys >= 0]
    none = pd.DataFrame(columns=COLUMNS)
    if not len(keys):
        return none
    numbers, streams, shared = _of_keys(search, keys)
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
    search: Search, outcome: Outcome, numbers: dict[Side, RowNumbers], late: dict[Side, RowNumbers]
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


def _most_needed(search: Search, delayed: Side, lost: dict[Side, RowNumbers]) -> int:
    """The least delay of a side that keeps all of some late rows."""
    index = np.concatenate([search.batch[side][rows] - 1 for side, rows in lost.items()])
    deadline = np.concatenate([search.time[side][rows] for side, rows in lost.items()])
    return int(search.outcome.marks.needed_delays(search.policy, delayed, index, deadline).max())


def _of_keys(search: Search, keys: Codes) -> tuple[dict[Side, RowNumbers], tuple[Stream, Stream], Shared]:
    """The rows of some keys, by their numbers, the streams of them alone, and what these have in common."""
    numbers = {side: np.flatnonzero(np.isin(search.key[side], keys)) for side in SIDES}
    simulation: Simulation = search.simulation
    left, right = (some_rows(simulation.side(side), numbers[side]) for side in SIDES)
    shared = Shared(left, right, keys=tuple(search.key[side][numbers[side]] for side in SIDES))  # type: ignore[arg-type]
    return numbers, (left, right), shared


def _partners(outcome: Outcome, numbers: dict[Side, RowNumbers]) -> dict[tuple[Side, int], int]:
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
