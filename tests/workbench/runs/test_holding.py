"""What is in state after each micro-batch: since when, until which watermark, whose, and how large."""

from __future__ import annotations

import helpers
import numpy as np
import pandas as pd
import pytest
import strategies

import generators
import workbench as wb
from workbench.joins import emission
from workbench.literals import SIDES

JOINS = [
    wb.IntervalJoin("-2 seconds", "15 seconds", how="left"),
    wb.WindowJoin(wb.Sliding("10 seconds", "4 seconds"), how="full"),
    wb.WindowJoin(wb.Session("5 seconds")),
    wb.CoGroup(wb.Tumbling("10 seconds")),
    wb.AsOfJoin("backward", "20 seconds", "left"),
    wb.AsOfJoin("nearest"),
]


@strategies.in_parts(4, 15, case=strategies.cases())
def test_rows_leave_with_the_watermark_that_is_said(case):
    """Whatever the kind: no row is in state any more when the watermark has reached ``leaves_at``, and all are before."""
    preview = wb.preview(case.join, *case.streams(), finish=case.finish, policy=case.policy)
    marks = preview.simulation.outcome.marks.eviction
    for batch in range(len(marks)):
        held = preview.state(batch)
        leaves = held["leaves_at"].astype("datetime64[us]").to_numpy()
        mark = marks[batch].astype("datetime64[us]")
        known = ~np.isnat(leaves)
        assert (leaves[known] > mark).all()
        gone = held["evicted_in"].to_numpy(dtype=float, na_value=np.nan)
        ends = ~np.isnan(gone) & known
        if emission(case.join).first_only:
            continue  # a left row of a semi join leaves when it has met another
        expected = np.searchsorted(marks, leaves[ends].astype(np.int64))
        assert (np.minimum(gone[ends], expected) == gone[ends]).all()
        if not isinstance(case.join, wb.AsOfJoin):  # of which a right row may be replaced before
            assert (gone[ends] == expected).all()


@pytest.mark.parametrize("join", JOINS, ids=repr)
def test_a_preview_has_the_state_of_its_run(join, spark):
    streams = generators.generate("orders_payments", events=60, rate=4, batches=6, seed=5, watermark="2 s")
    run, preview = wb.run(join, *streams, finish=False), wb.preview(join, *streams, finish=False)
    batch = int(run.batches["state_rows"].idxmax())
    held, expected = run.state(batch), preview.state(batch)
    grows = isinstance(getattr(join, "window", None), wb.Session)  # a session, while it is in state
    but = ["state_bytes", *(["window_start", "window_end"] if grows else [])]
    pd.testing.assert_frame_equal(held.drop(columns=but), expected.drop(columns=but))
    assert expected["state_bytes"].isna().all()
    assert held["state_bytes"].sum() == pytest.approx(run.batches["state_bytes"][batch], rel=0.01)
    by_key = run.state_by_key(batch, most=3)
    assert len(by_key) == 3
    assert by_key["share"].is_monotonic_decreasing
    assert by_key["rows"].sum() <= len(held)
    assert by_key["held_by"].str.len().gt(0).all()


def stream(rows, name):
    return helpers.stream([(key, 1_767_225_600 + t, batch) for key, t, batch in rows], name)


ORDERS = [("a", 0, 0), ("a", 1, 0), ("a", 2, 0), ("b", 3, 0), ("b", 60, 1)]
PAYMENTS = [("a", 0, 0), ("b", 60, 1)]


def test_the_key_with_most_rows_comes_first_and_names_what_holds_it():
    join = wb.IntervalJoin("-5 seconds", "30 seconds", how="left")
    preview = wb.preview(join, stream(ORDERS, "orders"), stream(PAYMENTS, "payments"), finish=False)
    found = preview.state_by_key(0)
    assert found["key"].tolist() == ["a", "b"]
    assert found["left"].tolist() == [3, 1]
    assert found["right"].tolist() == [1, 0]
    assert found["held_by"].tolist() == ["upper = 30 seconds"] * 2
    assert found["share"].sum() == pytest.approx(1)
    assert found["state_bytes"].isna().all()  # which only Spark knows
    assert found["leaves_at"][1] == pd.Timestamp("2026-01-01 00:00:33.001")
    held = preview.state(0)
    assert held.loc[held["side"] == "right", "leaves_at"].tolist() == [pd.Timestamp("2026-01-01 00:00:05.001")]
    assert held["since"].tolist() == [0] * 5
    assert held["evicted_in"].tolist() == [2] * 5


