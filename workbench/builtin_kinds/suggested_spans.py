"""Time spans that suit rows: how far nearly all nearest rows of a key are apart, as a person would write it."""

from __future__ import annotations

from datetime import timedelta

import numpy as np

from workbench.arrays import Times

__all__ = ["FEWEST", "MOST", "MUCH", "is_much", "reach", "rounded"]

MOST = 0.99
"""The share of nearest partners that time spans have to hold: a key may come again after hours."""
MUCH = 0.05
"""The share that they may leave out before others are named."""
FEWEST = 5
"""Rows from which on anything is named."""
_STEPS = (
    (1, 0.1), (120, 1), (600, 10), (7_200, 60), (36_000, 600), (172_800, 3_600), (float("inf"), 86_400),
)  # fmt: skip
"""Up to how many seconds a time span is rounded up to which step."""


def rounded(micros: int) -> timedelta:
    """A distance rounded up to what a person would write.

    Examples
    --------
    >>> rounded(7_250_000)
    datetime.timedelta(seconds=8)
    """
    seconds = micros / 1_000_000
    step = next(step for most, step in _STEPS if seconds <= most)
    return timedelta(seconds=round(float(np.ceil(round(seconds / step, 6))) * step, 1))


def reach(apart: Times) -> int:
    """How far nearly all nearest rows of a key are apart, in microseconds."""
    return int(np.quantile(np.abs(apart), MOST, method="inverted_cdf"))


def is_much(outside: float) -> bool:
    """Whether a share of nearest partners that time spans leave out is worth a word."""
    return outside > MUCH + 1 - MOST
