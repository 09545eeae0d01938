"""What Spark's file sink wrote, with the micro-batch of every row."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from workbench.engine import metadata_log
from workbench.joins import Join
from workbench.kinds import kind_of
from workbench.literals import Side
from workbench.model import Outputs, members
from workbench.sources import arrow
from workbench.streams import ROW, SIDES, Stream

__all__ = [
    "BEGAN",
    "WAITED_FOR",
    "Reader",
    "as_spark_writes",
    "counts",
    "dated",
    "frame",
    "ordered",
    "outputs",
    "shown",
    "timed_out",
]

WAITED_FOR = "waited_for"
"""The column that says for which step a partial match of a pattern waited that was given up; null: it is a match."""
BEGAN = "__micro_batch_began"
"""The column that says when the micro-batch of a row began, where the sink's log cannot be read."""


class Reader:
    """All that a query has written so far; what was read once is not read again.

    Parameters
    ----------
    output
        The sink's folder.
    """

    def __init__(self, output: Path) -> None:
        self._output = output
        self._read: set[str] = set()
        self._tables: dict[str, tuple[int, pa.Table]] = {}

    def read(self, batches: int | None = None) -> pa.Table:
        """All rows the sink committed, or those of the first so many micro-batches, and column ``batch``."""
        self._look()
        return ordered(pa.concat_tables(self._numbered(range(10**9 if batches is None else batches))))

    def read_batch(self, batch: int) -> pa.Table | None:
        """The rows of one micro-batch, in no order, with column ``batch``; None where the sink wrote no file."""
        self._look()
        tables = self._numbered(range(batch, batch + 1))
        return pa.concat_tables(tables) if tables else None

    def _look(self) -> None:
        for number, path, _ in metadata_log.entries(self._output / "_spark_metadata", self._read):
            if path.name not in self._tables:
                self._tables[path.name] = number, pq.ParquetFile(self._output / path.name).read()

    def _numbered(self, batches: range) -> list[pa.Table]:
        return [
            table.append_column("batch", pa.array(np.full(table.num_rows, number), pa.int64()))
            for number, table in self._tables.values()
            if number in batches
        ]


def dated(output: Path, began: Sequence[str]) -> pa.Table:
    """All rows in a copy of the sink's files, and column ``batch``, found by when the micro-batch of each row began.

    Parameters
    ----------
    output
        The copy, of files whose rows have the column `BEGAN`.
    began
        When the trigger of each micro-batch fired, as Spark reports it, by the same clock: a micro-batch begins after
        its trigger and before the next one.
    """
    rows = pa.concat_tables([pq.ParquetFile(file).read() for file in sorted(output.glob("*.parquet"))])
    triggers = np.array([np.datetime64(each.rstrip("Z"), "us") for each in began])
    times = rows.column(BEGAN).cast(pa.timestamp("us")).to_numpy()
    batches = np.searchsorted(triggers, times, side="right") - 1
    return ordered(rows.drop([BEGAN]).append_column("batch", pa.array(batches, pa.int64())))


def counts(output: Path) -> dict[int, int]:
    """How many rows the sink committed in each micro-batch that has some, without reading them."""
    found: dict[int, int] = {}
    for number, path, _ in metadata_log.entries(output / "_spark_metadata", set()):
        found[number] = found.get(number, 0) + pq.read_metadata(output / path.name).num_rows
    return {number: count for number, count in found.items() if count}


def ordered(table: pa.Table) -> pa.Table:
    """The rows of an output in order of micro-batch, then of rows, then of windows."""
    by = {"batch": table.column("batch")}
    if WAITED_FOR in table.column_names:  # matches: by their times and rows
        lists = [name for name in table.column_names if pa.types.is_list(table.schema.field(name).type)]
        rows = [pc.cast(_numbers(table.column(name)), pa.list_(pa.string())) for name in lists]
        by |= {name: table.column(name) for name in ("start", "end")}
        by |= {f"rows_{place}": pc.binary_join(each, ",") for place, each in enumerate(rows)}
    elif all(side in table.column_names for side in SIDES):  # groups: by the first row of each side
        found = _outputs(table)
        first = {side: found.first(side) for side in SIDES}
        by |= {side: pa.array(rows, mask=rows < 0) for side, rows in first.items()}
    for name in (f"left_{ROW}", f"right_{ROW}", "window_start"):
        if name in table.column_names:
            by[name] = table.column(name)
    return table.take(pc.sort_indices(pa.table(by), [(name, "ascending") for name in by]))


