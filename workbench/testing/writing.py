"""Rows of a preview, run or job, and its join, as the text of a test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import black
import numpy as np

from workbench import script
from workbench.arrays import RowNumbers
from workbench.counts import counted
from workbench.errors import TooLargeError
from workbench.kinds import kind_of, plan_of
from workbench.literals import SIDES, RowId, Side, Sides
from workbench.plan.names import Names
from workbench.quoting import quoted
from workbench.runs.result import Result
from workbench.script import column_types
from workbench.session import state_store
from workbench.sources.key_choice import newest_in_each
from workbench.testing.values import plain

__all__ = ["MOST_ROWS", "test_of"]

MOST_ROWS = 300
"""How many rows a test has at most: people read it."""
_TEXT = '''"""{heading}"""

{imports}

{streams}


{join}


def test_join(streams):
    job = play({arguments})
    {checks}
'''


def test_of(run: Result, picked: RowId | None = None) -> str:
    """The text of a test: the rows, the join as PySpark text, and what becomes of the rows.

    Parameters
    ----------
    run
        What is shown.
    picked
        A row, of whose key alone the rows are taken; with them the newest row of each micro-batch, from which the
        watermark follows. None, and of joins whose rows are not followed: all rows.

    Raises
    ------
    TooLargeError
        If there are more than `MOST_ROWS`.
    """
    if not _is_followed(run):
        picked = None
    taken = {side: _taken(run, side, picked) for side in SIDES}
    count = sum(map(len, taken.values()))
    if count > MOST_ROWS:
        words = "; pick a row, and the test has those of its key" if picked is None else ""
        raise TooLargeError(f"{count:,} rows are too many for a test that people read{words}", count)
    join = plan_of(run.join, run.left, run.right).strip()
    sides = Names.of(run.left, run.right)
    names = [sides.left.var, sides.right.var]
    streams = "\n".join(_stream(run, side, name, taken[side]) for side, name in Sides(*names).items())
    arguments = ["join_streams", *(f"{name}={name.upper()}" for name in names)]
    arguments += ["finish=True"] * run.finish
    if settings := _settings(run):
        arguments.append(f"settings={settings!r}")
    about = f"{counted(count, 'row')} of {run.left.name} and {run.right.name}, micro-batch by micro-batch"
    text = _TEXT.format(
        heading=about.replace("\\", "\\\\").replace('"', "'") + ".",
        imports=script.imports_for(
            join, ["from workbench.testing import micro_batches", "from workbench.testing import play"]
        ),
        streams=streams,
        join=join,
        arguments=", ".join(arguments),
        checks="\n    ".join(_checks(run, names, taken, picked)),
    )
    return black.format_str(text, mode=black.Mode(line_length=120))


def _is_followed(run: Result) -> bool:
    """Whether an opened job of this join has the fates of its rows: one with a processor, or one partner, has not."""
    kind = kind_of(run.join)
    return not (kind.operator.is_processor or kind.one_partner)


def _taken(run: Result, side: Side, picked: RowId | None) -> RowNumbers:
    """The rows of a side that the test has, in order."""
    stream = run.side(side)
    if picked is None:
        return np.arange(len(stream))
    codes = Sides(*run.simulation.outcome.keys)
    code = codes[picked.side][picked.row]
    alone = [picked.row] if picked.side == side else []
    mine = np.flatnonzero(codes[side] == code) if code >= 0 else np.array(alone, dtype=np.int64)
    return np.unique(np.concatenate([mine, newest_in_each(stream.arrival, stream.event_times)]))


def _stream(run: Result, side: Side, name: str, taken: RowNumbers) -> str:
    stream = run.side(side)
    types = ", ".join(f"{quoted(column)} {kind}" for column, kind in column_types(stream).items())
    rows = stream.table.take(taken).to_pylist()
    batches: list[list[tuple[Any, ...]]] = [[] for _ in range(run.micro_batches)]
    for number, row in zip(stream.arrival[taken].tolist(), rows, strict=True):
        batches[number].append(tuple(plain(value) for value in row.values()))
    return f"{name.upper()} = micro_batches({types!r}, {', '.join(map(repr, batches))},)"


def _settings(run: Result) -> dict[str, str]:
    found: dict[str, str] = {}
    if run.policy != "min":
        found["spark.sql.streaming.multipleWatermarkPolicy"] = run.policy
    if kind_of(run.join).operator.is_processor:
        found[state_store.SETTING] = state_store.ROCKSDB
    return found


def _checks(run: Result, names: Sequence[str], taken: Mapping[Side, RowNumbers], picked: RowId | None) -> list[str]:
    """What the test asserts: fates of rows; of a join whose rows are not followed how many come out."""
    if not _is_followed(run):
        return [f"assert len(job.output) == {run.raw_output.num_rows}"]
    found = []
    for side, name in Sides(*names).items():
        stream, fates = run.side(side), run.fates[side]["fate"].to_numpy()
        if picked is None:
            by_fate = {str(fate): int((fates == fate).sum()) for fate in dict.fromkeys(fates.tolist())}
            found.append(f"job.expect({name}={by_fate!r})")
            continue
        codes = run.simulation.outcome.keys[SIDES.index(side)]
        mine = np.array([row for row in taken[side] if codes[row] == _code(run, picked) >= 0], dtype=np.int64)
        if len(mine) and len(set(fates[mine])) == 1:
            key = tuple(plain(stream.table.column(column)[int(mine[0])].as_py()) for column in stream.key)
            named = key if len(key) > 1 else key[0]
            found.append(f"assert job.fate({name}={named!r}) == {str(fates[mine[0]])!r}")
    return found or ["job.expect(late=0)"]


def _code(run: Result, picked: RowId) -> int:
    return int(run.simulation.outcome.keys[SIDES.index(picked.side)][picked.row])
