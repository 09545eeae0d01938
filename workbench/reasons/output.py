"""The output of a join from what came out of it, in the columns in which Spark writes it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrays import Batches, Flags, RowNumbers, Times
from workbench.engine import sink_reader
from workbench.joins import emission
from workbench.kinds import kind_of
from workbench.literals import SIDES, Side
from workbench.model import Outputs, Simulation

__all__ = ["simulated", "table"]


def simulated(simulation: Simulation) -> pa.Table:
    """All rows that the model says come out, as `Execution.raw_output` has them."""
    return table(simulation, simulation.outcome.outputs)


def table(simulation: Simulation, outputs: Outputs) -> pa.Table:
    """All rows of some outputs of a join, as `Execution.raw_output` has them."""
    kind = kind_of(simulation.join)
    if kind.match_columns(simulation.join):
        made = _matches(simulation, outputs)
    else:
        made = _groups(simulation, outputs) if kind.grouped else _rows(simulation, outputs)
    return sink_reader.ordered(sink_reader.as_spark_writes(made))


def _rows(simulation: Simulation, outputs: Outputs) -> pa.Table:
    rows = outputs.emitted(emission(simulation.join).sides)
    columns: dict[str, pa.ChunkedArray | pa.Array] = {}
    for side in emission(simulation.join).sides:
        numbers = rows[side].to_numpy()
        taken = _taken(simulation, side, numbers, numbers < 0)
        columns |= {f"{side}_{name}": taken.column(name) for name in taken.column_names}
    return pa.table(columns | _spans(simulation, *(rows[name].to_numpy() for name in ("start", "end", "batch"))))


def _groups(simulation: Simulation, outputs: Outputs) -> pa.Table:
    columns: dict[str, pa.ChunkedArray | pa.Array] = _keys(simulation, outputs)
    for side in SIDES:
        mine = outputs.of(side)
        offsets = np.concatenate([[0], np.cumsum(outputs.counts(side))]).astype(np.int32)
        rows = _taken(simulation, side, mine["row"].to_numpy()).to_struct_array().combine_chunks()
        columns[side] = pa.ListArray.from_arrays(pa.array(offsets), rows)
    spans = _spans(simulation, *(outputs.table[name].to_numpy() for name in ("start", "end", "batch")))
    return pa.table(columns | spans)


def _matches(simulation: Simulation, outputs: Outputs) -> pa.Table:
    columns: dict[str, pa.ChunkedArray | pa.Array] = _keys(simulation, outputs)
    steps = kind_of(simulation.join).match_columns(simulation.join)
    for step, (name, side) in enumerate(steps):
        mine = outputs.of(side)
        mine = mine[mine["step"] == step].sort_values(["output", "place"])
        lengths = np.bincount(mine["output"], minlength=len(outputs))
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        rows = _taken(simulation, side, mine["row"].to_numpy()).to_struct_array().combine_chunks()
        columns[name] = pa.ListArray.from_arrays(pa.array(offsets), rows)
    spans = {name: pa.array(outputs.table[name].to_numpy(), pa.timestamp("us", "UTC")) for name in ("start", "end")}
    waited = pa.array(outputs.table[sink_reader.WAITED_FOR].tolist(), pa.string())
    batch = pa.array(outputs.table["batch"].to_numpy(), pa.int64())
    return pa.table(columns | spans | {sink_reader.WAITED_FOR: waited, "batch": batch})


def _keys(simulation: Simulation, outputs: Outputs) -> dict[str, pa.Array]:
    """The key columns of each output, which are the same on both sides, from its first row on either."""
    found = {}
    for side in SIDES:
        first = outputs.first(side)
        numbers = pa.array(first, pa.int64(), mask=first < 0)
        found[side] = simulation.side(side).table.select(simulation.side(side).key).take(numbers).columns
    return {name: pc.coalesce(*each) for name, *each in zip(simulation.left.key, *found.values(), strict=True)}


def _taken(simulation: Simulation, side: Side, rows: RowNumbers, missing: Flags | None = None) -> pa.Table:
    """Some rows of a side with their numbers; null where they are missing."""
    return simulation.numbered(side).take(pa.array(rows, pa.int64(), mask=missing))


def _spans(simulation: Simulation, start: Times, end: Times, batch: Batches) -> dict[str, pa.Array]:
    edges = {"window_start": start, "window_end": end} if simulation.windowed else {}
    columns = {name: pa.array(values, pa.timestamp("us", "UTC")) for name, values in edges.items()}
    return columns | {"batch": pa.array(batch, pa.int64())}
