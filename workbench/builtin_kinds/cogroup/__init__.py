"""CoGroup: one result for each key and window with a row on either side, with the rows of both as lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workbench import times
from workbench.builtin_kinds.cogroup import plan
from workbench.builtin_kinds.session import Sessions
from workbench.builtin_kinds.session import flink as session_flink
from workbench.builtin_kinds.window import FixedWindows
from workbench.builtin_kinds.window import flink as window_flink
from workbench.joins import CoGroup, How
from workbench.kinds import AGGREGATION, Kind
from workbench.plan.names import Names, literal
from workbench.untyped import Record, Value
from workbench.windows import Session, Sliding, Tumbling

__all__ = ["KINDS", "FixedGroups", "SessionGroups"]


class _Groups:
    """What groups are, whatever their windows."""

    hows: tuple[How, ...] = ()
    no_how = "a coGroup gives both sides' rows as lists, with or without a partner: it has no join type"
    grouped = True
    reserved = frozenset({"window_start", "window_end", "left", "right", "batch"})


class FixedGroups(_Groups, FixedWindows[CoGroup]):
    """Groups of tumbling or sliding windows."""

    operator = AGGREGATION
    state_bytes = 630

    def __init__(self, window: type[Tumbling | Sliding]) -> None:
        super().__init__(window)
        self.name = f"cogroup_{window.__name__.lower()}"
        self.label = f"coGroup, {window.__name__.lower()} windows"

    def describes(self, join: object) -> bool:
        return isinstance(join, CoGroup) and isinstance(join.window, self.window)

    def make(self, texts: Mapping[str, str], flags: Mapping[str, bool], how: How) -> CoGroup:
        return CoGroup(self.window(**texts))

    def plan(self, join: CoGroup, names: Names, finish: bool) -> str:
        sides = (names.left, names.right)
        calls = [self.window_calls(join, literal("event_time"), "window", side.delay) for side in sides]
        return plan.render(calls[0][0], [call for _, call in calls], '"window"', names, finish)

    def flink_query(self, join: CoGroup, given: Mapping[str, Value], render: Callable[..., str]) -> str:
        function = window_flink.window_function(join.window, given["both"], "event_time", grouped=True)  # type: ignore[arg-type]
        return render("cogroup/flink.sql.jinja", functions=[function] * 2)

    def flink_java(self, join: CoGroup) -> Record:
        return {"template": "cogroup/flink.java.jinja", "assigner": window_flink.assigner(join.window)}  # type: ignore[arg-type]


class SessionGroups(_Groups, Sessions[CoGroup]):
    """Groups of sessions."""

    name = "cogroup_session"
    label = "coGroup, session windows"

    def describes(self, join: object) -> bool:
        return isinstance(join, CoGroup) and isinstance(join.window, Session)

    def make(self, texts: Mapping[str, str], flags: Mapping[str, bool], how: How) -> CoGroup:
        return CoGroup(Session(**texts))

    def plan(self, join: CoGroup, names: Names, finish: bool) -> str:
        gap = times.text(join.window.gap)  # type: ignore[union-attr]
        window = f'F.session_window("event_time", {literal(gap)}).alias("window")'
        return plan.render(f"sessions, {gap} gap", None, window, names, finish)

    def flink_query(self, join: CoGroup, given: Mapping[str, Value], render: Callable[..., str]) -> str:
        function = session_flink.window_function(join.window, given["both"], given["left"].key)  # type: ignore[arg-type]
        return render("cogroup/flink.sql.jinja", functions=[function] * 2)

    def flink_java(self, join: CoGroup) -> Record:
        return {"template": "cogroup/flink.java.jinja", "assigner": session_flink.assigner(join.window)}  # type: ignore[arg-type]


KINDS: tuple[Kind[Any], ...] = (FixedGroups(Tumbling), FixedGroups(Sliding), SessionGroups())
