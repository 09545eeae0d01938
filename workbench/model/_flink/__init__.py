"""What Flink makes of the recorded micro-batches: the same rows and the same join, under Flink's rules.

Flink judges a row by the watermark that stands when the row comes, and moves the watermark between rows. Here it moves
after each micro-batch; of a recording with one row a micro-batch that is after each row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.joins import Join
from workbench.kinds import MS, kind_of
from workbench.literals import SIDES, Side
from workbench.model._flink import _interval, _sql_interval, _windows
from workbench.model._flink._watermarks import flink_watermarks
from workbench.model._outcome import Outcome
from workbench.model._shared import Shared
from workbench.model._watermarks import LONG_AGO
from workbench.streams import Stream

__all__ = ["FlinkRules", "in_sql"]


@dataclass(frozen=True, eq=False)
class FlinkRules:
    """What a Flink job says beside its join.

    Attributes
    ----------
    allowed_lateness
        How long after a window's end, in microseconds, its rows are kept, and it fires again for each that comes.
    idle
        Per side whether it is idle after each micro-batch, by ``withIdleness``; None: never.
    """

    allowed_lateness: int = 0
    idle: Mapping[Side, Any] | None = None

    def outcome(self, join: Join, left: Stream, right: Stream) -> Outcome:
        """What the job gives of these streams, whose micro-batches are the steps between two watermarks."""
        kind, shared = kind_of(join), Shared(left, right, unit=MS)
        by_table = in_sql(join)
        marks, true = flink_watermarks(left, right, shared.keys, self.idle, keyed=not by_table, one_gate=kind.windowed)
        before = np.append(LONG_AGO, true[:-1])
        sides = {}
        for side in SIDES:
            mine = shared.assignments(join, side).copy(deep=False)
            mine["filtered"] = False if by_table else (mine["key"] < 0)
            mine["watermark"] = marks.late[mine["batch"]]
            beyond = self.allowed_lateness - MS if kind.windowed else MS
            mine["kept_until"] = mine["end"] + beyond
            late = (mine["kept_until"] <= before[mine["batch"]]) & ~mine["filtered"]
            mine["late"] = False if by_table else late
            mine["group"] = np.full(len(mine), -1)
            sides[side] = mine
        if by_table:
            return _sql_interval.replay(join, marks, true, sides, shared)
        if not kind.windowed:
            return _interval.replay(join, marks, true, sides, shared)
        return _windows.replay(join, marks, true, sides, shared, self.allowed_lateness)


def in_sql(join: Join) -> bool:
    """Whether the Flink job does a join in SQL, as it does the interval joins that its DataStream API does not have."""
    return not kind_of(join).windowed and bool(kind_of(join).flink_java(join).get("by_table", False))
