"""An exported project as a folder: its modules, a test with its fixture, the commands that start it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from workbench.plan import Names
from workbench.runs.run import Run
from workbench.script import Endpoints, project
from workbench.streams import ROW


def write(run: Run, folder: Path, endpoints: Endpoints) -> None:
    """Write all but the recordings of its streams.

    Parameters
    ----------
    run
        The run whose recording and rows to take.
    folder
        Where to; new and empty.
    endpoints
        Where the script reads and writes.
    """
    for name, text in project(run.join, run.left, run.right, run.policy, endpoints).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    fixture = folder / "tests" / "fixture"
    names = Names.of(run.left, run.right)
    for side, stream in ((names.left, run.left), (names.right, run.right)):
        stream.write(fixture / side.var, run.micro_batches)
    # what comes out without an end of input: Spark's last micro-batch is then one without data
    raw = run.raw_output
    rows = raw.filter(pc.less_equal(raw["batch"], run.micro_batches)).drop_columns(["batch"])
    for place, column in enumerate(rows.column_names):
        if _holds_rows(rows.schema.field(column).type):
            rows = rows.set_column(place, column, _without_numbers(rows.column(column)))
    rows = rows.select([name for name in rows.column_names if not name.endswith(ROW)])
    rows = rows.cast(pa.schema([(field.name, _for_spark(field.type)) for field in rows.schema]))
    pq.write_table(rows.replace_schema_metadata(None), fixture / "expected.parquet")  # Spark's own names more columns


def _holds_rows(kind: pa.DataType) -> bool:
    """Whether values of a type are lists of rows, with their numbers."""
    return pa.types.is_list(kind) and pa.types.is_struct(kind.value_type) and kind.value_type.get_field_index(ROW) >= 0


def _without_numbers(lists: pa.ChunkedArray) -> pa.ListArray:
    """A column of lists of rows, without the workbench's row numbers."""
    whole = lists.combine_chunks()
    whole = pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole
    rows = whole.values
    kept = [field.name for field in rows.type if field.name != ROW]
    flat = pa.StructArray.from_arrays([rows.field(name) for name in kept], names=kept)
    return pa.ListArray.from_arrays(whole.offsets, flat, mask=whole.is_null() if whole.null_count else None)


def _for_spark(kind: pa.DataType) -> pa.DataType:
    """A type with its timestamps, which Spark writes in nanoseconds without a zone, as Spark reads them."""
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", "UTC")
    if pa.types.is_list(kind):
        return pa.list_(_for_spark(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, _for_spark(field.type)) for field in kind])
    return kind
