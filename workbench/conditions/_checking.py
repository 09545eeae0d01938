"""Whether a condition can be computed from some columns, and of which kind its values are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from workbench.conditions._nodes import (
    And,
    Arithmetic,
    Column,
    Comparison,
    Condition,
    Constant,
    EarlierColumn,
    IsIn,
    IsNull,
    Like,
    Not,
    Or,
    Value,
)
from workbench.errors import excerpt, wrong

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Kind", "asks_earlier", "check", "columns", "common_kind", "earlier", "kind_of_type", "kind_of_value"]

Kind = Literal["boolean", "integer", "decimal", "single", "double", "text", "time"]
"""What values of a type have in common, however wide they are."""
_NUMBERS: tuple[Kind, ...] = ("integer", "decimal", "single", "double")
_WORDS: dict[Kind, str] = {
    "boolean": "a boolean",
    "integer": "a number",
    "decimal": "a number",
    "single": "a number",
    "double": "a number",
    "text": "a text",
    "time": "a time",
}


def columns(of: Condition | Value) -> Iterator[str]:
    """The names of the columns that a condition rests on, each as often as it is named."""
    return (each.name for each in _leaves(of))


def earlier(of: Condition | Value) -> Iterator[EarlierColumn]:
    """The columns of earlier rows of a match that a condition rests on, each as often as it is named."""
    return (each for each in _leaves(of) if isinstance(each, EarlierColumn))


def asks_earlier(of: Condition) -> bool:
    """Whether a condition rests on earlier rows of a match."""
    return next(earlier(of), None) is not None


def _leaves(of: Condition | Value) -> Iterator[Column | EarlierColumn]:
    match of:
        case Column() | EarlierColumn():
            yield of
        case Comparison(_, left, right) | Arithmetic(_, left, right):
            yield from _leaves(left)
            yield from _leaves(right)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _leaves(part)
        case IsIn(value) | Like(value) | IsNull(value):
            yield from _leaves(value)
        case Not(negated):
            yield from _leaves(negated)


def check(condition: object, types: Mapping[str, pa.DataType], argument: str) -> dict[str, Kind]:
    """Check that a condition can be computed from some columns.

    Parameters
    ----------
    condition
        The condition.
    types
        The columns that there are, by name, with their types.
    argument
        What the condition was given for, for errors.

    Returns
    -------
    dict
        Of the columns that it names the kind of their values.

    Raises
    ------
    ArgumentError
        If it is no condition, names a column that there is not, or compares what cannot be compared.
    """
    if not isinstance(condition, Condition):
        raise wrong(argument, condition, 'use a condition, such as wb.col("amount") > 100')
    kinds: dict[str, Kind] = {}
    for name in columns(condition):
        if name not in types:
            raise wrong(argument, condition, f"there is no column {excerpt(name)}; there are {', '.join(types)}")
        kind = kind_of_type(types[name])
        if kind is None:
            remedy = f"column {excerpt(name)} is of type {types[name]}: use booleans, numbers, texts and times only"
            raise wrong(argument, condition, remedy)
        kinds[name] = kind
    fault = next(_faults(condition, kinds), None)
    if fault is not None:
        raise wrong(argument, condition, fault)
    return kinds


def kind_of_type(given: pa.DataType) -> Kind | None:
    """The kind of the values of an Arrow type; None: conditions know nothing of such values."""
    import pyarrow as pa  # when needed: `import workbench` is to be quick

    known: list[tuple[bool, Kind]] = [
        (pa.types.is_boolean(given), "boolean"),
        (pa.types.is_integer(given), "integer"),
        (pa.types.is_decimal(given), "decimal"),
        (pa.types.is_float64(given), "double"),
        (pa.types.is_floating(given), "single"),
        (pa.types.is_string(given) or pa.types.is_large_string(given), "text"),
        (pa.types.is_timestamp(given), "time"),
    ]
    return next((kind for fits, kind in known if fits), None)


def kind_of_value(value: Value, kinds: Mapping[str, Kind]) -> Kind:
    """The kind of a value, by the kinds of the columns."""
    match value:
        case Column(name) | EarlierColumn(name):
            return kinds[name]
        case Constant(given):
            if isinstance(given, bool):
                return "boolean"
            if isinstance(given, int):
                return "integer"
            if isinstance(given, str):
                return "text"
            return "decimal" if isinstance(given, Decimal) else "double"
    return "double"


def common_kind(left: Value, right: Value, kinds: Mapping[str, Kind]) -> Kind:
    """The kind as which two values are compared: doubles where one is no exact number, decimals where one is one."""
    found = [kind_of_value(each, kinds) for each in (left, right)]
    if any(each in ("single", "double") for each in found):
        return "double"
    return "decimal" if "decimal" in found else found[0]


def _faults(of: Condition | Value, kinds: Mapping[str, Kind]) -> Iterator[str]:
    """What of a condition cannot be computed, in words."""
    match of:
        case And(parts) | Or(parts):
            for part in parts:
                yield from _faults(part, kinds)
        case Not(negated):
            yield from _faults(negated, kinds)
        case Comparison(sign, left, right):
            yield from _faults(left, kinds)
            yield from _faults(right, kinds)
            yield from _unlike(left, right, kinds)
            if "boolean" in (kind_of_value(left, kinds), kind_of_value(right, kinds)) and sign not in ("==", "!="):
                yield f"{excerpt(of)} has no order: compare a boolean by == or !="
        case IsIn(value, options):
            yield from _faults(value, kinds)
            for option in options:
                yield from _unlike(value, option, kinds)
        case Like(value):
            yield from _faults(value, kinds)
            if kind_of_value(value, kinds) != "text":
                yield f"{excerpt(value)} is {_WORDS[kind_of_value(value, kinds)]}, and only a text is like a pattern"
        case IsNull(value):
            yield from _faults(value, kinds)
        case Arithmetic(_, left, right):
            for each in (left, right):
                yield from _faults(each, kinds)
                if kind_of_value(each, kinds) not in _NUMBERS:
                    yield f"{excerpt(each)} is {_WORDS[kind_of_value(each, kinds)]}, and only numbers are computed with"


def _unlike(left: Value, right: Value, kinds: Mapping[str, Kind]) -> Iterator[str]:
    one, other = (_WORDS[kind_of_value(each, kinds)] for each in (left, right))
    if one != other:
        yield f"{excerpt(left)} is {one}, and {excerpt(right)} {other}: compare what is alike"
