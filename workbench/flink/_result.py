"""`FlinkPreview`: what Flink is expected to make of a recording."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError
from workbench.runs.preview import Preview

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FlinkPreview"]


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
        from workbench.flink._texts import java

        return java(self.join, self.left, self.right)

    @property
    def code(self) -> str:
        """As `script`: Spark runs nothing of it."""
        return self.script

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Refused: a saved run is one of Spark; `workbench.flink.preview` makes this one again at any time."""
        raise WorkbenchError("a preview under Flink's rules is not saved: save the streams, and preview them again")

    def report(self, path: str | os.PathLike[str], tuning: Any = None) -> Path:
        """Refused: a report gives advice for Spark."""
        raise WorkbenchError("there is no report of a preview under Flink's rules: report the run on Spark")

    @property
    def fired_again(self) -> pd.DataFrame:
        """The rows whose pair, or group, came out more than once, because their window fired again.

        Columns: ``row`` (a place in `rows`), ``times`` (in how many micro-batches after the first), ``batches`` (those
        micro-batches).
        """
        import numpy as np
        import pandas as pd

        from workbench.literals import SIDES
        from workbench.runs import firings

        found, first = [], 0
        for side in SIDES:
            count = len(self.side(side))
            again = firings.again(self.simulation, side, np.arange(count))
            found += [(first + row, len(batches), batches) for row, batches in again.items()]
            first += count
        return pd.DataFrame(found, columns=["row", "times", "batches"])

    @cached_property
    def _late(self) -> pd.DataFrame:
        from workbench.runs import tables

        return tables.late_in_flink(self.simulation)
