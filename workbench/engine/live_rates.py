"""How a live query keeps up: what Spark reports of its micro-batches, and what was measured beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from workbench.literals import SIDES, Side, Sides, other_side
from workbench.untyped import Json

if TYPE_CHECKING:
    from workbench.model import Outputs

__all__ = [
    "NO_LATENCY",
    "PHASES",
    "PRESSURES",
    "WARM_UP",
    "Measured",
    "Numbers",
    "Silence",
    "duration",
    "latencies",
    "pressure",
    "rates",
    "silence",
]

Numbers = np.ndarray[Any, np.dtype[Any]]

PRESSURES = ((0.10, "OK"), (0.50, "LOW"), (float("inf"), "HIGH"))
"""Up to which share of time behind which word holds; the bounds are those of Apache Flink's backpressure monitor."""
WARM_UP = "warm-up"
"""The word for micro-batches in which Spark still compiles: those before the first that kept to its trigger."""
PHASES = {
    "reading": ("latestOffset", "getBatch"),
    "planning": ("queryPlanning",),
    "joining": ("addBatch",),
    "committing": ("walCommit", "commitBatch", "commitOffsets"),
}
"""The phases of a micro-batch, and what Spark's ``durationMs`` calls their parts; what is left is ``other``."""
NO_LATENCY = (float("nan"),) * 3
"""`Measured.latency` of a micro-batch that wrote no pair."""
_RECENT = 10  # micro-batches over which backpressure is measured
_LONGEST_WARM_UP = 5  # micro-batches
_SILENT = 5  # micro-batches without a row after which a stream is called silent


class Measured(NamedTuple):
    """What was measured of a micro-batch beside Spark's report.

    Attributes
    ----------
    backlog
        Rows that were waiting when it had ended.
    rows
        Rows of each side that it took in.
    newest
        The newest event time of each side up to its end, microseconds; None before the first row.
    output_rows
        Rows that it wrote.
    latency
        The median, the 95th percentile and the longest time from the arrival of a pair's second row to the end of the
        micro-batch that wrote it, seconds; NaN where it wrote no pair.
    """

    backlog: int
    rows: tuple[int, int]
    newest: tuple[int | None, int | None]
    output_rows: int
    latency: tuple[float, float, float]


class Silence(NamedTuple):
    """A stream that brings no rows while the other one does, and whose watermark is the slower one.

    Attributes
    ----------
    side
        The silent one.
    batches
        For how many micro-batches it has been silent.
    other_rows
        How many rows the other one has brought in these.
    """

    side: Side
    batches: int
    other_rows: int


def silence(table: pd.DataFrame) -> Silence | None:
    """The stream that is silent at the end of a table of `Live.rates`; None: neither, or both."""
    for side in SIDES:
        came = np.flatnonzero(table[f"{side}_rows"].to_numpy())
        since = int(came[-1]) + 1 if len(came) else 0
        other = other_side(side)
        other_rows = int(table[f"{other}_rows"][since:].sum())
        if len(table) - since < _SILENT or not other_rows:
            continue
        last = table.iloc[-1]
        if not last[f"{side}_lag"] < last[f"{other}_lag"]:  # NaN: its watermark has not begun
            return Silence(side, len(table) - since, other_rows)
    return None


def latencies(written: Outputs, arrived: Sequence[Numbers], end: float) -> tuple[float, float, float]:
    """The latency of what a micro-batch wrote, as `Measured.latency` has it.

    Parameters
    ----------
    written
        What it wrote.
    arrived
        When each row of either side arrived, seconds since 1970.
    end
        When the micro-batch ended, likewise.
    """
    last = np.full(len(written.table), -np.inf)
    for side, at in Sides(*arrived).items():
        of = written.of(side)
        np.maximum.at(last, of["output"].to_numpy(), at[of["row"].to_numpy()])
    seconds = end - last[written.table["matched"].to_numpy()]
    if not len(seconds):
        return NO_LATENCY
    return float(np.median(seconds)), float(np.quantile(seconds, 0.95)), float(seconds.max())


