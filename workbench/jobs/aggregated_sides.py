"""What the rows of a side are made of, where it is aggregated by windows before the join."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa

from workbench import schema
from workbench.arrays import RowNumbers, Texts
from workbench.errors import TooLargeError
from workbench.jobs import entering, repeats, replay
from workbench.jobs.catalyst import Node
from workbench.jobs.clock import Clock
from workbench.jobs.late_for_aggregation import CLOSED_IN, LATE
from workbench.jobs.repeats import OF
from workbench.jobs.sources import BATCH, PLACE
from workbench.reasons import tables
from workbench.reasons.labels import Labels
from workbench.sources import arrow
from workbench.spark_io.cause import spark_errors_as

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["BELOW", "SAME_AGGREGATES", "Aggregates"]

SAME_AGGREGATES = (
    "the aggregation below the join has under other settings the rows that it had in the job: those that it dropped as "
    "late are left out"
)
"""What is said of other settings of a join on aggregates."""
BELOW = schema.Table(
    "aggregated",
    "a row that came to the aggregation, once for each of its windows",
    (schema.BATCH,),
    (
        schema.Column("window_start", "timestamp", "the start of its window, which is part of it"),
        schema.Column("window_end", "timestamp", "the end of its window, which is not part of it"),
        schema.Column("fate", "text", "aggregated, late, open (its group has not come out yet) or removed"),
        schema.Column("reason", "text", "why, in a sentence"),
        schema.Column("row", "integer", "the row of `Job.rows` that it is part of; missing: it is part of none"),
    ),
    "the row's columns",
)
_NONE = -1
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
        TooLargeError
            If there are too many to take into memory.
        """
        with spark_errors_as("the rows below the aggregation cannot be read"):
            below, steps = replay.below(self.spark, self.plan, self.sources, self.inner, self.clock)
            rows = entering.to_arrow(below.limit(entering.MOST_ROWS + 1).sort(BATCH))
        if rows.num_rows > entering.MOST_ROWS:
            most = f"{entering.MOST_ROWS:,} rows"
            raise TooLargeError(f"more than {most} came to the aggregation of {name}, too many to list", rows.num_rows)
        table, zones = arrow.spark_ready(rows.drop_columns([n for n in _OURS if n in rows.column_names]), name)
        own = [column for column in table.column_names if column not in replay.WINDOW]
        found = arrow.to_pandas(table, zones).rename(columns=tables.renamed(own, BELOW.names))
        left_at, words = _left_at(rows, steps)
        batch = rows.column(BATCH).to_numpy()
        late = rows.column(LATE).to_numpy(zero_copy_only=False).astype(bool)
        closed_in = rows.column(CLOSED_IN).fill_null(-1).to_numpy()
        is_in = closed_in >= 0
        fate = np.select([left_at >= 0, late, is_in], ["removed", "late", "aggregated"], "open")
        found.insert(0, schema.BATCH.name, batch)
        found["fate"] = fate
        facts = pd.DataFrame({"fate": fate, "step": left_at, "closed_in": closed_in, "end": _NONE, "mark": _NONE})
        by_time = late | (fate == "open")
        facts.loc[by_time, "end"] = rows.column("window_end").cast(pa.int64()).to_numpy()[by_time]
        facts.loc[late, "mark"] = self.clock.late[batch[late] - self.clock.first]
        found["reason"] = _reasons(facts, words, labels, int(self.clock.eviction[-1]))
        found["row"] = self._rows_of(rows.column(PLACE).to_numpy(), first).where(is_in & (left_at < 0))
        return tables.stack([found], BELOW)

    def _rows_of(self, places: RowNumbers, first: int) -> pd.Series[int]:
        """The rows of `Job.rows` at some places; missing where there is none, as of a key that was not taken."""
        rows = pd.Series(np.arange(first, first + len(self.places)), index=self.places, dtype="Int64")
        return rows[~rows.index.duplicated()].reindex(places).reset_index(drop=True)


def _reasons(facts: pd.DataFrame, steps: tuple[str, ...], labels: Labels, last: int) -> Texts:
    """Why each row fared as it did, in a sentence: equal facts have one."""
    columns = list(facts)
    number = facts.groupby(columns, sort=False).ngroup().to_numpy()

    def reason(fate: str, step: int, closed_in: int, end: int, mark: int) -> str:
        if fate == "removed":
            return f"{steps[step]} removes it before it reaches the aggregation"
        if fate == "aggregated":
            return f"in a group that came out in micro-batch {closed_in:,}"
        ends = f"its window ends at {labels.moment(end)}"
        if fate == "late":
            return f"late for the aggregation: {ends}, and the watermark was {labels.moment(mark)}"
        return f"in a group that has not come out yet: {ends}, and the watermark is {labels.moment(last)}"

    texts = [reason(*each) for each in facts.drop_duplicates().itertuples(index=False, name=None)]
    return np.array(texts, dtype=object)[number] if texts else np.array([], dtype=object)


def _left_at(rows: pa.Table, steps: replay.Steps) -> tuple[RowNumbers, tuple[str, ...]]:
    """For each row the number of the step that took it out, or -1; and the steps, in words."""
    left_at = rows.column(replay.LEFT_AT).fill_null(-1).to_numpy().astype(np.int64)
    if not steps.of_others:
        return left_at, tuple(steps.words)
    own = zip(rows.column("window_end").cast(pa.int64()).to_pylist(), rows.column(BATCH).to_pylist(), strict=True)
    return repeats.told(left_at, steps.words, rows.column(OF).to_pylist(), list(own))
