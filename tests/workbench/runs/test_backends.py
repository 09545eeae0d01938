"""One recording with each of Spark's state stores."""

from __future__ import annotations

import pytest

import generators
import workbench as wb
from workbench.errors import ArgumentError
from workbench.runs import running
from workbench.runs.backends import MEMORY, ROCKSDB, WITH_CHANGELOG


@pytest.fixture(scope="module")
def streams():
    return generators.generate("orders_payments", events=120, seed=3, batches=5, watermark="2 s")


def test_each_store_gives_the_same_rows_and_its_figures(spark, streams, tmp_path):
    said = []
    stores = wb.backends(wb.IntervalJoin("0 s", "15 s", how="left"), *streams, folder=tmp_path, progress=said.append)
    table = stores.table.set_index("store")
    assert table.index.tolist() == [MEMORY, ROCKSDB, WITH_CHANGELOG]
    assert table["state_rows"].nunique() == 1
    assert (table[["seconds", "commit_ms", "recovery_ms", "usual_ms", "memory_bytes", "disk_bytes", "files"]] > 0).all(
        axis=None
    )
    assert table["snapshot_ms"].isna().tolist() == [True, False, False]
    assert table["snapshot_ms"][ROCKSDB] > table["snapshot_ms"][WITH_CHANGELOG]
    assert table["disk_bytes"][ROCKSDB] > table["disk_bytes"][WITH_CHANGELOG]
    assert len(said) == 12
    assert said[-1] == f"{MEMORY}: going on after a kill in micro-batch 3"
    assert "bytes of heap a row" in stores.advice
    assert stores.advice in repr(stores)
    assert {each["store"] for each in stores.chart.to_dict()["datasets"]["seconds"]} == set(table.index)
    assert not list(tmp_path.iterdir())  # nothing stays behind


def test_a_processor_has_two(spark, streams):
    stores = wb.backends(wb.AsOfJoin(how="left"), *streams)
    assert stores.table["store"].tolist() == [ROCKSDB, WITH_CHANGELOG]
    assert stores.advice.startswith("This join needs RocksDB.")


def test_rows_that_differ_are_an_error(spark, streams, monkeypatch):
    monkeypatch.setattr(running, "verification_failure", lambda _: "one row differs")
    with pytest.raises(wb.QueryError, match="in memory: one row differs"):
        wb.backends(wb.IntervalJoin("0 s", "15 s"), *streams)


def test_one_micro_batch_is_too_few(streams):
    one = generators.generate("orders_payments", events=10, seed=3, batches=1)
    with pytest.raises(ArgumentError, match="give two of them at least"):
        wb.backends(wb.IntervalJoin("0 s", "15 s"), *one)
