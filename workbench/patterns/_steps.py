"""The steps of a pattern, and how each follows the one before it."""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import pairwise
from typing import Literal

from workbench import times
from workbench.conditions import Condition, plain_text
from workbench.errors import ArgumentError, check_whole, excerpt, one_of, wrong
from workbench.literals import SIDES, Side
from workbench.times import Span

__all__ = [
    "Contiguity",
    "Step",
    "followed_by",
    "followed_by_any",
    "group",
    "next",
    "not_followed_by",
    "not_next",
    "step",
]

Contiguity = Literal["begin", "next", "followed_by", "followed_by_any", "not_next", "not_followed_by"]
"""How a step follows the one before it; ``begin``: there is none."""
Inner = Literal["next", "followed_by", "followed_by_any"]
"""How the rows of a step that takes several follow each other."""

MOST_TIMES = 100
"""How often a step is repeated at most, by number."""
_CALLS: dict[Contiguity, str] = {"begin": "step"}
_NEGATIVE = ("not_next", "not_followed_by")


@dataclass(frozen=True)
class Until:
    """The row that ends a repetition: one of a side, that satisfies a condition if there is one."""

    side: Side
    where: Condition | None = None


@dataclass(frozen=True, repr=False)
class Step:
    """A step of a pattern. Made by `step`, `next`, `followed_by`, `followed_by_any`, `not_next`, `not_followed_by`.

    Its methods say how often it is taken; each gives another step, as in
    ``wb.followed_by("payment", side="right").one_or_more().greedy()``.

    Attributes
    ----------
    name
        What its rows are called in the output; empty for a group.
    contiguity
        How it follows the step before it.
    side, where
        Which rows it takes.
    within
        How long after the row before it its row may come; less than that.
    steps
        Of a group, its steps.
    least, most
        How often it is taken; ``most`` is None for any number.
    repeats
        Whether a quantifier says how often.
    inner
        How its repetitions follow each other.
    is_optional, is_greedy
        Whether it may be left out; whether it takes as many rows as it can.
    stop
        The row that ends its repetition; None: none does.
    """

    name: str
    contiguity: Contiguity
    side: Side | None = None
    where: Condition | None = None
    within: timedelta | None = None
    steps: tuple[Step, ...] = ()
    least: int = 1
    most: int | None = 1
    repeats: bool = False
    inner: Inner = "followed_by"
    is_optional: bool = False
    is_greedy: bool = False
    stop: Until | None = None

    def times(self, least: int, most: int | None = None) -> Step:
        """So many times, or from so many to so many times; from 0: it may be left out.

        Parameters
        ----------
        least, most
            How often; without ``most`` exactly ``least`` times.
        """
        left_out = most is not None and isinstance(least, int) and not isinstance(least, bool) and least == 0
        if not left_out:
            check_whole("least", least, most=MOST_TIMES)
        if most is not None:
            check_whole("most", most, most=MOST_TIMES)
            if most < least:
                raise wrong("most", most, f"use {least} or more, as it is {least} times at least")
        last = operator.index(least if most is None else most)
        made = self._repeated("times", 1 if left_out else operator.index(least), last)
        return made.optional() if left_out else made

    def one_or_more(self) -> Step:
        """Once or more: with ``a b+ c``, of ``a b1 b2 c`` both ``a b1 c`` and ``a b1 b2 c``, unless it is `greedy`."""
        return self._repeated("one_or_more", 1, None)

    def times_or_more(self, least: int) -> Step:
        """So many times, or more.

        Parameters
        ----------
        least
            How often at least.
        """
        check_whole("least", least, most=MOST_TIMES)
        return self._repeated("times_or_more", operator.index(least), None)

    def optional(self) -> Step:
        """It may be left out."""
        self._refuse(self.contiguity in _NEGATIVE, "optional", "a step that must not come is never optional")
        self._refuse(self.is_optional, "optional", "it is optional already")
        self._refuse(self.within is not None, "optional", "a step with a within of its own cannot be left out")
        return replace(self, is_optional=True)

    def greedy(self) -> Step:
        """It takes as many rows as it can, where it could take fewer of them."""
        self._refuse(not self.repeats, "greedy", "say first how often it is taken, as in one_or_more()")
        self._refuse(bool(self.steps), "greedy", "Flink has no greedy groups")
        self._refuse(self.inner == "followed_by_any", "greedy", "it allows combinations")
        self._refuse(self.is_greedy, "greedy", "it is greedy already")
        return replace(self, is_greedy=True)

    def consecutive(self) -> Step:
        """Its rows follow each other with no row of the key between, as with ``next``."""
        return self._following("consecutive", "next")

    def allow_combinations(self) -> Step:
        """Its rows may follow each other with rows between that it could take as well, as with ``followed_by_any``."""
        self._refuse(self.is_greedy, "allow_combinations", "it is greedy")
        return self._following("allow_combinations", "followed_by_any")

    def until(self, where: Condition | None = None, side: Side | None = None) -> Step:
        """It ends with a row that satisfies a condition, which is not taken; only where there is no most.

        Parameters
        ----------
        where
            The condition; None: any row of the side.
        side
            The row's side; None: that of the step.
        """
        self._refuse(self.most is not None, "until", "say first that it repeats, as in one_or_more()")
        self._refuse(self.stop is not None, "until", "it has such a row already")
        side = self.side if side is None else side
        one_of("side", side, SIDES)
        _check_where(where)
        return replace(self, stop=Until(side, where))  # type: ignore[arg-type]

    def _repeated(self, call: str, least: int, most: int | None) -> Step:
        self._refuse(self.contiguity in _NEGATIVE, call, "a step that must not come is not repeated")
        self._refuse(self.repeats, call, "it is said already how often it is taken")
        self._refuse(self.within is not None, call, "a step with a within of its own is taken once")
        empty = bool(self.steps) and all(_may_be_empty(each) for each in self.steps)
        self._refuse(empty and most is None, call, "a group of which every step may be left out repeats without an end")
        return replace(self, least=least, most=most, repeats=True)

    def _following(self, call: str, inner: Inner) -> Step:
        self._refuse(not self.repeats, call, "say first how often it is taken, as in one_or_more()")
        self._refuse(self.inner != "followed_by", call, "it is said already how its rows follow each other")
        return replace(self, inner=inner)

    def _refuse(self, refused: bool, call: str, why: str) -> None:
        if refused:
            raise ArgumentError(f"{call}: got {excerpt(self)}; {why}")

    def __repr__(self) -> str:
        first = [f"wb.group({', '.join(map(repr, self.steps))})" if self.steps else repr(self.name)]
        given = {"side": self.side, "where": self.where, "within": self.within and times.text(self.within)}
        words = first + [f"{name}={value!r}" for name, value in given.items() if value is not None]
        text = f"wb.{_CALLS.get(self.contiguity, self.contiguity)}({', '.join(words)})"
        optional = self.is_optional
        if self.repeats and self.most is None:
            text += ".one_or_more()" if self.least == 1 else f".times_or_more({self.least})"
        elif self.repeats:
            text += f".times({self.least})" if self.least == self.most else f".times({self.least}, {self.most})"
        text += {"next": ".consecutive()", "followed_by_any": ".allow_combinations()"}.get(self.inner, "")
        text += ".optional()" if optional else ""
        text += ".greedy()" if self.is_greedy else ""
        if self.stop is not None:
            words = [] if self.stop.where is None else [repr(self.stop.where)]
            words += [f"side={self.stop.side!r}"] if self.stop.side != self.side else []
            text += f".until({', '.join(words)})"
        return text


