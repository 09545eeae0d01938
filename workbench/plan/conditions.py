"""Conditions as the text of a dialect of SQL. User text enters only as quoted names and literals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal

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
    Scalar,
    Value,
    check,
    common_kind,
    kind_of_value,
)
from workbench.errors import wrong
from workbench.plan.names import Names
from workbench.quoting import in_sql, literal

__all__ = ["Dialect", "of_pairs", "spark_sql", "sql"]

_SIGNS = {"==": "=", "!=": "<>"}


@dataclass(frozen=True)
class Dialect:
    """What differs between the dialects of SQL.

    Attributes
    ----------
    column
        The text of a column, by its name.
    text
        The literal of a text.
    decimal
        The literal of a decimal, by its digits.
    """

    column: Callable[[str], str]
    text: Callable[[str], str]
    decimal: Callable[[str], str]


def spark_sql(condition: Condition, kinds: Mapping[str, Kind]) -> str:
    """A condition as Spark's SQL.

    Parameters
    ----------
    condition
        The condition.
    kinds
        The kinds of its columns' values, as `workbench.conditions.check` gives them.

    Examples
    --------
    >>> from workbench.conditions import col
    >>> condition = (col("paid") < col("amount") * 0.9) | col("method").like("c%")
    >>> spark_sql(condition, {"paid": "double", "amount": "double", "method": "text"})
    "(paid < (amount * 0.9E0)) OR (method LIKE 'c%')"
    """
    return sql(condition, kinds, Dialect(_spark_column, _spark_text, lambda digits: f"{digits}BD"))


def of_pairs(where: Condition | None, names: Names) -> str:
    """Python source of a join's condition on its pairs, as a column; empty for none.

    It compares the times of both sides, in a way that is true of every pair, so that Spark asks it of pairs. What rests
    on one side alone, or on columns that are equal on both, Spark asks of that side's rows as they are read, and those
    that fail move no watermark.
    """
    if where is None:
        return ""
    text = literal(spark_sql(where, check(where, names.types, "where")))
    left, right = names.left.prefixed_time, names.right.prefixed_time
    return f"(F.when(F.expr({text}), F.greatest({left}, {right})) >= F.col({left}))"


def sql(condition: Condition, kinds: Mapping[str, Kind], dialect: Dialect) -> str:
    """A condition as SQL; arguments as of `spark_sql`."""

    def said(of: Condition) -> str:
        match of:
            case And(parts):
                return " AND ".join(map(bracketed, parts))
            case Or(parts):
                return " OR ".join(map(bracketed, parts))
            case Not(negated):
                return f"NOT {bracketed(negated)}"
            case Comparison(sign, left, right):
                one, other = alike(left, right)
                return f"{one} {_SIGNS.get(sign, sign)} {other}"
            case IsIn():
                return said(of.unfolded)
            case Like(value, pattern):
                return f"{valued(value)} LIKE {dialect.text(pattern)}"
            case IsNull(value):
                return f"{valued(value)} IS NULL"
        raise TypeError(f"no condition: {of!r}")

    def bracketed(of: Condition) -> str:
        return f"({said(of)})"

    def alike(left: Value, right: Value) -> list[str]:
        doubles = common_kind(left, right, kinds) == "double"
        exact = [kind_of_value(each, kinds) not in ("single", "double") for each in (left, right)]
        values = zip((left, right), exact, strict=True)
        return [as_double(each) if doubles and is_exact else valued(each) for each, is_exact in values]

    def as_double(value: Value) -> str:
        if isinstance(value, Constant):
            return _constant(float(value.value), dialect)
        return valued(value) if kind_of_value(value, kinds) == "double" else f"CAST({valued(value)} AS DOUBLE)"

    def valued(value: Value) -> str:
        match value:
            case Column(name) | EarlierColumn(name):
                return dialect.column(name)
            case Constant(given):
                return _constant(given, dialect)
            case Arithmetic("/", left, right):
                return f"({as_double(left)} / NULLIF({as_double(right)}, 0.0E0))"
            case Arithmetic(sign, left, right):
                return f"({as_double(left)} {sign} {as_double(right)})"
        raise TypeError(f"no value: {value!r}")

    return said(condition)


def _constant(value: Scalar, dialect: Dialect) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return dialect.text(value)
    if isinstance(value, Decimal):
        return dialect.decimal(f"{value:f}")
    if isinstance(value, float):
        mantissa, _, exponent = repr(value).partition("e")
        return f"{mantissa}E{int(exponent or 0)}"
    return str(value)


def _spark_text(value: str) -> str:
    """A text literal of Spark's SQL, in which Spark finds no variable either."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'").replace("${", "$\\{") + "'"


def _spark_column(name: str) -> str:
    if "${" in name:
        raise wrong("where", name, "Spark reads ${ in a column's name as a variable: rename the column")
    return in_sql(name)
