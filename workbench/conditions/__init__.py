"""Conditions on rows, as data: ``col("amount") > 100``, ``col("method").isin("card", "cash")``, joined by ``& | ~``.

A condition means what it means in SQL: compared with a null it is neither true nor false but unknown, ``&``, ``|`` and
``~`` follow SQL's three-valued logic, and what counts is only where it is true. Arithmetic is done in double precision,
as Spark and Flink do not agree on how wide whole numbers and decimals become; a division by zero gives null.
"""

from __future__ import annotations

from workbench.conditions._checking import (
    Kind,
    asks_earlier,
    check,
    columns,
    common_kind,
    earlier,
    kind_of_type,
    kind_of_value,
)
from workbench.conditions._columns import EarlierRow, col, row
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
    Scalar,
    Value,
    plain_text,
)
from workbench.conditions._python import HELPERS, python, python_helpers
from workbench.conditions._reading import of_tree, read, tree_of

__all__ = [
    "HELPERS",
    "And",
    "Arithmetic",
    "Column",
    "Comparison",
    "Condition",
    "Constant",
    "EarlierColumn",
    "EarlierRow",
    "IsIn",
    "IsNull",
    "Kind",
    "Like",
    "Not",
    "Or",
    "Scalar",
    "Value",
    "asks_earlier",
    "check",
    "col",
    "columns",
    "common_kind",
    "earlier",
    "kind_of_type",
    "kind_of_value",
    "of_tree",
    "plain_text",
    "python",
    "python_helpers",
    "read",
    "row",
    "tree_of",
]
