"""Tumbling and sliding windows as Flink says them."""

from __future__ import annotations

from workbench import times
from workbench.builtin_kinds.window.fixed_windows import grid
from workbench.errors import ArgumentError, excerpt
from workbench.flink.syntax import duration, interval
from workbench.quoting import backticks
from workbench.windows import Sliding, Tumbling

__all__ = ["assigner", "window_function"]


def window_function(window: Tumbling | Sliding, table: str, time: str, grouped: bool = False) -> str:
    """The rows of a table, each with its windows: Flink's windowing table-valued function.

    Raises
    ------
    ArgumentError
        If the rows are to be grouped and Flink has no such windows then.
    """
    size, slide, offset = grid(window)
    if isinstance(window, Tumbling):
        name, lengths = "TUMBLE", [interval(size, "size")]
    else:
        name, lengths = "HOP", [interval(slide, "slide"), interval(size, "size")]
        if grouped and size % slide:
            raise ArgumentError(
                f"slide: got {excerpt(times.text(slide))}; Flink SQL groups sliding windows only where the slide "
                f"divides the size, {excerpt(times.text(size))}: the DataStream job has no such rule"
            )
    if offset:
        lengths.append(interval(offset, "offset"))
    return f"{name}(TABLE {backticks(table)}, DESCRIPTOR({backticks(time)}), {', '.join(lengths)})"


def assigner(window: Tumbling | Sliding) -> str:
    """Flink's window assigner as Java source."""
    size, slide, offset = grid(window)
    lengths = [duration(size, "size")]
    if isinstance(window, Sliding):
        lengths.append(duration(slide, "slide"))
    if offset:
        lengths.append(duration(offset, "offset"))
    return f"{type(window).__name__}EventTimeWindows.of({', '.join(lengths)})"
