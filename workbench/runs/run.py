"""`Run`: the result of a query on Spark, as pandas frames with documented columns."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import safe_files, schema
from workbench.counts import counted
from workbench.engine import partitions, pruning, savepoint, state_reader
from workbench.engine.execution import Execution
from workbench.errors import check_whole, wrong
from workbench.kinds import kind_of
from workbench.model import checked_batch
from workbench.reasons import tables
from workbench.runs import holding, verification
from workbench.runs.result import Result
from workbench.runs.saved import Saved
from workbench.sources.arrow import AFTER_ALL
from workbench.spark_io.cause import spark_errors_as

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["MOST_PARTITIONS", "Run"]

_NOT_ASKED = "Spark could not be asked"
MOST_PARTITIONS = 100_000
"""Partitions that keys are placed on at most."""


@dataclass(frozen=True, eq=False, repr=False)
class Run(Result):
    """The result of a query on Spark. Made by `workbench.run`, and by a live query for what it has done so far.

    Attributes
    ----------
    execution
        What Spark reported and wrote.
    """

    execution: Execution

    def __repr__(self) -> str:
        verified = self.__dict__.get("_verified")  # nothing is computed to be shown
        if verified is None or isinstance(verified, Exception):
            differ = "; not compared with the workbench's model"
        else:
            differ = "; the workbench's model and Spark differ, see .comparison" if len(self.mismatches) else ""
        out = counted(sum(self.execution.output_counts.values()), "row")
        return f"<Run{self._called()} of {self.join} on {self.left.name} and {self.right.name}: {out} out{differ}>"

    def _to_save(self) -> Saved:
        compared = None if isinstance(self._verified, Exception) else self._verified
        if compared is None or self.execution.is_loaded:
            return Saved(self.simulation, self.name, self.execution)
        of_state = [each for each in compared.to_dict("records") if each["what"] == verification.STATE]
        return Saved(self.simulation, self.name, replace(self.execution, compared_state=of_state[0]))

    @cached_property
    def raw_output(self) -> pa.Table:
        """The output as Spark wrote it; of a large run Spark wrote row numbers, and the columns are added here."""
        raw = self.execution.raw_output
        return pruning.widened(raw, self.simulation) if self.execution.pruned else raw

    @cached_property
    def _batches(self) -> pd.DataFrame:
        return tables.batches(self.simulation, self.execution)

    @property
    @schema.described(schema.COMPARISON)
    def comparison(self) -> pd.DataFrame:
        """What the model says of this run, verified against what Spark did.

        Reasons and previews come from the model, so a difference is a bug of the
        workbench; please save it with `save_report` and report it. Of a run that was loaded, all is compared again but
        what was in state, which is listed as it was compared when the run was saved.

        It is computed once; where that failed, the same error is raised again. `compare` tries anew.
        """
        if isinstance(self._verified, Exception):
            raise self._verified
        return tables.handed_out(self._verified)

    @cached_property
    def _verified(self) -> pd.DataFrame | Exception:
        """The comparison, or why there is none: the page asks for it each time it shows the run."""
        try:
            return self.compare(every_state=False)
        except Exception as error:  # noqa: BLE001 - raised wherever the comparison is asked for
            return error

    def compare(self, *, every_state: bool = True) -> pd.DataFrame:
        """The table `comparison`, with the state after every micro-batch.

        Parameters
        ----------
        every_state
            Read the state after every micro-batch with Spark's state data source, but for those with more than
            50,000 rows in state; else after three of them: the one
            with the most rows, the one half-way, the last; and after none where more than 200,000 rows arrived. (How
            many rows are held is compared after all of them.)

        Raises
        ------
        WorkbenchError
            If the run was loaded, and the state is to be read.
        """
        if not isinstance(every_state, bool):
            raise wrong("every_state", every_state, "use True or False")
        return verification.compare(self.simulation, self.execution, self._batches, every_state)

    @property
    def mismatches(self) -> pd.DataFrame:
        """The rows of `comparison` in which model and Spark differ; empty, unless the workbench has a bug."""
        comparison = self.comparison
        return comparison[comparison["differences"] > 0]

    @property
    def mismatch(self) -> str:
        """A sentence to show where there are `mismatches`; empty where model and Spark agree."""
        if not len(self.mismatches):
            return ""
        return (
            "the workbench's model and Spark differ on this run, so its reasons may be wrong: see run.comparison, and "
            "please report it with what run.save_report(folder) saves"
        )

    def save_report(self, path: str | os.PathLike[str]) -> Path:
        """Save the recording, settings, comparison and script of this run in a folder, to report a mismatch.

        Raises
        ------
        ArgumentError
            If the folder holds something else.
        """
        return verification.save_report(self.simulation, self.comparison, self.script, safe_files.place(path))

    @schema.described(schema.STATE)
    def state(self, batch: int, key: object = None) -> pd.DataFrame:
        """What Spark held in state after a micro-batch, read back from its checkpoint.

        Spark keeps the rows of a session or a coGroup together, as one, which is what ``state_rows`` of `batches`
        counts; here each stands by itself.

        Parameters
        ----------
        batch
            A micro-batch of `batches`.
        key
            The key whose rows are wanted, as `Result.state_changes` takes it; None: all.

        Raises
        ------
        ArgumentError
            If there is no such micro-batch, or no row of the streams has such a key.
        WorkbenchError
            If the run was loaded: a saved run has no checkpoint.
        """
        return holding.of_rows(self.simulation, *self._held(batch), None if key is None else self._rows_of(key))

    def timers(self, batch: int) -> pd.DataFrame:
        """The timers on event time that are set after a micro-batch, read back from the checkpoint.

        Parameters
        ----------
        batch
            A micro-batch of `batches`.

        Returns
        -------
        pandas.DataFrame
            In the order in which they fire: the columns of the key, under the left stream's names (or the ``copy`` of
            rules for rows of any key), and ``fires_at``,
            the watermark that makes it fire; missing where it fires only when the input ends.

        Raises
        ------
        ArgumentError
            If the join has none: only an `AsOfJoin` without tolerance, a `RulesJoin` by event time and a `Pattern`
            have timers.
        """
        batch = checked_batch(batch, len(self.execution.progress))
        if not kind_of(self.join).operator.has_timers:
            raise wrong("batch", batch, f"{self.join} has no timers")
        with spark_errors_as("the timers could not be read"):
            found = state_reader.timers(self.simulation, self.execution, batch)
        far = found["fires_at"] >= AFTER_ALL.value // 1_000_000
        moments = tables.moments(found["fires_at"].where(~far, 0) * 1000, self.simulation.zone)
        return found.assign(fires_at=moments.where(~far))

    def state_by_key(self, batch: int, most: int = 10) -> pd.DataFrame:
        """The keys that take most of the state after a micro-batch, and what holds them there.

        Parameters
        ----------
        batch
            A micro-batch of `batches`.
        most
            How many keys are listed.

        Returns
        -------
        pandas.DataFrame
            Columns: ``key`` (as text), ``rows``, ``left``, ``right`` (how many of them are of either side), ``since``
            (the micro-batch that the oldest came in), ``leaves_at`` (the watermark with which the last one leaves;
            missing if there is none), ``state_bytes``, ``share`` (of the state), ``held_by`` (what holds the last one,
            beside the watermark delay).

        Raises
        ------
        WorkbenchError
            If the run was loaded: a saved run has no checkpoint.
        """
        check_whole("most", most)
        return holding.by_key(self.simulation, *self._held(batch), most)

    def partitions(self, count: int | None = None) -> pd.DataFrame:
        """How keys, and the rows that are not late, fall on Spark's partitions, each of which has a state store.

        Parameters
        ----------
        count
            How many partitions; None: as many as the run had.

        Returns
        -------
        pandas.DataFrame
            One row a partition: ``partition``, ``keys``, ``rows``, ``share`` (of the rows), ``top_key`` (the key with
            most of them, as Python writes it; of rules for rows of any key the copy; NaN where there is none).
        """
        if count is None:
            count = int(self.execution.progress[0]["stateOperators"][0]["numShufflePartitions"])
        check_whole("count", count, most=MOST_PARTITIONS)
        with spark_errors_as(_NOT_ASKED):
            return partitions.spread(self.simulation, self.execution.at_hand()[0], count)

    def partition_counts(self, counts: Sequence[int] | None = None) -> pd.DataFrame:
        """What other numbers of partitions would do: how even the rows would fall.

        Parameters
        ----------
        counts
            The numbers; None: 1 to 200.

        Returns
        -------
        pandas.DataFrame
            One row a number: ``partitions``; ``empty`` (how many of them get no row); ``largest`` (the share of the
            rows that the one with most gets); ``skew`` (how many times as many that is as if all got the same);
            ``key`` (the share of the key with most rows, which no number of partitions divides).
        """
        if counts is not None and (not isinstance(counts, list | tuple | range) or not len(counts)):
            raise wrong("counts", counts, "give a list of whole numbers, such as [2, 8, 32]")
        chosen = list(partitions.COUNTS if counts is None else counts)
        for count in chosen:
            check_whole("counts", count, most=MOST_PARTITIONS)
        with spark_errors_as(_NOT_ASKED):
            return partitions.compared(self.simulation, self.execution.at_hand()[0], chosen)

    def _held(self, batch: int) -> tuple[pd.DataFrame, float]:
        """The rows in state after a micro-batch, and how many bytes they take."""
        batch = checked_batch(batch, len(self.execution.progress))
        size = float(self._batches.set_index("batch")["state_bytes"][batch])
        with spark_errors_as("the state could not be read"):
            return state_reader.held(self.simulation, self.execution, batch), size

    def savepoint(self, path: str | os.PathLike[str], batch: int) -> Path:
        """Copy the checkpoint as it was after a micro-batch, for ``workbench.run(..., savepoint=path)`` to resume from.

        Parameters
        ----------
        path
            A new folder.
        batch
            The micro-batch after which to resume.

        Returns
        -------
        pathlib.Path
            The folder: checkpoint, output up to then, and a note of what it is of.

        Raises
        ------
        ArgumentError
            If there is no such micro-batch, or the folder is not empty.
        WorkbenchError
            If the run was loaded: a saved run has no checkpoint.
        """
        return savepoint.take(self.simulation, self.execution, path, batch)
