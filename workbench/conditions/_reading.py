"""A condition from its text: what `repr` gives, and no more of Python than that."""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from functools import reduce
from typing import Any

from workbench.conditions._columns import col, row
from workbench.conditions._nodes import Condition, Value
from workbench.errors import ArgumentError, wrong

__all__ = ["of_tree", "read", "tree_of"]

_LONGEST = 1_000_000
_SIGNS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class _OtherwiseError(ValueError):
    """Something that no condition has."""


def read(text: str, argument: str) -> Condition:
    """A condition from its text. Nothing of the text is run.

    Parameters
    ----------
    text
        As ``repr`` of a condition gives it; ``col`` does as well as ``wb.col``.
    argument
        What it was given for, for errors.

    Raises
    ------
    ArgumentError
        If it is no condition, or compares with what nothing can be compared with.

    Examples
    --------
    >>> read('(col("amount") > 100) & ~col("method").isin("cash")', "where")
    (wb.col('amount') > 100) & ~wb.col('method').isin('cash')
    """
    remedy = 'use a condition, such as wb.col("amount") > 100, several of them joined by &, | and ~'
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise wrong(argument, text, remedy)
    try:
        found = _read(tree_of(text.strip()))
    except ArgumentError as error:
        raise wrong(argument, text, error.remedy) from None
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        raise wrong(argument, text, remedy) from None
    if not isinstance(found, Condition):
        raise wrong(argument, text, remedy)
    return found


def tree_of(text: str) -> ast.expr:
    """A text as a tree of Python's. Nothing of it is run.

    Raises
    ------
    SyntaxError, ValueError, RecursionError, MemoryError
        If it is no expression of Python's.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # of an escape that is none
        try:
            return ast.parse(text, mode="eval").body
        except SyntaxError:  # a condition may be typed in several lines
            return ast.parse(text.replace("\n", " "), mode="eval").body


def of_tree(node: ast.expr) -> Condition:
    """A condition from its place in a tree of Python's.

    Raises
    ------
    ArgumentError, TypeError, ValueError
        If it is none.
    """
    found = _read(node)
    if not isinstance(found, Condition):
        raise TypeError(ast.unparse(node))
    return found


def _read(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value) if isinstance(value, bool | int | float | str):
            return value
        case ast.UnaryOp(ast.USub(), ast.Constant(int(value) | float(value))) if not isinstance(value, bool):
            return -value
        case ast.UnaryOp(ast.Invert(), of):
            negated = _read(of)
            if isinstance(negated, Condition):
                return ~negated
        case ast.Compare(left, [sign], [right]) if type(sign) in _SIGNS:
            return _joined(sign, left, right)
        case ast.BinOp(_, ast.BitAnd() | ast.BitOr() as sign, _):
            return reduce(_SIGNS[type(sign)], map(_read, _chain(node, type(sign))))
        case ast.BinOp(left, sign, right) if type(sign) in _SIGNS:
            return _joined(sign, left, right)
        case ast.Call(ast.Name("col") | ast.Attribute(ast.Name("wb"), "col"), [ast.Constant(str(name))], []):
            return col(name)
        case ast.Attribute(of, name) if (step := _step(of)) is not None:
            return row(step)[name]
        case ast.Subscript(of, ast.Constant(str(name))) if (step := _step(of)) is not None:
            return row(step)[name]
        case ast.Call(ast.Name("Decimal"), [ast.Constant(str(digits))], []):
            return _decimal(digits)
        case ast.Call(ast.Attribute(of, "isin" | "like" | "is_null" as asked), options, []):
            value = _read(of)
            if isinstance(value, Value):
                return getattr(value, asked)(*map(_read, options))
    raise _OtherwiseError


def _step(node: ast.expr) -> str | None:
    """The name of the step of a call of ``row``; None: it is none."""
    match node:
        case ast.Call(ast.Name("row") | ast.Attribute(ast.Name("wb"), "row"), [ast.Constant(str(step))], []):
            return step
    return None


def _chain(node: ast.expr, sign: type[ast.operator]) -> list[ast.expr]:
    """What a chain of the same sign joins, in order; it may be long, and its tree as deep."""
    found = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, sign):
        found.append(node.right)
        node = node.left
    return [node, *reversed(found)]


def _joined(sign: ast.AST, left: ast.expr, right: ast.expr) -> Any:
    sides = _read(left), _read(right)
    if not any(isinstance(each, Condition | Value) for each in sides):  # nothing is computed that is no condition
        raise _OtherwiseError
    return _SIGNS[type(sign)](*sides)


def _decimal(digits: str) -> Decimal:
    try:
        return Decimal(digits)
    except InvalidOperation:
        raise _OtherwiseError from None
