"""CoGroup: one result for each key and window with a row on either side, with the rows of both as lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from workbench import times
from workbench.builtin_kinds.cogroup import plan
from workbench.builtin_kinds.session import Sessions
from workbench.builtin_kinds.session import flink as session_flink
from workbench.builtin_kinds.window import FixedWindows
from workbench.builtin_kinds.window import flink as window_flink
from workbench.joins import CoGroup, How
from workbench.kinds import AGGREGATION, AnyKind, Sketch, Stretch
from workbench.plan.names import Names
from workbench.quoting import literal
from workbench.untyped import Record, Value
from workbench.windows import Session, Sliding, Tumbling

__all__ = ["KINDS", "FixedGroups", "SessionGroups"]


class _Groups:
    """What groups are, whatever their windows."""

    hows: tuple[How, ...] = ()
    no_how = "a coGroup gives both sides' rows as lists, with or without a partner: it has no join type"
    grouped = True
    reserved = frozenset({"window_start", "window_end", "left", "right", "batch"})


_SENTENCE = (
    "Gives one result for each key and {}: the rows of both streams in it, as two lists, of which one may be empty."
)
_SKETCHES = {
    Tumbling: Sketch(
        _SENTENCE.format("window"),
        left=(1, 2.6, 7),
        right=(2, 3.4, 8),
        spans=(Stretch(0, 3, "2 | 1"), Stretch(3, 6, "0 | 1"), Stretch(6, 9, "1 | 1")),
    ),
    Sliding: Sketch(
        _SENTENCE.format("window, where windows overlap"),
        left=(1, 5),
        right=(3, 7.4),
        spans=(Stretch(0, 4, "1 | 1"), Stretch(2, 6, "1 | 1"), Stretch(4, 8, "1 | 1"), Stretch(6, 10, "0 | 1")),
    ),
}


class FixedGroups(_Groups, FixedWindows[CoGroup]):
    """Groups of tumbling or sliding windows."""

    operator = AGGREGATION
    state_bytes = 630

    def __init__(self, window: type[Tumbling | Sliding]) -> None:
        super().__init__(window)
        self.name = f"cogroup_{window.__name__.lower()}"
        self.label = f"coGroup, {window.__name__.lower()} windows"
        self.sketch = _SKETCHES[window]

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
    sketch = Sketch(
        _SENTENCE.format("session"),
        left=(1, 2.4, 6.6),
        right=(1.7, 3.2, 7.4, 9.6),
        spans=(Stretch(1, 4.4, "2 | 2"), Stretch(6.6, 8.6, "1 | 1"), Stretch(9.6, 10.8)),
    )

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


KINDS: tuple[AnyKind, ...] = (FixedGroups(Tumbling), FixedGroups(Sliding), SessionGroups())
