"""Reading a folder of files as micro-batches, the way Spark's file source orders them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet

from workbench.errors import ArgumentError, DataError, wrong

_SUFFIXES = {"parquet": "Parquet", "json": "JSON (one object a line)", "csv": "CSV"}


def read(path: Path, kind: str, schema: Any, max_files: int) -> tuple[pa.Table, np.ndarray[Any, Any], int]:
    """Read a folder: all rows in order, the micro-batch of each, and the number of micro-batches."""
    if not path.exists():
        raise wrong("path", str(path), "there is no such folder; give the folder that holds the files")
    if not path.is_dir():
        raise wrong("path", str(path), "that is a file; give the folder that holds it")
    wanted = schema_of(schema)
    if kind == "delta":
        table = _delta(path)
        return _select(table, wanted), np.zeros(table.num_rows, dtype=np.int64), 1
    files = [file for file in path.iterdir() if file.is_file() and not file.name.startswith(("_", "."))]
    if not files:
        raise wrong("path", str(path), f"the folder has no files; put {_SUFFIXES[kind]} files into it")
    files.sort(key=lambda file: (file.stat().st_mtime_ns // 1_000_000, str(file)))
    tables = [_select(_read_file(file, kind, wanted), wanted) for file in files]
    try:
        table = pa.concat_tables(tables, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise DataError(f"path: the files in {path} differ in their columns ({error}); give schema=…") from None
    batch = np.arange(len(files)) // max_files
    return table, np.repeat(batch, [each.num_rows for each in tables]), int(batch[-1]) + 1


def schema_of(schema: Any) -> pa.Schema | None:
    if schema is None or isinstance(schema, pa.Schema):
        return schema
    remedy = 'give a pyarrow.Schema or a dict such as {"order_id": "string", "ordered_at": "timestamp[us]"}'
    if not isinstance(schema, dict):
        raise wrong("schema", schema, remedy)
    try:
        return pa.schema([(name, pa.type_for_alias(str(kind))) for name, kind in schema.items()])
    except (ValueError, TypeError):
        raise wrong("schema", schema, remedy) from None


def _read_file(file: Path, kind: str, schema: pa.Schema | None) -> pa.Table:
    try:
        return _READERS[kind](file, schema)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if kind != "parquet" and file.stat().st_size == 0 and schema is not None:
            return schema.empty_table()
        first = str(error).splitlines()[0][:200]
        raise DataError(
            f"path: {file} is not a {_SUFFIXES[kind]} file ({first}); give its real format, or take it out"
        ) from None


def _csv(file: Path, schema: pa.Schema | None) -> pa.Table:
    types = None if schema is None else {each.name: each.type for each in schema}
    table = pyarrow.csv.read_csv(file, convert_options=pyarrow.csv.ConvertOptions(column_types=types))
    for place, column in enumerate(table.schema):
        if pa.types.is_string(column.type):  # an empty field is a null, as Spark reads it
            values = table.column(place)
            table = table.set_column(place, column, pc.if_else(pc.equal(values, ""), None, values))
    return table


def _json(file: Path, schema: pa.Schema | None) -> pa.Table:
    return pyarrow.json.read_json(file, parse_options=pyarrow.json.ParseOptions(explicit_schema=schema))


_READERS: dict[str, Callable[[Path, pa.Schema | None], pa.Table]] = {
    "parquet": lambda file, _: pyarrow.parquet.ParquetFile(file).read(),
    "json": _json,
    "csv": _csv,
}


def _delta(path: Path) -> pa.Table:
    try:
        from deltalake import DeltaTable
        from deltalake.exceptions import TableNotFoundError
    except ImportError:
        raise ArgumentError(
            "format: got 'delta', which needs the package deltalake; install stream-join-workbench[delta]"
        ) from None
    try:
        return pa.table(DeltaTable(str(path)).to_pyarrow_table())
    except TableNotFoundError:
        raise wrong("path", str(path), "that is no Delta table; give its real format") from None


def cast(table: pa.Table, schema: pa.Schema, more: tuple[str, ...]) -> pa.Table:
    """The columns that a schema names, in its types, and more as they are."""
    chosen = _select(table, schema)
    for name in more:
        chosen = chosen.append_column(name, table.column(name))
    return chosen


def _select(table: pa.Table, schema: pa.Schema | None) -> pa.Table:
    """The columns that a schema names, in its types."""
    if schema is None:
        return table
    try:
        return table.select(schema.names).cast(schema)
    except (KeyError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(
            f"schema: the files do not have these columns and types ({error}); they have {table.schema}"
        ) from None


def parse_times(table: pa.Table, time: str) -> pa.Table:
    """Read the event-time column from ISO 8601 text, as files of text hold it; other columns stay."""
    if time not in table.column_names or not pa.types.is_string(table.schema.field(time).type):
        return table
    try:
        read = pd.to_datetime(table.column(time).to_pandas(), utc=True, format="ISO8601")
    except (ValueError, TypeError):
        return table
    return table.set_column(table.column_names.index(time), time, pa.Array.from_pandas(read))


def nanosecond_columns(table: pa.Table) -> tuple[str, ...]:
    """The timestamp columns in nanoseconds."""
    return tuple(each.name for each in table.schema if pa.types.is_timestamp(each.type) and each.type.unit == "ns")
