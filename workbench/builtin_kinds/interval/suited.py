"""Bounds that suit rows: those that nearly all nearest partners lie within."""

from __future__ import annotations

from datetime import timedelta

import numpy as np

from workbench import times
from workbench.arrays import Times
from workbench.builtin_kinds.interval.advice import is_wide, nearly_all
from workbench.builtin_kinds.interval.bounds import edges
from workbench.joins import IntervalJoin
from workbench.literals import Setting

__all__ = ["suited"]

_MOST = 0.99
"""The share of nearest partners that bounds have to hold: a key may come again after hours."""
_MUCH = 0.05
"""The share that bounds may leave out before others are named."""
_FEWEST = 5
_STEPS = (
    (1, 0.1), (120, 1), (600, 10), (7_200, 60), (36_000, 600), (172_800, 3_600), (float("inf"), 86_400),
)  # fmt: skip
"""Up to how many seconds a bound is rounded up to which step."""


def suited(join: IntervalJoin, apart: Times) -> tuple[str, dict[Setting, timedelta]] | None:
    """Bounds that suit rows better; see `workbench.kinds.Kind.suited`."""
    if join.lower is None or join.upper is None or len(apart) < _FEWEST:
        return None
    low, high = edges(join)
    wanted: dict[Setting, timedelta] = {
        "lower": -_rounded(nearly_all(np.maximum(-apart, 0), _MOST)),
        "upper": _rounded(nearly_all(np.maximum(apart, 0), _MOST)),
    }
    if wanted == {"lower": join.lower, "upper": join.upper}:
        return None
    outside = float(((apart < low) | (apart > high)).mean())
    if outside > _MUCH + 1 - _MOST:
        return f"{outside:.0%} of the left rows whose key is on the right have no such row within the bounds", wanted
    reach = {name: abs(times.micros(each)) for name, each in wanted.items()}
    if is_wide(high, reach["upper"]) or is_wide(-low, reach["lower"]):
        return "the bounds are far wider than nearly all nearest rows of a key are apart", wanted
    return None


def _rounded(micros: int) -> timedelta:
    """A distance rounded up to what a person would write."""
    seconds = micros / 1_000_000
    step = next(step for most, step in _STEPS if seconds <= most)
    return timedelta(seconds=round(float(np.ceil(round(seconds / step, 6))) * step, 1))