def as_spark_writes(table: pa.Table) -> pa.Table:
    """A table in the types of Spark's Parquet files, which give times in nanoseconds, in UTC without saying so.

    Times beyond those of nanoseconds (the years 1677 to 2262) stay in microseconds.
    """
    columns = [_as_written(column) for column in table.columns]
    return pa.table(columns, names=table.column_names)


def _as_written(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_timestamp(column.type):
        return column
    try:
        return column.cast(pa.timestamp("ns"))
    except pa.ArrowInvalid:
        return column.cast(pa.timestamp("us"))


def outputs(raw: pa.Table, join: Join) -> Outputs:
    """Rows that were written, as the model's outputs: which rows, which window, which micro-batch.

    ``matched`` is whether there are rows of both sides, also where their keys are null.
    """
    steps = kind_of(join).match_columns(join)
    if steps:
        return _matches(raw, [name for name, _ in steps], [SIDES.index(side) for _, side in steps])
    return _outputs(raw)


def _numbers(lists: pa.ChunkedArray) -> Any:
    """The row numbers in lists of rows."""
    whole = lists.combine_chunks()
    rows = pc.struct_field(pc.list_flatten(whole), [ROW])
    lengths = pc.list_value_length(whole).to_numpy()
    return pa.ListArray.from_arrays(pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)), rows)


def _matches(raw: pa.Table, steps: list[str], sides: list[int]) -> Outputs:
    """Matches of a pattern; a step of one that was given up has the place that the column of steps has it."""
    micros = {
        name: raw.column(name).cast(pa.timestamp("us", "UTC")).cast(pa.int64()).to_numpy() for name in ("start", "end")
    }
    waited = raw.column(WAITED_FOR).to_pylist()
    parts = []
    for step, (name, side) in enumerate(zip(steps, sides, strict=True)):
        lists = _numbers(raw.column(name))
        row = pc.list_flatten(lists).to_numpy()
        output = pc.list_parent_indices(lists).to_numpy()
        parts.append(pd.DataFrame({"side": side, "output": output, "row": row, "assignment": -1, "step": step}))
    inside = pd.concat(parts, ignore_index=True)
    inside["place"] = inside.groupby(["output", "step"]).cumcount()
    inside = inside.astype({"side": np.int8}).sort_values(["side", "output", "row"], kind="stable", ignore_index=True)
    table = pd.DataFrame(micros).assign(
        batch=raw.column("batch").to_numpy(),
        waited_for=pd.Series(waited, dtype=object),
        matched=np.array([each is None for each in waited], dtype=bool),
        emitted=True,
    )
    return Outputs(table, inside)


def _outputs(raw: pa.Table) -> Outputs:
    count = raw.num_rows
    table = {"start": np.zeros(count, dtype=np.int64), "end": np.zeros(count, dtype=np.int64)}
    for name in table:
        if f"window_{name}" in raw.column_names:
            moments = raw.column(f"window_{name}").cast(pa.timestamp("us", "UTC"))
            table[name] = moments.cast(pa.int64()).to_numpy()
    inside = []
    for side in SIDES:
        if side in raw.column_names:  # a group's rows
            lists = raw.column(side).combine_chunks()
            output = pc.list_parent_indices(lists).to_numpy()
            row = pc.struct_field(pc.list_flatten(lists), [ROW]).to_numpy()
            order = np.lexsort((row, output))
            output, row = output[order], row[order]
        elif f"{side}_{ROW}" in raw.column_names:
            row = pc.fill_null(raw.column(f"{side}_{ROW}"), -1).to_numpy()
            output = np.flatnonzero(row >= 0)
            row = row[output]
        else:
            output = row = np.zeros(0, dtype=np.int64)
        inside.append((output, row, np.full(len(row), -1)))
    both = np.minimum(*(np.bincount(output, minlength=count) for output, *_ in inside)) > 0
    spans = pd.DataFrame(table).assign(batch=raw.column("batch").to_numpy(), matched=both, emitted=True)
    return Outputs(spans, members(*inside))


