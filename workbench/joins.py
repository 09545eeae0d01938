"""The kinds of join: descriptions only, checked when they are made. What they mean is in `workbench.kinds`.

Source of the definitions: https://nightlies.apache.org/flink/flink-docs-stable/docs/dev/datastream/operators/joining/
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from typing import Literal, TypeVar, get_args

from workbench import times
from workbench.conditions import Condition, plain_text
from workbench.errors import ArgumentError, check_whole, excerpt, one_of, wrong
from workbench.literals import SIDES, Side
from workbench.times import Span
from workbench.windows import Described, Session, Window

__all__ = [
    "AS_OF",
    "DIRECTIONS",
    "HOWS",
    "MOST_COPIES",
    "AsOfJoin",
    "CoGroup",
    "Direction",
    "Emission",
    "How",
    "IntervalJoin",
    "Join",
    "RulesJoin",
    "WindowJoin",
    "check_how",
    "emission",
    "emission_of",
    "how_of",
    "where_of",
    "without_where",
]

How = Literal["inner", "left", "right", "full", "semi", "anti"]
HOWS: tuple[How, ...] = get_args(How)
_OTHER_WORDS: dict[str, How] = {
    "outer": "full",
    "fullouter": "full",
    "leftouter": "left",
    "rightouter": "right",
    "leftsemi": "semi",
    "leftanti": "anti",
}
"""What Spark also calls them."""
Direction = Literal["backward", "forward", "nearest"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
AsOf = Literal["event time", "arrival"]
AS_OF: tuple[AsOf, ...] = get_args(AsOf)
MOST_COPIES = 10_000
"""Of each rule for rows of any key."""


@dataclass(frozen=True)
class Emission:
    """What comes out of a join for a ``how``.

    Attributes
    ----------
    padded
        The sides whose rows come out without a partner.
    sides
        The sides whose columns come out.
    matched
        Whether rows with a partner come out.
    first_only
        Whether a left row comes out once, at its first match, and not once for each of its partners.
    """

    padded: tuple[Side, ...] = ()
    sides: tuple[Side, ...] = SIDES
    matched: bool = True
    first_only: bool = False


_EMISSIONS: dict[How, Emission] = {
    "inner": Emission(),
    "left": Emission(padded=("left",)),
    "right": Emission(padded=("right",)),
    "full": Emission(padded=("left", "right")),
    "semi": Emission(sides=("left",), first_only=True),
    "anti": Emission(padded=("left",), sides=("left",), matched=False),
}


class Join(Described):
    """A description of a join. What each kind means, and how Spark does it, is in `workbench.kinds`."""


J = TypeVar("J", bound=Join)


def where_of(join: Join) -> Condition | None:
    """What a join asks of its pairs besides; None: nothing."""
    where: Condition | None = getattr(join, "where", None)
    return where


def without_where(join: J) -> J:
    """The join without what it asks of its pairs besides."""
    return join if where_of(join) is None else replace(join, where=None)  # type: ignore[type-var]


def how_of(join: Join) -> How:
    """A join's ``how``; ``inner`` of one that has none, a coGroup for instance."""
    how: How = getattr(join, "how", "inner")
    return how


def emission(join: Join) -> Emission:
    """What comes out of a join."""
    return emission_of(how_of(join))


def emission_of(how: How) -> Emission:
    """What comes out of joins with a ``how``."""
    return _EMISSIONS[how]


def _check_window(window: object) -> None:
    if not isinstance(window, Window):
        raise wrong(
            "window", window, 'use Tumbling("10 seconds"), Sliding("10 seconds", "5 seconds") or Session("5 seconds")'
        )


def check_how(how: object) -> None:
    """Check that an argument ``how`` is one that joins have."""
    if isinstance(how, str) and (meant := _OTHER_WORDS.get(how.lower().replace("_", ""))) and how != meant:
        raise wrong("how", how, f"use one of {', '.join(map(repr, HOWS))}; did you mean {excerpt(meant)}?")
    one_of("how", how, HOWS)


