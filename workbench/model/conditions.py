"""Conditions computed for many rows at once, by SQL's three-valued logic, as Spark computes them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.conditions import (
    And,
    Arithmetic,
    Column,
    Comparison,
    Condition,
    Constant,
    IsIn,
    IsNull,
    Kind,
    Like,
    Not,
    Or,
    Value,
    kind_of_value,
)

__all__ = ["is_true", "truth"]

_OF_DOUBLES: tuple[Kind, ...] = ("single", "double")
_COMPUTED = {"+": pc.add, "-": pc.subtract, "*": pc.multiply}
_MOST_DIGITS = 76


def is_true(condition: Condition, kinds: Mapping[str, Kind], rows: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    """Where a condition is true, and neither false nor unknown: an array of booleans; arguments as of `truth`."""
    found: np.ndarray[Any, Any] = pc.fill_null(truth(condition, kinds, rows), False).to_numpy(zero_copy_only=False)
    return found


def truth(condition: Condition, kinds: Mapping[str, Kind], rows: Mapping[str, Any]) -> Any:
    """For each row whether a condition is true, false or, null, unknown: an Arrow array.

    Floating-point numbers are compared as Spark compares them: NaN equals itself, and is greater than all others.

    Parameters
    ----------
    condition
        The condition.
    kinds
        The kinds of its columns' values, as `workbench.conditions.check` gives them.
    rows
        Its columns, by name: Arrow arrays of the same length.
    """
    match condition:
        case And(left, right):
            return pc.and_kleene(truth(left, kinds, rows), truth(right, kinds, rows))
        case Or(left, right):
            return pc.or_kleene(truth(left, kinds, rows), truth(right, kinds, rows))
        case Not(negated):
            return pc.invert(truth(negated, kinds, rows))
        case Comparison(sign, left, right):
            return _compared(sign, left, right, kinds, rows)
        case IsIn(value, options):
            return reduce(pc.or_kleene, (_compared("==", value, each, kinds, rows) for each in options))
        case Like(value, pattern):
            return pc.match_like(_valued(value, kinds, rows), pattern)
        case IsNull(value):
            return pc.is_null(_valued(value, kinds, rows))
    raise TypeError(f"no condition: {condition!r}")


def _compared(sign: str, left: Value, right: Value, kinds: Mapping[str, Kind], rows: Mapping[str, Any]) -> Any:
    one, other = _alike(left, right, kinds, rows)
    if sign in (">", ">="):
        sign, one, other = sign.replace(">", "<"), other, one
    less, equal = pc.less(one, other) if "<" in sign else None, pc.equal(one, other)
    if pa.types.is_floating(one.type):
        nan, other_nan = pc.is_nan(one), pc.is_nan(other)
        equal = pc.or_kleene(equal, pc.and_kleene(nan, other_nan))
        less = None if less is None else pc.or_kleene(less, pc.and_kleene(pc.invert(nan), other_nan))
    match sign:
        case "<":
            return less
        case "<=":
            return pc.or_kleene(less, equal)
        case "==":
            return equal
    return pc.invert(equal)


def _alike(left: Value, right: Value, kinds: Mapping[str, Kind], rows: Mapping[str, Any]) -> list[Any]:
    """Two values as arrays of one type, in which they are compared as they are."""
    found = [kind_of_value(each, kinds) for each in (left, right)]
    if any(kind in _OF_DOUBLES for kind in found):
        return [_as_double(each, kinds, rows) for each in (left, right)]
    values = [_valued(each, kinds, rows) for each in (left, right)]
    if "decimal" in found:
        scale = max(each.type.scale if pa.types.is_decimal(each.type) else 0 for each in values)
        return [pc.cast(each, pa.decimal256(_MOST_DIGITS, scale)) for each in values]
    match found[0]:
        case "integer":
            return [pc.cast(each, pa.int64(), safe=False) for each in values]
        case "text":
            return [pc.cast(each, pa.large_string()) for each in values]
        case "time":
            return [pc.cast(each, pa.timestamp("us", each.type.tz), safe=False).cast(pa.int64()) for each in values]
    return values


def _as_double(value: Value, kinds: Mapping[str, Kind], rows: Mapping[str, Any]) -> Any:
    if isinstance(value, Constant):
        return pa.scalar(float(value.value), pa.float64())
    return pc.cast(_valued(value, kinds, rows), pa.float64(), safe=False)


def _valued(value: Value, kinds: Mapping[str, Kind], rows: Mapping[str, Any]) -> Any:
    match value:
        case Column(name):
            return rows[name]
        case Constant(given):
            return pa.scalar(given)
        case Arithmetic(sign, left, right):
            one, other = (_as_double(each, kinds, rows) for each in (left, right))
            if sign != "/":
                return _COMPUTED[sign](one, other)
            return pc.divide(one, pc.if_else(pc.equal(other, 0.0), pa.scalar(None, pa.float64()), other))
    raise TypeError(f"no value: {value!r}")