def test_the_latest_version_of_a_key_is_held_for_ever():
    preview = wb.preview(wb.AsOfJoin(), stream(ORDERS, "orders"), stream(PAYMENTS, "prices"), finish=False)
    last = len(preview.batches) - 1
    held = preview.state(last)
    assert held["side"].tolist() == ["right", "right"]
    assert held["leaves_at"].isna().all()
    assert held["evicted_in"].isna().all()
    assert preview.state_by_key(last)["held_by"].str.contains("its latest row stays").all()


def test_nothing_in_state_is_an_empty_table():
    for join in JOINS:
        preview = wb.preview(join, stream(ORDERS, "orders"), stream(PAYMENTS, "payments"))
        last = len(preview.batches) - 1
        assert not len(preview.state(last))
        assert not len(preview.state_by_key(last))
        assert {"side", "since", "evicted_in", "leaves_at", "state_bytes"} <= set(preview.state(last))


def test_columns_of_a_side_without_rows_keep_their_types():
    preview = wb.preview(wb.AsOfJoin(), stream(ORDERS, "orders"), stream(PAYMENTS, "prices"), finish=False)
    last = len(preview.batches) - 1
    both, right = preview.state(0), preview.state(last)
    assert set(both["side"]) == {"left", "right"}
    assert set(right["side"]) == {"right"}
    assert (right.dtypes == both.dtypes).all()
    of_right = both[both["side"] == "right"].reset_index(drop=True)
    pd.testing.assert_frame_equal(preview.state(0, "a").iloc[:0], both.iloc[:0])
    assert of_right.dtypes.equals(right.dtypes)


@pytest.mark.parametrize("most", [0, -1, 1.5, "all", True])
def test_a_wrong_number_of_keys_is_named(most):
    preview = wb.preview(JOINS[0], stream(ORDERS, "orders"), stream(PAYMENTS, "payments"))
    with pytest.raises(wb.ArgumentError, match="most: got"):
        preview.state_by_key(0, most=most)
    with pytest.raises(wb.ArgumentError):
        preview.state_by_key(99)
    assert SIDES == ("left", "right")


@pytest.mark.parametrize("join", JOINS, ids=repr)
def test_the_chart_counts_the_rows_of_each_key(join):
    streams = generators.generate("orders_payments", events=60, keys=30, rate=4, batches=6, seed=5, watermark="2 s")
    preview = wb.preview(join, *streams, finish=False)
    drawing = preview.charts.drawing("keys")
    table = drawing.tables["held"]
    assert table["of_key"].nunique() <= 20
    for batch in range(len(preview.batches)):
        listed = preview.state_by_key(batch, most=1_000).set_index("key")
        shown = table[table["batch"] == batch].set_index("of_key")
        for key, row in shown.iterrows():
            assert (row["left"], row["right"]) == tuple(listed.loc[key, ["left", "right"]])
    assert preview.charts.keys().to_dict()


def test_columns_of_the_user_that_are_called_like_ours_are_kept():
    preview = wb.preview(
        wb.IntervalJoin("0 s", "10 s"),
        *(
            wb.Stream.from_pandas(
                pd.DataFrame(
                    {"key": ["a"], "t": [pd.Timestamp("2026-01-01")], "since": ["theirs"], "state_bytes": ["theirs"]}
                ),
                name, key="key", time="t",
            )
            for name in ("one", "two")
        ),
        finish=False,
    )  # fmt: skip
    held = preview.state(0)
    assert held["row_since"].tolist() == held["row_state_bytes"].tolist() == ["theirs", "theirs"]
    assert held["since"].tolist() == [0, 0]
