"""What to know of an as-of join before a run."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import numpy as np

from workbench import times
from workbench.arrays import RowNumbers, Times
from workbench.builtin_kinds.as_of import partner_choice
from workbench.builtin_kinds.interval.advice import is_wide, nearly_all, nearly_all_lie
from workbench.joins import AsOfJoin
from workbench.kinds import Advised, SharedRows
from workbench.literals import Sides
from workbench.streams import SIDES, Stream

__all__ = ["endless_waits", "tolerances", "wide_tolerance"]

_SHARES = (0.5, 0.9, 0.99)


def wide_tolerance(join: AsOfJoin, shared: SharedRows) -> Iterator[Advised]:
    """The tolerance is far wider than nearly all partners are apart."""
    far, _ = _apart(join, shared)
    if join.tolerance is None or not len(far):
        return
    reach, tolerance = nearly_all(far), times.micros(join.tolerance)
    if is_wide(tolerance, reach):
        value = times.text(timedelta(microseconds=reach))
        yield (
            f"the tolerance keeps rows in state for {times.short(timedelta(microseconds=tolerance))}, and results wait "
            f"as long, but {nearly_all_lie(len(far), 'partner')} within {times.short(timedelta(microseconds=reach))}",
            f"a tolerance of {value} keeps them with less state",
            "tolerance",
            value,
        )


def tolerances(join: AsOfJoin, shared: SharedRows) -> list[int]:
    """The present tolerance, and those within which certain shares of the partners lie, in microseconds."""
    far, _ = _apart(join, shared)
    found = [nearly_all(far, share) for share in _SHARES] if len(far) else []
    return sorted({times.micros(join.tolerance), *found})  # type: ignore[arg-type]


def endless_waits(join: AsOfJoin, streams: Sides[Stream], shared: SharedRows) -> Iterator[Advised]:
    """Without a tolerance, left rows wait for a right row that never comes."""
    if join.tolerance is not None or join.direction == "backward":
        return
    far, alone = _apart(join, shared)
    if join.how == "left":
        alone += int((shared.assignments(join, "left")["key"] < 0).sum())  # nothing meets a null key
    if not alone:
        return
    mine, other = (streams[side].name for side in SIDES)
    remedy = "a tolerance evicts them"
    if len(far):
        reach = times.short(timedelta(microseconds=nearly_all(far)))
        remedy = f"a tolerance evicts them: {nearly_all_lie(len(far), 'partner')} within {reach}"
    yield (
        f"{alone:,} of {alone + len(far):,} rows of {mine} wait for a row of {other} that never comes, and stay in "
        "state until the end of the input: there is no tolerance",
        remedy,
    )


def _apart(join: AsOfJoin, shared: SharedRows) -> tuple[RowNumbers, int]:
    """How far left rows and their partners are apart, and how many have none; of rows whose key is not null."""
    left, right = (shared.assignments(join, side) for side in SIDES)
    left, right = (each[each["key"] >= 0] for each in (left, right))
    picked = partner_choice.partners(join, left, right)[0]
    met = picked >= 0
    far: Times = np.abs(right["start"].to_numpy()[picked[met]] - left["start"].to_numpy()[met])
    return far, int((~met).sum())
