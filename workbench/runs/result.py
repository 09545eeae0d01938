"""What a preview and a run have in common: the fate of every row, and the reason."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from workbench import _root, safe_files, schema
from workbench.arrays import RowNumbers
from workbench.engine import sink_reader
from workbench.errors import wrong
from workbench.joins import Join
from workbench.kinds import plan_of
from workbench.literals import Policy, Side
from workbench.model import Outcome, Simulation
from workbench.reasons import explained_rows, tables
from workbench.reasons.labels import key_words, rows_of_key
from workbench.reasons.own import sentences
from workbench.runs import changes, expiry, key_history, moment, saved
from workbench.runs.saved import Saved
from workbench.streams import SIDES, Stream, same_rows
from workbench.times import Span
from workbench.untyped import Argument, Series, Value

if TYPE_CHECKING:
    import pyarrow as pa

    from workbench.charts import RunCharts
    from workbench.reasons.slots import SentenceSlots
    from workbench.runs.changes import Changes
    from workbench.runs.moment import Moment
    from workbench.runs.why import Why

__all__ = ["Result"]


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The fate of every row of a join of two recorded streams: the base of `Preview` and `Run`.

    Attributes
    ----------
    simulation
        The streams, the join, its settings, and what the model says of them.
    name
        What its user calls it; empty where it has no name. See `named`.

    Notes
    -----
    Each frame is handed out as a copy: changing one in place changes nothing that the result says afterwards.
    """

    simulation: Simulation
    name: str = field(default="", kw_only=True)

    def named(self, name: str) -> Self:
        """The same run under a name, by which lists and saved runs call it.

        Parameters
        ----------
        name
            A short text of one line; empty: no name.
        """
        made = replace(self, name=saved.checked_name(name))
        known = {each: value for each, value in vars(self).items() if each not in vars(made)}
        vars(made).update(known)  # what was computed of it already
        return made

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Save the run in a folder, from which `workbench.load` makes it again, in any session and without Spark.

        The folder holds ``run.json`` (join, settings, name, versions, what Spark reported), ``recording`` (the rows of
        both streams, as ``generators.save`` writes them) and ``output.parquet``. The checkpoint is not saved, so a run
        that was loaded has no `Run.state`, `Run.savepoint` and `Run.compare`.

        Parameters
        ----------
        path
            A new folder, or one in which a run was saved that nobody has changed since: it is replaced.

        Returns
        -------
        pathlib.Path
            The folder.

        Raises
        ------
        ArgumentError
            If the folder holds something else.
        """
        target = safe_files.place(path)
        safe_files.check_folder(target, "a run")
        return saved.write(self._to_save(), target)

    def report(self, path: str | os.PathLike[str], tuning: Argument = None) -> Path:
        """Write one file that shows what became of the rows, and why, in any browser: for a ticket, or a review.

        It has figures, the reasons of the rows that were not matched, a chart to brush and pick in, their stories,
        settings, advice, the tuning and the script. It loads nothing, and is smaller than 3 MB: of many rows some of
        each reason are listed, and it says how many are left out.

        Parameters
        ----------
        path
            A file whose name ends in ``.html``; one that a report was written to, and nobody has changed, is replaced.
        tuning
            What `workbench.tune` returned of the same streams; None: the report has no tuning.

        Returns
        -------
        pathlib.Path
            The file.

        Raises
        ------
        ArgumentError
            If there is another file of that name.
        TooLargeError
            If the run has more pairs than are computed, so that there are no reasons.
        """
        self._check_fits()
        return _root.write_report(self, path, tuning)

    def _to_save(self) -> Saved:
        return Saved(self.simulation, self.name)

    def _check_fits(self) -> None:
        """Raise an error where the model is that of another join, so that nothing may be told from it."""

    def _called(self) -> str:
        """The name as a `repr` has it."""
        return f" {self.name!r}" if self.name else ""

    @property
    def join(self) -> Join:
        """What was joined how."""
        return self.simulation.join

    @property
    def left(self) -> Stream:
        """The left stream."""
        return self.simulation.left

    @property
    def right(self) -> Stream:
        """The right stream."""
        return self.simulation.right

    @property
    def finish(self) -> bool:
        """Whether every window is closed at the end."""
        return self.simulation.finish

    @property
    def policy(self) -> Policy:
        """Whether the query's watermark is the ``min`` or the ``max`` of both sides'."""
        return self.simulation.policy

    @property
    def micro_batches(self) -> int:
        """How many recorded micro-batches there are."""
        return self.simulation.micro_batches

    @property
    def windowed(self) -> bool:
        """Whether the join has windows."""
        return self.simulation.windowed

    def side(self, name: Side) -> Stream:
        """The stream of a side, ``"left"`` or ``"right"``."""
        return self.simulation.side(name)

    @property
    def outcome(self) -> Outcome:
        """The expected result of the query, computed by the workbench's model."""
        return self.simulation.outcome

    @property
    def fates(self) -> dict[Side, pd.DataFrame]:
        """The fate of every row, without reasons: quicker than `rows`.

        Per side a frame, one row an input row, in order: ``fate``; ``decided_in`` (the micro-batch in which it is
        known); ``evicted_in`` (the micro-batch at whose end the row is no longer in state); both 1,000,000,000 where
        that never happens; ``all``, ``late``, ``matched`` (how many of its windows there are, it was late for, it met
        in).
        """
        self._check_fits()
        return {side: tables.handed_out(fates) for side, fates in self.simulation.fates.items()}

    @property
    def raw_output(self) -> pa.Table:
        """The output in Arrow, with column ``batch`` and row numbers, in order of micro-batch."""
        raise NotImplementedError

    @property
    @schema.described(schema.OUTPUT)
    def output(self) -> pd.DataFrame:
        """The output of the join; of a preview, the expected output."""
        found, first = tables.handed_out(self._output), self.simulation.first
        found["batch"] += first
        return found[found["batch"] > first].reset_index(drop=True) if first else found

    @cached_property
    def _output(self) -> pd.DataFrame:
        return sink_reader.frame(self.raw_output, self.join, self.left, self.right)

    @property
    def timed_out(self) -> pd.DataFrame:
        """The partial matches of a pattern that were given up; empty for other joins.

        Columns: the key columns, a list of dicts for each step, ``start`` and ``end`` (the times of the first and the
        last row), ``waited_for`` (the step that it waited for when its time had passed), ``batch``.
        """
        return sink_reader.timed_out(self.raw_output, self.join, self.left, self.right)

    @property
    @schema.described(schema.ROWS)
    def rows(self) -> pd.DataFrame:
        """Every input row of both sides, with its fate and its reason.

        A column of the streams that has one of the names below is called ``row_<name>``.
        """
        return tables.handed_out(self._rows)

    @cached_property
    def _rows(self) -> pd.DataFrame:
        return explained_rows.rows(self.simulation, self.reasons)

    @property
    def causes(self) -> Series:
        """Why every row became what it became, in a few words that many rows share; its index is that of `rows`.

        ``run.causes.value_counts()`` counts them; ``run.rows[run.causes == "…"]`` are the rows of one.
        """
        self._check_fits()
        return self._causes.copy()

    @cached_property
    def _causes(self) -> Series:
        found = [self.reasons.causes(side) for side in SIDES]
        return pd.Series(np.concatenate(found), name="cause", dtype=object)

    @property
    def verdicts(self) -> Series:
        """The verdict of every row, by name, such as ``late_for_partner``; its index is that of `rows`.

        The documentation lists them all, with their sentences and what to do.
        """
        self._check_fits()
        found = np.concatenate([self.reasons.verdicts[side] for side in SIDES])
        return pd.Series([str(each) for each in found.tolist()], name="verdict", dtype=object)

    @property
    def keys(self) -> Series:
        """The key of every row as text, several columns with a dot between; its index is that of `rows`."""
        return pd.Series(self._keys_as_text, name="key", dtype=object).copy()

    @cached_property
    def _keys_as_text(self) -> Any:
        return np.concatenate([key_words(self.side(side)) for side in SIDES])

    def state_changes(self, key: object) -> pd.DataFrame:
        """How the state of one key changes, event by event: rows come in, rows come out, rows leave.

        It is what the workbench's model expects, and a run is verified to have been.

        Parameters
        ----------
        key
            A key's value, a tuple of several columns' values, or the text that `keys` has of it.

        Returns
        -------
        pandas.DataFrame
            Columns: ``batch``; ``change`` (``added`` to state, ``evicted`` from it at the end of the micro-batch, or a
            row that came and was not kept: ``late``, ``null key``, ``removed`` by an operator before the join, and
            ``not kept`` where the micro-batch's own watermark evicts it at once); ``side``, the row's columns;
            ``window_start``, ``window_end`` where there are windows (a row has an event in each; a session is the one
            that the row is in at last); ``watermark`` (which it was judged by, or which evicted it; with
            ``finish=True`` the last one is after the year 2160);
            ``left``, ``right`` (how many rows of the key are in state after it); ``emitted`` (how many rows come out
            with it).

        Raises
        ------
        ArgumentError
            If no row has such a key.
        """
        self._check_fits()
        return key_history.of_rows(self.simulation, self._rows_of(key))

    def _rows_of(self, key: object) -> dict[Side, RowNumbers]:
        """Per side the rows of a key; refuses one that no row has."""
        rows = rows_of_key(self.simulation, self._keys_as_text, key)
        if not any(len(mine) for mine in rows.values()):
            if isinstance(key, list):
                raise wrong("key", key, "give the values of several columns as a tuple")
            some = ", ".join(map(repr, self._keys_as_text[:3]))
            raise wrong("key", key, f"no row has it; give one of `keys`{some and f', such as {some}'}")
        return rows

    def time_to_live(self, ttl: Span, trigger: Span | None = None) -> pd.DataFrame:
        """What a time to live of the right rows in state would change, in event time and in processing time.

        An `AsOfJoin` without tolerance keeps the latest right row of each key forever. A time to live bounds that: in
        *event time* a right row serves left rows that are no farther from it, which is what a tolerance does, whatever
        the order and pace of arrival. In *processing time* (Spark's ``TTLConfig``, Flink's ``StateTtlConfig``) a right
        row is gone so long after the micro-batch that wrote it, however event time went on: a replay, a pause or a
        catch-up changes the result, and an older right row that came later may take its place.

        Parameters
        ----------
        ttl
            How long a right row lives.
        trigger
            How often a micro-batch runs: the micro-batches are taken to have begun so far apart, whatever the streams'
            times of arrival say. None: as those say.

        Returns
        -------
        pandas.DataFrame
            One row for each left row that has come out with a partner, by its place in `rows`: ``batch`` (the
            micro-batch it came out in), the row's columns, ``partner`` (its partner's place in `rows`), ``apart`` (in
            event time), ``in_state`` (how long the partner was in state by then, in processing time),
            ``by_event_time`` and ``by_processing_time``: the partner it would have under either (``the same``,
            ``none``, ``another``).

        Raises
        ------
        ArgumentError
            If the join's rows leave state by themselves, or nothing says how often a micro-batch runs.
        """
        self._check_fits()
        return expiry.partners(expiry.lifetimes(self.simulation, ttl, trigger))

    def expired(self, ttl: Span, trigger: Span | None = None) -> pd.DataFrame:
        """The right rows that a time to live would take from state, or from left rows.

        Parameters
        ----------
        ttl, trigger
            As `time_to_live` takes them.

        Returns
        -------
        pandas.DataFrame
            One row for each right row that expires, by its place in `rows`: ``batch`` (the micro-batch it came in), the
            row's columns, ``by_event_time`` (the first micro-batch whose watermark is past the row's time and `ttl`: a
            timer in event time lets go of it there), ``by_processing_time`` (the first one that begins `ttl` after
            ``batch``), either missing where it leaves state before, as a later right row takes its place, or the
            watermark, in a join that looks forward; ``lost_by_event_time`` (how many left rows it is the partner of
            from farther away than `ttl`), ``lost_by_processing_time`` (how many do not have it as their partner then).

        Raises
        ------
        ArgumentError
            As `time_to_live`.
        """
        self._check_fits()
        return expiry.expired(expiry.lifetimes(self.simulation, ttl, trigger))

    def explain(self, rows: Sequence[int]) -> pd.DataFrame:
        """Some of the rows of `rows`: quicker than all of them.

        Parameters
        ----------
        rows
            Their places in `rows`.

        Raises
        ------
        ArgumentError
            If there is no such row.
        """
        count, first = len(self.left) + len(self.right), len(self.left)
        remedy = f"give whole numbers from 0 to {count - 1}"
        if not isinstance(rows, Sequence | np.ndarray | pd.Series | pd.Index) or isinstance(rows, str | bytes):
            raise wrong("rows", rows, remedy)
        if isinstance(rows, range) and len(rows) > count:  # before it takes all memory
            raise wrong("rows", rows, remedy)
        try:
            given = np.asarray(rows)
        except (TypeError, ValueError, OverflowError):
            raise wrong("rows", rows, remedy) from None
        if given.size and (given.ndim != 1 or given.dtype.kind not in "iu"):
            raise wrong("rows", rows, remedy)
        if given.size and not 0 <= given.min() <= given.max() < count:
            raise wrong("rows", rows, remedy)
        places = np.unique(given.astype(np.int64))
        asked: dict[Side, RowNumbers] = {"left": places[places < first], "right": places[places >= first] - first}
        self._check_fits()
        return explained_rows.some(self.simulation, asked)

    def why(self, row: int) -> Why:
        """One row's full explanation: arrival, windows, candidates, watermark, verdict.

        Parameters
        ----------
        row
            An index of `rows`.

        Returns
        -------
        Why
            Prints as text; ``.text`` and ``.chart`` are its parts.

        Raises
        ------
        ArgumentError
            If there is no such row.
        """
        from workbench.runs import why  # when needed: Altair is slow to import

        self._check_fits()
        return why.why(self.simulation, row)

    @cached_property
    def reasons(self) -> SentenceSlots:
        """What the reasons of `rows` are made of."""
        self._check_fits()
        return sentences(self.simulation)

    @property
    @schema.described(schema.BATCHES)
    def batches(self) -> pd.DataFrame:
        """One row a micro-batch.

        A run of more than 200,000 rows, but of sessions and coGroup, goes without the columns that its join does not
        need: its ``state_bytes`` are Spark's, and what the rows in state would take more with all of their columns, by
        the mean of 1,000 rows.
        """
        found = tables.handed_out(self._batches)
        found["batch"] += self.simulation.first
        return found

    @cached_property
    def _batches(self) -> pd.DataFrame:
        return tables.batches(self.simulation, None)

    @property
    @schema.described(schema.LATE)
    def late(self) -> pd.DataFrame:
        """Every row that was dropped as late."""
        return tables.handed_out(self._late)

    @cached_property
    def _late(self) -> pd.DataFrame:
        return tables.late(self.simulation)

    def against(self, other: Result) -> pd.DataFrame:
        """The rows whose fate differs from another run of the same streams.

        Parameters
        ----------
        other
            A run, or preview, of the same rows under other settings.

        Returns
        -------
        pandas.DataFrame
            Those rows of `rows`, without fixes, and ``other_fate``, ``other_reason``.

        Raises
        ------
        ArgumentError
            If the other run has other rows.
        """
        if not isinstance(other, Result):
            raise wrong("other", type(other).__name__, "give what workbench.run or workbench.preview returned")
        for side in SIDES:
            one, two = self.side(side), other.side(side)
            if not same_rows(one, two):
                raise wrong(
                    "other", other, f"its {side} rows are not those of this run; compare runs of the same streams"
                )
        self._check_fits()
        other._check_fits()
        fates, others = self.simulation.fates, other.simulation.fates
        differs = [fates[side]["fate"].to_numpy() != others[side]["fate"].to_numpy() for side in SIDES]
        moved = np.flatnonzero(np.concatenate(differs)).tolist()
        mine, theirs = self.explain(moved), other.explain(moved)
        mine = mine.drop(columns=schema.FIX_NAMES)
        return mine.assign(other_fate=theirs["fate"], other_reason=theirs["reason"])

    def changes(self, other: Result, by: Value = None) -> Changes:
        """What changed between this run, or job, and another one, row by row; their rows need not be the same.

        Rows are recognised by their values, wherever they stand: each of one is held against one of the other with the
        same values in the columns `by`. Of several that are alike there, those that fared alike are held against each
        other first.

        Parameters
        ----------
        other
            A run, preview or job: of the same rows under other settings, or of another time.
        by
            The columns that tell rows apart, where both sides have them: a name, or several; of each side by itself as
            ``{"left": …, "right": …}``. None: all columns that both have.

        Returns
        -------
        Changes
            The rows whose fate differs, with both reasons; the rows that only one has; counts by fate before and after;
            the settings that differ.

        Raises
        ------
        ArgumentError
            If there are no such columns.

        Examples
        --------
        >>> import generators
        >>> import workbench as wb
        >>> orders, payments = generators.generate("orders_payments", events=60, late=0.2, watermark="1 s", seed=5)
        >>> join = wb.IntervalJoin("0 seconds", "15 seconds", how="left")
        >>> before = wb.preview(join, orders, payments)
        >>> changes = before.changes(wb.preview(join, orders, payments.with_watermark("1 minute")))
        >>> changes.settings.values.tolist()
        [['delay of payments', '1 s', '60 s']]
        """
        if not isinstance(other, Result):
            raise wrong(
                "other", type(other).__name__, "give a job, or what workbench.run or workbench.preview returned"
            )
        return changes.changes(self, other, by)

    @property
    def caveats(self) -> tuple[str, ...]:
        """What is to be known where this is held against another run, a sentence each."""
        return ()

    def at(self, batch: int) -> Moment:
        """The run at the end of a micro-batch: watermark, open windows, state, rows out.

        Parameters
        ----------
        batch
            A micro-batch of `batches`.
        """
        self._check_fits()
        return moment.at(self.simulation, self._batches, batch)

    @property
    def charts(self) -> RunCharts:
        """The run's charts: ``run.charts.timeline()``, ``.arrival()``."""
        from workbench.charts import RunCharts  # when needed: Altair is slow to import

        return RunCharts(self.simulation, lambda: self._batches)

    @cached_property
    def code(self) -> str:
        """The function ``join_streams`` that Spark runs."""
        return plan_of(self.join, self.left, self.right, self.finish, recorded=True)

    @property
    def script(self) -> str:
        """The PySpark script of this join, as text."""
        from workbench import script  # only for a script: Jinja and Black are slow to import

        return script.render(self.join, self.left, self.right, policy=self.policy)