@dataclass(frozen=True, repr=False)
class WindowJoin(Join):
    """Every pair of rows with the same key in the same window.

    Parameters
    ----------
    window
        `Tumbling`, `Sliding` or `Session`. In a sliding window a pair appears once for each window both rows share.
    how
        ``inner``; ``left``, ``right``, ``full`` (unmatched rows come padded with nulls, once for each window they
        are in); ``semi`` and ``anti`` (left rows with, and without, a partner, once for each window).
    where
        What a pair must satisfy besides, such as ``wb.col("right_paid") < wb.col("left_amount")``, by the output's
        columns. As in SQL's ``ON``: a row that satisfies it with no partner has none. Not of session windows.

    Raises
    ------
    ArgumentError
        If an argument is wrong.

    Examples
    --------
    >>> from workbench.windows import Tumbling
    >>> WindowJoin(Tumbling("10 seconds"), how="left")
    WindowJoin(window=Tumbling(size='10 seconds'), how='left')
    """

    window: Window
    how: How = "inner"
    where: Condition | None = None

    def __post_init__(self) -> None:
        _check_window(self.window)
        check_how(self.how)
        _check_where(self.where)
        if self.where is not None and isinstance(self.window, Session):
            raise wrong("where", self.where, "pairs of a session take no condition: filter the output")


@dataclass(frozen=True, repr=False)
class CoGroup(Join):
    """One result for each key and window with an event on either side: the left rows and the right rows.

    Parameters
    ----------
    window
        `Tumbling`, `Sliding` or `Session`.
    """

    window: Window

    def __post_init__(self) -> None:
        _check_window(self.window)


@dataclass(frozen=True, repr=False)
class IntervalJoin(Join):
    """Every pair of rows with the same key and ``left time + lower <= right time <= left time + upper``.

    Parameters
    ----------
    lower, upper
        The bounds, relative to the left row's time; negative, zero or positive. None: the join has no such bound, and
        Spark keeps rows of one side forever: the left ones without an upper bound, the right ones without a lower one.
    how
        As in `WindowJoin`.
    lower_exclusive, upper_exclusive
        Leave the bound itself out.
    where
        As in `WindowJoin`.

    Raises
    ------
    ArgumentError
        If ``lower > upper``, or one of the two is no time span.

    Examples
    --------
    >>> IntervalJoin("-2 seconds", "5 seconds")
    IntervalJoin(lower='-2 seconds', upper='5 seconds')
    >>> IntervalJoin("0 seconds", None)
    IntervalJoin(lower='0 seconds', upper=None)
    """

    lower: Span | None
    upper: Span | None
    how: How = "inner"
    lower_exclusive: bool = False
    upper_exclusive: bool = False
    where: Condition | None = None

    def __post_init__(self) -> None:
        lower = None if self.lower is None else times.parse(self.lower, "lower")
        upper = None if self.upper is None else times.parse(self.upper, "upper")
        if lower is not None and upper is not None and lower > upper:
            raise ArgumentError(
                f"lower: got {excerpt(times.text(lower))}, which is above upper, {excerpt(times.text(upper))}; "
                "swap the two, or use a lower bound at or below the upper one"
            )
        self._set("lower", lower)
        self._set("upper", upper)
        check_how(self.how)
        for name in ("lower_exclusive", "upper_exclusive"):
            _check_flag(name, getattr(self, name))
        _check_where(self.where)


