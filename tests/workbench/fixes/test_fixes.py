"""Fixes are applied and run again: each matches its row."""

from __future__ import annotations

import pytest
import strategies
from helpers import stream

import generators
import workbench as wb
from workbench import fixes, model
from workbench.model import Simulation
from workbench.reasons.own import sentences
from workbench.runs.preview import Preview

JOINS = [
    wb.IntervalJoin("0 seconds", "5 seconds", how="left"),
    wb.IntervalJoin("1 second", "4 seconds", how="full", lower_exclusive=True, upper_exclusive=True),
    wb.WindowJoin(wb.Tumbling("6 seconds")),
    wb.WindowJoin(wb.Sliding("4 seconds", "3 seconds"), how="semi"),
    wb.WindowJoin(wb.Session("3 seconds")),
    wb.CoGroup(wb.Sliding("3 seconds", "5 seconds")),
]


@strategies.in_parts(15, 10, case=strategies.cases())
def test_every_fix_matches_its_row_in_the_model(case):
    left, right = case.streams()
    run = Preview(Simulation(case.join, left, right, case.finish, case.policy))
    for side, table in sentences(run.simulation).table.items():
        for row, each in enumerate(table.itertuples()):
            assert each.reason
            if each.fix_setting is None:
                continue
            assert each.fate in ("late", "unmatched", "pending")
            *changed, end = fixes.apply(each.fix_setting, each.fix_value, case.join, left, right, finish=case.finish)
            assignments = model.simulate(*changed, finish=end, policy=case.policy).assignments[side]
            assert assignments.loc[assignments["row"] == row, "matched"].any(), (side, row, each)


@pytest.mark.parametrize("join", JOINS, ids=repr)
@pytest.mark.parametrize("finish", [True, False])
def test_fixes_run_again_on_spark_match_their_rows(spark, join, finish):
    left, right = generators.generate(
        "orders_payments", events=30, rate=3, late=0.25, late_by="8 s", batches=6, watermark="2 s", seed=4
    )
    run = wb.run(join, left, right, finish=finish)
    asked = run.rows.dropna(subset="fix_setting").drop_duplicates("fix_setting")
    assert len(asked)
    for row, setting, value in zip(asked.index, asked["fix_setting"], asked["fix_value"], strict=True):
        *changed, end = fixes.apply(setting, value, join, left, right, finish=finish)
        again = wb.run(*changed, finish=end)
        assert again.rows.loc[row, "fate"] == "matched", (row, setting, value)


@pytest.mark.parametrize("bounds", [{"lower": "0 seconds", "lower_exclusive": True}, {"lower": "1 second"}])
def test_a_row_of_a_stream_that_is_joined_with_itself_is_no_partner_of_itself(bounds):
    clicks = stream([("a", 100), ("a", 108), ("b", 103)])
    join = wb.IntervalJoin(upper="5 seconds", how="left", **bounds)
    preview = Preview(Simulation(join, clicks, clicks, True, "min"))
    found = preview.rows[["fix_setting", "fix_value"]].to_numpy().tolist()
    assert found == [
        ["upper", "8 seconds"],
        [None, None],
        [None, None],
        [None, None],
        ["upper", "8 seconds"],
        [None, None],
    ]
    assert preview.rows["reason"][2].startswith("no row of its key on ")


def test_a_pair_that_is_nearer_the_other_way_round_is_no_near_miss():
    """The later row of a pair was told to set a negative lower bound, which would give the pair the other way round."""
    clicks = stream([("a", 100), ("a", 103), ("b", 107), ("b", 120)])
    join = wb.IntervalJoin("0 seconds", "5 seconds", how="left", lower_exclusive=True)
    preview = Preview(Simulation(join, clicks, clicks, True, "min"))
    rows = preview.rows[preview.rows["side"] == "left"]
    assert rows["fate"].tolist() == ["matched", "unmatched", "unmatched", "unmatched"]
    assert rows["fix_setting"].tolist() == [None, None, "upper", None]
    assert preview.rows["fix_setting"][preview.rows["side"] == "right"].tolist() == [None, None, None, "upper"]


def test_pairs_on_either_side_of_symmetric_bounds_are_near_misses():
    clicks = stream([("b", 107), ("b", 120)])
    join = wb.IntervalJoin("-5 seconds", "5 seconds", "left", where=wb.col("left_n") != wb.col("right_n"))
    preview = Preview(Simulation(join, clicks, clicks, True, "min"))
    assert preview.rows["fix_setting"].tolist() == ["upper", "lower", "lower", "upper"]
