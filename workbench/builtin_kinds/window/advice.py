"""What to know of sliding windows before a run."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from workbench import times
from workbench.kinds import Advised
from workbench.windows import Sliding

__all__ = ["many_windows"]

_MOST_WINDOWS = 8  # windows of a row from which on they are called many


def many_windows(window: Sliding) -> Iterator[Advised]:
    """Each row is in many windows."""
    size, slide = times.micros(window.size), times.micros(window.slide)
    windows = -(-size // slide)
    if windows >= _MOST_WINDOWS:
        value = times.text(timedelta(microseconds=-(-size // 4)))
        yield (
            f"each row is in {windows} windows, and Spark keeps it in state once for each",
            f"a slide of {value} makes four",
            "slide",
            value,
        )
