"""The steps of a pattern from their text: what `repr` gives, and no more of Python than that."""

from __future__ import annotations

import ast
from typing import Any

from workbench import conditions
from workbench.errors import ArgumentError, wrong
from workbench.patterns import _steps
from workbench.patterns._steps import Step, check_sequence
from workbench.untyped import Record

__all__ = ["read_steps"]

_LONGEST = 100_000
_MADE_BY = ("step", "next", "followed_by", "followed_by_any", "not_next", "not_followed_by")
_QUANTIFIERS = (
    "times", "one_or_more", "times_or_more", "optional", "greedy", "consecutive", "allow_combinations", "until",
)  # fmt: skip


def read_steps(text: str, argument: str) -> tuple[Step, ...]:
    """Steps from their text, with commas between. Nothing of the text is run.

    Parameters
    ----------
    text
        As ``repr`` of each gives it; ``step`` does as well as ``wb.step``.
    argument
        What it was given for, for errors.

    Raises
    ------
    ArgumentError
        If they are no steps of a pattern.

    Examples
    --------
    >>> read_steps('step("a", side="left"), next("b", side="right").optional()', "steps")
    (wb.step('a', side='left'), wb.next('b', side='right').optional())
    """
    remedy = 'use steps with commas between, such as wb.step("a", side="left"), wb.followed_by("b", side="right")'
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise wrong(argument, text, remedy)
    try:
        tree = conditions.tree_of(f"({text.strip().rstrip(',')},)")
        if not isinstance(tree, ast.Tuple):
            raise TypeError(text)
        steps = tuple(_step(each) for each in tree.elts)
    except ArgumentError:
        raise
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        raise wrong(argument, text, remedy) from None
    check_sequence(argument, steps)
    return steps


def _step(node: ast.expr) -> Step:
    match node:
        case ast.Call(ast.Attribute(ast.Name("wb"), name) | ast.Name(name), args, keywords) if name in _MADE_BY:
            made: Step = getattr(_steps, name)(*map(_value, args), **_named(keywords))
            return made
        case ast.Call(ast.Attribute(of, name), args, keywords) if name in _QUANTIFIERS:
            quantified: Step = getattr(_step(of), name)(*map(_value, args), **_named(keywords))
            return quantified
    raise TypeError(ast.unparse(node))


def _named(keywords: list[ast.keyword]) -> Record:
    if any(each.arg is None for each in keywords):
        raise TypeError("arguments by name only")
    return {str(each.arg): _value(each.value) for each in keywords}


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value) if value is None or isinstance(value, str | int):
            return value
        case ast.Call(ast.Attribute(ast.Name("wb"), "group") | ast.Name("group"), args, []):
            return _steps.group(*map(_step, args))
    return conditions.of_tree(node)
