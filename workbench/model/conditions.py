"""Conditions computed for many rows or pairs at once, by SQL's three-valued logic, as Spark computes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrays import Flags, RowNumbers
from workbench.conditions import (
    And,
    Arithmetic,
    Column,
    Comparison,
    Condition,
    Constant,
    EarlierColumn,
    IsIn,
    IsNull,
    Kind,
    Like,
    Not,
    Or,
    Value,
    check,
    columns,
    common_kind,
)
from workbench.literals import SIDES
from workbench.model.own_meeting import Failed, value_in_words
from workbench.streams import Stream, pair_types

__all__ = ["OfPairs", "as_double", "is_true", "truth"]

Columns: TypeAlias = Mapping[str, Any]
"""Columns by name: arrays of NumPy or Arrow, or scalars."""
_COMPUTED = {"+": pc.add, "-": pc.subtract, "*": pc.multiply}
_MOST_DIGITS = 76
"""Of Arrow's widest decimals, which hold those of Spark, of 38 digits, with the scale of any other."""


@dataclass(frozen=True)
class OfPairs:
    """A join's condition on its pairs, over the columns of two streams by the names that they have in the output."""

    condition: Condition
    left: Stream
    right: Stream

    @property
    def text(self) -> str:
        """The condition, as it was given."""
        return repr(self.condition)

    @cached_property
    def _kinds(self) -> dict[str, Kind]:
        return check(self.condition, pair_types(self.left, self.right), "where")

    def __call__(self, left: RowNumbers, right: RowNumbers) -> Flags:
        """Which of some pairs, given as their left and right rows, satisfy it."""
        return is_true(self.condition, self._kinds, self._given(left, right))

    def failed(self, left: RowNumbers, right: RowNumbers) -> list[list[Failed]]:
        """For each of some pairs the parts of it that the pair does not satisfy."""
        given, found = self._given(left, right), [list[Failed]() for _ in left]
        for part in self.condition.parts if isinstance(self.condition, And) else (self.condition,):
            names = dict.fromkeys(columns(part))
            for place in np.flatnonzero(~is_true(part, self._kinds, given)).tolist():
                values = tuple((name, value_in_words(given[name][place].as_py())) for name in names)
                found[place].append(Failed(repr(part), values))
        return found

    def _given(self, left: RowNumbers, right: RowNumbers) -> dict[str, Any]:
        """The columns of some pairs, by the names that they have in the output."""
        given = {}
        for side, stream, rows in zip(SIDES, (self.left, self.right), (left, right), strict=True):
            prefix = f"{side}_"
            for name in {each.removeprefix(prefix) for each in columns(self.condition) if each.startswith(prefix)}:
                given[prefix + name] = stream.table.column(name).take(pa.array(rows))
        return given


def is_true(condition: Condition, kinds: Mapping[str, Kind], rows: Columns) -> Flags:
    """Where a condition is true, and neither false nor unknown: an array of booleans; arguments as of `truth`."""
    found: Flags = pc.fill_null(truth(condition, kinds, rows), False).to_numpy(zero_copy_only=False)
    return found


def truth(condition: Condition, kinds: Mapping[str, Kind], rows: Columns) -> Any:
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
        case And(parts):
            return reduce(pc.and_kleene, (truth(each, kinds, rows) for each in parts))
        case Or(parts):
            return reduce(pc.or_kleene, (truth(each, kinds, rows) for each in parts))
        case Not(negated):
            return pc.invert(truth(negated, kinds, rows))
        case Comparison(sign, left, right):
            return _compared(sign, left, right, kinds, rows)
        case IsIn():
            return truth(condition.unfolded, kinds, rows)
        case Like(value, pattern):
            return pc.match_like(_valued(value, kinds, rows), pattern)
        case IsNull(value):
            return pc.is_null(_valued(value, kinds, rows))
    raise TypeError(f"no condition: {condition!r}")


def _compared(sign: str, left: Value, right: Value, kinds: Mapping[str, Kind], rows: Columns) -> Any:
    one, other = _alike(left, right, kinds, rows)
    match sign:
        case "<":
            return _less(one, other)
        case ">":
            return _less(other, one)
        case "<=":
            return pc.invert(_less(other, one))
        case ">=":
            return pc.invert(_less(one, other))
    equal = pc.equal(one, other)
    if pa.types.is_floating(one.type):
        equal = pc.or_kleene(equal, pc.and_kleene(pc.is_nan(one), pc.is_nan(other)))
    return equal if sign == "==" else pc.invert(equal)


def _less(one: Any, other: Any) -> Any:
    """Whether one value is less than another; NaN is greater than all other numbers."""
    less = pc.less(one, other)
    if pa.types.is_floating(one.type):
        less = pc.or_kleene(less, pc.and_kleene(pc.invert(pc.is_nan(one)), pc.is_nan(other)))
    return less


def _alike(left: Value, right: Value, kinds: Mapping[str, Kind], rows: Columns) -> list[Any]:
    """Two values as arrays of one type, in which they are compared as they are."""
    common = common_kind(left, right, kinds)
    if common == "double":
        return [_as_double(each, kinds, rows) for each in (left, right)]
    values = [_valued(each, kinds, rows) for each in (left, right)]
    match common:
        case "decimal":
            scale = max(each.type.scale if pa.types.is_decimal(each.type) else 0 for each in values)
            return [pc.cast(each, pa.decimal256(_MOST_DIGITS, scale)) for each in values]
        case "integer":
            return [pc.cast(each, pa.int64(), safe=False) for each in values]
        case "text":
            return [pc.cast(each, pa.large_string()) for each in values]
        case "time":
            return [pc.cast(each, pa.timestamp("us", each.type.tz), safe=False).cast(pa.int64()) for each in values]
    return values


def _as_double(value: Value, kinds: Mapping[str, Kind], rows: Columns) -> Any:
    if isinstance(value, Constant):
        return pa.scalar(float(value.value), pa.float64())
    return as_double(_valued(value, kinds, rows))


def as_double(values: Any) -> Any:
    """Numbers as the doubles that are nearest to them."""
    if pa.types.is_decimal(values.type):
        values = pc.cast(values, pa.string())  # Arrow's own way is off in the last digit
    return pc.cast(values, pa.float64(), safe=False)


def _valued(value: Value, kinds: Mapping[str, Kind], rows: Columns) -> Any:
    match value:
        case Column(name) | EarlierColumn(name):
            return rows[name]
        case Constant(given):
            return pa.scalar(given)
        case Arithmetic(sign, left, right):
            one, other = (_as_double(each, kinds, rows) for each in (left, right))
            if sign != "/":
                return _COMPUTED[sign](one, other)
            return pc.divide(one, pc.if_else(pc.equal(other, 0.0), pa.scalar(None, pa.float64()), other))
    raise TypeError(f"no value: {value!r}")
