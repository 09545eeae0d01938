"""A run that goes on from a savepoint gives what an undisturbed one does."""

from __future__ import annotations

import pandas as pd
import pytest

import generators
import workbench as wb

JOINS = [
    wb.IntervalJoin("-2 seconds", "5 seconds", how="full"),
    wb.WindowJoin(wb.Session("3 seconds"), how="left"),
    wb.CoGroup(wb.Tumbling("10 seconds")),
]


def streams(batches=6):
    return generators.generate("orders_payments", events=60, seed=11, late=0.1, batches=batches)


@pytest.mark.parametrize(("join", "batch"), [(JOINS[0], 2), (JOINS[1], 4), (JOINS[2], 0)], ids=repr)
def test_it_goes_on_where_the_savepoint_was_taken(spark, tmp_path, join, batch):
    run = wb.run(join, *streams())
    place = run.savepoint(tmp_path / "savepoint", batch)
    again = wb.run(join, *streams(), savepoint=place)
    assert again.mismatch == run.mismatch == ""
    pd.testing.assert_frame_equal(again.output, run.output)
    pd.testing.assert_frame_equal(
        again.batches.drop(columns=["duration_ms", "state_bytes"]),
        run.batches.drop(columns=["duration_ms", "state_bytes"]),
    )
    done = [each["batchId"] for each in again.execution.progress]
    assert done == list(range(len(run.execution.progress)))
    first_new = again.execution.progress[batch + 1]["timestamp"]
    assert first_new > run.execution.progress[-1]["timestamp"]


def test_what_comes_after_may_differ(spark, tmp_path):
    left, right = streams()
    place = wb.run(JOINS[0], left, right).savepoint(tmp_path / "savepoint", 3)
    frame = right.to_pandas()
    frame.loc[frame["batch"] > 3, "paid_at"] += pd.Timedelta("1 second")
    other = wb.Stream.from_pandas(
        frame, "payments", key="order_id", time="paid_at", watermark=right.watermark, batch="batch"
    )
    again = wb.run(JOINS[0], left, other, savepoint=place)
    assert again.mismatch == ""
    pd.testing.assert_frame_equal(again.output, wb.run(JOINS[0], left, other).output)


def test_wrong_savepoints(spark, tmp_path):
    left, right = streams()
    run = wb.run(JOINS[0], left, right)
    with pytest.raises(wb.ArgumentError, match="batch: got 99; this run has micro-batches 0 to"):
        run.savepoint(tmp_path / "x", 99)
    place = run.savepoint(tmp_path / "savepoint", 2)
    with pytest.raises(wb.ArgumentError, match=r"path: .* is not empty"):
        run.savepoint(place, 2)
    with pytest.raises(wb.ArgumentError, match=r"savepoint: got .* no savepoint found"):
        wb.run(JOINS[0], left, right, savepoint=tmp_path)
    with pytest.raises(wb.ArgumentError, match=r"it was made for join .*IntervalJoin.*, this run has .*Session"):
        wb.run(JOINS[1], left, right, savepoint=place)
    with pytest.raises(
        wb.ArgumentError, match=r"it was made for left stream .*watermark 0:00:10.*, this run has .*0:00:03"
    ):
        wb.run(JOINS[0], left.with_watermark("3 s"), right, savepoint=place)
    with pytest.raises(AttributeError, match="a preview has no savepoint; only Spark knows it"):
        wb.preview(JOINS[0], left, right).savepoint(tmp_path / "y", 0)
