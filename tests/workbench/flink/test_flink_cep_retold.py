"""What Flink's CEP documentation says and Flink's own CEP tests expect, asked of the workbench and of Flink.

`test_flink_patterns` has the tables where both agree; here are those where the documentation leaves open which pattern
it means, or differs from Flink, and more of Flink's tests by their names. Where they differ, it is as Flink does it.
Flink's tests say nothing of partial matches that are given up: those are what Flink 2.3 gives up.
Rows are words such as ``b2``: a letter, and a number that is the column ``x``; a second apart, or at the second after
an ``@``.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import NamedTuple

import pattern_cases
import pytest
import test_flink_patterns
from pattern_cases import Row
from test_flink_patterns import kind, step

import workbench as wb

asked = test_flink_patterns.asked


class Case(NamedTuple):
    """A pattern, rows, the matches that Flink finds, the partial matches it gives up, and what the documentation says.

    ``documented`` is None where it says what Flink finds.
    """

    pattern: wb.Pattern
    rows: list[Row]
    matches: tuple[str, ...]
    given_up: tuple[str, ...] = ()
    documented: tuple[str, ...] | None = None


def rows(text):
    """Left rows of a text such as ``a1 b2`` or ``a1@0 b2@4``."""
    found = []
    for place, word in enumerate(text.split()):
        name, _, at = word.partition("@")
        found.append(Row(0, 1000 * int(at or place), name[0], int(name[1:] or 0)))
    return found


def case(steps, text, *matches, given_up=(), documented=None, **more):
    return Case(wb.Pattern(*steps, **more), rows(text), matches, tuple(given_up), documented)


def begin(name, *words):
    return step(wb.step, name, *words)


def then(name, *words):
    return step(wb.followed_by, name, *words)


def some(name, *words):
    return step(wb.followed_by_any, name, *words)


def nxt(name, *words):
    return step(wb.next, name, *words)


def without(name):
    return step(wb.not_followed_by, f"not_{name}", name)


def group(call, *steps):
    return call(wb.group(*steps))


def each_of(first, middle, last, least=0):
    """All choices of so many or more of some rows, between two others."""
    chosen = [each for count in range(least, len(middle) + 1) for each in combinations(middle, count)]
    return [" ".join([first, *each, last]) for each in chosen]


LOOP = "a b1 d1 b2 d2 b3 c"
RUN = "c d a1 a2 a3 d a4 b"
IN_A_ROW = ("c a1 b", "c a1 a2 b", "c a1 a2 a3 b")
ALL_A = ["a1", "a2", "a3", "a4"]
AFTER = "b1 b2 b3 c"
EVERY = ("b1 b2 b3 c", "b2 b3 c", "b3 c")
B_THEN_C = (begin("b").one_or_more(), then("c"))
DOCUMENTED = {
    # "Stop condition": as the page has it
    "a+ until b": case([begin("a").one_or_more().until(kind("b"))], "a1 c a2 b a3", "a1", "a1 a2", "a2", "a3"),
    # "Contiguity within looping patterns", strict: a row after b1 causes b1 to be discarded where c, too, is next ...
    "strict in a loop, next c": case([begin("a"), some("b").one_or_more().consecutive(), nxt("c")], LOOP, "a b3 c"),
    # ... but with followed_by in front of c, what is strict within b+ only, b1 and b2 are found as well ...
    "strict in a loop, followed by c": case(
        [begin("a"), some("b").one_or_more().consecutive(), then("c")],
        LOOP, "a b1 c", "a b2 c", "a b3 c", documented=("a b3 c",),
    ),
    # ... and with next everywhere nothing is
    "strict everywhere": case(
        [begin("a"), nxt("b").one_or_more().consecutive(), nxt("c")], LOOP, documented=("a b3 c",)
    ),
    # relaxed: the page says so of "followed by any"; with followed_by each match has b1
    "relaxed in a loop, followed by b": case(
        [begin("a"), then("b").one_or_more(), then("c")],
        LOOP, "a b1 c", "a b1 b2 c", "a b1 b2 b3 c",
        documented=("a b1 c", "a b1 b2 c", "a b1 b2 b3 c", "a b2 c", "a b2 b3 c", "a b3 c"),
    ),
    # "consecutive()": both as the page has them
    "consecutive": case([begin("c"), then("a").one_or_more().consecutive(), then("b")], RUN, *IN_A_ROW),
    "not consecutive": case([begin("c"), then("a").one_or_more(), then("b")], RUN, *IN_A_ROW, "c a1 a2 a3 a4 b"),
    # "allowCombinations()": the page's code has followedBy, with which each match has a1, as the first a is taken ...
    "combinations": case(
        [begin("c"), then("a").one_or_more().allow_combinations(), then("b")],
        RUN, *each_of("c a1", ALL_A[1:], "b"), documented=tuple(each_of("c", ALL_A, "b", least=1)),
    ),
    # ... and its fifteen matches come with followedByAny
    "combinations, followed by any": case(
        [begin("c"), some("a").one_or_more().allow_combinations(), then("b")], RUN, *each_of("c", ALL_A, "b", least=1)
    ),
    # "After Match Skip Strategy", b+ c: with oneOrMore() and followedBy(), as they are by default, there are six
    # matches, of which the other strategies keep what the page has; but to first b: see `test_flink_patterns`
    "no skip": case(
        B_THEN_C, AFTER, "b1 c", "b1 b2 c", "b1 b2 b3 c", "b2 c", "b2 b3 c", "b3 c", documented=EVERY
    ),
    "to next": case(B_THEN_C, AFTER, *EVERY, skip="to next"),
    "past last event": case(B_THEN_C, AFTER, "b1 b2 b3 c", skip="past last event"),
    "to last b": case(B_THEN_C, AFTER, "b1 b2 b3 c", "b3 c", skip="to last b"),
}  # fmt: skip

A_PLUS = begin("a").one_or_more().consecutive().greedy()
GREEDY = ("a1 a2 a3 b1", "a2 a3 b1", "a3 b1")
THREE = begin("a").times(3)
TWICE = (begin("f", "a").times(2), nxt("l", "a").times(2))
AB = "a1 b1 a2 b2"
ABAB = "a1 b1 a2 b2 b3 a3 b4"
NOT_B_FIRST = (begin("a"), without("b"))
TO_D = then("d")
FIVE = wb.col("x") == 5
UNTIL = "c1 a2 a3 a5 a6"
END = wb.followed_by("five", side="left", where=FIVE)
MIDDLE = "c1@0 f1@1 a1@2 f1@3 a2@4 a3@5 b1@6"
PAIRS = "c1 a1 b1 a2 b2 a3 b3 d1"
AB_GROUP = (begin("a"), then("b"))
SAME = "c1@0 a1@2 a1@2 a1@2 a2@3 d1@4 a3@5 a3@5 b1@6"
A_LOT = "c1 a1 a1 a1 a2"
TELLS = {
    "NFAITCase": {
        "NoConditionNFA": case(
            [wb.step("s", side="left"), wb.followed_by("e", side="left")],
            "a b c d e", "a b", "b c", "c d", "d e",
        ),
        "AnyWithNoConditionNFA": case(
            [wb.step("s", side="left"), wb.followed_by_any("e", side="left")],
            "a b c d e", *map(" ".join, combinations("abcde", 2)),
        ),
        # a row that comes when the whole within has passed is too late
        "SimplePatternWithTimeWindowNFA": case(
            [begin("s"), then("m"), then("e")],
            "s1@1 s2@2 m1@3 f1@4 e1@11 e2@13", "s2 m1 e1", given_up=["s1 m1"], within="10 seconds",
        ),
        "SimplePatternWithTimeoutHandling": case(
            [begin("s"), some("m"), some("e")],
            "s1@1 s2@2 m1@3 f1@4 e1@11 e2@13", "s2 m1 e1",
            given_up=["s1", "s2", "s1 m1", "s2 m1"], within="10 seconds",
        ),
    },
    "NotPatternITCase": {
        "NotNext": case(
            [begin("a"), step(wb.not_next, "n", "b"), some("c"), TO_D], "a1 c1 b1 c2 d1", "a1 c1 d1", "a1 c2 d1"
        ),
        "NotFollowedBy": case([*NOT_B_FIRST, some("c"), TO_D], "a1 c1 b1 c2 d1", "a1 c1 d1"),
        "NotFollowedByBeforeOptional": case(
            [*NOT_B_FIRST, some("c").optional(), TO_D], "a1 c1 b1 c2 d1", "a1 c1 d1"
        ),
        "TimesWithNotFollowedBy": case([begin("a"), some("b").times(2), without("c"), TO_D], "a1 b1 c1 b2 d1"),
        "NotFollowedByBeforeOptionalAtTheEnd": case(
            [*NOT_B_FIRST, some("c").optional()], "a1 c1 b1 c2", "a1", "a1 c1"
        ),
        "NotFollowedByBeforeZeroOrMoreEagerSkipTillNext": case(
            [begin("a"), without("c"), then("b").one_or_more().optional(), TO_D],
            "a1 b1 c1 b4 b5 b6 d1",
            "a1 b1 d1", "a1 b1 b4 d1", "a1 b1 b4 b5 d1", "a1 b1 b4 b5 b6 d1",
        ),
        "NotFollowedByWithinFirstAndLastAtEnd": case(
            NOT_B_FIRST, "a1@1 b1@2 a2@4 c1@5 b2@10 a3@11 b3@13", "a2", within="3 seconds"
        ),
        "NotFollowedByWithinPreviousAndCurrentAtEnd": case(
            [begin("a"), wb.not_followed_by("n", side="left", where=kind("b"), within="3 seconds")],
            "a1@1 b1@2 a2@4 c1@5 b2@10 a3@11 b3@13", "a2",
        ),
        "NotFollowByBeforeTimesWithin": case(
            [*NOT_B_FIRST, then("c").times(0, 2)],
            "a1@1 b1@2 a2@10 c1@11 c2@12 a3@20 c3@21 c4@24",
            "a1", "a2", "a2 c1", "a2 c1 c2", "a3", "a3 c3", given_up=["a3 c3"], within="3 seconds",
        ),
        "NotFollowedByWithinAtEndAfterMatch": case(
            [begin("a").one_or_more().allow_combinations(), then("c"), without("b")],
            "a1@1 a2@2 a3@3 c1@4 c2@10", "a1 a2 a3 c1",
            given_up=["a1", "a1 a2", "a1 a3", "a1 a2 a3"], within="5 seconds", skip="past last event",
        ),
    },
    "GreedyITCase": {
        "GreedyZeroOrMoreInBetween": case(
            [begin("c"), then("a").one_or_more().optional().greedy(), TO_D], "c1 f a1 f a2 f a3 d1", "c1 a1 a2 a3 d1"
        ),
        "GreedyZeroOrMoreWithDummyEventsBeforeQuantifier": case(
            [begin("c"), then("a").one_or_more().optional().greedy(), TO_D], "c1 f d1", "c1 d1"
        ),
        "GreedyUtilZeroOrMoreWithDummyEventsAfterQuantifier": case(
            [begin("c"), then("a").one_or_more().optional().greedy().until(wb.col("x") > 3), TO_D],
            "c1 a1 a2 a3 a4 d1", "c1 a1 a2 a3 d1",
        ),
        "GreedyUtilOneOrMoreWithDummyEventsBeforeQuantifier": case(
            [begin("c"), then("a").one_or_more().greedy().until(wb.col("x") > 3), TO_D], "c1 a4 a1 a2 a3 d1"
        ),
        "GreedyZeroOrMoreBeforeGroupPattern": case(
            [
                begin("c"), then("a").one_or_more().optional().greedy(),
                group(wb.followed_by, begin("d"), then("e")).times(2), then("f"),
            ],
            "c1 a1 a2 g a3 d1 e1 d2 e2 f1", "c1 a1 a2 a3 d1 e1 d2 e2 f1",
        ),
    },
    "GroupITCase": {
        "GroupFollowedByZeroOrMore": case(
            [begin("c"), group(wb.followed_by, *AB_GROUP).one_or_more().optional(), TO_D],
            "c1 a1 b1 a2 b2 d1", "c1 d1", "c1 a1 b1 d1", "c1 a1 b1 a2 b2 d1",
        ),
        "GroupFollowedByAnyTimesCombinations": case(
            [begin("c"), group(wb.followed_by_any, *AB_GROUP).times(2).allow_combinations(), TO_D],
            PAIRS, "c1 a1 b1 a2 b2 d1", "c1 a1 b1 a3 b3 d1", "c1 a2 b2 a3 b3 d1",
        ),
        "GroupFollowedByAnyTimesOptional": case(
            [begin("c"), group(wb.followed_by_any, *AB_GROUP).times(2).optional(), TO_D],
            PAIRS, "c1 d1", "c1 a1 b1 a2 b2 d1", "c1 a2 b2 a3 b3 d1",
        ),
    },
    "UntilConditionITCase": {
        "UntilConditionFollowedByOneOrMore": case(
            [begin("c"), then("a").one_or_more().until(FIVE), END], UNTIL, "c1 a2 a5", "c1 a2 a3 a5"
        ),
        "UntilConditionFollowedByOneOrMoreCombinations": case(
            [begin("c"), then("a").one_or_more().allow_combinations().until(FIVE), END],
            "c1 a2 a3 a4 a5 a6", "c1 a2 a5", "c1 a2 a3 a5", "c1 a2 a4 a5", "c1 a2 a3 a4 a5",
        ),
        "UntilConditionFollowedByZeroOrMoreConsecutive": case(
            [begin("c"), then("a").one_or_more().optional().consecutive().until(FIVE), END],
            UNTIL, "c1 a5", "c1 a2 a5", "c1 a2 a3 a5",
        ),
        "UntilConditionFollowedByAnyOneOrMore": case(
            [begin("c"), some("a").one_or_more().until(FIVE)], UNTIL, "c1 a2", "c1 a2 a3", "c1 a3", "c1 a6"
        ),
    },
    "SameElementITCase": {
        "EagerZeroOrMoreSameElement": case(
            [begin("c"), then("a").one_or_more().optional(), then("b")],
            SAME, "c1 b1", "c1 a1 b1", "c1 a1 a1 b1", "c1 a1 a1 a1 b1",
            f"{A_LOT} b1", f"{A_LOT} a3 b1", f"{A_LOT} a3 a3 b1",
        ),
        "ZeroOrMoreSameElement": case(
            [begin("c"), some("a").one_or_more().optional().allow_combinations(), some("b")],
            "c1@0 a1@2 a1@2 a2@3 d1@4 a3@5 a3@5 b1@6", *each_of("c1", ["a1", "a1", "a2", "a3", "a3"], "b1"),
        ),
        "SimplePatternWSameElement": case(
            [begin("c"), some("a"), then("b")], "c1@0 a1@2 a1@2 b1@6", "c1 a1 b1", "c1 a1 b1"
        ),
        "ClearingBuffer": case([begin("a"), then("b"), then("c"), TO_D], "a1@1 b1@2 c1@2 d1@2", "a1 b1 c1 d1"),
    },
    "AfterMatchSkipITCase": {
        "NoSkip": case([THREE], "a1 a2 a3 a4 a5 a6", "a1 a2 a3", "a2 a3 a4", "a3 a4 a5", "a4 a5 a6"),
        "SkipPastLast": case([THREE], "a1 a2 a3 a4 a5 a6", "a1 a2 a3", "a4 a5 a6", skip="past last event"),
        "NoSkipWithFollowedByAny": case([begin("a"), some("b")], AB, "a1 b1", "a1 b2", "a2 b2"),
        "SkipToNextWithFollowedByAny": case([begin("a"), some("b")], AB, "a1 b1", "a2 b2", skip="to next"),
        "SkipToFirst": case(TWICE, "a1 a2 a3 a4 a5 a6", "a1 a2 a3 a4", "a3 a4 a5 a6", skip="to first l"),
        "SkipToLast": case(TWICE, "a1 a2 a3 a4 a5 a6 a7", "a1 a2 a3 a4", "a4 a5 a6 a7", skip="to last l"),
        "SkipPastLast2": case(
            [begin("a"), some("b"), some("c"), TO_D], "a1 a2 b1 b2 c1 c2 d1 d2", "a1 b1 c1 d1", skip="past last event"
        ),
        "SkipToFirstWithOptionalMatch": case(
            [begin("x").one_or_more().optional(), nxt("b"), nxt("c")],
            "b1 c1 b2 c2", "b1 c1", "b2 c2", skip="to first b",
        ),
        "SkipToFirstWithOneOrMore": case(
            [begin("a"), nxt("b").one_or_more().consecutive()], ABAB, "a1 b1", "a2 b2", "a3 b4", skip="to first b"
        ),
        "SkipToFirstNonExistentPositionWithoutException": case(
            [begin("a"), nxt("b").one_or_more().optional().consecutive(), nxt("c")],
            "a1 c1", "a1 c1", skip="to first b",
        ),
        "NoSkipWithOneOrMoreAtBeginning": case([A_PLUS, nxt("b")], "a1 a2 a3 b1", *GREEDY),
        "SkipToFirstWithOneOrMoreAtBeginning": case([A_PLUS, nxt("b")], "a1 a2 a3 b1", *GREEDY, skip="to first a"),
        "SkipToLastWithOneOrMoreAtBeginning": case(
            [A_PLUS, nxt("b")], "a1 a2 a3 b1", GREEDY[0], GREEDY[2], skip="to last a"
        ),
        "SkipPastLastWithOneOrMoreAtBeginning": case(
            [A_PLUS, nxt("b")], "a1 a2 a3 b1", GREEDY[0], skip="past last event"
        ),
    },
    "TimesOrMoreITCase": {
        "TimesOrMore": case(
            [begin("c"), then("a").times_or_more(2).allow_combinations(), then("b")],
            "c1 a1 a2 a3 b1", "c1 a1 a2 a3 b1", "c1 a1 a2 b1", "c1 a1 a3 b1",
        ),
        "TimesOrMoreNonStrict": case(
            [begin("c"), some("a").times_or_more(2).allow_combinations(), then("b")],
            MIDDLE, *each_of("c1", ["a1", "a2", "a3"], "b1", least=2),
        ),
        "TimesOrMoreStrictOptional": case(
            [begin("c"), some("a").times_or_more(2).consecutive().optional(), then("b")],
            MIDDLE, "c1 b1", "c1 a2 a3 b1",
        ),
    },
}  # fmt: skip
CASES = {
    **{f"documentation, {name}": each for name, each in DOCUMENTED.items()},
    **{f"{of}, {name}": each for of, tests in TELLS.items() for name, each in tests.items()},
}


def words(found, given):
    """Matches, and partial matches that were given up, each as the words of its rows in order."""
    said = {True: [], False: []}
    for is_match, text in found:
        numbers = sorted(int(n) for each in text.split(";") for n in each.split("=")[1].split(","))
        said[is_match].append(" ".join(f"{given[n].kind}{given[n].x or ''}" for n in numbers))
    return Counter(said[True]), Counter(said[False])


@pytest.mark.parametrize("name", CASES)
def test_the_workbench_finds_what_flink_is_told_to(name):
    """Also where the documentation says another thing than Flink does: the workbench is held to Flink."""
    told = CASES[name]
    matches, given_up = words(pattern_cases.found(told.pattern, told.rows), told.rows)
    assert (matches, given_up) == (Counter(told.matches), Counter(told.given_up))
    assert told.documented is None or name.startswith("documentation")


def test_flink_finds_what_is_told(asked, monkeypatch):
    """All in one run of Flink; where a skip strategy keeps some matches, they come in the workbench's order."""
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")  # a short run of few rows
    cases = list(CASES.values())
    differing = []
    for (name, told), theirs in zip(CASES.items(), asked([each[:2] for each in cases]), strict=True):
        ours = pattern_cases.found(told.pattern, told.rows)
        same = words(theirs, told.rows) == (Counter(told.matches), Counter(told.given_up))
        if told.pattern.skip != "no skip":
            same &= [each for each in ours if each[0]] == [each for each in theirs if each[0]]
        if not same:
            differing.append((name, words(theirs, told.rows), ours, theirs))
    assert not differing


