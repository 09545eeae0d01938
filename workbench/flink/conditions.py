"""Conditions as Flink SQL, and as Java. User text enters only as quoted names and literals."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
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
    common_kind,
    kind_of_value,
)
from workbench.flink.syntax import java_text, sql_text
from workbench.plan.conditions import Dialect, sql
from workbench.quoting import backticks

__all__ = ["flink_sql", "java", "java_helpers"]

_SIGNS = {"<": "c -> c < 0", "<=": "c -> c <= 0", ">": "c -> c > 0", ">=": "c -> c >= 0", "==": "c -> c == 0"}
_READ: dict[Kind, str] = {
    "boolean": "(Boolean) {}",
    "integer": "whole({})",
    "decimal": "exact({})",
    "single": "real({})",
    "double": "real({})",
    "text": "(String) {}",
    "time": "moment({})",
}

_JAVA_HELPERS = """
    /** SQL's logic: a Boolean that is null is unknown. */
    private static Boolean and(Boolean... parts) {
        Boolean found = true;
        for (Boolean part : parts) {
            if (Boolean.FALSE.equals(part)) {
                return false;
            }
            found = part == null ? null : found;
        }
        return found;
    }

    private static Boolean or(Boolean... parts) {
        Boolean found = false;
        for (Boolean part : parts) {
            if (Boolean.TRUE.equals(part)) {
                return true;
            }
            found = part == null ? null : found;
        }
        return found;
    }

    private static Boolean not(Boolean of) {
        return of == null ? null : !of;
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static Boolean compare(Comparable one, Comparable other, IntPredicate sign) {
        if (one == null || other == null) {
            return null;
        }
        return sign.test(one instanceof String ? utf8(one).compareTo(utf8(other)) : one.compareTo(other));
    }

    /** A text's bytes, by which SQL orders texts. */
    private static ByteBuffer utf8(Object text) {
        byte[] bytes = ((String) text).getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] ^= Byte.MIN_VALUE; // ByteBuffer orders signed bytes
        }
        return ByteBuffer.wrap(bytes);
    }

    private static Instant moment(Object time) {
        return time instanceof LocalDateTime ? ((LocalDateTime) time).toInstant(ZoneOffset.UTC) : (Instant) time;
    }

    private static Boolean like(String text, String pattern) {
        return text == null ? null : text.matches(pattern);
    }

    private static Long whole(Object number) {
        return number == null ? null : ((Number) number).longValue();
    }

    private static BigDecimal exact(Object number) {
        return number == null || number instanceof BigDecimal ? (BigDecimal) number : BigDecimal.valueOf(whole(number));
    }

    /** A number in double precision; -0.0, which Java tells from 0.0, becomes 0.0. */
    private static Double real(Object number) {
        return number == null ? null : ((Number) number).doubleValue() + 0.0;
    }

    private static Double compute(Double one, Double other, DoubleBinaryOperator operator) {
        return one == null || other == null ? null : operator.applyAsDouble(one, other) + 0.0;
    }

    private static Double divide(Double one, Double other) {
        return other == null || other == 0 ? null : compute(one, other, (a, b) -> a / b);
    }
"""
"""The methods that a condition in Java may call, with an empty line between."""


def java_helpers(body: str) -> str:
    """The methods that a text of Java calls, and those that these call.

    Parameters
    ----------
    body
        The text, with an expression that `java` has written.
    """
    written = _JAVA_HELPERS.strip("\n").split("\n\n")
    methods = {re.findall(r"static \w+ (\w+)\(", method)[0]: method for method in written}
    wanted: list[str] = []
    looked_at = [body]
    while looked_at:
        text = looked_at.pop()
        for name, method in methods.items():
            if name not in wanted and re.search(rf"(?<![\w.]){name}\(", text):
                wanted.append(name)
                looked_at.append(method.replace(f" {name}(", " ", 1))
    return "\n".join(f"\n{method}" for name, method in methods.items() if name in wanted)


def flink_sql(condition: Condition, kinds: Mapping[str, Kind], column: Callable[[str], str] = backticks) -> str:
    """A condition as Flink's SQL; arguments as of `workbench.plan.conditions.spark_sql`.

    Flink differs in two things: NaN equals nothing, and ``_`` stands for no line break.

    Examples
    --------
    >>> from workbench.conditions import col
    >>> flink_sql((col("paid") > 1.5) & (col("name") == "it's"), {"paid": "double", "name": "text"})
    "(`paid` > 1.5E0) AND (`name` = 'it''s')"
    """
    return sql(condition, kinds, Dialect(column, sql_text, str))


def java(condition: Condition, kinds: Mapping[str, Kind], column: Callable[[str], str]) -> str:
    """A condition as an expression of Java, a Boolean that is null where it is unknown; it calls `java_helpers`.

    Parameters
    ----------
    condition, kinds
        As of `workbench.plan.conditions.spark_sql`.
    column
        An expression for a column's value, an Object, by its name.

    Examples
    --------
    >>> from workbench.conditions import col
    >>> java(~(col("amount") > 100), {"amount": "integer"}, lambda name: f'row.getField("{name}")')
    'not(compare(whole(row.getField("amount")), 100L, c -> c > 0))'
    """

    def said(of: Condition) -> str:
        match of:
            case And(parts):
                return f"and({', '.join(map(said, parts))})"
            case Or(parts):
                return f"or({', '.join(map(said, parts))})"
            case Not(negated):
                return f"not({said(negated)})"
            case Comparison("!=", left, right):
                return f"not({said(Comparison('==', left, right))})"
            case Comparison(sign, left, right):
                return f"compare({', '.join(alike(left, right))}, {_SIGNS[sign]})"
            case IsIn():
                return said(of.unfolded)
            case Like(value, pattern):
                return f"like({read(value, 'text')}, {java_text(_regular(pattern))})"
            case IsNull(value):
                return f"({read(value, kind_of_value(value, kinds))} == null)"
        raise TypeError(f"no condition: {of!r}")

    def alike(left: Value, right: Value) -> list[str]:
        common = common_kind(left, right, kinds)
        return [read(each, common) for each in (left, right)]

    def read(value: Value, kind: Kind) -> str:
        match value:
            case Column(name) | EarlierColumn(name):
                return _READ[kind].format(column(name))
            case Constant(given):
                return _constant(given, kind)
            case Arithmetic("/", left, right):
                return f"divide({read(left, 'double')}, {read(right, 'double')})"
            case Arithmetic(sign, left, right):
                return f"compute({read(left, 'double')}, {read(right, 'double')}, (a, b) -> a {sign} b)"
        raise TypeError(f"no value: {value!r}")

    return said(condition)


def _constant(value: Scalar, kind: Kind) -> str:
    """A constant in Java, of a kind."""
    if kind == "double":
        return repr(float(value) + 0.0)  # which Java tells from -0.0
    if kind == "decimal":
        return f"new BigDecimal({java_text(f'{Decimal(value):f}')})"
    if isinstance(value, bool):
        return str(value).lower()
    return java_text(value) if isinstance(value, str) else f"{value}L"


def _regular(pattern: str) -> str:
    """A pattern of SQL's ``LIKE`` as a regular expression of Java's."""
    parts = re.split("([%_])", pattern)
    return "(?s)" + "".join({"%": ".*", "_": "."}.get(each, "".join(map(_plain, each))) for each in parts)


def _plain(character: str) -> str:
    return character if character.isalnum() or character == " " else f"\\x{{{ord(character):x}}}"
