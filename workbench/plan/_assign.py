"""The lines that give each row its tumbling or sliding window."""

from __future__ import annotations

from datetime import timedelta

from workbench import times
from workbench.plan._names import interval, literal
from workbench.windows import Sliding, Tumbling, Window, grid

_INDENT = " " * 8


def window_calls(window: Window, time: str, name: str, delay: timedelta) -> tuple[str, str]:
    """The window in words, and the method calls that add it as a column.

    Parameters
    ----------
    window
        `Tumbling` or `Sliding`.
    time
        The event-time column, as Python source.
    name
        The window column to add.
    delay
        The stream's watermark delay.
    """
    assert isinstance(window, Tumbling | Sliding)  # noqa: S101 - sessions have a plan of their own
    size, slide, offset = grid(window)
    words = f"{times.text(size)}, every {times.text(slide)}" if slide != size else f"{times.text(size)}, tumbling"
    if slide <= size:
        lengths = [size, slide, offset] if offset else [size, slide] if slide != size else [size]
        call = _call(name, time, lengths)
        return words, call
    lines = [
        _call(name, time, [slide, slide, offset] if offset else [slide]),
        # the gap between two windows: Spark has windows without gaps only
        f'{_INDENT}.where(F.col({time}) < F.col("{name}.start") + {interval(size)})',
        f'{_INDENT}.withColumn("{name}", F.struct(F.col("{name}.start"), (F.col("{name}.start") + {interval(size)}).alias("end"))'
        f'.alias("{name}", metadata={{"spark.watermarkDelayMs": {times.micros(delay) // 1000}}}))',
    ]
    return words, "\n".join(lines)


def _call(name: str, time: str, lengths: list[timedelta]) -> str:
    arguments = ", ".join([time, *(literal(times.text(each)) for each in lengths)])
    return f'{_INDENT}.withColumn("{name}", F.window({arguments}))'
