"""State is read back whichever of Spark's stores and formats holds it."""

from __future__ import annotations

from pathlib import Path

import pytest

import generators
import workbench as wb
from workbench import session

STREAMING = "spark.sql.streaming."
FORMAT = f"{STREAMING}join.stateFormatVersion"


@pytest.mark.parametrize(
    ("store", "asked", "got"),
    [("HDFSBacked", "3", "2"), ("RocksDB", "2", "2"), ("RocksDB", "3", "3"), ("RocksDB", "4", "4")],
)
def test_the_state_of_a_join_is_read_in_every_format(spark, monkeypatch, store, asked, got):
    """The store in memory knows format 2 only: Spark takes it without a word."""
    name = f"org.apache.spark.sql.execution.streaming.state.{store}StateStoreProvider"
    monkeypatch.setitem(session.QUERY_SETTINGS, f"{STREAMING}stateStore.providerClass", name)
    monkeypatch.setitem(session.QUERY_SETTINGS, FORMAT, asked)
    sides = generators.generate("orders_payments", events=40, batches=4, seed=2)
    run = wb.run(wb.IntervalJoin("0 s", "15 s", how="full"), *sides)
    _, place = run.execution.at_hand()
    kept = (Path(place.address.removeprefix("file://")) / "checkpoint" / "offsets" / "0").read_text()
    assert f'"{FORMAT}":"{got}"' in kept
    assert name in kept
    assert run.mismatch == ""
    assert run.compare(every_state=True)["differences"].sum() == 0
    assert run.batches["state_rows"].max() > 5
