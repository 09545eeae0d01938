"""Bounds that suit rows: those that nearly all nearest partners lie within."""

from __future__ import annotations

from datetime import timedelta

import numpy as np

from workbench import times
from workbench.arrays import Times
from workbench.builtin_kinds.interval.advice import is_wide, nearly_all
from workbench.builtin_kinds.interval.bounds import edges
from workbench.builtin_kinds.suggested_spans import FEWEST, MOST, is_much, rounded
from workbench.joins import IntervalJoin
from workbench.literals import Setting

__all__ = ["suggested_spans"]


def suggested_spans(join: IntervalJoin, apart: Times) -> tuple[str, dict[Setting, timedelta]] | None:
    """Bounds that suit rows better; see `workbench.kinds.Kind.suggested_spans`."""
    if join.lower is None or join.upper is None or len(apart) < FEWEST:
        return None
    low, high = edges(join)
    wanted: dict[Setting, timedelta] = {
        "lower": -rounded(nearly_all(np.maximum(-apart, 0), MOST)),
        "upper": rounded(nearly_all(np.maximum(apart, 0), MOST)),
    }
    if wanted == {"lower": join.lower, "upper": join.upper}:
        return None
    outside = float(((apart < low) | (apart > high)).mean())
    if is_much(outside):
        return f"{outside:.0%} of the nearest pairs of a key are farther apart than the bounds allow", wanted
    reach = {name: abs(times.micros(each)) for name, each in wanted.items()}
    if is_wide(high, reach["upper"]) or is_wide(-low, reach["lower"]):
        return "the bounds are far wider than nearly all nearest rows of a key are apart", wanted
    return None
