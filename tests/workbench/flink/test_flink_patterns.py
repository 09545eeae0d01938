"""Patterns held to Flink's CEP library: generated ones, the worked tables of its documentation, and its own tests retold."""

from __future__ import annotations

import os
import random
import re
import subprocess
from collections import Counter, defaultdict
from pathlib import Path

import parts
import pattern_cases
import pytest
from pattern_cases import TYPES, Row, letters

import generators
import workbench as wb
from workbench import flink
from workbench.builtin_kinds.pattern import flink as cep
from workbench.flink.conditions import java_helpers
from workbench.flink.syntax import java_imports

HERE = Path(__file__).parent
QUICK = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
OPENED = [f"--add-opens=java.base/{each}=ALL-UNNAMED" for each in ("java.util", "java.lang", "java.time")]
SEEDS, EACH = (1, 2), 90
TOGETHER = 60
"""Cases in one class of Java, whose methods may be so large only."""
LATER = 60_000
"""How much later than all others a last row comes, in milliseconds.

Flink ends a partial match that only a step's own ``within`` ends when the next row of the key comes, as it sets no timer
for it; the workbench as soon as the watermark has passed. With a row far behind all others both have come to it.
"""


def kind(*words):
    return wb.col("kind").isin(*words)


def step(call, name, *words, side="left"):
    return call(name, side=side, where=kind(*(words or (name,))))


A, B, C, D = (step(wb.step if name == "a" else wb.followed_by, name) for name in "abcd")
B_ANY = step(wb.followed_by_any, "b")


def case(pattern, text, *expected):
    """A pattern, left rows, and the matches that Flink finds, as the rows of each in order."""
    return pattern, letters(text), list(expected)


