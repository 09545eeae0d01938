"""Streams of DataFrames that say nothing of arrival."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from helpers import stream
from hypothesis import given
from hypothesis import strategies as st

import generators
import workbench as wb
from workbench import frames


def orders():
    return generators.generate("orders_payments", events=20)[0].to_pandas()


def test_pandas_arrow_and_spark_tables_give_the_same_stream(spark):
    frame = orders().drop(columns="batch")
    made = [
        frames.stream(each, "orders", "order_id", "ordered_at")
        for each in (frame, pa.Table.from_pandas(frame), spark.createDataFrame(frame))
    ]
    for each in made[1:]:
        assert each.table.equals(made[0].table)
    assert made[0].batch_count == 1


def test_a_column_called_batch_says_when_rows_arrive():
    made = frames.stream(orders(), "orders", "order_id", "ordered_at")
    assert list(made.arrival) == sorted(orders()["batch"])
    assert "batch" not in made.columns


def test_what_is_no_table_is_refused():
    with pytest.raises(wb.ArgumentError, match="frame: got 'dict'; give a pandas DataFrame, a Spark DataFrame or"):
        frames.stream({}, "x", "k", "t")


def test_what_can_be_joined_is_found(spark):
    streaming = spark.readStream.format("rate").load()
    space = {"a": orders(), "b": generators.generate("orders_payments", events=3)[0], "c": 3, "_d": orders()}
    space |= {"e": pa.table({"x": [1]}), "f": spark.range(1), "g": streaming}
    assert frames.joinable(space) == ["a", "b", "e", "f"]


def test_key_and_time_are_guessed(spark):
    left, right = generators.generate("transfers", events=3)
    assert frames.guess(left.to_pandas(), right) == ("reference", "booked_at")
    assert frames.guess(left.table, right.to_pandas()) == ("reference", "booked_at")
    assert frames.guess(spark.createDataFrame(left.to_pandas())) == ("reference", "booked_at")
    assert frames.guess(pd.DataFrame({"x": [1]})) == ("x", "")


@given(st.lists(st.integers(0, 1000), max_size=30), st.lists(st.integers(0, 1000), max_size=30), st.integers(1, 12))
def test_slices_follow_the_newest_event_time(left, right, batches):
    sides = [stream([("k", each) for each in times]) for times in (left, right)]
    made = frames.sliced(*sides, batches)
    every = [*left, *right]
    for times, each in zip((left, right), made, strict=True):
        assert each.batch_count == batches
        newest = np.maximum.accumulate(times) if times else []
        low = min(max(0, side[0]) for side in (left, right) if side) if every else 0
        span = (max(every) - low) * 1_000_000 + 1 if every else 1
        assert list(each.arrival) == [(int(time) - low) * 1_000_000 * batches // span for time in newest]


def test_the_number_of_slices_is_checked():
    with pytest.raises(wb.ArgumentError, match="batches: got 0"):
        frames.sliced(*generators.generate("orders_payments", events=3), 0)
