"""Reading a folder of files as micro-batches, by the reader and the options that an exported script has.

Spark reads the files here as it does in a job, so there is one meaning of a file. Only which columns a Parquet file has
is read from its footer, because Spark's own inference fails where files differ.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlparse

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from workbench import safe_files, session
from workbench.arrays import Batches
from workbench.errors import ArgumentError, DataError, excerpt, one_of, wrong
from workbench.quoting import backticks
from workbench.sources import FORMATS, MALFORMED, Files, Format, Malformed, arrow, parquet
from workbench.sources.key_choice import ALL, Choice, Newest, check_hashed, newest_columns
from workbench.sources.name_checks import BLOCK, CORRUPT, FILE, check_columns, check_roles
from workbench.sources.recorded_rows import Recorded
from workbench.spark_io.cause import spark_errors_as
from workbench.untyped import Value

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = ["UnreadableRecordsError", "cast", "escaped", "own_session", "parse_times", "read", "schema_of"]

_KINDS = {"parquet": "Parquet", "json": "JSON (one object a line)", "csv": "CSV"}
_RESERVED = (
    "path", "mode", "columnnameofcorruptrecord", "header", "enforceschema", "inferschema", "schema",
    "recursivefilelookup", "pathglobfilter", "modifiedbefore", "modifiedafter", "maxfilespertrigger",
    "maxbytespertrigger", "latestfirst", "ignorecorruptfiles", "ignoremissingfiles", "cleansource", "columnpruning",
)  # fmt: skip
"""Options that say which rows a run takes in and when, or that the reading here relies on."""
_ROW_PLACE = (FILE, BLOCK)


class UnreadableRecordsError(DataError):
    """Records cannot be read as their columns' types.

    Attributes
    ----------
    words
        How many, of which folder, and the first of them.
    count, total
        How many, and of how many.
    """

    def __init__(self, words: str, count: int, total: int) -> None:
        remedy = 'correct them, give schema=… or options=…, or leave them out by malformed="drop"'
        super().__init__(f"path: {words}; {remedy}")
        self.words, self.count, self.total = words, count, total


def read(
    path: str | os.PathLike[str],
    time: str,
    *,
    format: Format,  # noqa: A002 - Spark's word
    schema: Value,
    max_files: int,
    options: dict[str, str] | None,
    malformed: Malformed,
    name: str = "",
    key: Sequence[str] = (),
    choice: Choice = ALL,
) -> Recorded:
    """The rows of a folder, in the order in which Spark's file source takes the files; see `Stream.from_files`."""
    one_of("format", format, FORMATS)
    given = _checked_options(options, format)
    folder = safe_files.place(path, 'give a folder\'s path, such as "orders/"')
    one_of("malformed", malformed, MALFORMED)
    if not folder.exists():
        raise wrong("path", str(folder), "there is no such folder; give the folder that holds the files")
    if not folder.is_dir():
        raise wrong("path", str(folder), "that is a file; give the folder that holds it")
    wanted = schema_of(schema)
    source = Files(os.fspath(path), format, max_files, given, malformed)
    if format == "delta":
        _check_delta_arguments(max_files, given, malformed)
        table = _select(_delta(folder.absolute()), wanted)  # a relative one may look like an address
        return Recorded(table, np.zeros(table.num_rows, dtype=np.int64), 1, source)
    _check_files_only(folder)
    folder = folder.absolute()  # Java stays in the folder that it was started in
    spark = own_session()
    with _in_one_sentence(folder, format):
        files = _in_order(spark.read.format("binaryFile").load(escaped(folder)).inputFiles())
    if not files:
        raise wrong("path", str(folder), f"the folder has no files; put {_KINDS[format]} files into it")
    nanos: tuple[str, ...] = ()
    zones: dict[str, str | None] = {}
    if format == "parquet":
        found, nanos, zones = parquet.columns(files, wanted)
        types = dict(_spark_types(found)) | dict.fromkeys(nanos, "bigint")
    else:
        _check_text(spark, folder)
        types = _text_types(spark, folder, source, wanted, time)
    check_columns([*types], folder.name)
    with _in_one_sentence(folder, format):
        rows = _rows(spark, folder, source, types)
        if nanos:
            rows = rows.withColumns({name: _from_nanoseconds(name) for name in nanos})
    names, newest = list(types) if wanted is None else wanted.names, None
    batch = np.arange(len(files)) // max_files
    if not choice.takes_all:
        check_roles(names, key, time, name)
        check_hashed(choice, [(each, kind) for each, kind in rows.dtypes if each in key])
        with _in_one_sentence(folder, format):
            total, newest = _newest(rows, key, time, files, batch, list(types) if format == "csv" else ())
            table = rows.where(choice.condition(rows, key) | rows[CORRUPT].isNotNull()).toArrow()
    else:
        with _in_one_sentence(folder, format):
            table = rows.toArrow()
            total = len(table)
    table = _well_formed(_sorted(table, files), folder, malformed, total)
    place = table.column(_ROW_PLACE[0]).to_numpy()
    left_out = tuple(types.items()) if list(types) != names else ()
    return Recorded(
        table.select(names),
        batch[place],
        int(batch[-1]) + 1,
        replace(source, nanos=nanos, columns=left_out),
        zones,
        newest=newest,
    )


