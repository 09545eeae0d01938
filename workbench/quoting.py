"""The user's names and texts in Python source and in SQL, Spark's and Flink's: they enter it only through here."""

from __future__ import annotations

import re

__all__ = [
    "backticks", "column", "in_docstring", "in_sql", "is_plain", "literal", "quoted",
]  # fmt: skip

_RESERVED = frozenset([
    "ALL", "AND", "ANY", "AS", "AUTHORIZATION", "BOTH", "CALL", "CASE", "CAST", "CHECK", "COLLATE", "COLLATION",
    "COLLATIONS", "COLUMN", "CONSTRAINT", "CREATE", "CROSS", "CURRENT_DATE", "CURRENT_PATH", "CURRENT_SCHEMA",
    "CURRENT_TIME", "CURRENT_TIMESTAMP", "CURRENT_USER", "DISTINCT", "ELSE", "END", "ESCAPE", "EXCEPT", "EXECUTE",
    "FALSE", "FETCH", "FILTER", "FOR", "FOREIGN", "FROM", "FULL", "GRANT", "GROUP", "HAVING", "IN", "INNER",
    "INTERSECT", "INTO", "IS", "JOIN", "LATERAL", "LEADING", "LEFT", "LOCALTIME", "NATURAL", "NOT", "NULL",
    "OFFSET", "ON", "ONLY", "OR", "ORDER", "OUTER", "OVERLAPS", "PRIMARY", "RECURSIVE", "REFERENCES", "RIGHT",
    "SELECT", "SESSION_USER", "SOME", "SQL", "TABLE", "THEN", "TIME", "TO", "TRAILING", "UNION", "UNIQUE",
    "UNKNOWN", "USER", "USING", "WHEN", "WHERE", "WITH", "WITHIN",
])  # fmt: skip
"""Words that Spark's SQL reserves where ``spark.sql.ansi.enforceReservedKeywords`` is on."""


def literal(value: str) -> str:
    """Python source of a text literal, in double quotes, in ASCII where the text is not printable."""
    if value.isprintable():
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return '"' + value.encode("unicode_escape").decode().replace('"', '\\"') + '"'


def in_docstring(text: str) -> str:
    """A text inside a docstring, which ends it nowhere."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def column(name: str) -> str:
    """Python source of a column reference, as ``F.col`` and its like read it."""
    return literal(quoted(name))


def quoted(name: str) -> str:
    """A column's name as Spark reads it: in backticks where they are needed."""
    return name if is_plain(name) else backticks(name)


def in_sql(name: str) -> str:
    """A column's name as Spark's SQL reads it, reserved words included (``spark.sql.ansi.enforceReservedKeywords``)."""
    return backticks(name) if name.upper() in _RESERVED else quoted(name)


def backticks(name: str) -> str:
    """A name in backticks, whatever is in it, as Spark and Flink SQL read it."""
    return "`" + name.replace("`", "``") + "`"


def is_plain(name: str) -> bool:
    """Whether a name is letters, digits and underscores, and begins with no digit."""
    return re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is not None
