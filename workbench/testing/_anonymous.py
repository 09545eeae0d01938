"""Values of rows in other words: hashed, invented or left out, equal where they were equal."""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any

import pyarrow as pa

from workbench.errors import wrong
from workbench.untyped import Argument, Json, Record, Value

__all__ = ["Anonymous", "checked"]

_WAYS = ("hash", "fake", "drop")
_KINDS = frozenset(
    {"address", "city", "company", "country", "email", "first_name", "job", "last_name", "name", "phone_number"}
    | {"postcode", "street_address", "user_name"}
)
"""Names of columns for which Faker invents a text of that kind; for others it invents a word."""
_LARGEST = {"int8": 2**7, "int16": 2**15, "int32": 2**31}
"""How many numbers there are from 0 on; of a long those of an integer, as a key may be one on the other side."""
_NUMBERS = ("int8", "int16", "int32", "int64")


def checked(anonymize: Argument) -> dict[str, str]:
    """The argument ``anonymize``.

    Raises
    ------
    ArgumentError
        If it names no way for a column.
    """
    if anonymize is None:
        return {}
    is_named = isinstance(anonymize, Mapping) and all(isinstance(name, str) for name in anonymize)
    if not is_named or any(way not in _WAYS for way in anonymize.values()):
        raise wrong("anonymize", anonymize, 'give "hash", "fake" or "drop" by column, as in {"email": "hash"}')
    return dict(anonymize)


@dataclass(frozen=True)
class Anonymous:
    """How the values of some columns are told; the same value always in the same way.

    Attributes
    ----------
    ways
        ``hash``, ``fake`` or ``drop`` by column; of a field of a struct, or of an object of JSON in a text, by a path
        such as ``value.email``.
    """

    ways: Mapping[str, str]
    _secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    _invented: dict[str, str] = field(default_factory=dict, repr=False)
    _seen: dict[Value, Value] = field(default_factory=dict, repr=False)
    _numbers: dict[int, int] = field(default_factory=dict, repr=False)

    def check(self, tables: Mapping[str, pa.Table]) -> None:
        """Refuse a column that no stream has, or a type that cannot be told in that way.

        Raises
        ------
        ArgumentError
            If there is one.
        """
        for path, way in self.ways.items():
            name = path.partition(".")[0]
            types = [each.schema.field(name).type for each in tables.values() if name in each.column_names]
            if not types:
                known = sorted({name for each in tables.values() for name in each.column_names})
                raise wrong("anonymize", path, f"no stream has this column; there are {', '.join(known)}")
            plain = all(str(each) in _NUMBERS or pa.types.is_string(each) or pa.types.is_binary(each) for each in types)
            if way != "drop" and path == name and not plain:
                raise wrong("anonymize", path, f"it is {types[0]}: only texts and whole numbers are hashed or invented")

    def row(self, row: Json, schema: pa.Schema) -> Record:
        """A row in other words."""
        found = dict(row)
        for path, way in self.ways.items():
            name, _, inner = path.partition(".")
            if name in found:
                found[name] = self._inside(found[name], name, inner, way, str(schema.field(name).type))
        return found

    def value(self, value: Value, written: str) -> Value:
        """A value that a job made of its rows in other words: null where these do not tell it, as of an upper case.

        Parameters
        ----------
        value
            The value.
        written
            All rows, as they are written: what is in them needs no other words.
        """
        if not self.ways or value is None:
            return value
        if value in self._seen:
            return self._seen[value]
        return value if str(value) in written else None

    def _inside(self, value: Value, name: str, inner: str, way: str, kind: str) -> Any:
        if value is None:
            return None
        if not inner:
            return self._told(value, name, way, kind)
        part, _, rest = inner.partition(".")
        if isinstance(value, Mapping):
            return {
                each: self._inside(of, part, rest, way, "int64") if each == part else of for each, of in value.items()
            }
        if isinstance(value, str | bytes):
            try:
                parsed = json.loads(value)
            except ValueError:
                raise wrong("anonymize", inner, f"a value is no JSON: {value!r}") from None
            if not isinstance(parsed, dict):
                raise wrong("anonymize", inner, f"a value is no object of JSON: {value!r}")
            told = json.dumps(self._inside(parsed, name, inner, way, kind), ensure_ascii=False)
            return told.encode() if isinstance(value, bytes) else told
        raise wrong("anonymize", inner, "the column has no fields")

    def _told(self, value: Value, column: str, way: str, kind: str) -> Any:
        told = self._in_other_words(value, column, way, kind)
        if isinstance(value, str | int):
            self._seen[value] = told
        return told

    def _in_other_words(self, value: Value, column: str, way: str, kind: str) -> Any:
        if value is None or way == "drop":
            return None
        if isinstance(value, bytes):
            told = self._told(value.decode(errors="surrogateescape"), column, way, kind)
            return str(told).encode(errors="surrogateescape")
        if isinstance(value, bool | float | dt.datetime | dt.date) or not isinstance(value, str | int):
            raise wrong("anonymize", value, "only texts and whole numbers are hashed or invented")
        if way == "hash" or isinstance(value, int):
            return self._number(value, kind) if isinstance(value, int) else self._digest(value).hex()[:16]
        return self._invent(value, column)

    def _digest(self, value: Value) -> bytes:
        return hmac.new(self._secret, repr(value).encode(errors="surrogateescape"), hashlib.sha256).digest()

    def _number(self, value: int, kind: str) -> int:
        """Another number of a type, another one for each value."""
        if value not in self._numbers:
            found, most = int.from_bytes(self._digest(value)[:8], "big"), _LARGEST.get(kind, _LARGEST["int32"])
            taken = set(self._numbers.values())
            self._numbers[value] = next(
                each for each in ((found + step) % most for step in count()) if each not in taken
            )
        return self._numbers[value]

    def _invent(self, value: str, column: str) -> str:
        """An invented text of the kind that the name of a column says, another one for each value."""
        if value not in self._invented:
            like = getattr(self._faker, column, None) if column in _KINDS else None
            words = str(like() if like is not None else self._faker.word())
            taken, found, number = set(self._invented.values()), words, 1
            while found in taken or found == value:
                number += 1
                found = f"{words} {number}"
            self._invented[value] = found
        return self._invented[value]

    @cached_property
    def _faker(self) -> Any:
        from faker import Faker  # when needed: it is slow to import

        made = Faker()
        made.seed_instance(int.from_bytes(self._secret, "big"))
        return made
