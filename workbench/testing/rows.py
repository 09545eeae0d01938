"""The rows of a test, in the forms in which one writes them, as Arrow tables of one schema."""

from __future__ import annotations

import base64
import csv
import datetime as dt
import io
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa

from workbench.counts import counted
from workbench.errors import ArgumentError, excerpt, wrong
from workbench.spark_io.cause import spark_errors_as
from workbench.testing.values import BASE64, clock
from workbench.untyped import Value

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

__all__ = ["MicroBatches", "micro_batches", "schema_of", "tables"]

_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?(?::?(\d{2}))?")
_COLUMNS = 'give columns as Spark writes them, such as "id string, at timestamp"'
_FORMS = "a list of tuples or dicts, a pandas or Arrow table, or a text of CSV or JSON"
_DECIMALS = ("float", "double")
_INTEGERS = ("byte", "short", "integer", "long")
_TRUTH = {"true": True, "false": False}
_NO_FIT = (pa.ArrowException, TypeError, ValueError, OverflowError)


@dataclass(frozen=True, repr=False, eq=False)
class MicroBatches:
    """The rows of one stream, micro-batch by micro-batch. Made by `micro_batches`.

    Attributes
    ----------
    schema
        The columns, as they were given.
    batches
        The rows of each micro-batch, as they were given.
    """

    schema: str | StructType
    batches: tuple[Value, ...]

    def __repr__(self) -> str:
        return f"MicroBatches({excerpt(self.schema)}, {counted(len(self.batches), 'micro-batch')})"


def micro_batches(schema: str | StructType, *batches: Value) -> MicroBatches:
    """The rows of one stream, micro-batch by micro-batch, for `play`.

    Parameters
    ----------
    schema
        The columns, as Spark's DDL, such as ``"id string, at timestamp"``, or a ``StructType``.
    *batches
        The rows of each micro-batch; an empty list is one without rows of this stream. A list of tuples (in the order
        of the columns) or of dicts, a pandas or Arrow table, or a text: CSV, with or without a line of column names, or
        JSON, an object a line or a list of them. A time may be a text, such as ``"2026-01-01 10:00:00"``, in the time
        zone of the session where it names none; without a day, such as ``"10:00:00"``, it is on `testing.DAY`.

    Raises
    ------
    ArgumentError
        If `schema` or a micro-batch has another form. Values are checked by `play`.
    """
    if not (isinstance(schema, str) and schema.strip()) and not hasattr(schema, "fields"):
        raise wrong("schema", schema, _COLUMNS)
    for number, batch in enumerate(batches):
        is_list = isinstance(batch, Sequence) and not isinstance(batch, bytes)
        if not (is_list or isinstance(batch, pd.DataFrame | pa.Table)):
            raise wrong(f"micro-batch {number}", batch, f"give {_FORMS}")
        if is_list and not isinstance(batch, str) and any(not _is_row(row) for row in batch):
            row = next(each for each in batch if not _is_row(each))
            raise wrong(f"micro-batch {number}", row, "that is no row: a micro-batch is a list of tuples or dicts")
    return MicroBatches(schema, batches)


def _is_row(row: object) -> bool:
    return isinstance(row, Mapping) or (isinstance(row, Sequence) and not isinstance(row, str | bytes))


def schema_of(given: MicroBatches, name: str) -> StructType:
    """The columns of a stream. A text needs a Spark session, which reads it.

    Raises
    ------
    ArgumentError
        If Spark cannot read it.
    """
    from pyspark.sql.types import StructType  # when needed: PySpark is slow to import

    if not isinstance(given.schema, str):
        return _distinct(given.schema, name)
    with spark_errors_as(lambda why: wrong(name, given.schema, f"that is no schema ({why}); {_COLUMNS}")):
        found = StructType.fromDDL(given.schema)
    if not isinstance(found, StructType):  # a text such as "int" is a type
        raise wrong(name, given.schema, f"that names no column; {_COLUMNS}")
    return _distinct(found, name)


def _distinct(schema: StructType, name: str) -> StructType:
    """A schema, checked: a row has one value by a name."""
    if twice := [each for each in schema.names if schema.names.count(each) > 1]:
        raise wrong(name, schema.simpleString(), f"two columns are named {twice[0]}; give each a name of its own")
    return schema


def tables(given: MicroBatches, schema: StructType, target: pa.Schema, name: str, zone: str) -> list[pa.Table]:
    """A table for each micro-batch.

    Parameters
    ----------
    given, schema, target
        The stream, its columns, and these as Arrow has them.
    name
        What the stream is called, for errors.
    zone
        The time zone of times that name none.

    Raises
    ------
    ArgumentError
        If a row lacks a column or has one more, or a value is none of its column's type.
    """
    found, rules = [], _zone(zone)
    for number, batch in enumerate(given.batches):
        rows = [
            {
                field.name: _read(_Place(name, number, place, field.name), field.dataType, row[field.name], rules)
                for field in schema
            }
            for place, row in enumerate(_named(batch, schema.names, name, number))
        ]
        try:
            found.append(pa.Table.from_pylist(rows, schema=target))
        except _NO_FIT:
            raise _misfit(rows, schema, target, name, number) from None
    return found


