"""What the rows of a side are made of, where it is aggregated by windows before the join."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa

from workbench import schema
from workbench.arrays import RowNumbers
from workbench.jobs import entering, repeats, replay
from workbench.jobs.aggregating import CLOSED_IN, LATE
from workbench.jobs.catalyst import Node
from workbench.jobs.clock import Clock
from workbench.jobs.repeats import OF
from workbench.jobs.sources import BATCH, PLACE
from workbench.reasons import tables
from workbench.reasons.labels import Labels
from workbench.sources import arrow
from workbench.spark_io.cause import spark_errors_as

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["BELOW", "Aggregates"]

_ROW = schema.Column("row", "integer", "the row of `Job.rows` that it is part of; missing: it is part of none")
BELOW = schema.Table(
    "aggregated",
    "a row that came to the aggregation, once for each of its windows",
    (schema.BATCH,),
    (
        schema.Column("window_start", "timestamp", "the start of its window, which is part of it"),
        schema.Column("window_end", "timestamp", "the end of its window, which is not part of it"),
        schema.Column("fate", "text", "aggregated, late, open (its group has not come out yet) or removed"),
        schema.Column("reason", "text", "why, in a sentence"),
        _ROW,
    ),
    "the row's columns",
)
_OURS = (BATCH, PLACE, OF, LATE, CLOSED_IN, replay.LEFT_AT, replay.TIME)


@dataclass(frozen=True, eq=False, repr=False)
class Aggregates:
    """What the rows of a side are made of, which Spark is asked for when it is needed.

    Attributes
    ----------
    spark
        The session that reads.
    plan
        The side in the plan.
    sources, inner, clock
        As `workbench.jobs.replay.below` takes them.
    places
        For each row of the side its `PLACE`; the last ones of these, where some were in state before.
    """

    spark: SparkSession
    plan: Node
    sources: Mapping[frozenset[int], DataFrame]
    inner: Mapping[Node, DataFrame]
    clock: Clock
    places: RowNumbers

    @cached_property
    def _rows(self) -> tuple[pa.Table, replay.Steps]:
        with spark_errors_as("the rows below the aggregation cannot be read"):
            rows, steps = replay.below(self.spark, self.plan, self.sources, self.inner, self.clock)
            return entering.to_arrow(rows.sort(BATCH)), steps

    def table(self, labels: Labels, first: int, name: str) -> pd.DataFrame:
        """The rows as `BELOW` describes them.

        Parameters
        ----------
        labels
            How times are written.
        first
            The row of `Job.rows` of the first of `places`.
        name
            What the side is called.

        Raises
        ------
        QueryError
            If Spark fails to read them.
        """
        rows, steps = self._rows
        table, zones = arrow.spark_ready(rows.drop_columns([n for n in _OURS if n in rows.column_names]), name)
        own = [column for column in table.column_names if column not in replay.WINDOW]
        found = arrow.to_pandas(table, zones).rename(columns=tables.renamed(own, BELOW.names))
        end = rows.column("window_end").cast(pa.int64()).to_pylist()
        batch = rows.column(BATCH).to_numpy()
        left_at, words = self._left_at(rows, steps)
        late = rows.column(LATE).to_numpy(zero_copy_only=False).astype(bool)
        closed_in = rows.column(CLOSED_IN).fill_null(-1).to_numpy()
        place = pd.Series(np.arange(len(self.places)), index=self.places)
        place = place[~place.index.duplicated()]
        of = place.reindex(rows.column(PLACE).to_numpy()).to_numpy()
        is_in = closed_in >= 0
        found.insert(0, schema.BATCH.name, batch)
        found["fate"] = np.select([left_at >= 0, late, is_in], ["removed", "late", "aggregated"], "open")
        marks = np.array(self.clock.late, dtype=np.int64)[batch - self.clock.first].tolist()
        last = labels.moment(int(self.clock.eviction[-1]))

        def reason(row: int) -> str:
            if left_at[row] >= 0:
                return f"{words[left_at[row]]} removes it before it reaches the aggregation"
            ends = f"its window ends at {labels.moment(end[row])}"
            if late[row]:
                return f"late for the aggregation: {ends}, and the watermark was {labels.moment(marks[row])}"
            if is_in[row]:
                return f"in a group that came out in micro-batch {closed_in[row]:,}"
            return f"in a group that has not come out yet: {ends}, and the watermark is {last}"

        found["reason"] = [reason(row) for row in range(len(found))]
        rows_of = pd.Series(of, dtype="Float64").astype("Int64") + first
        found["row"] = rows_of.where(is_in & (left_at < 0))
        return tables.stack([found], BELOW)

    @staticmethod
    def _left_at(rows: pa.Table, steps: replay.Steps) -> tuple[RowNumbers, tuple[str, ...]]:
        """For each row the number of the step that took it out, or -1; and the steps, in words."""
        left_at = rows.column(replay.LEFT_AT).fill_null(-1).to_numpy().astype(np.int64)
        if not steps.of_others:
            return left_at, tuple(steps.words)
        own = zip(rows.column("window_end").cast(pa.int64()).to_pylist(), rows.column(BATCH).to_pylist(), strict=True)
        return repeats.told(left_at, steps.words, rows.column(OF).to_pylist(), list(own))
