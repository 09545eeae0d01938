"""What a query that runs does, micro-batch by micro-batch: from Spark's reports and its checkpoint, which is only read.

Of a query of this session Spark has a report of each micro-batch, and the watermark of each side. Of a query of another
process the checkpoint has when each micro-batch was planned, when it ended, and the query's watermark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workbench.jobs import catalyst, entering, held, replay, reported, sources
from workbench.jobs.checkpoint import Checkpoint
from workbench.jobs.understanding import Understood
from workbench.joins import Join
from workbench.kinds import HASH_JOIN, kind_of
from workbench.literals import SIDES, Side, Sides
from workbench.times import micros
from workbench.untyped import JavaObject, Json, Record, Value

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["BATCHES", "STATE", "Marks", "of_logs", "of_report", "own_watermarks", "ran", "state_by_side"]

BATCHES = (
    "batch",
    "at",
    "duration_ms",
    "left_rows",
    "right_rows",
    "input_rate",
    "processed_rate",
    "watermark",
    "left_watermark",
    "right_watermark",
    "held_by",
    "left_lag",
    "right_lag",
    "lag",
    "state_rows",
    "state_bytes",
    "dropped",
)
"""The columns of `Watch.batches`."""
STATE = ("side", "stream", "batch", "rows", "oldest", "evicted_at")
"""The columns of `Watch.state`."""
_FAR = 4 * 10**15  # a watermark, in microseconds, at which it is asked how far behind it rows leave the state
_RAN = "addBatch"


@dataclass(frozen=True)
class Marks:
    """The watermark of each side at a moment, in microseconds since 1970-01-01 UTC; None: no row has come yet."""

    left: int | None
    right: int | None

    def of(self, side: Side) -> int | None:
        """That of a side."""
        return self.left if side == "left" else self.right

    def holder(self, policy: str) -> Side | None:
        """The side whose watermark is the query's; None where they are the same."""
        left, right = self.left or 0, self.right or 0
        if left == right:
            return None
        return "left" if (left < right) is (policy == "min") else "right"


def own_watermarks(execution: JavaObject, known: Understood) -> Marks | None:
    """The watermark of each side of a query of this session, as its Java object has them now.

    Parameters
    ----------
    execution
        Spark's ``StreamExecution``.
    known
        The join.

    Returns
    -------
    Marks or None
        None where there was no micro-batch yet, and where this version of Spark keeps them elsewhere.
    """
    try:
        tracker = _field(execution, "watermarkTracker")
        found = {} if tracker is None else _entries(_field(tracker, "operatorToWatermarkMap"))
    except Exception:  # noqa: BLE001 - none of it is Spark's public API
        return None
    marks: dict[Side, int | None] = {}
    operators = [node for node in known.plan.walk() if node.kind == "EventTimeWatermark"]
    for place, node in enumerate(operators):
        times = {each.id for each in catalyst.expressions(node, "eventTime")}
        side = next((side for side, time in Sides(*known.marks).items() if time in times), None)
        value = found.get(catalyst.name_of_watermark(node.java), found.get(str(place)))
        if side is not None and value is not None and side not in marks:
            marks[side] = None if value == "None" else int(value.removeprefix("Some(").removesuffix(")")) * 1_000
    return Marks(marks["left"], marks["right"]) if len(marks) == len(SIDES) else None


def _field(of: Any, name: str) -> Any:
    """A field of a Java object, under whatever name Scala gave it."""
    kind = of.getClass()
    while kind is not None:
        for each in kind.getDeclaredFields():
            if each.getName().rpartition("$")[2] == name:
                each.setAccessible(True)
                return each.get(of)
        kind = kind.getSuperclass()
    return None


def _entries(found: Value) -> dict[str, str]:
    """A map of Scala's as text."""
    entries, each = {}, found.iterator()
    while each.hasNext():
        pair = each.next()
        entries[str(pair._1().toString())] = str(pair._2().toString())
    return entries


def ran(report: Json) -> bool:
    """Whether a report is of a micro-batch: Spark reports triggers that found nothing to do, too."""
    return _RAN in (report.get("durationMs") or {})


def of_report(report: Json, known: Understood, marks: Marks | None, policy: str) -> Record:
    """A row of `Watch.batches` from what Spark reported of a micro-batch.

    Parameters
    ----------
    report
        The progress, as JSON says it.
    known
        The join.
    marks
        The watermark of each side after the micro-batch, if they are known.
    policy
        Whether the query's watermark is the ``min`` or the ``max`` of these.
    """
    durations = report["durationMs"]
    watermark = _time((report.get("eventTime") or {}).get("watermark"))
    joins = [each for each in report.get("stateOperators") or [] if each.get("operatorName") == held.HASH_JOIN]
    operators = joins or report.get("stateOperators") or []
    left, right = _rows_by_side(known, report.get("sources") or [])
    row = dict.fromkeys(BATCHES)
    row |= {
        "batch": int(report["batchId"]),
        "at": _time(report.get("timestamp")),
        "duration_ms": int(durations.get("triggerExecution", durations[_RAN])),
        "left_rows": left,
        "right_rows": right,
        "input_rate": _number(report.get("inputRowsPerSecond")),
        "processed_rate": _number(report.get("processedRowsPerSecond")),
        "watermark": watermark,
        "state_rows": sum(int(each.get("numRowsTotal", 0)) for each in operators),
        "state_bytes": sum(int(each.get("memoryUsedBytes", 0)) for each in operators),
        "dropped": reported.dropped(report),
    }
    return row | ({} if marks is None else _of_marks(known, marks, policy, watermark))


