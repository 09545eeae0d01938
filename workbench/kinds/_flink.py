"""The same join for Flink."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic

from workbench.errors import wrong
from workbench.kinds._inputs import J
from workbench.untyped import Record, Value


class FlinkTexts(Generic[J]):
    """The same join for Flink.

    `workbench.flink` asks it when a text is written, or rows are compared.

    Attributes
    ----------
    not_compared
        Why its rows are not judged by Flink's rules of lateness, in words; empty: they are.
    """

    not_compared: str = ""

    def flink_query(self, join: J, given: Mapping[str, Value], render: Callable[..., str]) -> str:
        """The query in Flink SQL.

        Parameters
        ----------
        join
            The join.
        given
            What all of Flink's templates go by.
        render
            Renders a template, by name, with what is given and more.

        Raises
        ------
        ArgumentError
            If Flink has no such join.
        """
        raise wrong("join", join, "Flink has no such join, use an interval or a window join there")

    def flink_java(self, join: J) -> Record:
        """The Java ``template``, its ``assigner``, ``bounds``, or ``more`` by name; ``by_table`` if SQL is to do it."""
        raise wrong("join", join, "Flink has no such join, use an interval or a window join there")

    def flink_variables(self, join: J, types: Mapping[str, Value]) -> Record:
        """What its Java template asks beside, by name, of the types of the columns of a pair."""
        return {}
