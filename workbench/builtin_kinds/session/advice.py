"""What to know of sessions before a run."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import numpy as np

from workbench import times
from workbench.kinds import Advised, SharedRows
from workbench.literals import Sides
from workbench.streams import Stream
from workbench.windows import Session

__all__ = ["short_gap"]

_STEP = 100_000  # gaps are rounded up to tenths of a second


def short_gap(window: Session, streams: Sides[Stream], shared: SharedRows) -> Iterator[Advised]:
    """The gap is below the usual distance of events."""
    key = np.concatenate(shared.keys)
    moments = np.concatenate([each.event_times for each in streams.values()])[key >= 0]
    key = key[key >= 0]
    order = np.lexsort((moments, key))
    steps = np.diff(moments[order])[np.diff(key[order]) == 0]
    if not len(steps) or np.median(steps) <= times.micros(window.gap):
        return
    usual = int(np.median(steps))
    value = times.text(timedelta(microseconds=-(-2 * usual // _STEP) * _STEP))
    yield (
        f"the session gap of {times.text(window.gap)} is below the usual distance of two events of one key, "
        f"{times.short(timedelta(microseconds=usual))}: most sessions will have one event",
        f"a gap of {value}, twice the usual distance, keeps a visit together",
        "gap",
        value,
    )
