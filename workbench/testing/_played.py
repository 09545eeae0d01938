"""`Played`: what came of a test's micro-batches."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa

from workbench.errors import ArgumentError, WorkbenchError, wrong
from workbench.jobs import Chain, Job
from workbench.jobs.in_memory import Written
from workbench.jobs.opening import open_own
from workbench.jobs.understanding import NoJoinError
from workbench.sources import arrow
from workbench.spark_io.scratch import Scratch
from workbench.testing import _expecting, _snapshots
from workbench.testing._quick import quick_settings
from workbench.untyped import Build, Json, Record, Value

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from workbench.jobs.chain import ChainWhy
    from workbench.runs.changes import Changes
    from workbench.runs.result import Result
    from workbench.runs.why import Why

__all__ = ["Fate", "Played", "observers", "remembered"]

observers: list[Callable[[Played], None]] = []
"""Who is told of each job that was played: the plugin, while a test runs."""


class Fate(str):
    """What became of a row: ``matched``, ``unmatched``, ``late``, ``pending`` or ``null_key``; with its story.

    Attributes
    ----------
    story
        Why, step by step.
    """

    __slots__ = ("story",)
    story: str


@dataclass(frozen=True, eq=False, repr=False)
class Played:
    """What came of the micro-batches of a test. Made by `play`.

    It has all that `workbench.open_job` gives: ``rows``, ``late``, ``batches``, ``state(n)``, ``at(n)``, ``why(row)``,
    ``charts``, ``report(path)``, ``mismatches``; of several joins ``joins``. The query is opened when one of them is
    first asked for. ``output`` is what the user's code gave.

    Attributes
    ----------
    joined
        The streaming DataFrame that the user's function made.
    streams
        The names of the streams.
    """

    joined: DataFrame
    streams: tuple[str, ...]
    _output: pa.Table
    _reports: Sequence[Json]
    _folder: Scratch
    _written: Written
    _mode: str
    _build: Build

    def __repr__(self) -> str:
        rows, batches = self._output.num_rows, len(self._reports)
        return f"<Played: {', '.join(self.streams)}, {batches} micro-batches, {rows} rows of output>"

    @property
    def output(self) -> pd.DataFrame:
        """What the user's code put out, as Spark gave it.

        Returns
        -------
        pandas.DataFrame
            The columns of the DataFrame that `play` ran, times in UTC, and ``batch``, the number of the micro-batch
            (``micro_batch`` where there is a column of that name).
        """
        names = self._output.column_names
        table = self._output.rename_columns([str(place) for place in range(len(names))])
        zones: dict[str, str | None] = {
            each.name: "UTC" for each in table.schema if pa.types.is_timestamp(each.type) and each.type.tz
        }
        frame = arrow.to_pandas(table, zones)
        frame.columns = pd.Index(names)
        return frame

    @property
    def batches(self) -> pd.DataFrame:
        """One row a micro-batch; of a query that cannot be opened ``batch``, ``rows``, ``dropped``, ``output_rows``."""
        if self._is_open:
            return self.opened.batches
        numbers = [int(each["batchId"]) for each in self._reports]
        written = self.output.groupby(self._output.column_names[-1]).size()
        return pd.DataFrame(
            {
                "batch": numbers,
                "rows": [int(each["numInputRows"]) for each in self._reports],
                "dropped": [_dropped(each) for each in self._reports],
                "output_rows": written.reindex(numbers, fill_value=0).to_numpy(),
            }
        )

    @cached_property
    def opened(self) -> Job | Chain:
        """The query, opened.

        Raises
        ------
        ArgumentError
            If it joins no two streams, or cannot be opened: then only `output` and `batches` are known.
        """
        with quick_settings(self.joined.sparkSession, {}):
            return open_own(self.joined, f"{self._folder.address}/checkpoint", self._reports, self._written)

    @cached_property
    def _asked(self) -> _expecting.Opened:
        self._check_is_join("fate and expect")
        return _expecting.Opened(self.opened, self.streams)

    @cached_property
    def _is_open(self) -> bool:
        try:
            _ = self.opened
        except ArgumentError:
            return False
        return True

    def _check_is_join(self, asked: str) -> None:
        try:
            _ = self.opened
        except NoJoinError:
            words = f"{asked}: the query joins no two streams; its output and batches are known"
            raise WorkbenchError(words) from None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        self._check_is_join(name)
        return getattr(self.opened, name)

    def why(self, row: int) -> Why | ChainWhy:
        """The story of a row of ``rows``, as `Job.why` tells it."""
        return self.opened.why(row)

    def changes(self, other: Played | Result, by: Value = None) -> Changes:
        """What changed between this job and another one, which may have been played, too; as `Job.changes`."""
        self._check_is_join("changes")
        if isinstance(self.opened, Chain):
            words = "the query has several joins; compare them one by one, as in job.joins[0].changes(other.joins[0])"
            raise ArgumentError(f"changes: {words}")
        another: Any = other.opened if isinstance(other, Played) else other
        return self.opened.changes(another, by)

    def fate(self, **row: Value) -> Fate:
        """What became of the row of a stream with a key.

        Parameters
        ----------
        **row
            The key by the name of the stream (of one that is joined with itself ``left`` or ``right``): a value, a
            tuple of the values of several columns, or a dict of any columns, as in
            ``fate(orders={"id": "o-1", "amount": 5})``.

        Returns
        -------
        Fate
            A text, such as ``"matched"``; ``.story`` says why.

        Raises
        ------
        ArgumentError
            If no row has this key, or several that fared differently.
        """
        if len(row) != 1:
            raise wrong("fate", row, f"give the key of one row by its stream, such as {self.streams[0]}=…")
        name, key = next(iter(row.items()))
        places = _expecting.places(self._asked, name, key)
        fates = self._asked.rows["fate"].iloc[places]
        _expecting.check_known(self._asked, fates)
        if fates.nunique() > 1:
            words = f"its {len(places)} rows fared differently ({', '.join(dict.fromkeys(fates))})"
            raise wrong(name, key, f"{words}; tell them apart by a dict of columns")
        found = Fate(fates.iloc[0])
        found.story = self.opened.why(int(places[0])).text
        return found

    def expect(self, **counts: int | Mapping[str, int]) -> None:
        """Check how many keys, or rows of a stream, fared how.

        Parameters
        ----------
        **counts
            By fate how many keys have a row that fared so, in any stream (a row without a key counts by itself), as in
            ``expect(matched=1, late=0)``: an order and its payment that were matched are one key. Or by stream its rows
            by fate, as in ``expect(orders={"unmatched": 1})``.

        Raises
        ------
        AssertionError
            If another number did. Its text lists the rows concerned, each with its reason and the change of one setting
            that would have matched it.
        ArgumentError
            If there is no such fate or stream.
        """
        __tracebackhide__ = True
        if words := _expecting.differences(self._asked, counts):
            raise AssertionError(words)

    def fixture(self, path: str | os.PathLike[str], **options: Value) -> Path:
        """Write the rows and a test of the function that was played; options and errors are those of `Job.fixture`."""
        given: Record = {"build": self._build, "mode": self._mode} | options
        return self.opened.fixture(path, **given)

    def matches(self, path: str | Path, *, without: Sequence[str] = ()) -> None:
        """Check that output and fates are those of a snapshot.

        Parameters
        ----------
        path
            The snapshot, a JSON file with a row a line; relative to the file of the test. It is written, anew, where
            pytest is given ``--workbench-update``, or the variable ``WORKBENCH_UPDATE`` is set.
        without
            Columns to leave out, such as a time of processing.

        Raises
        ------
        AssertionError
            If they differ, with the lines that do; or if there is no snapshot.
        ArgumentError
            If the file is no snapshot.
        """
        __tracebackhide__ = True
        rows = self.opened.rows if self._is_open else None
        text = _snapshots.text(self.output, rows, without)
        if words := _snapshots.compared(_snapshots.place(path), text):
            raise AssertionError(words)


def _dropped(report: Json) -> int:
    return sum(int(each.get("numRowsDroppedByWatermark", 0)) for each in report["stateOperators"])


def remembered(played: Played) -> Played:
    """A job that was played, after all observers have been told of it."""
    for each in observers:
        each(played)
    return played
