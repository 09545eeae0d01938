"""Session windows as Flink says them."""

from __future__ import annotations

from workbench.flink.syntax import duration, interval
from workbench.quoting import backticks
from workbench.windows import Session

__all__ = ["assigner", "window_function"]


def window_function(window: Session, table: str, keys: tuple[str, ...]) -> str:
    """The rows of both sides, in one table, each with its session: Flink's windowing table-valued function."""
    parts = ", ".join(backticks(f"key_{place}") for place, _ in enumerate(keys, 1))
    time = backticks("event_time")
    gap = interval(window.gap, "gap")
    return f"SESSION(TABLE {backticks(table)} PARTITION BY ({parts}), DESCRIPTOR({time}), {gap})"


def assigner(window: Session) -> str:
    """Flink's window assigner as Java source."""
    return f"EventTimeSessionWindows.withGap({duration(window.gap, 'gap')})"
