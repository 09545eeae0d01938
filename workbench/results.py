"""`Run`: what a run gave, as pandas frames with documented columns."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError, wrong
from workbench.joins import CoGroup, Join, WindowJoin
from workbench.streams import ROW, Stream

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from workbench._live import Live
    from workbench._views import Moment, RunCharts
    from workbench._why import Why
    from workbench.explain import Story
    from workbench.model import Outcome


@dataclass(eq=False, repr=False)
class Run:
    """What a run gave. Made by `workbench.run`.

    Attributes
    ----------
    join, left, right, finish, policy
        As they were given to `workbench.run`.
    live
        The live query that this is a part of, if it is of one.
    """

    join: Join
    left: Stream
    right: Stream
    finish: bool
    policy: str
    folder: Path = Path()
    spark: SparkSession | None = None
    progress: list[dict[str, Any]] = field(default_factory=list)
    live: Live | None = None

    def __repr__(self) -> str:
        if not self.ran:
            return f"<Preview of {self.join} on {self.left.name} and {self.right.name}>"
        fault = "; the workbench's model and Spark differ, see .comparison" if len(self.faults) else ""
        return f"<Run of {self.join} on {self.left.name} and {self.right.name}: {len(self.output):,} rows out{fault}>"

    @property
    def ran(self) -> bool:
        """Whether Spark ran it. What `workbench.preview` gives has only what the model says."""
        return bool(self.progress)

    @cached_property
    def code(self) -> str:
        """The function ``join_streams`` that was run."""
        from workbench import plan

        return plan.render(self.join, self.left, self.right, self.finish)

    @property
    def micro_batches(self) -> int:
        """How many recorded micro-batches the run took in."""
        return max(self.left.batch_count, self.right.batch_count)

    def numbered(self, side: str) -> pa.Table:
        """A side's rows with their numbers in column ``__row``."""
        import numpy as np
        import pyarrow as pa

        stream = self.left if side == "left" else self.right
        return stream.table.append_column(ROW, pa.array(np.arange(len(stream)), pa.int64()))

    @cached_property
    def raw_output(self) -> pa.Table:
        """The output as Spark wrote it, with column ``batch`` and row numbers, in order of micro-batch."""
        from workbench import _sink

        if not self.ran:
            raise WorkbenchError("this is a preview, which has no output; workbench.run runs it on Spark")
        return _sink.Reader(self.folder / "output").read()

    @cached_property
    def outcome(self) -> Outcome:
        """What the workbench's model says this run must give."""
        from workbench import model

        # a live query has not yet run the micro-batch without data that Spark adds when it is left alone
        alone = self.live is None
        return model.work_out(self.join, self.left, self.right, self.finish, self.policy, alone)

    @cached_property
    def fates(self) -> dict[str, pd.DataFrame]:
        """What became of every row, without words: quicker than `rows`.

        Per side a frame, one row an input row, in order: ``fate``; ``settled`` (the micro-batch in which it is known);
        ``leaves`` (the micro-batch at whose end the row is no longer in state); both 1,000,000,000 where that never
        happens; ``all``, ``late``, ``matched`` (how many of its windows there are, it was late for, it met in).
        """
        from workbench import _fates

        return _fates.fates(self.join, self.outcome)

    @cached_property
    def comparison(self) -> pd.DataFrame:
        """What the model says of this run, held to what Spark did.

        Columns: ``what`` was compared; how many facts the ``model`` and ``spark`` have of it; how many ``differences``
        there are; ``examples`` of them. Reasons and previews come from the model, so a difference is a fault of the
        workbench; please save it with `save_report` and report it.
        """
        from workbench import compare

        return compare.compare(self, every_state=False)

    @property
    def faults(self) -> pd.DataFrame:
        """The rows of `comparison` in which model and Spark differ; empty, unless the workbench is at fault."""
        return self.comparison[self.comparison["differences"] > 0]

    @property
    def fault(self) -> str:
        """What to tell where `faults` are found; empty where model and Spark agree."""
        if not len(self.faults):
            return ""
        return (
            "the workbench's model and Spark differ on this run, so its reasons may be wrong: see run.comparison, and "
            "please report it with what run.save_report(folder) saves"
        )

    def save_report(self, path: str | os.PathLike[str]) -> Path:
        """Save the recording, settings, comparison and script of this run in a folder, to report a fault.

        Raises
        ------
        ArgumentError
            If the folder holds something else.
        """
        from workbench import compare

        return compare.save_report(self, Path(path))

    def why(self, row: int) -> Why:
        """One row's whole story: arrival, windows, candidates, watermark, verdict.

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
        from workbench import _why

        return _why.why(self, row)

    @cached_property
    def story(self) -> Story:
        """What the reasons of `rows` are made of."""
        from workbench import explain

        return explain.Story(self)

    @cached_property
    def output(self) -> pd.DataFrame:
        """What came out of the join.

        Columns: for joins ``left_<column>`` …, ``right_<column>`` … (left only for semi and anti); for coGroup the
        key columns, ``left`` and ``right`` (lists of dicts); where there are windows ``window_start`` and
        ``window_end``; and ``batch``, Spark's micro-batch that wrote the row.
        """
        from workbench import _sink

        return _sink.frame(self.raw_output, self.join, self.left, self.right)

    @cached_property
    def batches(self) -> pd.DataFrame:
        """One row a micro-batch.

        Columns: ``batch``; ``watermark`` (the one that closes windows and evicts state); ``late_watermark`` (the
        one that late rows are judged by: that of the micro-batch before); ``left_rows``, ``right_rows`` (arrived);
        ``output_rows``; ``late_rows`` (as in `late`, each row once); ``state_rows``; ``state_bytes``;
        ``duration_ms``; ``dropped`` (Spark's own counter ``numRowsDroppedByWatermark``, which counts rows once for
        each window, and partial aggregates in sessions and coGroup); ``kind`` (``data``, ``finish`` for
        the end of input, ``no data`` for the micro-batches Spark adds when the watermark has moved).
        """
        from workbench import _tables

        return _tables.batches(self)

    @cached_property
    def late(self) -> pd.DataFrame:
        """Every row that was dropped as late, once for each window it was late for.

        Columns: ``side``, ``batch``, the row's columns, ``window_start``, ``window_end`` (windowed only),
        ``watermark`` (the one it was judged by) and ``behind`` (how far behind it the row, or its window's end, was).
        """
        from workbench import _tables

        return _tables.late(self)

    @cached_property
    def rows(self) -> pd.DataFrame:
        """Every input row of both sides, in order of arrival by side.

        Columns: ``side``, ``batch``, the row's columns, ``fate`` (matched, unmatched, late, pending or null_key),
        ``reason``, and the smallest change of one setting that would have matched the row, None where there is none:
        ``fix_setting`` (``left.watermark``, ``right.watermark``, ``lower``, ``upper``, ``size``, ``offset``, ``gap`` or
        ``finish``) and ``fix_value`` (what to set it to: a time span as text, or True). A column of the streams that
        bears one of these names is called ``row_<name>``.
        """
        from workbench import explain

        return explain.rows(self)

    def savepoint(self, path: str | os.PathLike[str], batch: int) -> Path:
        """Copy the checkpoint as it was after a micro-batch, for ``workbench.run(..., savepoint=path)`` to go on from.

        Parameters
        ----------
        path
            A new folder.
        batch
            The micro-batch after which to go on.

        Returns
        -------
        pathlib.Path
            The folder: checkpoint, output up to then, and a note of what it is of.

        Raises
        ------
        ArgumentError
            If there is no such micro-batch, or the folder is not empty.
        """
        from workbench import _savepoint

        return _savepoint.take(self, path, batch)

    def tell(self, rows: Sequence[int]) -> pd.DataFrame:
        """Some of the rows of `rows`: quicker, where they are a few of many.

        Parameters
        ----------
        rows
            Their places in `rows`.

        Raises
        ------
        ArgumentError
            If there is no such row.
        """
        import numpy as np

        from workbench import explain

        count, first = len(self.left) + len(self.right), len(self.left)
        places = np.unique(np.asarray(rows, dtype=np.int64))
        if len(places) and not 0 <= places[0] <= places[-1] < count:
            raise wrong("rows", int(places[-1]), f"use places from 0 to {count - 1}")
        return explain.some(self, {"left": places[places < first], "right": places[places >= first] - first})

    @property
    def charts(self) -> RunCharts:
        """The run's charts: ``run.charts.timeline()``, ``.arrival()``."""
        from workbench._views import RunCharts

        return RunCharts(self)

    @property
    def script(self) -> str:
        """The PySpark script of this join, as text."""
        from workbench import script

        return script.render(self.join, self.left, self.right, self.finish, self.policy)

    def state(self, batch: int) -> pd.DataFrame:
        """What Spark held in state after a micro-batch, read back from its checkpoint.

        Parameters
        ----------
        batch
            A micro-batch of `batches`.

        Returns
        -------
        pandas.DataFrame
            Columns: ``side``, the row's columns; ``window_start``, ``window_end`` where there are windows.
        """
        from workbench import _state

        known = list(self.batches["batch"])
        if isinstance(batch, bool) or not isinstance(batch, int) or batch not in known:
            raise wrong("batch", batch, f"this run has micro-batches {known[0]} to {known[-1]}")
        return _state.read(self, batch)

    def against(self, other: Run) -> pd.DataFrame:
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
        from workbench import _against

        return _against.against(self, other)

    def at(self, batch: int) -> Moment:
        """What the run looked like at the end of a micro-batch: watermark, open windows, state, rows out.

        Parameters
        ----------
        batch
            A micro-batch of `batches`.
        """
        from workbench import _views

        return _views.at(self, batch)

    @property
    def windowed(self) -> bool:
        """Whether the join has windows."""
        return isinstance(self.join, WindowJoin | CoGroup)

    @property
    def zone(self) -> str | None:
        """The time zone that windows and watermarks are shown in: that of the left event times; None: naive, in UTC."""
        return self.left.zones.get(self.left.time)

    def side(self, name: str) -> Stream:
        """The stream of a side, ``"left"`` or ``"right"``."""
        return self.left if name == "left" else self.right
