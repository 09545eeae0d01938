"""`FlinkPreview`: what Flink is expected to make of a recording."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

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

    @cached_property
    def _late(self) -> pd.DataFrame:
        from workbench.runs import tables

        return tables.late_in_flink(self.simulation)
