"""Conditions as Python, for rows that are looked at one by one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal

from workbench.conditions._checking import Kind, common_kind, kind_of_value
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

__all__ = ["HELPERS", "python", "python_helpers"]

_SIGNS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
_COMPUTED = {"+": "add", "-": "sub", "*": "mul"}

HELPERS = '''
def all_of(*parts):
    """SQL's AND: None is unknown."""
    return False if False in parts else None if None in parts else True


def any_of(*parts):
    """SQL's OR: None is unknown."""
    return True if True in parts else None if None in parts else False


def negated(part):
    """SQL's NOT: None is unknown."""
    return None if part is None else not part


def compare(one, sign, other):
    """One value compared with another; NaN is greater than all other numbers, and equals itself."""
    if one is None or other is None:
        return None
    ranked = [(each != each, 0 if each != each else each) for each in (one, other)]
    return sign(*ranked)


def compute(one, sign, other):
    """A sum, difference, product or quotient in double precision."""
    if one is None or other is None or (sign is operator.truediv and other == 0):
        return None
    return sign(one, other)


def real(number):
    """A number in double precision."""
    return None if number is None else float(number)


def like(text, pattern):
    """Whether a text is like a pattern, which is given as a regular expression."""
    return None if text is None else re.fullmatch(pattern, text, re.DOTALL) is not None
'''
"""The functions that a condition in Python may call; they want the modules ``operator`` and ``re``."""


def python_helpers(text: str) -> str:
    """The functions of `HELPERS` that a text of Python calls.

    Parameters
    ----------
    text
        The text, with an expression that `python` has written.
    """
    functions = HELPERS.strip("\n").split("\n\n\n")
    called = [each for each in functions if re.search(rf"(?<![\w.]){each.split('(')[0].removeprefix('def ')}\(", text)]
    return "\n\n\n".join(called)


def python(condition: Condition, kinds: Mapping[str, Kind], column: Callable[[Column | EarlierColumn], str]) -> str:
    """A condition as an expression of Python, which is None where it is unknown; it calls `HELPERS`.

    Parameters
    ----------
    condition
        The condition.
    kinds
        The kinds of its columns' values, as `workbench.conditions.check` gives them. Times are whole numbers.
    column
        An expression for a column's value.

    Examples
    --------
    >>> from workbench.conditions import col
    >>> python(~(col("amount") > 100), {"amount": "integer"}, lambda each: f"row[{each.name!r}]")
    "negated(compare(row['amount'], operator.gt, 100))"
    """

    def said(of: Condition) -> str:
        match of:
            case And(parts):
                return f"all_of({', '.join(map(said, parts))})"
            case Or(parts):
                return f"any_of({', '.join(map(said, parts))})"
            case Not(part):
                return f"negated({said(part)})"
            case Comparison(sign, left, right):
                one, other = (read(each, common_kind(left, right, kinds)) for each in (left, right))
                return f"compare({one}, operator.{_SIGNS[sign]}, {other})"
            case IsIn():
                return said(of.unfolded)
            case Like(value, pattern):
                return f"like({read(value, 'text')}, {_regular(pattern)!r})"
            case IsNull(value):
                return f"({read(value, kind_of_value(value, kinds))} is None)"
        raise TypeError(f"no condition: {of!r}")

    def read(value: Value, kind: Kind) -> str:
        match value:
            case Column() | EarlierColumn():
                return f"real({column(value)})" if kind == "double" else column(value)
            case Constant(given):
                if kind == "double":
                    return repr(float(given))
                return f"Decimal({str(given)!r})" if isinstance(given, Decimal) else repr(given)
            case Arithmetic("/", left, right):
                return f"compute({read(left, 'double')}, operator.truediv, {read(right, 'double')})"
            case Arithmetic(sign, left, right):
                return f"compute({read(left, 'double')}, operator.{_COMPUTED[sign]}, {read(right, 'double')})"
        raise TypeError(f"no value: {value!r}")

    return said(condition)


def _regular(pattern: str) -> str:
    """A pattern of SQL's ``LIKE`` as a regular expression of Python's."""
    return "".join({"%": ".*", "_": "."}.get(each, re.escape(each)) for each in pattern)
