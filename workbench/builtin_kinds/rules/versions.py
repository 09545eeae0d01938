"""Versions of rules, and which rows meet them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrays import Codes, Flags, RowNumbers
from workbench.builtin_kinds.rules.fields import compared
from workbench.conditions import Condition, Kind, col, kind_of_type
from workbench.joins import RulesJoin
from workbench.model import Failed, value_in_words
from workbench.model.conditions import as_double, is_true
from workbench.streams import Stream, pair_types

__all__ = ["OPERATORS", "Met", "versions_of"]


OPERATORS = ("<", "<=", ">", ">=", "=", "==", "!=", "<>")
"""What a rule may compare with."""


def _comparison() -> Condition:
    """What a rule asks, of columns ``op``, ``compared`` and ``value``."""
    op, one, other = col("op"), col("compared"), col("value")
    parts: list[Condition] = [
        (op == "<") & (one < other),
        (op == "<=") & (one <= other),
        (op == ">") & (one > other),
        (op == ">=") & (one >= other),
        op.isin("=", "==") & (one == other),
        op.isin("!=", "<>") & (one != other),
    ]
    return reduce(lambda so_far, part: so_far | part, parts)


def versions_of(join: RulesJoin, right: Stream) -> dict[str, Codes]:
    """Of each right row ``rule`` (one number for all versions of a rule, below 0 without a name) and ``withdrawn``."""
    names = right.table.column(join.rule).combine_chunks().dictionary_encode()
    names = names.combine_chunks() if isinstance(names, pa.ChunkedArray) else names
    rule = names.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    withdrawn = np.zeros(len(right), dtype=bool)
    if join.withdrawn is not None:
        withdrawn = right.table.column(join.withdrawn).fill_null(False).to_numpy().astype(bool)
    return {"rule": rule, "withdrawn": withdrawn}


@dataclass(frozen=True)
class Met:
    """Whether left rows meet versions of rules: a condition of pairs."""

    join: RulesJoin
    left: Stream
    right: Stream

    @property
    def text(self) -> str:
        """The condition in words."""
        return f"{self.join.field} {self.join.op} {self.join.value}"

    @cached_property
    def columns(self) -> tuple[bool, list[str]]:
        """Whether rules compare numbers, and not texts, and the left columns that they may compare."""
        return compared(self.join, pair_types(self.left, self.right))

    def compared(self, left: RowNumbers, right: RowNumbers) -> Any:
        """Of pairs, given as their left and right rows, the left value that the rule asks for: an Arrow array."""
        numbers, columns = self.columns
        field = self.right.table.column(self.join.field).take(pa.array(right)).combine_chunks()
        found = pa.nulls(len(left), pa.float64() if numbers else pa.large_string())
        named = set(pc.unique(self.right.table.column(self.join.field)).to_pylist())
        for name in named.intersection(columns):
            values = self.left.table.column(name).take(pa.array(left)).combine_chunks()
            values = as_double(values) if numbers else pc.cast(values, pa.large_string())
            found = pc.if_else(pc.fill_null(pc.equal(field, name), False), values, found)
        return found

    def __call__(self, left: RowNumbers, right: RowNumbers) -> Flags:
        """Which of some pairs, given as their left and right rows, are a row and a rule that it meets."""
        value = self.right.table.column(self.join.value)
        kinds: dict[str, Kind | None] = {
            "op": "text",
            "compared": "double" if self.columns[0] else "text",
            "value": kind_of_type(value.type),
        }
        rows = {
            "op": self.right.table.column(self.join.op).take(pa.array(right)).combine_chunks(),
            "compared": self.compared(left, right),
            "value": value.take(pa.array(right)).combine_chunks(),
        }
        return is_true(_comparison(), kinds, rows)  # type: ignore[arg-type]

    def failed(self, left: RowNumbers, right: RowNumbers) -> list[list[Failed]]:
        """For each of some pairs what the rule asks for, if the row does not meet it."""
        met, values, table = self(left, right), self.compared(left, right), self.right.table
        found = [list[Failed]() for _ in left]
        for place in np.flatnonzero(~met).tolist():
            asked = (table.column(name)[int(right[place])] for name in (self.join.field, self.join.op, self.join.value))
            field, op, value = (each.as_py() for each in asked)
            words = value_in_words(values[place].as_py())
            found[place].append(Failed(f"{field} {op} {value_in_words(value)}", ((str(field), words),)))
        return found
