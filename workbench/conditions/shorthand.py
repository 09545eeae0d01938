"""Conditions as a form has them, ``status == 'declined' and amount < order.amount``: columns, and those of steps."""

from __future__ import annotations

import ast
import keyword
from functools import reduce
from typing import TypeGuard

from workbench.conditions._nodes import Condition
from workbench.conditions._reading import of_tree, tree_of
from workbench.errors import ArgumentError, wrong

__all__ = ["read", "short"]

_REMEDY = (
    "compare columns, such as amount > 5 and status == 'declined' (== for equal), "
    "in a pattern also those of a step before, order.amount"
)
_OWN = ("wb", "col", "row")
_JOINED: dict[type[ast.operator], ast.boolop] = {ast.BitAnd: ast.And(), ast.BitOr: ast.Or()}


def read(text: str, argument: str = "where") -> Condition | None:
    """A condition from its short text; None: of an empty one. Nothing of the text is run.

    Raises
    ------
    ArgumentError
        If it is no condition.
    """
    if not text.strip():
        return None
    try:
        return of_tree(_Lengthened().visit(tree_of(text.strip())))
    except ArgumentError as error:
        raise wrong(argument, text, error.remedy) from None
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        raise wrong(argument, text, _REMEDY) from None


def short(condition: Condition | None) -> str:
    """The short text of a condition; what has no shorter form stays as ``repr`` gives it."""
    return "" if condition is None else ast.unparse(_Shortened().visit(tree_of(repr(condition))))


def _is_name(text: object) -> TypeGuard[str]:
    return isinstance(text, str) and text.isidentifier() and not keyword.iskeyword(text) and text not in _OWN


def _called(name: str, text: str) -> ast.expr:
    return ast.Call(ast.Attribute(ast.Name("wb"), name), [ast.Constant(text)], [])


class _Shortened(ast.NodeTransformer):
    """``wb.col('a')`` as ``a``, ``wb.row('s').a`` as ``s.a``, ``&`` as ``and``."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        match node:
            case ast.Call(ast.Attribute(ast.Name("wb"), "col"), [ast.Constant(name)], []) if _is_name(name):
                return ast.Name(name)
            case ast.Call(ast.Attribute(value, "isin"), options, []):
                return ast.Compare(self.visit(value), [ast.In()], [ast.Tuple(options)])
            case ast.Call(ast.Attribute(value, name), args, keywords) if not isinstance(value, ast.Name):
                return ast.Call(ast.Attribute(self.visit(value), name), list(map(self.visit, args)), keywords)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        match node:
            case ast.Attribute(ast.Call(ast.Attribute(ast.Name("wb"), "row"), [ast.Constant(step)], []), name) if (
                _is_name(step) and _is_name(name)
            ):
                return ast.Attribute(ast.Name(step), name)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        left, right = self.visit(node.left), self.visit(node.right)
        joined = _JOINED.get(type(node.op))
        return ast.BinOp(left, node.op, right) if joined is None else ast.BoolOp(joined, [left, right])

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        sign = ast.Not() if isinstance(node.op, ast.Invert) else node.op
        return ast.UnaryOp(sign, self.visit(node.operand))


class _Lengthened(ast.NodeTransformer):
    """What `_Shortened` takes back."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return node if node.id in _OWN else _called("col", node.id)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        match node:
            case ast.Attribute(ast.Name(step), name) if step not in _OWN:
                return ast.Attribute(_called("row", step), name)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        match node:
            case ast.Call(ast.Attribute(value, name), args, keywords) if not isinstance(value, ast.Name) or (
                value.id not in _OWN
            ):
                return ast.Call(ast.Attribute(self.visit(value), name), list(map(self.visit, args)), keywords)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        sign = ast.BitAnd() if isinstance(node.op, ast.And) else ast.BitOr()
        return reduce(lambda one, other: ast.BinOp(one, sign, other), map(self.visit, node.values))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        sign = ast.Invert() if isinstance(node.op, ast.Not) else node.op
        return ast.UnaryOp(sign, self.visit(node.operand))

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        values = list(map(self.visit, [node.left, *node.comparators]))
        parts = [self._compared(*each) for each in zip(values, node.ops, values[1:], strict=False)]
        return reduce(lambda one, other: ast.BinOp(one, ast.BitAnd(), other), parts)

    @staticmethod
    def _compared(left: ast.expr, sign: ast.cmpop, right: ast.expr) -> ast.expr:
        if isinstance(sign, ast.In | ast.NotIn) and isinstance(right, ast.Tuple | ast.List | ast.Set):
            inside = ast.Call(ast.Attribute(left, "isin"), right.elts, [])
            return inside if isinstance(sign, ast.In) else ast.UnaryOp(ast.Invert(), inside)
        return ast.Compare(left, [sign], [right])
