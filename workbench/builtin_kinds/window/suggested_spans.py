"""A window size that suits rows: windows that most nearest rows of a key share."""

from __future__ import annotations

from datetime import timedelta

import numpy as np

from workbench import times
from workbench.arrays import Numbers, Times
from workbench.builtin_kinds.suggested_spans import FEWEST, reach, rounded
from workbench.literals import Setting
from workbench.windows import Sliding, Tumbling

__all__ = ["suggested_spans"]

_SHARED = 0.9
"""The share of nearest pairs that windows of the size that is named hold."""
_FEW = 0.5
"""The share below which a size is named: every tumbling window parts some rows that are near each other."""


def suggested_spans(window: Tumbling | Sliding, apart: Times) -> tuple[str, dict[Setting, timedelta]] | None:
    """A size that suits rows better; see `workbench.kinds.Kind.suggested_spans`."""
    if len(apart) < FEWEST:
        return None
    size = times.micros(window.size)
    slide = times.micros(window.slide) if isinstance(window, Sliding) else None
    far = np.abs(apart)
    share = float(_shared(far, size, slide or size).mean())
    if share >= _FEW:
        return None
    near = np.minimum(far, reach(apart))
    wanted = rounded(int(near.mean() / (1 - _SHARED)) if slide is None else int(near.max()) + slide)
    if times.micros(wanted) <= size:
        return None
    words = f"about {share:.0%} of the left rows whose key is on the right share a window with the nearest such row"
    return words, {"size": wanted}


def _shared(far: Times, size: int, slide: int) -> Numbers:
    """How likely rows that are so far apart share a window, wherever windows begin.

    Examples
    --------
    >>> _shared(np.array([0, 5, 20]), 10, 10).tolist()
    [1.0, 0.5, 0.0]
    """
    likely: Numbers = np.clip((size - far) / slide, 0, 1)
    return likely
