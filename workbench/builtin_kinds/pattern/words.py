"""The steps of a pattern in words, as lists and comparisons have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench import times
from workbench.conditions.shorthand import short
from workbench.patterns import Step

__all__ = ["in_words"]

_FOLLOWS = {
    "begin": "",
    "next": "next ",
    "followed_by": "then ",
    "followed_by_any": "then any ",
    "not_next": "next no ",
    "not_followed_by": "then no ",
}


def in_words(steps: Iterable[Step]) -> str:
    """Steps in words, such as ``order, then payment where amount > 5 once or more``."""
    return ", ".join(" ".join(_words(each)) for each in steps)


def _words(step: Step) -> Iterator[str]:
    yield _FOLLOWS[step.contiguity] + (f"({in_words(step.steps)})" if step.steps else step.name)
    if step.where is not None:
        yield f"where {short(step.where)}"
    if step.repeats and step.most is None:
        yield "once or more" if step.least == 1 else f"{step.least} times or more"
    elif step.repeats:
        yield f"{step.least} times" if step.least == step.most else f"{step.least} to {step.most} times"
    if step.inner != "followed_by":
        yield "one right after the other" if step.inner == "next" else "in any combination"
    if step.is_greedy:
        yield "as many as there are"
    if step.stop is not None:
        yield f"until {short(step.stop.where) or f'a row of the {step.stop.side} side'}"
    if step.within is not None:
        yield f"within {times.short(step.within)}"
    if step.is_optional:
        yield "or none"
