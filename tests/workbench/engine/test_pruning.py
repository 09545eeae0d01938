"""Large runs go without the columns that their join does not need: all that is told of them is as of a whole run."""

import pandas as pd
import pytest

import generators
import workbench as wb
from workbench.engine import pruning
from workbench.joins import HOWS

JOINS = [
    *(wb.IntervalJoin("-2 seconds", "10 seconds", how=how) for how in HOWS if how != "anti"),
    *(wb.WindowJoin(wb.Tumbling("10 seconds"), how=how) for how in HOWS),
    wb.WindowJoin(wb.Sliding("10 seconds", "5 seconds"), how="full"),
]


@pytest.fixture(scope="module")
def sides():
    return generators.generate("orders_payments", events=150, late=0.1, seed=3)


@pytest.fixture
def pruned(monkeypatch):
    """Every run is one of many rows."""
    monkeypatch.setattr(pruning, "MOST_WHOLE", 0)


def both(join, sides, monkeypatch, **more):
    whole = wb.run(join, *sides, **more)
    monkeypatch.setattr(pruning, "MOST_WHOLE", 0)
    return whole, wb.run(join, *sides, **more)


@pytest.mark.parametrize("join", JOINS, ids=repr)
def test_all_that_is_told_is_as_of_a_whole_run(join, sides, monkeypatch):
    whole, run = both(join, sides, monkeypatch)
    assert run.execution.pruned and not whole.execution.pruned
    assert run.mismatches.empty
    assert not set(run.execution.raw_output.column_names) & {"left_amount", "right_paid", "left_order_id"}
    assert run.raw_output.schema.equals(whole.raw_output.schema)
    assert run.raw_output.equals(whole.raw_output)
    pd.testing.assert_frame_equal(run.output, whole.output)
    pd.testing.assert_frame_equal(run.rows, whole.rows)
    pd.testing.assert_frame_equal(run.late, whole.late)
    same = ["batch", "watermark", "late_rows", "output_rows", "state_rows", "dropped", "kind"]
    pd.testing.assert_frame_equal(run.batches[same], whole.batches[same])
    held, of_whole = (each.state(5) for each in (run, whole))
    pd.testing.assert_frame_equal(held.drop(columns="state_bytes"), of_whole.drop(columns="state_bytes"))
    assert held["state_bytes"].to_numpy() == pytest.approx(of_whole["state_bytes"].to_numpy(), rel=0.25)
    most = whole.batches["state_rows"].idxmax()
    # Spark's own figure is an estimate, too: of a large table it looks at some entries
    assert run.batches["state_bytes"][most] == pytest.approx(whole.batches["state_bytes"][most], rel=0.25)


def test_it_is_saved_and_loaded(sides, pruned, tmp_path):
    run = wb.run(JOINS[1], *sides)
    loaded = wb.load(run.save(tmp_path / "run"))
    pd.testing.assert_frame_equal(loaded.output, run.output)
    pd.testing.assert_frame_equal(loaded.batches, run.batches)
    assert loaded.mismatches.empty


def test_a_savepoint_goes_on_as_it_began(sides, pruned, tmp_path, monkeypatch):
    run = wb.run(JOINS[1], *sides)
    saved = run.savepoint(tmp_path / "savepoint", 4)
    monkeypatch.undo()
    resumed = wb.run(JOINS[1], *sides, savepoint=saved)
    assert resumed.execution.pruned
    assert resumed.mismatches.empty
    pd.testing.assert_frame_equal(resumed.output, run.output)


def test_a_sample_keeps_the_watermarks_of_all_rows(spark, sides, pruned, tmp_path):
    for side in sides:
        side.write(tmp_path / side.name)
    orders, payments = [
        wb.Stream.from_files(
            tmp_path / each.name,
            each.name,
            key="order_id",
            time=each.time,
            watermark="5 seconds",
            max_files=1,
            sample=0.3,
        )
        for each in sides
    ]
    run = wb.run(JOINS[0], orders, payments)
    assert run.execution.pruned
    assert run.mismatches.empty


def test_its_export_expects_whole_rows(sides, monkeypatch, tmp_path):
    whole, run = both(JOINS[1], sides, monkeypatch)
    for name, each in (("whole", whole), ("pruned", run)):
        wb.export(each, tmp_path / name)
    one, other = (pd.read_parquet(tmp_path / name / "tests/fixture/expected.parquet") for name in ("whole", "pruned"))
    pd.testing.assert_frame_equal(one, other)


def test_sessions_and_groups_stay_whole(sides, pruned):
    for join in (wb.WindowJoin(wb.Session("5 seconds")), wb.CoGroup(wb.Tumbling("10 seconds"))):
        assert not wb.run(join, *sides).execution.pruned
