"""The frames of a `Run`, from what Spark reported and wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workbench import _arrow
from workbench.streams import ROW, SIDES

if TYPE_CHECKING:
    from workbench.results import Run

_OURS = (
    "side",
    "batch",
    "fate",
    "reason",
    "fix_setting",
    "fix_value",
    "window_start",
    "window_end",
    "watermark",
    "behind",
)


_BATCH_COLUMNS = (
    "batch",
    "watermark",
    "late_watermark",
    "left_rows",
    "right_rows",
    "output_rows",
    "late_rows",
    "state_rows",
    "state_bytes",
    "duration_ms",
    "dropped",
    "kind",
)


def batches(run: Run) -> pd.DataFrame:
    """The table of `Run.batches`."""
    table = _reported(run) if run.ran else _foreseen(run)
    zone = run.zone
    table["late_watermark"] = table["watermark"].shift(1).fillna(_arrow.in_zone(_epoch(), zone).iloc[0])
    count = int(table["batch"].max()) + 1
    for side in SIDES:
        table[f"{side}_rows"] = np.bincount(run.side(side).arrival, minlength=count)[table["batch"]]
    late = [
        each[["row", "batch"]][each["late"]].drop_duplicates("row")["batch"] for each in run.outcome.copies.values()
    ]
    table["late_rows"] = np.bincount(np.concatenate(late).astype(np.int64), minlength=count)[table["batch"]]
    table["kind"] = np.select(
        [table["batch"] < run.micro_batches, (table["batch"] == run.micro_batches) & run.finish],
        ["data", "finish"],
        "no data",
    )
    return table[list(_BATCH_COLUMNS)]


def _foreseen(run: Run) -> pd.DataFrame:
    """What the model says of each micro-batch."""
    outcome = run.outcome
    table = pd.DataFrame({"batch": np.arange(len(outcome.marks))})
    table["watermark"] = moments(pd.Series(outcome.marks.eviction), run.zone)
    table["output_rows"] = outcome.output_rows(run.join)
    table["state_rows"] = outcome.state_counts()
    return table.assign(state_bytes=None, duration_ms=None, dropped=None)


def _reported(run: Run) -> pd.DataFrame:
    """What Spark reported of each micro-batch, and how many rows it wrote."""
    told = run.progress
    table = pd.DataFrame({"batch": [int(each["batchId"]) for each in told]})
    zone = run.zone
    watermark = [pd.Timestamp(each.get("eventTime", {}).get("watermark", "1970-01-01T00:00:00Z")) for each in told]
    table["watermark"] = _arrow.in_zone(pd.Series(watermark, dtype="datetime64[us, UTC]"), zone)
    written = np.bincount(run.raw_output.column("batch").to_numpy(), minlength=int(table["batch"].max()) + 1)
    table["output_rows"] = written[table["batch"]]
    operators = [each.get("stateOperators", []) for each in told]
    table["state_rows"] = [sum(op["numRowsTotal"] for op in ops) for ops in operators]
    table["state_bytes"] = [sum(op["memoryUsedBytes"] for op in ops) for ops in operators]
    table["duration_ms"] = [
        int(each.get("batchDuration", each["durationMs"].get("triggerExecution", 0))) for each in told
    ]
    table["dropped"] = [sum(op["numRowsDroppedByWatermark"] for op in ops) for ops in operators]
    return table


def _epoch() -> pd.Series[Any]:
    return pd.Series([pd.Timestamp(0, tz="UTC")])


def micros(times: pd.Series[Any]) -> pd.Series[Any]:
    plain = times.dt.tz_convert("UTC").dt.tz_localize(None) if times.dt.tz is not None else times
    return plain.astype("datetime64[us]").astype("int64")


def late(run: Run) -> pd.DataFrame:
    """The table of `Run.late`."""
    zone = run.zone
    parts = []
    for side in SIDES:
        copies = run.outcome.copies[side]
        mine = copies[copies["late"]]
        rows = plain_rows(run, side).iloc[mine["row"]].reset_index(drop=True)
        if run.windowed:
            for name in ("start", "end"):
                rows[f"window_{name}"] = moments(mine[name], zone)
        rows["watermark"] = moments(mine["watermark"], zone)
        rows["behind"] = pd.to_timedelta((mine["watermark"] - mine["end"]).to_numpy(), unit="us")
        parts.append(rows)
    return stack(parts)


def moments(microseconds: pd.Series[Any], zone: str | None) -> pd.Series[Any]:
    """Microseconds since 1970-01-01 UTC as timestamps in a zone, or naive."""
    return _arrow.in_zone(pd.Series(microseconds.to_numpy(dtype=np.int64).astype("datetime64[us]")), zone)


def stack(parts: list[pd.DataFrame]) -> pd.DataFrame:
    full = [part for part in parts if len(part)]
    if not full:
        return pd.concat(parts).iloc[:0].reset_index(drop=True)
    stacked = pd.concat(full, ignore_index=True) if len(full) > 1 else full[0].reset_index(drop=True)
    columns = dict.fromkeys([column for part in parts for column in part.columns])
    tail = [
        column
        for column in (
            "window_start",
            "window_end",
            "watermark",
            "behind",
            "fate",
            "reason",
            "fix_setting",
            "fix_value",
        )
        if column in columns
    ]
    return stacked.reindex(columns=[*(column for column in columns if column not in tail), *tail])


def plain_rows(run: Run, side: str, chosen: np.ndarray | None = None) -> pd.DataFrame:
    """A side's rows, or some, with ``side`` and ``batch`` in front; columns that clash are called ``row_…``."""
    stream = run.side(side)
    rows = _arrow.to_pandas(stream.table if chosen is None else stream.table.take(chosen), stream.zones)
    rows = rows.rename(columns={name: f"row_{name}" for name in _OURS})
    rows.insert(0, "side", side)
    rows.insert(1, "batch", stream.arrival if chosen is None else stream.arrival[chosen])
    return rows


def pairs(run: Run) -> pd.DataFrame:
    """The pairs in Spark's output of a join: columns ``left``, ``right`` (row numbers), ``batch``."""
    frame = run.raw_output.select([*(f"{side}_{ROW}" for side in SIDES), "batch"]).to_pandas().dropna().astype("int64")
    return frame.set_axis([*SIDES, "batch"], axis=1)
