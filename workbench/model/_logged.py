"""What the logs of a job say that recorded rows alone do not: watermarks as they stood, and what there was before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from workbench.arrays import Codes, Times
from workbench.joins import Join
from workbench.literals import Policy, Side, Sides
from workbench.model._lateness import judge_and_join
from workbench.model._outcome import Outcome
from workbench.model._shared import RowFacts, Shared
from workbench.model._watermarks import LONG_AGO, Watermarks, watermarks
from workbench.spark_versions import SparkFacts
from workbench.streams import Stream, batches_with_rows
from workbench.times import micros

__all__ = ["Logged"]


@dataclass(frozen=True, eq=False)
class Logged:
    """What a job's logs say of its micro-batches.

    Attributes
    ----------
    first
        Spark's number of the first micro-batch. Rows that it held in state before the others arrive in it.
    rows
        What is known of the rows beside their keys and times.
    eviction, late
        For each micro-batch the watermark that evicts state, and the one that late rows are judged by, in microseconds.
        None: those that follow from the rows, under other settings than the job's.
    before
        Of a job whose first micro-batches are no longer kept, per side the newest event time that had come before, as
        far as the watermark of the first that is kept tells it, in microseconds.
    restarts
        The micro-batches, counted from the first, before which the query was started again, as far as the watermarks
        of the logs tell it.
    following
        The watermark of the micro-batch that would follow the last one, in microseconds; None where it is not known.
    runs_without_rows
        Whether Spark runs a micro-batch without rows where only the watermark has moved.
    """

    first: int
    rows: RowFacts
    eviction: Times | None = None
    late: Times | None = None
    before: Mapping[Side, int] = field(default_factory=dict)
    restarts: tuple[int, ...] = ()
    following: int | None = None
    runs_without_rows: bool = True

    def forgotten(self, left: Stream, right: Stream) -> Side | None:
        """The side without rows since the query was last started again, whose watermark Spark has forgotten."""
        if not self.restarts:
            return None
        for side, stream in Sides(left, right).items():
            came = batches_with_rows(stream)
            if not len(came) or came[-1] < self.restarts[-1]:
                return side
        return None

    def watermarks(
        self,
        join: Join,
        left: Stream,
        right: Stream,
        keys: tuple[Codes, Codes],
        *,
        finish: bool,
        policy: Policy,
    ) -> Watermarks:
        """The watermarks that follow from the rows under some settings, and what the logs say of the time before."""
        marks = watermarks(
            join,
            left,
            right,
            keys,
            finish=finish,
            policy=policy,
            no_more_data=finish,
            restarts=self.restarts,
            unmarked=self.rows.unmarked,
        )
        if not self.first or not self.before:
            return marks
        own = [
            self.before[side] - micros(each.watermark)
            for side, each in Sides(left, right).items()
            if side not in self.rows.unmarked
        ] or [0]
        eviction, late = marks.eviction.copy(), marks.late.copy()
        eviction[0] = max((min if policy == "min" else max)(own), 0)
        late[:1] = LONG_AGO  # rows that were in state were not late
        late[1:2] = eviction[0]
        return replace(marks, eviction=eviction, late=late)

    def outcome(
        self, join: Join, left: Stream, right: Stream, *, finish: bool, policy: Policy, spark: SparkFacts
    ) -> Outcome:
        """What the job gave, or would have given; arguments as in `workbench.model.simulate`."""
        shared = Shared(left, right, rows=self.rows)
        marks = self.watermarks(join, left, right, shared.keys, finish=finish, policy=policy)
        if self.eviction is not None and self.late is not None:
            marks = replace(marks, eviction=self.eviction, late=self.late)
        return judge_and_join(join, marks, shared, spark)
