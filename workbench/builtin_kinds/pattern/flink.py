"""A pattern as an expression of Flink's CEP library. User text enters only as quoted names and literals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbench.conditions import Condition, earlier
from workbench.flink.conditions import java
from workbench.flink.syntax import duration, java_text
from workbench.literals import SIDES, Side
from workbench.patterns import Pattern, Step, skip_of
from workbench.patterns.checking import kinds_of, side_of

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["EARLIER", "HELPERS", "expression"]

HELPERS = """
    /** What is asked of a row, and of the rows of the match before it. */
    private interface Asked extends Serializable {
        Boolean of(Row row, IterativeCondition.Context<Row> match) throws Exception;
    }

    /** A condition on the rows of a side. */
    private static IterativeCondition<Row> asks(int side, Asked asked) {
        return new IterativeCondition<Row>() {
            private static final long serialVersionUID = 1L;

            @Override
            public boolean filter(Row event, Context<Row> match) throws Exception {
                Row row = event.getFieldAs(1 + side);
                return row != null && Boolean.TRUE.equals(asked.of(row, match));
            }
        };
    }
"""
EARLIER = """
    /** A column of the last row that a step has taken before; null where it has taken none. */
    private static Object earlier(IterativeCondition.Context<Row> match, String step, int side, String column)
            throws Exception {
        Row last = null;
        for (Row event : match.getEventsForPattern(step)) {
            last = event.getFieldAs(side);
        }
        return last == null ? null : last.getField(column);
    }
"""

_CALLS = {
    "next": "next",
    "followed_by": "followedBy",
    "followed_by_any": "followedByAny",
    "not_next": "notNext",
    "not_followed_by": "notFollowedBy",
}
_SKIPS = {
    "no skip": "noSkip()",
    "to next": "skipToNext()",
    "past last event": "skipPastLastEvent()",
    "to first": "skipToFirst({})",
    "to last": "skipToLast({})",
}
_BREAK = "\n    "


def expression(pattern: Pattern, types: Mapping[Side, Mapping[str, pa.DataType]]) -> str:
    """The pattern as Java: an expression over rows of type ``Row``, which are a side, a left row and a right row.

    It calls ``asks``, of the template, and what conditions call.

    Parameters
    ----------
    pattern
        The pattern.
    types
        Of each side the types of its columns, by name.
    """

    def sequence(steps: tuple[Step, ...], skip: str) -> str:
        return _BREAK.join(said(each, skip if place == 0 else "") for place, each in enumerate(steps))

    def said(step: Step, skip: str) -> str:
        inner = sequence(step.steps, skip).replace(_BREAK, _BREAK + "    ") if step.steps else java_text(step.name)
        if step.contiguity == "begin":
            skipping = f", {skip}" if skip else ""
            text = f"Pattern.<Row>begin({inner}{skipping})" if not step.steps else f"Pattern.begin({inner}{skipping})"
        else:
            text = f".{_CALLS[step.contiguity]}({inner})"
        if not step.steps:
            text += f".where({asks(step.side or 'left', step.where)})"
        if step.within is not None:
            text += f".within({duration(step.within, 'within')}, WithinType.PREVIOUS_AND_CURRENT)"
        return text + quantified(step)

    def quantified(step: Step) -> str:
        text = ""
        if step.repeats and step.most is None:
            text = ".oneOrMore()" if step.least == 1 else f".timesOrMore({step.least})"
        elif step.repeats:
            text = f".times({step.least})" if step.least == step.most else f".times({step.least}, {step.most})"
        text += {"next": ".consecutive()", "followed_by_any": ".allowCombinations()"}.get(step.inner, "")
        text += ".optional()" * step.is_optional + ".greedy()" * step.is_greedy
        if step.stop is not None:
            text += f".until({asks(step.stop.side, step.stop.where)})"
        return text

    def asks(side: Side, where: Condition | None) -> str:
        if where is None:
            return f"asks({SIDES.index(side)}, (row, match) -> true)"
        before = {each.name: each for each in earlier(where)}

        def column(name: str) -> str:
            if name not in before:
                return f"row.getField({java_text(name)})"
            step = before[name].step
            place = 1 + SIDES.index(side_of(pattern, step))
            return f"earlier(match, {java_text(step)}, {place}, {java_text(before[name].column)})"

        text = java(where, kinds_of(pattern, side, where, types), column)
        return f"asks({SIDES.index(side)}, (row, match) -> {text})"

    word, step = skip_of(pattern)
    skip = "AfterMatchSkipStrategy." + _SKIPS[word].format(java_text(step))
    text = sequence(pattern.steps, skip)
    return text if pattern.within is None else f"{text}{_BREAK}.within({duration(pattern.within, 'within')})"
