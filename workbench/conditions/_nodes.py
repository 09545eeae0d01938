"""What conditions are made of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar, Literal, NoReturn

from workbench.errors import ArgumentError, excerpt, wrong

__all__ = [
    "And",
    "Arithmetic",
    "Column",
    "Comparison",
    "Condition",
    "Constant",
    "EarlierColumn",
    "IsIn",
    "IsNull",
    "Like",
    "Not",
    "Or",
    "Scalar",
    "Value",
    "plain_text",
]

Scalar = bool | int | float | str | Decimal
"""What a column can be compared with."""
_LEAST, _MOST = -(2**63), 2**63 - 1
_DIGITS = 38
_DEEPEST = 60
_MEANT = "use &, | and ~ in place of and, or and not, each condition in brackets"


class Condition:
    """A condition on a row, or on a pair of rows: true, false, or unknown.

    Conditions are equal where they say the same; ``repr`` gives the call that makes one.
    """

    depth: ClassVar[int] = 1

    def __and__(self, other: object) -> And:
        return And((*_parts(self, And), *_parts(_condition(other, "&"), And)))

    def __or__(self, other: object) -> Or:
        return Or((*_parts(self, Or), *_parts(_condition(other, "|"), Or)))

    def __rand__(self, other: object) -> NoReturn:
        _condition(other, "&")
        raise TypeError(other)

    def __ror__(self, other: object) -> NoReturn:
        _condition(other, "|")
        raise TypeError(other)

    def __invert__(self) -> Not:
        return Not(self)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __bool__(self) -> bool:
        raise ArgumentError(f"condition: {excerpt(self)} is neither true nor false without a row; {_MEANT}")


class Value:
    """What has a value in each row: a column, a constant, or what is computed from them."""

    depth: ClassVar[int] = 1

    def __lt__(self, other: object) -> Comparison:
        return Comparison("<", self, _value(other))

    def __le__(self, other: object) -> Comparison:
        return Comparison("<=", self, _value(other))

    def __gt__(self, other: object) -> Comparison:
        return Comparison(">", self, _value(other))

    def __ge__(self, other: object) -> Comparison:
        return Comparison(">=", self, _value(other))

    def __eq__(self, other: object) -> Comparison:  # type: ignore[override]
        return Comparison("==", self, _value(other))

    def __ne__(self, other: object) -> Comparison:  # type: ignore[override]
        return Comparison("!=", self, _value(other))

    def __hash__(self) -> int:
        return hash(repr(self))

    def __add__(self, other: object) -> Arithmetic:
        return Arithmetic("+", self, _value(other))

    def __radd__(self, other: object) -> Arithmetic:
        return Arithmetic("+", _value(other), self)

    def __sub__(self, other: object) -> Arithmetic:
        return Arithmetic("-", self, _value(other))

    def __rsub__(self, other: object) -> Arithmetic:
        return Arithmetic("-", _value(other), self)

    def __mul__(self, other: object) -> Arithmetic:
        return Arithmetic("*", self, _value(other))

    def __rmul__(self, other: object) -> Arithmetic:
        return Arithmetic("*", _value(other), self)

    def __truediv__(self, other: object) -> Arithmetic:
        return Arithmetic("/", self, _value(other))

    def __rtruediv__(self, other: object) -> Arithmetic:
        return Arithmetic("/", _value(other), self)

    def __neg__(self) -> Arithmetic:
        return Arithmetic("-", Constant(0), self)

    def __bool__(self) -> bool:
        raise ArgumentError(
            f"condition: {excerpt(self)} is a value, not a condition: compare it, as in {excerpt(self)} == True"
        )

    def __invert__(self) -> NoReturn:
        bool(self)
        raise TypeError(self)

    def __and__(self, other: object) -> NoReturn:
        raise ArgumentError(f"condition: {excerpt(self)} is joined by & or |, which bind more than < and ==: {_MEANT}")

    __rand__ = __or__ = __ror__ = __and__

    def isin(self, *options: Scalar) -> IsIn:
        """Whether it is one of some constants.

        Parameters
        ----------
        *options
            Booleans, numbers or texts, one at least.
        """
        if not options:
            raise ArgumentError("options: got none; give the values that are looked for, such as isin('card', 'cash')")
        return IsIn(self, tuple(_constant(each, "options") for each in options))

    def like(self, pattern: str) -> Like:
        """Whether a text is like a pattern of SQL's.

        Parameters
        ----------
        pattern
            ``%`` stands for any characters, ``_`` for one, all others for themselves.
        """
        if not isinstance(pattern, str) or "\\" in pattern:
            raise wrong("pattern", pattern, "use a text with % for any characters and _ for one, and no backslash")
        return Like(self, plain_text(pattern, "pattern"))

    def is_null(self) -> IsNull:
        """Whether it is null; ``~col("amount").is_null()``: whether it is not."""
        return IsNull(self)


@dataclass(frozen=True, eq=False, repr=False)
class Column(Value):
    """A column, by its name. Made by `col`."""

    name: str

    def __repr__(self) -> str:
        return f"wb.col({self.name!r})"


@dataclass(frozen=True, eq=False, repr=False)
class EarlierColumn(Value):
    """A column of an earlier row of a pattern's match: the last one that was taken for a step; null without one.

    `name` is what it is called among the columns of a condition: what its ``repr`` gives.
    """

    name: str
    step: str
    column: str

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False, repr=False)
class Constant(Value):
    """The same value in every row."""

    value: Scalar

    def __repr__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True, eq=False, repr=False)
class Arithmetic(Value):
    """A sum, difference, product or quotient, in double precision."""

    sign: Literal["+", "-", "*", "/"]
    left: Value
    right: Value

    def __post_init__(self) -> None:
        _nest(self, self.left, self.right)

    def __repr__(self) -> str:
        return f"({self.left!r} {self.sign} {self.right!r})"


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Condition):
    """One value compared with another."""

    sign: Literal["<", "<=", ">", ">=", "==", "!="]
    left: Value
    right: Value

    def __repr__(self) -> str:
        return f"{self.left!r} {self.sign} {self.right!r}"


@dataclass(frozen=True, eq=False, repr=False)
class IsIn(Condition):
    """Whether a value is one of some constants."""

    value: Value
    options: tuple[Constant, ...]

    @property
    def unfolded(self) -> Condition:
        """The same as a comparison with each of them."""
        compared = tuple(self.value == each for each in self.options)
        return compared[0] if len(compared) == 1 else Or(compared)

    def __repr__(self) -> str:
        return f"{self.value!r}.isin({', '.join(map(repr, self.options))})"


@dataclass(frozen=True, eq=False, repr=False)
class Like(Condition):
    """Whether a text is like a pattern."""

    value: Value
    pattern: str

    def __repr__(self) -> str:
        return f"{self.value!r}.like({self.pattern!r})"


@dataclass(frozen=True, eq=False, repr=False)
class IsNull(Condition):
    """Whether a value is null."""

    value: Value

    def __repr__(self) -> str:
        return f"{self.value!r}.is_null()"


@dataclass(frozen=True, eq=False, repr=False)
class And(Condition):
    """Whether all of some conditions are true."""

    parts: tuple[Condition, ...]

    def __post_init__(self) -> None:
        _nest(self, *self.parts)

    def __repr__(self) -> str:
        return " & ".join(map(_bracketed, self.parts))


@dataclass(frozen=True, eq=False, repr=False)
class Or(Condition):
    """Whether one of some conditions is true, or several."""

    parts: tuple[Condition, ...]

    def __post_init__(self) -> None:
        _nest(self, *self.parts)

    def __repr__(self) -> str:
        return " | ".join(map(_bracketed, self.parts))


@dataclass(frozen=True, eq=False, repr=False)
class Not(Condition):
    """Whether a condition is false."""

    of: Condition

    def __post_init__(self) -> None:
        _nest(self, self.of)

    def __repr__(self) -> str:
        return f"~{_bracketed(self.of)}"


def _bracketed(condition: Condition) -> str:
    return f"({condition!r})" if isinstance(condition, Comparison | And | Or) else repr(condition)


def _condition(given: object, sign: str) -> Condition:
    if not isinstance(given, Condition):
        raise wrong("condition", given, f"{sign} joins conditions, such as (wb.col('a') > 1) {sign} (wb.col('b') < 2)")
    return given


def _parts(of: Condition, kind: type[And | Or]) -> tuple[Condition, ...]:
    return of.parts if isinstance(of, kind) else (of,)


def _nest(of: Condition | Value, *inner: Condition | Value) -> None:
    """Note how deep a condition is; refuse one that is too deep to be worked on."""
    depth = 1 + max(each.depth for each in inner)
    if depth > _DEEPEST:
        raise ArgumentError(f"condition: it is more than {_DEEPEST} deep in brackets: write it flatter")
    object.__setattr__(of, "depth", depth)


def _value(given: object) -> Value:
    return given if isinstance(given, Value) else _constant(given, "condition")


def _constant(given: object, argument: str) -> Constant:
    if given is None:
        raise ArgumentError(f'{argument}: got None; nothing equals null: use wb.col("…").is_null()')
    if type(given).__module__ == "numpy" and hasattr(given, "item"):
        given = given.item()
    if isinstance(given, bool):
        return Constant(given)
    if isinstance(given, str):
        return Constant(plain_text(given, argument))
    if isinstance(given, int):
        if not _LEAST <= given <= _MOST:
            raise wrong(argument, given, "use whole numbers of 64 bits, or a decimal.Decimal")
        return Constant(int(given))
    if isinstance(given, float):
        if not math.isfinite(given):
            raise wrong(argument, given, "use a finite number")
        return Constant(float(given))
    if isinstance(given, Decimal):
        exponent = given.as_tuple().exponent if given.is_finite() else _DIGITS + 1
        if (
            isinstance(exponent, str)
            or -exponent > _DIGITS
            or len(given.as_tuple().digits) + max(exponent, 0) > _DIGITS
        ):
            raise wrong(argument, given, f"use a finite number of at most {_DIGITS} digits")
        return Constant(given)
    if isinstance(given, list | tuple | set) and argument == "options":
        raise wrong(argument, given, "give the values one by one, isin('card', 'cash'), or isin(*values)")
    raise wrong(argument, given, "use a boolean, a number, a text, or another column")


def plain_text(given: str, argument: str) -> str:
    """A text of Python's own class, which can be written down."""
    found = str.__str__(given)
    try:
        found.encode()
    except UnicodeEncodeError:
        raise wrong(argument, found, "half a surrogate pair is no character: use whole ones") from None
    return found