def test_where_the_documentation_and_flink_differ():
    """No other of the documentation's examples: a case that says so, but tells the same, would be a mistake of ours."""
    differing = {name for name, each in DOCUMENTED.items() if each.documented is not None}
    assert differing == {
        "strict in a loop, followed by c",
        "strict everywhere",
        "relaxed in a loop, followed by b",
        "combinations",
        "no skip",
    }
    for name in differing:
        assert Counter(DOCUMENTED[name].documented) != Counter(DOCUMENTED[name].matches), name


def test_what_flink_notices_with_the_next_row_only(asked, monkeypatch):
    """Flink sets a timer for the end of a whole pattern's ``within``, but none where its first row is at 1970-01-01.

    It sets none for that of a step either. The workbench finds the end as soon as the watermark has passed it; with a
    later row of the key both have found the same, which is why generated cases end with one.
    """
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    span = "2 seconds"
    own = wb.Pattern(begin("a"), wb.followed_by("b", side="left", where=kind("b"), within=span))
    own_not = wb.Pattern(begin("a"), wb.not_followed_by("n", side="left", where=kind("b"), within=span))
    whole, whole_not = wb.Pattern(begin("a"), then("b"), within=span), wb.Pattern(*NOT_B_FIRST, within=span)
    alone = [(each, rows(text)) for each in (own, own_not, whole, whole_not) for text in ("a@0", "a@1")]
    later = [(pattern, [*given, Row(0, test_flink_patterns.LATER, "z")]) for pattern, given in alone]
    for (pattern, given), theirs in zip(alone + later, asked(alone + later), strict=True):
        ours = pattern_cases.found(pattern, given)
        assert ours == [(pattern in (own_not, whole_not), "a=0")]
        has_timer = pattern.within is not None and given[0].at > 0
        assert theirs == (ours if has_timer or len(given) > 1 else []), (pattern, given)


def test_several_that_end_between_two_rows_with_a_skip_strategy(asked, monkeypatch):
    """Here the match that ends first comes out and excludes the others; Flink looks at all of them at the next row."""
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    steps = [
        begin("a"), wb.followed_by("b", side="left", where=kind("b")).one_or_more(),
        wb.not_followed_by("n", side="left", where=kind("x"), within="3 seconds"),
    ]  # fmt: skip
    given = rows("a@0 b1@1 b2@2 b3@3 y@20")
    cases = [(wb.Pattern(*steps, skip=skip), given) for skip in ("no skip", "past last event", "to next")]
    ours, theirs = [pattern_cases.found(*each) for each in cases], asked(cases)
    assert Counter(ours[0]) == Counter(theirs[0])
    assert ours[1] == ours[2] == [(True, "a=0;b=1")]
    assert theirs[1] == theirs[2] == [(True, "a=0;b=1,2")]
    close = [(pattern, rows("a@0 b1@1 y@4 b2@4 y@5 y@20")) for pattern, _ in cases]  # a row between any two ends
    for (pattern, given), found in zip(close, asked(close), strict=True):
        assert Counter(pattern_cases.found(pattern, given)) == Counter(found), pattern
