"""`Simulation`: two recorded streams, a join and its settings, with what the model says of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from workbench import spark_versions
from workbench.arrays import Counts, Flags, RowNumbers, Times
from workbench.errors import one_of, wrong
from workbench.joins import Join, without_where
from workbench.kinds import kind_of, part_of
from workbench.literals import Policy, Side, Sides
from workbench.model import _fates
from workbench.model._ahead import Ahead, ahead
from workbench.model._flink import FlinkRules
from workbench.model._lateness import simulate
from workbench.model._logged import Logged
from workbench.model._outcome import Outcome
from workbench.model._shared import RowFacts, Shared, asked_of_pairs
from workbench.model._watermarks import watermarks
from workbench.model.own_meeting import Condition, Meeting
from workbench.streams import ROW, SIDES, Stream, some_rows
from workbench.untyped import Value

if TYPE_CHECKING:
    import pandas as pd


def is_index(value: Value, count: int) -> bool:
    """Whether a value is a whole number, Python's or NumPy's, from 0 to below `count`."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)
    return whole and bool(0 <= value < count)


def checked_batch(batch: Value, count: int, first: int = 0) -> int:
    """An argument ``batch``, if it is one of so many micro-batches, those that Spark adds among them; counted from 0.

    Parameters
    ----------
    batch
        The argument: Spark's number.
    count
        How many there are.
    first
        Spark's number of the first.

    Raises
    ------
    ArgumentError
        If there is no such micro-batch.
    """
    if not is_index(batch, first + count) or batch < first:
        raise wrong("batch", batch, f"this run has micro-batches {first} to {first + count - 1}")
    return int(batch) - first


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """Two recorded streams, a join and its settings; what the model says of them is computed once, when asked for.

    Attributes
    ----------
    join, left, right, finish, policy
        As in `workbench.run`.
    ended
        Whether Spark runs the query to its end. A live query has not yet run the micro-batch without data that Spark
        adds when no more rows come.
    spark_version
        The version of Spark that the model stands for: that of the session that runs the query, or, without one, of the
        PySpark that is installed.
    logged
        Of a job that was opened, what is known of its rows and micro-batches; None of recorded streams.
    flink
        The rules of Flink by which the rows are judged; None: those of Spark.
    """

    join: Join
    left: Stream
    right: Stream
    finish: bool = True
    policy: Policy = "min"
    ended: bool = True
    spark_version: str = field(default_factory=spark_versions.installed)
    logged: Logged | None = None
    flink: FlinkRules | None = None

    @cached_property
    def outcome(self) -> Outcome:
        """What the query must give."""
        if self.flink is not None:
            return self.flink.outcome(self.join, self.left, self.right)
        spark = spark_versions.facts(self.spark_version)
        if self.logged is not None:
            return self.logged.outcome(
                self.join, self.left, self.right, finish=self.finish, policy=self.policy, spark=spark
            )
        return simulate(
            self.join,
            self.left,
            self.right,
            finish=self.finish,
            policy=self.policy,
            no_more_data=self.ended,
            spark=spark,
        )

    @cached_property
    def fates(self) -> dict[Side, pd.DataFrame]:
        """Each row's fate, as `Run.fates` documents it."""
        found = _fates.fates(self.outcome)
        for side, table in found.items():  # what is removed before the join may have no key, or never get one
            table.loc[self._removed(side) & (table["fate"] == "null_key").to_numpy(), "fate"] = "unmatched"
        return found

    def _removed(self, side: Side) -> Flags:
        """The rows that an operator of the job is known to remove before the join."""
        gone, failing = self.facts.gone, self.facts.failing
        found = np.zeros(len(self.side(side)), dtype=bool) if gone is None else gone[side].rows
        return found if failing is None else found | failing[side]

    @cached_property
    def refused(self) -> dict[Side, Counts]:
        """For each row how many others are in reach with which it fails what else a job's join asks for."""
        counts = {side: np.zeros(len(self.side(side)), dtype=np.int64) for side in SIDES}
        if self.where is None:
            return counts
        refused = ~self.satisfied
        return {
            side: np.bincount(each[refused], minlength=len(counts[side]))
            for side, each in Sides(*self.in_reach).items()
        }

    @property
    def micro_batches(self) -> int:
        """How many recorded micro-batches there are."""
        return max(self.left.batch_count, self.right.batch_count)

    @property
    def first(self) -> int:
        """Spark's number of the first micro-batch."""
        return 0 if self.logged is None else self.logged.first

    @cached_property
    def in_reach(self) -> list[RowNumbers]:
        """The left and the right row of each pair in reach, whether it satisfies what the join asks for or not.

        Of a kind with a `Meeting`: of the rows that are on time.
        """
        if (meeting := part_of(self.join, Meeting)) is not None:
            assignments = self.outcome.assignments
            places = meeting.in_reach(self.join, assignments)
        else:
            shared, join = Shared(self.left, self.right, self.outcome.keys), without_where(self.join)
            assignments = {side: shared.assignments(join, side) for side in SIDES}
            places = shared.matches(join)
        return [assignments[side]["row"].to_numpy()[place] for side, place in Sides(*places).items()]

    @cached_property
    def satisfied(self) -> Any:
        """Which of the pairs in reach satisfy what the join asks for beside equal keys and times."""
        where, pairs = self.where, self.in_reach
        return np.ones(len(pairs[0]), dtype=bool) if where is None else where(*pairs)

    @property
    def keyed(self) -> bool:
        """Whether rows meet others of their key only; where all right rows are copied they meet those of any key."""
        return kind_of(self.join).right_copies(self.join) is None

    @cached_property
    def ahead(self) -> Ahead | None:
        """The few rows that are far ahead of all others; None: there are none."""
        return None if self.flink is not None else ahead(self.left, self.right)

    @cached_property
    def late_without_ahead(self) -> Times:
        """For each micro-batch the watermark that late rows would be judged by without the rows that are `ahead`."""
        marks = self.outcome.marks
        if self.ahead is None:
            return marks.late
        gone = self.ahead.rows
        kept = {side: np.delete(np.arange(len(self.side(side))), gone[side]) for side in SIDES}
        left, right = (
            replace(some_rows(self.side(side), kept[side]), newest=None, newest_keyed=None) for side in SIDES
        )
        one, other = (each[kept[side]] for each, side in zip(self.outcome.keys, SIDES, strict=True))
        return watermarks(self.join, left, right, (one, other), False, self.policy, False).late

    @property
    def forgotten(self) -> Side | None:
        """The side of a job without rows since its query was started again, as far as the logs tell a restart."""
        return None if self.logged is None else self.logged.forgotten(self.left, self.right)

    @property
    def facts(self) -> RowFacts:
        """What is known of the rows beside their keys and times."""
        return RowFacts() if self.logged is None else self.logged.rows

    @property
    def where(self) -> Condition | None:
        """What pairs must satisfy beside equal keys and times; None: nothing."""
        return asked_of_pairs(self.join, self.left, self.right, self.facts.under(self.join).asked)

    @property
    def names(self) -> tuple[str, str]:
        """The names of the left and the right stream."""
        return self.left.name, self.right.name

    @property
    def windowed(self) -> bool:
        """Whether the join has windows."""
        return kind_of(self.join).windowed

    @property
    def zone(self) -> str | None:
        """The time zone that windows and watermarks are shown in: that of the left event times; None: naive, in UTC."""
        return self.left.zones.get(self.left.time)

    def side(self, name: Side) -> Stream:
        """The stream of a side, ``"left"`` or ``"right"``."""
        one_of("name", name, SIDES)
        return self.left if name == "left" else self.right

    def numbered(self, side: Side) -> pa.Table:
        """A side's rows with their numbers in column ``__row``."""
        stream = self.side(side)
        return stream.table.append_column(ROW, pa.array(np.arange(len(stream)), pa.int64()))