def step(
    name: str | tuple[Step, ...],
    *,
    side: Side | None = None,
    where: Condition | None = None,
    within: Span | None = None,
) -> Step:
    """The first step of a pattern, or of a group.

    Parameters
    ----------
    name
        What its rows are called in the output, or a `group` of steps.
    side
        The side whose rows it takes: ``left`` or ``right``. Of a group nothing.
    where
        What a row must satisfy, such as ``wb.col("amount") > 100``, by its own columns and those of earlier rows of the
        match, ``wb.row("order").amount``; None: nothing.
    within
        Of a step that follows another how long after the row before it its row may come.

    Returns
    -------
    Step
        Its methods say how often it is taken: `Step.one_or_more`, `Step.times`, `Step.optional`, ….

    Raises
    ------
    ArgumentError
        If an argument is not one of these.

    Examples
    --------
    >>> step("order", side="left")
    wb.step('order', side='left')
    """
    return _made("begin", name, side, where, within)


def next(  # noqa: A001 - the word of the field
    name: str | tuple[Step, ...],
    *,
    side: Side | None = None,
    where: Condition | None = None,
    within: Span | None = None,
) -> Step:
    """A step whose row is the very next one of its key, of either side, after the row before it; else as `step`."""
    return _made("next", name, side, where, within)


