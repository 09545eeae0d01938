"""How keys fall on partitions, against where Spark's state has them."""

from __future__ import annotations

import pandas as pd
import pytest

import generators
import workbench as wb
from workbench import session
from workbench.engine.partitions import COUNTS

JOINS = [
    wb.IntervalJoin("0 seconds", "15 seconds", how="left"),
    wb.WindowJoin(wb.Tumbling("20 seconds"), how="full"),
    wb.WindowJoin(wb.Session("10 seconds")),
    wb.CoGroup(wb.Sliding("20 seconds", "10 seconds")),
    wb.AsOfJoin("backward", "20 seconds", "left"),
    wb.AsOfJoin(),
]
PARTITIONS = 3


@pytest.fixture(scope="module")
def runs(spark):
    """Each join once, on three partitions."""
    before = session.QUERY_SETTINGS["spark.sql.shuffle.partitions"]
    session.QUERY_SETTINGS["spark.sql.shuffle.partitions"] = str(PARTITIONS)
    try:
        streams = generators.generate(
            "orders_payments", events=80, keys=25, rate=4, batches=2, late=0, watermark="1 hour"
        )
        return {join: wb.run(join, *streams, finish=False) for join in JOINS}
    finally:
        session.QUERY_SETTINGS["spark.sql.shuffle.partitions"] = before


def in_state(run):
    """Per partition how many keys its state has after the last micro-batch, as Spark's data source says."""
    spark, place = run.execution.at_hand()
    sides = [{"joinSide": side} for side in ("left", "right")]
    match run.join:
        case wb.AsOfJoin(tolerance=None):
            states = [{"stateVarName": "kept"}]
        case wb.AsOfJoin():
            states = [{"operatorId": "1"} | side for side in sides]
        case wb.CoGroup() | wb.WindowJoin(window=wb.Session()):
            states = [{}]
        case _:
            states = sides
    found = set()
    for options in states:
        state = spark.read.format("statestore").options(**options).load(f"{place.address}/checkpoint")
        names = [field.name for field in state.schema["key"].dataType.fields if field.dataType.typeName() == "string"]
        found |= {tuple(row) for row in state.select(f"key.{names[0]}", "partition_id").collect()}
    return pd.Series([partition for _, partition in found]).value_counts().sort_index()


@pytest.mark.parametrize("join", JOINS, ids=repr)
def test_keys_fall_where_spark_has_them(join, runs):
    """The watermark is an hour behind, so that the state has every key."""
    table = runs[join].partitions()
    assert len(table) == PARTITIONS
    assert table["share"].sum() == pytest.approx(1)
    found = in_state(runs[join]).reindex(range(PARTITIONS), fill_value=0)
    assert table["keys"].tolist() == found.tolist()


def test_skew_is_that_of_the_key_with_most_rows(spark):
    streams = generators.generate("orders_payments", events=200, keys=20, skew=2.0, rate=10, batches=2, late=0)
    run = wb.run(JOINS[0], *streams)
    table = run.partition_counts()
    assert table["partitions"].tolist() == list(COUNTS)
    assert table["largest"].iloc[0] == 1
    assert (table["largest"] >= table["key"] - 1e-9).all()
    assert (table["skew"] >= 1 - 1e-9).all()
    assert table["empty"].iloc[-1] >= 180  # twenty keys on 200 partitions
    by_hand = run.partitions(8)
    assert by_hand["share"].max() == pytest.approx(table.set_index("partitions")["largest"][8])


def test_every_task_has_a_copy_of_every_rule(spark, monkeypatch):
    """Rules for rows of any key, four copies on three partitions: what each partition's state holds, as Spark says."""
    monkeypatch.setitem(session.QUERY_SETTINGS, "spark.sql.shuffle.partitions", str(PARTITIONS))
    copies, join = 4, wb.RulesJoin(copies=4)
    streams = generators.generate("readings_thresholds", events=60, batches=3, late=0, watermark="1 hour")
    run = wb.run(join, *streams, finish=False)
    table = run.partitions()
    spark, place = run.execution.at_hand()
    state = spark.read.format("statestore").option("stateVarName", "versions").load(f"{place.address}/checkpoint")
    found = state.groupBy("partition_id").count().toPandas().set_index("partition_id")["count"]
    versions = len(run.right)
    assert table["keys"].sum() == copies
    assert found.reindex(table["partition"], fill_value=0).tolist() == (table["keys"] * versions).tolist()
    assert table["top_key"].dropna().str.fullmatch(r"copy \d").all()
    assert (table["rows"] >= table["keys"] * versions).all()


def test_the_key_with_most_rows_is_named(runs):
    table = runs[JOINS[0]].partitions()
    keys = pd.concat(
        [pd.Series(each.table.column("order_id").to_pylist()) for each in (runs[JOINS[0]].left, runs[JOINS[0]].right)]
    )
    counts = {repr(key): rows for key, rows in keys.value_counts().items()}
    placed = runs[JOINS[0]].partitions(1)
    assert counts[placed["top_key"].iloc[0]] == max(counts.values())
    assert table["keys"].min() > 0
    for named, rows, keys_there in table[["top_key", "rows", "keys"]].itertuples(index=False):
        assert rows / keys_there <= counts[named] <= rows


@pytest.mark.parametrize("count", [0, -1, 2.5, "many", True, 10**9])
def test_a_wrong_number_is_named(count, runs):
    with pytest.raises(wb.ArgumentError, match="count: got"):
        runs[JOINS[0]].partitions(count)
    with pytest.raises(wb.ArgumentError, match="counts: got"):
        runs[JOINS[0]].partition_counts([1, count])
