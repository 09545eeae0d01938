"""A DataFrame of an Arrow table has all of its rows."""

from __future__ import annotations

import pyarrow as pa
import pytest

from workbench.spark_io.frames import of_arrow


@pytest.mark.parametrize("sizes", [(0, 0, 2), (1, 0, 1), (1, 0, 0, 1, 0), (2,), (0,), ()], ids=str)
def test_no_row_is_lost_after_chunks_without_any(spark, sizes):
    schema, made = pa.schema([("n", pa.int64())]), 0
    chunks = []
    for size in sizes:
        chunks.append(pa.record_batch({"n": pa.array(range(made, made + size), pa.int64())}, schema))
        made += size
    rows = of_arrow(spark, pa.Table.from_batches(chunks, schema)).toArrow()
    assert rows.column("n").to_pylist() == list(range(made))
