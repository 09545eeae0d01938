"""The columns that rules name: which of them there must be, and of which type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbench.conditions import kind_of_type
from workbench.errors import ArgumentError, excerpt
from workbench.joins import RulesJoin
from workbench.streams import Stream

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["check", "compared"]

_NUMBERS = ("integer", "decimal", "single", "double")


def compared(join: RulesJoin, types: Mapping[str, pa.DataType]) -> tuple[bool, list[str]]:
    """Whether rules compare numbers, and not texts, and the left columns that they may compare.

    Parameters
    ----------
    join
        The join.
    types
        The types of the columns of a pair, by name; the left ones begin with ``left_``.
    """
    kinds = {name: kind_of_type(given) for name, given in types.items()}
    numbers = kinds[f"right_{join.value}"] in _NUMBERS
    fitting = _NUMBERS if numbers else ("text",)
    left = [name.removeprefix("left_") for name, kind in kinds.items() if name.startswith("left_") and kind in fitting]
    return numbers, left


def check(join: RulesJoin, left: Stream, right: Stream) -> None:
    """Check that the right stream has the columns of rules, and the left one columns that they can compare.

    Raises
    ------
    ArgumentError
        Naming the argument of the join.
    """
    types = {name: right.table.schema.field(name).type for name in right.columns}
    wanted = {
        "field": ("text", ("text",)),
        "op": ("text", ("text",)),
        "value": ("numbers or text", (*_NUMBERS, "text")),
        "rule": ("text or whole numbers", ("text", "integer")),
        "withdrawn": ("booleans", ("boolean",)),
    }
    for argument, (words, kinds) in wanted.items():
        name = getattr(join, argument)
        if name is None:
            continue
        if name not in types:
            none = ", or None where no rule is ever withdrawn" if argument == "withdrawn" else ""
            raise ArgumentError(
                f"{argument}: got {excerpt(name)}; {right.name} has no such column: name one of "
                f"{', '.join(types)}{none}"
            )
        if kind_of_type(types[name]) not in kinds:
            raise ArgumentError(
                f"{argument}: got column {excerpt(name)} of {right.name}, which holds {types[name]} "
                f"values; use one of {words}"
            )
    pairs = {f"left_{name}": left.table.schema.field(name).type for name in left.columns}
    numbers, fitting = compared(join, pairs | {f"right_{join.value}": types[join.value]})
    if not fitting:
        words = "numbers" if numbers else "text"
        raise ArgumentError(
            f"value: got column {excerpt(join.value)} of {right.name}, which holds {words}; "
            f"{left.name} has no column of "
            f"{words} to compare with it"
        )
