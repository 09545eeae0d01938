"""`Shared`: what runs of the same rows under several settings have in common."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from workbench.arrays import Codes, RowNumbers, Times
from workbench.joins import Join, how_of, where_of
from workbench.kinds import kind_of, part_of
from workbench.literals import SIDES, Side, Sides
from workbench.model.conditions import OfPairs
from workbench.model.keys_and_pairs import key_codes, matches
from workbench.model.own_meeting import Condition, Failed, Meeting
from workbench.streams import Stream


@dataclass(frozen=True)
class _Renumbered:
    """A condition of pairs of some rows only, which are given by their numbers among these."""

    whole: Condition
    left: RowNumbers
    right: RowNumbers

    @property
    def text(self) -> str:
        return self.whole.text

    def __call__(self, left: RowNumbers, right: RowNumbers) -> Any:
        return self.whole(self.left[left], self.right[right])

    def failed(self, left: RowNumbers, right: RowNumbers) -> Sequence[Sequence[Failed]]:
        return self.whole.failed(self.left[left], self.right[right])


@dataclass(frozen=True)
class _Both:
    """Two conditions at once."""

    one: Condition
    other: Condition

    @property
    def text(self) -> str:
        return f"{self.one.text} and {self.other.text}"

    def __call__(self, left: RowNumbers, right: RowNumbers) -> Any:
        return self.one(left, right) & self.other(left, right)

    def failed(self, left: RowNumbers, right: RowNumbers) -> Sequence[Sequence[Failed]]:
        both = zip(self.one.failed(left, right), self.other.failed(left, right), strict=True)
        return [[*one, *other] for one, other in both]


def asked_of_pairs(join: Join, left: Stream, right: Stream, more: Condition | None = None) -> Condition | None:
    """What a join asks of the pairs of two streams, and what `more` asks; None: nothing."""
    if (meeting := part_of(join, Meeting)) is not None:
        return meeting.condition(join, left, right)
    where = where_of(join)
    if where is None:
        return more
    own = OfPairs(where, left, right)
    return own if more is None else _Both(own, more)


Flags = Mapping[Side, Any]
"""Per side an array of booleans, one a row."""


@dataclass(frozen=True, eq=False)
class Gone:
    """Which rows of a side left on their way into the join.

    Attributes
    ----------
    at
        For each row the number of the step that took it out; -1 of one that came to the join.
    steps
        The steps, in words, such as ``the filter (amount > 20)``.
    """

    at: Times
    steps: tuple[str, ...]

    @property
    def rows(self) -> Any:
        """Whether each row left."""
        return self.at >= 0

    def of(self, rows: RowNumbers) -> Gone:
        """The same of some of the rows."""
        return replace(self, at=self.at[rows])


@dataclass(frozen=True, eq=False)
class Above:
    """An aggregation above a join, by tumbling windows of an event time of its rows, which drops late pairs.

    Attributes
    ----------
    side
        The side whose event time it is.
    size, offset
        Of the windows, in microseconds.
    late
        For each micro-batch the watermark by which its late rows are judged, in microseconds.
    """

    side: Side
    size: int
    offset: int
    late: Times

    def ends(self, moments: Times) -> Times:
        """When the windows of some event times end."""
        return moments - (moments - self.offset) % self.size + self.size


@dataclass(frozen=True)
class Numbers:
    """Bounds of event times that a job's condition compares as whole numbers, and that Spark may derive nothing from.

    Attributes
    ----------
    low, high
        The least and the greatest difference of the right number and the left one, in microseconds; None: any.
    unit
        What the numbers count, in microseconds.
    interval
        The same bounds as a condition of times, as SQL.
    """

    low: int | None
    high: int | None
    unit: int
    interval: str

    @property
    def unit_in_words(self) -> str:
        """What the numbers count."""
        return "milliseconds" if self.unit == 1_000 else "seconds"

    def within(self, side: Side, moment: int) -> tuple[int | None, int | None]:
        """From when to when, in whole units, rows of the other side may meet a row."""
        low, high = (self.low, self.high) if side == "left" else (_negative(self.high), _negative(self.low))
        start = moment // self.unit * self.unit
        return None if low is None else start + low, None if high is None else start + high


def _negative(span: int | None) -> int | None:
    return None if span is None else -span


@dataclass(frozen=True, eq=False)
class RowFacts:
    """What is known of the rows of a job beside their keys and times.

    Attributes
    ----------
    where
        Which of some pairs satisfy what the join asks for beside equal keys and times; None: all do.
    met
        The rows that had met others which are not among the rows any more; None: there are none.
    filtered
        The rows that are filtered out before they reach the join, and move no watermark; None: those with null keys, as
        the kind of join says.
    unfit
        The rows that fail what an outer join asks of their side alone: they come out padded at once, and are never
        stored; None: there are none.
    nulls_meet
        Whether Spark pairs rows with null keys, as in a full outer join that does not keep them apart.
    retention
        Per side of an interval join how far behind the watermark, in microseconds, rows leave the state, as Spark
        derives it from how the condition is written; of a side without one it derives none, and its rows stay forever.
        None: as the kind of join says.
    exact, slack
        Under the job's own join, whose bounds mean another number of hours when clocks change: which of some pairs are
        within them, and how far beyond them by hours, in microseconds, such pairs may be. None: the bounds say it.
    evicts_with_data
        Whether rows leave the state in micro-batches with rows only.
    join
        The job's join, if that is known.
    gone
        The rows that left on their way into the join, under whatever settings, and what took each out; None: none did.
    untimed
        Per side the keys, as text, of rows that are not among the rows for their event time, and what that is, such as
        ``without an event time``.
    unmarked
        The sides without a watermark.
    undelayed
        The sides whose watermark delay, were it longer, would keep no row: they have no watermark, or come out of
        another join, or the greatest watermark of the streams of several joins counts.
    never_late
        The sides whose rows Spark never drops as late, as no event time of theirs enters the join that it runs.
    failing, filters
        The rows that fail a filter of the job which Spark runs before the join, and per side this filter, in words; of
        other filtered rows it is not known what left them out.
    required
        Per side the columns that are null in none of the rows that reach the join, as its condition is never true
        where one is.
    aggregated
        Whether rows of a side are aggregates, which other settings would make of other rows: no fix is looked for.
    is_stand_in
        Whether the join stands for one that was not understood, so that only late rows are known, and no partners.
    above
        The aggregation that the pairs come to; None: there is none that is known.
    numbers
        The bounds of event times as numbers under the job's own join; None: it compares none so.
    of_one_source
        Whether both sides read the same source, each perhaps with other columns: where their keys and times are equal,
        row by row, a stream is joined with itself.
    of_one_watermark
        Whether one watermark is that of both sides, so that a row of either moves it.
    beside_others
        Whether the query has more watermarks than one of each side, as a chain of joins and a union of streams have,
        from all of which its own follows.
    """

    where: Condition | None = None
    met: Flags | None = None
    filtered: Flags | None = None
    unfit: Flags | None = None
    nulls_meet: bool = False
    retention: Mapping[Side, int] | None = None
    exact: Condition | None = None
    slack: int = 0
    evicts_with_data: bool = False
    join: Join | None = None
    gone: Mapping[Side, Gone] | None = None
    untimed: Mapping[Side, Mapping[str, str]] = field(default_factory=dict)
    unmarked: frozenset[Side] = frozenset()
    undelayed: frozenset[Side] = frozenset()
    never_late: frozenset[Side] = frozenset()
    failing: Flags | None = None
    filters: Mapping[Side, str] = field(default_factory=dict)
    required: Mapping[Side, Sequence[str]] = field(default_factory=dict)
    aggregated: bool = False
    is_stand_in: bool = False
    above: Above | None = None
    numbers: Numbers | None = None
    of_one_source: bool = False
    of_one_watermark: bool = False
    beside_others: bool = False

    @property
    def evicts_early(self) -> bool:
        """Whether a row may leave the state before all rows have come that the job's condition pairs with it."""
        return self.retention is not None and (self.numbers is not None or self.exact is not None)

    @property
    def asked(self) -> Condition | None:
        """What pairs must satisfy beside equal keys and the bounds as the model has them; None: nothing."""
        if self.where is None or self.exact is None:
            return self.where if self.exact is None else self.exact
        return _Both(self.exact, self.where)

    def fails_from(self, side: Side, stream: Stream, batch: int) -> bool:
        """Whether rows of a side that came in a micro-batch or after it fail a filter of the job."""
        return self.failing is not None and bool((self.failing[side] & (stream.arrival >= batch)).any())

    def under(self, join: Join) -> RowFacts:
        """What of it holds under another join than the job's own, for which it was found out.

        What becomes of rows on their way to the join, and its condition, hold under every join. Which rows Spark
        filters follows from ``how`` and the operator, so `filtered` and `unfit` hold where these are the same. What
        follows from the condition's bounds (`retention`, `exact`, `slack`, `numbers`) and what stands above the join
        hold of the job's own only.
        """
        if self.join is None or join == self.join:
            return self
        if how_of(join) == how_of(self.join) and kind_of(join).operator is kind_of(self.join).operator:
            return replace(self, retention=None, exact=None, slack=0, above=None, numbers=None)
        return RowFacts(
            self.where,
            self.met,
            gone=self.gone,
            untimed=self.untimed,
            unmarked=self.unmarked,
            undelayed=self.undelayed,
            never_late=self.never_late,
            beside_others=self.beside_others,
        )

    def of(self, rows: Mapping[Side, RowNumbers]) -> RowFacts:
        """The same of some of the rows, which are numbered anew in the order in which they are given."""

        def some(flags: Flags | None) -> Flags | None:
            return None if flags is None else {side: flags[side][rows[side]] for side in SIDES}

        where = None if self.where is None else _Renumbered(self.where, rows["left"], rows["right"])
        gone = None if self.gone is None else {side: each.of(rows[side]) for side, each in self.gone.items()}
        exact = None if self.exact is None else _Renumbered(self.exact, rows["left"], rows["right"])
        met, filtered, unfit = (some(each) for each in (self.met, self.filtered, self.unfit))
        failing = some(self.failing)
        found = replace(self, where=where, exact=exact, met=met, filtered=filtered, unfit=unfit, gone=gone)
        return replace(found, failing=failing)