CONTIGUITY = "a b1 d1 b2 d2 b3 c"
SKIPPING = "b1 b2 b3 c"
PLUS = step(wb.step, "b").one_or_more()
STRICT, NEXT_C = PLUS.consecutive(), step(wb.next, "c")
DOCUMENTED = {
    # https://nightlies.apache.org/flink/flink-docs-stable/docs/libs/cep/#combining-patterns
    "next": case(wb.Pattern(A, step(wb.next, "b")), "a c b1 b2"),
    "followed by": case(wb.Pattern(A, B), "a c b1 b2", "a b1"),
    "followed by any": case(wb.Pattern(A, B_ANY), "a c b1 b2", "a b1", "a b2"),
    # "contiguity within looping patterns": the page's {a b3 c} of strict contiguity is found with a relaxed first step,
    # which its own text asks for
    "strict": case(wb.Pattern(A, B_ANY.one_or_more().consecutive(), C), CONTIGUITY, "a b1 c", "a b2 c", "a b3 c"),
    "relaxed": case(
        wb.Pattern(A, B_ANY.one_or_more(), C),
        CONTIGUITY,
        "a b1 c", "a b1 b2 c", "a b1 b2 b3 c", "a b2 c", "a b2 b3 c", "a b3 c",
    ),
    "any": case(
        wb.Pattern(A, B_ANY.one_or_more().allow_combinations(), C),
        CONTIGUITY,
        "a b1 c", "a b1 b2 c", "a b1 b3 c", "a b1 b2 b3 c", "a b2 c", "a b2 b3 c", "a b3 c",
    ),
    # "after match skip strategy": the page writes b+ c, and its table is that of strict contiguity within and after b+
    "no skip": case(wb.Pattern(STRICT, NEXT_C), SKIPPING, "b1 b2 b3 c", "b2 b3 c", "b3 c"),
    "to next": case(wb.Pattern(STRICT, NEXT_C, skip="to next"), SKIPPING, "b1 b2 b3 c", "b2 b3 c", "b3 c"),
    "past last event": case(wb.Pattern(STRICT, NEXT_C, skip="past last event"), SKIPPING, "b1 b2 b3 c"),
    "to first b": case(wb.Pattern(STRICT, NEXT_C, skip="to first b"), SKIPPING, "b1 b2 b3 c", "b2 b3 c", "b3 c"),
    "to last b": case(wb.Pattern(STRICT, NEXT_C, skip="to last b"), SKIPPING, "b1 b2 b3 c", "b3 c"),
    # with oneOrMore() and followedBy() Flink finds others; what starts at b2 waits for ever, as b1's match may go on
    "no skip, relaxed": case(
        wb.Pattern(PLUS, C), SKIPPING, "b1 c", "b1 b2 c", "b1 b2 b3 c", "b2 c", "b2 b3 c", "b3 c"
    ),
    "to first b, relaxed": case(wb.Pattern(PLUS, C, skip="to first b"), SKIPPING, "b1 b2 b3 c", "b1 b2 c", "b1 c"),
    **{
        f"greedy, {skip}": case(
            wb.Pattern(
                step(wb.step, "x", "a", "b", "c"), step(wb.followed_by, "y", "b", "c"),
                step(wb.followed_by, "z", "c").one_or_more().greedy(), D, skip=skip,
            ),
            "a b c1 c2 c3 d",
            *found,
        )
        for skip, found in {
            "no skip": ("a b c1 c2 c3 d", "b c1 c2 c3 d", "c1 c2 c3 d"),
            "to first z": ("a b c1 c2 c3 d", "c1 c2 c3 d"),
        }.items()
    },
    **{
        f"a b+, {skip}": case(wb.Pattern(A, B.one_or_more(), skip=skip), "a b1 b2 b3", *found)
        for skip, found in {"no skip": ("a b1", "a b1 b2", "a b1 b2 b3"), "to next": ("a b1",)}.items()
    },
}  # fmt: skip
NOT_B = wb.not_followed_by("n", side="left", where=kind("b"))
RETOLD = {
    # NFAITCase
    "a strict sequence is broken by another row": case(wb.Pattern(A, step(wb.next, "b")), "a1 c1 b1"),
    "one or more, then another": case(wb.Pattern(A.one_or_more(), B), "a1 a2 b1", "a1 b1", "a1 a2 b1", "a2 b1"),
    "an optional step in the middle": case(wb.Pattern(A, B.optional(), C), "a1 c1", "a1 c1"),
    "an optional step that comes": case(wb.Pattern(A, B.optional(), C), "a1 b1 c1", "a1 b1 c1", "a1 c1"),
    "twice": case(wb.Pattern(A, B.times(2), C), "a1 b1 b2 b3 c1", "a1 b1 b2 c1"),
    "twice, in any combination": case(
        wb.Pattern(A, B_ANY.times(2).allow_combinations(), C),
        "a1 b1 b2 b3 c1", "a1 b1 b2 c1", "a1 b1 b3 c1", "a1 b2 b3 c1",
    ),
    # TimesOrMoreITCase, TimesRangeITCase
    "twice or more": case(wb.Pattern(A, B.times_or_more(2), C), "a1 b1 b2 b3 c1", "a1 b1 b2 c1", "a1 b1 b2 b3 c1"),
    "once or twice": case(wb.Pattern(A, B.times(1, 2), C), "a1 b1 b2 b3 c1", "a1 b1 c1", "a1 b1 b2 c1"),
    # GreedyITCase
    "as many as there are": case(wb.Pattern(A, B.one_or_more().greedy(), C), "a1 b1 b2 c1", "a1 b1 b2 c1"),
    # UntilConditionITCase
    "until another row": case(
        wb.Pattern(A.one_or_more().until(kind("d")), B), "a1 d1 a2 b1", "a1 b1", "a2 b1",
    ),
    # NotPatternITCase
    "not followed by": case(wb.Pattern(A, NOT_B, C), "a1 b1 c1 a2 c2", "a2 c2"),
    "not next": case(wb.Pattern(A, step(wb.not_next, "n", "b"), C), "a1 b1 a2 d1 c1", "a2 c1"),
    "not followed by, at the end": case(
        wb.Pattern(A, NOT_B, within="3 seconds"), "a1 b1 a2 c1 c2 c3", "a2",
    ),
    # GroupITCase
    "a group that repeats": case(
        wb.Pattern(A, wb.followed_by(wb.group(step(wb.step, "b"), C)).times(2), D),
        "a1 b1 c1 b2 c2 d1", "a1 b1 c1 b2 c2 d1",
    ),
    "a group that may be left out": case(
        wb.Pattern(A, wb.followed_by(wb.group(step(wb.step, "b"), C)).optional(), D), "a1 b1 d1", "a1 d1",
    ),
    # AfterMatchSkipITCase
    "past the last row": case(
        wb.Pattern(A, step(wb.next, "b"), skip="past last event"), "a1 b1 a2 b2", "a1 b1", "a2 b2",
    ),
}  # fmt: skip
WORKED = {**{f"documented: {name}": each for name, each in DOCUMENTED.items()}, **RETOLD}


