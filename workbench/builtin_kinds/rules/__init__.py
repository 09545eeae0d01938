"""Rules joins: each left row with the rules in force that it meets; the right stream holds the rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from workbench.builtin_kinds.interval import WithoutWindows
from workbench.builtin_kinds.rules import fields, in_force, operator_model, plan, reasons
from workbench.builtin_kinds.rules.verdicts import IN_FORCE, IN_FORCE_ON_ARRIVAL, LEFT_ALONE, RIGHT_ALONE
from workbench.errors import ArgumentError, check_whole, excerpt, read_whole, wrong
from workbench.fixes import delays
from workbench.fixes.search import Search
from workbench.joins import MOST_COPIES, AsOf, How, Join, RulesJoin
from workbench.kinds import LATE_ROWS, AnyKind, KindPanel, Operator, PanelOf, RowsInMaps, Sketch, Stretch, Text
from workbench.literals import Side
from workbench.plan.names import Names
from workbench.streams import Stream
from workbench.untyped import Record, Value
from workbench.verdicts import UNTIL_PASSED

__all__ = ["KINDS", "RulesByArrival", "RulesByEventTime"]


def _read_copies(text: str, argument: str) -> int | None:
    if not text.strip():
        return None
    number = read_whole(argument, text, "use a whole number, or nothing where rules are for rows of their key")
    check_whole(argument, number, most=MOST_COPIES)
    return number


def _read_name(text: str, argument: str) -> str:
    if not text:
        raise wrong(argument, text, "give the name of a column of the right stream")
    return text


def _read_withdrawn(text: str, argument: str) -> str | None:
    return text or None


_TEXTS = (
    Text("rule", "Rule", "rule_id", "The right column with the rule's name; its latest version counts.", _read_name),
    Text("field", "Field", "field", "The right column with the name of the left column that is compared.", _read_name),
    Text("op", "Comparison", "op", "The right column with the comparison: <, <=, >, >=, = or !=.", _read_name),
    Text("value", "Value", "value", "The right column with what is compared with.", _read_name),
    Text(
        "withdrawn", "Withdrawn", "withdrawn", "The right column that is true where a rule is withdrawn.",
        _read_withdrawn, "never",
    ),
    Text(
        "copies", "Copies", "", "A number: rules apply to rows of any key, and state holds this many copies of each.",
        _read_copies, "by key",
    ),
)  # fmt: skip


BY_EVENT_TIME = Operator(
    "rows, those of rules once for each copy,",
    LATE_ROWS,
    1,
    is_processor=True,
    has_timers=True,
    state=RowsInMaps((("left", "waiting"), ("right", "versions"))),
)
"""A processor that holds the versions of rules, and rows until the watermark has passed them."""
BY_ARRIVAL = Operator(
    "rules, once for each copy,",
    "rows that are late: none ever is",
    1,
    is_processor=True,
    state=RowsInMaps((("right", "versions"),)),
)
"""A processor that holds the rules that have arrived, and nothing else."""


def _editor() -> KindPanel:
    from workbench.builtin_kinds.rules.editor import RuleEditor  # only the page has it: ipywidgets

    return RuleEditor()


_PANEL = PanelOf(_editor)


class _Rules(WithoutWindows[RulesJoin]):
    """What both have in common."""

    scenario = "readings_thresholds"
    texts = _TEXTS
    hows: tuple[How, ...] = ()
    no_how = "a row comes out once for each rule that it meets: a rules join has no other join type"
    told_by_name = frozenset({"as_of"})
    no_ttl = "whose rules stay until they are replaced"
    not_compared = (
        "Flink's broadcast state drops no row as late: it is what as_of='arrival' gives; by event time the job of "
        "wb.flink.java drops late rows by Flink's watermark"
    )
    as_of: AsOf

    def describes(self, join: object) -> bool:
        return isinstance(join, RulesJoin) and join.as_of == self.as_of

    def make(self, texts: Mapping[str, str], flags: Mapping[str, bool], how: How) -> RulesJoin:
        read = {each.argument: each.read(texts[each.argument], each.argument) for each in self.texts}
        return RulesJoin(as_of=self.as_of, **read)

    def right_copies(self, join: RulesJoin) -> int | None:
        return join.copies

    def check(self, join: RulesJoin, left: Stream, right: Stream) -> None:
        if join.copies is None:
            super().check(join, left, right)
        fields.check(join, left, right)

    def plan(self, join: RulesJoin, names: Names, finish: bool) -> str:
        return plan.render(join, names, finish)

    def assignment(self, join: RulesJoin) -> Join:  # type: ignore[override]
        return join

    def drops_null_keys(self, join: RulesJoin) -> tuple[bool, bool]:
        return join.copies is None, join.copies is None

    def flink_query(self, join: RulesJoin, given: Mapping[str, Value], render: Callable[..., str]) -> str:
        raise ArgumentError(
            f"join: got {excerpt(join)}; Flink SQL has no broadcast state: it is a job of the "
            "DataStream API (wb.flink.java)"
        )

    def flink_java(self, join: RulesJoin) -> Record:
        by_key = join.copies is None
        return {"template": "rules/flink.java.jinja", "more": {"keyed": (by_key or join.as_of == "event time", by_key)}}

    def flink_variables(self, join: RulesJoin, types: Mapping[str, Value]) -> Record:
        numbers, compared = in_force.compared(join, types)
        return {"rules": True, "numbers": numbers, "compared": compared}

    def alone(self, join: RulesJoin, side: Side) -> str:
        return RIGHT_ALONE if side == "right" else LEFT_ALONE

    def reach(self, join: RulesJoin) -> int:
        return 0

    def waits(self, join: RulesJoin, side: Side) -> int:
        return 0


class RulesByEventTime(_Rules):
    """The rules in force at a row's event time: it waits until the watermark has passed it."""

    name = "rules"
    label = "Rules join"
    sketch = Sketch(
        "Right rows are rules: each left row comes out with every rule that is in force at its event time and that it "
        "meets.",
        left=(2.4, 6, 8),
        right=(1, 4.8),
        pairs=((0, 0), (1, 1), (2, 1)),
        spans=(Stretch(1, 4.8, "first version"), Stretch(4.8, 10, "second version")),
    )
    operator = BY_EVENT_TIME
    parts = (operator_model.BY_EVENT_TIME, operator_model.MEETING, reasons.REASONS, _PANEL)
    as_of = "event time"

    def held_by(self, join: RulesJoin, side: Side) -> str:
        return "the watermark" if side == "left" else "the rule: its latest version stays until another takes its place"

    def waiting(self, join: RulesJoin, side: Side) -> str:
        return IN_FORCE if side == "right" else UNTIL_PASSED

    def fixes(self, search: Search) -> list[pd.DataFrame]:
        left, right = search.assignments["left"], search.assignments["right"]
        pairs = in_force.in_force(search.join, left, right)
        return [delays(search, pairs, left["start"].to_numpy()[pairs[0]])]


class RulesByArrival(_Rules):
    """The rules that have arrived: nothing waits, and nothing is late."""

    name = "rules_on_arrival"
    label = "Rules join by arrival"
    sketch = Sketch(
        "Right rows are rules: each left row comes out at once, with every rule that has arrived by then and that it "
        "meets.",
        left=(2.4, 6, 8),
        right=(1, 4.8),
        pairs=((0, 0), (1, 1), (2, 1)),
        spans=(Stretch(1, 4.8, "first version"), Stretch(4.8, 10, "second version")),
    )
    operator = BY_ARRIVAL
    parts = (operator_model.BY_ARRIVAL, operator_model.MEETING, reasons.REASONS_BY_ARRIVAL, _PANEL)
    as_of = "arrival"
    drops_late = False

    def held_by(self, join: RulesJoin, side: Side) -> str:
        return "the rule: its last version stays until another comes"

    def waiting(self, join: RulesJoin, side: Side) -> str:
        return IN_FORCE_ON_ARRIVAL


KINDS: tuple[AnyKind, ...] = (RulesByEventTime(), RulesByArrival())
