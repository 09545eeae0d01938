"""The firings of windows, and the rows that each of them has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from workbench.arrays import Batches, Counts, Flags, RowNumbers
from workbench.literals import Side

__all__ = ["Firings"]


@dataclass(frozen=True, eq=False)
class Firings:
    """What windows give, firing by firing, in the order in which they do.

    Attributes
    ----------
    table
        One row a firing: ``start``, ``end`` (of the window, in microseconds), ``batch`` (the step in which it fires),
        ``key`` (its code).
    of, assignments
        Per side, of each row of each firing, the firing, and the place in `Outcome.assignments`.
    """

    table: pd.DataFrame
    of: dict[Side, RowNumbers]
    assignments: dict[Side, RowNumbers]

    @classmethod
    def made(cls, table: pd.DataFrame, firing: Batches, is_right: Flags, place: RowNumbers, cut: int) -> Firings:
        """Firings with the rows of both sides: their places among those of both, of which so many are left ones."""
        left, right = np.flatnonzero(~is_right), np.flatnonzero(is_right)
        of: dict[Side, RowNumbers] = {"left": firing[left], "right": firing[right]}
        return cls(table, of, {"left": place[left], "right": place[right] - cut})

    def counts(self, side: Side) -> Counts:
        """How many rows of a side each firing has."""
        return np.bincount(self.of[side], minlength=len(self.table))