def _newest(
    rows: DataFrame, key: Sequence[str], time: str, files: list[Path], batch: Batches, csv: Sequence[str]
) -> tuple[int, Newest | None]:
    """How many records the files have, and of each micro-batch the newest event times of those that can be read.

    Of CSV the names of all columns are given, too.
    """
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    if dict(rows.dtypes)[time] not in ("timestamp", "timestamp_ntz"):
        return 0, None  # which is refused for all rows as for some
    good = F.col(CORRUPT).isNull().alias("good")
    # else Spark reads CSV without a look at columns that nobody asks for, and finds no fault in them
    whole = [F.max(F.hash(*map(backticks, csv)))] if csv else []
    found = rows.groupBy(FILE, good).agg(*newest_columns(rows, key, time), *whole).collect()
    rank = {file: number for number, file in enumerate(files)}
    parts = [np.full(int(batch[-1]) + 1, -(2**63), dtype=np.int64) for _ in range(2)]
    for each in (each for each in found if each["good"]):
        mine = batch[rank[_local(each[FILE])]]
        for part, column in zip(parts, ("all", "keyed"), strict=True):
            part[mine] = max(int(part[mine]), int(each[column]))
    return sum(int(each["count"]) for each in found), Newest(parts[0], parts[1])


def _checked_options(options: object, kind: Format) -> dict[str, str]:
    """The options of Spark's reader that the user gave, none of which may be the workbench's to set."""
    if options is None:
        return {}
    remedy = 'give a dict of texts, such as {"sep": ";", "nullValue": "NA"}'
    if not isinstance(options, dict) or not all(isinstance(each, str) for pair in options.items() for each in pair):
        raise wrong("options", options, remedy)
    for name in options:
        if name.lower() in _RESERVED or (kind == "json" and name.lower() in ("multiline", "encoding", "charset")):
            raise wrong(
                "options", options, f"leave {excerpt(name)} out: options cannot set how files become micro-batches"
            )
    return dict(options)


def _check_delta_arguments(max_files: int, options: dict[str, str], malformed: Malformed) -> None:
    """Refuse what says nothing of a Delta table, which is read as one micro-batch."""
    for name, got, default in (("max_files", max_files, 1), ("options", options, {}), ("malformed", malformed, "fail")):
        if got != default:
            raise wrong(name, got, "leave it out for a Delta table, whose rows are read as one micro-batch")


def escaped(path: str | Path) -> str:
    r"""A path in which Spark finds no pattern: its ``[ ] { } * ? \`` stand for themselves."""
    return re.sub(r"([\\\[\]{}*?])", r"\\\1", str(path))


def schema_of(schema: Value) -> pa.Schema | None:
    """A schema as users give it.

    Raises
    ------
    ArgumentError
        If it is neither None, a `pyarrow.Schema` nor a dict of names to types.
    """
    if schema is None or isinstance(schema, pa.Schema):
        return schema
    remedy = 'give a pyarrow.Schema or a dict such as {"order_id": "string", "ordered_at": "timestamp[us]"}'
    if not isinstance(schema, dict) or not schema or not all(isinstance(name, str) for name in schema):
        raise wrong("schema", schema, remedy)
    try:
        return pa.schema([(name, pa.type_for_alias(str(kind))) for name, kind in schema.items()])
    except (ValueError, TypeError):
        raise wrong("schema", schema, remedy) from None


def own_session() -> SparkSession:
    """A session that reads as an exported script does."""
    own = session.spark().newSession()
    for name, value in {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.files.ignoreCorruptFiles": "false",
        "spark.sql.files.ignoreMissingFiles": "false",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "1000000",
    }.items():
        own.conf.set(name, value)
    return own