def _misfit(
    rows: Sequence[Mapping[str, Value]], schema: StructType, target: pa.Schema, name: str, number: int
) -> ArgumentError:
    """The error for the first value that Arrow does not take."""
    for place, row in enumerate(rows):
        for column in target:
            try:
                pa.array([row[column.name]], column.type)
            except _NO_FIT as error:
                kind = schema[column.name].dataType.simpleString()
                at = _Place(name, number, place, column.name)
                return at.wrong(row[column.name], f"does not fit {kind} ({error})")
    return ArgumentError(f"{name}: the rows of micro-batch {number} do not fit {schema.simpleString()}")


def _zone(name: str) -> dt.tzinfo:
    """A time zone of Spark's."""
    if offset := _OFFSET.fullmatch(name):
        sign, *parts = offset.groups(default="0")
        hours, minutes, seconds = map(int, parts)
        found = dt.timedelta(hours=hours, minutes=minutes, seconds=seconds)
        return dt.timezone(-found if sign == "-" else found)
    try:
        return ZoneInfo("UTC" if name == "Z" else name)
    except (KeyError, ValueError):
        remedy = 'give a region, such as "Europe/Berlin", or an offset, such as "+01:00"'
        raise wrong("spark.sql.session.timeZone", name, f"its rules are not known to Python; {remedy}") from None


@dataclass(frozen=True)
class _Place:
    """Where a value stands."""

    stream: str
    batch: int
    row: int
    column: str

    def wrong(self, value: Value, remedy: str) -> ArgumentError:
        return wrong(self.stream, value, f"column {self.column} of row {self.row} of micro-batch {self.batch} {remedy}")


def _named(batch: Any, names: Sequence[str], stream: str, number: int) -> Iterator[Mapping[str, Value]]:
    """The rows of a micro-batch by the names of the columns."""
    if isinstance(batch, pd.DataFrame):
        try:
            batch = pa.Table.from_pandas(batch, preserve_index=False)
        except (pa.ArrowException, ValueError, TypeError) as error:
            why = "; ".join(map(str, error.args))
            raise ArgumentError(f"{stream}: the table of micro-batch {number} cannot be read ({why})") from None
    rows = batch.to_pylist() if isinstance(batch, pa.Table) else batch
    if isinstance(rows, str):
        rows = list(_of_text(rows, names, stream, number))
    for place, row in enumerate(rows):
        where = f"row {place} of micro-batch {number}"
        own = getattr(row, "__fields__", None) or getattr(row, "_fields", None)  # of PySpark's, or a named tuple
        if own is not None and sorted(own) == sorted(names):
            row = dict(zip(own, row, strict=True))
        if not isinstance(row, Mapping):
            if not _is_row(row) or len(row) != len(names):
                raise wrong(stream, row, f"{where} needs {counted(len(names), 'value')}: {', '.join(names)}")
            yield dict(zip(names, row, strict=True))
            continue
        if lacking := [each for each in names if each not in row]:
            raise wrong(stream, row, f"{where} has no column {lacking[0]}; write None for a missing value")
        if more := [each for each in row if each not in names]:
            raise wrong(stream, row, f"{where} has a column {more[0]}, which the schema lacks ({', '.join(names)})")
        yield row


def _of_text(text: str, names: Sequence[str], stream: str, number: int) -> Iterator[Any]:
    """The rows of a text of CSV or JSON; what is left out of an object, and an empty field of CSV, is null."""
    if not text.lstrip().startswith(("{", "[")):
        try:
            fields = list(filter(None, csv.reader(io.StringIO(text.strip(), newline=""), skipinitialspace=True)))
        except csv.Error as error:
            raise wrong(stream, text, f"micro-batch {number} is no CSV ({error})") from None
        header = list(names)
        if fields and set(fields[0]) <= set(names):
            header = fields.pop(0)
        for row in fields:
            values = [each.strip() or None for each in row]
            yield (
                values if len(values) != len(header) else dict.fromkeys(names) | dict(zip(header, values, strict=True))
            )
        return
    try:
        found = list(_of_json(text.strip()))
    except json.JSONDecodeError as error:
        raise wrong(stream, text, f"micro-batch {number} is no JSON ({error.msg})") from None
    for row in found:
        yield dict.fromkeys(names) | row if isinstance(row, dict) else row


def _of_json(text: str) -> Iterator[Any]:
    """The values of a text, one after another, those of a list singly; each number with all its digits."""
    decoder, at = json.JSONDecoder(parse_float=Decimal), 0
    while at < len(text):
        value, end = decoder.raw_decode(text, at)
        yield from value if isinstance(value, list) else [value]
        at = end + len(text[end:]) - len(text[end:].lstrip())


