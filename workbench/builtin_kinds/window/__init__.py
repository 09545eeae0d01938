"""Joins of tumbling and sliding windows: every pair of rows with the same key in the same window."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any, TypeAlias

import pandas as pd

from workbench import times
from workbench.arrays import Times
from workbench.builtin_kinds.window import advice, flink, plan
from workbench.builtin_kinds.window.fixed_windows import assign, window_calls
from workbench.builtin_kinds.window.fixes import windows
from workbench.builtin_kinds.window.suggested_spans import suggested_spans
from workbench.fixes import delays
from workbench.fixes.search import Search
from workbench.joins import How, WindowJoin, how_of, where_of
from workbench.kinds import ENDED, WHERE, Advised, AnyKind, Field, J, Kind, SharedRows, Sketch, Stretch
from workbench.literals import Setting, Side, Sides
from workbench.plan.names import Names, SideNames
from workbench.quoting import column
from workbench.sources.name_checks import LATE_WINDOW
from workbench.streams import Stream
from workbench.untyped import Record, Value
from workbench.windows import Sliding, Tumbling

__all__ = ["KINDS", "OFFSET", "SIZE", "SLIDE", "FixedWindowJoin", "FixedWindows", "OwnWindows"]

SIZE = Field("size", "Size", "10 seconds", "How long a window is.", "a window size", times.positive)
SLIDE = Field(
    "slide",
    "Slide",
    "5 seconds",
    "From one window's start to the next. Below the size, windows overlap.",
    "a slide",
    times.positive,
)
OFFSET = Field("offset", "Offset", "0 seconds", "Shifts every window from the full minute or hour.", "an offset")


Windowed: TypeAlias = Any
"""A join of ``J``, whose window is one of the class: that these have one cannot be said of a type variable."""


class OwnWindows(Kind[J]):
    """A join of windows that each row is in by itself: a stream-stream join on the key and the window.

    A kind says how a row finds its windows, twice: for the model in `assign`, for Spark in `window_calls`.
    """

    def window_calls(self, join: J, time: str, name: str, delay: timedelta) -> tuple[str, str]:
        """The windows in words, and the method calls that add them as a column.

        Parameters
        ----------
        join
            The join.
        time
            The event-time column, as Python source.
        name
            The window column to add.
        delay
            The stream's watermark delay.
        """
        raise NotImplementedError

    def plan(self, join: J, names: Names, finish: bool) -> str:
        time = '"event_time"'
        sides = ((names.left, "window"), (names.right, "other_window"))
        calls = [self.window_calls(join, time, name, side.delay) for side, name in sides]
        return plan.render(calls, how_of(join), names, finish, where_of(join))

    def late_rows(self, join: J, side: SideNames, rows: str) -> str:
        _, calls = self.window_calls(join, column(side.time), LATE_WINDOW, side.delay)
        return f"    windows = (\n        {rows}\n{calls}\n    )\n    return windows{ENDED}"

    def fixes(self, search: Search) -> list[pd.DataFrame]:
        return [delays(search)]


class FixedWindows(OwnWindows[J]):
    """A join whose description has a tumbling or sliding window."""

    def __init__(self, window: type[Tumbling | Sliding]) -> None:
        self.window = window
        self.fields = (SIZE, SLIDE, OFFSET) if window is Sliding else (SIZE, OFFSET)

    def spans_of(self, join: Windowed) -> Any:
        return join.window

    def window_calls(self, join: Windowed, time: str, name: str, delay: timedelta) -> tuple[str, str]:
        return window_calls(join.window, time, name, delay)

    def assign(self, join: Windowed, moments: Times) -> pd.DataFrame:
        return assign(join.window, moments)

    def waits(self, join: Windowed, side: Side) -> int:
        return times.micros(join.window.size)

    def window_word(self, join: Windowed) -> str:
        return "last window" if self.window is Sliding else "window"

    def limits(self, join: Windowed) -> list[tuple[str, int]]:
        size = times.micros(join.window.size)
        return [("- size", -size), ("size", size)]

    def fixes(self, search: Search) -> list[pd.DataFrame]:
        return [*super().fixes(search), windows(search, search.join.window)]

    def suggested_spans(self, join: Windowed, apart: Times) -> tuple[str, dict[Setting, timedelta]] | None:
        return suggested_spans(join.window, apart)

    def advice(self, join: Windowed, streams: Sides[Stream], shared: SharedRows) -> Iterator[Advised]:
        if self.window is Sliding:
            yield from advice.many_windows(join.window)


_SKETCHES = {
    Tumbling: Sketch(
        "Pairs rows of a key that are in the same window; windows have one size and do not overlap.",
        left=(1, 2.6, 7),
        right=(2, 3.4, 8),
        pairs=((0, 0), (1, 0), (2, 2)),
        spans=(Stretch(0, 3), Stretch(3, 6), Stretch(6, 9)),
    ),
    Sliding: Sketch(
        "Pairs rows of a key that are in the same window; windows overlap, and a pair comes out once for each window "
        "that both rows are in.",
        left=(1, 5),
        right=(3, 7.4),
        pairs=((0, 0), (1, 0), (1, 1)),
        spans=(Stretch(0, 4), Stretch(2, 6), Stretch(4, 8), Stretch(6, 10)),
    ),
}


class FixedWindowJoin(FixedWindows[WindowJoin]):
    """Pairs in the same tumbling or sliding window."""

    def __init__(self, window: type[Tumbling | Sliding]) -> None:
        super().__init__(window)
        self.name = window.__name__.lower()
        self.label = f"{window.__name__} window join"
        self.sketch = _SKETCHES[window]
        self.texts = (WHERE,)

    def describes(self, join: object) -> bool:
        return isinstance(join, WindowJoin) and isinstance(join.window, self.window)

    def make(self, texts: Mapping[str, str], flags: Mapping[str, bool], how: How) -> WindowJoin:
        spans = {each.argument: texts[each.argument] for each in self.fields}
        return WindowJoin(self.window(**spans), how, WHERE.read(texts.get("where", ""), "where"))

    def flink_query(self, join: WindowJoin, given: Mapping[str, Value], render: Callable[..., str]) -> str:
        sides = zip(given["names"], (given["left"], given["right"]), strict=True)
        window: Any = join.window
        functions = [flink.window_function(window, name, stream.time) for name, stream in sides]
        return render("window.sql.jinja", functions=functions)

    def flink_java(self, join: WindowJoin) -> Record:
        return {"template": "windows.java.jinja", "assigner": flink.assigner(join.window)}  # type: ignore[arg-type]


KINDS: tuple[AnyKind, ...] = (FixedWindowJoin(Tumbling), FixedWindowJoin(Sliding))
