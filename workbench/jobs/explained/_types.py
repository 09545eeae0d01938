"""Columns and types as the text of a plan has them."""

from __future__ import annotations

import re

__all__ = ["COLUMN", "COPY", "TAG", "TYPES", "json_type"]

TAG = r"#(\d+)(L?)(-T\d+ms)?"
COLUMN = re.compile(rf"(\w+){TAG}")
COPY = 10**12
"""What is added to the ids of a common table expression's further uses."""
TYPES = {"tinyint": "byte", "smallint": "short", "int": "integer", "bigint": "long"}


def json_type(kind: str) -> str:
    """A type as Spark's JSON has it."""
    return TYPES.get(kind, kind)
