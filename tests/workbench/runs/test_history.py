"""The state of one key, event by event."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import strategies

import generators
import workbench as wb
from workbench.errors import ArgumentError
from workbench.literals import SIDES


@strategies.in_parts(4, 15, case=strategies.cases())
def test_events_add_up_to_what_is_held_and_what_comes_out(case):
    """Whatever the kind: after each micro-batch, the rows of all keys are those in state; each output has one event."""
    preview = wb.preview(case.join, *case.streams(), finish=case.finish, policy=case.policy)
    count = len(preview.simulation.outcome.marks)
    of_keys = [preview.state_changes(key) for key in preview.keys.unique()]
    emitted = np.zeros(count, dtype=int)
    for each in of_keys:
        np.add.at(emitted, each["batch"], each["emitted"])
    assert emitted.tolist() == preview.simulation.outcome.output_rows().tolist()
    held = [preview.state(batch)["side"].value_counts() for batch in range(count)]
    for side in SIDES:
        mine = [each.drop_duplicates("batch", keep="last").set_index("batch")[side] for each in of_keys]
        totals = sum(
            (each.reindex(range(count)).ffill().fillna(0) for each in mine), start=pd.Series(0, index=range(count))
        )
        assert totals.tolist() == [each.get(side, 0) for each in held]


def test_one_key_step_by_step():
    rows = {"left": [("a", 0, 0), ("a", 30, 1)], "right": [("a", 4, 0), ("b", 40, 1), ("a", 1, 2)]}
    streams = []
    for side, mine in rows.items():
        key, seconds, batch = zip(*mine, strict=True)
        t = pd.Timestamp("2026-01-01") + pd.to_timedelta(seconds, unit="s")
        frame = pd.DataFrame({"key": key, "t": t, "batch": batch, "left": range(len(mine))})
        streams.append(wb.Stream.from_pandas(frame, side, key="key", time="t", watermark="0 s", batch="batch"))
    preview = wb.preview(wb.IntervalJoin("0 s", "5 s", how="left"), *streams, finish=False)
    changes = preview.state_changes("a")
    shown = changes[["batch", "change", "side", "row_left", "left", "right", "emitted"]]
    assert list(shown.itertuples(index=False, name=None)) == [
        (0, "added", "left", 0, 1, 0, 0),
        (0, "added", "right", 0, 1, 1, 1),
        (1, "added", "left", 1, 2, 1, 0),
        (2, "not kept", "right", 2, 2, 1, 1),  # judged by the watermark of the micro-batch before
        (2, "evicted", "left", 0, 1, 1, 0),
        (2, "evicted", "right", 0, 1, 0, 0),
    ]
    assert changes["watermark"].dt.second.tolist() == [0, 0, 0, 0, 30, 30]
    assert changes.equals(preview.state_changes(("a",)))


def test_a_key_that_no_row_has():
    preview = wb.preview(wb.IntervalJoin("0 s", "5 s"), *generators.generate("orders_payments", events=20, seed=1))
    with pytest.raises(ArgumentError, match=r"key: got 'nobody'; no row has it; give one of `keys`, such as 'o-0"):
        preview.state_changes("nobody")


def test_a_key_that_no_row_has_is_refused_wherever_one_is_asked_for():
    preview = wb.preview(wb.IntervalJoin("0 s", "5 s"), *generators.generate("orders_payments", events=20, seed=1))
    with pytest.raises(ArgumentError, match=r"key: got 'nobody'; no row has it; give one of `keys`, such as 'o-0"):
        preview.state(0, "nobody")
    with pytest.raises(ArgumentError, match=r"key: got \['a', 'b'\]; give the values of several columns as a tuple"):
        preview.state_changes(["a", "b"])


def test_state_by_key_counts_keys_by_value():
    """Keys that Spark finds equal are one, those that only read alike are not."""
    t = pd.date_range("2026-01-01", periods=2, freq="s")

    def counted(keys, many=10):
        sides = [
            wb.Stream.from_pandas(pd.DataFrame(rows, columns=["a", "b"]).assign(t=t), name, ["a", "b"], "t")
            for name, rows in zip(("one", "two"), keys, strict=True)
        ]
        preview = wb.preview(wb.IntervalJoin("0 s", "9 s", how="full"), *sides, finish=False)
        found = preview.state_by_key(0, many)
        return list(found[["key", "left", "right"]].itertuples(index=False, name=None))

    apart = [[("a · b", "c"), ("a", "b · c")], [("a", "b · c"), ("a", "b · c")]]
    assert sorted(counted(apart)) == [("a · b · c", 1, 0), ("a · b · c", 1, 2)]
    assert len(counted(apart, np.int64(1))) == 1
    equal = [[(-0.0, "x"), (1.0, "x")], [(0.0, "x"), (0.0, "x")]]
    assert sorted(counted(equal)) == [("-0.0 · x", 1, 2), ("1.0 · x", 1, 0)]


def test_keys_that_spark_finds_equal_have_one_history():
    """As 0.0 and -0.0, whose texts differ."""
    t = pd.date_range("2026-01-01", periods=2, freq="s")
    sides = [
        wb.Stream.from_pandas(pd.DataFrame({"key": keys, "t": t}), name, key="key", time="t")
        for name, keys in (("one", [-0.0, 5.0]), ("two", [0.0, 6.0]))
    ]
    preview = wb.preview(wb.IntervalJoin("0 s", "5 s"), *sides, finish=False)
    assert preview.state_changes(0.0).equals(preview.state_changes("-0.0"))
    assert preview.state_changes(0.0)["emitted"].sum() == 1
    assert len(preview.state(0, 0.0)) == len(preview.state(0, "-0.0")) == 2


def test_a_key_is_found_by_its_value():
    t = pd.date_range("2026-01-01", periods=2, freq="s")

    def found(left, right, key):
        columns = [f"k{n}" for n in range(len(left[0]))]
        sides = [
            wb.Stream.from_pandas(pd.DataFrame(rows, columns=columns).assign(t=t[: len(rows)]), name, columns, "t")
            for name, rows in (("one", left), ("two", right))
        ]
        changes = wb.preview(wb.IntervalJoin("0 s", "9 s", how="full"), *sides, finish=False).state_changes(key)
        return int((changes["change"] != "evicted").sum())

    noon = pd.Timestamp("2026-01-01 12:00", tz="Europe/Berlin")
    assert found([(noon,)], [(noon,)], noon) == 2
    assert found([(Decimal("0.5"),), (Decimal("1.25"),)], [(Decimal("0.50"),)], Decimal("0.5")) == 2
    assert found([("a · b", "c"), ("a", "b · c")], [("a · b", "c")], ("a", "b · c")) == 1
    assert found([(None,), ("None",)], [("None",)], None) == 1
