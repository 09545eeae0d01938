"""Windows of fixed starts, tumbling or sliding: which of them hold a row, and the lines of a plan that say so."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pandas as pd

from workbench import times
from workbench.arrays import Times
from workbench.model import check_size
from workbench.plan.names import interval
from workbench.quoting import literal
from workbench.windows import Sliding, Tumbling

__all__ = ["assign", "grid", "window_calls"]

_INDENT = " " * 8


def grid(window: Tumbling | Sliding) -> tuple[timedelta, timedelta, timedelta]:
    """Size, slide and offset of windows whose starts are fixed; the offset from zero to below the slide.

    Examples
    --------
    >>> grid(Tumbling("10 seconds", "-3 seconds"))[2]
    datetime.timedelta(seconds=7)
    """
    size = times.exact(window.size)
    slide = times.exact(window.slide) if isinstance(window, Sliding) else size
    return size, slide, times.exact(window.offset) % slide


def assign(window: Tumbling | Sliding, moments: Times) -> pd.DataFrame:
    """The windows of rows with these event times, as in `Kind.assign`."""
    size, slide, offset = map(times.micros, grid(window))
    count = int((((moments - offset) // slide) - ((moments - offset - size) // slide)).sum()) if len(moments) else 0
    check_size(
        count,
        f"slide: {window!r} puts {len(moments):,} rows into windows {count:,} times",
        "use a longer slide, a shorter size, or fewer rows (Spark would hold each of them in state)",
    )
    last = moments - np.mod(moments - offset, slide)
    most = -(-size // slide)
    start = (last[:, None] - slide * np.arange(most)[::-1]).ravel()
    row = np.repeat(np.arange(len(moments)), most)
    if size % slide:  # the first of the windows may have ended, which are else as many for each row
        inside = start + size > moments[row]
        start, row = start[inside], row[inside]
    return pd.DataFrame({"row": row, "start": start, "end": start + size}, copy=False)


def window_calls(window: Tumbling | Sliding, time: str, name: str, delay: timedelta) -> tuple[str, str]:
    """The window in words, and the method calls that add it as a column, as in `OwnWindows.window_calls`."""
    size, slide, offset = grid(window)
    description = f"{times.text(size)}, every {times.text(slide)}" if slide != size else f"{times.text(size)}, tumbling"
    if slide <= size:
        lengths = [size, slide, offset] if offset else [size, slide] if slide != size else [size]
        call = _call(name, time, lengths)
        return description, call
    lines = [
        _call(name, time, [slide, slide, offset] if offset else [slide]),
        # the gap between two windows: Spark has windows without gaps only
        f'{_INDENT}.where(F.col({time}) < F.col("{name}.start") + {interval(size)})',
        f'{_INDENT}.withColumn("{name}", F.struct(F.col("{name}.start"), (F.col("{name}.start") + {interval(size)}).alias("end"))'
        f'.alias("{name}", metadata={{"spark.watermarkDelayMs": {times.micros(delay) // 1000}}}))',
    ]
    return description, "\n".join(lines)


def _call(name: str, time: str, lengths: list[timedelta]) -> str:
    arguments = ", ".join([time, *(literal(times.text(each)) for each in lengths)])
    return f'{_INDENT}.withColumn("{name}", F.window({arguments}))'
