"""`Execution`: what Spark reported of a query and wrote."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workbench import spark_versions
from workbench._version import __version__
from workbench.engine import sink_reader
from workbench.errors import TooLargeError, WorkbenchError
from workbench.spark_io.storage import Place
from workbench.untyped import Json

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

__all__ = ["Execution", "versions"]

_MOST_OUTPUT = 50_000_000
"""Rows of output that are read into memory at most."""


def versions(spark: str | None = None) -> dict[str, str]:
    """The versions of what a query runs on.

    Parameters
    ----------
    spark
        The version of the session's Spark; None: that of the PySpark that is installed.
    """
    found = spark or spark_versions.installed()
    return {"workbench": __version__, "pyspark": found, "python": platform.python_version()}


@dataclass(frozen=True, eq=False)
class Execution:
    """What Spark did of a query up to a micro-batch.

    Attributes
    ----------
    spark
        The session that the query ran in; None of a run that was saved and loaded.
    scratch
        Holds the query's folder, with ``checkpoint`` and ``output``; None of a run that was saved and loaded.
    progress
        Spark's own report of each micro-batch.
    written
        The output, where it was read already; None: what is in the folder.
    versions
        The versions of the workbench, of the session's Spark and of Python that ran it.
    pruned
        Whether the run went without the columns that its join does not need, as large runs do.
    compared_state
        Of a run that was saved and loaded, the line of `Run.comparison` on what was in state, as it was when the run
        was saved.
    """

    spark: SparkSession | None
    scratch: Place | None
    progress: tuple[Json, ...]
    written: pa.Table | None = field(default=None, repr=False)
    versions: Mapping[str, str] = field(default_factory=versions, repr=False)
    pruned: bool = False
    compared_state: Json | None = field(default=None, repr=False)

    @property
    def is_loaded(self) -> bool:
        """Whether the run was saved and loaded, so that its checkpoint is gone."""
        return self.scratch is None

    def at_hand(self) -> tuple[SparkSession, Place]:
        """The session that the query ran in, and its folder.

        Raises
        ------
        WorkbenchError
            If the run was saved and loaded, or its files were removed.
        """
        if self.spark is None or self.scratch is None:
            raise WorkbenchError(
                "this run was loaded, and a saved run has no checkpoint, so it has no state to read and no savepoints; "
                "run it again with wb.run(run.join, run.left, run.right, finish=run.finish, policy=run.policy)"
            )
        if not self.scratch.path.is_dir():
            raise WorkbenchError(f"the files of this run, in {self.scratch.path}, have been removed; run it again")
        return self.spark, self.scratch

    @cached_property
    def raw_output(self) -> pa.Table:
        """The output as Spark wrote it, with column ``batch`` and row numbers, in order of micro-batch.

        Of a run that is `pruned` it has these columns only, and windows in microseconds.
        """
        if self.written is not None:
            return self.written
        place = self.at_hand()[1]
        if not place.has_logs:
            return sink_reader.dated(place.fetch("output"), [str(each["timestamp"]) for each in self.progress])
        count = sum(self.output_counts.values())
        if count > _MOST_OUTPUT:
            raise TooLargeError(
                f"output: it has {count:,} rows, and at most {_MOST_OUTPUT:,} are read at once; read it with "
                f"Spark, as wb.spark().read.parquet({place.address + '/output'!r})",
                count,
            )
        return sink_reader.Reader(self._output).read()

    @cached_property
    def _output(self) -> Path:
        """The sink's folder, on this machine."""
        return self.at_hand()[1].fetch("output")

    @cached_property
    def output_counts(self) -> dict[int, int]:
        """How many rows Spark wrote in each micro-batch that wrote some."""
        if self.written is None and "raw_output" not in self.__dict__ and self.at_hand()[1].has_logs:
            return sink_reader.counts(self._output)
        batches, counts = np.unique(self.raw_output.column("batch").to_numpy(), return_counts=True)
        return dict(zip(batches.tolist(), counts.tolist(), strict=True))
