"""What the form of a pattern begins with: steps, and examples of conditions, that suit the streams there are."""

from __future__ import annotations

import keyword

import pyarrow as pa
import pyarrow.compute as pc

from workbench.errors import ArgumentError
from workbench.patterns import Pattern, followed_by, read_steps, step
from workbench.patterns.checking import check_streams, of_sides
from workbench.plan.names import Names
from workbench.streams import Stream, pair_types

__all__ = ["beginning", "example", "suits"]

_LONGEST = 20  # characters of a value in an example
_USUAL = "amount"


def suits(text: str, left: Stream, right: Stream) -> bool:
    """Whether the steps of a text ask for columns that two streams have."""
    try:
        check_streams(Pattern(*read_steps(text, "steps")), of_sides(pair_types(left, right)), tuple(left.key))
    except ArgumentError:
        return False
    return True


def beginning(left: Stream, right: Stream) -> str:
    """The text of steps that any two streams have: a row of the left one, and then one of the right one."""
    names = Names.of(left, right)
    keys = {name.lower() for name in left.key}
    one, other = (f"{side.var}_row" if side.var.lower() in keys else side.var for side in (names.left, names.right))
    return f"{step(one, side='left')!r}, {followed_by(other, side='right')!r}"


def example(stream: Stream) -> str:
    """A condition on rows of a stream, as the form has it; empty where none of its columns has a plain one."""
    others = [name for name in stream.columns if name not in (*stream.key, stream.time) and _is_plain(name)]
    types = {name: stream.table.schema.field(name).type for name in others}
    numbers = [name for name, type_ in types.items() if pa.types.is_integer(type_) or pa.types.is_floating(type_)]
    if numbers:
        return f"{_USUAL if _USUAL in numbers else numbers[0]} > 5"
    for name in (name for name, type_ in types.items() if pa.types.is_string(type_)):
        there = pc.drop_null(stream.table.column(name).slice(0, 1_000))
        if len(there) and len(value := there[0].as_py()) <= _LONGEST:
            return f"{name} == {value!r}"
    return ""


def _is_plain(name: str) -> bool:
    """Whether a column is written in a condition as it is called."""
    return name.isidentifier() and not keyword.iskeyword(name)
