"""Patterns on Spark and in the model: matches, partial matches, state; reasons, fixes, script, and what is refused.

What a match is, is held to Flink's CEP library in ``tests/workbench/flink/test_flink_patterns.py``.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from pattern_streams import START, recorded
from scripts import run_here

import generators
import workbench as wb
from workbench import fixes, times
from workbench.kinds import kind_of, kinds


def kind(*words):
    return wb.col("kind").isin(*words)


A = wb.step("a", side="left", where=kind("a"))
B = wb.followed_by("b", side="right", where=kind("b"))
C = wb.followed_by("c", side="left", where=kind("c"))
PATTERNS = [
    wb.Pattern(A, B, within="20 seconds"),
    wb.Pattern(A, B),
    wb.Pattern(A, wb.next("b", side="right"), C.optional(), within="8 seconds"),
    wb.Pattern(A, B.one_or_more(), C, within="20 seconds", skip="past last event"),
    wb.Pattern(A, B.one_or_more().greedy(), C, within="20 seconds", skip="to next"),
    wb.Pattern(A.times(1, 3).consecutive(), B.times(2).allow_combinations(), within="30 seconds", skip="to last a"),
    wb.Pattern(A.one_or_more().until(kind("d"), side="right"), B, within="15 seconds", skip="to first b"),
    wb.Pattern(A, wb.not_followed_by("n", side="right", where=kind("d")), B, within="15 seconds"),
    wb.Pattern(A, wb.not_next("n", side="left"), B, within="15 seconds"),
    wb.Pattern(A, wb.not_followed_by("n", side="right", where=kind("b", "c")), within="6 seconds"),
    wb.Pattern(
        A,
        wb.followed_by(wb.group(wb.step("b", side="right"), wb.next("c", side="left"))).times(1, 2),
        wb.followed_by("e", side="right", where=kind("a", "b"), within="5 seconds"),
    ),
    wb.Pattern(
        A,
        wb.followed_by_any(
            "b", side="right", where=(wb.col("x") > wb.row("a").x) | wb.row("b").x.is_null()
        ).one_or_more(),
        wb.followed_by("c", side="left", where=wb.col("x") == wb.row("b").x),
        within="25 seconds",
        skip="past last event",
    ),
]


def matches(result):
    """What came out, as the numbers of the rows of each step."""
    steps = [name for name, _ in kind_of(result.join).match_columns(result.join)]
    found = []
    for frame in (result.output, result.timed_out):
        waited = frame["waited_for"] if "waited_for" in frame else [None] * len(frame)
        for batch, why, lists in zip(frame["batch"], waited, frame[steps].to_numpy().tolist(), strict=True):
            found.append((batch, why or "", *(tuple(row["n"] for row in each) for each in lists)))
    return sorted(found)


@pytest.mark.drawn(5)
@pytest.mark.parametrize("finish", [True, False])
@pytest.mark.parametrize("place", range(len(PATTERNS)))
def test_spark_finds_what_the_model_finds(spark, place, finish):
    """Matches, partial matches that are given up, and state after every micro-batch."""
    left, right = recorded(place)
    run = wb.run(PATTERNS[place], left, right, finish=finish, spark=spark)
    assert run.mismatch == ""
    facts = run.compare()
    assert (facts["differences"] == 0).all(), facts["examples"].tolist()
    seen = wb.preview(PATTERNS[place], left, right, finish=finish)
    assert matches(run) == matches(seen)
    assert run.output.equals(seen.output)
    for batch in (1, 3):
        timers, held = run.timers(batch)["k"], run.state(batch)["k"]
        assert timers.is_unique
        assert set(timers) == set(held) if PATTERNS[place].within else set(timers) <= set(held)


def test_the_patterns_find_something():
    counts = [len(matches(wb.preview(each, *recorded(place)))) for place, each in enumerate(PATTERNS)]
    assert min(counts) > 0
    assert sum(len(wb.preview(each, *recorded(place)).output) > 0 for place, each in enumerate(PATTERNS)) >= 10


@pytest.mark.parametrize("place", range(len(PATTERNS)))
def test_the_result_does_not_depend_on_arrival(place):
    """Rows in any order of arrival, with none late, make the same matches."""
    left, right = (each.with_watermark("1 day") for each in recorded(place))
    once = wb.preview(PATTERNS[place], *(_at_once(each) for each in (left, right)))
    found = wb.preview(PATTERNS[place], left, right)
    assert [each[1:] for each in matches(once)] == [each[1:] for each in matches(found)]


def _at_once(stream):
    return replace(stream, arrival=np.zeros(len(stream), dtype=np.int64), batch_count=1)


def test_every_row_has_a_fate_and_a_reason():
    seen = set()
    for place, each in enumerate(PATTERNS):
        rows = wb.preview(each, *recorded(place), finish=place % 2 == 0).rows
        assert rows["reason"].notna().all()
        seen |= set(rows["reason"].str.replace(r"\d[\d:.]*", "0", regex=True))
    said = " | ".join(seen)
    for words in (
        "in a match of 0 rows",
        "it fits no step",
        "but no partial match of its key waited for that",
        "which must not come",
        "came instead and ended it",
        "which another match excludes",
        "and none came",
        "late by",
        "its key is null",
        "waiting: it is a in a partial match",
    ):
        assert words in said, words


def test_a_fix_brings_its_row_into_a_match():
    tried = 0
    for place, each in enumerate(PATTERNS):
        left, right = recorded(place)
        rows = wb.preview(each, left, right).rows
        for row in rows.index[rows["fix_setting"].notna()][:4]:
            changed = fixes.apply(rows["fix_setting"][row], rows["fix_value"][row], each, left, right, finish=True)
            join, *sides, finish = changed
            assert wb.preview(join, *sides, finish=finish).rows["fate"][row] == "matched", (each, row)
            tried += 1
    assert tried > 5


@pytest.mark.family("the script of each kind gives the rows of the run")
def test_the_script_gives_the_rows_of_the_run(spark, tmp_path):
    left, right = recorded(11)
    run = wb.run(PATTERNS[11], left, right, spark=spark)
    own = run_here(spark, run, tmp_path)
    steps = [name for name, _ in kind_of(run.join).match_columns(run.join)]
    given = sorted(
        (row["waited_for"] or "", *(tuple(each["n"] for each in row[step]) for step in steps))
        for row in own.read.parquet(str(tmp_path / "output")).toPandas().to_dict("records")
    )
    assert given == sorted(each[1:] for each in matches(run))


def test_too_many_partial_matches_end_a_run_with_a_sentence(spark):
    left, right = recorded(1)
    join = wb.Pattern(A, B, most=1)
    with pytest.raises(wb.TooLargeError, match=r"most: got 1; the partial matches of key '.' hold more rows than that"):
        _ = wb.preview(join, left, right).rows
    [advice] = wb.advise(join, left, right)
    assert advice.problem.endswith("hold more rows than that")
    assert advice.remedy == "set a shorter within, or a larger most"
    with pytest.raises(wb.WorkbenchError, match=r"more than 1|hold more rows than that"):
        _ = wb.run(join, left, right, spark=spark).rows


def test_what_the_streams_do_not_have_is_said():
    left, right = recorded(1)
    for join, message in (
        (wb.Pattern(wb.step("a", side="left", where=wb.col("z") > 1)), "there is no column 'z'"),
        (wb.Pattern(A, wb.next("b", side="left", where=wb.row("a").z == 1)), "step 'a' has no column 'z'"),
        (wb.Pattern(A, wb.next("b", side="left", where=wb.row("a").x == "x")), "compare what is alike"),
        (wb.Pattern(wb.step("k", side="left")), "a column of the key"),
    ):
        with pytest.raises(wb.ArgumentError, match=message):
            wb.preview(join, left, right)


def test_frauds_are_found_in_the_scenario():
    left, right = generators.generate("user_actions", events=400, seed=7, late=0.0, disorder=0.0)
    found = wb.preview(kinds()["pattern"].example(), left, right).output
    assert len(found) > 2
    assert all(row["amount"] > 500 for paid in found["paid"] for row in paid)


def test_no_rows_at_all():
    left, right = recorded(1)
    none = left.to_pandas().iloc[:0]
    empty = wb.Stream.from_pandas(none, "lefts", "k", "t")
    seen = wb.preview(PATTERNS[0], empty, right)
    assert seen.output.empty and seen.timed_out.empty
    assert list(seen.output.columns) == ["k", "a", "b", "start", "end", "batch"]


def test_null_keys_are_in_no_match():
    sides = []
    for side in recorded(1):
        frame = side.to_pandas()
        frame["k"] = frame["k"].mask(frame["k"].notna(), None)
        sides.append(wb.Stream.from_pandas(frame, side.name, "k", "t", batch="batch"))
    for pattern in PATTERNS[:3]:
        assert set(wb.preview(pattern, *sides).rows.fate) == {"null_key"}


def test_a_key_with_very_many_matches_is_named():
    pattern = wb.Pattern(wb.step("a", side="left"), wb.followed_by_any("b", side="left"), within="1 hour")
    left, right = letters(" ".join(f"a{number}" for number in range(800)))
    with pytest.raises(
        wb.TooLargeError, match=r"more than 300,000 matches, the last of them of key .*: set a shorter within"
    ):
        _ = wb.preview(pattern, left, right).output


def letters(text, arrived=None, delay="1 day"):
    """Left rows of a text, a second apart, in micro-batches of one row each in order of arrival; right rows alike, or none."""
    words = text.split()
    order = range(len(words)) if arrived is None else [words.index(each) for each in arrived.split()]
    rows = pd.DataFrame(
        {"k": "k", "t": START + pd.to_timedelta(range(len(words)), unit="s"), "w": words, "kind": [w[0] for w in words]}
    )
    rows = rows.iloc[list(order)].assign(batch=range(len(words)))
    left = wb.Stream.from_pandas(rows, "lefts", "k", "t", delay, batch="batch")
    right = wb.Stream.from_pandas(rows if arrived else rows.iloc[:0], "rights", "k", "t", delay, batch="batch")
    return left, right


def test_fixes_where_a_match_has_rows_of_one_side_only():
    join = wb.Pattern(A, wb.followed_by("b", side="left", where=kind("b")))
    late = wb.preview(join, *letters("a b c d", arrived="d b a c", delay="0 seconds")).rows
    row = late[(late["side"] == "left") & (late["w"] == "a")].iloc[0]
    assert row["fix_setting"] == "left.watermark" and "brought it into a match" in row["reason"]
    kept = late[(late["side"] == "left") & (late["w"] == "b")].iloc[0]
    assert kept["reason"].endswith("with a watermark delay of 3.001 s on lefts it would be in a match")
    slow = wb.preview(wb.Pattern(A, join.steps[1], within="2 seconds"), *letters("a x x b")).rows
    assert slow["fix_value"].iloc[0] == "3.001 seconds"


def test_a_row_that_was_waited_for_and_came_late_is_told():
    join = wb.Pattern(A, wb.followed_by("b", side="left", where=kind("b")), within="3 seconds")
    rows = wb.preview(join, *letters("a b c d e", arrived="a d e b c", delay="0 seconds")).rows
    reason = rows[(rows["side"] == "left") & (rows["w"] == "a")]["reason"].iloc[0]
    assert "that waited for b until 10:00:03; b, which fits, came late and was dropped" in reason
    slow = wb.preview(join, *letters("a x x x b")).rows["reason"].iloc[0]
    assert "; the row at 10:00:04 came 1 s later" in slow
    exact = wb.preview(join, *letters("a x x b")).rows["reason"].iloc[0]
    assert "; the row at 10:00:03 came exactly then, which is too late" in exact


def test_what_is_asked_of_earlier_rows_is_not_said_of_a_row_alone():
    asks = kind("q") & (wb.col("w") != wb.row("a").w)
    rows = wb.preview(wb.Pattern(A, wb.next("q", side="left", where=asks)), *letters("q y a")).rows
    said = dict(zip(rows["w"], rows["reason"], strict=False))
    assert said["q"] == "it may fit q, depending on earlier rows, but no partial match of its key took it"
    assert said["y"] == "it fits no step: it fails the conditions of a and q"


def test_a_step_that_must_not_come_is_not_waited_for():
    rows = wb.preview(
        wb.Pattern(A, wb.not_next("n", side="left", where=kind("b")), within="5 seconds"), *letters("a")
    ).rows
    assert "that waited for a row other than n" in rows["reason"].iloc[0]


def test_a_row_that_ended_a_partial_match_or_came_after_it_says_so():
    join = wb.Pattern(
        A, wb.not_followed_by("x", where=kind("x"), side="left"), wb.followed_by("b", side="left", where=kind("b"))
    )
    rows = wb.preview(join, *letters("a x b")).rows.set_index("w")["reason"]
    assert rows["x"] == "it ended a partial match of 1 row, which it must not follow"
    strict = wb.Pattern(A, wb.next("b", side="left", where=kind("b")))
    rows = wb.preview(strict, *letters("a c b")).rows.set_index("w")["reason"]
    assert rows["c"] == "it ended a partial match of 1 row that waited for b"
    timed = wb.Pattern(A, wb.followed_by("b", side="left", where=kind("b")), within="2 seconds")
    rows = wb.preview(timed, *letters("a c d e b")).rows.set_index("w")["reason"]
    assert rows["b"] == (
        "it fits b, but the last partial match that waited for that timed out at 10:00:02, 2 s earlier; with a within of "
        "4.001 s, 2.001 s more, it would be in a match"
    )


def test_every_row_that_a_longer_within_would_match_has_the_shortest_one():
    """Of many keys, each with a span of its own."""
    count = 90
    rows = pd.DataFrame(
        {
            "k": [f"u{each}" for each in range(count)],
            "kind": "a",
            "t": START + pd.to_timedelta(range(count), unit="min"),
        }
    )
    later = rows.assign(kind="b", t=rows["t"] + pd.to_timedelta(10 + np.arange(count) / 10, unit="s"))
    streams = [
        wb.Stream.from_pandas(each, name, "k", "t", "1 hour") for each, name in ((rows, "lefts"), (later, "rights"))
    ]
    steps = A, wb.followed_by("b", side="right", where=kind("b"))
    for skip in ("no skip", "past last event"):
        found = wb.preview(wb.Pattern(*steps, within="5 seconds", skip=skip), *streams).rows
        values = found["fix_value"].map(lambda each: times.parse(each, "value") // pd.Timedelta("1 ms"))
        exact = [10_001 + 100 * each for each in range(count)]
        assert (found["fate"] == "unmatched").all()
        if skip == "no skip":
            assert values.tolist() == exact * 2
        assert all(value >= least for value, least in zip(values, exact * 2, strict=True))
        assert values.max() == exact[-1]


@pytest.mark.parametrize("seed", range(20))
def test_no_shorter_within_matches_a_row(seed):
    chance = np.random.default_rng(seed)
    left, right = recorded(seed)
    join = wb.Pattern(A, wb.followed_by_any("b", side="right"), within=f"{int(chance.integers(1, 4))} seconds")
    rows = wb.preview(join, left, right).rows
    for place in rows.index[rows["fix_setting"] == "within"][:3]:
        value = times.parse(rows["fix_value"][place], "value") - pd.Timedelta("2 ms")
        shorter = wb.Pattern(*join.steps, within=value)
        assert wb.preview(shorter, left, right).rows["fate"][place] == "unmatched"


def test_a_key_with_too_many_partial_matches_takes_no_fix_from_the_others():
    join = wb.Pattern(A, B.one_or_more().allow_combinations(), within="5 seconds")
    hot = [("h", 0, "a"), *(("h", 100 + each, "b") for each in range(40))]
    sides = {"a": [("k", 0, "a"), hot[0]], "b": [("k", 30, "b"), *hot[1:]]}
    made = []
    for name, rows in sides.items():
        frame = pd.DataFrame(rows, columns=["k", "t", "kind"])
        frame["t"] = START + pd.to_timedelta(frame["t"], unit="s")
        made.append(wb.Stream.from_pandas(frame, name, "k", "t", "1 hour"))
    rows = wb.preview(join, *made).rows
    assert rows.loc[rows["k"] == "k", "fix_value"].tolist() == ["30.001 seconds"] * 2


def test_tuning_counts_matches_of_the_longest_within_but_where_nothing_must_come():
    left, right = recorded(1)
    spans = ["1 second", "5 seconds", "15 seconds"]
    table = wb.tune(wb.Pattern(A, B, within="5 seconds"), left, right, over={"within": spans}).table.set_index("within")
    assert table.loc[spans, "kept"].is_monotonic_increasing
    assert table["kept"]["1 second"] < table["kept"]["15 seconds"]
    nothing = wb.Pattern(A, wb.not_followed_by("n", side="right", where=kind("b")), within="5 seconds")
    kept = wb.tune(nothing, left, right, over={"within": spans}).table.set_index("within")["kept"]
    assert (
        kept == wb.tune(nothing, left, right, over={"left.watermark": [left.watermark]}).table["kept"].iloc[0]
    ).any()
    assert wb.tune(wb.IntervalJoin("0 s", "5 s", "anti"), left, right, over={"upper": spans}).table["kept"].min() > 0.5
