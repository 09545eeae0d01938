"""Matches of a pattern: what a processor that follows the rows of each key finds behind the watermark."""

from __future__ import annotations

import operator
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from workbench.arrays import Batches, Counts, RowNumbers, Times
from workbench.conditions import HELPERS, Column, EarlierColumn, asks_earlier, columns, earlier, python
from workbench.errors import TooLargeError
from workbench.literals import SIDES, Side, Sides
from workbench.model import OperatorModel, check_size
from workbench.model.conditions import is_true
from workbench.model.operators import (
    ENDED,
    Outcome,
    Outputs,
    Shared,
    Watermarks,
    dropped,
    keys_present,
    no_groups,
    on_time,
)
from workbench.patterns import Pattern
from workbench.patterns.automaton import Asked, Automaton, automaton
from workbench.patterns.checking import kinds_of, of_sides, side_of
from workbench.patterns.matching import Ended, Found, Matcher, Path, paths
from workbench.spark_versions import SparkFacts
from workbench.streams import Stream, pair_types
from workbench.untyped import Record, Value

__all__ = ["MODEL"]

_MOST_MATCHES = 300_000
"""How many matches are followed in Python at most: it takes some 3 to 20 s."""
Holds = Callable[[int, Path | None], Sequence[bool]]


def _replay(
    pattern: Pattern, marks: Watermarks, sides: dict[Side, pd.DataFrame], shared: Shared, _: SparkFacts
) -> Outcome:
    """What comes out of a pattern; arguments as in `workbench.model.OperatorModel`.

    A row is in state until the watermark has passed it, and then as long as a partial match holds it.
    """
    count, made = len(marks), automaton(pattern)
    rows = _in_order(sides, marks)
    holds = _holds(pattern, made, rows, shared)
    found: list[tuple[int, Found]] = []
    longest: dict[int, tuple[Ended, Path]] = {}
    gone = np.full(len(rows), count)
    at, key, closes = (rows[name].to_numpy() for name in ("at", "key", "closes"))
    gone[closes < count] = closes[closes < count]
    effort = _Effort()
    begins = np.flatnonzero(np.diff(key, prepend=-1))
    ends = np.append(begins[1:], len(rows))[: len(begins)]
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        keys = _Key(pattern, made, holds, marks, shared.named(int(key[begin])), effort)
        mine = range(begin, begin + int(np.searchsorted(closes[begin:end], count)))
        found += keys.follow(mine, at, closes, _MOST_MATCHES - len(found))
        for each in keys.ended():
            _keep_longest(longest, each)
        gone[list(keys.held_since)] = count
        for row, batch in keys.left.items():
            gone[row] = batch
    rows = rows.assign(evicted_in=np.maximum(gone, rows["batch"]))
    outcome = _outcome(pattern, marks, sides, shared, rows, found, keys_present(rows, count))
    return replace(outcome, partial=_longest(rows, longest))


def _keep_longest(longest: dict[int, tuple[Ended, Path]], ended: Ended) -> None:
    """Note of each row of a partial match that has ended that it was in it, where it was in no longer one."""
    path: Path | None = ended.path
    while path is not None:
        if path.row not in longest or longest[path.row][0].path.length < ended.path.length:
            longest[path.row] = ended, path
        path = path.before


def _longest(rows: pd.DataFrame, longest: dict[int, tuple[Ended, Path]]) -> pd.DataFrame:
    """`Outcome.partial`."""
    side, row = rows["side"].tolist(), rows["row"].tolist()
    found = [
        (
            SIDES[side[number]],
            row[number],
            path.step,
            ended.path.length,
            ended.cause,
            ended.waited_for,
            ended.at,
            ended.path.rows()[0].at,
            SIDES[side[ended.by]] if ended.by >= 0 else "",
            row[ended.by] if ended.by >= 0 else -1,
        )
        for number, (ended, path) in longest.items()
    ]
    names = ["side", "row", "step", "length", "cause", "waited_for", "at", "start", "by_side", "by_row"]
    return pd.DataFrame(found, columns=names, dtype=object).set_index(["side", "row"])


class _Effort:
    """How often a partial match has met a row, of all keys so far: each time takes as long as a pair, or longer."""

    def __init__(self) -> None:
        self._count = 0

    def add(self, partial: int, named: str) -> None:
        """So many partial matches of a key meet its next row."""
        self._count += partial
        check_size(
            self._count,
            f"partial matches of this pattern meet {self._count:,} rows or more, the last of them of key {named}",
            "set a shorter within or a skip strategy, or leave that key out",
        )


