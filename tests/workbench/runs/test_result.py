"""What a run hands out is the user's own: changing it changes nothing that the run says."""

from __future__ import annotations

import pandas as pd
import pytest
from page import Page

import generators
import workbench as wb
from workbench.app import close_all
from workbench.runs import running, verification

JOIN = wb.IntervalJoin("0 seconds", "5 seconds", "left")
FRAMES = ("rows", "output", "late", "batches")


def streams():
    return generators.generate("orders_payments", events=60, seed=7, late=0.2, watermark="0 seconds")


def spoil(frame):
    """Change a frame in place: its values, its columns and its rows."""
    assert len(frame) > 2
    frame.iloc[0] = frame.iloc[1]
    frame.iloc[2] = frame.iloc[1]
    frame.insert(0, "mine", 1)
    frame.drop(index=frame.index[1:], inplace=True)


def said(result):
    """All that a run says, which it computes from its frames."""
    result.charts.timeline()
    views = ("timeline", "arrival", "watermarks", "late", "misses", "state")
    return [
        *(result.why(row).text for row in range(5)),
        repr([result.at(batch) for batch in range(3)]),
        *(result.charts.drawing(view).columns for view in views),
    ]


@pytest.mark.parametrize("mode", [False, True], ids=["copies", "copy on write"])
@pytest.mark.parametrize("make", [wb.preview, wb.run], ids=["preview", "run"])
def test_what_is_handed_out_may_be_changed(request, make, mode):
    if make is wb.run:
        request.getfixturevalue("spark")
    with pd.option_context("mode.copy_on_write", mode):
        pure, spoiled = (make(JOIN, *streams()) for _ in range(2))
        truth = said(pure)
        frames = [getattr(spoiled, name) for name in FRAMES] + list(spoiled.fates.values())
        if make is wb.run:
            frames += [spoiled.comparison]
        for frame in frames:
            spoil(frame)
        spoiled.fates.clear()
        assert said(spoiled) == truth
        everything = range(len(pure.rows))
        pd.testing.assert_frame_equal(spoiled.explain(everything), pure.explain(everything))
        for name in FRAMES:
            mine, theirs = (
                getattr(each, name).drop(columns="duration_ms", errors="ignore") for each in (spoiled, pure)
            )
            pd.testing.assert_frame_equal(mine, theirs)
        assert not len(spoiled.against(pure))
        if make is wb.run:
            assert spoiled.mismatch == ""
            assert spoiled.compare(every_state=False).equals(spoiled.comparison)


def test_a_changed_table_of_a_tuning_changes_nothing_it_says():
    pure, spoiled = (wb.tune(JOIN, *streams(), over={"left.watermark": ["0 s", "5 s", "1 min"]}) for _ in range(2))
    spoil(spoiled.table)
    pd.testing.assert_frame_equal(spoiled.table, pure.table)
    assert repr(spoiled.best(0.9)) == repr(pure.best(0.9))
    assert spoiled.charts.drawing("pareto").columns == pure.charts.drawing("pareto").columns


def test_a_comparison_that_failed_is_not_computed_again(spark, monkeypatch):
    compared = []

    def failing(simulation, *others):
        compared.append(simulation)
        raise wb.DataError("the state is gone")

    monkeypatch.setattr(verification, "compare", failing)
    page = Page()
    try:
        page.set({"Events": 30})
        with pytest.warns(UserWarning, match="not compared with the workbench's model"):
            run = wb.run(JOIN, *streams())
        for _ in range(2):
            assert "the state is gone" in running.verification_failure(run)
            with pytest.raises(wb.DataError, match="the state is gone"):
                _ = run.comparison
        assert len(compared) == 1
        assert "not compared" in repr(run)
        page.run()
        assert "the state is gone" in page.trouble
        page.open("Runs")
        assert len(compared) == 2
    finally:
        close_all()
    with pytest.raises(wb.DataError):
        run.compare()
    assert len(compared) == 3


def test_a_moment_says_whose_watermark_is_the_querys_and_that_the_input_has_ended():
    left, right = generators.generate("orders_payments", events=200, idle=("right", 0.3, 0.7), seed=3)
    for policy, choose in (("min", min), ("max", max)):
        run = wb.preview(JOIN, left, right, policy=policy)
        own = run.outcome.marks.own
        said = set()
        for batch in range(run.simulation.micro_batches):
            moment, marks = run.at(batch), {side: int(own[side][batch]) for side in ("left", "right")}
            wanted = "" if marks["left"] == marks["right"] else run.side(choose(marks, key=marks.get)).name
            assert (moment.held_by, moment.ended) == (wanted, False)
            assert f", that of {wanted}" in str(moment) or not wanted or moment.watermark is None
            said.add(moment.held_by)
        assert {"orders", "payments"} & said
        last = run.at(int(run.batches["batch"].iloc[-1]))
        assert (last.watermark, last.ended) == (None, True)
        assert "the input has ended" in str(last)
