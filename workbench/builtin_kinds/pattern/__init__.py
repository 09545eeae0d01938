"""Patterns: sequences of rows of both sides, in order of event time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from workbench import times
from workbench.builtin_kinds.interval import WithoutWindows
from workbench.builtin_kinds.pattern import fixes as pattern_fixes
from workbench.builtin_kinds.pattern import flink, operator_model, plan, reasons
from workbench.builtin_kinds.pattern.verdicts import ALONE
from workbench.builtin_kinds.pattern.words import in_words
from workbench.errors import ArgumentError, check_whole, excerpt, read_whole, wrong
from workbench.fixes.search import Search
from workbench.joins import How
from workbench.kinds import LATE_ROWS, AnyKind, Field, Operator, RowsInLists, Sketch, Stretch, Text
from workbench.literals import Setting, Side
from workbench.patterns import MOST_HELD, Pattern, read_steps
from workbench.patterns.checking import check_streams, of_sides
from workbench.plan.names import Names
from workbench.streams import Stream, pair_types
from workbench.untyped import Record, Value
from workbench.verdicts import UNTIL_PASSED

__all__ = ["KINDS", "Endless", "Within"]

_EXAMPLE = (
    'wb.step("sign_in", side="left", where=wb.col("action") == "sign_in"), '
    'wb.followed_by("declined", side="right", where=(wb.col("status") == "declined") & (wb.col("amount") < 5))'
    ".one_or_more(), "
    'wb.followed_by("paid", side="right", where=(wb.col("status") == "accepted") & (wb.col("amount") > 500))'
)
_STEPS_HELP = (
    "What follows what: wb.step, then wb.next (the very next row), wb.followed_by (the next one that fits) or "
    "wb.followed_by_any (any later one that fits); wb.not_next and wb.not_followed_by for what must not come; "
    ".one_or_more(), .times(2), .optional(), .greedy() say how often."
)
_SKIP_HELP = "What goes when a match comes out: no skip, to next, past last event, to first <step>, to last <step>."
_MOST_HELP = "How many rows the partial matches of a key may hold, before the run ends with an error."
_WITHIN_HELP = "The last row of a match comes less than this after the first one."


def _form(first: str) -> Any:
    from workbench.builtin_kinds.pattern.builder import PatternBuilder  # when needed: the page is slow to import

    return PatternBuilder(first)


def _read_skip(text: str, argument: str) -> str:
    if not text.strip():
        raise wrong(argument, text, "use no skip, to next, past last event, to first <step> or to last <step>")
    return text.strip()


def _read_most(text: str, argument: str) -> int:
    number = read_whole(argument, text, "use a whole number")
    check_whole(argument, number)
    return number


FOLLOWING = Operator(
    "keys with rows",
    LATE_ROWS,
    10,
    is_processor=True,
    has_timers=True,
    state=RowsInLists("kept"),
    counts_keys=True,
)
"""A processor that holds rows until the watermark has passed them, and then as long as a partial match has them."""


class _Patterns(WithoutWindows[Pattern]):
    """What both have in common."""

    scenario = "user_actions"
    texts = (
        Text("steps", "Steps", _EXAMPLE, _STEPS_HELP, read_steps, is_long=True, form=_form),
        Text("skip", "Skip", "past last event", _SKIP_HELP, _read_skip),
        Text("most", "Most rows held", f"{MOST_HELD}", _MOST_HELP, _read_most),
    )
    hows: tuple[How, ...] = ()
    no_how = "a match has a list of rows for each step: a pattern has no join type"
    grouped = True
    not_compared = "of the same rows on time Flink's CEP library finds the same matches: see wb.flink.java"
    operator = FOLLOWING
    no_ttl = "whose partial matches last as long as its within says"
    parts = (operator_model.MODEL, reasons.REASONS)
    reserved = frozenset({"start", "end", "waited_for", "batch"})

    def match_columns(self, join: Pattern) -> tuple[tuple[str, Side], ...]:
        return tuple((each.name, each.side or "left") for each in join.taken)

    def make(self, texts: Mapping[str, str], flags: Mapping[str, bool], how: How) -> Pattern:
        read = {each.argument: each.read(texts[each.argument], each.argument) for each in self.texts}
        return Pattern(*read.pop("steps"), within=texts.get("within") if self.fields else None, **read)

    def shown(self, join: Pattern) -> Record:
        return self.arguments(join) | {"steps": in_words(join.steps)}

    def typed(self, join: Pattern) -> dict[str, str | bool]:
        steps = ", ".join(map(repr, join.steps))
        within = {} if join.within is None else {"within": times.text(join.within)}
        return {"steps": steps, "skip": join.skip, "most": str(join.most), **within}

    def reaching(self, join: Pattern) -> Mapping[Setting, int]:
        waits_for_nothing = join.steps[-1].contiguity == "not_followed_by"  # the longer the fewer matches
        return {} if waits_for_nothing else {"within": 1}

    def changed(self, join: Pattern, **spans: Value) -> Pattern:
        within = spans.get("within", join.within)
        return Pattern(*join.steps, within=within, skip=join.skip, most=join.most)

    def check(self, join: Pattern, left: Stream, right: Stream) -> None:
        super().check(join, left, right)
        check_streams(join, of_sides(pair_types(left, right)), tuple(left.key))

    def plan(self, join: Pattern, names: Names, finish: bool) -> str:
        return plan.render(join, names, finish)

    def flink_query(self, join: Pattern, given: Mapping[str, Value], render: Callable[..., str]) -> str:
        raise ArgumentError(
            f"join: got {excerpt(join)}; Flink SQL's MATCH_RECOGNIZE is of one table: "
            "a pattern over two streams is a job of the DataStream API (wb.flink.java)"
        )

    def flink_java(self, join: Pattern) -> Record:
        return {"template": "pattern/flink.java.jinja", "more": {"steps": self.match_columns(join)}}

    def flink_variables(self, join: Pattern, types: Mapping[str, Value]) -> Record:
        expression = flink.expression(join, of_sides(types))
        earlier = flink.EARLIER if "earlier(match" in expression else ""
        return {"pattern": expression, "asks": flink.HELPERS, "earlier": earlier}

    def held_by(self, join: Pattern, side: Side) -> str:
        return "the watermark, and then a partial match"

    def waiting(self, join: Pattern, side: Side) -> str:
        return UNTIL_PASSED

    def alone(self, join: Pattern, side: Side) -> str:
        return ALONE

    def waits(self, join: Pattern, side: Side) -> int:
        return 0 if join.within is None else times.micros(join.within)

    def fixes(self, search: Search) -> list[pd.DataFrame]:
        return [pattern_fixes.delays(search), pattern_fixes.within(search)]


class Within(_Patterns):
    """Patterns whose matches come to their end within a time."""

    name = "pattern"
    label = "Pattern"
    sketch = Sketch(
        "Finds rows of a key that follow each other as a pattern says, such as a left row and then a right row, within "
        "a time; each match comes out once.",
        left=(1, 5.6),
        right=(2.6, 9),
        pairs=((0, 0),),
        spans=(Stretch(1, 3.6), Stretch(5.6, 8.2)),
    )
    fields = (Field("within", "Within", "15 minutes", _WITHIN_HELP, "a within", times.positive),)

    def describes(self, join: object) -> bool:
        return isinstance(join, Pattern) and join.within is not None


class Endless(_Patterns):
    """Patterns that wait forever."""

    name = "pattern_without_end"
    label = "Pattern, however long"
    sketch = Sketch(
        "Finds rows of a key that follow each other as a pattern says, however much time is between them.",
        left=(1, 5.6),
        right=(2.6, 9),
        pairs=((0, 0), (1, 1)),
    )

    def describes(self, join: object) -> bool:
        return isinstance(join, Pattern) and join.within is None


KINDS: tuple[AnyKind, ...] = (Within(), Endless())
