"""Generated patterns with the rows to look for them in, and what the workbench finds: cases that Flink is asked, too."""

from __future__ import annotations

import operator
import re
from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal

import pyarrow as pa

import workbench as wb
from workbench.conditions import HELPERS, EarlierColumn, python
from workbench.patterns.automaton import automaton
from workbench.patterns.checking import kinds_of
from workbench.patterns.matching import Matcher

COLUMNS = {"t": pa.int64(), "kind": pa.string(), "x": pa.int64(), "n": pa.int32()}
TYPES = {"left": COLUMNS, "right": COLUMNS}
STEP = 500
"""Milliseconds that all times are whole numbers of."""
MOST = 1_500
"""Partial matches at once, of cases that are no use."""


class TooManyError(Exception):
    """A case with more partial matches than `MOST`."""


@dataclass(frozen=True)
class Row:
    """A row: its side (0 for left), time in milliseconds, a word, a number."""

    side: int
    at: int
    kind: str
    x: int | None = None


def letters(text, apart=1000):
    """Left rows of a text such as ``a1 c b1``: their words are the letters, their numbers the digits."""
    words = text.split()
    return [Row(0, place * apart, each[0], int(each[1:] or 0)) for place, each in enumerate(words)]


@dataclass
class Drawing:
    """Draws a pattern; what Flink refuses is drawn again."""

    chance: object
    names: list[str] = field(default_factory=lambda: list("rqponmlkjihgfedcba"))
    before: list[str] = field(default_factory=list)

    def pattern(self):
        steps = self.sequence(self.chance.randrange(1, 5), top=True)
        seconds = self.chance.choice([None, None, self.chance.randrange(2, 9)])
        within = seconds and f"{seconds} seconds"
        taken = [each.name for each in wb.Pattern(*steps, within="1 hour").taken if each in steps]
        skips = [
            "no skip",
            "no skip",
            "to next",
            "past last event",
            *(f"to {w} {n}" for w in ("first", "last") for n in taken),
        ]
        return wb.Pattern(*steps, within=within, skip=self.chance.choice(skips))

    def sequence(self, count, top):
        return [self.step(place == 0, place == count - 1, top) for place in range(count)]

    def step(self, is_first, is_last, top):
        calls = [wb.next, wb.followed_by, wb.followed_by, wb.followed_by, wb.followed_by_any, wb.followed_by_any]
        calls += [wb.not_next, wb.not_followed_by] if top or not is_last else []
        call = wb.step if is_first else self.chance.choice(calls)
        if call in (wb.not_next, wb.not_followed_by):
            own = (
                {"within": self._span()}
                if call is wb.not_followed_by and is_last and self.chance.random() < 0.3
                else {}
            )
            return call(self.names.pop(), side=self._side(), where=self.condition(), **own)
        if top and self.chance.random() < 0.25:
            made = call(wb.group(*self.sequence(self.chance.randrange(1, 4), top=False)))
        else:
            name = self.names.pop()
            own = {"within": self._span()} if not is_first and self.chance.random() < 0.12 else {}
            asked = self.condition([name] if self.chance.random() < 0.3 else [])
            made = call(name, side=self._side(), where=asked, **own)
            self.before.append(name)
        return self.quantified(made)

    def quantified(self, made):
        least = self.chance.randrange(0, 3)
        quantifiers = [
            (0.2, lambda step: step.one_or_more()),
            (0.15, lambda step: step.times(self.chance.randrange(1, 4))),
            (0.2, lambda step: step.times(least, max(1, least + self.chance.randrange(0, 3)))),
            (0.1, lambda step: step.times_or_more(self.chance.randrange(1, 3))),
            (0.25, lambda step: step.consecutive()),
            (0.25, lambda step: step.allow_combinations()),
            (0.2, lambda step: step.optional()),
            (0.3, lambda step: step.greedy()),
            (0.3, lambda step: step.until(self.condition(), self._side())),
        ]
        for share, quantify in quantifiers:
            if self.chance.random() < share:
                try:
                    made = quantify(made)
                except wb.ArgumentError:
                    continue
        return made

    def condition(self, more=()):
        if self.chance.random() < 0.15:
            return None
        asked = wb.col("kind").isin(*self.chance.sample("abcd", self.chance.choice([1, 1, 1, 2])))
        if (self.before or more) and self.chance.random() < 0.25:
            earlier = wb.row(self.chance.choice([*self.before, *more]))
            choices = [
                wb.col("x") > earlier.x,
                wb.col("x") <= earlier.x,
                (wb.col("x") != earlier.x) | earlier.x.is_null(),
            ]
            asked &= self.chance.choice(choices)
        return asked

    def _side(self):
        return self.chance.choice(["left", "left", "right"])

    def _span(self):
        return f"{self.chance.randrange(1, 6)} seconds"


def pattern(chance):
    """A pattern that Flink has."""
    while True:
        try:
            return Drawing(chance).pattern()
        except wb.ArgumentError:
            continue


def rows(chance):
    """Rows in order, many of them at the same time."""
    at, found = 0, []
    for _ in range(chance.randrange(3, 13)):
        at += STEP * chance.choice([0, 0, 1, 2, 2, 4, 10])
        found.append(Row(chance.choice([0, 0, 1]), at, chance.choice("abcd"), chance.choice([1, 2, 3, None])))
    return sorted(found, key=lambda row: (row.at, row.side))


def found(asked, given):
    """What the workbench finds of a pattern: whether it is a match, and the numbers of the rows of each step, in order.

    Raises
    ------
    TooManyError
        If there are too many partial matches.
    """
    made = automaton(asked)
    values = [{"t": row.at, "kind": row.kind, "x": row.x, "n": number} for number, row in enumerate(given)]
    tests = [_test(asked, each, values) for each in made.asked]

    def holds(row, path):
        side = "right" if given[row].side else "left"
        return [each.side == side and test(row, path) is True for each, test in zip(made.asked, tests, strict=True)]

    matcher, out = Matcher(asked, made, holds), []
    for number, row in enumerate(given):
        if not number or given[number - 1].at != row.at:
            out += matcher.pass_time(row.at * 1000)
        out += matcher.take(number, row.at * 1000)
        if len(matcher.partial.items) + len(out) > MOST:
            raise TooManyError
    out += matcher.pass_time(2**62)
    return [(not each.waited_for, _words(each.path)) for each in out]


def _words(path):
    by_step = defaultdict(list)
    for each in path.rows():
        by_step[each.step].append(str(each.row))
    return ";".join(f"{step}={','.join(by_step[step])}" for step in sorted(by_step))


def _test(asked, each, values):
    if each.where is None:
        return lambda row, path: True

    def last(step, name, path):
        while path is not None and path.step != step:
            path = path.before
        return None if path is None else values[path.row][name]

    def column(of):
        earlier = isinstance(of, EarlierColumn)
        return f"last({of.step!r}, {of.column!r}, path)" if earlier else f"values[row][{of.name!r}]"

    text = python(each.where, kinds_of(asked, each.side, each.where, TYPES), column)
    known = {"operator": operator, "re": re, "Decimal": Decimal, "last": last, "values": values}
    exec(HELPERS, known)
    return eval(f"lambda row, path: {text}", known)
