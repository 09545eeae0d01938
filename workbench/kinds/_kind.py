"""What the workbench asks of a kind of join."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import numpy as np

from workbench import conditions, times
from workbench.conditions import Condition
from workbench.errors import ArgumentError
from workbench.joins import HOWS, How, Join, emission
from workbench.kinds._operator import HASH_JOIN, Operator
from workbench.literals import Setting, Side
from workbench.sources.columns import LATE_WINDOW

if TYPE_CHECKING:
    import pandas as pd

J = TypeVar("J", bound=Join)
Micros = np.ndarray[Any, Any]
"""Event times in microseconds since 1970-01-01 UTC, as 64-bit integers."""

MS = 1000
"""Microseconds of a millisecond, as fine as Spark's watermarks are."""
NEVER = np.int64(2**62)
"""Microseconds that stand for a time that does not come, and for a value that no setting has."""

Advised = tuple[str, str] | tuple[str, str, Setting, str]
"""What to know before a run: problem, remedy, and, if one setting helps, that setting and its value as text."""

ENDED = f'.where(F.col("{LATE_WINDOW}.end") <= watermark)'
"""What follows a script's rows and their windows: those that are late, as their window has ended."""


@dataclass(frozen=True)
class Field:
    """A setting that is a time span, as a text field of the page's form and in reasons.

    Attributes
    ----------
    argument
        The argument of the join, or of its window, that it gives.
    label, first, help
        The field's label and first text, and what the term means.
    noun
        What it is called in a sentence, with its article.
    read
        Reads its text; raises `ArgumentError` for one that no other setting makes right.
    """

    argument: str
    label: str
    first: str
    help: str
    noun: str
    read: Callable[[times.Span, str], timedelta] = times.parse


@dataclass(frozen=True)
class Flag:
    """A box of the form that is ticked or not: the argument it gives, its label, what it means, and how it begins."""

    argument: str
    label: str
    help: str
    first: bool = False


@dataclass(frozen=True)
class Text:
    """Another text field of the page's form.

    Attributes
    ----------
    argument
        The argument of the join that it gives.
    label, first, help
        The field's label and first text, and what the term means.
    read
        Gives the argument, of the text and its name; raises `ArgumentError` for a text that is wrong.
    unset
        What the field shows while its text is empty.
    is_long
        Whether it has several lines.
    """

    argument: str
    label: str
    first: str
    help: str
    read: Callable[[str, str], Any]
    unset: str = ""
    is_long: bool = False


def _read_where(text: str, argument: str) -> Condition | None:
    return conditions.read(text, argument) if text.strip() else None


@dataclass(frozen=True)
class Menu:
    """A choice of the form: the argument it gives, its label, the values there are, and what it means."""

    argument: str
    label: str
    values: tuple[str, ...]
    help: str


WHERE = Text(
    "where",
    "Where",
    "",
    'What pairs must satisfy besides: wb.col("right_paid") < wb.col("left_amount").',
    _read_where,
    "no condition",
)

Input = Field | Text | Menu | Flag
"""An input of the form of a kind."""


def _typed(of: Input, value: Any) -> Any:
    if isinstance(value, timedelta):
        return times.text(value)
    if isinstance(of, Text):
        return "" if value is None else value if isinstance(value, str) else repr(value)
    return value


@dataclass(frozen=True)
class NearMiss:
    """A row without partner, and the change of one setting of its join that would have matched it, in words.

    Attributes
    ----------
    side
        The row's.
    setting, change
        The setting, and by how many microseconds it would have to change.
    partner, distance
        The nearest partner, and how far it is away.
    beyond
        The change in words.
    changed
        The changed setting in words.
    """

    side: Side
    setting: Setting
    change: int
    partner: str
    distance: str
    beyond: str
    changed: str


