"""Joins of session windows: every pair of rows with the same key in the same session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from workbench import times
from workbench.arrays import Times
from workbench.builtin_kinds.session import advice, flink, plan, reasons
from workbench.builtin_kinds.session.fixes import sessions
from workbench.builtin_kinds.session.verdicts import IN_ANOTHER_SESSION, SessionVerdict
from workbench.builtin_kinds.suggested_spans import FEWEST, is_much, reach, rounded
from workbench.fixes.search import Search
from workbench.joins import How, WindowJoin
from workbench.kinds import AGGREGATION, ENDED, Advised, AnyKind, Field, J, Kind, SharedRows, Sketch, Stretch
from workbench.literals import Setting, Side, Sides
from workbench.plan.names import Names, SideNames, interval
from workbench.quoting import column
from workbench.sources.name_checks import LATE_WINDOW
from workbench.streams import Stream
from workbench.untyped import Record, Value
from workbench.verdicts import Verdict
from workbench.windows import Session

__all__ = ["GAP", "KINDS", "SessionJoin", "Sessions"]

GAP = Field("gap", "Gap", "5 seconds", "The silence, on both sides, that ends a session.", "a gap", times.positive)


Windowed: TypeAlias = Any
"""A join of ``J`` with a session window: that these have one cannot be said of a type variable."""


class Sessions(Kind[J]):
    """A join whose description has a session window: both sides together make the sessions."""

    fields = (GAP,)
    merging = True
    operator = AGGREGATION
    state_bytes = 1_090
    window_noun = "session"
    missed: Mapping[Setting, Verdict] = MappingProxyType({"gap": SessionVerdict.OTHER_SESSION})
    parts = (reasons.REASONS,)

    def spans_of(self, join: Windowed) -> Any:
        return join.window

    def late_rows(self, join: Windowed, side: SideNames, rows: str) -> str:
        time = f"F.col({column(side.time)})"
        end = f"{time} + {interval(times.exact(join.window.gap))}"
        window = f'F.struct({time}.alias("start"), ({end}).alias("end"))'
        return f'    return {rows}.withColumn("{LATE_WINDOW}", {window}){ENDED}'

    def assign(self, join: Windowed, moments: Times) -> pd.DataFrame:
        """The window that each row opens by itself, ``[t, t + gap)``; they merge later."""
        end = moments + times.micros(join.window.gap)
        return pd.DataFrame({"row": np.arange(len(moments)), "start": moments, "end": end})

    def limits(self, join: Windowed) -> list[tuple[str, int]]:
        gap = times.micros(join.window.gap)
        return [("- gap", -gap), ("gap", gap)]

    def near_miss(self, join: Windowed, side: Side, change: int) -> str:
        return IN_ANOTHER_SESSION

    def window_word(self, join: Windowed) -> str:
        return "window"

    def fixes(self, search: Search) -> list[pd.DataFrame]:
        return [sessions(search, search.join.window)]

    def suggested_spans(self, join: Windowed, apart: Times) -> tuple[str, dict[Setting, timedelta]] | None:
        outside = float((np.abs(apart) >= times.micros(join.window.gap)).mean()) if len(apart) >= FEWEST else 0.0
        if not is_much(outside):
            return None
        words = f"{outside:.0%} of the left rows whose key is on the right are a gap or more from the nearest such row"
        return words, {"gap": rounded(reach(apart) + 1)}

    def advice(self, join: Windowed, streams: Sides[Stream], shared: SharedRows) -> Iterator[Advised]:
        yield from advice.short_gap(join.window, streams, shared)


class SessionJoin(Sessions[WindowJoin]):
    """Pairs in the same session."""

    name = "session"
    sketch = Sketch(
        "Rows of a key that follow each other within the gap, on either stream, are one session; each left row of a "
        "session is paired with each right row of it.",
        left=(1, 2.4, 6.6),
        right=(1.7, 3.2, 7.4, 9.6),
        pairs=((0, 0), (0, 1), (1, 0), (1, 1), (2, 2)),
        spans=(Stretch(1, 4.4), Stretch(6.6, 8.6), Stretch(9.6, 10.8)),
    )
    label = "Session window join"

    def describes(self, join: object) -> bool:
        return isinstance(join, WindowJoin) and isinstance(join.window, Session)

    def make(self, texts: Mapping[str, str], flags: Mapping[str, bool], how: How) -> WindowJoin:
        return WindowJoin(Session(**texts), how)

    def plan(self, join: WindowJoin, names: Names, finish: bool) -> str:
        return plan.render(join.window.gap, join.how, names, finish)  # type: ignore[union-attr]

    def drops_null_keys(self, join: WindowJoin) -> tuple[bool, bool]:
        drops = join.how in ("inner", "semi")
        return drops, drops

    def flink_query(self, join: WindowJoin, given: Mapping[str, Value], render: Callable[..., str]) -> str:
        function = flink.window_function(join.window, given["both"], given["left"].key)  # type: ignore[arg-type]
        return render("window.sql.jinja", functions=[function] * 2)

    def flink_java(self, join: WindowJoin) -> Record:
        return {"template": "windows.java.jinja", "assigner": flink.assigner(join.window)}  # type: ignore[arg-type]


KINDS: tuple[AnyKind, ...] = (SessionJoin(),)
