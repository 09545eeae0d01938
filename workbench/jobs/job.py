"""`Job`: a query that somebody else wrote and ran, and what became of its rows."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from workbench import _root, schema
from workbench.arrays import RowNumbers
from workbench.counts import counted
from workbench.errors import QueryError, WorkbenchError, wrong
from workbench.jobs import held, leaving, reported, verifying
from workbench.jobs.aggregated_sides import BELOW, SAME_AGGREGATES, Aggregates
from workbench.jobs.checkpoint import Checkpoint
from workbench.jobs.description import Description
from workbench.jobs.missing_bounds import Bounding, bounding, is_unbounded
from workbench.jobs.sinks import Sink
from workbench.jobs.understanding import Understood
from workbench.joins import Join
from workbench.literals import Policy, RowId, Side, Sides
from workbench.model import DATA, NO_DATA, Logged, Simulation, is_index
from workbench.reasons import explained_rows, output, tables
from workbench.reasons.labels import Labels
from workbench.reasons.own import sentences
from workbench.runs.arguments import check
from workbench.runs.preview import Preview
from workbench.runs.result import Result
from workbench.sources.key_choice import Choice
from workbench.spark_io.cause import spark_errors_as
from workbench.streams import SIDES, Stream, some_rows
from workbench.times import Span
from workbench.untyped import Build, Json, Value

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from workbench.charts import RunCharts
    from workbench.runs.changes import Changes
    from workbench.runs.saved import Saved
    from workbench.tuning import Advice, Tuning

__all__ = ["Job"]


@dataclass(frozen=True, eq=False, repr=False)
class Job(Result):
    """A query that somebody else wrote and ran: what became of each row. Made by `workbench.open_job`.

    Its frames are those of a `Run`, with Spark's numbers of the micro-batches and the columns that enter the join. Of a
    checkpoint whose first micro-batches are no longer kept, the first that is kept only tells what was in state after
    it: these rows are listed as arrived in it.

    Attributes
    ----------
    known
        The join in the plan.
    checkpoint
        Its logs.
    spark
        The session that reads.
    missing
        What could not be read any more, a sentence each; fates that depend on it may differ from what happened.
    choice
        Which keys were taken.
    reports
        What Spark reported of the micro-batches while the job ran, by number, as far as that was given.
    sink
        Where the rows are that it put out, as far as that was given.
    origins
        Of a join above another one: for each row of a side that comes out of that one, which of its outputs it is, as
        `workbench.jobs.leaving.origins` numbers them.
    aggregates
        Of a side that is aggregated before the join what its rows are made of.
    is_supposed
        Whether it is simulated under other settings than those it ran with.
    """

    known: Understood = field(repr=False)
    checkpoint: Checkpoint = field(repr=False)
    spark: SparkSession = field(repr=False)
    missing: tuple[str, ...] = ()
    choice: Choice = field(default_factory=Choice)
    reports: Mapping[int, Json] = field(default_factory=dict, repr=False)
    sink: Sink | None = field(default=None, repr=False)
    origins: Mapping[Side, RowNumbers] = field(default_factory=dict, repr=False)
    aggregates: Mapping[Side, Aggregates] = field(default_factory=dict, repr=False)
    is_supposed: bool = field(default=False, repr=False)

    def __repr__(self) -> str:
        numbers = self.checkpoint.batches[0].number, self.checkpoint.batches[-1].number
        what = self.join if self.is_understood else "a join that was not understood"
        some = "" if self.choice.takes_all else ", some keys of it"
        warned = "; not all of it can be read any more, see .missing" if self.missing else ""
        return (
            f"<Job: {what} of {self.left.name} and {self.right.name}, micro-batches {numbers[0]:,} to "
            f"{numbers[1]:,}{some}: {counted(len(self.left) + len(self.right), 'row')}{warned}>"
        )

    def _to_save(self) -> Saved:
        raise WorkbenchError(
            "a job is not saved, as its fates depend on its logs; save a run of its rows: "
            "wb.run(job.join, *job.recording(), finish=False).save(path)"
        )

    @property
    def description(self) -> Description:
        """What join it is, as `workbench.describe` gives it."""
        return self.known.description

    @property
    def unknown(self) -> tuple[str, ...]:
        """What was not understood of the join, a sentence each."""
        return self.description.unknown

    @property
    def where(self) -> str:
        """What the join asks for beside equal keys and times, as SQL; its fates heed it. Empty: nothing."""
        return self.description.where

    @property
    def is_understood(self) -> bool:
        """Whether the join is one of the workbench's kinds. If not, only late rows, state and watermarks are known."""
        return self.description.join is not None

    @property
    def join(self) -> Join:
        """What is joined how.

        Raises
        ------
        WorkbenchError
            If the join was not understood; `unknown` says why.
        """
        self._check_understood()
        return self.simulation.join

    def _check_understood(self) -> None:
        if not self.is_understood:
            raise WorkbenchError(
                f"the join of this job could not be analyzed ({'; '.join(self.unknown)}); its late rows, state and "
                "micro-batches are known: job.late, job.state(n), job.batches"
            )

    def _check_fits(self) -> None:
        self._check_understood()

    def changes(self, other: Result, by: Value = None) -> Changes:
        """What changed between this job and another one, or a run of its rows; as `Run.changes`.

        ``batch`` and ``other_batch`` are Spark's numbers. `Changes.notes` says why rows may be gone or new.

        Raises
        ------
        WorkbenchError
            If the join of one of them was not understood.
        """
        self._check_understood()
        if isinstance(other, Job):
            other._check_understood()
        return super().changes(other, by)

    @property
    def caveats(self) -> tuple[str, ...]:
        """What may be why another job, or a run, has other rows, a sentence each."""
        found = [*self.missing]
        if not self.choice.takes_all:
            found.append("only some of the keys were taken")
        if self.simulation.first:
            found.append(
                f"of the rows before micro-batch {self.simulation.first}, the first that is kept, only those in state "
                "then are known"
            )
        if self.where:
            found.append(f"the join also requires {self.where}, which a run of its rows does not apply")
        return tuple(found)

    def _check_alone(self) -> None:
        if self.checkpoint.operators:
            raise WorkbenchError(
                "other settings of one of several joins are not simulated by themselves, as its watermark follows the "
                "streams of all: use under() of the whole chain, as opened without join="
            )

    def _check_ran(self) -> None:
        if self.is_supposed:
            raise WorkbenchError(
                "this join is simulated under other settings than those it ran with, so that it left no state and "
                "nothing to compare with: the chain that was opened has these"
            )

    def recording(self) -> tuple[Stream, Stream]:
        """Both streams as they entered the join, for `workbench.run` and `workbench.tune` under other settings.

        They have the micro-batches of the job, counted from 0, and its watermarks. Rows that the job takes out before
        the join are left out. What the join asks for beside equal
        keys and times (`where`) is no part of ``job.join``: a run of it joins pairs that the job does not; `under`,
        `tune` and `advise` heed it.
        """
        gone = self.simulation.facts.gone
        if gone is None:
            return self.left, self.right
        left, right = (some_rows(self.side(side), np.flatnonzero(~gone[side].rows)) for side in SIDES)
        return left, right

    def under(
        self,
        join: Join | None = None,
        *,
        left_watermark: Span | None = None,
        right_watermark: Span | None = None,
        policy: Policy | None = None,
        finish: bool = False,
    ) -> Preview:
        """What the job would have given under other settings, simulated: `against` says which rows move.

        What the join asks for beside equal keys and times (`where`) and the filters of the job hold as they are, and
        so do the aggregates of an aggregation below the join: under another watermark a `UserWarning` says so.

        Parameters
        ----------
        join
            Another join; None: the job's own.
        left_watermark, right_watermark
            Other watermark delays, such as ``"10 minutes"``; None: the job's own.
        policy
            Whether the watermark is the ``min`` or the ``max`` of both sides'; None: as in the job.
        finish
            Close every window at the end.

        Returns
        -------
        Preview
            Of the same rows in the same micro-batches.

        Raises
        ------
        ArgumentError
            If an argument is wrong.
        WorkbenchError
            If the job's join was not understood.
        """
        self._check_alone()
        join = self.join if join is None else join
        policy = self.policy if policy is None else policy
        left = self.left if left_watermark is None else self.left.with_watermark(left_watermark)
        right = self.right if right_watermark is None else self.right.with_watermark(right_watermark)
        left, right = check(join, left, right, finish, policy)
        known = self.simulation.logged
        before, restarts = ({}, ()) if known is None else (known.before, known.restarts)
        facts, given = self.simulation.facts, {"left": left_watermark, "right": right_watermark}
        if facts.aggregated and (left_watermark is not None or right_watermark is not None or policy != self.policy):
            warnings.warn(SAME_AGGREGATES, stacklevel=2)
        if marked := frozenset(side for side in facts.unmarked if given[side] is not None):
            rest = facts.unmarked - marked
            facts = replace(
                facts,
                unmarked=rest,
                undelayed=facts.undelayed - marked,
                never_late=facts.never_late - marked,
                retention=None,
            )
            left, right = (
                replace(each, newest=None) if side in marked else each for side, each in Sides(left, right).items()
            )
        logged = Logged(self.simulation.first, facts, before=before, restarts=restarts)
        version = self.simulation.spark_version
        return Preview(Simulation(join, left, right, finish, policy, False, version, logged))

    def bounding(self) -> Bounding:
        """What bounds, and watermarks, would have kept and held, where rows of the job stay in state forever.

        Of a side without a watermark the least delay is taken with which none of its rows is behind its own; of a
        bound that the join does not have, those within which certain shares of its pairs lie.

        Raises
        ------
        WorkbenchError
            If the join was not understood, or has both bounds, and watermarks on both sides.
        """
        self._check_alone()
        if not is_unbounded(self.simulation):
            raise WorkbenchError(f"{self.join} has both bounds, and watermarks on both sides: see job.tune()")
        return bounding(
            self.simulation,
            self.description,
            lambda join, left, right: self.under(join, left_watermark=left, right_watermark=right).simulation,
        )

    def tune(self, *, over: Mapping[str, Iterable[Value]] | Literal["auto"] = "auto") -> Tuning:
        """What each of many settings would have kept, lost, delayed and cost; as `workbench.tune`, heeding `where`."""
        from workbench.tuning import tuned  # when needed: %load_ext imports this module

        self._check_understood()
        self._check_alone()
        return tuned(self.simulation, over=over)

    def advise(self) -> list[Advice]:
        """What to know of the job's join, as `workbench.advise` says it, heeding `where`."""
        from workbench.tuning import Advice, advised  # when needed: %load_ext imports this module

        self._check_understood()
        self._check_alone()
        found = advised(self.simulation)
        if not is_unbounded(self.simulation):
            return found
        bounded = self.bounding()
        if len(bounded.table) == 1 or bounded.table["state_peak"].iloc[-2] >= bounded.table["state_peak"].iloc[-1]:
            return found  # there were no pairs, or nothing is gained
        stays = f"rows stay in state forever, {counted(int(bounded.table['state_end'].iloc[-1]), 'row')} so far"
        return [Advice(stays, f"{bounded}; job.bounding().code() writes it"), *found]

    @property
    def rows(self) -> pd.DataFrame:
        """Every row of both sides, and its fate; the columns are those of `Run.rows`.

        Where the join was not understood, ``fate`` and ``verdict`` of rows that are not late are None, and their
        ``reason`` says what was not understood.
        """
        return super().rows

    @cached_property
    def _rows(self) -> pd.DataFrame:
        table = explained_rows.rows(self.simulation, sentences(self.simulation))
        if not self.is_understood:
            other = table["fate"] != "late"
            table.loc[other, ["fate", "verdict"]] = None
            table.loc[other, "reason"] = f"not known, as the join could not be analyzed: {'; '.join(self.unknown)}"
            table.loc[:, schema.FIX_NAMES] = None
        return table

    @property
    def batches(self) -> pd.DataFrame:
        """One row a micro-batch, as the model has it, with the watermarks of the logs; columns as in `Run.batches`.

        ``batch`` is Spark's number; ``dropped`` and ``duration_ms`` are what Spark reported, where `reports` has it;
        ``planned_at`` is when the micro-batch was planned, in UTC. Of joins that are written as groups, ``state_rows``
        does not count groups with null keys. What came out of the first that is kept, where it is not the job's first,
        is not known: ``output_rows`` is 0.
        """
        found = super().batches
        found["planned_at"] = pd.to_datetime([each.started for each in self.checkpoint.batches], unit="ms", utc=True)
        if not self.is_understood:
            found[["output_rows", "state_rows"]] = None
        reports = [self.reports.get(number, {}) for number in found["batch"]]
        rows = pd.Series([int(each.get("numInputRows", 0)) for each in reports])
        found.loc[(found["kind"] == NO_DATA) & (rows > 0), "kind"] = DATA  # of which none came to the join yet
        found["dropped"] = pd.Series([reported.dropped(each) for each in reports], dtype=object)
        found["duration_ms"] = pd.Series([each.get("batchDuration") for each in reports], dtype=object)
        return found

    @cached_property
    def raw_output(self) -> pa.Table:
        """The output of the join as the model has it, with column ``batch`` (counted from 0) and row numbers."""
        self._check_understood()
        return output.simulated(self.simulation)

    @property
    def output(self) -> pd.DataFrame:
        """What comes out of the join, as the model has it; the columns are those of `Run.output`.

        Filters and columns of the job above the join are not applied. What came out before the first micro-batch that
        is kept is not known, and left out.
        """
        return super().output

    @property
    def charts(self) -> RunCharts:
        """The job's charts, as a run has them. They count the micro-batches from 0."""
        self._check_understood()
        return super().charts

    @schema.described(BELOW)
    def aggregated(self, side: Side) -> pd.DataFrame:
        """The rows that came to the aggregation of a side, where it has one before the join: what became of each.

        Parameters
        ----------
        side
            ``"left"`` or ``"right"``.

        Raises
        ------
        ArgumentError
            If the side is not aggregated by windows.
        QueryError
            If Spark fails to read the rows again.
        TooLargeError
            If there are too many to take into memory.
        """
        if side not in SIDES:
            raise wrong("side", side, "give 'left' or 'right'")
        if side not in self.aggregates:
            there = " or ".join(map(repr, self.aggregates))
            remedy = f"give {there}" if there else "neither side of this job is aggregated by windows before the join"
            raise wrong("side", side, remedy)
        return tables.handed_out(self._below(side))

    def _below(self, side: Side) -> pd.DataFrame:
        """What `aggregated` gives, read once."""
        if side not in self._read_below:
            each = self.aggregates[side]
            end = len(self.left) + (len(self.right) if side == "right" else 0)
            labels = Labels(self.simulation, whole=False)
            self._read_below[side] = each.table(labels, end - len(each.places), self.side(side).name)
        return self._read_below[side]

    @cached_property
    def _read_below(self) -> dict[Side, pd.DataFrame]:
        return {}

    def made_of(self, row: int) -> pd.DataFrame:
        """The rows that an aggregate is made of; columns as in `aggregated`.

        Empty of one that was in state before the first micro-batch that is kept: what it was made of is not known.

        Parameters
        ----------
        row
            An index of `rows`.

        Raises
        ------
        ArgumentError
            If there is no such row, or its side is not aggregated by windows.
        QueryError
            If Spark fails to read the rows again.
        """
        if not is_index(row, len(self.left) + len(self.right)):
            raise wrong("row", row, f"use an index of job.rows, 0 to {len(self.left) + len(self.right) - 1}")
        side = RowId.at(int(row), len(self.left)).side
        if side not in self.aggregates:
            name = self.side(side).name
            raise wrong("row", row, f"it is a row of {name}, which is not aggregated by windows before the join")
        found = self._below(side)
        return found[found["row"] == row].reset_index(drop=True)

    def state(self, batch: int) -> pd.DataFrame:
        """What the job held in state after a micro-batch, read from its checkpoint.

        Parameters
        ----------
        batch
            A micro-batch of `batches`.

        Returns
        -------
        pandas.DataFrame
            Of a join ``side`` and the columns that Spark keeps; of groups their keys and values as ``key_…`` and
            ``value_…``. Of several stateful operators ``operator`` and ``operator_name`` stand in front.

        Raises
        ------
        ArgumentError
            If the micro-batch is not kept.
        QueryError
            If its state cannot be read any more.
        """
        self._check_ran()
        numbers = [each.number for each in self.checkpoint.batches]
        if isinstance(batch, bool) or batch not in numbers:
            raise wrong("batch", batch, f"the checkpoint has micro-batches {numbers[0]} to {numbers[-1]}")
        found = held.table(self.spark, self.checkpoint.address, int(batch))
        if found["operator"].nunique() <= 1:
            found = found.drop(columns=["operator", "operator_name"])
        return found

    def fixture(
        self,
        path: str | os.PathLike[str],
        *,
        keys: Sequence[Value] | None = None,
        sample: float | None = None,
        anonymize: Mapping[str, str] | None = None,
        names: Mapping[str, str] | None = None,
        build: Build | str | None = None,
        mode: str = "append",
    ) -> Path:
        """Write what happened as a folder with a test: it fails as the job did, and passes where no row is lost.

        The folder has the rows that the sources gave, in their micro-batches, the settings that decide what becomes of
        them, what became of each (``fixture.json``), and ``test_<folder>.py``. `workbench.testing.load` reads it.

        Parameters
        ----------
        path
            The folder; one that the workbench wrote and nobody has edited is replaced.
        keys, sample
            As in `workbench.open_job`: only these rows, and the newest of each micro-batch, which the watermark follows
            from. None: those that the job was opened for.
        anonymize
            By column ``"hash"``, ``"fake"`` (Faker invents a text of the column's kind) or ``"drop"`` (null in each
            row). Values that were equal stay equal, in all streams that have the column; times stay. A path such as
            ``"value.email"`` names a field of a struct, or of JSON in a column.
        names
            The name under which your function takes a stream, by that of its folder, topic or table, as in
            ``{"orders_v2": "orders"}``.
        build
            The function to test, or its name, as in ``"shop.jobs:unpaid_orders"``: it makes the streaming DataFrame of
            the streams, by their names. None: the test says where to put it.
        mode
            The output mode of the job.

        Returns
        -------
        pathlib.Path
            The folder.

        Raises
        ------
        ArgumentError
            If an argument is wrong, or the folder holds something else.
        DataError
            If the rows of a source, or the first micro-batches, can no longer be read.
        TooLargeError
            If there are more than 100,000 rows of a stream.

        Warns
        -----
        UserWarning
            For each part of what happened that can no longer be read.
        """
        return _root.write_fixture(
            self, path, keys=keys, sample=sample, anonymize=anonymize, names=names, build=build, mode=mode
        )

    @property
    def comparison(self) -> pd.DataFrame:
        """What the model says of this job, verified against what it left behind.

        Columns as in `Run.comparison`. The watermarks that follow from the rows are compared with those of the logs,
        and the rows in state after the last micro-batch, value by value; and of an interval or window join the late
        rows and the rows in state after each micro-batch with Spark's counters, where `reports` has them and all keys
        were taken. With `sink`, the rows that the job
        put out are compared with the model's pairs, as the operators above the join make them; where they cannot be,
        ``differences`` is missing, and ``examples`` says why. Of a join that was not understood only the watermarks
        and the late rows are compared.
        """
        return self._comparison.copy()

    @cached_property
    def _comparison(self) -> pd.DataFrame:
        self._check_ran()
        facts = verifying.compare(self.spark, self.simulation, self.known, self.checkpoint, self.choice)
        if self.reports and self.choice.takes_all:
            facts = pd.concat([facts, verifying.drops(self.simulation, self.known, self.reports)], ignore_index=True)
            if self.is_understood:
                sizes = verifying.sizes(self.simulation, self.known, self.reports)
                facts = pd.concat([facts, sizes], ignore_index=True)
        if self.sink is not None and self.is_understood:
            logs = self.checkpoint
            line = leaving.compare(self.spark, self.simulation, self.known, logs, choice=self.choice, sink=self.sink)
            facts = pd.concat([facts.astype(object), pd.DataFrame([line], dtype=object)], ignore_index=True)
            numbers = ["model", "spark", "differences"]
            facts = facts.astype(dict.fromkeys(numbers, "int64" if line["model"] is not None else "Int64"))
        if not self.is_understood:
            return facts
        fates = verifying.fates(self.simulation)  # of the model alone: a line where they contradict what comes out
        return pd.concat([facts, fates], ignore_index=True) if fates["differences"].any() else facts

    @property
    def mismatches(self) -> pd.DataFrame:
        """The rows of `comparison` that differ: a bug of the workbench, or for want of what is `missing`."""
        comparison = self.comparison
        return comparison[(comparison["differences"] > 0).fillna(False).astype(bool)]

    @property
    def mismatch(self) -> str:
        """A sentence to show where there are `mismatches`, or where the job could not be verified; else empty."""
        try:
            with spark_errors_as(QueryError):
                found = self.mismatches
        except WorkbenchError as error:
            return f"this job was not verified against what it left behind: {error}"
        if found.empty:
            return ""
        causes = verifying.causes(found, self.simulation, self.known, self.checkpoint, self.reports)
        why = "".join(f"; {each}" for each in (*causes, *self.missing))
        what = ", ".join(f"{each.what} ({each.differences} differ)" for each in found.itertuples())
        return (
            f"the model differs from what the job left behind in {what}, so reasons may be wrong: see job.comparison"
            f"{why}"
        )

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in ("savepoint", "compare", "execution"):
                raise AttributeError(f"a job has no {name}: run its rows again with wb.run(job.join, *job.recording())")
            return super().__getattribute__(name)
