"""The bytes in which Spark keeps lists in its state: an ``UnsafeRow`` whose only field is an ``UnsafeArrayData``.

A row has a bit for each field that is null, in words of 8 bytes, then 8 bytes a field; what has no fixed length stands
behind, and the field says where and how long it is. A list has its length first, then the same with entries of their
own width. (``org.apache.spark.sql.catalyst.expressions.UnsafeRow`` and ``UnsafeArrayData``, which checkpoints hold a
later version of Spark to.)
"""

from __future__ import annotations

import datetime
import decimal
import struct
from collections.abc import Iterator
from typing import Any

from workbench.untyped import Value

__all__ = ["NotDecodable", "entries"]

_WORD = 8
_FORMATS = {
    "boolean": ("?", 1),
    "byte": ("<b", 1),
    "short": ("<h", 2),
    "integer": ("<i", 4),
    "date": ("<i", 4),
    "float": ("<f", 4),
    "long": ("<q", 8),
    "double": ("<d", 8),
    "timestamp": ("<q", 8),
    "timestamp_ntz": ("<q", 8),
}
"""Types of fixed length: how to unpack them, and how many bytes an entry of a list has."""
_EPOCH = datetime.datetime(1970, 1, 1)
_LONG_DIGITS = 18
"""Decimals of no more digits are kept as whole numbers of 8 bytes."""


class NotDecodable(Exception):  # noqa: N818 - it is caught, and becomes a sentence
    """Spark's name of a type that is not decoded."""


def entries(data: bytes, kind: Value) -> list[Value]:
    """The entries of a list.

    Parameters
    ----------
    data
        The bytes of a row whose only field is the list.
    kind
        The type of an entry, as pyspark has it: of numbers, text, times, decimals, binaries, lists or structs of these.

    Returns
    -------
    list
        Python's values, as ``DataFrame.collect`` gives them: timestamps as naive datetimes in UTC, structs as tuples.

    Raises
    ------
    NotDecodable
        If an entry has a type that is none of these.
    """
    where, size = _place(data, _WORD)
    return _list(data[where : where + size], kind)


def _place(data: bytes, at: int) -> tuple[int, int]:
    """Where a value of no fixed length is, counted from the start of its row or list, and how long it is."""
    (found,) = struct.unpack_from("<q", data, at)
    return found >> 32, found & 0xFFFFFFFF


def _nulls(data: bytes, start: int, count: int) -> Iterator[bool]:
    for number in range(count):
        (word,) = struct.unpack_from("<Q", data, start + number // 64 * _WORD)
        yield bool(word >> number % 64 & 1)


def _width(count: int) -> int:
    return (count + 63) // 64 * _WORD


def _list(data: bytes, kind: Value) -> list[Value]:
    (count,) = struct.unpack_from("<q", data, 0)
    first = _WORD + _width(count)
    step = _FORMATS.get(kind.typeName(), ("", _WORD))[1]
    nulls = _nulls(data, _WORD, count)
    return [None if null else _value(data, first + place * step, kind) for place, null in enumerate(nulls)]


def _row(data: bytes, kinds: list[Value]) -> tuple[Value, ...]:
    first = _width(len(kinds))
    nulls = zip(_nulls(data, 0, len(kinds)), kinds, strict=True)
    return tuple(
        None if null else _value(data, first + place * _WORD, kind) for place, (null, kind) in enumerate(nulls)
    )


def _value(data: bytes, at: int, kind: Value) -> Any:
    name = kind.typeName()
    if name in _FORMATS:
        (found,) = struct.unpack_from(_FORMATS[name][0], data, at)
        return _of_time(found, name)
    if name == "decimal" and kind.precision <= _LONG_DIGITS:
        (found,) = struct.unpack_from("<q", data, at)
        return _decimal(found, kind.scale)
    where, size = _place(data, at)
    held = data[where : where + size]
    if name in ("string", "varchar", "char"):
        return held.decode()
    if name == "binary":
        return held
    if name == "decimal":
        return _decimal(int.from_bytes(held, "big", signed=True), kind.scale)
    if name == "array":
        return _list(held, kind.elementType)
    if name == "struct":
        return _row(held, [each.dataType for each in kind.fields])
    raise NotDecodable(name)


def _of_time(found: Value, name: str) -> Any:
    if name == "date":
        return (_EPOCH + datetime.timedelta(days=found)).date()
    return _EPOCH + datetime.timedelta(microseconds=found) if name.startswith("timestamp") else found


def _decimal(unscaled: int, scale: int) -> decimal.Decimal:
    return decimal.Decimal(unscaled).scaleb(-scale, decimal.Context(prec=40))
