"""The frames of a `Run`, from what Spark reported and wrote."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from workbench import schema
from workbench.arrays import Counts, RowNumbers
from workbench.engine import pruning
from workbench.engine.execution import Execution
from workbench.errors import TooLargeError
from workbench.literals import Side
from workbench.model import Simulation
from workbench.sources import arrow
from workbench.streams import SIDES
from workbench.untyped import Series

__all__ = [
    "batches",
    "handed_out",
    "late",
    "late_in_flink",
    "micros",
    "moments",
    "plain_rows",
    "renamed",
    "stack",
    "utc",
]


def handed_out(frame: pd.DataFrame) -> pd.DataFrame:
    """A copy for the user, whose changes do not reach the original; lazy where pandas copies on write."""
    return frame.copy(deep=pd.options.mode.copy_on_write is not True)


def batches(simulation: Simulation, execution: Execution | None) -> pd.DataFrame:
    """The table of `Run.batches`; without an execution, what the model says of each micro-batch."""
    table = _simulated(simulation) if execution is None else _reported(execution, simulation.zone)
    if execution is not None and execution.pruned:
        table["state_bytes"] += _bytes_left_out(simulation, len(table))
    zone = simulation.zone
    table["late_watermark"] = table["watermark"].shift(1).fillna(arrow.in_zone(_epoch(), zone).iloc[0])
    if simulation.first:
        table.loc[0, "output_rows"] = 0
    count = int(table["batch"].max()) + 1
    for side in SIDES:
        table[f"{side}_rows"] = np.bincount(simulation.side(side).arrival, minlength=count)[table["batch"]]
    try:
        table["late_rows"] = _late_counts(simulation, count)[table["batch"]]
    except TooLargeError:  # the run is one all the same
        table["late_rows"] = None
    data = table["batch"] < simulation.micro_batches
    if not simulation.ended:  # of a live query's micro-batches those without rows are Spark's own
        data &= table["left_rows"] + table["right_rows"] > 0
    last = (table["batch"] == simulation.micro_batches) & simulation.finish
    table["kind"] = np.select([data, last], ["data", "finish"], "no data")
    return table[schema.BATCHES.names]


def _bytes_left_out(simulation: Simulation, count: int) -> Counts:
    """How many bytes more the rows in state after each micro-batch would take with all of their columns."""
    more = np.zeros(count)
    try:
        held = simulation.outcome.state_rows()
    except TooLargeError:
        return more.astype(np.int64)
    for side in SIDES:
        rows = held[side][:count]
        more[: len(rows)] += rows * pruning.bytes_left_out(simulation, side)
    return more.astype(np.int64)


def _late_counts(simulation: Simulation, count: int) -> Counts:
    """How many rows are late in each micro-batch, each once."""
    late = [
        each[["row", "batch"]][each["late"]].drop_duplicates("row")["batch"]
        for each in simulation.outcome.assignments.values()
    ]
    return np.bincount(np.concatenate(late).astype(np.int64), minlength=count)


def _simulated(simulation: Simulation) -> pd.DataFrame:
    """What the model says of each micro-batch."""
    outcome = simulation.outcome
    table = pd.DataFrame({"batch": np.arange(len(outcome.marks))})
    table["watermark"] = moments(pd.Series(outcome.marks.eviction), simulation.zone)
    table["output_rows"] = outcome.output_rows()
    table["state_rows"] = outcome.state_counts()
    return table.assign(state_bytes=None, duration_ms=None, dropped=None)


def _reported(execution: Execution, zone: str | None) -> pd.DataFrame:
    """What Spark reported of each micro-batch, and how many rows it wrote."""
    progress = execution.progress
    table = pd.DataFrame({"batch": [int(each["batchId"]) for each in progress]})
    watermark = [pd.Timestamp(each.get("eventTime", {}).get("watermark", "1970-01-01T00:00:00Z")) for each in progress]
    table["watermark"] = arrow.in_zone(pd.Series(watermark, dtype="datetime64[us, UTC]"), zone)
    table["output_rows"] = [execution.output_counts.get(batch, 0) for batch in table["batch"]]
    operators = [each.get("stateOperators", []) for each in progress]
    table["state_rows"] = [sum(op["numRowsTotal"] for op in ops) for ops in operators]
    table["state_bytes"] = [sum(op["memoryUsedBytes"] for op in ops) for ops in operators]
    table["duration_ms"] = [
        int(each.get("batchDuration", each["durationMs"].get("triggerExecution", 0))) for each in progress
    ]
    table["dropped"] = [sum(op["numRowsDroppedByWatermark"] for op in ops) for ops in operators]
    return table


def _epoch() -> Series:
    return pd.Series([pd.Timestamp(0, tz="UTC")])


def micros(times: Series) -> Series:
    """Timestamps as microseconds since 1970-01-01 UTC."""
    return utc(times).astype("datetime64[us]").astype("int64")


def utc(times: Series) -> Series:
    """Timestamps in UTC, naive; those without a zone are."""
    return times.dt.tz_convert("UTC").dt.tz_localize(None) if times.dt.tz is not None else times


def late(simulation: Simulation) -> pd.DataFrame:
    """The table of `Run.late`."""
    parts = []
    for side in SIDES:
        assignments = simulation.outcome.assignments[side]
        parts.append(_late(simulation, side, assignments[assignments["late"]], "end"))
    return stack(parts, schema.LATE)


def late_in_flink(simulation: Simulation) -> pd.DataFrame:
    """The table of `FlinkPreview.late`."""
    parts = []
    for side in SIDES:
        assignments = simulation.outcome.assignments[side]
        late = assignments[assignments["late"]]
        late = late[late.groupby("row")["row"].transform("size") == np.bincount(assignments["row"])[late["row"]]]
        parts.append(_late(simulation, side, late.drop_duplicates("row", keep="last"), "kept_until"))
    return stack(parts, schema.LATE)


def _late(simulation: Simulation, side: Side, late: pd.DataFrame, until: str) -> pd.DataFrame:
    """A side's late rows; `until` is the column of the watermark from which on each is late."""
    rows = plain_rows(simulation, side).iloc[late["row"]].reset_index(drop=True)
    if simulation.windowed:
        for name in ("start", "end"):
            rows[f"window_{name}"] = moments(late[name], simulation.zone)
    rows["watermark"] = moments(late["watermark"], simulation.zone)
    behind = (late["watermark"] - late[until]).to_numpy()
    rows["behind"] = pd.Series(behind.astype("timedelta64[us]"))  # in nanoseconds 292 years would be the most
    return rows


