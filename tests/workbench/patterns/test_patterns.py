"""Patterns as descriptions: what they print, what is read, what is refused; conditions on earlier rows."""

from __future__ import annotations

import re

import pytest

import workbench as wb
from workbench.conditions import read
from workbench.patterns import read_steps, skip_of

A = wb.step("a", side="left", where=wb.col("x") > 1)
B = wb.followed_by("b", side="right", where=(wb.col("y") < wb.row("a").x) | wb.row("a")["odd name"].is_null())
STEPS = [
    (A,),
    (A, B),
    (A, B.one_or_more(), wb.next("c", side="left").optional()),
    (A, B.times(2, 4).consecutive().greedy(), wb.not_next("n", side="left"), wb.next("c", side="left")),
    (A.times(0, 2), B.times_or_more(3).allow_combinations().until(wb.col("x") == 3, side="left")),
    (A, wb.followed_by_any(wb.group(wb.step("b", side="left"), wb.next("c", side="right"))).times(2).optional()),
    (
        A,
        wb.followed_by("b", side="right", within="5 seconds"),
        wb.not_followed_by("n", side="left", within="2 seconds"),
    ),
]


@pytest.mark.parametrize("steps", STEPS, ids=len)
def test_steps_are_read_from_what_they_print(steps):
    text = ", ".join(map(repr, steps))
    assert read_steps(text, "steps") == steps
    made = wb.Pattern(*steps, within="1 minute", skip="to last a")
    assert eval(f"wb.{made!r}") == made


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a", "use steps with commas between"),
        ('__import__("os").system("x")', "use steps with commas between"),
        ('wb.step("a", side="left").__class__', "use steps with commas between"),
        ('wb.step("a", side="up")', "use one of 'left', 'right'"),
        ('wb.followed_by("a", side="left")', "the first step is made by wb.step"),
        ('wb.step("a", side="left"), wb.step("b", side="left")', "a later step is made by"),
        ('wb.step("a", side="left", where=wb.col("x"))', "use steps with commas between"),
        ('wb.step(*["a"])', "use steps with commas between"),
    ],
)
def test_what_is_no_step_is_said_and_nothing_is_run(text, message):
    with pytest.raises(wb.ArgumentError, match=re.escape(message)):
        read_steps(text, "steps")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: wb.Pattern(), "steps: got ()"),
        (lambda: wb.Pattern(A, wb.next("A", side="left")), "two steps have this name"),
        (lambda: wb.Pattern(wb.step("end", side="left")), "the output has a column end of its own"),
        (lambda: wb.Pattern(A, wb.not_followed_by("n", side="left")), "needs one, or it waits forever"),
        (lambda: wb.Pattern(A, B, skip="to first c"), "'to first a'"),
        (lambda: wb.Pattern(A, wb.next("b", side="left", within="1 hour"), within="1 minute"), "longer than that of"),
        (lambda: wb.Pattern(wb.step("b", side="left", where=wb.row("a").x > 1)), "no step 'a' comes before it"),
        (lambda: wb.Pattern(A.optional(), wb.not_next("n", side="left"), B), "cannot follow one that may be left out"),
        (
            lambda: wb.Pattern(A.one_or_more().greedy(), B.optional()),
            "may be left out cannot follow a greedy one",
        ),
        (lambda: A.greedy(), "say first how often"),
        (lambda: A.consecutive(), "say first how often"),
        (lambda: A.one_or_more().times(2), "said already how often"),
        (lambda: A.times(3, 2), "most: got 2; use 3 or more"),
        (lambda: A.times(0), "least: got 0"),
        (lambda: A.times(2).until(), "say first that it repeats"),
        (lambda: wb.not_next("n", side="left").optional(), "never optional"),
        (lambda: wb.next("b", side="left", within="1 s").one_or_more(), "taken once"),
        (lambda: wb.step(wb.group(A.optional())).one_or_more(), "repeats without an end"),
        (lambda: wb.group(A, wb.not_next("n", side="left")), "the last step of a group is one that is taken"),
        (lambda: wb.step(wb.group(A), side="left"), "a group has none"),
        (lambda: wb.row("a")[""], "use the name of a column"),
    ],
)
def test_what_no_pattern_can_be_is_said_in_one_sentence(make, message):
    with pytest.raises(wb.ArgumentError, match=re.escape(message)):
        make()


def test_the_skip_strategy_and_its_step():
    assert skip_of(wb.Pattern(A, skip="to first a")) == ("to first", "a")
    assert skip_of(wb.Pattern(A)) == ("no skip", "")


def test_a_column_of_an_earlier_row_has_any_name():
    asked = (wb.row("a").x > wb.col("x")) & (wb.row("it's")["the `odd` name"] == "step") & (wb.row("a")["step"] == 1)
    assert read(repr(asked), "where") == asked
    assert repr(wb.row("a").x) == "wb.row('a').x"