def _of_marks(known: Understood, marks: Marks, policy: str, watermark: pd.Timestamp | None) -> Record:
    """Whose watermark is the query's, and how far each is behind the newest event time of both sides."""
    delays = {
        side: 0 if each.watermark is None else micros(each.watermark) for side, each in Sides(*known.described).items()
    }
    own = {side: marks.of(side) for side in SIDES}
    newest = max((mark + delays[side] for side, mark in own.items() if mark is not None), default=None)
    holder = marks.holder(policy)
    found: Record = {f"{side}_watermark": _moment(mark) for side, mark in own.items()}
    found["held_by"] = None if holder is None else known.described[SIDES.index(holder)].name
    if newest is not None:
        found |= {f"{side}_lag": (newest - mark) / 1e6 for side, mark in own.items() if mark is not None}
        if None not in own.values():  # that of the query, under which the next micro-batch runs
            found["lag"] = found[f"{holder or SIDES[0]}_lag"]
        elif watermark is not None and watermark.value > 0:
            found["lag"] = newest / 1e6 - watermark.timestamp()
    return found


def of_logs(logs: Checkpoint, ended: Mapping[int, int]) -> list[Record]:
    """The rows of `Watch.batches` that a checkpoint's logs give.

    Parameters
    ----------
    logs
        The logs.
    ended
        When micro-batches ended, by their number, in milliseconds since 1970-01-01 UTC.
    """
    found = []
    for each in logs.batches:
        if each.committed:
            row = dict.fromkeys(BATCHES)
            took = ended[each.number] - each.started if each.number in ended else None
            row |= {
                "batch": each.number,
                "at": _moment(each.started * 1_000),
                "duration_ms": None if took is None else max(took, 0),
                "watermark": _moment(each.watermark),
            }
            found.append(row)
    return found


def state_by_side(
    spark: SparkSession, known: Understood, address: str, batch: int, *, operator: int | None = None
) -> pd.DataFrame:
    """What a join holds of either side after a micro-batch; columns `STATE`, read by Spark.

    ``oldest`` is the event time, or the end of the window, that leaves the state first, and ``evicted_at`` the
    watermark at which it does; None where nothing is held, where rows never leave, and of a join that is one of
    several, given by Spark's number of its operator, as its watermark is another one than the query's.

    Raises
    ------
    QueryError
        If it cannot be read, or is no join's.
    """
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    rows = []
    for place, side in enumerate(SIDES):
        state = held.joined_rows(spark, address, batch, side, operator=operator)
        ids = entering.kept_columns(known, place, state.columns[:-1])
        state = state.toDF(*entering.named_by_id(ids), held.MATCHED)
        mine, join = known.inputs[place], known.description.join
        window = next((f"c{each}" for each in ids if each is not None and mine.origin(each) in mine.windows), None)
        time = f"c{known.times[place]}" if known.times[place] in ids else None
        oldest = f"{window}.end" if window is not None else time
        least = F.lit(None).cast("long") if oldest is None else F.unix_micros(F.min(F.col(oldest).cast("timestamp")))
        (counted,) = state.agg(F.count("*").alias("rows"), least.alias("oldest")).collect()
        leaves = None
        if counted["oldest"] is not None and join is not None and operator is None:
            end = counted["oldest"] if window is not None else _end(join, counted["oldest"])
            leaves = _leaves_at(known, join, side, end)
        name = known.described[place].name
        rows.append((side, name, batch, int(counted["rows"]), _moment(counted["oldest"]), _moment(leaves)))
    return pd.DataFrame(rows, columns=list(STATE))


def _end(join: Join, time: int) -> int:
    """The end of what a row without a window is in."""
    return int(kind_of(join).assign(join, np.array([time], dtype=np.int64))["end"].min())


def _leaves_at(known: Understood, join: Join, side: Side, end: int) -> int | None:
    """The watermark at which rows leave the state; None: never."""
    if known.retention is not None and kind_of(join).operator is HASH_JOIN:
        return end + known.retention[side] if side in known.retention else None
    up_to = kind_of(join).evicted_up_to(join, np.array([_FAR], dtype=np.int64))[SIDES.index(side)]
    return end + _FAR - int(up_to[0])


def _rows_by_side(known: Understood, reports: Sequence[Json]) -> tuple[int | None, int | None]:
    """How many rows each side's sources gave; None where Spark's reports cannot be told apart by side."""
    every = sources.leaves(known.plan)
    if len(reports) != len(every) or len(known.join.children) != len(SIDES):
        return None, None
    counts = [int(each.get("numInputRows", 0)) for each in reports]
    places = {replay.ids(each): place for place, each in enumerate(every)}
    left, right = (
        sum(counts[places[replay.ids(leaf)]] for leaf in sources.leaves(side)) for side in known.join.children
    )
    return left, right


def _time(text: Value) -> pd.Timestamp | None:
    return None if text is None else pd.Timestamp(text).tz_convert("UTC")


def _moment(microseconds: int | None) -> pd.Timestamp | None:
    return None if microseconds is None else pd.Timestamp(microseconds, unit="us", tz="UTC")


def _number(value: Value) -> float | None:
    """A rate; Spark writes none, or that it is no number, where it has not measured any."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    return found if np.isfinite(found) else None
