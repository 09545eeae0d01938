"""`FlinkPreview`, what Flink is expected to make of a recording, and `FlinkRun`, what it has made of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from workbench.arrays import RowNumbers
from workbench.errors import WorkbenchError
from workbench.joins import emission
from workbench.kinds import kind_of
from workbench.literals import SIDES
from workbench.reasons import firings, output, tables
from workbench.runs.preview import Preview
from workbench.runs.verification import compared, output_facts
from workbench.untyped import Argument

if TYPE_CHECKING:
    import pyarrow as pa

    from workbench.literals import Side
    from workbench.model import Outputs

__all__ = ["FlinkPreview", "FlinkRun"]


@dataclass(frozen=True, eq=False, repr=False)
class FlinkPreview(Preview):
    """The expected result of a join on Flink. Made by `workbench.flink.preview`.

    As a `Preview`, under Flink's rules. Its output has a row each time that one is emitted: a window that fires again
    gives all its rows again.
    """

    def __repr__(self) -> str:
        return f"<FlinkPreview{self._called()} of {self.join} on {self.left.name} and {self.right.name}>"

    @property
    def script(self) -> str:
        """The job of Flink's DataStream API, in Java, that these are the rules of."""
        from workbench.flink._code import java  # only for a script: Jinja and Black are slow to import

        return java(self.join, self.left, self.right)

    @property
    def code(self) -> str:
        """As `script`: Spark runs nothing of it."""
        return self.script

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Refused: a saved run is one of Spark; `workbench.flink.preview` makes this one again at any time."""
        raise WorkbenchError("a preview under Flink's rules is not saved: save the streams, and preview them again")

    def report(self, path: str | os.PathLike[str], tuning: Argument = None) -> Path:
        """Refused: a report gives advice for Spark."""
        raise WorkbenchError("there is no report of a preview under Flink's rules: report the run on Spark")

    @property
    def rows(self) -> pd.DataFrame:
        """Every input row, as of a `Preview`; a late one goes to the side output.

        One more column: ``fired_again``, how often the row came out again as its window fired again: with a partner, in
        a group, or padded.
        """
        found = super().rows
        found = found.rename(columns=tables.renamed(list(found), ("fired_again",)))
        times = self._fired_again.set_index("row")["times"].reindex(range(len(found)), fill_value=0)
        return found.assign(fired_again=times.to_numpy())

    @property
    def fired_again(self) -> pd.DataFrame:
        """The rows that came out more than once, because their window fired again.

        Columns: ``row`` (a place in `rows`), ``times`` (how often after the first time), ``batches`` (in which
        micro-batch each time; one may have several firings).
        """
        return self._fired_again.copy()

    @cached_property
    def _fired_again(self) -> pd.DataFrame:
        found, first = [], 0
        for side in SIDES:
            count = len(self.side(side))
            again = firings.again(self.simulation, side, np.arange(count))
            found += [(first + row, len(batches), batches) for row, batches in again.items()]
            first += count
        return pd.DataFrame(found, columns=["row", "times", "batches"])

    @cached_property
    def _late(self) -> pd.DataFrame:
        return tables.late_in_flink(self.simulation)


@dataclass(frozen=True, eq=False, repr=False)
class FlinkRun(FlinkPreview):
    """What Flink made of a recording. Made by `workbench.flink.run`.

    Its `output` is what Flink emitted, and its late rows are those that Flink gave to the side output, or counted as
    dropped; fates, reasons and state are the model's, which `comparison` holds to both.

    Attributes
    ----------
    outputs
        What Flink emitted: rows and groups by their row numbers, with the micro-batch after which they came.
    dropped
        The late rows by Flink: ``side``, ``row`` (its number on its side). With windows, rows in a gap between two are
        among them, if they are late by their own time.
    """

    outputs: Outputs
    dropped: pd.DataFrame

    def __repr__(self) -> str:
        differ = "; the workbench's model and Flink differ, see .comparison" if self.mismatch else ""
        rows = int(self.outputs.table["emitted"].sum())
        names = f"{self.left.name} and {self.right.name}"
        return f"<FlinkRun{self._called()} of {self.join} on {names}: {rows:,} emitted{differ}>"

    @cached_property
    def raw_output(self) -> pa.Table:
        """What Flink emitted."""
        return output.table(self.simulation, self.outputs)

    @cached_property
    def _batches(self) -> pd.DataFrame:
        found = super()._batches.copy()
        emitted = self.outputs.table["batch"].to_numpy()
        found["output_rows"] = np.bincount(emitted, minlength=len(found))[: len(found)]
        late = np.concatenate([self.side(side).arrival[rows] for side, rows in self._dropped_by_side.items()])
        found["dropped"] = np.bincount(late, minlength=len(found))[: len(found)]
        return found

    @property
    def comparison(self) -> pd.DataFrame:
        """The model compared with Flink: what came out and when, which rows were late.

        Columns: ``what`` (was compared), ``model``, ``flink`` (how many facts each has), ``differences`` (how many),
        ``examples``.
        """
        return self._comparison.copy()

    @cached_property
    def _comparison(self) -> pd.DataFrame:
        sides, grouped = emission(self.join).sides, kind_of(self.join).grouped
        expected: list[RowNumbers] = []
        dropped: list[RowNumbers] = []
        for number, (side, rows) in enumerate(self._dropped_by_side.items()):
            mine = self.outcome.assignments[side]
            late = np.setdiff1d(mine["row"], mine.loc[~mine["late"], "row"])
            in_a_window = rows[np.isin(rows, mine["row"])]  # Flink counts late rows between two windows, too
            for found, each in ((expected, late), (dropped, in_a_window)):
                found.append(np.column_stack([np.full(len(each), number), each]))
        out = [output_facts(each, grouped, sides) for each in (self.outcome.outputs, self.outputs)]
        late_rows = [np.concatenate(each) for each in (expected, dropped)]
        facts = {"left row, right row, window and micro-batch of what came out": out, "late rows": late_rows}
        return pd.DataFrame([compared(what, model, found, "Flink") for what, (model, found) in facts.items()])

    @property
    def mismatch(self) -> str:
        """A sentence to show where model and Flink differ; empty where they agree."""
        if not self._comparison["differences"].any():
            return ""
        return "the workbench's model and Flink differ on this run, so its reasons may be wrong: see run.comparison"

    @cached_property
    def _dropped_by_side(self) -> dict[Side, RowNumbers]:
        found = {side: self.dropped.loc[self.dropped["side"] == side, "row"].to_numpy() for side in SIDES}
        return {side: rows.astype("int64") for side, rows in found.items()}