def generated():
    """Patterns and rows, each with a last row that is far behind the others."""
    cases = []
    for seed in SEEDS:
        chance, wanted = random.Random(seed), len(cases) + EACH
        while len(cases) < wanted:
            pattern, rows = pattern_cases.pattern(chance), pattern_cases.rows(chance)
            rows.append(Row(0, rows[-1].at + LATER, "z"))
            try:
                pattern_cases.found(pattern, rows)
            except pattern_cases.TooManyError:
                continue
            cases.append((pattern, rows))
    return cases


def java(patterns):
    """A class of Java with these patterns."""
    methods = "\n".join(
        f"    static Pattern<Row, ?> p{number}() {{\n        return {cep.expression(each, TYPES)};\n    }}"
        for number, each in enumerate(patterns)
    )
    put = "\n".join(f"        ALL.put({number}, p{number}());" for number in range(len(patterns)))
    body = f"""public final class Patterns {{
    static final Map<Integer, Pattern<Row, ?>> ALL = new java.util.HashMap<>();

    static {{
{put}
    }}
{methods}
{cep.HELPERS}{cep.EARLIER}{java_helpers(methods)}
}}"""
    return f"{java_imports(body)}\n\n{body}\n"


@pytest.fixture(scope="module")
def asked(pyflink, javac, tmp_path_factory):
    """Asks Flink what it finds: of some cases whether each is a match, and the rows of its steps, in order."""
    jars = f"{parts.flink_jars(pyflink)}/*"

    def ask(cases):
        return [each for place in range(0, len(cases), TOGETHER) for each in some(cases[place : place + TOGETHER])]

    def some(cases):
        folder = tmp_path_factory.mktemp("patterns")
        (folder / "Patterns.java").write_text(java([pattern for pattern, *_ in cases]))
        sources = [folder / "Patterns.java", HERE / "PatternsOfCases.java"]
        done = subprocess.run([javac, "-cp", jars, "-d", folder, *sources], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-4000:]
        lines = [
            "\t".join(
                [str(place), str(row.side), str(row.at), row.kind, "" if row.x is None else str(row.x), str(number)]
            )
            for place, (_, rows, *_) in enumerate(cases)
            for number, row in enumerate(rows)
        ]
        (folder / "rows").write_text("\n".join(lines))
        command = [
            "java",
            "-Xmx1g",
            *QUICK,
            *OPENED,
            "-cp",
            f"{folder}{os.pathsep}{jars}",
            "PatternsOfCases",
            folder / "rows",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, "\n".join(re.findall("Caused by.*", done.stderr)) or done.stderr[-4000:]
        assert "failed\t" not in done.stdout, re.findall("failed.*", done.stdout)
        found = defaultdict(list)
        for line in done.stdout.splitlines():
            if line.startswith("found\t"):
                _, place, what, words = line.split("\t")
                found[int(place)].append((what == "match", words.replace(",;", ";").rstrip(";")))
        return [found[place] for place in range(len(cases))]

    return ask


def test_generated_patterns_find_what_flink_finds(asked):
    """Matches, in order where a skip strategy keeps some of them, and partial matches that were given up."""
    cases = generated()
    for (pattern, rows), theirs in zip(cases, asked(cases), strict=True):
        last = str(len(rows) - 1)
        ours, theirs = (
            [each for each in found if last not in re.split("[=,;]", each[1])]
            for found in (pattern_cases.found(pattern, rows), theirs)
        )
        assert Counter(ours) == Counter(theirs), (pattern, rows)
        if pattern.skip != "no skip":
            assert [each for each in ours if each[0]] == [each for each in theirs if each[0]], (pattern, rows)


def test_the_generated_patterns_have_everything():
    cases = generated()
    said = " ".join(repr(pattern) for pattern, _ in cases)
    for word in (
        "wb.next(", "wb.followed_by(", "wb.followed_by_any(", "wb.not_next(", "wb.not_followed_by(", "wb.group(",
        ".times(", ".one_or_more()", ".times_or_more(", ".optional()", ".greedy()", ".consecutive()",
        ".allow_combinations()", ".until(", "within=", "wb.row(", "to next", "past last event", "to first ", "to last ",
    ):  # fmt: skip
        assert word in said, word
    assert sum(bool(pattern_cases.found(*each)) for each in cases) > len(cases) / 3


def rows_of(pattern, rows):
    """The matches of a worked case, as the words of their rows in order."""
    numbers = [
        sorted(int(n) for n in re.findall(r"\d+", re.sub(r"\w+=", "", words))) for match, words in pattern if match
    ]
    return Counter(" ".join(f"{rows[n].kind}{rows[n].x or ''}" for n in each) for each in numbers)


@pytest.mark.parametrize("name", WORKED)
def test_worked_cases(name):
    pattern, rows, expected = WORKED[name]
    assert rows_of(pattern_cases.found(pattern, rows), rows) == Counter(expected)


def test_flink_says_the_same_of_the_worked_cases(asked):
    cases = list(WORKED.values())
    for (name, (_, rows, expected)), found in zip(WORKED.items(), asked(cases), strict=True):
        assert rows_of(found, rows) == Counter(expected), name


def test_the_exported_job_finds_the_matches(pyflink, javac, tmp_path):
    """The job of Flink's CEP library, compiled with all warnings as errors, run on the files of both streams."""
    left, right = generators.generate("user_actions", events=150, seed=7, late=0.0, disorder=0.0)
    sides = []
    for stream, time in ((left, "acted_at"), (right, "paid_at")):
        frame = stream.to_pandas().sort_values(time)
        frame[time] = frame[time].dt.floor("ms")
        place = tmp_path / stream.name
        place.mkdir()
        lines = frame.to_json(orient="records", lines=True, date_format="iso")
        (place / "rows.json").write_text(re.sub(r"(\d\d\.\d{3})Z?\"", r'\1"', lines))
        sides.append(wb.Stream.from_files(place, stream.name, "user_id", time, "1 day", format="json"))
    join = wb.Pattern(
        wb.step("sign_in", side="left", where=wb.col("action") == "sign_in"),
        wb.followed_by(
            "small", side="right", where=(wb.col("status") == "declined") & (wb.col("amount") < 5)
        ).one_or_more(),
        wb.followed_by("large", side="right", where=wb.col("amount") > wb.row("small").amount * 100),
        within="15 minutes",
        skip="past last event",
    )
    name = flink.class_name(*sides)
    (tmp_path / f"{name}.java").write_text(flink.java(join, *sides))
    jars = f"{parts.flink_jars(pyflink)}/*"
    done = subprocess.run(
        [javac, "-Werror", "-Xlint:all,-classfile,-processing,-serial,-deprecation", "-cp", jars, "-d", tmp_path, tmp_path / f"{name}.java"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    command = ["java", "-Xmx1g", *QUICK, *OPENED, "-cp", f"{tmp_path}{os.pathsep}{jars}", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)
    assert done.returncode == 0, "\n".join(re.findall("Caused by.*", done.stderr)) or done.stderr[-4000:]
    seen = wb.preview(join, *sides)
    assert len(seen.output) > 1
    given_up = len(re.findall(r"^timed out", done.stdout, re.MULTILINE))
    keys = sorted(re.findall(r"^(?:\d+> )?\+I\[(u-\d+), ", done.stdout, re.MULTILINE))
    assert keys == sorted(seen.output["user_id"])
    assert given_up == len(seen.timed_out)


def test_flink_sql_has_no_pattern_over_two_streams():
    with pytest.raises(wb.ArgumentError, match="MATCH_RECOGNIZE is of one table"):
        flink.sql(wb.Pattern(step(wb.step, "a")), *_streams())


@pytest.mark.parametrize("call", [wb.flink.preview, wb.flink.run], ids=["preview", "run"])
def test_flinks_own_rules_of_lateness_do_not_cover_it(call):
    with pytest.raises(wb.ArgumentError, match="finds the same matches: see"):
        call(wb.Pattern(wb.step("a", side="left")), *_streams())


def _streams():
    import pandas as pd

    frame = pd.DataFrame({"k": ["x"], "t": [pd.Timestamp("2026-01-01")], "kind": ["a"]})
    return tuple(wb.Stream.from_pandas(frame, name, "k", "t") for name in ("lefts", "rights"))