@dataclass(frozen=True, repr=False)
class AsOfJoin(Join):
    """Each left row with one right row of its key, the nearest in event time: the latest version as of its time.

    Of several right rows at the same event time, the one that arrived last is meant, as it replaces those before it.
    Without late rows it is what ``pandas.merge_asof`` gives (but that of several right rows at one time, at or after
    the left row, pandas takes the first with ``forward``), whatever the order of arrival: a left row comes out when
    the watermark has passed all that could still change its partner.

    Parameters
    ----------
    direction
        ``backward``: the last right row at or before the left row's event time; ``forward``: the first at or after it;
        ``nearest``: the nearer of the two, the one before it where both are as near.
    tolerance
        How far apart the two may be at most, itself included; None: however far.
    how
        ``inner``; ``left``: left rows without partner come out too, padded with nulls.
    allow_exact
        Whether a right row at the very time of the left row is a partner.

    Raises
    ------
    ArgumentError
        If an argument is not one of these, or no row could have a partner.

    Examples
    --------
    >>> AsOfJoin(tolerance="20 seconds", how="left")
    AsOfJoin(tolerance='20 seconds', how='left')
    """

    direction: Direction = "backward"
    tolerance: Span | None = None
    how: How = "inner"
    allow_exact: bool = True

    def __post_init__(self) -> None:
        one_of("direction", self.direction, DIRECTIONS)
        one_of("how", self.how, ("inner", "left"))
        _check_flag("allow_exact", self.allow_exact)
        if self.tolerance is None:
            return
        tolerance = times.not_negative(self.tolerance, "tolerance")
        if not tolerance and not self.allow_exact:
            raise wrong("tolerance", self.tolerance, "no row has a partner with allow_exact=False; use a longer one")
        self._set("tolerance", tolerance)


@dataclass(frozen=True, repr=False)
class RulesJoin(Join):
    """Each left row with the rules that are in force and that it meets; the right stream holds the rules.

    A right row is a version of a rule, from its event time on: *field op value*, a comparison of a column of the left
    stream, such as ``temperature``, ``>`` and ``80``. The latest version of a rule is in force, unless it withdraws the
    rule. A left row comes out once for each rule in force that it meets.

    Source of the definition: Flink's broadcast state pattern,
    https://nightlies.apache.org/flink/flink-docs-stable/docs/dev/datastream/fault-tolerance/broadcast_state/

    Parameters
    ----------
    field
        The right column with the name of the left column that is compared.
    op
        The right column with the comparison: ``<``, ``<=``, ``>``, ``>=``, ``=`` or ``==``, ``!=`` or ``<>``. A rule
        with another one is met by no row.
    value
        The right column with what is compared with: a number, compared with columns of numbers, or a text, compared
        with columns of texts.
    rule
        The right column with what names the rule.
    withdrawn
        The right column with booleans: true withdraws the rule from then on. None: rules are never withdrawn.
    as_of
        ``event time``: the rules in force at the left row's event time, whatever the order of arrival; a row waits
        until the watermark has passed it. ``arrival``: those that have arrived by then, in the left row's micro-batch
        or before, the version that arrived last (of several in one micro-batch the one with the latest event time);
        nothing waits, nothing is late, and the result depends on arrival.
    copies
        None: a rule is for rows of its key. A number: it is for rows of any key; each task must see every rule, so each
        version is held in so many copies, and left rows are spread over them by their key.

    Raises
    ------
    ArgumentError
        If an argument is not one of these.

    Examples
    --------
    >>> RulesJoin(as_of="arrival")
    RulesJoin(as_of='arrival')
    """

    field: str = "field"
    op: str = "op"
    value: str = "value"
    rule: str = "rule_id"
    withdrawn: str | None = "withdrawn"
    as_of: AsOf = "event time"
    copies: int | None = None

    def __post_init__(self) -> None:
        used: dict[str, str] = {}
        for name in ("field", "op", "value", "withdrawn", "rule"):
            given = getattr(self, name)
            if name == "withdrawn" and given is None:
                continue
            if not (isinstance(given, str) and given):
                raise wrong(name, given, "give the name of a column of the right stream")
            self._set(name, plain_text(given, name))
            if given in used and not {name, used[given]} == {"rule", "field"}:
                raise wrong(name, given, f"it is the column of {used[given]}, too: name another one")
            used[given] = name
        one_of("as_of", self.as_of, AS_OF)
        if self.copies is not None:
            check_whole("copies", self.copies, most=MOST_COPIES)
            self._set("copies", operator.index(self.copies))


def _check_where(where: object) -> None:
    if where is not None and not isinstance(where, Condition):
        raise wrong("where", where, 'use a condition, such as wb.col("right_paid") < wb.col("left_amount"), or None')


def _check_flag(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise wrong(name, value, "use True or False")