class Kind(Generic[J]):
    """One kind of join: all that the rest of the workbench asks about it.

    As it stands it answers for a join of two streams on their keys and a window that each row is in by itself, such as
    a tumbling one. A kind says what differs; `describes`, `make`, `plan` and `assign` it must say.

    Attributes
    ----------
    name
        The word that stands for it in the page's settings.
    label
        What it is called.
    scenario
        A scenario of generated streams that its example joins.
    fields, texts, menus, flags, hows
        The inputs of its form, and the values of ``how`` that it has; none: it has no ``how``.
    no_how
        Why it has none.
    windowed
        Whether an output has a window.
    grouped
        Whether what comes out is a group, with the rows of either side as a list, and not a pair.
    merging
        Whether its windows are merged from those of single rows, as sessions are, and so depend on the rows.
    one_partner
        Whether a left row has one partner at most, which is chosen, and not all that are in reach.
    drops_late
        Whether rows that the watermark has passed are dropped.
    operator
        How Spark executes it: `HASH_JOIN`, `AGGREGATION`, `CLOSEST_PAIR`, or a processor that the kind brings along.
    without_processor
        Of a kind that is a processor: how a sentence begins that says which versions of Spark have it, and what else
        to do where they have not.
    no_ttl
        Why its rows in state need no time to live, in words.
    parts
        What it brings along for the packages above, each of a class that the package which calls it defines:
        `workbench.model.OperatorModel`, `workbench.model.Meeting`, `workbench.reasons.own.OwnReasons`, `PanelOf`.
    state_bytes
        Bytes that Spark 4.3's in-memory state store takes for a row or group beside its values: measured at the peak
        of runs of five kinds over three scenarios, 300 and 2,000 rows a side; none was off by more than a third.
    not_compared
        Why its rows are not judged by Flink's rules of lateness, in words; empty: they are.
    reserved
        Names of columns, in lower case, that its output has itself, so that no key may have them.
    window_noun
        What a window is called.
    """

    name: str
    label: str
    scenario: str = "orders_payments"
    fields: tuple[Field, ...] = ()
    texts: tuple[Text, ...] = ()
    menus: tuple[Menu, ...] = ()
    flags: tuple[Flag, ...] = ()
    hows: tuple[How, ...] = HOWS
    no_how: str = "this kind of join gives pairs only: it has no how"
    windowed: bool = True
    grouped: bool = False
    merging: bool = False
    one_partner: bool = False
    drops_late: bool = True
    operator: Operator = HASH_JOIN
    without_processor: tuple[str, str] = ("it needs", "")
    no_ttl: str = "which needs no time to live, because the watermark evicts all its rows"
    parts: tuple[object, ...] = ()
    state_bytes: int = 720
    not_compared: str = ""
    reserved: frozenset[str] = frozenset()
    window_noun: str = "window"

    # the description

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The inputs of its form, but for ``how``."""
        return (*self.fields, *self.texts, *self.menus, *self.flags)

    def describes(self, join: object) -> bool:
        """Whether something is a join of this kind."""
        raise NotImplementedError

    def make(self, texts: Mapping[str, str], flags: Mapping[str, bool], how: How) -> J:
        """The join that its form describes: the texts of fields, texts and menus, the flags, and ``how``."""
        raise NotImplementedError

    def example(self) -> J:
        """A join of this kind, as its form begins."""
        first = {each.argument: each.first for each in self.fields}
        first |= {each.argument: each.values[0] for each in self.menus}
        first |= {each.argument: each.first for each in self.texts}
        return self.make(first, {each.argument: each.first for each in self.flags}, "inner")

    def arguments(self, join: J) -> dict[str, Any]:
        """All that describes the join, by name; what describes its window in place of the window."""
        spans = self.spans_of(join)
        values = {each.name: getattr(join, each.name) for each in fields(join)}  # type: ignore[arg-type]
        own = {name: value for name, value in values.items() if value is not spans}
        return own if spans is join else own | {each.name: getattr(spans, each.name) for each in fields(spans)}

    def typed(self, join: J) -> dict[str, str | bool]:
        """What the inputs of its form hold for a join: texts and flags, by argument."""
        given = self.arguments(join)
        return {each.argument: _typed(each, given[each.argument]) for each in self.inputs}

    def copies(self, join: J) -> int | None:
        """In how many copies the right rows are held, where rows meet those of any key; None: only those of theirs."""
        return None

    def match_columns(self, join: J) -> tuple[tuple[str, Side], ...]:
        """Of a join whose output is matches, the list columns of these: each step that takes rows, and their side."""
        return ()

    def settings(self, join: J) -> dict[Setting, timedelta]:
        """The time spans that can be set, by name."""
        values = self.arguments(join).items()
        return {cast(Setting, name): value for name, value in values if isinstance(value, timedelta)}

    def reaching(self, join: J) -> Mapping[Setting, int]:
        """The settings that only add results the farther they reach, each with the sign of what is farther."""
        return {}

    def tries(self, join: J, shared: Any) -> dict[Setting, list[int]]:
        """Values of the join's own settings, in microseconds, that are worth trying on a recording.

        Parameters
        ----------
        join
            The join.
        shared
            What runs of the recording have in common.
        """
        return {}

    def changed(self, join: J, **spans: Any) -> J:
        """The join with some of its time spans changed."""
        described = replace(self.spans_of(join), **spans)
        return described if self.spans_of(join) is join else replace(join, window=described)  # type: ignore[type-var]

    def spans_of(self, join: J) -> Any:
        """The description that holds the time spans: the join, or its window."""
        return join

    def check(self, join: J, left: Any, right: Any) -> None:
        """Check that two streams can be joined so.

        Raises
        ------
        ArgumentError
            Naming the argument that is wrong.
        """
        from workbench.sources.arrow import check_same_keys

        check_same_keys(left, right)

    # what Spark runs

    def plan(self, join: J, names: Any, finish: bool) -> str:
        """The function ``join_streams`` as Python text; arguments as in `workbench.plan.render`, with its `Names`."""
        raise NotImplementedError

    def late_rows(self, join: J, side: Any, rows: str) -> str:
        """The body of a script's function of ``rows`` and ``watermark`` that gives the late rows of one side.

        Where the kind has windows it gives a row for each window that it is late for, which is in the column
        `workbench.sources.columns.LATE_WINDOW`.

        Parameters
        ----------
        join, side
            The join, and the `SideNames` of the side.
        rows
            Python source of the rows to look among: those whose key the join takes.
        """
        raise NotImplementedError

    # its semantics

    def assign(self, join: J, moments: Micros) -> pd.DataFrame:
        """The windows of rows with these event times.

        Returns
        -------
        pandas.DataFrame
            One row for each row and window of it, in order of row, then window: ``row`` (its place in `moments`),
            ``start``, ``end`` (microseconds). A row is late for a window when ``end`` is at or before the watermark.
            Without windows one row for each, with ``start`` and ``end`` its event time.
        """
        raise NotImplementedError

    def assignment(self, join: J) -> Hashable:
        """What `assign` depends on: joins for which it is the same share what was assigned."""
        return self.spans_of(join)

    def bounds(self, join: J) -> tuple[int, int]:
        """The least and the greatest difference of two partners' ``start``, right less left, in microseconds."""
        return 0, 0

    def evicted_up_to(self, join: J, watermark: Micros) -> tuple[Micros, Micros]:
        """For either side the ``end`` at or before which rows leave the state at these watermarks."""
        return watermark, watermark

    def leaves_at(self, join: J, side: Side, end: Micros) -> Micros:
        """The watermark, in microseconds, with which assignments of these ``end`` leave the state; 2**62: none."""
        return -(-end // MS) * MS

    def held_by(self, join: J, side: Side) -> str:
        """What holds rows in state beside the watermark delay: a setting of the join and its value, in words."""
        setting, span = next(iter(self.settings(join).items()))
        return f"{setting} = {times.text(span)}"

    def right_retention(self, join: J) -> int:
        """Microseconds that a right row stays in state after its ``end``."""
        return 0

    def waits(self, join: J, side: Side) -> int:
        """Microseconds that a row may have to wait for a partner after its event time: as long as a window is."""
        windows = self.assign(join, np.zeros(1, dtype=np.int64))
        return int((windows["end"] - windows["start"]).max()) if len(windows) else 0

    def reach(self, join: J) -> int:
        """How far from its event time, in microseconds, what a row is part of may end."""
        return max(self.waits(join, "left"), self.waits(join, "right"))

    def drops_null_keys(self, join: J) -> tuple[bool, bool]:
        """Whether rows with a null key are filtered out before the watermark sees them, on the left and on the right.

        Spark pushes "key is not null" below the watermark wherever a row without key cannot be in the result.
        """
        emitted = emission(join)
        if not emitted.padded:
            return True, True
        return "left" not in emitted.padded, "right" not in emitted.padded

    # its explanations

    def window_word(self, join: J) -> str:
        """What a row is late for: its ``window``, its ``last window``; empty where there are no windows."""
        return self.window_noun

    def waits_until(self, join: J, side: Side, other: str, end: int, moment: Callable[[int], str]) -> str:
        """Until when a row in state waits, in words.

        Parameters
        ----------
        join, side
            The join, and the row's side.
        other
            The name of the other stream.
        end
            The row's, or its group's, ``end``.
        moment
            Gives a time in words.
        """
        return f"its {self.window_noun} ends at {moment(end)}"

    def near_miss(self, join: J, miss: NearMiss) -> str:
        """Why two rows did not meet that a changed setting of the join would have brought together."""
        return f"{nearest(miss)}, in another window; {miss.changed} would hold both"

    def alone(self, join: J, side: Side, other: str) -> str:
        """Why a row found no partner, where no change of a setting would have given it one.

        Parameters
        ----------
        join, side, other
            As in `waits_until`.
        """
        return "no partner on time in reach"

    def missed(self, join: J, apart: Micros) -> Micros:
        """Why rows did not meet the nearest row of their key on the other side, in a few words that many share.

        Parameters
        ----------
        join
            The join.
        apart
            How much later the right row of each pair is than the left one, in microseconds; negative: earlier.
        """
        return np.full(len(apart), f"the nearest row of its key is in another {self.window_noun}", dtype=object)

    def interval(self, join: J) -> tuple[int, int] | None:
        """Lower and upper bound of an interval of event time in microseconds; None where windows make partners."""
        return None

    def limits(self, join: J) -> list[tuple[str, int]]:
        """Time differences, in microseconds, that are worth a line in a chart of differences, with their labels."""
        return []

    def fixes(self, search: Any) -> list[pd.DataFrame]:
        """Searches for the smallest change that would match a row, the better kinds of change first.

        Parameters
        ----------
        search
            A `workbench.fixes.search.Search`, whose ``candidates`` give frames as they are expected.
        """
        return []

    def advice(self, join: J, streams: Mapping[Side, Any], shared: Any) -> Iterator[Advised]:
        """What to know of the join and these streams before a run."""
        yield from ()

    # its texts for Flink

    def flink_query(self, join: J, given: Mapping[str, Any], render: Callable[..., str]) -> str:
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
        raise ArgumentError(f"join: got {join!r}; Flink has no such join, use an interval or a window join there")

    def flink_java(self, join: J) -> dict[str, Any]:
        """The Java ``template``, its ``assigner``, ``bounds``, or ``more`` by name; ``by_table`` if SQL is to do it."""
        raise ArgumentError(f"join: got {join!r}; Flink has no such join, use an interval or a window join there")

    def flink_variables(self, join: J, types: Mapping[str, Any]) -> dict[str, Any]:
        """What its Java template asks beside, by name, of the types of the columns of a pair."""
        return {}


def nearest(miss: NearMiss) -> str:
    """How near the nearest partner was."""
    return f"near miss: the nearest partner is {miss.partner}, {miss.distance} away"
