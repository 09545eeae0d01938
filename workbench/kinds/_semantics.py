"""What a join of a kind means."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np

from workbench.arrays import Times
from workbench.kinds._inputs import J
from workbench.kinds._settings import Settings
from workbench.literals import Side

if TYPE_CHECKING:
    import pandas as pd


MS = 1000
"""Microseconds of a millisecond, as fine as Spark's watermarks are."""


NEVER = np.int64(2**62)
"""Microseconds that stand for a time that does not come, and for a value that no setting has."""
UNBOUNDED = 10_000 * 365 * 86_400_000_000
"""What stands for a bound that a join does not have: longer than any two event times are apart, in microseconds."""


class Semantics(Settings[J]):
    """What a join means, in event times.

    The model asks it, for whole columns of rows at once; charts, tuning and Flink's rules ask what comes out.

    Attributes
    ----------
    windowed
        Whether an output has a window.
    grouped
        Whether what comes out is a group, with the rows of either side as a list, and not a pair.
    merging
        Whether its windows are merged from those of single rows, as sessions are, and so depend on the rows.
    one_partner
        Whether a left row has one partner at most, which is chosen, and not all that are in reach.
    drops_late
        Whether rows that the watermark has passed are dropped.
    """

    windowed: bool = True
    grouped: bool = False
    merging: bool = False
    one_partner: bool = False
    drops_late: bool = True

    def assign(self, join: J, moments: Times) -> pd.DataFrame:
        """The windows of rows with these event times.

        Returns
        -------
        pandas.DataFrame
            One row for each row and window of it, in order of row, then window: ``row`` (its place in `moments`),
            ``start``, ``end`` (microseconds). A row is late for a window when ``end`` is at or before the watermark.
            Without windows one row for each, with ``start`` and ``end`` its event time.
        """
        raise NotImplementedError

    def assignment(self, join: J) -> Hashable:
        """What `assign` depends on: two joins with the same value have the same windows, which are computed once."""
        return self.spans_of(join)

    def bounds(self, join: J) -> tuple[int, int]:
        """The least and the greatest difference of two partners' ``start``, right less left, in microseconds."""
        return 0, 0

    def evicted_up_to(self, join: J, watermark: Times) -> tuple[Times, Times]:
        """For either side the ``end`` at or before which rows leave the state at these watermarks.

        A kind with an `OperatorModel` of its own need not say it: its model does.
        """
        return watermark, watermark

    def leaves_at(self, join: J, side: Side, end: Times) -> Times:
        """The watermark, in microseconds, with which assignments of these ``end`` leave the state; 2**62: none.

        It must agree with `evicted_up_to`. A model that gives a column ``leaves_at`` itself is asked in its place.
        """
        return -(-end // MS) * MS

    def waits(self, join: J, side: Side) -> int:
        """Microseconds that a row may have to wait for a partner after its event time: as long as a window is."""
        windows = self.assign(join, np.zeros(1, dtype=np.int64))
        return int((windows["end"] - windows["start"]).max()) if len(windows) else 0

    def reach(self, join: J) -> int:
        """How long after a row's event time, in microseconds, a window or match with it may end."""
        return max(self.waits(join, "left"), self.waits(join, "right"))