def rates(
    progress: Sequence[Json], measured: Sequence[Measured], delays: tuple[int, int], trigger: float
) -> pd.DataFrame:
    """The table of `Live.rates`.

    Parameters
    ----------
    progress
        Spark's report of each micro-batch.
    measured
        What was measured of each.
    delays
        The watermark delay of each side, microseconds.
    trigger
        Seconds between two micro-batches, if the query keeps up.
    """
    lasted = np.array([duration(each) for each in progress], dtype=float)
    at = pd.to_datetime(pd.Series([each["timestamp"] for each in progress], dtype=object), utc=True)
    apart = at.diff().dt.total_seconds().to_numpy()
    mine = [np.array([each.rows[side] for each in measured], dtype=int) for side in (0, 1)]
    written = np.array([each.output_rows for each in measured], dtype=int)
    behind = _behind(lasted, trigger * 1000)
    state = [each.get("stateOperators", []) for each in progress]
    table = {
        "batch": np.arange(len(progress)),
        "at": at,
        "input_rows": np.array([int(each["numInputRows"]) for each in progress], dtype=int),
        "left_rows": mine[0],
        "right_rows": mine[1],
        "output_rows": written,
        "input_rate": [float(each.get("inputRowsPerSecond") or 0) for each in progress],
        "processed_rate": [float(each.get("processedRowsPerSecond") or 0) for each in progress],
        "left_rate": mine[0] / apart,
        "right_rate": mine[1] / apart,
        "output_rate": written / apart,
        "duration_ms": lasted.astype(int),
        **_phases(progress, lasted),
        "state_rows": [sum(int(each["numRowsTotal"]) for each in operators) for operators in state],
        "state_bytes": [sum(int(each["memoryUsedBytes"]) for each in operators) for operators in state],
        "backlog": [each.backlog for each in measured],
        **_lags(progress, measured, delays),
        **{
            f"latency_{name}": [each.latency[place] for each in measured]
            for place, name in enumerate(("median", "p95", "max"))
        },
        "behind": behind,
        "pressure": [WARM_UP if np.isnan(each) else pressure(each) for each in behind],
    }
    return pd.DataFrame(table)


def pressure(behind: float) -> str:
    """The word for a share of time behind."""
    return next(word for most, word in PRESSURES if behind <= most)


def _behind(lasted: Numbers, trigger: float) -> Numbers:
    """Of the last micro-batches, the share of time behind the trigger; NaN while the query warms up."""
    kept = np.flatnonzero(lasted <= trigger)
    warm = min(int(kept[0]) if len(kept) else len(lasted), _LONGEST_WARM_UP)
    late = pd.Series(np.maximum(lasted - trigger, 0))[warm:].rolling(_RECENT, min_periods=1).sum()
    every = pd.Series(np.maximum(lasted, trigger))[warm:].rolling(_RECENT, min_periods=1).sum()
    return np.concatenate([np.full(min(warm, len(lasted)), np.nan), (late / every).to_numpy()])


def duration(progress: Json) -> int:
    """How long a micro-batch took, milliseconds."""
    return int(progress.get("batchDuration") or progress["durationMs"].get("triggerExecution", 0))


def _phases(progress: Sequence[Json], lasted: Numbers) -> dict[str, Numbers]:
    """The milliseconds of each phase, one array a phase."""
    found = {
        f"{phase}_ms": np.array([sum(int(each["durationMs"].get(part, 0)) for part in parts) for each in progress])
        for phase, parts in PHASES.items()
    }
    return found | {"other_ms": np.maximum(0, lasted.astype(int) - sum(found.values()))}


def _lags(progress: Sequence[Json], measured: Sequence[Measured], delays: tuple[int, int]) -> dict[str, Numbers]:
    """How far each side's own watermark, and the query's, was behind the newest row; seconds of event time.

    A watermark is the one in force during the micro-batch, which rows before it have set; NaN before it has begun.
    """
    newest = np.array([[np.nan if time is None else time for time in each.newest] for each in measured], dtype=float)
    newest = newest.reshape(-1, 2)
    both = pd.DataFrame(newest).max(axis=1).to_numpy()
    before = np.vstack([np.full((1, 2), np.nan), newest[:-1]])[: len(newest)]
    lags = {f"{side}_lag": (both - (before[:, place] - delays[place])) / 1e6 for place, side in enumerate(SIDES)}
    reported = [(each.get("eventTime") or {}).get("watermark") for each in progress]
    mark = np.array([0 if each is None else pd.Timestamp(each).value / 1_000 for each in reported], dtype=float)
    return lags | {"lag": np.where(mark > 0, (both - mark) / 1e6, np.nan)}
