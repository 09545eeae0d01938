"""A join of a kind as its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol, cast

from workbench.arrays import Codes, RowNumbers, Times
from workbench.kinds._form import Form
from workbench.kinds._inputs import J, typed
from workbench.literals import Setting, Side
from workbench.sources.key_checks import check_same_keys
from workbench.streams import Stream
from workbench.untyped import Record, Value

if TYPE_CHECKING:
    import pandas as pd


class SharedRows(Protocol):
    """What is known of two streams whatever the settings; `workbench.model.Shared` has it."""

    @property
    def keys(self) -> tuple[Codes, Codes]:
        """The keys of both sides as numbers, below 0 for none."""

    def assignments(self, join: Any, side: Side) -> pd.DataFrame:
        """A side's rows in the join's windows: ``row``, ``start``, ``end``, ``batch``, ``key``."""

    def matches(self, join: Any) -> tuple[RowNumbers, RowNumbers]:
        """The pairs by definition, as places in the assignments."""


class Settings(Form[J]):
    """The settings of a join, read and changed.

    Fixes, tuning and the page ask it, whenever they try another setting; every run and preview calls `check` first.
    """

    def example(self) -> J:
        """A join of this kind, as its form begins."""
        first = {each.argument: each.first for each in self.fields}
        first |= {each.argument: each.values[0] for each in self.menus}
        first |= {each.argument: each.first for each in self.texts}
        return self.make(first, {each.argument: each.first for each in self.flags}, "inner")

    def arguments(self, join: J) -> Record:
        """The arguments of the join by name; in the place of ``window`` those of the window."""
        spans = self.spans_of(join)
        values = {each.name: getattr(join, each.name) for each in fields(join)}  # type: ignore[arg-type]
        own = {name: value for name, value in values.items() if value is not spans}
        return own if spans is join else own | {each.name: getattr(spans, each.name) for each in fields(spans)}

    def shown(self, join: J) -> Record:
        """The `arguments` as lists and comparisons show them: in words where their ``str`` is Python."""
        return self.arguments(join)

    def typed(self, join: J) -> dict[str, str | bool]:
        """What the inputs of its form hold for a join: texts and flags, by argument."""
        given = self.arguments(join)
        return {each.argument: typed(each, given[each.argument]) for each in self.inputs}

    def settings(self, join: J) -> dict[Setting, timedelta]:
        """The time spans that can be set, by name."""
        values = self.arguments(join).items()
        return {cast(Setting, name): value for name, value in values if isinstance(value, timedelta)}

    def reaching(self, join: J) -> Mapping[Setting, int]:
        """The settings of which a farther value only adds results: 1 if larger is farther, as of ``upper``, else -1."""
        return {}

    def tries(self, join: J, shared: SharedRows) -> dict[Setting, list[int]]:
        """Values of the join's own settings, in microseconds, that are worth trying on a recording.

        Parameters
        ----------
        join
            The join.
        shared
            What runs of the recording have in common.
        """
        return {}

    def suggested_spans(self, join: J, apart: Times) -> tuple[str, dict[Setting, timedelta]] | None:
        """Time spans of the join that suit rows whose nearest partners are so far apart; None: its own do, or any.

        Parameters
        ----------
        join
            The join.
        apart
            For rows of the left side by how much the nearest row of their key comes later, in microseconds.

        Returns
        -------
        tuple of str and dict, or None
            Why its own do not, as a sentence without its full stop, and those that would.
        """
        return None

    def changed(self, join: J, **spans: Value) -> J:
        """The join with some of its time spans changed."""
        described = replace(self.spans_of(join), **spans)
        return described if self.spans_of(join) is join else replace(join, window=described)  # type: ignore[type-var]

    def spans_of(self, join: J) -> Any:
        """The description that holds the time spans: the join, or its window."""
        return join

    def check(self, join: J, left: Stream, right: Stream) -> None:
        """Check that two streams can be joined so.

        Raises
        ------
        ArgumentError
            Naming the argument that is wrong.
        """
        check_same_keys(left, right)
