"""What a streaming DataFrame brings in a while."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import DataError, QueryError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


_POLL = 0.05  # seconds


def record(frame: DataFrame, seconds: float) -> tuple[Any, Any]:
    """Run a query that writes down all rows for so long; gives them as an Arrow table, and their micro-batches."""
    import numpy as np
    import pyarrow as pa
    from pyspark.errors import PySparkException

    tables: dict[int, pa.Table] = {}

    def keep(rows: DataFrame, number: int) -> None:
        tables[number] = rows.toArrow()

    checkpoint = Path(tempfile.mkdtemp(prefix="stream-join-workbench-recording-"))
    query = None
    failure: Exception | None = None
    try:
        query = frame.writeStream.foreachBatch(keep).option("checkpointLocation", str(checkpoint)).start()
        end = time.monotonic() + seconds
        while query.isActive and time.monotonic() < end:
            time.sleep(_POLL)
        failure = query.exception()
    except PySparkException as error:
        failure = error
    finally:
        if query is not None:
            query.stop()
        shutil.rmtree(checkpoint, ignore_errors=True)
    if failure is not None:
        raise QueryError(f"the streaming DataFrame failed: {str(failure).splitlines()[0]}", str(failure))
    found = [tables[number] for number in sorted(tables) if tables[number].num_rows]
    if not found:
        raise DataError(f"frame: it brought no rows in {seconds:g} seconds; record for longer, with seconds=…")
    return pa.concat_tables(found), np.repeat(np.arange(len(found)), [each.num_rows for each in found])
