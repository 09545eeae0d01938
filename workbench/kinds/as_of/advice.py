"""What to know of an as-of join before a run."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import numpy as np

from workbench import times
from workbench.joins import AsOfJoin
from workbench.kinds._kind import Advised
from workbench.kinds.as_of import semantics
from workbench.kinds.interval.advice import is_wide, nearly_all
from workbench.streams import SIDES

__all__ = ["wide_tolerance"]


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
