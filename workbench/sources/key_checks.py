"""Checks of the types of key columns, of one stream and of both; whether there are such columns is in `name_checks`."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from workbench.errors import ArgumentError, excerpt
from workbench.sources.arrow import key_class

__all__ = ["check_key", "check_same_keys"]


def check_key(table: pa.Table, key: str, name: str) -> None:
    """Check that a key column has a type that can be compared."""
    kind = table.schema.field(key).type
    if key_class(kind) is None:
        raise ArgumentError(
            f"key: got column {excerpt(key)} of {name}, which holds {kind} values; use text, numbers or dates"
        )


def check_same_keys(left: Any, right: Any) -> None:
    """Check that the key columns of two streams pair up, in number and type."""
    if len(left.key) != len(right.key):
        raise ArgumentError(
            f"key: got {list(left.key)} on {left.name} and {list(right.key)} on {right.name}; "
            "give both sides the same number of key columns, in the same order"
        )
    for mine, theirs in zip(left.key, right.key, strict=True):
        kinds = [side.table.schema.field(key).type for side, key in ((left, mine), (right, theirs))]
        if key_class(kinds[0]) != key_class(kinds[1]):
            raise ArgumentError(
                f"key: got {excerpt(mine)} of {left.name}, which holds {key_class(kinds[0])} values, and "
                f"{excerpt(theirs)} of "
                f"{right.name}, which holds {key_class(kinds[1])} values; convert one so that both have the same type"
            )