def moments(microseconds: Series, zone: str | None) -> Series:
    """Microseconds since 1970-01-01 UTC as timestamps in a zone, or naive."""
    return arrow.in_zone(pd.Series(microseconds.to_numpy(dtype=np.int64).astype("datetime64[us]")), zone)


def stack(parts: list[pd.DataFrame], table: schema.Table) -> pd.DataFrame:
    """Both sides' frames below each other; the columns that a table has behind the streams' own stand last.

    The columns of a side without rows are there, with their types.
    """
    full = [part for part in parts if len(part)] or parts
    stacked = pd.concat(full, ignore_index=True) if len(full) > 1 else full[0].reset_index(drop=True)
    columns = dict.fromkeys([column for part in parts for column in part.columns])
    for column in columns.keys() - set(stacked.columns):
        of = next(part[column] for part in parts if column in part)
        stacked[column] = of.reset_index(drop=True).reindex(stacked.index)
    tail = table.last_in(columns)
    return stacked[[*(column for column in columns if column not in tail), *tail]]


def renamed(columns: list[str], ours: Sequence[str] | None = None) -> dict[str, str]:
    """New names for a stream's columns that a run's tables have themselves: ``row_<name>``, longer where that is taken.

    Examples
    --------
    >>> renamed(["fate", "row_fate", "price"])
    {'fate': 'row_row_fate'}
    """
    ours = [*schema.ROWS.names, *schema.LATE.names] if ours is None else ours
    taken = {*columns, *ours}
    new = {}
    for name in columns:
        if name in ours:
            new[name] = f"row_{name}"
            while new[name] in taken:
                new[name] = f"row_{new[name]}"
            taken.add(new[name])
    return new


def plain_rows(simulation: Simulation, side: Side, chosen: RowNumbers | None = None) -> pd.DataFrame:
    """A side's rows, or some, with ``side`` and ``batch`` in front; columns that clash are called ``row_…``."""
    stream = simulation.side(side)
    rows = arrow.to_pandas(stream.table if chosen is None else stream.table.take(chosen), stream.zones)
    rows = rows.rename(columns=renamed(stream.columns))
    rows.insert(0, "side", side)
    rows.insert(1, "batch", simulation.first + (stream.arrival if chosen is None else stream.arrival[chosen]))
    return rows