def followed_by(
    name: str | tuple[Step, ...],
    *,
    side: Side | None = None,
    where: Condition | None = None,
    within: Span | None = None,
) -> Step:
    """A step whose row is the next one that it can take, with others between that it cannot; else as `step`."""
    return _made("followed_by", name, side, where, within)


def followed_by_any(
    name: str | tuple[Step, ...],
    *,
    side: Side | None = None,
    where: Condition | None = None,
    within: Span | None = None,
) -> Step:
    """A step whose row is any later one that it can take: each gives a match of its own; else as `step`."""
    return _made("followed_by_any", name, side, where, within)


def not_next(name: str, *, side: Side, where: Condition | None = None) -> Step:
    """A step that the very next row of the key must not fit; it takes no row; else as `step`."""
    return _made("not_next", name, side, where, None)


def not_followed_by(name: str, *, side: Side, where: Condition | None = None, within: Span | None = None) -> Step:
    """A step that no row must fit before the next step's; at the end, as long as ``within`` says; else as `step`."""
    return _made("not_followed_by", name, side, where, within)


def group(*steps: Step) -> tuple[Step, ...]:
    """Steps as one, which may be repeated or left out together.

    Parameters
    ----------
    *steps
        The first one made by `step`.

    Examples
    --------
    >>> followed_by(group(step("b", side="left"), next("c", side="right"))).times(2)
    wb.followed_by(wb.group(wb.step('b', side='left'), wb.next('c', side='right'))).times(2)
    """
    check_sequence("steps", steps)
    if steps[-1].contiguity in _NEGATIVE:
        raise wrong("steps", steps[-1], "the last step of a group is one that is taken")
    return steps


def check_sequence(argument: str, steps: object) -> None:
    """Check that steps follow each other.

    Raises
    ------
    ArgumentError
        If there is none, the first follows another, or a later one does not.
    """
    if not isinstance(steps, tuple) or not steps or not all(isinstance(each, Step) for each in steps):
        raise wrong(argument, steps, 'give steps, such as wb.step("a", side="left"), wb.followed_by("b", side="right")')
    if steps[0].contiguity != "begin":
        raise wrong(argument, steps[0], "the first step is made by wb.step")
    for before, after in pairwise(steps):
        if after.contiguity == "begin":
            raise wrong(argument, after, "a later step is made by wb.next, wb.followed_by or wb.followed_by_any")
        if _may_be_empty(before) and before.contiguity not in _NEGATIVE and after.contiguity in _NEGATIVE:
            raise wrong(argument, after, "a step that must not come cannot follow one that may be left out")
        if before.is_greedy and after.is_optional:
            raise wrong(argument, after, "a step that may be left out cannot follow a greedy one")
    if steps[0].within is not None:
        raise wrong(argument, steps[0], "no row is before the first step: it has no within")


def _made(contiguity: Contiguity, name: object, side: object, where: object, within: Span | None) -> Step:
    if isinstance(name, tuple):
        check_sequence("name", name)
        for argument, given in (("side", side), ("where", where), ("within", within)):
            if given is not None:
                raise wrong(argument, given, "a group has none: its steps have")
        return Step("", contiguity, steps=name)
    if not isinstance(name, str) or not name:
        raise wrong("name", name, "use a name for the step's rows, or wb.group(...)")
    plain = plain_text(name, "name")
    one_of("side", side, SIDES)
    _check_where(where)
    span = None if within is None else times.positive(within, "within")
    return Step(plain, contiguity, side, where, span)  # type: ignore[arg-type]


def _may_be_empty(step: Step) -> bool:
    inner = bool(step.steps) and all(map(_may_be_empty, step.steps))
    return step.is_optional or inner or step.contiguity in _NEGATIVE


def _check_where(where: object) -> None:
    if where is not None and not isinstance(where, Condition):
        raise wrong("where", where, 'use a condition, such as wb.col("amount") > 100, or None')