class Shared:
    """What runs of the same rows under several settings have in common, computed once.

    Parameters
    ----------
    left, right
        The streams; their watermark delays do not matter here.
    keys
        As `key_codes` gives them, where they are known already.
    rows
        What is known of the rows beside their keys and times.
    unit
        How fine event times are taken, in microseconds: what is finer is cut off.

    Attributes
    ----------
    keys
        As `key_codes` gives them.
    """

    def __init__(
        self,
        left: Stream,
        right: Stream,
        keys: tuple[Codes, Codes] | None = None,
        rows: RowFacts | None = None,
        unit: int = 1,
    ) -> None:
        self._unit = unit
        self._streams = Sides(left, right)
        self.rows = RowFacts() if rows is None else rows
        self.keys = key_codes(left, right) if keys is None else keys
        self._assignments: dict[tuple[Hashable, str], pd.DataFrame] = {}
        self._matches: dict[object, tuple[RowNumbers, RowNumbers]] = {}

    @property
    def streams(self) -> tuple[Stream, Stream]:
        """The left and the right stream."""
        return self._streams["left"], self._streams["right"]

    def assignments(self, join: Join, side: Side) -> pd.DataFrame:
        """The assignments of a side in the join's windows, with ``batch`` and ``key``."""
        kind = kind_of(join)
        nulls_meet = self.rows.under(join).nulls_meet
        what = kind.assignment(join), nulls_meet
        if (what, side) not in self._assignments:
            stream = self._streams[side]
            key = self.keys_of(join)[SIDES.index(side)]
            if nulls_meet:
                key = np.where(key < 0, -1 - key, key)
            moments = stream.event_times
            mine = kind.assign(join, moments if self._unit == 1 else moments // self._unit * self._unit)
            row = mine["row"].to_numpy()
            columns = {name: mine[name].to_numpy() for name in mine}
            once = len(row) == len(key) and bool((row == np.arange(len(row))).all())  # then nothing is copied
            columns |= {name: each if once else each[row] for name, each in (("batch", stream.arrival), ("key", key))}
            if side == "right" and (meeting := part_of(join, Meeting)) is not None:
                columns |= meeting.columns(join, stream)
            self._assignments[what, side] = pd.DataFrame(columns, copy=False)
        return self._assignments[what, side]

    def keys_of(self, join: Join) -> tuple[Codes, Codes]:
        """The keys of both sides under a join: all the same where rows meet those of any key."""
        if kind_of(join).right_copies(join) is None:
            return self.keys
        left, right = (np.zeros(len(each), dtype=np.int64) for each in self.keys)
        return left, right

    def named(self, code: int) -> str:
        """A key in words, by its code."""
        for side, codes in Sides(*self.keys).items():
            rows = np.flatnonzero(codes == code)
            if len(rows):
                stream = self._streams[side]
                values = [stream.table.column(key)[int(rows[0])].as_py() for key in stream.key]
                return repr(values[0] if len(values) == 1 else values)
        return "null"

    def matches(self, join: Join) -> tuple[RowNumbers, RowNumbers]:
        """The pairs by definition, as places in the assignments."""
        kind = kind_of(join)
        what = kind.assignment(join), kind.bounds(join), self.rows.under(join).nulls_meet, where_of(join)
        if what not in self._matches:
            left, right = (self.assignments(join, side) for side in SIDES)
            if (meeting := part_of(join, Meeting)) is None:
                one, other = matches(join, left, right, self.named, self.rows.under(join).slack)
            else:
                one, other = meeting.pairs(join, left, right)
            where = self.where(join)
            if where is not None:
                kept = where(left["row"].to_numpy()[one], right["row"].to_numpy()[other])
                one, other = one[kept], other[kept]
            self._matches[what] = one, other
        return self._matches[what]

    def where(self, join: Join) -> Condition | None:
        """What pairs must satisfy beside equal keys and times; None: nothing."""
        return asked_of_pairs(join, self._streams["left"], self._streams["right"], self.rows.under(join).asked)
