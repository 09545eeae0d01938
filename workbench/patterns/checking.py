"""What is asked of the rows of two streams, checked: which columns there must be, and of which type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from workbench.conditions import Condition, Kind, check, earlier
from workbench.errors import ArgumentError, excerpt, wrong
from workbench.literals import SIDES, Side
from workbench.patterns._pattern import Pattern
from workbench.patterns._steps import Step
from workbench.patterns.automaton import automaton

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["check_streams", "kinds_of", "of_sides", "side_of"]


def of_sides(types: Mapping[str, pa.DataType]) -> dict[Side, dict[str, pa.DataType]]:
    """Of each side the types of its columns, by their own names, of those of a pair."""
    return {
        side: {name.removeprefix(f"{side}_"): given for name, given in types.items() if name.startswith(f"{side}_")}
        for side in SIDES
    }


def side_of(pattern: Pattern, step: str) -> Side:
    """The side whose rows a step takes."""
    return next(each.side for each in pattern.flat if each.name == step) or "left"


def kinds_of(
    pattern: Pattern, side: Side, where: Condition, types: Mapping[Side, Mapping[str, pa.DataType]]
) -> dict[str, Kind]:
    """The kinds of the values of the columns that a condition on a row of a side names.

    Parameters
    ----------
    pattern
        The pattern that asks it.
    side, where
        What is asked.
    types
        Of each side the types of its columns, by name.

    Raises
    ------
    ArgumentError
        If there is no such column, or what cannot be compared is compared.
    """
    known = dict(types[side])
    for each in earlier(where):
        of = side_of(pattern, each.step)
        if each.column not in types[of]:
            columns = ", ".join(types[of])
            raise wrong(
                "where", where, f"step {excerpt(each.step)} has no column {excerpt(each.column)}; there are {columns}"
            )
        known[each.name] = types[of][each.column]
    return check(where, known, "where")


def check_streams(pattern: Pattern, types: Mapping[Side, Mapping[str, pa.DataType]], key: tuple[str, ...]) -> None:
    """Check that two streams have what a pattern asks of their rows.

    Raises
    ------
    ArgumentError
        If a condition names a column that there is not, or a step has the name of a column of the key; its ``inside``
        has the step.
    """
    keys = {name.lower() for name in key}
    for each in pattern.flat:
        with _inside(each):
            if each.name.lower() in keys and each in pattern.taken:
                raise ArgumentError(
                    f"steps: got a step {excerpt(each.name)}, which is a column of the key: use another name"
                )
            for step in (each, each.stop):
                if step is not None and step.where is not None:
                    kinds_of(pattern, step.side or "left", step.where, types)
    for asked in automaton(pattern).asked:  # those of groups, too
        if asked.where is not None:
            kinds_of(pattern, asked.side, asked.where, types)


@contextmanager
def _inside(step: Step) -> Iterator[None]:
    """Says of an error of which step it is."""
    try:
        yield
    except ArgumentError as error:
        error.inside = "steps", step.name
        raise
