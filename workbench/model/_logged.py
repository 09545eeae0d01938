"""What the logs of a job say that recorded rows alone do not: watermarks as they stood, and what there was before."""

from __future__ import annotations

from dataclasses import dataclass, replace

from workbench.joins import Join
from workbench.kinds import Micros
from workbench.literals import Policy
from workbench.model._outcome import Outcome
from workbench.model._shared import RowFacts, Shared
from workbench.model._simulate import replay
from workbench.model._watermarks import watermarks
from workbench.spark_versions import SparkFacts
from workbench.streams import Stream

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
    """

    first: int
    rows: RowFacts
    eviction: Micros | None = None
    late: Micros | None = None

    def outcome(
        self, join: Join, left: Stream, right: Stream, *, finish: bool, policy: Policy, spark: SparkFacts
    ) -> Outcome:
        """What the job gave, or would have given; arguments as in `workbench.model.simulate`."""
        shared = Shared(left, right, rows=self.rows)
        marks = watermarks(join, left, right, shared.keys, finish=finish, policy=policy, no_more_data=finish)
        if self.eviction is not None and self.late is not None:
            marks = replace(marks, eviction=self.eviction, late=self.late)
        return replay(join, marks, shared, spark)