def _is_missing(value: Value, *, may_be_nan: bool) -> bool:
    if value is None or value is pd.NaT or value is pd.NA:
        return True
    if isinstance(value, np.datetime64):
        return bool(np.isnat(value))
    return not may_be_nan and isinstance(value, float) and math.isnan(value)


def _read(place: _Place, kind: DataType, value: Value, zone: dt.tzinfo) -> Value:
    """A value as Arrow takes it for a type of Spark's."""
    name = kind.typeName()
    if _is_missing(value, may_be_nan=name in _DECIMALS):
        return None
    if name == "struct":
        return _struct(place, kind, value, zone)
    if name == "array":
        if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__iter__"):
            raise place.wrong(value, f"is {kind.simpleString()}: give a list")
        return [_read(place, _part(kind, "elementType"), each, zone) for each in value]
    if name == "map":
        if not isinstance(value, Mapping) and not (isinstance(value, list) and all(map(_is_pair, value))):
            raise place.wrong(value, f"is {kind.simpleString()}: give a dict")
        pairs = value.items() if isinstance(value, Mapping) else value
        types = _part(kind, "keyType"), _part(kind, "valueType")
        return [tuple(_read(place, of, each, zone) for of, each in zip(types, pair, strict=True)) for pair in pairs]
    reader = _READERS.get("decimal" if name.startswith("decimal") else name)
    if reader is None:
        return value
    try:
        return reader(value, zone)
    except (ValueError, TypeError, KeyError, InvalidOperation, OverflowError):
        example = _EXAMPLES.get(name, "")
        raise place.wrong(value, f"is {kind.simpleString()}{example and ': give ' + example}") from None


def _is_pair(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes) and len(value) == 2


def _struct(place: _Place, kind: Any, value: Value, zone: dt.tzinfo) -> Value:
    if not isinstance(value, Mapping) and not (_is_row(value) and len(value) == len(kind.names)):
        raise place.wrong(value, f"is {kind.simpleString()}: give a dict with {', '.join(kind.names)}")
    values = value if isinstance(value, Mapping) else dict(zip(kind.names, value, strict=True))
    if unknown := set(values) - set(kind.names):
        raise place.wrong(value, f"has a field {min(unknown)}, which {kind.simpleString()} lacks")
    return {field.name: _read(place, field.dataType, values.get(field.name), zone) for field in kind}


def _part(kind: Any, name: str) -> DataType:
    return getattr(kind, name)


def _moment(value: Value, zone: dt.tzinfo) -> dt.datetime:
    """A point in time. Of times that clocks show twice, or skip, Python and Spark take the same."""
    found = clock(value)
    return found.to_pydatetime(warn=False).replace(tzinfo=zone) if found.tz is None else found


def _moment_without_zone(value: Value, _: dt.tzinfo) -> pd.Timestamp:
    found = clock(value)
    if found.tz is not None:
        raise ValueError
    return found


def _date(value: Value, _: dt.tzinfo) -> dt.date:
    if isinstance(value, dt.date):
        return value
    return dt.date.fromisoformat(value)


def _whole(value: Value, _: dt.tzinfo) -> int:
    if isinstance(value, bool | float | np.floating | Decimal) and (isinstance(value, bool) or value != int(value)):
        raise ValueError
    return int(value)


def _number(value: Value, _: dt.tzinfo) -> float:
    if isinstance(value, bool):
        raise ValueError
    return float(value)


def _decimal(value: Value, _: dt.tzinfo) -> Decimal:
    if isinstance(value, bool):
        raise ValueError
    return Decimal(str(value))


def _text(value: Value, _: dt.tzinfo) -> str:
    if not isinstance(value, str):
        raise ValueError
    return value


def _truth(value: Value, _: dt.tzinfo) -> bool:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, str) and value.lower() in _TRUTH:
        return _TRUTH[value.lower()]
    raise ValueError


def _bytes(value: Value, _: dt.tzinfo) -> bytes:
    if isinstance(value, dict):  # as fixtures write what is no text
        return base64.b64decode(value[BASE64], validate=True)
    return value.encode() if isinstance(value, str) else bytes(value)


_READERS: Mapping[str, Callable[[Any, dt.tzinfo], Value]] = {
    "timestamp": _moment,
    "timestamp_ntz": _moment_without_zone,
    "date": _date,
    **dict.fromkeys(_INTEGERS, _whole),
    **dict.fromkeys(_DECIMALS, _number),
    "decimal": _decimal,
    "string": _text,
    "boolean": _truth,
    "binary": _bytes,
}
_EXAMPLES = {
    "timestamp": 'a time, such as "10:00:00" or "2026-01-01 10:00:00"',
    "timestamp_ntz": 'a time without a zone, such as "10:00:00" or "2026-01-01 10:00:00"',
    "date": 'a day, such as "2026-01-01"',
    "string": "a text",
    "boolean": "True or False",
    **dict.fromkeys(_INTEGERS, "a whole number"),
    **dict.fromkeys(_DECIMALS, "a number"),
}
