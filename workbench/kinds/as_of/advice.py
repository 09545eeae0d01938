"""What to know of an as-of join before a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

import numpy as np

from workbench import times
from workbench.joins import AsOfJoin
from workbench.kinds._kind import Advised
from workbench.kinds.as_of import semantics
from workbench.kinds.interval.advice import is_wide, nearly_all
from workbench.literals import Side
from workbench.streams import SIDES, Stream

__all__ = ["endless_waits", "wide_tolerance"]


def wide_tolerance(join: AsOfJoin, shared: Any) -> Iterator[Advised]:
    """The tolerance is far wider than nearly all partners are apart."""
    left, right = (shared.assignments(join, side) for side in SIDES)
    left, right = (each[each["key"] >= 0] for each in (left, right))
    picked = semantics.picked(join, left, right)
    met = picked >= 0
    if join.tolerance is None or not met.any():
        return
    far = np.abs(right["start"].to_numpy()[picked[met]] - left["start"].to_numpy()[met])
    reach, tolerance = nearly_all(far), times.micros(join.tolerance)
    if is_wide(tolerance, reach):
        value = times.text(timedelta(microseconds=reach))
        yield (
            f"the tolerance keeps rows in state for {times.short(timedelta(microseconds=tolerance))}, and results wait "
            f"as long, but 99.9 % of the partners lie within {times.short(timedelta(microseconds=reach))}",
            f"a tolerance of {value} keeps them with less state",
            "tolerance",
            value,
        )


def endless_waits(join: AsOfJoin, streams: Mapping[Side, Stream], shared: Any) -> Iterator[Advised]:
    """Without a tolerance, left rows wait for a right row that never comes."""
    left, right = (shared.assignments(join, side) for side in SIDES)
    left, right = (each[each["key"] >= 0] for each in (left, right))
    if join.tolerance is not None or join.direction == "backward" or left.empty:
        return
    picked = semantics.picked(join, left, right)
    alone, met = int((picked < 0).sum()), picked >= 0
    if not alone:
        return
    mine, other = (streams[side].name for side in SIDES)
    remedy = "a tolerance lets them out"
    if met.any():
        far = np.abs(right["start"].to_numpy()[picked[met]] - left["start"].to_numpy()[met])
        reach = times.short(timedelta(microseconds=nearly_all(far)))
        remedy = f"a tolerance lets them out: 99.9 % of the partners lie within {reach}"
    yield (
        f"{alone:,} of {len(left):,} rows of {mine} wait for a row of {other} that never comes, and stay in state "
        "until the end of the input: there is no tolerance",
        remedy,
    )
