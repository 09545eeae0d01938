"""`Pattern`: the join of two streams by the order of their rows."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from workbench import times
from workbench.conditions import Condition, earlier
from workbench.errors import check_whole, excerpt, shortened, wrong
from workbench.joins import Join
from workbench.patterns._steps import Step, check_sequence
from workbench.times import Span

__all__ = ["MOST_HELD", "Pattern", "skip_of"]

MOST_HELD = 10_000
_SKIPS = ("no skip", "to next", "past last event")
_TO = ("to first ", "to last ")
_OURS = ("start", "end", "batch", "waited_for")
Skip = Literal["no skip", "to next", "past last event", "to first", "to last"]


@dataclass(frozen=True, init=False, repr=False)
class Pattern(Join):
    """Sequences of rows of one key, of both sides, in order of event time; as in Flink's CEP library.

    Rows are looked at once the watermark has passed them, those of a key in order of event time; of rows at the same
    time first the left ones, each side's in order of arrival. A match comes out as one row, with a list for each step.
    A partial match that does not come to its end within the time allowed comes out as a row, too, which says for what
    step it waited.

    Source of the definition: https://nightlies.apache.org/flink/flink-docs-stable/docs/libs/cep/. Where that page and
    Flink differ, it is as Flink does it.

    Parameters
    ----------
    *steps
        The steps, the first one made by `step`.
    within
        The last row of a match comes less than this after the first one. None: however late; then partial matches stay
        in state forever.
    skip
        What of the other matches goes when one comes out: ``no skip`` (none), ``to next`` (those that start with the
        same row), ``past last event`` (those that start before its last row has passed), ``to first b`` and
        ``to last b`` (those that start before its first, or last, row of step ``b``).
    most
        How many rows all partial matches of a key may hold, each counted as often as it is held: a run with more ends
        with an error in place of a full memory.

    Raises
    ------
    ArgumentError
        If an argument is not one of these, or Flink has no such pattern.

    Examples
    --------
    >>> from workbench.patterns import followed_by, step
    >>> Pattern(step("order", side="left"), followed_by("payment", side="right"), within="15 minutes")
    Pattern(wb.step('order', side='left'), wb.followed_by('payment', side='right'), within='15 minutes')
    """

    steps: tuple[Step, ...]
    within: timedelta | None
    skip: str
    most: int

    def __init__(self, *steps: Step, within: Span | None = None, skip: str = "no skip", most: int = MOST_HELD) -> None:
        check_sequence("steps", steps)
        self._set("steps", steps)
        self._set("within", None if within is None else times.positive(within, "within"))
        self._set("skip", "no skip" if skip is None else skip)
        check_whole("most", most)
        self._set("most", operator.index(most))
        self._check_names()
        self._check_end()
        self._check_skip()
        self._check_conditions()

    def __repr__(self) -> str:
        parts = list(map(repr, self.steps))
        if self.within is not None:
            parts.append(f"within={times.text(self.within)!r}")
        if self.skip != "no skip":
            parts.append(f"skip={self.skip!r}")
        if self.most != MOST_HELD:
            parts.append(f"most={self.most}")
        return f"Pattern({', '.join(parts)})"

    @property
    def flat(self) -> list[Step]:
        """All steps that have a name, those of groups in place of the groups, in order."""
        return list(_flat(self.steps))

    @property
    def taken(self) -> list[Step]:
        """The steps that take rows, in order: a list column of the output for each."""
        return [each for each in self.flat if each.contiguity not in ("not_next", "not_followed_by")]

    def _check_names(self) -> None:
        seen: set[str] = set()
        for each in self.flat:
            if each.name.lower() in seen:
                raise wrong("steps", each.name, "two steps have this name: give each its own")
            if each.name.lower() in _OURS:
                raise wrong("steps", each.name, f"the output has a column {each.name} of its own: use another name")
            seen.add(each.name.lower())

    def _check_end(self) -> None:
        last = self.steps[-1]
        if last.contiguity == "not_followed_by" and last.within is None and self.within is None:
            raise wrong("within", None, "a pattern that ends with not_followed_by needs one, or it waits forever")
        for each in self.flat:
            if each.contiguity == "not_followed_by" and each.within is not None and each is not last:
                raise wrong("steps", each, "only at the end of a pattern has not_followed_by a within of its own")
            if each.within is not None and self.within is not None and each.within > self.within:
                raise wrong("steps", each, f"its within is longer than that of the pattern, {times.text(self.within)}")

    def _check_skip(self) -> None:
        known = [each.name for each in self.taken if each in self.steps]  # Flink finds no step of a group
        if isinstance(self.skip, str) and (
            self.skip in _SKIPS or any(self.skip in (to + n for n in known) for to in _TO)
        ):
            return
        options = ", ".join(map(excerpt, (*_SKIPS, *(to + name for to in _TO for name in known[:1]))))
        raise wrong("skip", self.skip, f"use one of {options}, or the name of another step that is in no group")

    def _check_conditions(self) -> None:
        before: list[str] = []
        for each in self.flat:
            known = [*before, each.name]
            for where in (each.where, each.stop.where if each.stop else None):
                self._check_earlier(where, known)
            if each in self.taken:
                before.append(each.name)
        for group in _groups(self.steps):
            if group.stop is not None:
                self._check_earlier(group.stop.where, before)

    @staticmethod
    def _check_earlier(where: Condition | None, known: list[str]) -> None:
        for column in () if where is None else earlier(where):
            if column.step not in known:
                raise wrong(
                    "where",
                    where,
                    f"no step {excerpt(column.step)} comes before it: name one of {shortened(', '.join(known))}",
                )


def skip_of(pattern: Pattern) -> tuple[Skip, str]:
    """The strategy of a pattern's ``skip``, and the step that it names; empty where it names none."""
    for to in _TO:
        if pattern.skip.startswith(to):
            return to.strip(), pattern.skip.removeprefix(to)  # type: ignore[return-value]
    return pattern.skip, ""  # type: ignore[return-value]


def _flat(steps: tuple[Step, ...]) -> Iterator[Step]:
    for each in steps:
        yield from _flat(each.steps) if each.steps else (each,)


def _groups(steps: tuple[Step, ...]) -> Iterator[Step]:
    for each in steps:
        if each.steps:
            yield each
            yield from _groups(each.steps)
