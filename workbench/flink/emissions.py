"""What a Flink job has emitted, as outputs: the schema in which the model gives them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from workbench import times
from workbench.joins import How, Join, how_of
from workbench.kinds import MS, kind_of
from workbench.literals import SIDES
from workbench.model import Outputs, Simulation
from workbench.model import members as of_sides

__all__ = ["outputs"]

_Rows = tuple[int, ...]


def outputs(simulation: Simulation, emitted: pd.DataFrame) -> Outputs:
    """What Flink emitted, one output for each row or group that comes out.

    Parameters
    ----------
    simulation
        The recording under Flink's rules.
    emitted
        As `Cluster.run` gives it; of a window ``left`` and ``right`` are all of its rows.
    """
    join = simulation.join
    table: list[tuple[int, int, int, bool]] = []
    found: dict[int, list[tuple[int, int]]] = {number: [] for number in range(len(SIDES))}
    for step, time, *texts in emitted.itertuples(index=False):
        lefts, rights = (_numbers(each) for each in texts)
        span = _span(simulation, time, lefts, rights) if kind_of(join).windowed else (0, 0)
        for rows in _results(join, lefts, rights):
            for number, members in enumerate(rows):
                found[number] += [(len(table), row) for row in members]
            table.append((*span, step, bool(lefts) and bool(rights)))
    made = pd.DataFrame(table, columns=["start", "end", "batch", "matched"]).assign(emitted=True)
    parts = []
    for mine in found.values():
        output, row = np.array(sorted(mine), dtype=np.int64).reshape(-1, 2).T
        parts.append((output, row, np.full(len(row), -1)))
    return Outputs(made.astype({"matched": bool}), of_sides(*parts))


def _numbers(text: str) -> _Rows:
    return () if text == "-" else tuple(sorted(map(int, text.split(","))))


def _span(simulation: Simulation, last: int, lefts: _Rows, rights: _Rows) -> tuple[int, int]:
    """Of a window that ends with a millisecond the start and the end, in microseconds."""
    end, kind = (last + 1) * MS, kind_of(simulation.join)
    if not kind.merging:
        return end - times.micros(kind.spans_of(simulation.join).size), end
    earliest = min(
        int(stream.event_times[list(rows)].min())
        for stream, rows in ((simulation.left, lefts), (simulation.right, rights))
        if rows
    )
    return earliest // MS * MS, end


def _results(join: Join, lefts: _Rows, rights: _Rows) -> Iterator[tuple[_Rows, _Rows]]:
    """What a join gives of what Flink handed over: of a window all rows of both sides, else a pair."""
    if kind_of(join).grouped:
        yield lefts, rights
    elif kind_of(join).windowed:
        yield from _paired(how_of(join), lefts, rights)
    elif how_of(join) != "anti" or not rights:  # SQL's left join, of which the job takes those without partner
        yield lefts, rights


def _paired(how: How, lefts: _Rows, rights: _Rows) -> Iterator[tuple[_Rows, _Rows]]:
    """SQL's join of two lists."""
    if how == "semi":
        yield from (((left,), ()) for left in lefts if rights)
        return
    if how != "anti":
        yield from (((left,), (right,)) for left in lefts for right in rights)
    if not rights and how in ("left", "full", "anti"):
        yield from (((left,), ()) for left in lefts)
    if not lefts and how in ("right", "full"):
        yield from (((), (right,)) for right in rights)