def frame(raw: pa.Table, join: Join, left: Stream, right: Stream) -> pd.DataFrame:
    """The output as users see it: without row numbers, timestamps in the zones they came in."""
    window_zone = left.zones.get(left.time)
    if steps := kind_of(join).match_columns(join):
        found = _frame_of_matches(raw, steps, left, right)
        return found[found[WAITED_FOR].isna()].drop(columns=WAITED_FOR).reset_index(drop=True)
    zones: dict[str, str | None] = {"window_start": window_zone, "window_end": window_zone}
    if kind_of(join).grouped:
        zones |= {key: left.zones.get(key) for key in left.key}
        columns = [*left.key, "window_start", "window_end", "left", "right", "batch"]
        plain = arrow.to_pandas(raw.drop(["left", "right"]), zones)
        plain["left"] = _dicts(raw.column("left"), left)
        plain["right"] = _dicts(raw.column("right"), right)
        return plain[columns]
    for prefix, stream in (("left_", left), ("right_", right)):
        zones |= {prefix + name: zone for name, zone in stream.zones.items()}
    return arrow.to_pandas(
        raw.drop([name for name in (f"left_{ROW}", f"right_{ROW}") if name in raw.column_names]), zones
    )


def timed_out(raw: pa.Table, join: Join, left: Stream, right: Stream) -> pd.DataFrame:
    """The partial matches that were given up, as users see them; without columns of steps where there are none."""
    steps = kind_of(join).match_columns(join)
    if not steps:
        return pd.DataFrame({WAITED_FOR: []}, dtype=object)
    found = _frame_of_matches(raw, steps, left, right)
    return found[found[WAITED_FOR].notna()].reset_index(drop=True)


def _frame_of_matches(raw: pa.Table, steps: tuple[tuple[str, Side], ...], left: Stream, right: Stream) -> pd.DataFrame:
    zone = left.zones.get(left.time)
    zones: dict[str, str | None] = {"start": zone, "end": zone, **{key: left.zones.get(key) for key in left.key}}
    plain = arrow.to_pandas(raw.drop([name for name, _ in steps]), zones)
    for name, side in steps:
        plain[name] = _dicts(raw.column(name), left if side == "left" else right, in_order=True)
    plain[WAITED_FOR] = plain[WAITED_FOR].astype(object).where(plain[WAITED_FOR].notna(), None)
    return plain[[*left.key, *(name for name, _ in steps), "start", "end", WAITED_FOR, "batch"]]


def shown(raw: pa.Table) -> Any:
    """The places of the rows that `frame` has: all but partial matches that were given up."""
    if WAITED_FOR not in raw.column_names:
        return np.arange(raw.num_rows)
    return np.flatnonzero(pc.is_null(raw.column(WAITED_FOR)).to_numpy(zero_copy_only=False))


def _dicts(lists: pa.ChunkedArray, stream: Stream, in_order: bool = False) -> pd.Series:
    """Lists of rows as lists of dicts, in order of arrival, or as they are."""
    rows = pc.list_flatten(lists)
    if isinstance(rows, pa.ChunkedArray):
        rows = rows.combine_chunks()
    numbers = rows.field(ROW).to_numpy(zero_copy_only=False)
    values = arrow.to_pandas(stream.table.take(pa.array(numbers)), stream.zones).astype(object)
    values = values.where(values.notna(), None)
    dicts = values.to_dict("records")
    lengths = pc.list_value_length(lists).to_numpy()
    groups: list[list[dict[str, object]]] = []
    begin = 0
    for length in lengths:
        order = np.arange(length) if in_order else np.argsort(numbers[begin : begin + length], kind="stable")
        groups.append([dicts[begin + place] for place in order])
        begin += int(length)
    return pd.Series(groups, dtype=object)
