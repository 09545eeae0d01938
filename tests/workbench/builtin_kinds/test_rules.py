"""Rules joins: against plain loops and Spark; fates, reasons, fixes, state, script, and what is refused."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import helpers
import numpy as np
import pandas as pd
import pytest
import reference
import strategies
from hypothesis import strategies as st
from rule_cases import JOINS, START, cases
from scripts import written_here

import generators
import workbench as wb
from workbench.joins import AS_OF
from workbench.kinds import kind_of


def actual(result):
    """The pairs that came out, as row numbers: the rows of a case have none of their own."""
    outputs = result.simulation.outcome.outputs
    left, right = (outputs.first(side) for side in ("left", "right"))
    return reference.sort(list(zip(left.tolist(), right.tolist(), strict=True)))


@strategies.in_parts(4, 80, case=cases())
def test_it_is_what_its_definition_says(case):
    preview = wb.preview(case.join, *case.streams())
    assert actual(preview) == helpers.expected(case.join, preview.left, preview.right)


@strategies.in_parts(2, 60, case=cases(joins=JOINS[:2]), seed=st.integers(0, 10**6))
def test_by_event_time_the_order_of_arrival_does_not_matter(case, seed):
    """But for versions of one rule at the same time, of which the last one counts."""
    right = {(row[0] if case.join.copies is None else "", row[1], row[2]): row for row in case.right}
    chance = np.random.default_rng(seed)

    def outcome(case):
        out = wb.preview(case.join, *case.streams()).output.drop(columns="batch")
        return sorted(map(repr, out.itertuples(index=False)))

    case = replace(case, right=tuple(right.values()))
    shuffled = [tuple((*row[:-1], int(chance.integers(0, 4))) for row in side) for side in (case.left, case.right)]
    assert outcome(case) == outcome(replace(case, left=shuffled[0], right=shuffled[1]))


@strategies.in_parts(12, 2, case=cases(delay="2 seconds"))
@pytest.mark.usefixtures("spark")
def test_spark_does_as_the_model_says(case):
    left, right = case.streams()
    if not (len(left) and len(right)):
        return
    preview, run = wb.preview(case.join, left, right), wb.run(case.join, left, right)
    assert run.mismatch == ""
    for batch in range(len(run.batches)):
        columns = [name for name in preview.state(batch) if name != "state_bytes"]
        pd.testing.assert_frame_equal(run.state(batch)[columns], preview.state(batch)[columns])
    assert run.batches["state_rows"].tolist() == preview.batches["state_rows"].tolist()


def sides(**more):
    return generators.generate("readings_thresholds", **{"events": 150, "late": 0.1, "seed": 3, "batches": 6} | more)


@pytest.fixture(scope="module", params=JOINS, ids=repr)
def run(request, spark):
    return wb.run(request.param, *sides(watermark="3 s"))


def test_a_scenario_on_spark(run):
    assert run.mismatch == ""
    assert len(run.output) > 10
    assert bool(len(run.late)) == (run.join.as_of == "event time")
    listed = run.state(2)
    assert set(listed["side"]) == ({"left", "right"} if run.join.as_of == "event time" else {"right"})
    copies = run.join.copies or 1
    held = listed["side"].eq("left").sum() + copies * listed["side"].eq("right").sum()
    assert held == run.batches["state_rows"].iloc[2]


def test_timers(run):
    if run.join.as_of == "arrival":
        with pytest.raises(wb.ArgumentError, match="has no timers"):
            run.timers(0)
        return
    timers = run.timers(2)
    assert timers["fires_at"].is_monotonic_increasing
    assert list(timers) == (["sensor_id"] if run.join.copies is None else ["copy"]) + ["fires_at"]


@pytest.mark.family("the script of each kind gives the rows of the run")
def test_the_script_gives_the_rows_of_the_run(run, spark, tmp_path):
    written, expected = written_here(spark, run, tmp_path)
    assert written == expected


def test_a_saved_run_is_loaded(run, tmp_path):
    run.save(tmp_path / "run")
    loaded = wb.load(tmp_path / "run")
    assert loaded.join == run.join
    pd.testing.assert_frame_equal(loaded.rows, run.rows)


def previewed(join, left, right, **settings):
    readings = pd.DataFrame(left, columns=["key", "at", "heat", "batch"])
    rules = pd.DataFrame(right, columns=["key", "at", "rule_id", "field", "op", "value", "withdrawn", "batch"])
    made = []
    for frame, name in ((readings, "readings"), (rules, "rules")):
        frame["at"] = START + pd.to_timedelta(frame["at"], unit="s")
        made.append(wb.Stream.from_pandas(frame, name, "key", "at", settings.get("delay", "1 minute"), batch="batch"))
    return wb.preview(join, *made, finish=settings.get("finish", True))


def reasons(join, left, right, **settings):
    found = previewed(join, left, right, **settings).rows
    return [found.loc[found["side"] == side, "reason"].tolist() for side in ("left", "right")]


HOT = ("a", 5, "hot", "heat", ">", 80.0, False, 0)


def test_reasons_of_rows_and_rules():
    left = [("a", 1, 90.0, 0), ("a", 6, 90.0, 0), ("a", 7, 78.5, 0), ("b", 7, 90.0, 0), ("a", 20, 90.0, 1)]
    right = [
        HOT,
        ("a", 0, "cold", "heat", "<", 10.0, False, 0),
        ("a", 15, "hot", "heat", ">", 80.0, True, 0),
        ("c", 15, "hot", "wet", ">", 80.0, False, 0),
        ("a", 15, None, "heat", ">", 80.0, False, 0),
        ("a", 0, "cold", "heat", "<", 5.0, False, 1),
    ]
    mine, theirs = reasons(wb.RulesJoin(), left, right)
    assert mine == [
        "1 rule was in force, but it meets none: cold (heat < 5); it has 90, 85 away",
        "meets 1 rule: hot (heat > 80) of 10:00:05, first in micro-batch 3",
        "2 rules were in force, but it meets none: the nearest is hot (heat > 80); it has 78.5, 1.5 away",
        "no partner: key b never arrived on rules",
        "1 rule was in force, but it meets none: cold (heat < 5); it has 90, 85 away",
    ]
    assert theirs == [
        "hot (heat > 80): met by 1 row of readings, first in micro-batch 3",
        "another version of cold, at the same time, came after it and replaced it",
        "it withdraws rule hot from 10:00:15 on",
        "no partner: key c never arrived on readings",
        "its rule_id is null, so it belongs to no rule",
        "cold (heat < 5): 4 rows of readings came while it was in force, and none met it",
    ]


def test_a_rule_that_comes_late_is_said_of_the_rows_that_it_would_have_judged():
    left = [("a", 1, 50.0, 0), ("a", 60, 50.0, 1), ("a", 61, 90.0, 2), ("a", 8, 90.0, 3)]
    right = [
        ("a", 0, "cold", "heat", "<", 60.0, False, 0),
        ("a", 60, "cold", "heat", "<", 60.0, False, 1),
        (*HOT[:-1], 3),
    ]
    mine, theirs = reasons(wb.RulesJoin(), left, right, delay="2 seconds")
    assert mine[3] == (
        "late by 50 s: it arrived in micro-batch 3, when the watermark for late rows stood at 10:00:58; a "
        "watermark delay of 52.001 s on readings would have kept it; with a watermark delay of 55.001 s on readings it would have matched hot (heat > 80) of 10:00:05"
    )
    assert theirs[2].startswith("late by 53 s: it arrived in micro-batch 3")


def test_rows_that_came_in_time_are_told_of_the_version_that_came_late():
    """One more rule would be met, another one, or none, as the late one withdraws it."""
    old = ("a", 0, "hot", "heat", ">", 80.0, False, 0)
    readings = [("a", 12, 85.0, 0), ("a", 12, 75.0, 0), *(("a", 30 * each, 1.0, each) for each in (1, 2, 3))]
    steps = [("c", 30 * each, "hot", "heat", ">", 80.0, False, each) for each in (1, 2)]
    settings = {"delay": "0 seconds"}
    late = ("a", 10, "hot", "heat", ">", 70.0, False, 3)
    mine, _ = reasons(wb.RulesJoin(), readings, [old, *steps, late], **settings)
    assert mine[0] == (
        "meets 1 rule: hot (heat > 80) of 10:00:00, first in micro-batch 2; with no version late, it would meet "
        "hot (heat > 70) of 10:00:10"
    )
    assert mine[1] == (
        "1 rule was in force, but it meets none: hot (heat > 80); it has 75, 5 away; with a watermark delay of "
        "20.001 s on readings it would have matched hot (heat > 70) of 10:00:10"
    )
    gone = ("a", 10, "hot", "heat", ">", 70.0, True, 3)
    mine, theirs = reasons(wb.RulesJoin(), readings, [old, *steps, gone], **settings)
    assert mine[0].endswith("first in micro-batch 2; with no version late, it would meet none")
    assert mine[1] == "1 rule was in force, but it meets none: hot (heat > 80); it has 75, 5 away"
    policy = "(policy min: the query's watermark is the lower of those of readings and rules)"
    assert theirs[3].endswith(f" would have kept it {policy}, and would have withdrawn hot from 10:00:10 on")


@pytest.mark.parametrize(
    ("rule", "mine", "theirs"),
    [
        ({"op": "?"}, "hot (heat ? 80); there is no operator '?'", "no row can meet hot (heat ? 80): there is no operator '?'"),
        ({"op": None}, "hot (heat null 80); its op is null", "no row can meet hot (heat null 80): its op is null"),
        ({"field": None}, "hot (null > 80); its field is null", "no row can meet hot (null > 80): its field is null"),
        ({"value": float("nan")}, "hot (heat > null); its value is null", "no row can meet hot (heat > null): its value is null"),
        ({"value": 90.00001}, "hot (heat > 90.00001); it has 90, 1e-05 away", "came while it was in force, and none met it"),
        ({"rule_id": "a\n\u202e" + 99 * "b"}, "a\\n\\u202e" + 51 * "b" + "… (heat > 95)", "a\\n\\u202e"),
    ],
)  # fmt: skip
def test_reasons_of_odd_rules(rule, mine, theirs):
    given = dict(zip(("key", "at", "rule_id", "field", "op", "value", "withdrawn", "batch"), HOT, strict=True))
    given |= {"value": 95.0} if "rule_id" in rule else {}
    one, other = reasons(wb.RulesJoin(), [("a", 6, 90.0, 0)], [tuple((given | rule).values())])
    assert mine in one[0]
    assert theirs in other[0]
    assert one[0].isprintable()
    assert other[0].isprintable()


def test_a_rule_that_can_be_met_is_nearer_than_one_that_cannot():
    mine, _ = reasons(wb.RulesJoin(), [("a", 6, 80.0, 0)], [("a", 5, "odd", "heat", "?", 80.0, False, 0), HOT])
    assert mine == ["2 rules were in force, but it meets none: the nearest is hot (heat > 80); it has 80"]


@pytest.mark.filterwarnings("error")
def test_infinite_values_have_a_distance_or_none():
    infinite = float("inf")
    mine, _ = reasons(wb.RulesJoin(), [("a", 6, infinite, 0)], [("a", 5, "hot", "heat", "<", infinite, False, 0)])
    assert mine == ["1 rule was in force, but it meets none: hot (heat < inf); it has inf"]


def test_near_misses_are_distances_from_what_the_nearest_rule_asks_for():
    """By field, below 0 where the row has less; rows with no rule in force, or none to compare with, are counted."""
    odd = ("b", 5, "odd", "heat", "?", 80.0, False, 0)
    cold = ("a", 5, "cold", "heat", "<", 20.0, False, 0)
    left = [("a", 1, 90.0, 0), ("a", 6, 79.0, 0), ("a", 7, 21.0, 0), ("a", 8, 81.0, 0), ("b", 6, 80.0, 0)]
    preview = previewed(wb.RulesJoin(), left, [HOT, cold, odd])
    drawing = preview.charts.drawing("misses")
    assert drawing.subtitle == (
        "2 rows of readings missed the nearest rule of rules in force; 2 more had none in force, or none to "
        "compare with"
    )
    bins = drawing.tables["rows"]
    np.testing.assert_allclose(bins[["from", "to"]], [(-1.0, -0.95), (0.95, 1.0)])
    assert bins["rows"].tolist() == [1, 1]
    assert json.dumps(preview.charts.misses().to_dict()).count('"heat"') == 1
    nothing = previewed(wb.RulesJoin(), left[:1], [HOT]).charts.drawing("misses")
    assert nothing.tables["rows"].empty


@pytest.mark.parametrize("heat", [4.5e14, 4.5e15, 1e18, -1e308])
def test_near_misses_that_are_far_apart_for_their_number_are_drawn(heat):
    preview = previewed(wb.RulesJoin(), [("a", 6, heat, 0)], [("a", 5, "hot", "heat", "=", 1.0, False, 0)])
    rows = preview.charts.drawing("misses").tables["rows"]
    assert rows["rows"].tolist() == [1]
    assert (rows["from"] < rows["to"]).all()
    both = previewed(
        wb.RulesJoin(), [("a", 6, heat, 0), ("a", 6, 1e308, 0)], [("a", 5, "hot", "heat", "=", 1.0, False, 0)]
    )
    assert both.charts.drawing("misses").tables["rows"]["rows"].sum() == 2


def test_by_arrival_there_is_nothing_to_tune_and_no_advice_about_watermarks():
    join, streams = wb.RulesJoin(as_of="arrival"), sides(late=0.3, idle=("right", 0.2, 0.9))
    assert any("watermark" in str(each) for each in wb.advise(wb.RulesJoin(), *streams))
    assert not any("watermark" in str(each) for each in wb.advise(join, *streams))
    with pytest.raises(wb.WorkbenchError, match=r"join: got RulesJoin.*; this join has no late or waiting rows"):
        wb.tune(join, *streams)


def test_withdrawals_that_take_nothing_back():
    gone = ("a", 5, "hot", "heat", ">", 80.0, True, 0)
    _, theirs = reasons(wb.RulesJoin(), [("a", 6, 90.0, 0)], [gone, HOT])
    assert theirs[0] == "another version of hot, at the same time, came after it and replaced it"
    _, theirs = reasons(wb.RulesJoin(), [("a", 6, 90.0, 0)], [gone])
    assert theirs == ["it withdraws rule hot, which had no version before 10:00:05"]


def test_a_withdrawal_by_arrival_counts_from_its_micro_batch():
    rules = [HOT, ("a", 2, "hot", "heat", ">", 80.0, True, 1)]
    _, theirs = reasons(wb.RulesJoin(as_of="arrival"), [("a", 6, 90.0, 0)], rules)
    assert theirs[1] == "it withdraws rule hot from micro-batch 1 on"


@pytest.mark.parametrize("join", [wb.RulesJoin(as_of=as_of, copies=3) for as_of in AS_OF], ids=repr)
def test_rules_for_any_key_with_another_number_of_key_columns(join, spark):
    readings, thresholds = (each.to_pandas() for each in sides(events=60))
    one = wb.Stream.from_pandas(readings, "readings", ["sensor_id", "site"], "read_at")
    other = wb.Stream.from_pandas(thresholds, "thresholds", "rule_id", "since")
    compile(wb.preview(join, one, other).script, "script", "exec")
    assert "class" in wb.flink.java(join, one, other)
    run = wb.run(join, one, other)
    assert run.mismatch == ""
    partitions = run.partitions(2)
    rules = int((run.simulation.outcome.assignments["right"]["late"] == 0).sum())
    assert partitions["rows"].sum() == len(one) + 3 * rules
    assert partitions["keys"].sum() == 3


def test_rules_by_arrival_say_what_event_time_would_give():
    left, right = [("a", 6, 90.0, 0), ("a", 7, 90.0, 1)], [("a", 3, "hot", "heat", ">", 80.0, False, 1)]
    mine, theirs = reasons(wb.RulesJoin(as_of="arrival"), left, right, finish=False)
    assert mine == [
        "no rule of rules was in force when it came; by event time, it would meet hot (heat > 80) of 10:00:03",
        "meets 1 rule: hot (heat > 80) of 10:00:03, first in micro-batch 1",
    ]
    assert theirs == ["hot (heat > 80): met by 1 row of readings, first in micro-batch 1"]


@strategies.in_parts(2, 40, case=cases(delay="2 seconds", joins=JOINS[:2]))
def test_every_row_has_a_reason_and_a_fix_matches_it(case):
    from workbench import fixes

    preview = wb.preview(case.join, *case.streams())
    rows = preview.rows
    assert rows["reason"].str.len().gt(0).all()
    for row, each in rows[rows["fix_setting"].notna()].iterrows():
        join, left, right, finish = fixes.apply(
            each["fix_setting"], each["fix_value"], preview.join, preview.left, preview.right, finish=True
        )
        assert wb.preview(join, left, right, finish=finish).rows.loc[row, "fate"] == "matched", each["reason"]


def test_what_the_state_holds_and_why():
    preview = wb.preview(wb.RulesJoin(), *sides(), finish=False)
    last = len(preview.batches) - 1
    rules = preview.state(last).query("side == 'right'")
    latest = rules[rules["leaves_at"].isna()]
    assert len(latest) > 5
    assert not latest.duplicated(["sensor_id", "rule_id"]).any()
    assert not latest["withdrawn"].any()
    assert preview.state_by_key(last)["held_by"].str.contains("until another takes its place|the watermark").all()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"field": ""}, "field: got ''; give the name of a column of the right stream"),
        ({"rule": 3}, "rule: got 3"),
        ({"as_of": "now"}, "as_of: got 'now'; use one of 'event time', 'arrival'"),
        ({"copies": 0}, "copies: got 0; use a whole number, from 1 to 10,000"),
        ({"copies": True}, "copies: got True"),
        ({"withdrawn": ""}, "withdrawn: got ''"),
        ({"field": "\ud800"}, "field: got"),
        ({"op": "value"}, "value: got 'value'; it is the column of op, too: name another one"),
        ({"rule": "op"}, "rule: got 'op'; it is the column of op, too"),
    ],
)
def test_wrong_arguments(given, words):
    with pytest.raises(wb.ArgumentError, match=re.escape(words)):
        wb.RulesJoin(**given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"field": "feld"}, "field: got 'feld'; thresholds has no such column: name one of sensor_id"),
        ({"withdrawn": "gone"}, "or None where no rule is ever withdrawn"),
        (
            {"value": "since"},
            "value: got column 'since' of thresholds, which holds timestamp.* values; use one of numbers",
        ),
        (
            {"rule": "since"},
            "rule: got column 'since' of thresholds, which holds timestamp.* values; use one of text or whole",
        ),
        (
            {"withdrawn": "changed_by"},
            "withdrawn: got column 'changed_by' of thresholds, which holds string values; use one of booleans",
        ),
    ],
)
def test_streams_without_the_columns_of_rules_are_refused(given, words):
    with pytest.raises(wb.ArgumentError, match=words):
        wb.preview(wb.RulesJoin(**given), *sides())


def test_rules_for_any_key_need_no_key_of_the_same_type():
    readings, thresholds = (each.to_pandas() for each in sides())
    one = wb.Stream.from_pandas(readings.assign(number=range(len(readings))), "readings", "number", "read_at")
    other = wb.Stream.from_pandas(thresholds, "thresholds", "rule_id", "since")
    with pytest.raises(wb.ArgumentError, match="key: got"):
        wb.preview(wb.RulesJoin(), one, other)
    assert len(wb.preview(wb.RulesJoin(copies=4), one, other).output) > 40


def test_spark_4_0_has_no_processor_for_it(spark, monkeypatch):
    monkeypatch.setattr("workbench.session.version_of", lambda _: "4.0.1")
    with pytest.raises(wb.ArgumentError, match=r"it needs Spark 4\.1 or later, and this is 4\.0\.1$"):
        wb.run(wb.RulesJoin(), *sides())


def test_numbers_of_numpy_are_plain_ones():
    assert repr(wb.RulesJoin(copies=np.int64(3), field=np.str_("asks"))) == "RulesJoin(field='asks', copies=3)"
    assert wb.RulesJoin(rule="field") == wb.RulesJoin(rule="field", field="field")  # one rule for each column


def test_a_rule_on_a_column_that_there_is_not():
    mine, _ = reasons(wb.RulesJoin(), [("a", 6, 90.0, 0)], [("a", 5, "wet", "damp", ">", 80.0, False, 0)])
    assert mine == ["1 rule was in force, but it meets none: wet (damp > 80); readings has no column 'damp' of numbers"]


def test_the_kinds_of_the_form():
    for join in JOINS:
        kind = kind_of(join)
        assert kind.make(kind.typed(join), {}, "inner") == join
    kind = kind_of(JOINS[0])
    assert kind.make(kind.typed(wb.RulesJoin(withdrawn=None)), {}, "inner") == wb.RulesJoin(withdrawn=None)
    for text in ("x", "0", "1.5", "-1"):
        with pytest.raises(wb.ArgumentError, match="copies"):
            kind.make(kind.typed(JOINS[0]) | {"copies": text}, {}, "inner")


def test_no_watermark_evicts_a_rule_that_arrived():
    """Its latest version stays until another comes, however far the watermark is."""
    preview = wb.preview(wb.RulesJoin(as_of="arrival"), *generators.generate("readings_thresholds", events=40, seed=2))
    held = preview.state(3)
    assert len(held)
    assert held["leaves_at"].isna().all()
    assert preview.state_by_key(3)["leaves_at"].isna().all()