class _Key:
    """The rows of one key, micro-batch after micro-batch."""

    def __init__(
        self, pattern: Pattern, made: Automaton, holds: Holds, marks: Watermarks, named: str, effort: _Effort
    ) -> None:
        self._pattern, self._marks, self._named, self._effort = pattern, marks, named, effort
        self._matcher = Matcher(pattern, made, holds)
        self.held_since: dict[int, int] = {}
        self.left: dict[int, int] = {}
        """In which micro-batch each row that is no longer held went, by its number."""

    def follow(self, rows: range, at: Times, closes: Batches, most: int) -> list[tuple[int, Found]]:
        """What comes out, each with its micro-batch; so many matches at most."""
        found: list[tuple[int, Found]] = []
        eviction, count = self._marks.eviction, len(self._marks)
        place, before = rows.start, None
        while True:
            due = self._matcher.next_end()
            batches = [int(np.searchsorted(eviction, min(due, ENDED)))] if due is not None else []
            batches += [int(closes[place])] if place < rows.stop else []
            batch = min(batches, default=count)
            if batch >= count:
                return found
            out: list[Found] = []
            while place < rows.stop and closes[place] == batch:
                moment = int(at[place])
                if moment != before:
                    out += self._matcher.pass_time(moment)
                before = moment
                self._effort.add(len(self._matcher.partial.items), self._named)
                out += self._matcher.take(place, moment)
                self._check(len(found) + len(out), most)
                place += 1
            mark = int(eviction[batch])
            out += self._matcher.pass_time(2**62 if mark >= ENDED else mark)
            found += [(batch, each) for each in out]
            self._note(batch, range(rows.start, place), closes)

    def _check(self, matches: int, most: int) -> None:
        if matches > most:
            raise TooLargeError(
                f"this pattern has more than {_MOST_MATCHES:,} matches, the last of them of key {self._named}: set a "
                "shorter within or a skip strategy, or give followed_by in place of followed_by_any",
                _MOST_MATCHES,
            )
        held = sum(path.length for path in self._matcher.held())
        if held > self._pattern.most:
            raise TooLargeError(
                f"most: got {self._pattern.most:,}; the partial matches of key {self._named} hold more rows than that: "
                "set a shorter within, or a larger most",
                held,
            )

    def _note(self, batch: int, rows: range, closes: Batches) -> None:
        """Which rows are held after a micro-batch."""
        alive = {path.row for path in paths(self._matcher.held())}
        for row in set(self.held_since) - alive:
            self.left[row] = batch
            del self.held_since[row]
        for row in alive - set(self.held_since):
            self.held_since[row] = batch

    def ended(self) -> list[Ended]:
        """The partial matches that have come to nothing, and those that wait."""
        return self._matcher.ended + self._matcher.waiting()


def _in_order(sides: dict[Side, pd.DataFrame], marks: Watermarks) -> pd.DataFrame:
    """The rows that reach the processor, in order of key, time, side and arrival: their number is their place."""
    parts = []
    for number, side in enumerate(SIDES):
        mine = sides[side]
        place = np.flatnonzero(on_time(mine) & (mine["key"] >= 0).to_numpy())
        taken = mine.iloc[place]
        parts.append(
            pd.DataFrame(
                {
                    "key": taken["key"].to_numpy(),
                    "at": taken["start"].to_numpy(),
                    "side": number,
                    "row": taken["row"].to_numpy(),
                    "assignment": place,
                    "batch": taken["batch"].to_numpy(),
                }
            )
        )
    rows = pd.concat(parts, ignore_index=True)
    rows["closes"] = np.maximum(rows["batch"], np.searchsorted(marks.eviction, np.minimum(rows["at"], ENDED)))
    return rows.sort_values(["key", "at", "side", "row"], ignore_index=True)


def _holds(pattern: Pattern, made: Automaton, rows: pd.DataFrame, shared: Shared) -> Holds:
    """Of a row and the rows of a partial match before it what is asked of rows holds."""
    streams = Sides(*shared.streams)
    types = of_sides(pair_types(*shared.streams))
    side, row = rows["side"].to_numpy(), rows["row"].to_numpy()
    alone = np.zeros((len(rows), len(made.asked)), dtype=bool)
    later: list[tuple[int, Callable[[int, Path | None], Any]]] = []
    for number, asked in enumerate(made.asked):
        stream, mine = streams[asked.side], side == SIDES.index(asked.side)
        if asked.where is None:
            alone[mine, number] = True
        elif not asks_earlier(asked.where):
            kinds = kinds_of(pattern, asked.side, asked.where, types)
            table = {name: stream.table.column(name).combine_chunks() for name in columns(asked.where)}
            alone[mine, number] = is_true(asked.where, kinds, table)[row[mine]]
        else:
            later.append((number, _with_earlier(pattern, asked, streams, types, rows)))
            alone[mine, number] = True
    known: list[list[bool]] = alone.tolist()
    if not later:
        return lambda row, path: known[row]

    def holds(row: int, path: Path | None) -> list[bool]:
        asked = known[row].copy()
        for number, test in later:
            asked[number] = asked[number] and test(row, path) is True
        return asked

    return holds


