"""What the footers of Parquet files say of their columns; Spark's own inference fails where files differ."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from workbench.errors import DataError, excerpt

__all__ = ["check_there", "columns"]


def columns(files: list[Path], wanted: pa.Schema | None) -> tuple[pa.Schema, tuple[str, ...], dict[str, str | None]]:
    """The columns of all files together, those in nanoseconds, and the zones of timestamps.

    Parameters
    ----------
    files
        The files; none is empty of bytes.
    wanted
        The schema that the user gave, which then counts; None: as the files say.

    Raises
    ------
    DataError
        If a file is none, or the files do not go together.
    """
    schemas: list[pa.Schema] = []
    nanos: dict[str, list[Path]] = {}
    zones: dict[str, str | None] = {}
    for file in files:
        try:
            opened = pq.ParquetFile(file)
        except (pa.ArrowException, OSError) as error:
            raise DataError(
                f"path: {file} is not a Parquet file ({str(error).splitlines()[0][:200]}); give its real format, or "
                "take it out"
            ) from None
        with opened:
            old = {
                each.name
                for each in map(opened.schema.column, range(len(opened.schema)))
                if each.physical_type == "INT96"
            }
            fields = []
            for each in opened.schema_arrow:
                kind = each.type
                if pa.types.is_null(kind):
                    raise DataError(
                        f"path: column {excerpt(each.name)} of {file} has values of no type, all "
                        "missing, which Spark reads "
                        "as numbers; write it with its real type"
                    )
                if pa.types.is_timestamp(kind):
                    zones.setdefault(each.name, kind.tz)
                    if kind.unit == "ns" and each.name not in old:
                        nanos.setdefault(each.name, []).append(file)
                    kind = pa.timestamp("us", "UTC")
                fields.append(pa.field(each.name, kind))
            schemas.append(pa.schema(fields))
    for name, some in nanos.items():
        others = [file for file, each in zip(files, schemas, strict=True) if name in each.names and file not in some]
        if others:
            raise DataError(
                f"path: column {excerpt(name)} is in nanoseconds in {some[0]} and coarser in {others[0]}; "
                "Spark reads one of the two wrongly: write all files in one unit, best in microseconds"
            )
    try:
        schema = pa.unify_schemas(schemas, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise DataError(
            f"path: the files in {files[0].parent} differ in their columns ({error}); give schema=…"
        ) from None
    if wanted is not None:
        check_there(wanted.names, schema.names)
        schema = wanted
    return schema, tuple(name for name in nanos if name in schema.names), zones


def check_there(wanted: list[str], there: list[str]) -> None:
    """Check that the files have the columns that a schema names."""
    missing = [name for name in wanted if name not in there]
    if missing:
        raise DataError(
            f"schema: the files have no column {excerpt(missing[0])}; they have {', '.join(map(repr, there))}"
        )
