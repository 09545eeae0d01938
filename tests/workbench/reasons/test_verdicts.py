"""Verdicts: each from a recording, through all that is read from it, and on its page."""

from __future__ import annotations

import sys
from pathlib import Path
from string import Formatter

import numpy as np
import pytest
import strategies
from verdict_examples import EXAMPLES, TABLES, stream

import workbench as wb
from workbench import report
from workbench.builtin_kinds.rules.verdicts import RuleVerdict
from workbench.literals import FATES
from workbench.model import Simulation
from workbench.reasons.own import sentences
from workbench.reasons.slots import SentenceSlots
from workbench.runs import why
from workbench.runs.preview import Preview
from workbench.verdicts import SharedVerdict

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "docs"))

import verdict_page

IDS = [str(each.verdict) for each in EXAMPLES]


def test_every_verdict_has_an_example():
    listed = [verdict for table in TABLES.values() for verdict in table]
    assert [example.verdict for example in EXAMPLES if example.verdict not in listed] == []
    assert set(listed) == {example.verdict for example in EXAMPLES}
    names = [str(verdict) for verdict in listed]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("example", EXAMPLES, ids=IDS)
def test_a_verdict_is_told_in_every_place(example):
    """Fate, cause, reason, story, causes as counted, and the groups of a report agree."""
    simulation = example.simulation()
    side, row = example.row
    verdict, cause, reason = example.told()
    assert verdict is example.verdict
    assert simulation.fates[side]["fate"][row] == verdict.fate in FATES
    assert "{" not in cause + reason
    asked = {each: np.array([row] if each == side else [], dtype=np.int64) for each in ("left", "right")}
    alone = sentences(simulation, asked)
    assert (alone.verdicts[side][0], alone.causes(side)[0]) == (verdict, cause)
    assert alone.table[side]["reason"][row] == reason
    index = row + (len(simulation.left) if side == "right" else 0)
    assert sentences(simulation).causes(side)[row] == cause
    story = why.why(simulation, index)
    assert ("verdict", reason) in story.facts
    if example.facts is None:
        run = wb.preview(example.join, *example.streams(), **example.settings)
        assert run.verdicts[index] == str(verdict)
        assert (run.causes[index], run.rows["reason"][index], run.rows["fate"][index]) == (cause, reason, verdict.fate)
        groups = {group["label"] for group in report.unmatched(run, 100_000).groups}
        assert (f"{simulation.side(side).name}: {cause}" in groups) is (verdict.fate != "matched")
        run.charts.drawing("misses")
    if "KEY_" in verdict.name:  # nothing that is not there, or does not come to the join, would be met
        assert "matched it with" not in reason
        assert "would have matched" not in reason


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (
            SharedVerdict.CONDITION_FAILS,
            "wb.col('left_value') < wb.col('right_value'): left_value is 5, right_value is 3",
        ),
        (RuleVerdict.MEETS_NONE, "value > 80.0: value is 70.0"),
    ],
    ids=str,
)
def test_a_story_says_which_part_of_the_condition_a_candidate_fails(verdict, words):
    simulation = next(each for each in EXAMPLES if each.verdict is verdict).simulation()
    [candidate] = why.why(simulation, 0).candidates.itertuples()
    assert candidate.failed == f", but fails {words}"
    assert f"it, but fails {words}" in why.why(simulation, 0).text


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.__name__)
def test_every_slot_of_a_sentence_is_a_method(table):
    kinds = {type(sentences(example.simulation())) for example in EXAMPLES if type(example.verdict) is table}
    for verdict in table:
        for template in (verdict.cause, verdict.sentence):
            for _, slot, _, _ in Formatter().parse(template):
                assert slot is None or any(callable(getattr(kind, slot, None)) for kind in kinds | {SentenceSlots}), (
                    slot
                )
        assert verdict.remedy


@strategies.in_parts(20, 10, case=strategies.cases())
def test_every_row_has_one_verdict_of_its_fate(case):
    left, right = case.streams()
    run = Preview(Simulation(case.join, left, right, case.finish, case.policy))
    for side, rows in (("left", left), ("right", right)):
        verdicts = run.reasons.verdicts[side]
        assert [each.fate for each in verdicts] == run.simulation.fates[side]["fate"].tolist()
        assert len(verdicts) == len(rows)
    assert len(run.causes) == len(run.verdicts) == len(run.rows)


def test_the_page_of_verdicts_is_what_the_workbench_says():
    assert verdict_page.PAGE.read_text(encoding="utf-8") == verdict_page.text(), "run docs/refresh.py"


def preview_of(join, left, right):
    """A preview of some seconds of one key, each with its micro-batch."""
    streams = [stream([("k", *row) for row in rows], name) for rows, name in ((left, "orders"), (right, "payments"))]
    return wb.preview(join, *streams)


@pytest.mark.parametrize("direction", [1, -1])
def test_the_cause_and_the_reason_of_a_miss_name_the_same_bound(direction):
    """The nearest in time is 5 s away from the lower bound, the nearest to a bound 2 s beyond the upper one."""
    lower, upper = ("10 s", "20 s") if direction == 1 else ("-20 s", "-10 s")
    run = preview_of(
        wb.IntervalJoin(lower, upper, "left"), [(100, 0)], [(100 + 5 * direction, 0), (100 + 22 * direction, 0)]
    )
    far, name = ("beyond_upper", "upper") if direction == 1 else ("before_lower", "lower")
    assert run.verdicts[0] == far
    assert f"2 s beyond the {name} bound" in run.rows["reason"][0]


def test_a_bound_is_not_to_blame_where_the_only_partner_was_late():
    left = stream([("k", 100, 0), ("z", 200, 0), ("z", 201, 1)], "orders")
    right = stream([("z", 200, 0), ("z", 201, 1), ("k", 50, 2)], "payments")
    run = wb.preview(wb.IntervalJoin("0 s", "10 s", "left"), left, right)
    assert run.verdicts[0] == "no_partner_on_time"
    assert "beyond" not in run.rows["reason"][0]


def test_a_nearer_row_in_the_wrong_direction_does_not_hide_one_beyond_the_tolerance():
    run = preview_of(wb.AsOfJoin("backward", "10 s", how="left"), [(100, 0)], [(102, 0), (50, 0)])
    assert (run.verdicts[0], run.rows["fix_setting"][0]) == ("beyond_tolerance", "tolerance")


BLAMED = {
    "beyond_upper": {"upper"},
    "before_lower": {"lower"},
    "beyond_tolerance": {"tolerance"},
    "other_window": {"size", "offset"},
    "other_session": {"gap", None},
    "no_partner_on_time": {None},
    "none_in_direction": {None},
}


@strategies.in_parts(60, 10, case=strategies.cases())
def test_the_verdict_of_a_miss_blames_what_its_fix_changes(case):
    left, right = case.streams()
    rows = Preview(Simulation(case.join, left, right, case.finish, case.policy)).rows
    for verdict, settings in BLAMED.items():
        assert set(rows["fix_setting"][rows["verdict"] == verdict]) <= settings
    near = rows["reason"][rows["verdict"].isin(["partner_late", "late_for_partner"])]
    assert not near.str.contains("near miss|but it has no partner (?:within|in)").any()