def _with_earlier(
    pattern: Pattern, asked: Asked, streams: Sides[Stream], types: Any, rows: pd.DataFrame
) -> Callable[[int, Path | None], Any]:
    """A condition on a row and on earlier rows of its match."""
    where = asked.where
    if where is None:
        raise TypeError("no condition")
    values: dict[str, list[Value]] = {}
    numbers = rows["row"].to_numpy()
    steps = {each.name: each for each in earlier(where)}
    for name in columns(where):
        if name in steps:
            of = side_of(pattern, steps[name].step)
            values[name] = _plain(streams[of], steps[name].column, numbers, rows["side"].to_numpy() == SIDES.index(of))
        else:
            of = asked.side
            values[name] = _plain(streams[of], name, numbers, rows["side"].to_numpy() == SIDES.index(of))

    def last(name: str, path: Path | None) -> Any:
        step = steps[name].step
        while path is not None and path.step != step:
            path = path.before
        return None if path is None else values[name][path.row]

    def column(of: Column | EarlierColumn) -> str:
        return f"last({of.name!r}, path)" if isinstance(of, EarlierColumn) else f"values[{of.name!r}][row]"

    text = python(where, kinds_of(pattern, asked.side, where, types), column)
    known: Record = {"operator": operator, "re": re, "Decimal": Decimal, "last": last, "values": values}
    exec(HELPERS, known)  # noqa: S102 - our own text
    made: Callable[[int, Path | None], Any] = eval(f"lambda row, path: {text}", known)  # noqa: S307 - the user's text is quoted
    return made


def _plain(stream: Stream, name: str, numbers: RowNumbers, mine: Any) -> list[Value]:
    """A column's values by the number of the row in order, as Python has them; times are whole numbers."""
    column = stream.table.column(name)
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False).cast(pa.int64())
    taken = column.take(pa.array(np.where(mine, numbers, 0))) if len(column) else pa.nulls(len(numbers))
    return list(taken.to_pylist())


def _outcome(
    pattern: Pattern,
    marks: Watermarks,
    sides: dict[Side, pd.DataFrame],
    shared: Shared,
    rows: pd.DataFrame,
    found: list[tuple[int, Found]],
    counted: Counts,
) -> Outcome:
    for number, side in enumerate(SIDES):
        mine, own = sides[side], rows[rows["side"] == number]
        gone = mine["batch"].to_numpy().copy()
        gone[own["assignment"]] = own["evicted_in"]
        mine["evicted_in"] = gone
        mine["leaves_at"] = mine["start"]
        mine["held"] = on_time(mine) & (mine["evicted_in"] > mine["batch"])
        mine["waits"], mine["group"] = False, np.full(len(mine), -1, dtype=np.int8)
    outputs = _outputs(pattern, rows, found)
    is_match = outputs.table["matched"].to_numpy()
    for side in SIDES:
        members = outputs.of(side)
        matched = np.zeros(len(sides[side]), dtype=bool)
        matched[members["assignment"].to_numpy()[is_match[members["output"].to_numpy()]]] = True
        sides[side]["matched"] = matched
    none = np.zeros(len(marks), int)
    return Outcome(marks, shared.keys_of(pattern), sides, outputs, no_groups(), none, counted)


def _outputs(pattern: Pattern, rows: pd.DataFrame, found: list[tuple[int, Found]]) -> Outputs:
    """Matches, and partial matches that were given up; see `Outputs`."""
    steps = [each.name for each in pattern.taken]
    table, members = defaultdict[str, list[Value]](list), defaultdict[str, list[int]](list)
    for output, (batch, each) in enumerate(found):
        path = each.path.rows()
        for name, value in (("start", path[0].at), ("end", path[-1].at), ("batch", batch)):
            table[name].append(value)
        table["matched"].append(not each.waited_for)
        table["waited_for"].append(each.waited_for or None)
        places: dict[str, int] = defaultdict(int)
        for row in path:
            own = (output, row.row, steps.index(row.step), places[row.step])
            for name, value in zip(("output", "number", "step", "place"), own, strict=True):
                members[name].append(value)
            places[row.step] += 1
    numbers = np.array(members["number"], dtype=np.int64)
    inside = pd.DataFrame(
        {
            "side": rows["side"].to_numpy()[numbers].astype(np.int8),
            "output": np.array(members["output"], dtype=np.int64),
            "row": rows["row"].to_numpy()[numbers],
            "assignment": rows["assignment"].to_numpy()[numbers],
            "step": np.array(members["step"], dtype=np.int64),
            "place": np.array(members["place"], dtype=np.int64),
        }
    )
    spans = {name: np.array(table[name], dtype=np.int64) for name in ("start", "end", "batch")}
    waited_for = pd.Series(table["waited_for"], dtype=object)
    made = pd.DataFrame(spans).assign(
        waited_for=waited_for, matched=np.array(table["matched"], dtype=bool), emitted=True
    )
    return Outputs(made, inside.sort_values(["side", "output", "row"], kind="stable", ignore_index=True))


MODEL = OperatorModel(_replay, dropped)