def _check_files_only(path: Path) -> None:
    """Spark reads some folders in a folder and passes over others, by their names; here they are refused.

    So is what may never end, a pipe or a device, for which Spark would wait.
    """
    shown = [each for each in path.iterdir() if not each.name.startswith(("_", "."))]
    inner = [each.name for each in shown if each.is_dir()]
    endless = [each.name for each in shown if each.exists() and not each.is_dir() and not each.is_file()]
    if endless:
        names = ", ".join(sorted(endless)[:3])
        raise wrong("path", str(path), f"it holds pipes or devices ({names}); give one that holds files only")
    if inner:
        raise wrong(
            "path", str(path), f"it holds folders ({', '.join(sorted(inner)[:3])}); give one that holds files only"
        )


def _in_order(uris: Iterable[str]) -> list[Path]:
    """The files in the order in which Spark's file source takes them."""
    files = {_local(uri) for uri in uris}
    return sorted(files, key=lambda file: (file.stat().st_mtime_ns // 1_000_000, str(file)))


def _local(uri: str) -> Path:
    return Path(unquote(urlparse(uri).path))


def _in_one_sentence(path: Path, kind: Format) -> AbstractContextManager[None]:
    """An error of Spark's reader in one sentence."""

    def said(why: str) -> DataError:
        words = why.replace("file:///", "/").replace("file:/", "/")
        if str(path) not in words:
            words = f"{path}: {words}"
        return DataError(f"path: {words}; give {_KINDS[kind]} files with one set of columns, or take it out")

    return spark_errors_as(said)


def _rows(spark: SparkSession, path: Path, source: Files, types: dict[str, str]) -> DataFrame:
    """The rows of a folder, what could not be read in `CORRUPT`, and where each row stood."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    place = [
        F.col("_metadata.file_path").alias(_ROW_PLACE[0]),
        F.col("_metadata.file_block_start").alias(_ROW_PLACE[1]),
    ]
    schema = ", ".join(f"{backticks(name)} {kind_of}" for name, kind_of in types.items())
    if source.format == "parquet":
        rows = spark.read.schema(schema).parquet(escaped(path))
        return rows.select("*", F.lit(None).cast("string").alias(CORRUPT), *place)
    schema += f", {CORRUPT} string"
    given = source.reader_options | {"columnNameOfCorruptRecord": CORRUPT}
    if source.format == "csv":
        return spark.read.schema(schema).options(**given).csv(escaped(path)).select("*", *place)
    lines = spark.read.text(escaped(path)).where(F.trim("value") != "")
    parsed = lines.select(F.from_json("value", schema, given).alias("row"), "value", *place)
    broken = F.when(_more_than_one("value"), F.col("value")).otherwise(F.col(f"row.{CORRUPT}"))
    columns = [F.col(f"row.{backticks(name)}").alias(name) for name in types]
    return parsed.select(*columns, broken.alias(CORRUPT), *_ROW_PLACE)


def _more_than_one(text: str) -> Column:
    """Whether a line goes on after its JSON value; Spark's parser would pass over what follows."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    return ~F.json_array_length(F.concat(F.lit("["), text, F.lit("]"))).eqNullSafe(1)


def _from_nanoseconds(name: str) -> Column:
    """Nanoseconds as a timestamp, cut towards the past."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    column = backticks(name)
    return F.timestamp_micros(F.expr(f"({column} - pmod({column}, 1000)) div 1000"))


def _spark_types(schema: pa.Schema) -> list[tuple[str, str]]:
    """The columns of a schema and their types in Spark's words."""
    from pyspark.sql.pandas.types import from_arrow_schema  # when needed: PySpark is slow to import

    targets = []
    for each in schema:
        target = arrow.target(each.type)
        if target is None:
            raise arrow.unreadable(each.name, "the files", each.type)
        targets.append(pa.field(each.name, target))
    return [(each.name, arrow.ddl(each.dataType)) for each in from_arrow_schema(pa.schema(targets))]


def _check_text(spark: SparkSession, path: Path) -> None:
    """Check that files of text are UTF-8, which Spark takes them for without a look."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    with _in_one_sentence(path, "csv"):
        lines = spark.read.text(escaped(path)).select("value", F.col("_metadata.file_path").alias("file"))
        other = lines.where(~F.is_valid_utf8("value")).head()
    if other is not None:
        raise DataError(f"path: {_local(other['file'])} is not UTF-8; write it in UTF-8")


def _text_types(
    spark: SparkSession, path: Path, source: Files, wanted: pa.Schema | None, time: object
) -> dict[str, str]:
    """The columns of files of text and their types: as the schema says, else as Spark infers them."""
    kind, given = source.format, source.reader_options | {"columnNameOfCorruptRecord": CORRUPT}
    place = escaped(path)
    if place != str(path):  # Spark's inference would take the names of the files it has found for patterns again
        place, given = str(path), given | {"__globPaths__": "false", "multiLine": "false"}
    with _in_one_sentence(path, kind):
        if kind == "json":
            found = spark.read.options(**given).json(place).schema
        else:
            found = spark.read.options(**given).option("inferSchema", wanted is None).csv(place).schema
    types = {each.name: arrow.ddl(each.dataType) for each in found if each.name != CORRUPT}
    if kind == "json":  # Spark infers the columns in alphabetical order
        types = {name: types[name] for name in [*_first_object(spark, path), *types] if name in types}
    if not types and (wanted is None or kind == "csv"):
        raise DataError(
            f"path: no file in {path} has a record in {_KINDS[kind]}; give the real format, or take them out"
        )
    if wanted is None:
        if isinstance(time, str) and types.get(time) in ("string", "date"):
            types[time] = "timestamp"  # text, as JSON has no other way to say a time
        return types
    chosen = dict(_spark_types(wanted))
    if kind == "json":
        return chosen
    parquet.check_there(wanted.names, list(types))
    return types | chosen  # CSV is read by position: all columns of the files, in their order


def _first_object(spark: SparkSession, path: Path) -> list[str]:
    """The names in the first line of some file, in their order."""
    line = spark.read.text(escaped(path)).where("trim(value) != ''").head()
    try:
        found = json.loads(line["value"]) if line is not None else {}
    except ValueError:
        return []
    return list(found) if isinstance(found, dict) else []


def _sorted(table: pa.Table, files: list[Path]) -> pa.Table:
    """The rows in order of their file and their place in it; column ``__file`` is the file's number."""
    paths = table.column(_ROW_PLACE[0]).combine_chunks().dictionary_encode()
    paths = paths.combine_chunks() if isinstance(paths, pa.ChunkedArray) else paths
    rank = {file: number for number, file in enumerate(files)}
    numbers = np.array([rank[_local(uri)] for uri in paths.dictionary.to_pylist()], dtype=np.int64)
    place = numbers[paths.indices.to_numpy()] if len(numbers) else np.zeros(0, dtype=np.int64)
    order = np.lexsort((table.column(_ROW_PLACE[1]).to_numpy(), place))
    column = table.column_names.index(_ROW_PLACE[0])
    return table.set_column(column, _ROW_PLACE[0], pa.array(place)).take(pa.array(order))


def _well_formed(table: pa.Table, path: Path, malformed: str, total: int) -> pa.Table:
    """The rows that could be read; what could not is reported in a warning."""
    bad = pc.is_valid(table.column(CORRUPT))
    count = pc.sum(bad).as_py() or 0
    if not count:
        return table
    first = table.column(CORRUPT).filter(bad)[0].as_py()[:120]
    unread = f"{count:,} of {total:,} records in {path} cannot be read as their columns' types"
    words = f"{unread}, the first is {excerpt(first)}"
    if malformed == "fail":
        raise UnreadableRecordsError(words, count, total)
    warnings.warn(f"{words}; they are left out", stacklevel=4)
    return table.filter(pc.invert(bad))


def _delta(path: Path) -> pa.Table:
    try:
        from deltalake import DeltaTable  # an optional extra
        from deltalake.exceptions import DeltaError, TableNotFoundError
    except ImportError:
        raise ArgumentError(
            "format: got 'delta', which needs the package deltalake; install stream-join-workbench[delta]"
        ) from None
    try:
        return pa.table(DeltaTable(str(path)).to_pyarrow_table())
    except TableNotFoundError:
        raise wrong("path", str(path), "that is no Delta table; give its real format") from None
    except DeltaError as error:
        raise DataError(f"path: the Delta table {path} cannot be read ({error}); give one that is whole") from None


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
    """Read the event-time column from ISO 8601 text, as messages hold it; other columns stay."""
    if time not in table.column_names or not pa.types.is_string(table.schema.field(time).type):
        return table
    try:
        read = pd.to_datetime(table.column(time).to_pandas(), utc=True, format="ISO8601")
    except (ValueError, TypeError):
        return table
    return table.set_column(table.column_names.index(time), time, pa.Array.from_pandas(read))
